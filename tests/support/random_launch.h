// Small random machines and launches, for property tests of the rooms that replay traces. Nothing
// here resembles a real kernel on purpose: sizes are odd, streams collide, dies are few.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "swizzleperf/machine.h"
#include "swizzleperf/trace.h"

namespace swizzleperf::synthetic {

inline bool coin(Random& random) { return random.below(2) == 0; }

template <typename T>
T one_of(Random& random, std::initializer_list<T> choices) {
  return choices.begin()[random.below(choices.size())];
}

inline double uniform(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.next() >> 11) * 0x1p-53;
}

/// A cache of few sets; channelled ones keep to powers of two, as the model files do.
inline CacheModel random_cache(Random& random, std::uint32_t line_bytes) {
  CacheModel c;
  c.line_bytes = line_bytes;
  c.ways = static_cast<std::uint32_t>(1 + random.below(coin(random) ? 40 : 4));
  c.index = one_of(random, {SetIndex::kBits, SetIndex::kHashed, SetIndex::kHashedChannels});
  std::uint64_t sets = 1 + random.below(12);
  if (c.index == SetIndex::kHashedChannels) {
    c.channels = 1U << random.below(4);
    c.interleave_bytes = line_bytes << random.below(3);
    sets = std::uint64_t{c.channels} << random.below(4);
  }
  c.bytes = sets * c.ways * line_bytes;
  c.read_request_bytes = one_of(random, {128U, 64U, 32U});
  c.write_request_bytes = one_of(random, {64U, 32U});
  c.bytes_per_clk = uniform(random, 16, 256);
  c.latency_ns = uniform(random, 0, 200);
  return c;
}

/// NVIDIA's way: partitions of one L2, sectors, merged loads, pages of memory.
inline void give_homes(Random& random, Machine& m) {
  m.lines_have_home = 1;
  m.llc.reset();
  m.l2.index = SetIndex::kHashed;
  m.l2.read_request_bytes = m.l2.write_request_bytes = 32;
  m.l2.fill_bytes = one_of(random, {32U, 64U});
  m.l2.store_misses = 0;
  m.merge_groups_per_die = static_cast<std::uint32_t>(random.below(3));
  m.merge_ns = uniform(random, 0, 1000);
  m.hbm_open_pages = static_cast<std::uint32_t>(random.below(20));
  m.hbm_activate_bytes = static_cast<double>(random.below(100));
  m.hbm_write_activate_bytes = static_cast<double>(random.below(100));
}

inline Machine random_machine(Random& random) {
  Machine m;
  m.name = "random";
  m.dies = static_cast<std::uint32_t>(1 + random.below(8));
  m.cus_per_die = static_cast<std::uint32_t>(1 + random.below(4));
  m.dispatch = coin(random) ? Dispatch::kRoundRobinPerDie : Dispatch::kSingleQueue;
  m.dispatch_chunk = static_cast<std::uint32_t>(1 + random.below(3));
  m.dispatch_interval_ns = coin(random) ? 0 : uniform(random, 0, 100);
  m.start_spread_ns = coin(random) ? 0 : uniform(random, 0, 2000);
  m.clock_ghz = uniform(random, 0.5, 3);
  const auto line_bytes = one_of(random, {128U, 64U});
  m.l1 = random_cache(random, one_of(random, {128U, 64U}));
  m.l1.bytes_per_clk = uniform(random, 16, 256);
  m.l2 = random_cache(random, line_bytes);
  if (coin(random)) {
    m.llc = random_cache(random, line_bytes);
    m.llc->bytes = (1 + random.below(4)) * m.l2.sets() * m.llc->ways * line_bytes;
  }
  m.fabric_bytes_per_clk = uniform(random, 16, 256);
  m.hbm_bytes_per_ns = uniform(random, 16, 256);
  m.hbm_latency_ns = uniform(random, 0, 500);
  m.skew = coin(random) ? 0 : uniform(random, 0, 0.5);
  m.exposed = coin(random) ? 0 : uniform(random, 0, 1);
  m.jitter = coin(random) ? 0 : uniform(random, 0, 0.3);
  if (m.dispatch == Dispatch::kSingleQueue && coin(random)) give_homes(random, m);
  return m;
}

/// Sorted, disjoint, not touching, the first at 0, within 512 bytes.
inline Pattern random_pattern(Random& random) {
  Pattern p;
  std::uint32_t at = 0;
  for (std::uint64_t ranges = 1 + random.below(3); ranges > 0; --ranges) {
    const auto size = static_cast<std::uint32_t>(1 + random.below(coin(random) ? 120 : 16));
    p.push_back({at, size});
    at += size + 1 + static_cast<std::uint32_t>(random.below(50));
  }
  return p;
}

/// One to three arrays of a few KiB, one to four templates with one to four slots each.
inline Trace random_trace(Random& random) {
  constexpr std::uint64_t kFootprint = 1024;  // what one slot reaches behind its anchor
  Trace t;
  t.grid = {static_cast<std::uint32_t>(1 + random.below(24)),
            static_cast<std::uint32_t>(1 + random.below(3)), 1};
  std::uint64_t base = (1ULL << 40) + random.below(300);
  for (std::uint64_t buffers = 1 + random.below(3); buffers > 0; --buffers) {
    const std::uint64_t bytes = kFootprint + 1 + random.below(coin(random) ? 16000 : 1000);
    t.buffers.push_back({"array", base, bytes});
    base += bytes + random.below(3) * 100;
  }
  for (std::uint64_t n = 1 + random.below(4); n > 0; --n)
    t.patterns.push_back(random_pattern(random));
  for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
    Template x;
    for (std::uint64_t slots = 1 + random.below(4); slots > 0; --slots) {
      x.slot_buffer.push_back(static_cast<std::uint16_t>(random.below(t.buffers.size())));
    }
    for (std::uint64_t events = random.below(24); events > 0; --events) {
      x.events.push_back({static_cast<std::int64_t>(random.below(kFootprint - 512)),
                          static_cast<std::uint32_t>(random.below(t.patterns.size())),
                          static_cast<std::uint16_t>(random.below(x.slot_buffer.size())),
                          one_of(random, {AccessKind::kLoad, AccessKind::kLoad, AccessKind::kStore,
                                          AccessKind::kAtomic}),
                          static_cast<std::uint8_t>(random.below(4))});
    }
    std::uint32_t end = 0;
    while (end < x.events.size() || (x.intervals.empty() && coin(random))) {
      end = std::min<std::uint32_t>(static_cast<std::uint32_t>(x.events.size()),
                                    end + static_cast<std::uint32_t>(random.below(9)));
      x.intervals.push_back({end,
                             coin(random),
                             {.instructions = uniform(random, 0, 400),
                              .vector_ops = uniform(random, 0, 9000),
                              .matrix_flops = uniform(random, 0, 90000),
                              .lds_bytes = uniform(random, 0, 9000)}});
    }
    t.templates.push_back(std::move(x));
  }
  for (std::uint64_t b = 0; b < t.grid.count(); ++b) {
    const auto index = static_cast<std::uint32_t>(random.below(t.templates.size()));
    t.blocks.push_back({index, t.anchors.size()});
    for (const std::uint16_t buffer : t.templates[index].slot_buffer) {
      const Buffer& array = t.buffers[buffer];
      const std::uint64_t step = one_of<std::uint64_t>(random, {1, 32, 128});
      const std::uint64_t room = (array.bytes - kFootprint) / step + 1;
      t.anchors.push_back(static_cast<std::int64_t>(array.base + random.below(room) * step));
    }
  }
  return t;
}

inline std::vector<std::uint32_t> identity(std::uint64_t blocks) {
  std::vector<std::uint32_t> p(blocks);
  std::iota(p.begin(), p.end(), 0U);
  return p;
}

inline std::vector<std::uint32_t> random_permutation(Random& random, std::uint64_t blocks) {
  std::vector<std::uint32_t> p = identity(blocks);
  for (std::size_t i = p.size(); i > 1; --i) std::swap(p[i - 1], p[random.below(i)]);
  return p;
}

}  // namespace swizzleperf::synthetic
