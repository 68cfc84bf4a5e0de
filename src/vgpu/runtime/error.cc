// Error codes, their names and texts, and the last error of each thread.
#include <hip/hip_runtime_api.h>

#include <utility>

#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

thread_local hipError_t last_error = hipSuccess;

struct Text {
  hipError_t error;
  const char* name;
  const char* text;
};

#define ERROR(name, text) {name, #name, text}
constexpr Text kTexts[] = {
    ERROR(hipSuccess, "no error"),
    ERROR(hipErrorInvalidValue, "invalid argument"),
    ERROR(hipErrorOutOfMemory, "out of memory"),
    ERROR(hipErrorNotInitialized, "not initialized"),
    ERROR(hipErrorDeinitialized, "deinitialized"),
    ERROR(hipErrorProfilerDisabled, "profiler disabled"),
    ERROR(hipErrorProfilerNotInitialized, "profiler not initialized"),
    ERROR(hipErrorProfilerAlreadyStarted, "profiler already started"),
    ERROR(hipErrorProfilerAlreadyStopped, "profiler already stopped"),
    ERROR(hipErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(hipErrorInvalidPitchValue, "invalid pitch argument"),
    ERROR(hipErrorInvalidSymbol, "invalid device symbol"),
    ERROR(hipErrorInvalidDevicePointer, "invalid device pointer"),
    ERROR(hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(hipErrorInsufficientDriver, "insufficient driver"),
    ERROR(hipErrorMissingConfiguration, "launch without a configuration"),
    ERROR(hipErrorPriorLaunchFailure, "prior launch failure"),
    ERROR(hipErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(hipErrorNoDevice, "no device"),
    ERROR(hipErrorInvalidDevice, "invalid device ordinal"),
    ERROR(hipErrorInvalidImage, "invalid image"),
    ERROR(hipErrorInvalidContext, "invalid context"),
    ERROR(hipErrorContextAlreadyCurrent, "context already current"),
    ERROR(hipErrorMapFailed, "map failed"),
    ERROR(hipErrorUnmapFailed, "unmap failed"),
    ERROR(hipErrorArrayIsMapped, "array is mapped"),
    ERROR(hipErrorAlreadyMapped, "already mapped"),
    ERROR(hipErrorNoBinaryForGpu, "no binary for gpu"),
    ERROR(hipErrorAlreadyAcquired, "already acquired"),
    ERROR(hipErrorNotMapped, "not mapped"),
    ERROR(hipErrorNotMappedAsArray, "not mapped as array"),
    ERROR(hipErrorNotMappedAsPointer, "not mapped as pointer"),
    ERROR(hipErrorECCNotCorrectable, "ecc not correctable"),
    ERROR(hipErrorUnsupportedLimit, "unsupported limit"),
    ERROR(hipErrorContextAlreadyInUse, "context already in use"),
    ERROR(hipErrorPeerAccessUnsupported, "peer access unsupported"),
    ERROR(hipErrorInvalidKernelFile, "invalid kernel file"),
    ERROR(hipErrorInvalidGraphicsContext, "invalid graphics context"),
    ERROR(hipErrorInvalidSource, "invalid source"),
    ERROR(hipErrorFileNotFound, "file not found"),
    ERROR(hipErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    ERROR(hipErrorSharedObjectInitFailed, "shared object init failed"),
    ERROR(hipErrorOperatingSystem, "operating system"),
    ERROR(hipErrorInvalidHandle, "invalid resource handle"),
    ERROR(hipErrorIllegalState, "illegal state"),
    ERROR(hipErrorNotFound, "not found"),
    ERROR(hipErrorNotReady, "device not ready"),
    ERROR(hipErrorIllegalAddress, "illegal address"),
    ERROR(hipErrorLaunchOutOfResources, "launch out of resources"),
    ERROR(hipErrorLaunchTimeOut, "launch time out"),
    ERROR(hipErrorPeerAccessAlreadyEnabled, "peer access already enabled"),
    ERROR(hipErrorPeerAccessNotEnabled, "peer access not enabled"),
    ERROR(hipErrorSetOnActiveProcess, "set on active process"),
    ERROR(hipErrorContextIsDestroyed, "context is destroyed"),
    ERROR(hipErrorAssert, "assert"),
    ERROR(hipErrorHostMemoryAlreadyRegistered, "memory is already registered"),
    ERROR(hipErrorHostMemoryNotRegistered, "memory is not registered"),
    ERROR(hipErrorLaunchFailure, "launch failure"),
    ERROR(hipErrorCooperativeLaunchTooLarge, "cooperative launch too large"),
    ERROR(hipErrorNotSupported, "operation not supported"),
    ERROR(hipErrorStreamCaptureUnsupported, "stream capture unsupported"),
    ERROR(hipErrorStreamCaptureInvalidated, "stream capture invalidated"),
    ERROR(hipErrorStreamCaptureMerge, "stream capture merge"),
    ERROR(hipErrorStreamCaptureUnmatched, "stream capture unmatched"),
    ERROR(hipErrorStreamCaptureUnjoined, "stream capture unjoined"),
    ERROR(hipErrorStreamCaptureIsolation, "stream capture isolation"),
    ERROR(hipErrorStreamCaptureImplicit, "stream capture implicit"),
    ERROR(hipErrorCapturedEvent, "captured event"),
    ERROR(hipErrorStreamCaptureWrongThread, "stream capture wrong thread"),
    ERROR(hipErrorGraphExecUpdateFailure, "graph exec update failure"),
    ERROR(hipErrorRuntimeMemory, "runtime memory"),
    ERROR(hipErrorRuntimeOther, "runtime other"),
};
#undef ERROR

Text describe(hipError_t error) {
  for (const Text& known : kTexts)
    if (known.error == error) return known;
  return {error, "hipErrorUnknown", "unknown error"};
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
