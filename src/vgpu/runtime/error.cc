// Error codes, their names and texts, and the last error of each thread.
#include <hip/hip_runtime_api.h>

#include <utility>

#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

thread_local hipError_t last_error = hipSuccess;

struct Text {
  const char* name;
  const char* text;
};

Text describe(hipError_t error) {
  switch (error) {
    case hipSuccess:
      return {"hipSuccess", "no error"};
    case hipErrorInvalidValue:
      return {"hipErrorInvalidValue", "invalid argument"};
    case hipErrorOutOfMemory:
      return {"hipErrorOutOfMemory", "out of memory"};
    case hipErrorInvalidConfiguration:
      return {"hipErrorInvalidConfiguration", "invalid configuration argument"};
    case hipErrorInvalidPitchValue:
      return {"hipErrorInvalidPitchValue", "invalid pitch argument"};
    case hipErrorInvalidSymbol:
      return {"hipErrorInvalidSymbol", "invalid device symbol"};
    case hipErrorInvalidDevicePointer:
      return {"hipErrorInvalidDevicePointer", "invalid device pointer"};
    case hipErrorInvalidMemcpyDirection:
      return {"hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"};
    case hipErrorMissingConfiguration:
      return {"hipErrorMissingConfiguration", "launch without a configuration"};
    case hipErrorInvalidDeviceFunction:
      return {"hipErrorInvalidDeviceFunction", "invalid device function"};
    case hipErrorNoDevice:
      return {"hipErrorNoDevice", "no device"};
    case hipErrorInvalidDevice:
      return {"hipErrorInvalidDevice", "invalid device ordinal"};
    case hipErrorInvalidHandle:
      return {"hipErrorInvalidHandle", "invalid resource handle"};
    case hipErrorNotReady:
      return {"hipErrorNotReady", "device not ready"};
    case hipErrorHostMemoryAlreadyRegistered:
      return {"hipErrorHostMemoryAlreadyRegistered", "memory is already registered"};
    case hipErrorHostMemoryNotRegistered:
      return {"hipErrorHostMemoryNotRegistered", "memory is not registered"};
    case hipErrorNotSupported:
      return {"hipErrorNotSupported", "operation not supported"};
    default:
      return {"hipErrorUnknown", "unknown error"};
  }
}

}  // namespace

hipError_t note(hipError_t error) {
  if (error != hipSuccess) last_error = error;
  return error;
}

}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

extern "C" {

hipError_t hipGetLastError() { return std::exchange(last_error, hipSuccess); }
hipError_t hipPeekAtLastError() { return last_error; }
const char* hipGetErrorName(hipError_t error) { return describe(error).name; }
const char* hipGetErrorString(hipError_t error) { return describe(error).text; }

}  // extern "C"
