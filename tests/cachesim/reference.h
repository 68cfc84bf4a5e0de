// The replay in the slow and obvious form, from what core.h, cache.h and geometry.h document: lists
// for LRU sets, a linear scan for the next slot, every request looked up at once on all levels.
//
// Shared with the code under test are only the set-index functions and the machine model. Times are
// computed in the documented order of operations, so both forms agree to the last bit, which
// matters: a time that differs in its last bit may order two blocks differently.
#pragma once

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <vector>

#include "base/random.h"
#include "cachesim/geometry.h"
#include "support/naive.h"
#include "swizzleperf/simulate.h"

namespace swizzleperf::naive {

inline double sector_bytes(std::uint32_t sectors) {
  double bytes = 0;
  for (std::uint32_t s = 0; s < 8; ++s) bytes += (sectors >> s & 1U) * 32.0;
  return bytes;
}

/// Pieces of `unit` bytes of a line that hold at least one of the sectors.
inline double pieces(std::uint32_t sectors, std::uint32_t unit) {
  std::map<std::uint32_t, bool> touched;
  for (std::uint32_t s = 0; s < 8; ++s) {
    if ((sectors >> s & 1U) != 0) touched[s * 32 / unit] = true;
  }
  return static_cast<double>(touched.size());
}

struct Line {
  std::uint32_t line = 0;
  std::uint32_t valid = 0;
  std::uint32_t dirty = 0;
};

/// LRU sets, the most recent line first.
struct LruCache {
  std::size_t ways = 0;
  std::map<std::uint32_t, std::list<Line>> sets;

  /// Returns the sectors present before; `victim` is the line that had to go.
  std::uint32_t access(std::uint32_t set, std::uint32_t line, std::uint32_t sectors, bool write,
                       Line& victim) {
    std::list<Line>& lines = sets[set];
    const auto it =
        std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.line == line; });
    Line entry{line};
    if (it != lines.end()) {
      entry = *it;
      lines.erase(it);
    } else if (lines.size() == ways) {
      victim = lines.back();
      lines.pop_back();
    }
    const std::uint32_t before = entry.valid;
    entry.valid |= sectors;
    if (write) entry.dirty |= sectors;
    lines.push_front(entry);
    return before;
  }
};

/// What an L2 was asked for, and what of the line it had; or what it gets besides, which counts for
/// nothing.
struct LookUp {
  std::uint32_t die;
  Request request;
  std::uint32_t before;
  bool counts;
};

/// Done-time of work that arrives at `now` on a server of some bandwidth.
inline double serve(double& free, double now, double ns) {
  free = (free > now ? free : now) + ns;
  return free;
}

class Reference {
 public:
  Reference(const Trace& trace, const Machine& machine, std::uint32_t blocks_per_cu)
      : m_(machine), trace_(trace), blocks_per_cu_(blocks_per_cu), set_of_(machine.l2) {
    std::uint64_t lowest = ~0ULL;
    for (const Buffer& b : trace.buffers) lowest = std::min(lowest, b.base);
    first_line_ = lowest / machine.l2.line_bytes;
    for (std::uint64_t b = 0; b < trace.blocks.size(); ++b) {
      blocks_.push_back(lines_of_block(trace, machine, blocks_per_cu, b));
    }
  }

  /// All of the last run, in the order in which they happened.
  [[nodiscard]] const std::vector<LookUp>& look_ups() const { return look_ups_; }

  SimResult run(const std::vector<std::uint32_t>& permutation) {
    result_ = {};
    look_ups_.clear();
    result_.per_domain.resize(m_.dies);
    result_.misses_by_buffer.resize(trace_.buffers.size());
    if (m_.llc) result_.llc.emplace();
    l2_.assign(m_.dies, {m_.l2.ways, {}});
    llc_ = {m_.llc ? m_.llc->ways : 0, {}};
    l2_free_.assign(m_.dies, 0);
    fabric_free_.assign(m_.dies, 0);
    cu_free_.assign(std::size_t{m_.dies} * m_.cus_per_die, 0);
    under_way_.clear();
    open_.clear();
    llc_free_ = hbm_free_ = hbm_busy_ = 0;
    deal(permutation);
    replay();
    finish();
    return result_;
  }

 private:
  struct Slot {
    std::uint32_t die = 0;
    std::uint32_t cu = 0;
    std::uint32_t merge_group = 0;  // of its die
    std::uint64_t ticks = 0;
    bool retired = false;
    std::uint64_t index = 0;
    const Block* block = nullptr;
    std::size_t step = 0;
  };
  struct Traffic {
    double now = 0;
    std::uint32_t merge_group = 0;
    double requests = 0, misses = 0, llc_misses = 0;
    double l2 = 0, fabric = 0, llc = 0, hbm = 0;
  };

  /// Queues of (dispatch index, block): one a die, or one for all.
  void deal(const std::vector<std::uint32_t>& permutation) {
    const bool per_die = m_.dispatch == Dispatch::kRoundRobinPerDie;
    queues_.assign(per_die ? m_.dies : 1, {});
    gates_.assign(queues_.size(), 0);
    begun_.assign(queues_.size(), 0);
    for (std::size_t p = 0; p < permutation.size(); ++p) {
      queues_[per_die ? p / m_.dispatch_chunk % m_.dies : 0].emplace_back(p, permutation[p]);
    }
    slots_.clear();
    const std::uint32_t run = !per_die && m_.cus_per_die % 2 == 0 ? 2 : 1;
    for (std::uint32_t round = 0; round < blocks_per_cu_; ++round) {
      for (std::uint32_t cu = 0; cu < m_.cus_per_die; cu += run) {
        for (std::uint32_t die = 0; die < m_.dies; ++die) {
          for (std::uint32_t i = 0; i < run; ++i) {
            const std::uint32_t groups = std::max(1U, m_.merge_groups_per_die);
            slots_.push_back({die, die * m_.cus_per_die + cu + i, (cu / run) % groups});
          }
        }
      }
    }
  }

  static std::uint64_t ticks(double ns) { return static_cast<std::uint64_t>(ns * 16 + 0.999); }

  void replay() {
    while (true) {
      Slot* next = nullptr;
      for (Slot& s : slots_) {
        if (!s.retired && (next == nullptr || s.ticks < next->ticks)) next = &s;
      }
      if (next == nullptr) return;
      turn(*next);
    }
  }

  /// The slot's block makes its next step; without a block, or at its end, the next one starts.
  void turn(Slot& slot) {
    double now = static_cast<double>(slot.ticks) / 16;
    DomainCounts& domain = result_.per_domain[slot.die];
    if (slot.block == nullptr || slot.step == slot.block->steps.size()) {
      const std::size_t q = queues_.size() == 1 ? 0 : slot.die;
      if (queues_[q].empty()) {
        slot.retired = true;
        return;
      }
      slot.index = queues_[q].front().first;
      slot.block = &blocks_[queues_[q].front().second];
      queues_[q].pop_front();
      slot.step = 0;
      domain.blocks += 1;
      const double start = std::max(now, gates_[q]);
      ++begun_[q];
      const double slots = static_cast<double>(slots_.size() / queues_.size());
      const bool filling = static_cast<double>(begun_[q]) < slots;
      gates_[q] =
          start + std::max(m_.dispatch_interval_ns, filling ? m_.start_spread_ns / slots : 0);
      if (start > now) {
        slot.ticks = ticks(start);
        return;
      }
    }
    if (slot.step < slot.block->steps.size()) {
      now = step_end(slot, slot.block->steps[slot.step], now);
      ++slot.step;
    }
    domain.finish_ms = std::max(domain.finish_ms, now * 1e-6);
    slot.ticks = ticks(now);
  }

  double step_end(Slot& slot, const Step& step, double now) {
    Traffic traffic;
    traffic.now = now;
    traffic.merge_group = slot.merge_group;
    for (const Request& r : step.requests) {
      m_.lines_have_home != 0 ? homed(slot.die, r, traffic) : request(slot.die, r, traffic);
    }
    const Cost& c = step.cost;
    double compute =
        std::max(c.vector_ops / m_.vector_ops_per_clk, c.matrix_flops / m_.matrix_flops_per_clk);
    compute = std::max(compute, c.lds_bytes / m_.lds_bytes_per_clk);
    compute = std::max(compute, c.instructions / m_.instructions_per_clk);
    compute = std::max(compute, step.l1_clocks) / m_.clock_ghz;
    const double fraction = static_cast<double>(mix64(slot.cu) >> 11) * 0x1p-52;
    compute *= 1 + m_.skew * (fraction - 1);
    if (m_.jitter > 0) {
      const std::uint64_t h = mix64(slot.index << 32 | slot.step);
      compute *= 1 + m_.jitter * (static_cast<double>(h >> 11) * 0x1p-52 - 1);
    }
    const double end = serve(cu_free_[slot.cu], now, compute);
    if (traffic.requests == 0) return end;
    const double memory = memory_end(slot, traffic, now);
    return std::max(end, memory) + m_.exposed * (std::min(end, memory) - now);
  }

  double memory_end(Slot& slot, const Traffic& t, double now) {
    const double misses = t.misses / t.requests;
    const double llc_misses = t.llc_misses / t.requests;
    const double fabric = t.fabric / t.requests;
    const double llc = t.llc / t.requests;
    const double hbm = t.hbm / t.requests;
    double done = serve(l2_free_[slot.die], now, t.l2 * (1 / (m_.l2.bytes_per_clk * m_.clock_ghz)));
    if (fabric > 0) {
      done = std::max(done,
                      serve(fabric_free_[slot.die], now,
                            t.requests * fabric * (1 / (m_.fabric_bytes_per_clk * m_.clock_ghz))));
    }
    if (llc > 0) {
      done = std::max(done, serve(llc_free_, now,
                                  t.requests * llc * (1 / (m_.llc->bytes_per_clk * m_.clock_ghz))));
    }
    if (hbm > 0) {
      const double ns = t.requests * hbm * (1 / m_.hbm_bytes_per_ns);
      done = std::max(done, serve(hbm_free_, now, ns));
      hbm_busy_ += ns;
    }
    const double behind = m_.llc ? m_.llc->latency_ns : m_.hbm_latency_ns;
    double latency = m_.l2.latency_ns + misses * (behind - m_.l2.latency_ns);
    if (m_.llc) latency += llc_misses * (m_.hbm_latency_ns - behind);
    return done + latency;
  }

  void request(std::uint32_t die, const Request& r, Traffic& traffic) {
    const auto line = static_cast<std::uint32_t>(r.line - first_line_);
    const bool load = r.kind == AccessKind::kLoad;
    const double units =
        pieces(r.sectors, load ? m_.l2.read_request_bytes : m_.l2.write_request_bytes);
    Line victim;
    const std::uint32_t before = l2_[die].access(set_of_(line).set, line, r.sectors, !load, victim);
    look_ups_.push_back({die, r, before, true});
    const std::uint32_t missing = r.sectors & ~before;
    double missed = 0;
    if (load) missed = pieces(missing, m_.l2.read_request_bytes);
    if (r.kind == AccessKind::kAtomic && missing != 0) missed = units;
    if (r.kind == AccessKind::kStore && before == 0) missed = m_.l2.store_misses;
    if (r.kind != AccessKind::kStore && missing != 0) below(line, missing, false, traffic);
    if (victim.dirty != 0) below(victim.line, victim.dirty, true, traffic);
    traffic.requests += 1;
    traffic.misses += missed > 0 ? 1 : 0;
    traffic.l2 += sector_bytes(r.sectors);
    result_.per_domain[die].l2.requests += units;
    result_.per_domain[die].l2.hits += units - missed;
    result_.misses_by_buffer[r.buffer] += missed;
  }

  /// The same where lines have a home die. Loads may meet on the way; a load looks into its own L2,
  /// then into the home's; anything else goes to the home alone.
  void homed(std::uint32_t die, const Request& r, Traffic& traffic) {
    const auto line = static_cast<std::uint32_t>(r.line - first_line_);
    const bool load = r.kind == AccessKind::kLoad;
    const double units =
        pieces(r.sectors, load ? m_.l2.read_request_bytes : m_.l2.write_request_bytes);
    traffic.requests += 1;
    traffic.l2 += sector_bytes(r.sectors);  // the answers are not merged
    if (load && m_.merge_groups_per_die > 0 && met(die, line, r.sectors, traffic)) {
      result_.merged_requests += units;
      return;
    }
    const auto [set, tag] = set_of_(line);
    const std::uint32_t home = cachesim::home_die(set / set_of_.page_sets(), tag, m_.dies);
    std::uint32_t missing = r.sectors;
    double missed = 0;
    if (load) {
      const std::uint32_t before = homed_access(die, line, r.sectors, false, traffic);
      look_ups_.push_back({die, r, before, true});
      missing &= ~before;
      missed = pieces(missing, m_.l2.read_request_bytes);
      missing = filled(missing);
      add(die, line, missing);
      besides(die, r, missing);
    }
    if (missing != 0 && (!load || home != die)) {
      if (home != die) traffic.fabric += sector_bytes(missing);
      const std::uint32_t before = homed_access(home, line, missing, !load, traffic);
      if (load) {
        besides(home, r, missing);
      } else {
        look_ups_.push_back({home, r, before, true});
      }
      missing &= ~before;
      if (r.kind == AccessKind::kStore) missed = before == 0 ? m_.l2.store_misses : 0;
      if (r.kind == AccessKind::kAtomic) missed = missing != 0 ? units : 0;
    }
    if (missing != 0 && r.kind != AccessKind::kStore) {
      missing = filled(missing);
      add(home, line, missing);
      besides(home, r, missing);
      traffic.llc_misses += 1;
      traffic.hbm += sector_bytes(missing);
      result_.hbm_read_bytes += sector_bytes(missing);
      open_page(line, m_.hbm_activate_bytes, traffic);
    }
    traffic.misses += missed > 0 ? 1 : 0;
    result_.per_domain[die].l2.requests += units;
    result_.per_domain[die].l2.hits += units - missed;
    result_.misses_by_buffer[r.buffer] += missed;
  }

  void besides(std::uint32_t die, Request r, std::uint32_t sectors) {
    r.kind = AccessKind::kLoad;
    r.sectors = static_cast<std::uint8_t>(sectors);
    if (sectors != 0) look_ups_.push_back({die, r, 0, false});
  }

  /// What leaves takes the dirty sectors of its page along, to memory.
  std::uint32_t homed_access(std::uint32_t die, std::uint32_t line, std::uint32_t sectors,
                             bool write, Traffic& traffic) {
    Line victim;
    const std::uint32_t before = l2_[die].access(set_of_(line).set, line, sectors, write, victim);
    if (victim.dirty == 0) return before;
    double bytes = sector_bytes(victim.dirty);
    for (auto& [set, lines] : l2_[die].sets) {
      for (Line& l : lines) {
        if (page_of(l.line) != page_of(victim.line)) continue;
        bytes += sector_bytes(l.dirty);
        l.dirty = 0;
      }
    }
    traffic.hbm += bytes;
    result_.hbm_write_bytes += bytes;
    open_page(victim.line, m_.hbm_write_activate_bytes, traffic);
    return before;
  }

  /// Pages that one bank holds one after the other are told apart by the bank's number.
  void open_page(std::uint32_t line, double cost, Traffic& traffic) {
    if (m_.hbm_open_pages == 0) return;
    const auto [set, tag] = set_of_(line);
    const std::uint32_t bank = cachesim::scale_hash(
        cachesim::hash_line(tag ^ set / set_of_.page_sets()), m_.hbm_open_pages);
    const auto open = open_.find(bank);
    if (open != open_.end() && open->second == page_of(line)) return;
    open_[bank] = page_of(line);
    traffic.hbm += cost;
  }

  [[nodiscard]] std::uint32_t page_of(std::uint32_t line) const {
    return line / set_of_.page_sets();
  }

  void add(std::uint32_t die, std::uint32_t line, std::uint32_t sectors) {
    for (Line& l : l2_[die].sets[set_of_(line).set]) {
      if (l.line == line) l.valid |= sectors;
    }
  }

  [[nodiscard]] std::uint32_t filled(std::uint32_t sectors) const {
    const std::uint32_t unit = m_.l2.fill_bytes / 32;
    std::uint32_t whole = 0;
    for (std::uint32_t s = 0; s < 4; ++s) {
      for (std::uint32_t t = 0; t < 4; ++t) {
        if ((sectors >> t & 1U) != 0 && s / unit == t / unit) whole |= 1U << s;
      }
    }
    return whole;
  }

  /// Loads under way, one for each place that a hash of the line tells, by group of CUs.
  bool met(std::uint32_t die, std::uint32_t line, std::uint32_t sectors, const Traffic& traffic) {
    const auto [set, tag] = set_of_(line);
    const std::uint32_t place = cachesim::hash_line(tag ^ set * 0x85ebca77U) % 8192;
    const std::uint32_t group = die * m_.merge_groups_per_die + traffic.merge_group;
    UnderWay& u = under_way_[{group, place}];
    const auto now = static_cast<float>(traffic.now);
    const bool same = u.line == line && now < u.until;
    if (same && (sectors & ~u.sectors) == 0) return true;
    u = {line, now + static_cast<float>(m_.merge_ns), same ? u.sectors | sectors : sectors};
    return false;
  }

  /// Traffic below L2: through the last level where there is one, else straight to memory.
  void below(std::uint32_t line, std::uint32_t sectors, bool write, Traffic& traffic) {
    traffic.fabric += sector_bytes(sectors);
    std::uint32_t to_read = write ? 0 : sectors;
    std::uint32_t to_write = write ? sectors : 0;
    if (m_.llc) {
      traffic.llc += sector_bytes(sectors);
      Line victim;
      const std::uint32_t before = llc_.access(llc_set(line), line, sectors, write, victim);
      to_write = victim.dirty;
      if (!write) {
        to_read = sectors & ~before;
        result_.llc->requests += 1;
        result_.llc->hits += to_read == 0 ? 1 : 0;
      }
    }
    traffic.llc_misses += to_read != 0 ? 1 : 0;
    traffic.hbm += sector_bytes(to_read) + sector_bytes(to_write);
    result_.hbm_read_bytes += sector_bytes(to_read);
    result_.hbm_write_bytes += sector_bytes(to_write);
  }

  [[nodiscard]] std::uint32_t llc_set(std::uint32_t line) const {
    const std::uint32_t group = cachesim::llc_sets_per_l2_set(m_);
    const auto [set, tag] = set_of_(line);
    return set * group + cachesim::llc_set_in_group(tag, group);
  }

  /// What is dirty at the end goes to memory: each L2 through the last level, where copies of one
  /// line meet, or on its own.
  void finish() {
    std::map<std::uint32_t, std::uint32_t> merged;
    double left = 0;
    const auto flush = [&](const LruCache& cache) {
      for (const auto& [set, lines] : cache.sets) {
        for (const Line& l : lines) {
          if (m_.llc) {
            merged[l.line] |= l.dirty;
          } else {
            left += sector_bytes(l.dirty);
          }
        }
      }
    };
    for (const LruCache& c : l2_) flush(c);
    flush(llc_);
    for (const auto& [line, dirty] : merged) left += sector_bytes(dirty);
    result_.hbm_write_bytes += left;
    hbm_busy_ += left * (1 / m_.hbm_bytes_per_ns);
    for (const DomainCounts& d : result_.per_domain) {
      result_.l2.requests += d.l2.requests;
      result_.l2.hits += d.l2.hits;
      result_.time_ms = std::max(result_.time_ms, d.finish_ms);
    }
    // Memory moves all of it in no less than that.
    result_.time_ms = std::max(result_.time_ms, hbm_busy_ * 1e-6);
    for (const Block& b : blocks_) {
      result_.l1.requests += static_cast<double>(b.l1_requests);
      result_.l1.hits += static_cast<double>(b.l1_hits);
    }
  }

  struct UnderWay {
    std::uint32_t line = 0;
    float until = 0;
    std::uint32_t sectors = 0;
  };

  const Machine& m_;
  const Trace& trace_;
  std::uint32_t blocks_per_cu_;
  cachesim::SetMap set_of_;
  std::uint64_t first_line_ = 0;
  std::vector<Block> blocks_;
  SimResult result_;
  std::vector<LookUp> look_ups_;
  std::vector<LruCache> l2_;
  LruCache llc_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, UnderWay> under_way_;
  std::map<std::uint32_t, std::uint32_t> open_;  // bank -> page
  std::vector<std::list<std::pair<std::uint64_t, std::uint32_t>>> queues_;
  std::vector<double> gates_;
  std::vector<std::uint64_t> begun_;
  std::vector<Slot> slots_;
  std::vector<double> l2_free_, fabric_free_, cu_free_;
  double llc_free_ = 0;
  double hbm_free_ = 0;
  double hbm_busy_ = 0;
};

}  // namespace swizzleperf::naive
