// Misses told apart; the classes are defined in swizzleperf/classify.h. The four caches contain
// each other, so with missed(X) = units that would miss had the line also the sectors X,
//
//     missed(any die's) <= missed(this die's) <= missed(associative) <= missed(nothing more)
//
// and the differences are the classes. Nearly every request finds all its sectors in the fully
// associative cache, which proves it in the endless ones too: those are bytes of a table, one for
// each line and die, that only the others look at.
#include "swizzleperf/classify.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cachesim/associative.h"
#include "cachesim/core.h"
#include "swizzleperf/error.h"

namespace swizzleperf {

std::string_view miss_class_name(MissClass c) {
  static constexpr std::array<std::string_view, kMissClasses> kNames = {"compulsory", "sharing",
                                                                        "capacity", "conflict"};
  return kNames[static_cast<std::size_t>(c)];
}

namespace cachesim {
namespace {

/// Lines moved apart by paddings.
struct Padded {
  struct Array {
    std::uint32_t first = 0;   // its first line
    std::uint32_t stride = 1;  // lines
    std::uint32_t pad = 0;
    std::uint32_t shift = 0;  // what the arrays before it grew by
  };
  const Array* arrays = nullptr;

  std::uint32_t operator()(std::uint32_t line, std::uint16_t buffer) const {
    const Array& a = arrays[buffer];
    return line + a.shift + (line - a.first) / a.stride * a.pad;
  }
};

/// Sees the look-ups of one replay.
class Classifier {
 public:
  Classifier(const Prepared& p, std::uint32_t num_lines)
      : units_(p.units),
        homes_(p.machine.lines_have_home != 0),
        columns_(p.machine.dies + 1),
        asked_(std::size_t{num_lines} * columns_),
        associative_(p.machine.dies, AssociativeCache(p.l2_set.sets() * p.machine.l2.ways)),
        arrays_(p.lines.buffers.size()) {}

  template <typename Origin>
  void look_up(std::uint32_t die, AccessKind kind, std::uint8_t sectors, std::uint8_t before,
               const Origin& origin) {
    push({origin.line, origin(), static_cast<std::uint8_t>(die), kind, sectors, before, 0, true});
  }

  template <typename Origin>
  void besides(std::uint32_t die, std::uint8_t sectors, const Origin& origin) {
    push({origin.line, origin(), static_cast<std::uint8_t>(die), AccessKind::kLoad, sectors, 0, 0,
          false});
  }

  /// After the last look-up.
  void report(Classified& out) {
    run_batch();
    out.arrays = arrays_;
    out.associative_misses = static_cast<double>(associative_misses_);
    out.written_bytes = static_cast<double>(written_sectors_) * kSectorBytes;
  }

 private:
  using ByClass = std::array<MissTally, kMissClasses>;

  struct Seen {
    std::uint8_t by_any;
    std::uint8_t by_die;
  };

  struct LookUp {
    std::uint32_t line;
    std::uint16_t buffer;
    std::uint8_t die;
    AccessKind kind;
    std::uint8_t sectors;
    std::uint8_t before;  // sectors that the real cache had
    std::uint8_t held;    // and those of the associative one
    bool counts;          // else sectors that merely come
  };
  static constexpr std::uint32_t kBatch = 64;

  static bool stores(const LookUp& l) { return l.kind != AccessKind::kLoad; }
  static bool must_ask(const LookUp& l) { return (l.sectors & ~l.held) != 0 || stores(l); }

  void push(const LookUp& l) {
    associative_[l.die].prefetch(l.line);
    waiting_[num_waiting_++] = l;
    if (num_waiting_ == kBatch) run_batch();
  }

  /// Look-ups wait for a while, since what they touch is far from the host's caches.
  void run_batch() {
    for (std::uint32_t i = 0; i < num_waiting_; ++i) {
      LookUp& l = waiting_[i];
      l.held = associative_[l.die].access(l.line, l.sectors);
      if (must_ask(l)) __builtin_prefetch(asked_.data() + std::size_t{l.line} * columns_);
    }
    for (std::uint32_t i = 0; i < num_waiting_; ++i) classify(waiting_[i]);
    num_waiting_ = 0;
  }

  void classify(const LookUp& l) {
    Seen seen = {l.held, l.held};
    if (must_ask(l)) {
      seen = ask(l);
      if (l.counts) associative_misses_ += units_.missed(l.kind, l.sectors, l.held);
    }
    if (!l.counts) return;
    arrays_[l.buffer].requests += units_.of(l.kind, l.sectors);
    if (units_.missed(l.kind, l.sectors, l.before) != 0) {
      add(arrays_[l.buffer].by_class, l, {seen.by_any, seen.by_die, l.held, 0});
    }
  }

  /// Sectors of a line that were asked for before, and notes that these are.
  Seen ask(const LookUp& l) {
    std::uint8_t* dies = asked_.data() + std::size_t{l.line} * columns_;
    std::uint8_t& device =
        dies[columns_ - 1];  // asked for in the low half, written in the high one
    const Seen seen = {static_cast<std::uint8_t>(device & 15U), dies[l.die]};
    if (stores(l)) {
      const auto written = static_cast<std::uint8_t>(l.sectors << 4);
      written_sectors_ += std::popcount(static_cast<std::uint8_t>(written & ~device));
      device |= written;
    }
    dies[l.die] |= l.sectors;
    device |= l.sectors;
    return seen;
  }

  [[nodiscard]] std::uint32_t fetched_bytes(std::uint32_t missing) const {
    return units_.bytes[homes_ ? units_.fill[missing] : missing];
  }

  void add(ByClass& by_class, const LookUp& l,
           const std::array<std::uint8_t, kMissClasses>& caches) {
    std::uint32_t units = 0;
    std::uint32_t bytes = 0;
    for (std::size_t c = 0; c < kMissClasses; ++c) {
      const auto present = static_cast<std::uint8_t>(l.before | caches[c]);
      const std::uint32_t all = units_.missed(l.kind, l.sectors, present);
      const std::uint32_t fetched =
          l.kind == AccessKind::kStore ? 0 : fetched_bytes(l.sectors & ~present);
      by_class[c] += {static_cast<double>(all - units), static_cast<double>(fetched - bytes)};
      units = all;
      bytes = fetched;
    }
  }

  const RequestUnits& units_;
  bool homes_;             // L2s fetch pieces of RequestUnits::fill
  std::uint32_t columns_;  // of `asked_`: one a die, and one for the device
  std::vector<std::uint8_t, HugePageAllocator<std::uint8_t>> asked_;
  std::vector<AssociativeCache> associative_;
  std::vector<ArrayMisses> arrays_;
  std::uint64_t associative_misses_ = 0;
  std::uint64_t written_sectors_ = 0;
  std::uint32_t num_waiting_ = 0;
  std::array<LookUp, kBatch> waiting_;
};

struct Watch {
  Classifier* classifier;
  void step(std::uint32_t) const {}
  template <typename Origin>
  void look_up(std::uint32_t die, AccessKind kind, std::uint8_t sectors, std::uint8_t before,
               const Origin& origin) const {
    classifier->look_up(die, kind, sectors, before, origin);
  }
  template <typename Origin>
  void besides(std::uint32_t die, std::uint8_t sectors, const Origin& origin) const {
    classifier->besides(die, sectors, origin);
  }
};

/// Where every array begins and how its lines move, and how many lines there are then.
std::vector<Padded::Array> layout_of(const Prepared& p, std::span<const Padding> paddings,
                                     std::uint32_t& num_lines) {
  const std::vector<Buffer>& buffers = p.lines.buffers;
  const std::uint64_t line_bytes = p.lines.line_bytes;
  std::vector<Padded::Array> arrays(buffers.size());
  std::vector<std::size_t> by_base(buffers.size());
  std::iota(by_base.begin(), by_base.end(), 0U);
  std::sort(by_base.begin(), by_base.end(),
            [&](std::size_t a, std::size_t b) { return buffers[a].base < buffers[b].base; });
  std::uint64_t shift = 0;
  for (const std::size_t b : by_base) {
    Padded::Array& array = arrays[b];
    array.first = static_cast<std::uint32_t>(buffers[b].base / line_bytes -
                                             buffers[by_base.front()].base / line_bytes);
    array.shift = static_cast<std::uint32_t>(shift);
    for (const Padding& padding : paddings) {
      if (padding.buffer != b) continue;
      array.stride = static_cast<std::uint32_t>(padding.stride_bytes / line_bytes);
      array.pad = static_cast<std::uint32_t>(padding.pad_bytes / line_bytes);
      shift += buffers[b].bytes / padding.stride_bytes * array.pad;
    }
  }
  if (p.lines.num_lines + shift >= 0xffffffffULL) {
    throw input_error("the padded arrays span 2^32 lines, more than the cache model handles");
  }
  num_lines = p.lines.num_lines + static_cast<std::uint32_t>(shift);
  return arrays;
}

template <typename Tag, bool kHomes, typename Layout>
SimResult replay(const Prepared& p, Layout layout, Classifier& classifier,
                 std::span<const std::uint32_t> permutation) {
  const LineSource<Layout> source(p, layout);
  return Replay<Cache<Tag>, LineSource<Layout>, kHomes, Watch>(p, source, 1.0, p.machine.dies,
                                                               Watch{&classifier})
      .run(permutation);
}

template <typename Layout>
SimResult replay(const Prepared& p, Layout layout, std::uint32_t num_lines, Classifier& classifier,
                 std::span<const std::uint32_t> permutation) {
  if (p.machine.lines_have_home != 0) {
    return replay<std::uint32_t, true>(p, layout, classifier, permutation);
  }
  const bool narrow = p.l2_set.largest_tag(num_lines) < WayGroup<std::uint16_t>::kNone;
  return narrow ? replay<std::uint16_t, false>(p, layout, classifier, permutation)
                : replay<std::uint32_t, false>(p, layout, classifier, permutation);
}

}  // namespace
}  // namespace cachesim

Classified classify(const Replayer& replayer, std::span<const std::uint32_t> permutation,
                    std::span<const Padding> paddings) {
  using namespace cachesim;
  const Prepared& p = *replayer.data_;
  std::uint32_t num_lines = 0;
  const std::vector<Padded::Array> arrays = layout_of(p, paddings, num_lines);
  Classifier classifier(p, num_lines);
  Classified out;
  out.result = paddings.empty()
                   ? replay(p, AsTraced{}, num_lines, classifier, permutation)
                   : replay(p, Padded{arrays.data()}, num_lines, classifier, permutation);
  out.result.exact = paddings.empty();
  classifier.report(out);
  return out;
}

}  // namespace swizzleperf
