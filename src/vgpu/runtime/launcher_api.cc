// See launcher_api.h.
#include "vgpu/runtime/launcher_api.h"

#include "vgpu/runtime/state.h"

using namespace swizzleperf::vgpu::runtime;

// NOLINTBEGIN(bugprone-reserved-identifier): only such names leave the library
extern "C" {

const std::vector<swizzleperf::vgpu::KernelInfo>* __hipLoadedKernels() {
  const std::lock_guard lock(state().mutex);
  static auto* const all = new std::vector<swizzleperf::vgpu::KernelInfo>;
  all->clear();
  for (const Kernel& kernel : state().modules.kernels()) all->push_back(*kernel.info);
  return all;
}

void __hipEnd(const char* sentence) { fail(sentence); }

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
