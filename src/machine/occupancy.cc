// How many blocks share a CU: each resource gives a bound, the smallest holds.
//
// A SIMD holds as many waves as it has slots and registers for; a CU as many as its SIMDs together,
// since each wave of a block may sit on any of them. Unified registers (CDNA 2 and later) are
// allocated from one file of 512 a lane in granules of 8, and NVIDIA's rules are the same in other
// units (machine.h). LDS is allocated a granule at a time, and NVIDIA's system takes 1 KB more for
// each block. Blocks of one wave need no barrier; others hold one of 16 on AMD.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "swizzleperf/error.h"
#include "swizzleperf/machine.h"

namespace swizzleperf {
namespace {

std::uint32_t round_up(std::uint32_t value, std::uint32_t granule) {
  return (value + granule - 1) / granule * granule;
}

/// Waves a SIMD can hold for its registers alone; 0 registers = unknown = no bound.
std::uint32_t waves_by_registers(const Machine& machine, std::uint32_t vgprs) {
  if (vgprs == 0) return machine.waves_per_simd;
  return machine.vgprs_per_lane / round_up(vgprs, machine.vgpr_granule);
}

}  // namespace

Occupancy occupancy(const Machine& machine, const BlockResources& block) {
  if (block.threads == 0) throw input_error("a block of 0 threads cannot run");
  const std::uint32_t waves = (block.threads + machine.wave - 1) / machine.wave;
  const std::uint32_t lds =
      round_up(block.lds_bytes + machine.lds_reserved_per_block, machine.lds_granule);

  std::vector<Occupancy> bounds;
  const char* const lds_word = machine.vendor == "nvidia" ? "shared memory" : "LDS";
  if (lds > 0) bounds.push_back({machine.lds_bytes / lds, lds_word});
  if (block.vgprs > 0)
    bounds.push_back(
        {machine.simds_per_cu * waves_by_registers(machine, block.vgprs) / waves, "registers"});
  bounds.push_back({machine.simds_per_cu * machine.waves_per_simd / waves, "waves"});
  bounds.push_back({machine.blocks_per_cu, "blocks"});
  if (waves > 1) bounds.push_back({machine.barriers_per_cu, "barriers"});

  const Occupancy least = *std::min_element(
      bounds.begin(), bounds.end(),
      [](const Occupancy& a, const Occupancy& b) { return a.blocks_per_cu < b.blocks_per_cu; });
  if (least.blocks_per_cu == 0)
    throw input_error(fmt::format(
        "a block of {} threads with {} registers a lane and {} bytes of {} does not fit "
        "on {}: not enough {}",
        block.threads, block.vgprs, block.lds_bytes, lds_word, machine.title, least.limit));
  return least;
}

}  // namespace swizzleperf
