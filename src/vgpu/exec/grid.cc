// Blocks are handed out in dispatch order, and each runs to its end on the thread that took it,
// unless it waits: at a barrier of the grid, or in a loop that looks for what another block does
// (program.h: Block::waits). Then it is set aside with all its registers, and the thread goes on
// with the next block, or with one that was set aside before. That is what a GPU with room for many
// blocks does, and it is enough for every algorithm that works there: look-back scans, whose blocks
// wait for earlier ones only, and grid barriers, for which all blocks must have begun.
//
// A waiting block that changes nothing costs no steps. If a while passes in which every block that
// has begun waits and none changes memory, none ever will: that is said, with the place.
//
// Rejected: a thread or a stack of its own for every block. Blocks are data here, so setting one
// aside is putting it into a queue.
#include "vgpu/exec/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "swizzleperf/error.h"

namespace swizzleperf::vgpu {
namespace {

constexpr std::size_t kResidentBytes = std::size_t{2} << 30;  // of blocks that have begun

struct Resident {
  BlockRun run;
  std::uint64_t block = 0;
  bool begun = false;
  bool waited = false;  ///< its last turn ended in a waiting loop
};

class Grid {
 public:
  Grid(const Program& program, const Launch& launch, const DeviceMemory& memory,
       const std::vector<Allocation>& own_memory, const GridOptions& options)
      : program_(program),
        launch_(launch),
        memory_(memory),
        own_memory_(own_memory),
        options_(options),
        blocks_(launch.grid.count()) {}

  void run() {
    std::vector<std::thread> helpers;
    const auto wanted = std::min<std::uint64_t>(std::max(options_.threads, 1U), blocks_);
    for (std::uint64_t k = 1; k < wanted; ++k) helpers.emplace_back([this] { work(); });
    work();
    for (std::thread& helper : helpers) helper.join();
    std::fflush(stdout);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  using Slot = std::unique_ptr<Resident>;

  void work() {
    for (Slot slot = take(); slot != nullptr; slot = take()) {
      const std::uint64_t block = slot->block;
      try {
        if (options_.observer != nullptr) options_.observer->turn(block);
        if (!slot->begun) begin(*slot);
        const std::uint64_t before = slot->run.effects;
        const BlockState state = continue_block(slot->run);
        put_back(std::move(slot), state, before);
      } catch (...) {
        fail(block);
      }
    }
  }

  /// The next block to run; null when there is nothing left to do for this thread.
  Slot take() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (failure_ != nullptr || finished_ == blocks_) return nullptr;
      const bool fresh = next_ < blocks_ && resident_ < most_resident_;
      if (fresh && (ready_.empty() || prefer_fresh_)) return next_block();
      if (!ready_.empty()) {
        Slot slot = std::move(ready_.front());
        ready_.pop_front();
        working_ += slot->waited ? 0 : 1;
        ++running_;
        return slot;
      }
      if (running_ == 0) {
        meet();
        continue;
      }
      changed_.wait(lock);
    }
  }

  /// Called under the lock.
  Slot next_block() {
    Slot slot;
    if (!idle_.empty()) {
      slot = std::move(idle_.back());
      idle_.pop_back();
    } else {
      slot = std::make_unique<Resident>();
    }
    slot->block = next_++;
    slot->begun = slot->waited = false;
    prefer_fresh_ = false;
    quiet_turns_ = 0;
    ++resident_;
    ++running_;
    ++working_;
    return slot;
  }

  void begin(Resident& slot) {
    if (slot.run.launch == nullptr) {
      attach(slot.run, program_, launch_, memory_, own_memory_);
      const std::scoped_lock lock(mutex_);
      most_resident_ = std::max<std::uint64_t>(kResidentBytes / footprint(slot.run),
                                               2 * std::uint64_t{std::max(options_.threads, 1U)});
    }
    slot.begun = true;
    BlockRecorder* const recorder = options_.recorder ? options_.recorder(slot.block) : nullptr;
    start_block(slot.run, unlinear(slot.block, launch_.grid), recorder, options_.observer);
  }

  /// All blocks that have begun are at the barrier of the grid. Called under the lock.
  void meet() {
    if (next_ < blocks_) {
      failure_ = std::make_exception_ptr(input_error(
          fmt::format("kernel {}: a barrier of the grid needs all {} blocks at once, and the "
                      "virtual GPU has room for {} of this size: give a smaller grid",
                      program_.kernel, blocks_, most_resident_)));
      changed_.notify_all();
      return;
    }
    std::sort(at_barrier_.begin(), at_barrier_.end(),
              [](const Slot& a, const Slot& b) { return a->block < b->block; });
    for (Slot& slot : at_barrier_) {
      pass_grid_barrier(slot->run);
      ready_.push_back(std::move(slot));
    }
    at_barrier_.clear();
    quiet_turns_ = 0;
    changed_.notify_all();
  }

  void put_back(Slot slot, BlockState state, std::uint64_t effects_before) {
    const bool done = state == BlockState::kDone;
    if (done && options_.finished) options_.finished(slot->block);
    if (done && options_.observer != nullptr) options_.observer->ended();
    const std::scoped_lock lock(mutex_);
    --running_;
    working_ -= slot->waited ? 0 : 1;
    const bool quiet = state == BlockState::kWaits && slot->run.effects == effects_before;
    if (!quiet) quiet_turns_ = 0;
    if (quiet && working_ == 0 && ++quiet_turns_ > quiet_limit()) {
      failure_ = std::make_exception_ptr(waits_for_ever(slot->run));
    } else if (done) {
      print(slot->block, std::move(slot->run.text));
      ++finished_;
      --resident_;
      idle_.push_back(std::move(slot));
    } else {
      slot->waited = state == BlockState::kWaits;
      prefer_fresh_ = true;
      if (slot->waited)
        ready_.push_back(std::move(slot));
      else
        at_barrier_.push_back(std::move(slot));
    }
    changed_.notify_all();
  }

  /// So many turns that every block that has begun had several.
  [[nodiscard]] std::uint64_t quiet_limit() const { return 1000 + 20 * resident_; }

  void fail(std::uint64_t block) {
    const std::scoped_lock lock(mutex_);
    if (block < failed_block_) {
      failed_block_ = block;
      failure_ = std::current_exception();
    }
    --running_;
    changed_.notify_all();
  }

  /// Texts in the order of blocks, as soon as those before have ended. Called under the lock.
  void print(std::uint64_t block, std::string text) {
    if (block != next_to_print_) {
      texts_.emplace(block, std::move(text));
      return;
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    ++next_to_print_;
    for (auto it = texts_.begin(); it != texts_.end() && it->first == next_to_print_;
         it = texts_.erase(it), ++next_to_print_)
      std::fwrite(it->second.data(), 1, it->second.size(), stdout);
  }

  static std::size_t footprint(const BlockRun& run) {
    return sizeof run + run.registers.size() + run.lds.size() + run.private_memory.size() +
           run.pending.size() * sizeof run.pending[0] + run.sites.size() * sizeof run.sites[0];
  }

  const Program& program_;
  const Launch& launch_;
  const DeviceMemory& memory_;
  const std::vector<Allocation>& own_memory_;
  const GridOptions& options_;
  const std::uint64_t blocks_;

  std::mutex mutex_;  // over everything below
  std::condition_variable changed_;
  std::uint64_t next_ = 0;           // block that begins next
  std::uint64_t resident_ = 0;       // that have begun and not ended
  std::uint64_t most_resident_ = 1;  // known better after the first
  std::uint64_t running_ = 0;        // on a thread
  std::uint64_t working_ = 0;        // of those, that were not waiting when last seen
  std::uint64_t finished_ = 0;
  std::uint64_t quiet_turns_ = 0;  // since anything happened
  bool prefer_fresh_ = false;      // over those set aside: one of each in turn
  std::deque<Slot> ready_;
  std::vector<Slot> at_barrier_;
  std::vector<Slot> idle_;
  std::uint64_t next_to_print_ = 0;
  std::map<std::uint64_t, std::string> texts_;
  std::uint64_t failed_block_ = ~std::uint64_t{0};
  std::exception_ptr failure_;
};

}  // namespace

void run_grid(const Program& program, const Launch& launch, const DeviceMemory& memory,
              const std::vector<Allocation>& own_memory, const GridOptions& options) {
  Grid(program, launch, memory, own_memory, options).run();
}

}  // namespace swizzleperf::vgpu
