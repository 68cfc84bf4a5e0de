// Comparing two kernels block by block, without running either grid.
//
// Each block runs in a forked copy of this process: it sees the memory as the launch finds it,
// writes into pages of its own, and sends back what it wrote. Nothing has to be logged, undone or
// assumed: kernels that update in place, use atomics or read their own writes are compared like any
// other, and the blocks of a sample cannot disturb each other. A fork costs about a millisecond.
#include "vgpu/runtime/compare.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include "base/files.h"
#include "base/parallel.h"
#include "base/random.h"
#include "trace/recorder.h"
#include "vgpu/runtime/launch.h"
#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

// ---- one block, isolated ------------------------------------------------------------------------

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
  bool operator==(const Range&) const = default;
};

/// What a block wrote, or the sentence that says why it could not run.
struct Outcome {
  std::vector<Range> ranges;     // sorted, disjoint, not touching
  std::vector<std::byte> bytes;  // of the ranges, one after the other
  std::string fault;
};

std::vector<Range> written_ranges(const RawBlock& block, const PatternTable& patterns) {
  std::vector<Range> all;
  for (const RawEvent& event : block.events) {
    if (event.kind == AccessKind::kLoad) continue;
    for (const ByteRange& range : patterns.patterns()[event.pattern]) {
      const std::uint64_t begin = event.address + range.begin;
      all.push_back({begin, begin + range.size});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> merged;
  for (const Range& range : all) {
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

const std::byte* at(std::uint64_t address) {
  return reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

Outcome run_here(const Kernel& kernel, const Launch& launch, std::uint64_t block) {
  Outcome outcome;
  PatternTable patterns;
  BlockRecorder recorder(patterns);
  try {
    run_recorded(kernel, launch, unlinear(block, launch.grid), Mode::kFunctional, recorder);
  } catch (const Error& error) {
    outcome.fault = error.what();
    return outcome;
  }
  outcome.ranges = written_ranges(recorder.finish(), patterns);
  for (const Range& range : outcome.ranges) {
    outcome.bytes.insert(outcome.bytes.end(), at(range.begin), at(range.end));
  }
  return outcome;
}

/// One end of the pipe between a block's process and ours: sizes, then contents.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  ~Channel() { close(descriptor_); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  template <class Items>
  bool send(const Items& items) {
    const std::uint64_t count = items.size();
    return put(&count, sizeof count) && put(items.data(), count * sizeof items[0]);
  }
  template <class Items>
  bool receive(Items& items) {
    std::uint64_t count = 0;
    if (!get(&count, sizeof count)) return false;
    items.resize(count);
    return get(items.data(), count * sizeof items[0]);
  }

 private:
  bool put(const void* data, std::size_t bytes) {
    for (const char* from = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t done = write(descriptor_, from, bytes);
      if (done <= 0) return false;
      from += done;
      bytes -= static_cast<std::size_t>(done);
    }
    return true;
  }
  bool get(void* data, std::size_t bytes) {
    for (char* to = static_cast<char*>(data); bytes > 0;) {
      const ssize_t done = read(descriptor_, to, bytes);
      if (done <= 0) return false;
      to += done;
      bytes -= static_cast<std::size_t>(done);
    }
    return true;
  }

  int descriptor_;
};

Outcome run_isolated(const Kernel& kernel, const Launch& launch, std::uint64_t block) {
  int ends[2];
  if (pipe(ends) != 0) throw input_error("cannot open a pipe to compare blocks");
  const pid_t child = fork();
  if (child < 0) throw input_error("cannot fork to compare blocks");
  if (child == 0) {
    close(ends[0]);
    Channel out(ends[1]);
    const Outcome outcome = run_here(kernel, launch, block);
    const bool sent =
        out.send(outcome.fault) && out.send(outcome.ranges) && out.send(outcome.bytes);
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  Channel in(ends[0]);
  Outcome outcome;
  const bool received =
      in.receive(outcome.fault) && in.receive(outcome.ranges) && in.receive(outcome.bytes);
  int status = 0;
  waitpid(child, &status, 0);
  if (!received) outcome.fault = "the virtual GPU ended while it ran the block";
  return outcome;
}

// ---- two blocks ---------------------------------------------------------------------------------

std::string place_of(std::uint64_t address) {
  const Allocation* const allocation = state().heap.memory().find(address);
  if (!allocation) return fmt::format("{:#x}", address);
  return fmt::format("byte {} of {}", address - allocation->base, allocation->name);
}

std::string first_difference(const Outcome& patched, const Outcome& original) {
  if (!patched.fault.empty()) return patched.fault;
  if (!original.fault.empty()) return "the original faults: " + original.fault;
  if (patched.ranges != original.ranges) {
    const auto [mine, theirs] = std::mismatch(patched.ranges.begin(), patched.ranges.end(),
                                              original.ranges.begin(), original.ranges.end());
    const bool extra = mine != patched.ranges.end();
    return extra ? fmt::format("it writes {} bytes at {}, where the original does not",
                               mine->end - mine->begin, place_of(mine->begin))
                 : fmt::format("it does not write {} bytes at {}, where the original does",
                               theirs->end - theirs->begin, place_of(theirs->begin));
  }
  const auto differ =
      std::mismatch(patched.bytes.begin(), patched.bytes.end(), original.bytes.begin());
  if (differ.first == patched.bytes.end()) return {};
  auto left = static_cast<std::uint64_t>(differ.first - patched.bytes.begin());
  auto range = patched.ranges.begin();
  for (; left >= range->end - range->begin; ++range) left -= range->end - range->begin;
  return fmt::format("it writes {:#04x} at {}, where the original writes {:#04x}",
                     static_cast<unsigned>(*differ.first), place_of(range->begin + left),
                     static_cast<unsigned>(*differ.second));
}

// ---- the sample ---------------------------------------------------------------------------------

/// Corners and middles of the edges first (ragged tiles are there), then blocks drawn at random.
std::vector<std::uint64_t> sample(const Dim3& grid, std::uint64_t wanted, std::uint64_t seed) {
  const auto stops = [](std::uint32_t extent) {
    return std::set<std::uint32_t>{0, extent - 1, extent / 2};
  };
  const std::uint64_t count = std::min(wanted, grid.count());
  std::set<std::uint64_t> chosen;
  for (const std::uint32_t z : stops(grid.z)) {
    for (const std::uint32_t y : stops(grid.y)) {
      for (const std::uint32_t x : stops(grid.x)) {
        if (chosen.size() < count) chosen.insert(linear({x, y, z}, grid));
      }
    }
  }
  Random random(seed);
  while (chosen.size() < count) chosen.insert(random.below(grid.count()));
  return {chosen.begin(), chosen.end()};
}

std::vector<std::uint32_t> read_permutation(const std::filesystem::path& file,
                                            std::uint64_t blocks) {
  const std::string text = read_file(file);
  std::vector<std::uint32_t> targets(text.size() / sizeof(std::uint32_t));
  std::memcpy(targets.data(), text.data(), targets.size() * sizeof targets[0]);
  if (targets.size() != blocks) {
    throw input_error(fmt::format("the permutation has {} targets, but the launch has {} blocks",
                                  targets.size(), blocks));
  }
  return targets;
}

/// The kernel of the same symbol in the patched module, with the original's device variables. What
/// only the patched module has stays in its own memory.
Kernel patched_kernel(Module& patched, const Kernel& original) {
  for (const DeviceVariable& variable : patched.variables()) {
    const Symbol known = state().modules.symbol(*original.module, variable.symbol);
    if (!known.address) continue;
    patched.place_variable(variable.symbol, reinterpret_cast<std::uint64_t>(known.address));
  }
  for (const KernelInfo& info : patched.kernels()) {
    if (info.symbol != original.info->symbol) continue;
    if (info.arg_bytes != original.info->arg_bytes) break;
    return {&patched, &info, {}, false};
  }
  throw input_error(fmt::format("the patched program has no kernel {} with the same arguments",
                                original.info->name));
}

}  // namespace

BlockComparison compare_launch(const Request& request, const Kernel& original,
                               const Launch& launch) {
  const std::vector<std::uint32_t> permutation =
      read_permutation(request.permutation_file, launch.grid.count());
  const std::string bitcode = read_file(request.patched_bitcode);
  std::span<const std::byte> code = std::as_bytes(std::span(bitcode));
  std::vector<std::byte> together;  // with the device code of other objects that it refers to
  if (original.linked) {
    together = link_bitcode({original.bitcode, code}, OnConflict::kTakeLast);
    code = together;
  }
  const auto module = Module::load(code, "the patched program");
  const Kernel patched = patched_kernel(*module, original);

  const std::vector<std::uint64_t> blocks =
      sample(launch.grid, request.sample_blocks, request.seed);
  std::vector<std::string> differences(blocks.size());
  std::vector<std::uint64_t> bytes(blocks.size());
  std::vector<std::uint64_t> zeros(blocks.size());
  const unsigned threads = request.threads ? request.threads : default_threads();
  parallel_for(blocks.size(), threads, [&](std::uint64_t i, unsigned) {
    const Outcome mine = run_isolated(patched, launch, blocks[i]);
    const Outcome theirs = run_isolated(original, launch, permutation[blocks[i]]);
    differences[i] = first_difference(mine, theirs);
    bytes[i] = mine.bytes.size();
    zeros[i] =
        static_cast<std::uint64_t>(std::count(mine.bytes.begin(), mine.bytes.end(), std::byte{0}));
  });

  BlockComparison result;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    result.bytes_compared += bytes[i];
    result.bytes_not_zero += bytes[i] - zeros[i];
    ++result.blocks_compared;
    if (!result.first_difference.empty() || differences[i].empty()) continue;
    result.first_difference = fmt::format("patched block {} should do the work of block {}, but {}",
                                          blocks[i], permutation[blocks[i]], differences[i]);
  }
  return result;
}

}  // namespace swizzleperf::vgpu::runtime
