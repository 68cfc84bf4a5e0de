// The replay itself: resident blocks in simulated time over real caches.
//
// State is a priority queue of block slots (time, slot). The earliest slot runs its block's next
// step: its requests go through L2, last level and memory in order, and the step ends when the CU
// has done the step's arithmetic and the slowest level it used has delivered:
//
//     end = max(compute done, max over levels used(server free) + mean latency of its requests)
//
// A level is a server: bytes / bandwidth keep it busy, later requests queue behind. In a sample
// every request stands for 1/share requests, so it keeps servers busy 1/share times as long.
// Latency is the mean over the step's requests rather than the worst, because only the mean is the
// same in a sample and in the whole; its feedback (misses cost time, hits catch up) is what keeps
// blocks together.
//
// Dispatch is in order into freed slots: per-die queues on AMD, one queue on NVIDIA.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "cachesim/cache.h"
#include "cachesim/prepared.h"

namespace swizzleperf::cachesim {

/// Slots in the order in which they become free; a binary heap whose top is replaced in place.
class SlotQueue {
 public:
  static constexpr int kSlotBits = 20;
  static constexpr double kTicksPerNs = 16;

  void add(std::uint64_t ticks, std::uint32_t slot) {
    heap_.push_back(ticks << kSlotBits | slot);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::uint32_t slot() const {
    return static_cast<std::uint32_t>(heap_.front() & ((1U << kSlotBits) - 1U));
  }
  [[nodiscard]] std::uint64_t ticks() const { return heap_.front() >> kSlotBits; }
  void replace_top(std::uint64_t ticks) {
    const std::uint64_t key = ticks << kSlotBits | slot();
    std::size_t at = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (key <= heap_[child]) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = key;
  }
  void pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }

 private:
  std::vector<std::uint64_t> heap_;
};

/// A bandwidth: work keeps it busy, later work queues.
struct Server {
  double free = 0;
  double busy = 0;
  /// Work of `ns` arriving at `now` is done at the returned time.
  double serve(double now, double ns) {
    free = std::max(free, now) + ns;
    busy += ns;
    return free;
  }
};

/// Hands out dispatch indices in the machine's order.
class Dispatcher {
 public:
  Dispatcher(const Machine& machine, std::uint64_t blocks)
      : blocks_(blocks),
        dies_(machine.dies),
        chunk_(machine.dispatch_chunk),
        per_die_(machine.dispatch == Dispatch::kRoundRobinPerDie),
        taken_(per_die_ ? machine.dies : 1, 0) {}

  static constexpr std::uint64_t kNone = ~0ULL;

  /// The queue that feeds a die.
  [[nodiscard]] std::uint32_t queue(std::uint32_t die) const { return per_die_ ? die : 0; }

  std::uint64_t next(std::uint32_t die) {
    const std::uint32_t q = queue(die);
    const std::uint64_t turn = taken_[q]++;
    const std::uint64_t index =
        per_die_ ? (turn / chunk_ * dies_ + die) * chunk_ + turn % chunk_ : turn;
    return index < blocks_ ? index : kNone;
  }

 private:
  std::uint64_t blocks_;
  std::uint32_t dies_;
  std::uint32_t chunk_;
  bool per_die_;
  std::vector<std::uint64_t> taken_;
};

template <typename Source>
class Replay {
 public:
  Replay(const Prepared& prepared, const Source& source, double share)
      : p_(prepared),
        m_(prepared.machine),
        source_(source),
        weight_(1 / share),
        llc_per_l2_set_(llc_sets_per_l2_set(m_)),
        llc_(m_.llc ? source.sets() * llc_per_l2_set_ : 0, m_.llc ? m_.llc->ways : 1) {
    for (std::uint32_t d = 0; d < m_.dies; ++d) l2_.emplace_back(source.sets(), m_.l2.ways);
    domains_.resize(m_.dies);
    misses_by_buffer_.resize(std::max<std::size_t>(256, p_.lines.buffers.size()));
    l2_server_.resize(m_.dies);
    fabric_server_.resize(m_.dies);
    cu_server_.resize(std::size_t{m_.dies} * m_.cus_per_die);
    l2_ns_per_byte_ = weight_ / (m_.l2.bytes_per_clk * m_.clock_ghz);
    fabric_ns_per_byte_ = weight_ / (m_.fabric_bytes_per_clk * m_.clock_ghz);
    llc_ns_per_byte_ = m_.llc ? weight_ / (m_.llc->bytes_per_clk * m_.clock_ghz) : 0;
    hbm_ns_per_byte_ = weight_ / m_.hbm_bytes_per_ns;
  }

  SimResult run(std::span<const std::uint32_t> permutation) {
    Dispatcher dispatcher(m_, permutation.size());
    std::vector<Slot> slots = fill_slots();
    std::vector<double> next_start(dispatcher.queue(m_.dies - 1) + 1, 0.0);
    while (!queue_.empty()) {
      Slot& slot = slots[queue_.slot()];
      double now = static_cast<double>(queue_.ticks()) / SlotQueue::kTicksPerNs;
      if (slot.step == slot.steps) {
        const std::uint64_t index = dispatcher.next(slot.die);
        if (index == Dispatcher::kNone) {
          queue_.pop();
          continue;
        }
        double& gate = next_start[dispatcher.queue(slot.die)];
        const double start = std::max(now, gate);
        gate = start + m_.dispatch_interval_ns;
        slot.block = source_.open(permutation[index]);
        slot.index = static_cast<std::uint32_t>(index);
        slot.step = 0;
        slot.steps = source_.num_steps(slot.block);
        domains_[slot.die].blocks += 1;
        if (start > now) {  // let the blocks that run meanwhile go first
          queue_.replace_top(to_ticks(start));
          continue;
        }
      }
      if (slot.step < slot.steps) {
        now = run_step(slot, now);
        ++slot.step;
      }
      domains_[slot.die].finish_ms = std::max(domains_[slot.die].finish_ms, now * 1e-6);
      queue_.replace_top(to_ticks(now));
    }
    flush();
    return result();
  }

 private:
  struct Slot {
    std::uint32_t die = 0;
    std::uint32_t cu = 0;
    std::uint32_t index = 0;  // dispatch index of its block
    std::size_t step = 0;
    std::size_t steps = 0;
    double miss_share = 0;      // running means of the slot's requests: missed L2,
    double llc_miss_share = 0;  // and missed the last level too
    Source::Block block{};
  };

  /// What one step moved.
  struct StepTraffic {
    std::uint32_t requests = 0;
    std::uint32_t misses = 0;
    std::uint32_t llc_misses = 0;
    std::uint32_t units = 0;
    std::uint32_t missed_units = 0;
    std::uint32_t l2_bytes = 0;
    std::uint32_t fabric_bytes = 0;
    std::uint32_t llc_bytes = 0;
    std::uint32_t hbm_bytes = 0;
  };

  struct LastLevelAccess {
    std::uint32_t line;
    std::uint32_t set;
    std::uint8_t sectors;
    bool write;
  };

  static std::uint64_t to_ticks(double ns) {
    return static_cast<std::uint64_t>(ns * SlotQueue::kTicksPerNs + 0.999);
  }

  /// Slots in hand-out order: one a CU on every die before the second on any.
  std::vector<Slot> fill_slots() {
    std::vector<Slot> slots;
    const std::uint64_t wanted = std::uint64_t{m_.dies} * m_.cus_per_die * p_.blocks_per_cu;
    slots.resize(wanted);
    for (std::uint32_t s = 0; s < wanted; ++s) {
      slots[s].die = s % m_.dies;
      slots[s].cu = slots[s].die * m_.cus_per_die + s / m_.dies % m_.cus_per_die;
      queue_.add(0, s);
    }
    return slots;
  }

  double run_step(Slot& slot, double now) {
    StepTraffic step;
    Cache& l2 = l2_[slot.die];
    source_.for_each(
        slot.block, slot.step, [&](std::uint32_t set) { l2.prefetch(set); },
        [&](std::uint32_t line, std::uint32_t set, AccessKind kind, std::uint8_t sectors,
            std::uint32_t buffer) { request(l2, step, line, set, kind, sectors, buffer); });
    run_deferred(step);
    domains_[slot.die].l2.requests += step.units;
    domains_[slot.die].l2.hits += step.units - step.missed_units;
    double compute = source_.compute_ns(slot.block, slot.step);
    if (m_.jitter > 0) {
      const std::uint64_t h = mix64(std::uint64_t{slot.index} << 32 | slot.step);
      compute *= 1 + m_.jitter * (static_cast<double>(h >> 11) * 0x1p-52 - 1);
    }
    double end = cu_server_[slot.cu].serve(now, compute);
    if (step.requests > 0) end = std::max(end, memory_done(slot, step, now));
    return end;
  }

  double memory_done(Slot& slot, const StepTraffic& step, double now) {
    double done = l2_server_[slot.die].serve(now, step.l2_bytes * l2_ns_per_byte_);
    if (step.fabric_bytes > 0) {
      done = std::max(done,
                      fabric_server_[slot.die].serve(now, step.fabric_bytes * fabric_ns_per_byte_));
    }
    if (step.llc_bytes > 0) {
      done = std::max(done, llc_server_.serve(now, step.llc_bytes * llc_ns_per_byte_));
    }
    if (step.hbm_bytes > 0) {
      done = std::max(done, hbm_server_.serve(now, step.hbm_bytes * hbm_ns_per_byte_));
    }
    // A step of a sample holds few requests: their share of misses is smoothed over the slot, from
    // block to block.
    const double requests = step.requests;
    const double fresh = std::min(1.0, requests * kSmoothing);
    slot.miss_share += fresh * (step.misses / requests - slot.miss_share);
    slot.llc_miss_share += fresh * (step.llc_misses / requests - slot.llc_miss_share);
    double latency = m_.l2.latency_ns;
    const double behind = m_.llc ? m_.llc->latency_ns : m_.hbm_latency_ns;
    latency += slot.miss_share * (behind - m_.l2.latency_ns);
    if (m_.llc) latency += slot.llc_miss_share * (m_.hbm_latency_ns - behind);
    return done + latency;
  }

  void request(Cache& l2, StepTraffic& step, std::uint32_t line, std::uint32_t set, AccessKind kind,
               std::uint8_t sectors, std::uint32_t buffer) {
    Evicted out;
    const bool write = kind != AccessKind::kLoad;
    const std::uint8_t before = l2.access(set, line, sectors, write, out);
    const std::uint32_t units = p_.units.of(kind, sectors);
    std::uint32_t missed_units = 0;
    if (kind == AccessKind::kStore) {
      // A write needs no fill; the first piece of a line that is absent misses, the rest hit.
      missed_units = before == 0 ? 1 : 0;
    } else if (const auto missing = static_cast<std::uint8_t>(sectors & ~before); missing != 0) {
      missed_units = kind == AccessKind::kLoad ? p_.units.read[missing] : units;
      fill(step, line, set, missing);
    }
    step.requests += 1;
    step.l2_bytes += p_.units.bytes[sectors];
    step.units += units;
    if (missed_units != 0) {
      step.missed_units += missed_units;
      step.misses += 1;
      misses_by_buffer_[buffer] += missed_units;
    }
    if (out.dirty != 0) write_back(step, out, set);
  }

  /// Sectors that L2 lacks come from the last level or from memory.
  void fill(StepTraffic& step, std::uint32_t line, std::uint32_t set, std::uint8_t sectors) {
    step.fabric_bytes += p_.units.bytes[sectors];
    if (m_.llc) {
      defer(line, set, sectors, false);
    } else {
      read_memory(step, sectors);
    }
  }

  void write_back(StepTraffic& step, const Evicted& victim, std::uint32_t set) {
    step.fabric_bytes += p_.units.bytes[victim.dirty];
    if (m_.llc) {
      defer(victim.line, set, victim.dirty, true);
    } else {
      write_memory(step, victim);
    }
  }

  /// Last-level look-ups wait until the step's L2 look-ups are done, in the same order: the level
  /// is large, its sets are far from the host's caches, and by then they have been fetched.
  void defer(std::uint32_t line, std::uint32_t l2_set, std::uint8_t sectors, bool write) {
    const std::uint32_t set = l2_set * llc_per_l2_set_ + llc_set_in_group(line, llc_per_l2_set_);
    llc_.prefetch(set);
    deferred_.push_back({line, set, sectors, write});
  }

  void run_deferred(StepTraffic& step) {
    for (const LastLevelAccess& a : deferred_) {
      Evicted out;
      const std::uint8_t before = llc_.access(a.set, a.line, a.sectors, a.write, out);
      step.llc_bytes += p_.units.bytes[a.sectors];
      if (!a.write) {
        const auto missing = static_cast<std::uint8_t>(a.sectors & ~before);
        llc_counts_.requests += 1;
        llc_counts_.hits += missing == 0 ? 1 : 0;
        if (missing != 0) read_memory(step, missing);
      }
      write_memory(step, out);
    }
    deferred_.clear();
  }

  void read_memory(StepTraffic& step, std::uint8_t sectors) {
    step.llc_misses += 1;
    step.hbm_bytes += p_.units.bytes[sectors];
    hbm_read_bytes_ += p_.units.bytes[sectors];
  }

  void write_memory(StepTraffic& step, const Evicted& victim) {
    if (victim.dirty == 0) return;
    step.hbm_bytes += p_.units.bytes[victim.dirty];
    hbm_write_bytes_ += p_.units.bytes[victim.dirty];
  }

  /// What was written reaches memory in the end, whoever holds it when the launch ends. Copies of a
  /// line in several L2s meet in the last level; without one, each is written back on its own.
  void flush() {
    std::vector<std::pair<std::uint32_t, std::uint8_t>> left;  // line, dirty sectors
    const auto keep = [&](std::uint32_t line, std::uint8_t dirty) {
      left.emplace_back(line, dirty);
    };
    for (const Cache& l2 : l2_) l2.for_each_dirty(keep);
    llc_.for_each_dirty(keep);
    if (m_.llc) std::sort(left.begin(), left.end());
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (m_.llc && i + 1 < left.size() && left[i + 1].first == left[i].first) {
        left[i + 1].second |= left[i].second;
      } else {
        hbm_write_bytes_ += p_.units.bytes[left[i].second];
      }
    }
  }

  SimResult result() const {
    SimResult r;
    r.sampled_share = 1 / weight_;
    r.l1 = {static_cast<double>(p_.lines.l1_requests), static_cast<double>(p_.lines.l1_hits)};
    double finish_sum = 0;
    double finish_last = 0;
    for (const DomainCounts& d : domains_) {
      DomainCounts scaled = d;
      scaled.l2.requests *= weight_;
      scaled.l2.hits *= weight_;
      r.l2.requests += scaled.l2.requests;
      r.l2.hits += scaled.l2.hits;
      finish_sum += d.finish_ms;
      finish_last = std::max(finish_last, d.finish_ms);
      r.per_domain.push_back(scaled);
    }
    if (m_.llc) r.llc = LevelCounts{llc_counts_.requests * weight_, llc_counts_.hits * weight_};
    r.hbm_read_bytes = hbm_read_bytes_ * weight_;
    r.hbm_write_bytes = hbm_write_bytes_ * weight_;
    for (std::size_t b = 0; b < p_.lines.buffers.size(); ++b) {
      r.misses_by_buffer.push_back(misses_by_buffer_[b] * weight_);
    }
    r.time_ms = finish_last;
    if (finish_sum > 0) r.imbalance = finish_last / (finish_sum / m_.dies) - 1;
    set_bound(r);
    return r;
  }

  /// Busy shares of the predicted time; nothing nearly busy means that latency binds.
  void set_bound(SimResult& r) const {
    const auto mean_busy = [](const std::vector<Server>& servers) {
      double sum = 0;
      for (const Server& s : servers) sum += s.busy;
      return sum / static_cast<double>(servers.size());
    };
    const double busy[5] = {mean_busy(cu_server_), mean_busy(l2_server_), mean_busy(fabric_server_),
                            llc_server_.busy, hbm_server_.busy};
    const double total_ns = std::max(1e-9, r.time_ms * 1e6);
    std::size_t most = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      r.utilisation[i] = busy[i] / total_ns;
      if (r.utilisation[i] > r.utilisation[most]) most = i;
    }
    constexpr double kNearlyBusy = 0.6;
    r.bound = r.utilisation[most] < kNearlyBusy ? Bound::kLatency : static_cast<Bound>(most);
  }

  /// Weight of one request in a slot's running mean of misses: sixteen requests renew it.
  static constexpr double kSmoothing = 1.0 / 16;

  const Prepared& p_;
  const Machine& m_;
  const Source& source_;
  double weight_;
  std::uint32_t llc_per_l2_set_;
  std::vector<Cache> l2_;
  Cache llc_;
  std::vector<LastLevelAccess> deferred_;
  SlotQueue queue_;
  std::vector<DomainCounts> domains_;
  LevelCounts llc_counts_;
  double hbm_read_bytes_ = 0;
  double hbm_write_bytes_ = 0;
  std::vector<double> misses_by_buffer_;
  std::vector<Server> l2_server_;
  std::vector<Server> fabric_server_;
  std::vector<Server> cu_server_;
  Server llc_server_;
  Server hbm_server_;
  double l2_ns_per_byte_ = 0;
  double fabric_ns_per_byte_ = 0;
  double llc_ns_per_byte_ = 0;
  double hbm_ns_per_byte_ = 0;
};

}  // namespace swizzleperf::cachesim
