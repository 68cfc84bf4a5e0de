// The job is settled launch by launch: those before the chosen one are executed, since they may
// make the data that its addresses depend on; at the chosen one the process answers and ends, since
// the program's own checks could not pass once arithmetic was left out.
#include "vgpu/runtime/jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>

#include "base/files.h"
#include "base/parallel.h"
#include "trace/build.h"
#include "vgpu/runtime/check.h"
#include "vgpu/runtime/compare.h"
#include "vgpu/runtime/launch.h"
#include "vgpu/runtime/state.h"
#include "vgpu/runtime/survey.h"

namespace swizzleperf::vgpu::runtime {
namespace {

unsigned thread_count() {
  const unsigned asked = state().request.threads;
  return asked ? asked : default_threads();
}

/// Launches so far that the index counts: of the chosen kernel, or of all when none is.
std::int64_t counted_launches() {
  const State& s = state();
  std::int64_t count = 0;
  for (const auto& [symbol, launches] : s.launched) {
    if (s.chosen.empty() || symbol == s.chosen) count += launches;
  }
  return count;
}

bool is_chosen(const KernelInfo& kernel) {
  const State& s = state();
  if (!s.chosen.empty() && kernel.symbol != s.chosen) return false;
  return counted_launches() == std::max<std::int64_t>(s.request.launch_index, 0);
}

// ---- trace --------------------------------------------------------------------------------------

/// A word of an argument that may be a pointer.
std::uint64_t argument_word(const Kernel& kernel, const Launch& launch, std::size_t index,
                            std::uint32_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, launch.kernargs.data() + kernel.info->arg_offset[index] + offset,
              sizeof value);
  return value;
}

/// clang passes some pointers under another type and marks their names.
std::string source_name(const std::string& name) {
  constexpr std::string_view kMark = ".coerce";
  return name.ends_with(kMark) ? name.substr(0, name.size() - kMark.size()) : name;
}

}  // namespace

std::vector<Buffer> buffers_of(const Kernel& kernel, const Launch& launch) {
  const Heap& heap = state().heap;
  std::vector<Buffer> buffers;
  std::vector<std::vector<std::string>> arguments(heap.memory().allocations.size());
  for (std::size_t i = 0; i < kernel.info->arg_offset.size(); ++i) {
    const std::string name = source_name(kernel.info->arg_name[i]);
    const std::string shown =
        name.empty() ? fmt::format("arg {}", i) : fmt::format("arg {} '{}'", i, name);
    // A struct's pointers are found by their values; debug information has no types here.
    for (std::uint32_t at = 0; at + 8 <= kernel.info->arg_bytes[i]; at += 8) {
      const Allocation* const target = heap.memory().find(argument_word(kernel, launch, i, at));
      if (!target) continue;
      arguments[static_cast<std::size_t>(target - heap.memory().allocations.data())].push_back(
          kernel.info->arg_is_pointer[i] ? shown : fmt::format("{} at byte {}", shown, at));
    }
  }
  // A trace numbers its buffers with 16 bits. Beyond that, neighbours that no argument names go
  // together.
  constexpr std::size_t kMostBuffers = 60'000;
  const std::size_t together = arguments.size() / kMostBuffers + 1;
  std::size_t joined = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Allocation& allocation = heap.memory().allocations[i];
    const bool joins = arguments[i].empty() && joined > 0 && joined < together;
    if (joins) {
      Buffer& last = buffers.back();
      last.bytes = allocation.base + allocation.bytes - last.base;
      ++joined;
      continue;
    }
    joined = arguments[i].empty() ? 1 : 0;
    buffers.push_back(
        {arguments[i].empty() ? allocation.name : fmt::format("{}", fmt::join(arguments[i], ", ")),
         allocation.base, allocation.bytes});
  }
  return buffers;
}

std::vector<PointerArgument> pointer_arguments(const Kernel& kernel, const Launch& launch) {
  const DeviceMemory& memory = state().heap.memory();
  std::vector<PointerArgument> pointers;
  for (std::size_t i = 0; i < kernel.info->arg_offset.size(); ++i) {
    if (!kernel.info->arg_is_pointer[i]) continue;
    const std::uint64_t address = argument_word(kernel, launch, i, 0);
    const Allocation* const target = memory.find(address);
    if (!target) continue;
    pointers.push_back({static_cast<std::uint32_t>(i), source_name(kernel.info->arg_name[i]),
                        address, static_cast<std::uint32_t>(target - memory.allocations.data())});
  }
  return pointers;
}

namespace {

/// Blocks that depend on each other are run together, for real; all others alone and lightly.
void trace_blocks(const Request& request, const Kernel& kernel, const Launch& launch,
                  Trace& trace) {
  const DeviceMemory& memory = state().heap.memory();
  if (kernel.module->needs_order(*kernel.info, launch, memory)) {
    PatternTable patterns;
    std::vector<RawBlock> blocks;
    kernel.module->record_grid(*kernel.info, launch, memory, patterns, blocks);
    build_trace(trace, patterns, blocks);
    return;
  }
  const RunBlock run = [&](const Dim3& block, BlockRecorder& recorder) {
    run_recorded(kernel, launch, block, Mode::kAddress, recorder);
  };
  build_trace(
      trace, run,
      {.threads = thread_count(), .extrapolate = request.extrapolate, .seed = request.seed});
}

void record(const Request& request, const Kernel& kernel, const Launch& launch) {
  // The code generator needs about as long as the trace: side by side.
  auto resources = std::async(std::launch::async, [&] {
    return codegen_resources(kernel.bitcode, kernel.info->symbol, request.arch);
  });
  Trace trace;
  trace.program = request.program;
  trace.kernel = kernel.info->name;
  trace.symbol = kernel.info->symbol;
  trace.arch = request.arch;
  trace.grid = launch.grid;
  trace.block = launch.block;
  trace.lds_bytes = kernel.info->static_lds_bytes + launch.dynamic_lds_bytes;
  trace.buffers = buffers_of(kernel, launch);
  trace_blocks(request, kernel, launch, trace);
  const CodegenResources counts = resources.get();
  trace.vgprs = counts.vgprs;
  trace.sgprs = counts.sgprs;
  write_trace(trace, request.trace_file);
}

/// Orders of blocks are lists of 32-bit numbers.
void check_size(const Kernel& kernel, const Launch& launch) {
  const Dim3& g = launch.grid;
  constexpr std::uint64_t kMost = UINT32_MAX;
  if (std::uint64_t{g.x} * g.y <= kMost && std::uint64_t{g.x} * g.y * g.z <= kMost) return;
  throw input_error(
      fmt::format("the launch of {} has {} x {} x {} blocks; at most 2^32 - 1 can be traced: give "
                  "the program a smaller problem",
                  kernel.info->name, g.x, g.y, g.z));
}

[[noreturn]] void finish(const Request& request, const Kernel& kernel, const Launch& launch) {
  check_size(kernel, launch);
  Response response;
  if (request.job == Job::kTrace) {
    record(request, kernel, launch);
  } else if (request.job == Job::kCheck) {
    response.findings = check_launch(request, kernel, launch);
  } else {
    response.comparison = compare_launch(request, kernel, launch);
  }
  answer(response);
}

/// A program that takes its time before the launch that is wanted is told apart from one that
/// hangs.
void tell_progress(const Kernel& kernel) {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point start = Clock::now();
  static Clock::time_point last = start;
  const State& s = state();
  const Clock::time_point now = Clock::now();
  constexpr std::chrono::milliseconds kPatience(500);
  if (s.request.job != Job::kTrace || s.request.progress_file.empty() || now - last < kPatience) {
    return;
  }
  last = now;
  std::int64_t launches = 0;
  for (const auto& [symbol, count] : s.launched) launches += count;
  write_file(s.request.progress_file,
             fmt::format("{} launches before the one to trace are done ({} repeated earlier ones), "
                         "now {}; --kernel and --launch choose an earlier one",
                         launches, s.repeats.spared(), kernel.info->name));
}

}  // namespace

void perform(const Kernel& kernel, const Launch& launch) {
  State& s = state();
  if (surveying()) return survey(kernel, launch);
  if (s.request.job != Job::kNone && s.request.job != Job::kRun) {
    if (s.launched.empty()) s.chosen = choose_kernel();
    if (surveying()) return survey(kernel, launch);
    if (is_chosen(*kernel.info)) finish(s.request, kernel, launch);
  }
  tell_progress(kernel);
  s.repeats.run(kernel, launch, s.heap, [&] {
    kernel.module->run_grid(*kernel.info, launch, s.heap.memory(), thread_count());
  });
  ++s.launched[kernel.info->symbol];
}

std::string launch_not_reached() {
  const State& s = state();
  const Request& request = s.request;
  if (s.launched.empty()) {
    return fmt::format("{} ended without launching a kernel{}{}", request.program,
                       s.refused.empty() ? "" : "; ", s.refused);
  }
  const std::int64_t launches = counted_launches();
  if (launches == 0) {
    return fmt::format("{} never launches the kernel that matches '{}'", request.program,
                       request.kernel_regex);
  }
  return fmt::format("{} makes {} such launch{}, so there is no launch {} (they count from 0)",
                     request.program, launches, launches == 1 ? "" : "es", request.launch_index);
}

}  // namespace swizzleperf::vgpu::runtime
