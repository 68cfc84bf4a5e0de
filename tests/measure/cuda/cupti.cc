// See fake.h.
#include "fake.h"

extern "C" {

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void*) {
  *subscriber = nullptr;
  fake_cuda_callback = callback;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                CUpti_CallbackId id) {
  fake_cuda_enabled[id] = enable != 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "CUPTI_ERROR_OTHER";
  return CUPTI_SUCCESS;
}

}  // extern "C"
