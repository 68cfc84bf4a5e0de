// Launches: hipLaunchKernel and its relatives, and the configuration that <<<>>> pushes for the
// stub that clang generates. A launch the hardware would refuse is refused with the code that HIP
// gives; one that goes through has run when the call returns.
#include "vgpu/runtime/launch.h"

#include <fmt/format.h>
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "vgpu/exec/device_heap.h"
#include "vgpu/runtime/device.h"
#include "vgpu/runtime/graph.h"
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

std::vector<std::byte>& pending_arguments() {
  static thread_local std::vector<std::byte> packed;
  return packed;
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
  return lds > device_model().most_block_lds_bytes ? hipErrorInvalidValue : hipSuccess;
}

std::string in_words(const dim3& dim) { return fmt::format("{} x {} x {}", dim.x, dim.y, dim.z); }

/// For the user whose program does not look at the code, and so "launches nothing".
std::string refusal(const KernelInfo& kernel, const Configuration& configuration) {
  return fmt::format(
      "a launch of {} was refused: grid {}, blocks of {} threads (at most {}), {} bytes of {} (at "
      "most {})",
      kernel.name, in_words(configuration.grid), in_words(configuration.block), kMaxThreadsPerBlock,
      kernel.static_lds_bytes + configuration.shared_bytes, lds_word(kernel.wave_lanes),
      device_model().most_block_lds_bytes);
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
  constexpr std::uint64_t kSeconds = 40'000'000;  // a few of them
  const std::uint64_t asked = state().request.step_limit;
  return asked ? asked : kSeconds;
}

/// Where kernels allocate; made for the first that does. Pages cost nothing until they are touched.
DeviceHeap* device_heap() {
  constexpr std::uint64_t kBytes = 256 << 20;
  static DeviceHeap* const heap = [] {
    Heap& memory = state().heap;
    void* const base = memory.allocate(kBytes, MemoryKind::kDevice);
    if (!base) throw input_error("no memory for the heap of kernels that call malloc (256 MB)");
    memory.rename(base, "heap of kernels");
    return new DeviceHeap(reinterpret_cast<std::uint64_t>(base), kBytes);
  }();
  return heap;
}

Dim3 to_dim3(const dim3& dim) { return {dim.x, dim.y, dim.z}; }

/// The values that `extra` points to; empty if it does not say.
std::vector<std::byte> from_extra(void** extra) {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  for (; extra && *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      data = static_cast<const std::byte*>(extra[1]);
    else if (*extra == HIP_LAUNCH_PARAM_BUFFER_SIZE)
      bytes = *static_cast<const std::size_t*>(extra[1]);
    else
      return {};
  }
  return data ? std::vector<std::byte>(data, data + bytes) : std::vector<std::byte>{};
}

}  // namespace

void run_recorded(const Kernel& kernel, const Launch& launch, const Dim3& block, Mode mode,
                  BlockRecorder& recorder) {
  const auto threads = static_cast<std::uint32_t>(launch.block.count());
  const std::uint32_t lanes = kernel.info->wave_lanes;
  recorder.begin((threads + lanes - 1) / lanes);
  kernel.module->run_block(*kernel.info, launch, block, mode, state().heap.memory(), &recorder);
}

const Kernel* kernel_of(const void* function) {
  State& s = state();
  s.modules.load_all(s.heap);
  const Kernel* const kernel = s.modules.find(function);
  return kernel ? kernel : kernel_of(static_cast<hipFunction_t>(const_cast<void*>(function)));
}

hipError_t prepare(const void* function, dim3 grid, dim3 block, void** arguments, void** extra,
                   std::size_t shared_bytes, PreparedLaunch& launch) {
  const Kernel* const kernel = kernel_of(function);
  if (!kernel) return hipErrorInvalidDeviceFunction;
  const Configuration configuration{grid, block, shared_bytes, nullptr};
  if (const hipError_t fault = check(*kernel->info, configuration)) {
    state().refused = refusal(*kernel->info, configuration);
    return fault;
  }
  std::vector<std::byte> packed;
  if (extra) {
    packed = from_extra(extra);
    if (packed.size() > kernel->info->kernarg_bytes + 256) return hipErrorInvalidValue;
    packed.resize(std::max<std::size_t>(packed.size(), kernel->info->kernarg_bytes));
  } else {
    if (!arguments && !kernel->info->arg_offset.empty()) return hipErrorInvalidValue;
    packed = pack(*kernel->info, arguments);
  }
  launch = {kernel, grid, block, shared_bytes, std::move(packed)};
  return hipSuccess;
}

hipError_t run_prepared(const PreparedLaunch& launch) {
  return entry([&] {
    const KernelInfo& info = *launch.kernel->info;
    perform(*launch.kernel, {.grid = to_dim3(launch.grid),
                             .block = to_dim3(launch.block),
                             .dynamic_lds_bytes = static_cast<std::uint32_t>(launch.shared_bytes),
                             .kernargs = launch.arguments,
                             .step_limit = step_limit(),
                             .heap = info.allocates ? device_heap() : nullptr});
    return hipSuccess;
  });
}

hipError_t launch_on(hipStream_t stream, const void* function, dim3 grid, dim3 block,
                     void** arguments, void** extra, std::size_t shared_bytes) {
  PreparedLaunch launch;
  const hipError_t fault =
      entry([&] { return prepare(function, grid, block, arguments, extra, shared_bytes, launch); });
  if (fault != hipSuccess) return fault;
  const auto action = [launch] { return run_prepared(launch); };
  if (captured(stream, hipGraphNodeTypeKernel, action)) return hipSuccess;
  return run_prepared(launch);
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
  return launch_on(stream, function, grid, block, arguments, nullptr, shared_bytes);
}

/// All blocks must fit onto the device at once, since they may wait for each other.
hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      unsigned int shared_bytes, hipStream_t stream) {
  int resident = 0;
  const hipError_t fault = hipOccupancyMaxActiveBlocksPerMultiprocessor(
      &resident, function, static_cast<int>(std::min<std::uint64_t>(volume(block), 1U << 20)),
      shared_bytes);
  if (fault != hipSuccess) return fault;
  const auto most = static_cast<std::uint64_t>(resident) *
                    static_cast<std::uint64_t>(device_model().compute_units);
  if (volume(grid) > most) return note(hipErrorCooperativeLaunchTooLarge);
  return hipLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}

hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams* launches, int count,
                                                 unsigned int /*flags*/) {
  if (!launches || count < 1) return note(hipErrorInvalidValue);
  if (count > 1)
    fail(
        "hipLaunchCooperativeKernelMultiDevice for several devices is not supported by the virtual "
        "GPU, which is one device");
  const hipLaunchParams& p = *launches;
  return hipLaunchCooperativeKernel(p.func, p.gridDim, p.blockDim, p.args,
                                    static_cast<unsigned>(p.sharedMem), p.stream);
}

/// HIP's oldest way: the configuration is pushed, arguments are set one by one.
hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
  configurations().push_back({grid, block, shared_bytes, stream});
  pending_arguments().clear();
  return hipSuccess;
}
hipError_t hipSetupArgument(const void* argument, size_t bytes, size_t offset) {
  auto& packed = pending_arguments();
  if (packed.size() < offset + bytes) packed.resize(offset + bytes);
  std::memcpy(packed.data() + offset, argument, bytes);
  return hipSuccess;
}
hipError_t hipLaunchByPtr(const void* function) {
  if (configurations().empty()) return note(hipErrorMissingConfiguration);
  const Configuration top = configurations().back();
  configurations().pop_back();
  std::size_t bytes = pending_arguments().size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, pending_arguments().data(),
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  return launch_on(top.stream, function, top.grid, top.block, nullptr, extra, top.shared_bytes);
}

hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                              size_t shared_bytes, hipStream_t stream, hipEvent_t start,
                              hipEvent_t stop, int /*flags*/) {
  if (start && hipEventRecord(start, stream) != hipSuccess) return hipErrorInvalidHandle;
  const hipError_t result =
      launch_on(stream, function, grid, block, arguments, nullptr, shared_bytes);
  if (stop && hipEventRecord(stop, stream) != hipSuccess) return hipErrorInvalidHandle;
  return result;
}

}  // extern "C"
