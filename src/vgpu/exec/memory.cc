// Slow paths of memory: finding the allocation around an address, and saying what went wrong.
#include <fmt/format.h>

#include <algorithm>

#include "swizzleperf/error.h"
#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {
namespace {

const Allocation* find_in(const std::vector<Allocation>& sorted, std::uint64_t address) {
  auto it = std::upper_bound(sorted.begin(), sorted.end(), address,
                             [](std::uint64_t a, const Allocation& b) { return a < b.base; });
  if (it == sorted.begin()) return nullptr;
  --it;
  return address - it->base < it->bytes ? &*it : nullptr;
}

/// Distance from an address to an allocation, 0 inside.
std::uint64_t distance(const Allocation& a, std::uint64_t address) {
  if (address < a.base) return a.base - address;
  const std::uint64_t last = a.base + (a.bytes == 0 ? 0 : a.bytes - 1);
  return address > last ? address - last : 0;
}

std::string nearest(const DeviceMemory& memory, std::uint64_t address) {
  const auto it = std::min_element(memory.allocations.begin(), memory.allocations.end(),
                                   [&](const Allocation& a, const Allocation& b) {
                                     return distance(a, address) < distance(b, address);
                                   });
  if (it == memory.allocations.end()) return "nothing is allocated";
  const std::uint64_t end = it->base + it->bytes;
  const std::string size = fmt::format("{} ({} bytes)", it->name, it->bytes);
  if (address >= end) return fmt::format("{} bytes past the end of {}", address - end, size);
  if (address < it->base) return fmt::format("{} bytes before {}", it->base - address, size);
  return fmt::format("runs over the end of {}", size);
}

bool within(std::uint64_t begin, std::uint64_t bytes, std::uint64_t address, std::uint64_t size) {
  return address >= begin && address - begin <= bytes && size <= bytes - (address - begin);
}

Region around(std::uint64_t begin, std::uint64_t bytes) {
  Region region;
  region.begin = begin;
  region.end = begin + bytes;
  region.recorded = false;
  region.writable = false;
  return region;
}

const char* verb(Intent intent) {
  return intent == Intent::kRead ? "reads" : intent == Intent::kWrite ? "writes" : "updates";
}

}  // namespace

const Allocation* DeviceMemory::find(std::uint64_t address) const {
  return find_in(allocations, address);
}

void fault(const Wave& wave, const Op& op, std::uint32_t lane, const std::string& what) {
  const BlockRun& run = *wave.run;
  const Program& program = *run.program;
  const Dim3& extent = run.launch->block;
  const Dim3 thread = unlinear(wave.index * std::uint64_t{program.wave_lanes} + lane, extent);
  const Dim3& b = run.block_index;
  const Location& at = program.locations[static_cast<std::size_t>(&op - program.ops.data())];
  const std::string where =
      at.line == 0 ? "" : fmt::format(" at {}:{}", program.files[at.file], at.line);
  throw input_error(fmt::format("kernel {}{}: block ({},{},{}), thread ({},{},{}) {}",
                                program.kernel, where, b.x, b.y, b.z, thread.x, thread.y, thread.z,
                                what));
}

namespace {

/// As find_region, for any number of bytes.
Region find_stretch(Wave& wave, const Op& op, std::uint32_t lane, std::uint64_t address,
                    std::uint64_t bytes, Intent intent) {
  const BlockRun& run = *wave.run;
  for (const auto* list : {&run.memory->allocations, run.own_memory}) {
    const Allocation* a = find_in(*list, address);
    if (a != nullptr && within(a->base, a->bytes, address, bytes)) {
      Region region = around(a->base, a->bytes);
      region.recorded = region.writable = true;
      return region;
    }
  }
  const auto kernargs = reinterpret_cast<std::uint64_t>(run.launch->kernargs.data());
  const std::pair<std::uint64_t, std::uint64_t> read_only[] = {
      {kernargs, run.launch->kernargs.size()},
      {reinterpret_cast<std::uint64_t>(run.implicit_args), sizeof run.implicit_args},
      {reinterpret_cast<std::uint64_t>(run.dispatch_packet), sizeof run.dispatch_packet}};
  if (intent == Intent::kRead)
    for (const auto& [begin, size] : read_only)
      if (within(begin, size, address, bytes)) return around(begin, size);
  const bool null = address < 4096;
  fault(
      wave, op, lane,
      fmt::format("{} {} bytes at {}{:#x}: {}", verb(intent), bytes, null ? "a null pointer, " : "",
                  address, null ? "no memory is there" : nearest(*run.memory, address)));
}

}  // namespace

Region find_region(Wave& wave, const Op& op, std::uint32_t lane, std::uint64_t address,
                   Intent intent) {
  return find_stretch(wave, op, lane, address, op.bytes, intent);
}

const void* readable(Wave& wave, const Op& op, std::uint32_t lane, std::uint64_t address,
                     std::uint64_t bytes) {
  const std::uint64_t offset = address & 0xffffffff;
  switch (address & kApertureMask) {
    case kLdsAperture:
      if (offset + bytes > wave.run->lds.size()) fault_lds(wave, op, lane, offset);
      return wave.run->lds.data() + offset;
    case kPrivateAperture: {
      const std::uint64_t size = wave.run->program->private_bytes;
      if (offset + bytes > size) fault_private(wave, op, lane, offset);
      return wave.private_memory + size * lane + offset;
    }
    default:
      find_stretch(wave, op, lane, address, bytes, Intent::kRead);
      return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
}

void fault_lds(const Wave& wave, const Op& op, std::uint32_t lane, std::uint64_t offset) {
  fault(wave, op, lane,
        fmt::format("accesses {} bytes at offset {} of {}, of which the block has {}", op.bytes,
                    offset, lds_word(wave.run->program->wave_lanes), wave.run->lds.size()));
}

void fault_private(const Wave& wave, const Op& op, std::uint32_t lane, std::uint64_t offset) {
  fault(wave, op, lane,
        fmt::format("accesses {} bytes at offset {} of its private memory, of which it has {}",
                    op.bytes, offset, wave.run->program->private_bytes));
}

void fault_misaligned(const Wave& wave, const Op& op, std::uint32_t lane, std::uint64_t address) {
  fault(wave, op, lane,
        fmt::format("updates {} bytes at {:#x} atomically, which is not a multiple "
                    "of their size",
                    op.bytes, address));
}

}  // namespace swizzleperf::vgpu
