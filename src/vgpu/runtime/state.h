// The one state of the runtime library, and the frame around every HIP entry point.
//
// HIP's interface is a flat set of C functions with a process-wide device behind it; so is this.
// Everything happens in order and at once: streams are names, a launch returns when its blocks have
// run. One lock serialises the program's threads, since they would share one device anyway.
#pragma once

#include <hip/hip_runtime_api.h>

#include <map>
#include <mutex>
#include <new>
#include <string>

#include "vgpu/runtime/heap.h"
#include "vgpu/runtime/modules.h"
#include "vgpu/runtime/repeats.h"
#include "vgpu/runtime/request.h"

namespace swizzleperf::vgpu::runtime {

struct State {
  std::mutex mutex;  ///< not recursive: it survives a fork (survey.cc) held by the forking thread
  Request request;
  Heap heap;
  Modules modules;
  Repeats repeats;
  std::map<std::string, std::int64_t> launched;  ///< launches so far, by kernel symbol
  std::string refused;  ///< why the last refused launch was refused, in words; empty: none was
  std::string chosen;   ///< symbol of the kernel that the job is about; empty: any

  State();
};

/// Made on first use, never destroyed: the program may call us from its own destructors.
State& state();

/// Ends the process with one sentence: as the response, if somebody asked, else on stderr.
[[noreturn]] void fail(const std::string& sentence);

/// Ends the process with a response.
[[noreturn]] void answer(const Response& response);

/// Notes an error for hipGetLastError and returns it.
hipError_t note(hipError_t error);

/// The body of an entry point: locked, its error noted, our own exceptions turned into the end.
template <class Body>
hipError_t entry(Body body) {
  const std::lock_guard lock(state().mutex);
  try {
    return note(body());
  } catch (const Error& error) {
    fail(error.what());
  } catch (const std::bad_alloc&) {
    fail("the memory of this machine does not suffice for the launch; give a smaller one");
  }
}

}  // namespace swizzleperf::vgpu::runtime
