// Work on streams that is recorded instead of done: capture and graphs.
#pragma once

#include <hip/hip_runtime_api.h>

#include <functional>

namespace swizzleperf::vgpu::runtime {

/// What a node does when its graph is launched; called without the lock.
using Action = std::function<hipError_t()>;

/// If the stream is capturing: adds the action to its graph and returns true. Called without the
/// lock.
bool captured(hipStream_t stream, hipGraphNodeType type, const Action& action);

/// An event recorded on a capturing stream carries the capture to the streams that wait for it.
void event_recorded(hipEvent_t event, hipStream_t stream);
void event_awaited(hipEvent_t event, hipStream_t stream);

}  // namespace swizzleperf::vgpu::runtime
