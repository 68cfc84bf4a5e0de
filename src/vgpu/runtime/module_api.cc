// Modules that a program loads itself: LLVM IR, as bitcode or text, from a file or from memory.
// Code objects for a real GPU hold machine code, which the virtual GPU cannot run; that is said.
#include <fmt/format.h>
#include <hip/hip_runtime_api.h>

#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include "vgpu/runtime/launch.h"
#include "vgpu/runtime/state.h"

using swizzleperf::vgpu::runtime::Kernel;
using swizzleperf::vgpu::runtime::Modules;

// HIP leaves these two types to the implementation.
struct ihipModule_t {
  std::string image;
  Modules::Unit* unit = nullptr;
  std::deque<ihipModuleSymbol_t> functions;
};
struct ihipModuleSymbol_t {
  Kernel kernel;
};

namespace swizzleperf::vgpu::runtime {
namespace {

std::map<hipModule_t, std::unique_ptr<ihipModule_t>>& modules() {
  static auto* const all = new std::map<hipModule_t, std::unique_ptr<ihipModule_t>>;
  return *all;
}

/// Bitcode is a magic number and blocks, each with its length in words; nothing says where it ends.
std::size_t bitcode_bytes(const char* image) {
  std::size_t at = 4;
  for (;;) {
    std::uint32_t head[2];
    std::memcpy(head, image + at, sizeof head);
    const std::uint32_t block = head[0] >> 2 & 0xff;
    const bool enters = (head[0] & 3) == 1;
    // Identification, module, string table, symbol table.
    if (!enters || (block != 13 && block != 8 && block != 23 && block != 25)) return at;
    at += 8 + std::size_t{head[1]} * 4;
  }
}

bool is_text(const char* image) {
  const auto c = static_cast<unsigned char>(image[0]);
  return c == ';' || c == '\n' || (c >= 'a' && c <= 'z');
}

hipError_t load(hipModule_t* result, std::string image, const std::string& name) {
  if (!result) return hipErrorInvalidValue;
  constexpr std::string_view kBitcode = "BC\xC0\xDE";
  if (!image.starts_with(kBitcode) && !is_text(image.c_str()))
    throw input_error(
        fmt::format("{} is not LLVM IR: the virtual GPU loads bitcode or text (clang -emit-llvm "
                    "--offload-device-only), not code objects for a real GPU",
                    name));
  State& s = state();
  auto module = std::make_unique<ihipModule_t>();
  module->image = std::move(image);
  module->unit = s.modules.add(std::as_bytes(std::span(module->image)), false, name);
  s.modules.load_all(s.heap);
  *result = module.get();
  modules()[module.get()] = std::move(module);
  return hipSuccess;
}

}  // namespace

const Kernel* kernel_of(hipFunction_t function) {
  for (const auto& [handle, module] : modules())
    for (const ihipModuleSymbol_t& known : module->functions)
      if (&known == function) return &known.kernel;
  return nullptr;
}

}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

extern "C" {

hipError_t hipModuleLoad(hipModule_t* module, const char* file) {
  return entry([&] {
    std::ifstream in(file ? file : "", std::ios::binary);
    if (!in) return hipErrorFileNotFound;
    return load(module, {std::istreambuf_iterator<char>(in), {}}, file);
  });
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* data) {
  return entry([&] {
    if (!data) return hipErrorInvalidValue;
    const auto* const image = static_cast<const char*>(data);
    const std::size_t bytes = is_text(image)                     ? std::strlen(image)
                              : std::memcmp(image, "BC", 2) == 0 ? bitcode_bytes(image)
                                                                 : 4;
    return load(module, {image, bytes}, "the image given to hipModuleLoadData");
  });
}

hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* data, unsigned int /*count*/,
                               hipJitOption* /*options*/, void** /*values*/) {
  return hipModuleLoadData(module, data);
}

/// The code stays: launches that were traced name it.
hipError_t hipModuleUnload(hipModule_t module) {
  return entry([&] { return modules().contains(module) ? hipSuccess : hipErrorInvalidHandle; });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return entry([&] {
    if (!function || !name) return hipErrorInvalidValue;
    if (!modules().contains(module)) return hipErrorInvalidHandle;
    for (const auto& info : module->unit->module->kernels()) {
      if (info.symbol != name) continue;
      module->functions.push_back({{module->unit->module.get(), &info, module->unit->bitcode}});
      *function = &module->functions.back();
      return hipSuccess;
    }
    return hipErrorNotFound;
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* bytes, hipModule_t module,
                              const char* name) {
  return entry([&] {
    if (!modules().contains(module)) return hipErrorInvalidHandle;
    const auto found = module->unit->variables.find(name ? name : "");
    if (found == module->unit->variables.end()) return hipErrorNotFound;
    if (address) *address = found->second.address;
    if (bytes) *bytes = found->second.bytes;
    return hipSuccess;
  });
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                 unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                 unsigned int block_z, unsigned int shared_bytes,
                                 hipStream_t stream, void** arguments, void** extra) {
  return launch_on(stream, function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                   arguments, extra, shared_bytes);
}

/// Here a grid is counted in threads.
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t threads_x, uint32_t threads_y,
                                    uint32_t threads_z, uint32_t block_x, uint32_t block_y,
                                    uint32_t block_z, size_t shared_bytes, hipStream_t stream,
                                    void** arguments, void** extra, hipEvent_t start,
                                    hipEvent_t stop, uint32_t /*flags*/) {
  if (block_x == 0 || block_y == 0 || block_z == 0) return note(hipErrorInvalidConfiguration);
  if (start && hipEventRecord(start, stream) != hipSuccess) return hipErrorInvalidHandle;
  const hipError_t result =
      launch_on(stream, function, {threads_x / block_x, threads_y / block_y, threads_z / block_z},
                {block_x, block_y, block_z}, arguments, extra, shared_bytes);
  if (stop && hipEventRecord(stop, stream) != hipSuccess) return hipErrorInvalidHandle;
  return result;
}

hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t threads_x, uint32_t threads_y,
                                    uint32_t threads_z, uint32_t block_x, uint32_t block_y,
                                    uint32_t block_z, size_t shared_bytes, hipStream_t stream,
                                    void** arguments, void** extra, hipEvent_t start,
                                    hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, threads_x, threads_y, threads_z, block_x, block_y,
                                  block_z, shared_bytes, stream, arguments, extra, start, stop, 0);
}

}  // extern "C"
