// Streams and events. Everything is done when a call returns, so a stream is only a name that can
// be checked, and an event is the time at which it was recorded. That time is the simulation's own:
// it is never zero (programs divide by it), and it says nothing about a GPU.
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "vgpu/runtime/graph.h"
#include "vgpu/runtime/state.h"

// HIP leaves these two types to the implementation.
struct ihipStream_t {
  unsigned flags = 0;
  int priority = 0;
};
struct ihipEvent_t {
  bool recorded = false;
  unsigned flags = 0;
  std::chrono::steady_clock::time_point time;
};

namespace swizzleperf::vgpu::runtime {
namespace {

constexpr float kShortestMilliseconds = 1e-3F;

std::set<hipStream_t>& streams() {
  static auto* const all = new std::set<hipStream_t>;
  return *all;
}

std::set<hipEvent_t>& events() {
  static auto* const all = new std::set<hipEvent_t>;
  return *all;
}

/// The default streams have no object of their own.
bool is_stream(hipStream_t stream) {
  return stream == nullptr || stream == hipStreamPerThread || streams().contains(stream);
}

hipError_t need_stream(hipStream_t stream) {
  return entry([&] { return is_stream(stream) ? hipSuccess : hipErrorInvalidHandle; });
}

hipError_t need_event(hipEvent_t event) {
  return entry([&] { return events().contains(event) ? hipSuccess : hipErrorInvalidHandle; });
}

hipError_t create_stream(hipStream_t* stream, unsigned flags, int priority) {
  return entry([&] {
    if (!stream) return hipErrorInvalidValue;
    *stream = new ihipStream_t{flags, priority};
    streams().insert(*stream);
    return hipSuccess;
  });
}

}  // namespace
}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

extern "C" {

hipError_t hipStreamCreate(hipStream_t* stream) { return create_stream(stream, 0, 0); }
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) {
  return create_stream(stream, flags, 0);
}
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority) {
  return create_stream(stream, flags, priority);
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 1;
  if (greatest) *greatest = -1;
  return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return entry([&] {
    if (streams().erase(stream) == 0) return hipErrorInvalidHandle;
    delete stream;
    return hipSuccess;
  });
}

hipError_t hipStreamQuery(hipStream_t stream) { return need_stream(stream); }
hipError_t hipStreamSynchronize(hipStream_t stream) { return need_stream(stream); }
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* /*pointer*/, size_t /*bytes*/,
                                   unsigned int /*flags*/) {
  return need_stream(stream);
}
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t /*words*/,
                                        const uint32_t* /*mask*/) {
  return create_stream(stream, 0, 0);
}
hipError_t hipDeviceSynchronize() { return hipSuccess; }

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int /*flags*/) {
  hipError_t result = need_stream(stream);
  if (result == hipSuccess) result = need_event(event);
  if (result == hipSuccess) event_awaited(event, stream);
  return result;
}

// Memory that a stream writes or waits for. Since all before has happened, a wait that is not over
// never will be.
hipError_t hipStreamWriteValue32(hipStream_t stream, void* to, uint32_t value,
                                 unsigned int /*flags*/) {
  const hipError_t result = need_stream(stream);
  if (result == hipSuccess) std::memcpy(to, &value, sizeof value);
  return result;
}
hipError_t hipStreamWriteValue64(hipStream_t stream, void* to, uint64_t value,
                                 unsigned int /*flags*/) {
  const hipError_t result = need_stream(stream);
  if (result == hipSuccess) std::memcpy(to, &value, sizeof value);
  return result;
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags) {
  *flags = streams().contains(stream) ? stream->flags : 0;
  return need_stream(stream);
}

hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  *priority = streams().contains(stream) ? stream->priority : 0;
  return need_stream(stream);
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* data,
                                unsigned int /*flags*/) {
  const hipError_t result = need_stream(stream);
  if (result == hipSuccess) callback(stream, hipSuccess, data);
  return result;
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  const hipError_t result = need_stream(stream);
  if (result != hipSuccess) return result;
  const auto action = [=] {
    function(data);
    return hipSuccess;
  };
  return captured(stream, hipGraphNodeTypeHost, action) ? hipSuccess : action();
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return entry([&] {
    if (!event) return hipErrorInvalidValue;
    *event = new ihipEvent_t{.recorded = false, .flags = flags, .time = {}};
    events().insert(*event);
    return hipSuccess;
  });
}

hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, 0); }

hipError_t hipEventDestroy(hipEvent_t event) {
  return entry([&] {
    if (events().erase(event) == 0) return hipErrorInvalidHandle;
    delete event;
    return hipSuccess;
  });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  event_recorded(event, stream);
  return entry([&] {
    if (!events().contains(event) || !is_stream(stream)) return hipErrorInvalidHandle;
    event->recorded = true;
    event->time = std::chrono::steady_clock::now();
    return hipSuccess;
  });
}

hipError_t hipEventSynchronize(hipEvent_t event) { return need_event(event); }
hipError_t hipEventQuery(hipEvent_t event) { return need_event(event); }

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return entry([&] {
    if (!milliseconds) return hipErrorInvalidValue;
    if (!events().contains(start) || !events().contains(stop) || !start->recorded ||
        !stop->recorded || ((start->flags | stop->flags) & hipEventDisableTiming) != 0) {
      return hipErrorInvalidHandle;
    }
    const std::chrono::duration<float, std::milli> elapsed = stop->time - start->time;
    *milliseconds = std::max(elapsed.count(), kShortestMilliseconds);
    return hipSuccess;
  });
}

}  // extern "C"
