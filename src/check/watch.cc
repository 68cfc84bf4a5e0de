// See watch.h.
#include "check/watch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/random.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

constexpr std::size_t kExamples = 8;

const std::byte* at(std::uint64_t address) {
  return reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) { return mix64(hash ^ value) + value; }

/// Bytes of one pair of blocks.
struct PairSum {
  std::uint64_t first_address = 0;
  std::uint64_t bytes = 0;

  void add(std::uint64_t begin, std::uint64_t end) {
    if (bytes == 0) first_address = begin;
    bytes += end - begin;
  }
};

struct OverlapKey {
  std::uint32_t other;
  std::uint32_t other_line;
  std::uint32_t line;
  auto operator<=>(const OverlapKey&) const = default;
};
using OverlapSums = std::map<OverlapKey, PairSum>;

/// The buffer around an address, or one that says that there is none.
Stretch stretch_at(const std::vector<Buffer>& buffers, std::uint64_t address, std::uint64_t bytes) {
  const auto after = std::upper_bound(buffers.begin(), buffers.end(), address,
                                      [](std::uint64_t a, const Buffer& b) { return a < b.base; });
  if (after == buffers.begin() || address - (after - 1)->base >= (after - 1)->bytes)
    return {"a device variable", 0, bytes};
  return {(after - 1)->name, address - (after - 1)->base, bytes};
}

}  // namespace

// Which blocks an atomic has told a block to be done. A block that uses the value an atomic
// returned knows of the blocks that had been at the same word before: whatever those wrote before
// they went there may be read without waiting. That is how the last of several blocks adds up what
// the others left (split-K, reductions). A block's atomics are numbered; what it writes carries the
// number of those it had done (its epoch), so a write with epoch e was announced by its atomics
// number e and later.
class LaunchWatch::Atomics {
 public:
  /// One block's side of it.
  struct Block {
    struct Heard {
      std::uint64_t word;
      std::size_t visits;  ///< how many there had been
    };
    std::uint32_t epoch = 0;
    std::vector<Heard> heard;
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known;  ///< answers of heard_of
  };

  void update(Block& mine, std::uint32_t block, std::uint64_t word, bool returns) {
    if (visits_ == kMost) return;
    std::vector<Visit>& visits = words_[word];
    if (returns) mine.heard.push_back({word, visits.size()});
    visits.push_back({block, mine.epoch});
    ++visits_;
  }
  void next(Block& mine) const {
    if (visits_ < kMost) ++mine.epoch;
    mine.known.clear();
  }

  /// Has the block heard of what `other` wrote in `epoch`?
  bool heard_of(Block& mine, std::uint32_t other, std::uint32_t epoch) const {
    if (mine.heard.empty()) return false;
    const auto [known, fresh] = mine.known.try_emplace({other, epoch});
    if (!fresh) return known->second;
    known->second = std::any_of(mine.heard.begin(), mine.heard.end(), [&](const auto& h) {
      const std::vector<Visit>& visits = words_.at(h.word);
      return std::any_of(visits.begin(), visits.begin() + static_cast<std::ptrdiff_t>(h.visits),
                         [&](const Visit& v) { return v.block == other && v.number >= epoch; });
    });
    return known->second;
  }

  [[nodiscard]] std::uint64_t memory_bytes() const {
    return visits_ * sizeof(Visit) + words_.size() * 64;
  }

 private:
  static constexpr std::uint64_t kMost = 1 << 22;  // visits remembered; what follows is not
  struct Visit {
    std::uint32_t block;
    std::uint32_t number;  ///< of the block's atomics
  };
  std::unordered_map<std::uint64_t, std::vector<Visit>> words_;
  std::uint64_t visits_ = 0;
};

/// A block that runs.
struct LaunchWatch::Block {
  /// Bytes of another block that this one stored over, as they were.
  struct Covered {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t old_tag;
    std::uint32_t line;
    std::size_t saved;  ///< index into saved_bytes
  };
  struct PendingRead {
    std::uint64_t end;
    std::uint32_t tag;  ///< the writer's
    std::uint32_t line;
    bool ordered;
  };

  std::uint32_t number = 0;
  std::uint64_t accesses = 0;
  std::uint64_t own_bytes = 0;  ///< stored where no other block had stored
  std::uint64_t work = 0;       ///< hash of its accesses
  bool drew_ticket = false;
  Atomics::Block atomics;
  std::map<std::pair<std::uint64_t, bool>, std::uint32_t> write_tags;  ///< by epoch and line
  std::map<std::uint32_t, std::uint32_t> read_tags;                    ///< by line
  std::vector<Covered> covered;
  std::vector<std::byte> saved_bytes;
  std::map<std::uint64_t, PendingRead> pending_reads;  ///< by begin; disjoint
  std::map<MeetingKey, PairSum> meetings;
};

LaunchWatch::LaunchWatch(bool values) : values_(values), atomics_(std::make_unique<Atomics>()) {}
LaunchWatch::~LaunchWatch() = default;

// ---- one block ---------------------------------------------------------------------------------

void LaunchWatch::turn(std::uint64_t block) {
  const auto number = static_cast<std::uint32_t>(block);
  std::unique_ptr<Block>& running = running_[number];
  if (!running) {
    running = std::make_unique<Block>();
    running->number = number;
    if (work_.size() <= block) work_.resize(block + 1);
  }
  now_ = running.get();
}

void LaunchWatch::does(std::uint64_t what) { now_->work = mixed(now_->work, what); }

void LaunchWatch::access(const WatchedAccess& access) {
  ++now_->accesses;
  does(static_cast<std::uint64_t>(access.kind));
  for (const Range& range : access.ranges) {
    does(range.begin);
    does(range.end);
  }
  switch (access.kind) {
    case AccessKind::kLoad:
      return load(access);
    case AccessKind::kStore:
      return access.atomic ? update(access) : store(access);
    case AccessKind::kAtomic:
      return update(access);
  }
}

bool LaunchWatch::foreign(std::uint32_t tag) const {
  return tag != ByteMap::kNone && tags_[tag].block != now_->number;
}

std::uint32_t LaunchWatch::new_tag(const Tag& tag) {
  if (tags_.size() > ByteMap::kMost)
    throw input_error("the launch has too many blocks to be checked; give it a smaller problem");
  tags_.push_back(tag);
  return static_cast<std::uint32_t>(tags_.size() - 1);
}

std::uint32_t LaunchWatch::write_tag(const WatchedAccess& access) {
  const bool atomic = access.atomic || access.kind == AccessKind::kAtomic;
  const std::uint32_t epoch = now_->atomics.epoch;
  const auto [known, fresh] =
      now_->write_tags.try_emplace({std::uint64_t{epoch} << 32 | access.line, atomic});
  if (fresh) known->second = new_tag({now_->number, access.line, epoch, atomic});
  return known->second;
}

std::uint32_t LaunchWatch::read_tag(std::uint32_t line) {
  const auto [known, fresh] = now_->read_tags.try_emplace(line);
  if (fresh) known->second = new_tag({now_->number, line, 0, false});
  return known->second;
}

void LaunchWatch::meet(const MeetingKey& key, std::uint64_t begin, std::uint64_t end) {
  now_->meetings[key].add(begin, end);
}

void LaunchWatch::load(const WatchedAccess& access) {
  for (const Range& range : access.ranges) {
    writers_.visit(range.begin, range.end,
                   [&](std::uint64_t begin, std::uint64_t end, std::uint32_t tag) {
                     if (foreign(tag)) note_read(begin, end, tag, access.line);
                   });
    readers_.fill(range.begin, range.end, [&] { return read_tag(access.line); });
  }
}

/// A read of another block's bytes counts at the block's end, unless it turns out to be part of an
/// atomic update.
void LaunchWatch::note_read(std::uint64_t begin, std::uint64_t end, std::uint32_t tag,
                            std::uint32_t line) {
  constexpr std::size_t kMostPending = 1 << 16;
  const Tag& writer = tags_[tag];
  const bool ordered = atomics_->heard_of(now_->atomics, writer.block, writer.epoch);
  if (now_->pending_reads.size() < kMostPending) {
    forget_reads(begin, end);  // read before: each byte counts once
    now_->pending_reads.try_emplace(begin, Block::PendingRead{end, tag, line, ordered});
  } else {
    meet({writer.block, writer.line, line, false, ordered}, begin, end);
  }
}

void LaunchWatch::forget_reads(std::uint64_t begin, std::uint64_t end) {
  auto it = now_->pending_reads.upper_bound(begin);
  if (it != now_->pending_reads.begin()) --it;
  while (it != now_->pending_reads.end() && it->first < end) {
    const auto [from, read] = *it;
    if (read.end <= begin) {
      ++it;
      continue;
    }
    it = now_->pending_reads.erase(it);
    Block::PendingRead rest = read;
    if (read.end > end) it = now_->pending_reads.emplace(end, rest).first;
    rest.end = begin;
    if (from < begin) now_->pending_reads.emplace(from, rest);
  }
}

/// The same for the reads of the current block that others would be checked against.
void LaunchWatch::forget_own_reads(std::uint64_t begin, std::uint64_t end) {
  std::vector<Range> own;
  readers_.visit(begin, end, [&](std::uint64_t from, std::uint64_t to, std::uint32_t tag) {
    if (tag != ByteMap::kNone && tags_[tag].block == now_->number) own.push_back({from, to});
  });
  for (const Range& range : own)
    readers_.replace(range.begin, range.end, ByteMap::kNone, [](auto, auto, auto) {});
}

/// The current block writes what another one may have read before.
void LaunchWatch::note_hazard(std::uint64_t begin, std::uint64_t end, std::uint32_t line) {
  readers_.visit(begin, end, [&](std::uint64_t from, std::uint64_t to, std::uint32_t tag) {
    if (!foreign(tag)) return;
    meet({tags_[tag].block, tags_[tag].line, line, true, false}, from, to);
  });
}

void LaunchWatch::store(const WatchedAccess& access) {
  const std::uint32_t tag = write_tag(access);
  for (const Range& range : access.ranges) {
    writers_.replace(
        range.begin, range.end, tag,
        [&](std::uint64_t begin, std::uint64_t end, std::uint32_t old) {
          if (old == ByteMap::kNone) {
            now_->own_bytes += end - begin;
            note_hazard(begin, end, access.line);
          } else if (foreign(old)) {
            now_->covered.push_back({begin, end, old, access.line, now_->saved_bytes.size()});
            if (values_) now_->saved_bytes.insert(now_->saved_bytes.end(), at(begin), at(end));
          }
        });
  }
}

void LaunchWatch::update(const WatchedAccess& access) {
  const std::uint32_t tag = write_tag(access);
  for (const Range& range : access.ranges) {
    forget_reads(range.begin, range.end);  // what was read in front of it was part of it
    writers_.replace(range.begin, range.end, tag,
                     [&](std::uint64_t begin, std::uint64_t end, std::uint32_t old) {
                       if (old == ByteMap::kNone) {
                         forget_own_reads(begin, end);
                         note_hazard(begin, end, access.line);
                       } else if (foreign(old) && tags_[old].atomic) {
                         now_->drew_ticket |= access.returns;
                       } else if (foreign(old) && access.kind == AccessKind::kAtomic) {
                         const Tag& writer = tags_[old];
                         const bool ordered =
                             atomics_->heard_of(now_->atomics, writer.block, writer.epoch);
                         meet({writer.block, writer.line, access.line, false, ordered}, begin, end);
                       }
                     });
    atomics_->update(now_->atomics, now_->number, range.begin, access.returns);
  }
  atomics_->next(now_->atomics);
}

// ---- the end of a block ------------------------------------------------------------------------

void LaunchWatch::add(Sum& sum, const Example& example) {
  sum.bytes += example.bytes;
  if (sum.examples.size() < kExamples) sum.examples.push_back(example);
}

/// Does the block make the accesses of the block whose bytes it stored over?
bool LaunchWatch::repeats_another() const {
  return now_->own_bytes == 0 && !now_->covered.empty() &&
         work_[tags_[now_->covered.front().old_tag].block] == now_->work;
}

void LaunchWatch::settle_overlaps(bool repeated) {
  OverlapSums same;
  OverlapSums different;
  for (const Block::Covered& c : now_->covered) {
    const Tag& old = tags_[c.old_tag];
    const bool equal = !values_ || std::memcmp(at(c.begin), now_->saved_bytes.data() + c.saved,
                                               c.end - c.begin) == 0;
    (equal ? same : different)[{old.block, old.line, c.line}].add(c.begin, c.end);
  }
  if (repeated) {
    std::uint64_t bytes = 0;
    for (const Block::Covered& c : now_->covered) bytes += c.end - c.begin;
    const Block::Covered& c = now_->covered.front();
    add(repeated_,
        {tags_[c.old_tag].block, now_->number, tags_[c.old_tag].line, c.line, c.begin, bytes});
    ++repeated_.blocks;
    return;
  }
  for (auto [sums, total] : {std::pair{&same, &same_}, std::pair{&different, &different_}}) {
    for (const auto& [key, sum] : *sums)
      add(*total,
          {key.other, now_->number, key.other_line, key.line, sum.first_address, sum.bytes});
    total->blocks += sums->empty() ? 0 : 1;
  }
  if (now_->own_bytes == 0 && different.empty() && !same.empty()) ++without_own_bytes_;
}

/// What a repeated block reads of the block that it repeats says nothing new.
void LaunchWatch::settle_meetings(bool repeated) {
  for (const auto& [begin, read] : now_->pending_reads) {
    const Tag& writer = tags_[read.tag];
    meet({writer.block, writer.line, read.line, false, read.ordered}, begin, read.end);
  }
  std::set<std::uint32_t> met;
  std::set<std::uint32_t> met_ordered;
  for (const auto& [key, sum] : now_->meetings) {
    if (repeated && work_[key.other] == now_->work) continue;
    Sum& total = key.ordered ? ordered_ : communication_;
    (key.ordered ? met_ordered : met).insert(key.other);
    if (key.overwritten) {
      add(total,
          {now_->number, key.other, key.line, key.other_line, sum.first_address, sum.bytes, true});
    } else {
      add(total, {key.other, now_->number, key.other_line, key.line, sum.first_address, sum.bytes});
    }
  }
  for (auto [others, total] :
       {std::pair{&met, &communication_}, std::pair{&met_ordered, &ordered_}}) {
    total->blocks += others->empty() ? 0 : 1;
    total->pairs += others->size();
  }
}

void LaunchWatch::end() {
  const bool repeated = repeats_another();
  std::uint64_t stored = now_->own_bytes;
  for (const Block::Covered& c : now_->covered) stored += c.end - c.begin;
  if (stored > 0) ++blocks_by_bytes_[stored];
  settle_overlaps(repeated);
  settle_meetings(repeated);
  ticket_blocks_ += now_->drew_ticket ? 1 : 0;
  longest_block_ = std::max(longest_block_, now_->accesses);
  work_[now_->number] = now_->work;
  running_.erase(now_->number);
  now_ = nullptr;
}

// ---- all blocks --------------------------------------------------------------------------------

void LaunchWatch::finish(const std::vector<SourceLine>& lines, LaunchFindings& f) const {
  const auto overlaps = [&](const Sum& sum) {
    Overlaps result{sum.bytes, sum.blocks, {}};
    for (const Example& e : sum.examples)
      result.examples.push_back({e.first, e.second, stretch_at(f.buffers, e.address, e.bytes),
                                 lines[e.first_line], lines[e.second_line]});
    return result;
  };
  const auto meetings = [&](const Sum& sum) {
    Meetings result{sum.blocks, sum.pairs, sum.bytes, {}};
    for (const Example& e : sum.examples)
      result.examples.push_back({e.first,
                                 e.second,
                                 stretch_at(f.buffers, e.address, e.bytes),
                                 lines[e.first_line],
                                 lines[e.second_line],
                                 e.overwritten,
                                 {}});
    return result;
  };
  f.repeated = overlaps(repeated_);
  f.different = overlaps(different_);
  f.same = overlaps(same_);
  f.blocks_without_own_bytes = without_own_bytes_;
  f.communication = meetings(communication_);
  f.ordered = meetings(ordered_);
  f.ticket_blocks = ticket_blocks_;

  std::uint64_t blocks = 0;
  std::uint64_t most = 0;
  for (const auto& [bytes, count] : blocks_by_bytes_) {
    blocks += count;
    if (count < most || (count == most && bytes < f.bytes_of_block)) continue;
    most = count;
    f.bytes_of_block = bytes;
  }
  if (2 * most <= blocks) f.bytes_of_block = 0;

  writers_.for_all([&](std::uint64_t begin, std::uint64_t end, std::uint32_t tag) {
    const Tag& writer = tags_[tag];
    if (writer.atomic) f.atomic_bytes += end - begin;
    if (!f.written.empty() && f.written.back().end == begin &&
        f.written.back().block == writer.block) {
      f.written.back().end = end;
    } else {
      f.written.push_back({begin, end, writer.block});
    }
  });
  f.bookkeeping_bytes = writers_.memory_bytes() + readers_.memory_bytes() +
                        tags_.size() * sizeof(Tag) + work_.size() * sizeof work_[0] +
                        atomics_->memory_bytes();
}

}  // namespace swizzleperf
