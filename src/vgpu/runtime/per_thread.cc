// The forms for programs that are compiled with one default stream a thread: all streams keep one
// order here, so they are the same.
#include <hip/hip_runtime_api.h>

extern "C" {

hipError_t hipLaunchCooperativeKernel_spt(const void* a, dim3 b, dim3 c, void** d, uint32_t e,
                                          hipStream_t f) {
  return hipLaunchCooperativeKernel(a, b, c, d, e, f);
}
hipError_t hipLaunchKernel_spt(const void* a, dim3 b, dim3 c, void** d, size_t e, hipStream_t f) {
  return hipLaunchKernel(a, b, c, d, e, f);
}
hipError_t hipMemcpy2D_spt(void* a, size_t b, const void* c, size_t d, size_t e, size_t f,
                           hipMemcpyKind g) {
  return hipMemcpy2D(a, b, c, d, e, f, g);
}
hipError_t hipMemcpy3D_spt(const struct hipMemcpy3DParms* a) { return hipMemcpy3D(a); }
hipError_t hipMemcpyAsync_spt(void* a, const void* b, size_t c, hipMemcpyKind d, hipStream_t e) {
  return hipMemcpyAsync(a, b, c, d, e);
}
hipError_t hipMemcpyFromSymbol_spt(void* a, const void* b, size_t c, size_t d, hipMemcpyKind e) {
  return hipMemcpyFromSymbol(a, b, c, d, e);
}
hipError_t hipMemcpyToSymbol_spt(const void* a, const void* b, size_t c, size_t d,
                                 hipMemcpyKind e) {
  return hipMemcpyToSymbol(a, b, c, d, e);
}
hipError_t hipMemcpy_spt(void* a, const void* b, size_t c, hipMemcpyKind d) {
  return hipMemcpy(a, b, c, d);
}
hipError_t hipMemset2D_spt(void* a, size_t b, int c, size_t d, size_t e) {
  return hipMemset2D(a, b, c, d, e);
}
hipError_t hipMemset3D_spt(hipPitchedPtr a, int b, hipExtent c) { return hipMemset3D(a, b, c); }
hipError_t hipMemset_spt(void* a, int b, size_t c) { return hipMemset(a, b, c); }
hipError_t hipStreamGetFlags_spt(hipStream_t a, unsigned int* b) { return hipStreamGetFlags(a, b); }
hipError_t hipStreamGetPriority_spt(hipStream_t a, int* b) { return hipStreamGetPriority(a, b); }
hipError_t hipStreamQuery_spt(hipStream_t a) { return hipStreamQuery(a); }
hipError_t hipStreamSynchronize_spt(hipStream_t a) { return hipStreamSynchronize(a); }
hipError_t hipStreamWaitEvent_spt(hipStream_t a, hipEvent_t b, unsigned int c) {
  return hipStreamWaitEvent(a, b, c);
}

}  // extern "C"
