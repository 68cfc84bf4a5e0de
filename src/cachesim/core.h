// The replay itself: resident blocks in simulated time over real caches.
//
// State is a priority queue of block slots (time, slot). The earliest slot runs its block's next
// step: its requests go through L2, last level and memory in order, and the step ends when the CU
// has done the step's arithmetic and the slowest level it used has delivered:
//
//     end = max(compute done, max over levels used(server free) + mean latency of its requests)
//
// plus what the longer of the two does not hide of the shorter (Machine::exposed).
//
// A level is a server: bytes / bandwidth keep it busy, later requests queue behind. How many
// requests and L2 bytes a step makes is known exactly, also in a sample, which replays only some of
// them; what those moved on the average is charged for all. A step without any is charged what the
// block's last one was. Nothing is remembered longer: a leader that meets its followers' lines
// would be charged for misses that it no longer has, and blocks would part or meet at another pace
// than in the exact replay. Latency is the mean over requests rather than the worst one. This
// feedback (misses cost time, hits catch up) is what keeps blocks together.
//
// Where lines have a home (Machine::lines_have_home, NVIDIA's two partitions) three things are
// added, at no cost to machines without: a load that misses its own L2 asks the home die's, which
// asks memory, and stores go to the home; loads of a group of CUs that follow each other within a
// moment are one request; and memory has pages, of which a written one is written back whole.
//
// Dispatch is in order into freed slots: per-die queues on AMD, one queue on NVIDIA.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "cachesim/cache.h"
#include "cachesim/prepared.h"

namespace swizzleperf::cachesim {

/// Slots in the order in which they become free: a tree of minima over (time, slot) keys. Changing
/// one key recomputes the minima on its way to the root, ten steps without a branch for a thousand
/// slots, where a heap would mispredict at every level.
class SlotQueue {
 public:
  static constexpr int kSlotBits = 20;
  static constexpr double kTicksPerNs = 16;

  /// All slots are free at time 0.
  explicit SlotQueue(std::uint32_t slots) : leaves_(std::bit_ceil(std::max(2U, slots))) {
    tree_.assign(std::size_t{2} * leaves_, kNever);
    for (std::uint32_t s = 0; s < slots; ++s) tree_[leaves_ + s] = s;
    for (std::uint32_t i = leaves_ - 1; i > 0; --i) {
      tree_[i] = std::min(tree_[2 * i], tree_[2 * i + 1]);
    }
  }
  [[nodiscard]] bool empty() const { return tree_[1] == kNever; }
  [[nodiscard]] std::uint32_t slot() const {
    return static_cast<std::uint32_t>(tree_[1] & ((1U << kSlotBits) - 1U));
  }
  [[nodiscard]] std::uint64_t ticks() const { return tree_[1] >> kSlotBits; }
  /// The earliest slot is free again at `ticks`.
  void postpone(std::uint64_t ticks) { set(slot(), ticks << kSlotBits | slot()); }
  /// The earliest slot is never free again.
  void retire() { set(slot(), kNever); }

 private:
  static constexpr std::uint64_t kNever = ~0ULL;

  void set(std::uint32_t slot, std::uint64_t key) {
    std::uint64_t* tree = tree_.data();
    std::uint32_t at = leaves_ + slot;
    tree[at] = key;
    for (; at > 1; at /= 2) {
      key = std::min(key, tree[at ^ 1U]);
      tree[at / 2] = key;
    }
  }

  std::uint32_t leaves_;
  std::vector<std::uint64_t> tree_;
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

/// Neighbouring CUs that a single queue fills one after the other before it goes to the next die.
inline std::uint32_t fill_run(const Machine& machine) {
  return machine.dispatch == Dispatch::kSingleQueue && machine.cus_per_die % 2 == 0 ? 2 : 1;
}

/// Hands out dispatch indices in the machine's order.
class Dispatcher {
 public:
  /// `slots` of one queue.
  Dispatcher(const Machine& machine, std::uint64_t blocks, std::uint64_t slots)
      : blocks_(blocks),
        first_(slots),
        interval_ns_(machine.dispatch_interval_ns),
        spread_ns_(machine.start_spread_ns / static_cast<double>(slots)),
        dies_(machine.dies),
        chunk_(machine.dispatch_chunk),
        per_die_(machine.dispatch == Dispatch::kRoundRobinPerDie),
        taken_(per_die_ ? machine.dies : 1, 0) {}

  static constexpr std::uint64_t kNone = ~0ULL;

  /// The queue that feeds a die.
  [[nodiscard]] std::uint32_t queue(std::uint32_t die) const { return per_die_ ? die : 0; }

  /// Between the block that a die's queue gave last and the next: a machine that is still being
  /// filled starts its blocks spread out, so that they do not march in step by accident.
  [[nodiscard]] double interval_ns(std::uint32_t die) const {
    return std::max(interval_ns_, taken_[queue(die)] < first_ ? spread_ns_ : 0);
  }

  std::uint64_t next(std::uint32_t die) {
    const std::uint32_t q = queue(die);
    const std::uint64_t turn = taken_[q]++;
    const std::uint64_t index =
        per_die_ ? (turn / chunk_ * dies_ + die) * chunk_ + turn % chunk_ : turn;
    return index < blocks_ ? index : kNone;
  }

 private:
  std::uint64_t blocks_;
  std::uint64_t first_;
  double interval_ns_;
  double spread_ns_;
  std::uint32_t dies_;
  std::uint32_t chunk_;
  bool per_die_;
  std::vector<std::uint64_t> taken_;
};

/// Sees what the L2s are asked for; this one sees nothing and costs nothing. classify.cc has one
/// that does.
struct NoObserver {
  /// The block of dispatch index `index` goes on.
  void step(std::uint32_t /*index*/) {}
  /// A look-up whose misses count, in the L2 of `die`. `before`: the line's sectors that were
  /// present. origin() is the array, origin.line the line.
  template <typename Origin>
  void look_up(std::uint32_t /*die*/, AccessKind, std::uint8_t /*sectors*/, std::uint8_t /*before*/,
               const Origin&) {}
  /// Sectors that the L2 of `die` has besides: for another die, or because it fetches larger
  /// pieces.
  template <typename Origin>
  void besides(std::uint32_t /*die*/, std::uint8_t /*sectors*/, const Origin&) {}
};

/// Loads on their way to L2, by the line asked: who asks for the same within a moment does not ask
/// L2 again. A table with one place for each hash, since what is on its way is little.
class MergeTable {
 public:
  MergeTable(std::uint32_t groups, double window_ns)
      : window_ns_(static_cast<float>(window_ns)), entries_(std::size_t{groups} * kEntries) {}

  /// Whether a load at `now` meets an earlier one of its group; if not, later ones may meet it.
  bool meets(std::uint32_t group, std::uint32_t set, std::uint32_t tag, std::uint8_t sectors,
             double now) {
    Entry& e = entries_[std::size_t{group} * kEntries +
                        (hash_line(tag ^ set * 0x85ebca77U) & (kEntries - 1))];
    const auto at = static_cast<float>(now);
    const bool same = e.tag == tag && e.set == set && at < e.until;
    if (same && (sectors & ~e.sectors) == 0) return true;
    e = {tag, set, at + window_ns_,
         same ? static_cast<std::uint8_t>(e.sectors | sectors) : sectors};
    return false;
  }

 private:
  static constexpr std::uint32_t kEntries = 8192;
  struct Entry {
    std::uint32_t tag = 0;
    std::uint32_t set = 0;
    float until = 0;
    std::uint8_t sectors = 0;
  };
  float window_ns_;
  std::vector<Entry> entries_;
};

/// Pages of memory that are open, one for each hash.
class OpenPages {
 public:
  explicit OpenPages(std::uint32_t count) : open_(count, ~0ULL) {}
  /// Opens the page; false if it was open.
  bool activate(std::uint32_t page_sets, std::uint32_t tag) {
    const std::uint64_t page = std::uint64_t{page_sets} << 32 | tag;
    std::uint64_t& bank =
        open_[scale_hash(hash_line(tag ^ page_sets), static_cast<std::uint32_t>(open_.size()))];
    return std::exchange(bank, page) != page;
  }

 private:
  std::vector<std::uint64_t> open_;
};

/// Caches: Cache<std::uint16_t> where that holds every tag of the launch, else
/// Cache<std::uint32_t>; or RoomyCache. kHomes: lines have a home die.
template <typename Caches, typename Source, bool kHomes, typename Observer = NoObserver>
class Replay {
 public:
  Replay(const Prepared& prepared, const Source& source, double share, std::uint32_t dies,
         Observer observer = {})
      : p_(prepared),
        m_(prepared.machine),
        source_(source),
        observer_(observer),
        weight_(1 / share),
        dies_(dies),
        llc_per_l2_set_(Caches::kOneLineASet ? 1 : llc_sets_per_l2_set(m_)),
        l2_(source.sets() * dies, m_.l2.ways),
        llc_(m_.llc ? source.sets() * llc_per_l2_set_ : 0, m_.llc ? m_.llc->ways : 1),
        merging_(dies * m_.merge_groups_per_die, m_.merge_ns),
        pages_(open_pages()),
        queue_(used_slots()) {
    domains_.resize(dies_);
    misses_by_buffer_.resize(std::max<std::size_t>(256, p_.lines.buffers.size()));
    l2_server_.resize(dies_);
    fabric_server_.resize(dies_);
    cu_server_.resize(std::size_t{dies_} * m_.cus_per_die);
    l2_ns_per_byte_ = 1 / (m_.l2.bytes_per_clk * m_.clock_ghz);
    fabric_ns_per_byte_ = 1 / (m_.fabric_bytes_per_clk * m_.clock_ghz);
    // Shared levels also serve the dies that are not looked at.
    const double shared = static_cast<double>(m_.dies) / dies_;
    llc_ns_per_byte_ = m_.llc ? shared / (m_.llc->bytes_per_clk * m_.clock_ghz) : 0;
    hbm_ns_per_byte_ = shared / m_.hbm_bytes_per_ns;
  }

  SimResult run(std::span<const std::uint32_t> permutation) {
    const bool per_die = m_.dispatch == Dispatch::kRoundRobinPerDie;
    Dispatcher dispatcher(m_, permutation.size(), num_slots() / (per_die ? dies_ : 1));
    std::vector<Slot> slots = fill_slots();
    std::vector<double> next_start(dispatcher.queue(m_.dies - 1) + 1, 0.0);
    while (!queue_.empty()) {
      Slot& slot = slots[queue_.slot()];
      double now = static_cast<double>(queue_.ticks()) / SlotQueue::kTicksPerNs;
      if (slot.step == slot.steps) {
        const std::uint64_t index = dispatcher.next(slot.die);
        if (index == Dispatcher::kNone) {
          queue_.retire();
          continue;
        }
        double& gate = next_start[dispatcher.queue(slot.die)];
        const double start = std::max(now, gate);
        gate = start + dispatcher.interval_ns(slot.die);
        slot.block = source_.open(permutation[index]);
        slot.index = static_cast<std::uint32_t>(index);
        slot.step = 0;
        slot.steps = source_.num_steps(slot.block);
        domains_[slot.die].blocks += 1;
        if (start > now) {  // let the blocks that run meanwhile go first
          queue_.postpone(to_ticks(start));
          continue;
        }
      }
      if (slot.step < slot.steps) {
        now = run_step(slot, now);
        ++slot.step;
      }
      domains_[slot.die].finish_ms = std::max(domains_[slot.die].finish_ms, now * 1e-6);
      queue_.postpone(to_ticks(now));
    }
    flush();
    SimResult r = result();
    if (permutation.size() < p_.lines.blocks.size() || dies_ < m_.dies) {
      extrapolate(r, static_cast<double>(permutation.size()));
    }
    return r;
  }

 private:
  /// What a request of a step did on the average.
  struct PerRequest {
    double misses = 0;
    double llc_misses = 0;
    double fabric_bytes = 0;
    double llc_bytes = 0;
    double hbm_bytes = 0;
  };

  struct Slot {
    std::uint32_t die = 0;
    std::uint32_t cu = 0;
    std::uint32_t merge_group = 0;
    double pace = 1;          // of its CU: what arithmetic takes, relative to the mean
    std::uint32_t index = 0;  // dispatch index of its block
    std::size_t step = 0;
    std::size_t steps = 0;
    PerRequest mean;  // of its last step that made any
    Source::Block block{};
  };

  /// What the replayed requests of one step moved, and who asked when.
  struct StepTraffic {
    std::uint32_t die;
    std::uint32_t merge_group;
    double now;
    std::uint32_t requests = 0;
    std::uint32_t merged_units = 0;
    std::uint32_t misses = 0;
    std::uint32_t llc_misses = 0;
    std::uint32_t units = 0;
    std::uint32_t missed_units = 0;
    std::uint32_t fabric_bytes = 0;
    std::uint32_t llc_bytes = 0;
    std::uint32_t hbm_bytes = 0;
  };

  struct LastLevelAccess {
    std::uint32_t set;
    std::uint32_t tag;
    std::uint8_t sectors;
    bool write;
  };

  /// In [-1, 1), by a hash.
  static double spread(std::uint64_t key) {
    return static_cast<double>(mix64(key) >> 11) * 0x1p-52 - 1;
  }

  static std::uint64_t to_ticks(double ns) {
    return static_cast<std::uint64_t>(ns * SlotQueue::kTicksPerNs + 0.999);
  }

  [[nodiscard]] std::uint32_t num_slots() const {
    return dies_ * m_.cus_per_die * p_.blocks_per_cu;
  }

  /// Slots that get a block; a launch that does not fill the machine leaves the last ones empty.
  [[nodiscard]] std::uint32_t used_slots() const {
    const std::uint64_t blocks = p_.lines.blocks.size();
    const std::uint64_t turn = std::uint64_t{m_.dies} * m_.dispatch_chunk;
    const std::uint64_t used = m_.dispatch == Dispatch::kSingleQueue
                                   ? blocks
                                   : (blocks + turn - 1) / turn * m_.dispatch_chunk * dies_;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(num_slots(), used));
  }

  /// A sample has as many pages open as it has of the sets.
  [[nodiscard]] std::uint32_t open_pages() const {
    const double share = static_cast<double>(source_.sets()) / p_.l2_set.sets();
    return static_cast<std::uint32_t>(std::ceil(m_.hbm_open_pages * share));
  }

  /// Slots in hand-out order: one a CU on every die before the second on any. A single queue fills
  /// CUs in pairs, and the pairs of a die belong to its merging groups in turn.
  std::vector<Slot> fill_slots() {
    std::vector<Slot> slots;
    slots.resize(used_slots());
    const std::uint32_t run = fill_run(m_);
    const std::uint32_t groups = std::max(1U, m_.merge_groups_per_die);
    for (std::uint32_t s = 0; s < slots.size(); ++s) {
      const std::uint32_t die = s / run % dies_;
      const std::uint32_t cu = (s / run / dies_ * run + s % run) % m_.cus_per_die;
      slots[s].die = die;
      slots[s].cu = die * m_.cus_per_die + cu;
      slots[s].pace = 1 + m_.skew * spread(slots[s].cu);
      slots[s].merge_group = die * groups + cu / run % groups;
    }
    return slots;
  }

  double run_step(Slot& slot, double now) {
    StepTraffic step{.die = slot.die, .merge_group = slot.merge_group, .now = now};
    const std::uint32_t first_set = slot.die * source_.sets();
    observer_.step(slot.index);
    source_.for_each(
        slot.block, slot.step, [&](std::uint32_t set) { l2_.prefetch(first_set + set); },
        [&](std::uint32_t tag, std::uint32_t set, AccessKind kind, std::uint8_t sectors,
            const auto& origin) __attribute__((always_inline)) {
          request(first_set, step, tag, set, kind, sectors, origin);
        });
    run_deferred(step);
    merged_units_ += step.merged_units;
    domains_[slot.die].l2.requests += step.units;
    domains_[slot.die].l2.hits += step.units - step.missed_units;
    if (step.requests > 0) slot.mean = mean_of(step);
    const StepWork& work = source_.work(slot.block, slot.step);
    double compute = work.compute_ns * slot.pace;
    if (m_.jitter > 0) {
      compute *= 1 + m_.jitter * spread(std::uint64_t{slot.index} << 32 | slot.step);
    }
    const double computed = cu_server_[slot.cu].serve(now, compute);
    if (work.requests == 0) return computed;
    const double delivered = memory_done(slot, work, now);
    const double shorter = std::min(computed, delivered) - now;
    return std::max(computed, delivered) + m_.exposed * shorter;
  }

  static PerRequest mean_of(const StepTraffic& step) {
    const double requests = step.requests;
    return {step.misses / requests, step.llc_misses / requests, step.fabric_bytes / requests,
            step.llc_bytes / requests, step.hbm_bytes / requests};
  }

  double memory_done(const Slot& slot, const StepWork& work, double now) {
    const PerRequest& mean = slot.mean;
    const double requests = work.requests;
    double done = l2_server_[slot.die].serve(now, work.l2_bytes * l2_ns_per_byte_);
    const auto use = [&](Server& server, double bytes, double ns_per_byte) {
      if (bytes > 0) done = std::max(done, server.serve(now, requests * bytes * ns_per_byte));
    };
    use(fabric_server_[slot.die], mean.fabric_bytes, fabric_ns_per_byte_);
    use(llc_server_, mean.llc_bytes, llc_ns_per_byte_);
    use(hbm_server_, mean.hbm_bytes, hbm_ns_per_byte_);
    const double behind = m_.llc ? m_.llc->latency_ns : m_.hbm_latency_ns;
    double latency = m_.l2.latency_ns + mean.misses * (behind - m_.l2.latency_ns);
    if (m_.llc) latency += mean.llc_misses * (m_.hbm_latency_ns - behind);
    return done + latency;
  }

  /// `origin` is asked only where the request misses. What nearly all requests are comes first: a
  /// load that finds all its sectors, which evicts nothing either.
  template <typename Origin>
  [[gnu::always_inline]] void request(std::uint32_t first_set, StepTraffic& step, std::uint32_t tag,
                                      std::uint32_t set, AccessKind kind, std::uint8_t sectors,
                                      const Origin& origin) {
    if constexpr (kHomes) {
      homed_request(step, tag, set, kind, sectors, origin);
      return;
    }
    Evicted out;
    const bool write = kind != AccessKind::kLoad;
    const std::uint8_t before = l2_.access(first_set + set, tag, sectors, write, out);
    observer_.look_up(step.die, kind, sectors, before, origin);
    step.requests += 1;
    step.units += p_.units.of(kind, sectors);
    const auto missing = static_cast<std::uint8_t>(sectors & ~before);
    if (!write && missing == 0) return;
    if (kind != AccessKind::kStore && missing != 0) fill(step, tag, set, missing);
    if (const std::uint32_t missed = p_.units.missed(kind, sectors, before); missed != 0) {
      step.missed_units += missed;
      step.misses += 1;
      misses_by_buffer_[origin()] += missed;
    }
    if (out.dirty != 0) write_back(step, out, set);
  }

  /// A request on a machine whose lines have a home: loads look into their own die's L2 first,
  /// everything else is done at the home.
  template <typename Origin>
  void homed_request(StepTraffic& step, std::uint32_t tag, std::uint32_t set, AccessKind kind,
                     std::uint8_t sectors, const Origin& origin) {
    const std::uint32_t units = p_.units.of(kind, sectors);
    step.requests += 1;
    if (kind == AccessKind::kLoad && m_.merge_groups_per_die != 0 &&
        merging_.meets(step.merge_group, set, tag, sectors, step.now)) {
      step.merged_units += units;
      return;
    }
    step.units += units;
    const std::uint32_t home = home_die(set / p_.l2_set.page_sets(), tag, dies_);
    const std::uint32_t missed = kind == AccessKind::kLoad
                                     ? homed_load(step, home, tag, set, sectors, origin)
                                     : homed_update(step, home, tag, set, kind, sectors, origin);
    if (missed != 0) {
      step.missed_units += missed;
      step.misses += 1;
      misses_by_buffer_[origin()] += missed;
    }
  }

  /// The units that miss in the asking die's own L2.
  template <typename Origin>
  std::uint32_t homed_load(StepTraffic& step, std::uint32_t home, std::uint32_t tag,
                           std::uint32_t set, std::uint8_t sectors, const Origin& origin) {
    const std::uint32_t own_set = step.die * source_.sets() + set;
    Evicted out;
    const std::uint8_t before = l2_.access(own_set, tag, sectors, false, out);
    observer_.look_up(step.die, AccessKind::kLoad, sectors, before, origin);
    write_page_back(step, out, own_set);
    auto missing = static_cast<std::uint8_t>(sectors & ~before);
    if (missing == 0) return 0;
    const std::uint32_t missed = p_.units.read[missing];
    missing = p_.units.fill[missing];
    l2_.add(own_set, tag, missing);
    observer_.besides(step.die, missing, origin);
    if (home != step.die) {
      const std::uint32_t home_set = home * source_.sets() + set;
      const std::uint8_t at_home = l2_.access(home_set, tag, missing, false, out);
      observer_.besides(home, missing, origin);
      write_page_back(step, out, home_set);
      step.fabric_bytes += p_.units.bytes[missing];
      missing = static_cast<std::uint8_t>(missing & ~at_home);
    }
    if (missing != 0) fill_home(step, home, tag, set, missing, origin);
    return missed;
  }

  /// The units of a store or an atomic that miss at the home.
  template <typename Origin>
  std::uint32_t homed_update(StepTraffic& step, std::uint32_t home, std::uint32_t tag,
                             std::uint32_t set, AccessKind kind, std::uint8_t sectors,
                             const Origin& origin) {
    const std::uint32_t home_set = home * source_.sets() + set;
    Evicted out;
    const std::uint8_t before = l2_.access(home_set, tag, sectors, true, out);
    observer_.look_up(home, kind, sectors, before, origin);
    write_page_back(step, out, home_set);
    if (home != step.die) step.fabric_bytes += p_.units.bytes[sectors];
    const auto missing = static_cast<std::uint8_t>(sectors & ~before);
    if (missing != 0 && kind == AccessKind::kAtomic) {
      fill_home(step, home, tag, set, missing, origin);
    }
    return p_.units.missed(kind, sectors, before);
  }

  /// Sectors that the home lacks come from memory, with their pieces.
  template <typename Origin>
  void fill_home(StepTraffic& step, std::uint32_t home, std::uint32_t tag, std::uint32_t set,
                 std::uint8_t missing, const Origin& origin) {
    missing = p_.units.fill[missing];
    l2_.add(home * source_.sets() + set, tag, missing);
    observer_.besides(home, missing, origin);
    read_memory(step, missing);
    open_page(step, set, tag, m_.hbm_activate_bytes);
  }

  /// What makes room in `set` is written to memory with what else its page has dirty in this L2.
  void write_page_back(StepTraffic& step, Evicted& victim, std::uint32_t set) {
    if (victim.dirty == 0) return;
    const std::uint32_t first = set & ~(p_.l2_set.page_sets() - 1);
    for (std::uint32_t s = first; s < first + p_.l2_set.page_sets(); ++s) {
      if (s != set) write_memory(step, {victim.tag, l2_.clean(s, victim.tag)});
    }
    write_memory(step, victim);
    open_page(step, set % source_.sets(), victim.tag, m_.hbm_write_activate_bytes);
    victim = {};
  }

  void open_page(StepTraffic& step, std::uint32_t set, std::uint32_t tag, double cost) {
    if (m_.hbm_open_pages != 0 && pages_.activate(set / p_.l2_set.page_sets(), tag)) {
      step.hbm_bytes += static_cast<std::uint32_t>(cost);
    }
  }

  /// Sectors that L2 lacks come from the last level or from memory.
  void fill(StepTraffic& step, std::uint32_t tag, std::uint32_t set, std::uint8_t sectors) {
    step.fabric_bytes += p_.units.bytes[sectors];
    if (m_.llc) {
      defer(tag, set, sectors, false);
    } else {
      read_memory(step, sectors);
    }
  }

  void write_back(StepTraffic& step, const Evicted& victim, std::uint32_t set) {
    step.fabric_bytes += p_.units.bytes[victim.dirty];
    if (m_.llc) {
      defer(victim.tag, set, victim.dirty, true);
    } else {
      write_memory(step, victim);
    }
  }

  /// Last-level look-ups wait until the step's L2 look-ups are done, in the same order: the level
  /// is large, its sets are far from the host's caches, and by then they have been fetched.
  void defer(std::uint32_t tag, std::uint32_t l2_set, std::uint8_t sectors, bool write) {
    const std::uint32_t set = l2_set * llc_per_l2_set_ + llc_set_in_group(tag, llc_per_l2_set_);
    llc_.prefetch(set);
    deferred_.push_back({set, tag, sectors, write});
  }

  void run_deferred(StepTraffic& step) {
    for (const LastLevelAccess& a : deferred_) {
      Evicted out;
      const std::uint8_t before = llc_.access(a.set, a.tag, a.sectors, a.write, out);
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

  /// Dirty bytes, where a line is its own set.
  double left_by_line() const {
    std::vector<std::uint8_t> left(source_.sets());
    const auto keep = [&](std::uint32_t line, std::uint32_t, std::uint8_t dirty) {
      left[line % source_.sets()] |= dirty;
    };
    l2_.for_each_dirty(keep);
    llc_.for_each_dirty(keep);
    double bytes = 0;
    for (const std::uint8_t dirty : left) bytes += p_.units.bytes[dirty];
    return bytes;
  }

  double left_by_tag() const {
    double bytes = 0;
    std::vector<std::pair<std::uint64_t, std::uint8_t>> left;  // line by set and tag, dirty sectors
    const auto keep = [&](std::uint32_t set, std::uint32_t tag, std::uint8_t dirty) {
      left.emplace_back(std::uint64_t{set} << 32 | tag, dirty);
    };
    l2_.for_each_dirty([&](std::uint32_t set, std::uint32_t tag, std::uint8_t dirty) {
      keep(set % source_.sets(), tag, dirty);
    });
    llc_.for_each_dirty([&](std::uint32_t set, std::uint32_t tag, std::uint8_t dirty) {
      keep(set / llc_per_l2_set_, tag, dirty);
    });
    if (m_.llc) std::sort(left.begin(), left.end());
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (m_.llc && i + 1 < left.size() && left[i + 1].first == left[i].first) {
        left[i + 1].second |= left[i].second;
      } else {
        bytes += p_.units.bytes[left[i].second];
      }
    }
    return bytes;
  }

  /// What was written reaches memory in the end, whoever holds it when the launch ends. Copies of a
  /// line in several L2s meet in the last level; without one, each is written back on its own.
  /// Memory pays for it: who launches again and again meets the last launch's dirty lines.
  void flush() {
    const double bytes = Caches::kOneLineASet && m_.llc ? left_by_line() : left_by_tag();
    hbm_write_bytes_ += bytes;
    hbm_server_.busy += bytes * miss_weight() * hbm_ns_per_byte_;
  }

  /// What a missed unit stands for, by the arrays that miss. An array that is asked for often and
  /// always hits, as a vector that all blocks share, may lie in few sets, of which a sample has too
  /// many or none; it then tells nothing of how many the others' misses stand for.
  [[nodiscard]] double miss_weight() const {
    double misses = 0;
    double weighted = 0;
    for (std::size_t b = 0; b < misses_by_buffer_.size(); ++b) {
      misses += misses_by_buffer_[b];
      weighted += misses_by_buffer_[b] * source_.weight(b);
    }
    return misses > 0 ? weighted / misses : weight_;
  }

  SimResult result() const {
    const double beyond = miss_weight();
    SimResult r;
    r.sampled_share = 1 / weight_;
    r.l1 = {static_cast<double>(p_.lines.l1_requests), static_cast<double>(p_.lines.l1_hits)};
    double finish_sum = 0;
    double finish_last = 0;
    for (const DomainCounts& d : domains_) {
      DomainCounts scaled = d;
      scaled.l2.requests *= weight_;
      scaled.l2.hits = scaled.l2.requests - (d.l2.requests - d.l2.hits) * beyond;
      r.l2.requests += scaled.l2.requests;
      r.l2.hits += scaled.l2.hits;
      finish_sum += d.finish_ms;
      finish_last = std::max(finish_last, d.finish_ms);
      r.per_domain.push_back(scaled);
    }
    r.merged_requests = merged_units_ * weight_;
    if (m_.llc) r.llc = LevelCounts{llc_counts_.requests * beyond, llc_counts_.hits * beyond};
    r.hbm_read_bytes = hbm_read_bytes_ * beyond;
    r.hbm_write_bytes = hbm_write_bytes_ * beyond;
    for (std::size_t b = 0; b < p_.lines.buffers.size(); ++b) {
      r.misses_by_buffer.push_back(misses_by_buffer_[b] * source_.weight(b));
    }
    r.time_ms = std::max(finish_last, hbm_server_.busy * 1e-6);
    if (finish_sum > 0) r.imbalance = finish_last / (finish_sum / dies_) - 1;
    set_bound(r);
    return r;
  }

  /// What a part of the launch says of the whole: counts grow like the requests, time like the
  /// blocks.
  void extrapolate(SimResult& r, double blocks) const {
    const double share = blocks / static_cast<double>(p_.lines.blocks.size()) * dies_ / m_.dies;
    const double replayed = r.l2.requests + r.merged_requests;
    r.coverage = replayed / (p_.total_units * share);
    if (replayed <= 0) return;
    const double grow = p_.total_units / replayed;
    for (double* v :
         {&r.l2.requests, &r.l2.hits, &r.merged_requests, &r.hbm_read_bytes, &r.hbm_write_bytes})
      *v *= grow;
    if (r.llc) *r.llc = {r.llc->requests * grow, r.llc->hits * grow};
    for (double& misses : r.misses_by_buffer) misses *= grow;
    r.time_ms *= static_cast<double>(p_.lines.blocks.size()) / blocks;
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
    const double dispatching = least_dispatch_ns(m_, p_.lines.blocks.size()) / total_ns;
    if (dispatching >= std::max(kNearlyBusy, r.utilisation[most])) r.bound = Bound::kDispatch;
  }

  const Prepared& p_;
  const Machine& m_;
  const Source& source_;
  [[no_unique_address]] Observer observer_;
  double weight_;       // a request stands for so many, on the average
  std::uint32_t dies_;  // looked at, the first ones
  std::uint32_t llc_per_l2_set_;
  Caches l2_;  // of all dies, one after the other: one array, few pages
  Caches llc_;
  std::vector<LastLevelAccess> deferred_;
  MergeTable merging_;
  OpenPages pages_;
  SlotQueue queue_;
  std::vector<DomainCounts> domains_;
  LevelCounts llc_counts_;
  double merged_units_ = 0;
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
