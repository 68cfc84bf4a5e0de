// What a launch does not write. Nobody but the user knows what it should write, so there are three
// ways to tell: a declared range, a launch known to be complete, or at least the holes between what
// is written.
#include <algorithm>
#include <cstring>
#include <map>

#include "swizzleperf/check.h"

namespace swizzleperf {
namespace {

using Runs = std::vector<WrittenRun>;

/// The first run that ends behind `address`.
Runs::const_iterator first_behind(const Runs& runs, std::uint64_t address) {
  return std::upper_bound(runs.begin(), runs.end(), address,
                          [](std::uint64_t a, const WrittenRun& r) { return a < r.end; });
}

/// Calls hole(begin, end) for what no run covers of [begin, end).
template <class Hole>
void for_holes(const Runs& runs, std::uint64_t begin, std::uint64_t end, Hole hole) {
  for (auto run = first_behind(runs, begin); begin < end; ++run) {
    const std::uint64_t covered = run == runs.end() ? end : std::min(run->begin, end);
    if (begin < covered) hole(begin, covered);
    if (run == runs.end()) return;
    begin = std::max(begin, run->end);
  }
}

std::uint64_t uncovered(const Runs& runs, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t bytes = 0;
  for_holes(runs, begin, end, [&](std::uint64_t from, std::uint64_t to) { bytes += to - from; });
  return bytes;
}

/// Where a buffer begins for the kernel: at the argument that points into it, if there is one.
struct Anchor {
  const PointerArgument* argument = nullptr;
  std::uint64_t address = 0;
};

Anchor anchor_of(const LaunchFindings& f, std::uint32_t buffer) {
  for (const PointerArgument& a : f.arguments)
    if (a.buffer == buffer) return {&a, a.address};
  return {nullptr, f.buffers[buffer].base};
}

/// Where this launch has what the reference calls `theirs`.
std::optional<std::uint64_t> counterpart(const LaunchFindings& f, const LaunchFindings& reference,
                                         std::uint32_t buffer, const Anchor& theirs) {
  if (theirs.argument != nullptr) {
    const auto find = [&](auto matches) {
      const auto it = std::find_if(f.arguments.begin(), f.arguments.end(), matches);
      return it == f.arguments.end() ? std::nullopt : std::optional(it->address);
    };
    const std::string& name = theirs.argument->name;
    const auto by_name = find([&](const PointerArgument& a) { return a.name == name; });
    if (!name.empty() && by_name) return by_name;
    const std::uint32_t index = theirs.argument->index;
    return find([&](const PointerArgument& a) { return a.index == index; });
  }
  for (const Buffer& b : f.buffers)
    if (b.name == reference.buffers[buffer].name) return b.base;
  return std::nullopt;
}

std::uint32_t buffer_at(const LaunchFindings& f, std::uint64_t address) {
  const auto after = std::upper_bound(f.buffers.begin(), f.buffers.end(), address,
                                      [](std::uint64_t a, const Buffer& b) { return a < b.base; });
  return static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(after - f.buffers.begin() - 1, 0));
}

struct BlockBytes {
  std::uint64_t written = 0;  ///< by the reference
  std::uint64_t lost = 0;
  std::uint64_t first_lost = 0;
  std::uint32_t buffer = 0;
};

}  // namespace

Unwritten unwritten(const LaunchFindings& findings, std::uint64_t begin, std::uint64_t end) {
  Unwritten result;
  for_holes(findings.written, begin, end, [&](std::uint64_t from, std::uint64_t to) {
    if (result.runs++ == 0) {
      result.first_offset = from - begin;
      result.first_bytes = to - from;
    }
    result.bytes += to - from;
  });
  return result;
}

std::vector<WrittenArray> written_arrays(const LaunchFindings& f) {
  std::vector<WrittenArray> arrays;
  for (std::uint32_t i = 0; i < f.buffers.size(); ++i) {
    const std::uint64_t begin = f.buffers[i].base;
    const std::uint64_t end = begin + f.buffers[i].bytes;
    const auto first = first_behind(f.written, begin);
    if (first == f.written.end() || first->begin >= end) continue;
    const auto last =
        std::lower_bound(f.written.begin(), f.written.end(), end,
                         [](const WrittenRun& r, std::uint64_t a) { return r.begin < a; }) -
        1;
    WrittenArray array;
    array.buffer = i;
    array.before = first->begin - begin;
    array.behind = end - last->end;
    array.between = unwritten(f, first->begin, last->end);
    array.bytes = f.buffers[i].bytes - array.before - array.behind - array.between.bytes;
    arrays.push_back(array);
  }
  return arrays;
}

ReferenceVerdict compare_to_reference(const LaunchFindings& f, const LaunchFindings& reference) {
  ReferenceVerdict verdict;
  std::map<std::uint64_t, BlockBytes> blocks;
  Runs theirs;  // the reference's, at this launch's addresses
  std::vector<std::optional<std::uint64_t>> place(reference.buffers.size());
  std::vector<std::uint64_t> origin(reference.buffers.size());
  for (std::uint32_t i = 0; i < reference.buffers.size(); ++i) {
    const Anchor anchor = anchor_of(reference, i);
    origin[i] = anchor.address;
    place[i] = counterpart(f, reference, i, anchor);
  }
  for (const WrittenRun& run : reference.written) {
    const std::uint32_t buffer = buffer_at(reference, run.begin);
    const std::optional<std::uint64_t>& mine = place[buffer];
    if (!mine) {
      const std::string& name = reference.buffers[buffer].name;
      if (verdict.unmatched.empty() || verdict.unmatched.back() != name)
        verdict.unmatched.push_back(name);
      continue;
    }
    const std::uint64_t shift = *mine - origin[buffer];
    const WrittenRun here = {run.begin + shift, run.end + shift, run.block};
    theirs.push_back(here);
    BlockBytes& block = blocks[run.block];
    block.written += run.end - run.begin;
    for_holes(f.written, here.begin, here.end, [&](std::uint64_t from, std::uint64_t to) {
      if (block.lost == 0) {
        block.first_lost = from;
        block.buffer = buffer_at(f, from);
      }
      block.lost += to - from;
    });
  }
  std::sort(theirs.begin(), theirs.end(),
            [](const WrittenRun& a, const WrittenRun& b) { return a.begin < b.begin; });
  for (const WrittenRun& run : f.written)
    verdict.extra_bytes += uncovered(theirs, run.begin, run.end);
  constexpr std::size_t kExamples = 8;
  for (const auto& [number, block] : blocks) {
    ++verdict.blocks;
    if (block.lost == 0) continue;
    verdict.lost_bytes += block.lost;
    ++(block.lost == block.written ? verdict.lost_blocks : verdict.partly_lost);
    if (verdict.examples.size() == kExamples) continue;
    const Buffer& buffer = f.buffers[block.buffer];
    verdict.examples.push_back({number, {buffer.name, block.first_lost - buffer.base, block.lost}});
  }
  return verdict;
}

}  // namespace swizzleperf
