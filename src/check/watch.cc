// See watch.h.
#include "check/watch.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

constexpr std::size_t kExamples = 8;

const std::byte* at(std::uint64_t address) {
  return reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) { return mix64(hash ^ value) + value; }

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
  void begin() {
    done_ = 0;
    heard_.clear();
    known_.clear();
  }
  [[nodiscard]] std::uint32_t epoch() const { return done_; }

  void update(std::uint64_t word, std::uint32_t block, bool returns) {
    if (visits_ == kMost) return;
    std::vector<Visit>& visits = words_[word];
    if (returns) heard_.push_back({word, visits.size()});
    visits.push_back({block, done_});
    ++visits_;
  }
  void next() {
    if (visits_ < kMost) ++done_;
    known_.clear();
  }

  /// Has the current block heard of what `block` wrote in `epoch`?
  [[nodiscard]] bool heard_of(std::uint32_t block, std::uint32_t epoch) {
    if (heard_.empty()) return false;
    const auto [known, fresh] = known_.try_emplace({block, epoch});
    if (!fresh) return known->second;
    known->second = std::any_of(heard_.begin(), heard_.end(), [&](const Heard& h) {
      const std::vector<Visit>& visits = words_.at(h.word);
      return std::any_of(visits.begin(), visits.begin() + static_cast<std::ptrdiff_t>(h.visits),
                         [&](const Visit& v) { return v.block == block && v.number >= epoch; });
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
  struct Heard {
    std::uint64_t word;
    std::size_t visits;  ///< how many there had been
  };
  std::unordered_map<std::uint64_t, std::vector<Visit>> words_;
  std::vector<Heard> heard_;                                       // of the current block
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known_;  // answers of heard_of
  std::uint32_t done_ = 0;
  std::uint64_t visits_ = 0;
};

LaunchWatch::LaunchWatch(bool values) : values_(values), atomics_(std::make_unique<Atomics>()) {}
LaunchWatch::~LaunchWatch() = default;

// ---- one block ---------------------------------------------------------------------------------

void LaunchWatch::begin(std::uint64_t block) {
  block_ = static_cast<std::uint32_t>(block);
  events_ = 0;
  own_bytes_ = 0;
  hash_ = 0;
  drew_ticket_ = false;
  write_tags_.clear();
  read_tags_.clear();
  covered_.clear();
  saved_bytes_.clear();
  pending_reads_.clear();
  meetings_.clear();
  atomics_->begin();
}

void LaunchWatch::access(const WatchedAccess& access) {
  ++events_;
  hash_ = mixed(hash_, static_cast<std::uint64_t>(access.kind));
  for (const Range& range : access.ranges) hash_ = mixed(mixed(hash_, range.begin), range.end);
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
  return tag != ByteMap::kNone && tags_[tag].block != block_;
}

std::uint32_t LaunchWatch::new_tag(const Tag& tag) {
  if (tags_.size() > ByteMap::kMost)
    throw input_error("the launch has too many blocks to be checked; give it a smaller problem");
  tags_.push_back(tag);
  return static_cast<std::uint32_t>(tags_.size() - 1);
}

std::uint32_t LaunchWatch::write_tag(const WatchedAccess& access) {
  const bool atomic = access.atomic || access.kind == AccessKind::kAtomic;
  const std::uint32_t epoch = atomics_->epoch();
  const auto [known, fresh] =
      write_tags_.try_emplace({std::uint64_t{epoch} << 32 | access.line, atomic});
  if (fresh) known->second = new_tag({block_, access.line, epoch, atomic});
  return known->second;
}

std::uint32_t LaunchWatch::read_tag(std::uint32_t line) {
  const auto [known, fresh] = read_tags_.try_emplace(line);
  if (fresh) known->second = new_tag({block_, line, 0, false});
  return known->second;
}

void LaunchWatch::meet(const MeetingKey& key, std::uint64_t begin, std::uint64_t end) {
  count(meetings_[key], begin, end);
}

void LaunchWatch::count(PairSum& sum, std::uint64_t begin, std::uint64_t end) {
  if (sum.bytes == 0) sum.first_address = begin;
  sum.bytes += end - begin;
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
  const bool ordered = atomics_->heard_of(writer.block, writer.epoch);
  if (pending_reads_.size() < kMostPending) {
    forget_reads(begin, end);  // read before: each byte counts once
    pending_reads_.try_emplace(begin, PendingRead{end, tag, line, ordered});
  } else {
    meet({writer.block, writer.line, line, false, ordered}, begin, end);
  }
}

void LaunchWatch::forget_reads(std::uint64_t begin, std::uint64_t end) {
  auto it = pending_reads_.upper_bound(begin);
  if (it != pending_reads_.begin()) --it;
  while (it != pending_reads_.end() && it->first < end) {
    const auto [from, read] = *it;
    if (read.end <= begin) {
      ++it;
      continue;
    }
    it = pending_reads_.erase(it);
    PendingRead rest = read;
    if (read.end > end) it = pending_reads_.emplace(end, rest).first;
    rest.end = begin;
    if (from < begin) pending_reads_.emplace(from, rest);
  }
}

/// The same for the reads of the current block that others would be checked against.
void LaunchWatch::forget_own_reads(std::uint64_t begin, std::uint64_t end) {
  std::vector<Range> own;
  readers_.visit(begin, end, [&](std::uint64_t from, std::uint64_t to, std::uint32_t tag) {
    if (tag != ByteMap::kNone && tags_[tag].block == block_) own.push_back({from, to});
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
    writers_.replace(range.begin, range.end, tag,
                     [&](std::uint64_t begin, std::uint64_t end, std::uint32_t old) {
                       if (old == ByteMap::kNone) {
                         own_bytes_ += end - begin;
                         note_hazard(begin, end, access.line);
                       } else if (foreign(old)) {
                         covered_.push_back({begin, end, old, access.line, saved_bytes_.size()});
                         if (values_) saved_bytes_.insert(saved_bytes_.end(), at(begin), at(end));
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
                         drew_ticket_ |= access.returns;
                       } else if (foreign(old) && access.kind == AccessKind::kAtomic) {
                         const Tag& writer = tags_[old];
                         const bool ordered = atomics_->heard_of(writer.block, writer.epoch);
                         meet({writer.block, writer.line, access.line, false, ordered}, begin, end);
                       }
                     });
    atomics_->update(range.begin, block_, access.returns);
  }
  atomics_->next();
}

// ---- the end of a block ------------------------------------------------------------------------

void LaunchWatch::add(Sum& sum, const Example& example) {
  sum.bytes += example.bytes;
  ++sum.pairs;
  if (sum.examples.size() < kExamples) sum.examples.push_back(example);
}

/// Does the block make the accesses of the block whose bytes it stored over?
bool LaunchWatch::repeats_another() const {
  return own_bytes_ == 0 && !covered_.empty() &&
         work_[tags_[covered_.front().old_tag].block] == hash_;
}

void LaunchWatch::settle_overlaps(bool repeated) {
  OverlapSums same;
  OverlapSums different;
  for (const Covered& c : covered_) {
    const Tag& old = tags_[c.old_tag];
    const bool equal =
        !values_ || std::memcmp(at(c.begin), saved_bytes_.data() + c.saved, c.end - c.begin) == 0;
    count((equal ? same : different)[{old.block, old.line, c.line}], c.begin, c.end);
  }
  if (repeated) {
    std::uint64_t bytes = 0;
    for (const Covered& c : covered_) bytes += c.end - c.begin;
    const Covered& c = covered_.front();
    add(repeated_, {tags_[c.old_tag].block, block_, tags_[c.old_tag].line, c.line, c.begin, bytes});
    ++repeated_.blocks;
    return;
  }
  for (auto [sums, total] : {std::pair{&same, &same_}, std::pair{&different, &different_}}) {
    for (const auto& [key, sum] : *sums)
      add(*total, {key.other, block_, key.other_line, key.line, sum.first_address, sum.bytes});
    total->blocks += sums->empty() ? 0 : 1;
  }
  if (own_bytes_ == 0 && different.empty() && !same.empty()) ++without_own_bytes_;
}

/// What a repeated block reads of the block that it repeats says nothing new.
void LaunchWatch::settle_meetings(bool repeated) {
  for (const auto& [begin, read] : pending_reads_) {
    const Tag& writer = tags_[read.tag];
    meet({writer.block, writer.line, read.line, false, read.ordered}, begin, read.end);
  }
  bool reads = false;
  bool reads_ordered = false;
  for (const auto& [key, sum] : meetings_) {
    if (repeated && work_[key.other] == hash_) continue;
    Sum& total = key.ordered ? ordered_ : communication_;
    (key.ordered ? reads_ordered : reads) = true;
    if (key.overwritten) {
      add(total, {block_, key.other, key.line, key.other_line, sum.first_address, sum.bytes, true});
    } else {
      add(total, {key.other, block_, key.other_line, key.line, sum.first_address, sum.bytes});
    }
  }
  communication_.blocks += reads ? 1 : 0;
  ordered_.blocks += reads_ordered ? 1 : 0;
}

void LaunchWatch::end() {
  const bool repeated = repeats_another();
  if (work_.size() <= block_) work_.resize(block_ + std::size_t{1});
  work_[block_] = hash_;
  std::uint64_t stored = own_bytes_;
  for (const Covered& c : covered_) stored += c.end - c.begin;
  if (stored > 0) ++blocks_by_bytes_[stored];
  settle_overlaps(repeated);
  settle_meetings(repeated);
  ticket_blocks_ += drew_ticket_ ? 1 : 0;
  longest_block_ = std::max(longest_block_, events_);
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
