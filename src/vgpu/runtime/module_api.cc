// Device code that a program brings along as a file, instead of having it linked in: LLVM IR for
// amdgcn, as bitcode or as text. A module stays loaded until the program ends, since launches of
// its kernels may be recorded under their names; unloading only forgets the handle.
#include "vgpu/runtime/module_api.h"

#include <hip/hip_runtime_api.h>

#include <deque>

#include "base/files.h"
#include "vgpu/runtime/launch.h"
#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

/// What a hipFunction_t points to.
const Kernel* find_kernel(const Modules::Unit& unit, const std::string& symbol) {
  static auto* const handed_out = new std::deque<Kernel>;
  for (const KernelInfo& info : unit.module->kernels()) {
    if (info.symbol == symbol) {
      return &handed_out->emplace_back(Kernel{unit.module.get(), &info, unit.bitcode});
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

extern "C" {

hipError_t hipModuleLoad(hipModule_t* module, const char* file) {
  return entry([&] {
    if (!module || !file) return hipErrorInvalidValue;
    static auto* const contents = new std::deque<std::string>;
    const std::string& code = contents->emplace_back(swizzleperf::read_file(file));
    Modules::Unit* const unit = state().modules.add(std::as_bytes(std::span(code)), file);
    state().modules.load_all(state().heap);
    *module = reinterpret_cast<hipModule_t>(unit);
    return hipSuccess;
  });
}

// NOLINTNEXTLINE(bugprone-reserved-identifier): only such names leave the library
const std::vector<swizzleperf::vgpu::KernelInfo>* __hipModuleKernels(hipModule_t module) {
  return &reinterpret_cast<Modules::Unit*>(module)->module->kernels();
}

hipError_t hipModuleUnload(hipModule_t /*module*/) { return hipSuccess; }

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return entry([&] {
    if (!function || !module || !name) return hipErrorInvalidValue;
    const Kernel* const kernel = find_kernel(*reinterpret_cast<Modules::Unit*>(module), name);
    if (!kernel) return hipErrorNotFound;
    *function = reinterpret_cast<hipFunction_t>(const_cast<Kernel*>(kernel));
    return hipSuccess;
  });
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                 unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                 unsigned int block_z, unsigned int shared_bytes,
                                 hipStream_t /*stream*/, void** arguments, void** extra) {
  return entry([&] {
    if (!function || extra) return hipErrorInvalidValue;
    return launch_kernel(*reinterpret_cast<const Kernel*>(function), dim3(grid_x, grid_y, grid_z),
                         dim3(block_x, block_y, block_z), shared_bytes, arguments);
  });
}

}  // extern "C"
