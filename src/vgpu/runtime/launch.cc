// Launches: hipLaunchKernel and its relatives, and the configuration that <<<>>> pushes for the
// stub that clang generates. A launch the hardware would refuse is refused with the code that HIP
// gives; one that goes through has run when the call returns.
#include "vgpu/runtime/launch.h"

#include <fmt/format.h>
#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "vgpu/runtime/device.h"
#include "vgpu/runtime/jobs.h"
#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  hipStream_t stream;
};

// One a thread: the program's threads launch independently of each other.
std::vector<Configuration>& configurations() {
  static thread_local std::vector<Configuration> pushed;
  return pushed;
}

std::uint64_t volume(const dim3& dim) { return static_cast<std::uint64_t>(dim.x) * dim.y * dim.z; }

/// HIP counts the threads of an axis in 32 bits.
bool too_long(std::uint32_t blocks, std::uint32_t threads) {
  return static_cast<std::uint64_t>(blocks) * threads > UINT32_MAX;
}

hipError_t check(const KernelInfo& kernel, const Configuration& configuration) {
  const dim3& grid = configuration.grid;
  const dim3& block = configuration.block;
  if (volume(grid) == 0 || volume(block) == 0 || volume(block) > kMaxThreadsPerBlock) {
    return hipErrorInvalidConfiguration;
  }
  if (too_long(grid.x, block.x) || too_long(grid.y, block.y) || too_long(grid.z, block.z)) {
    return hipErrorInvalidConfiguration;
  }
  const std::uint64_t lds = kernel.static_lds_bytes + configuration.shared_bytes;
  return lds > device_model().lds_bytes ? hipErrorInvalidValue : hipSuccess;
}

std::string in_words(const dim3& dim) { return fmt::format("{} x {} x {}", dim.x, dim.y, dim.z); }

/// For the user whose program does not look at the code, and so "launches nothing".
std::string refusal(const KernelInfo& kernel, const Configuration& configuration) {
  return fmt::format(
      "a launch of {} was refused: grid {}, blocks of {} threads (at most {}), {} bytes of LDS (at "
      "most {})",
      kernel.name, in_words(configuration.grid), in_words(configuration.block), kMaxThreadsPerBlock,
      kernel.static_lds_bytes + configuration.shared_bytes, device_model().lds_bytes);
}

/// The values behind `arguments`, laid out as the kernel expects them.
std::vector<std::byte> pack(const KernelInfo& kernel, void** arguments) {
  std::vector<std::byte> packed(kernel.kernarg_bytes);
  for (std::size_t i = 0; i < kernel.arg_offset.size(); ++i) {
    std::memcpy(packed.data() + kernel.arg_offset[i], arguments[i], kernel.arg_bytes[i]);
  }
  return packed;
}

/// Of one block, in wave instructions: what a user calls "it hangs".
std::uint64_t step_limit() {
  constexpr std::uint64_t kGenerous = 2'000'000'000;
  const std::uint64_t asked = state().request.step_limit;
  return asked ? asked : kGenerous;
}

Dim3 to_dim3(const dim3& dim) { return {dim.x, dim.y, dim.z}; }

hipError_t launch(const void* host_function, const Configuration& configuration, void** arguments) {
  const Kernel* const kernel = kernel_of(host_function);
  if (!kernel) return hipErrorInvalidDeviceFunction;
  return launch_kernel(*kernel, configuration.grid, configuration.block, configuration.shared_bytes,
                       arguments);
}

}  // namespace

hipError_t launch_kernel(const Kernel& kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                         void** arguments) {
  const Configuration configuration{grid, block, shared_bytes, nullptr};
  if (const hipError_t fault = check(*kernel.info, configuration)) {
    state().refused = refusal(*kernel.info, configuration);
    return fault;
  }
  if (!arguments && !kernel.info->arg_offset.empty()) return hipErrorInvalidValue;
  const std::vector<std::byte> packed = pack(*kernel.info, arguments);
  perform(kernel, {.grid = to_dim3(grid),
                   .block = to_dim3(block),
                   .dynamic_lds_bytes = static_cast<std::uint32_t>(shared_bytes),
                   .kernargs = packed,
                   .step_limit = step_limit()});
  return hipSuccess;
}

void run_recorded(const Kernel& kernel, const Launch& launch, const Dim3& block, Mode mode,
                  BlockRecorder& recorder) {
  const auto threads = static_cast<std::uint32_t>(launch.block.count());
  recorder.begin((threads + kWaveLanes - 1) / kWaveLanes);
  kernel.module->run_block(*kernel.info, launch, block, mode, state().heap.memory(), &recorder);
}

const Kernel* kernel_of(const void* host_function) {
  State& s = state();
  s.modules.load_all(s.heap);
  return s.modules.find(host_function);
}

}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): clang emits calls to these names
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                      hipStream_t stream) {
  configurations().push_back({grid, block, shared_bytes, stream});
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                     hipStream_t* stream) {
  if (configurations().empty()) return hipErrorMissingConfiguration;
  const Configuration top = configurations().back();
  configurations().pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *stream = top.stream;
  return hipSuccess;
}
// NOLINTEND(bugprone-reserved-identifier)

hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                           size_t shared_bytes, hipStream_t stream) {
  return entry([&] { return launch(function, {grid, block, shared_bytes, stream}, arguments); });
}

/// Blocks run to their end one after another: a kernel that waits for other blocks is refused when
/// its module is loaded, all others do not notice.
hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      unsigned int shared_bytes, hipStream_t stream) {
  return hipLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}

hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                              size_t shared_bytes, hipStream_t stream, hipEvent_t start,
                              hipEvent_t stop, int /*flags*/) {
  if (start && hipEventRecord(start, stream) != hipSuccess) return hipErrorInvalidHandle;
  const hipError_t result =
      entry([&] { return launch(function, {grid, block, shared_bytes, stream}, arguments); });
  if (stop && hipEventRecord(stop, stream) != hipSuccess) return hipErrorInvalidHandle;
  return result;
}

}  // extern "C"
