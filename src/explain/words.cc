// See words.h. What is said depends on the figures alone; a class of misses below a tenth is not
// worth a sentence.
#include "explain/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "report/launch_text.h"

namespace swizzleperf {
namespace {

using Sentences = std::vector<std::string>;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string ms(double value) { return fmt::format("{:.3f} ms", value); }

std::string from_to(const std::string& before, const std::string& after) {
  return fmt::format("{} -> {}", before, after);
}

std::string_view class_words(MissClass c) {
  return c == MissClass::kSharing ? "sharing-lost" : miss_class_name(c);
}

/// The swizzle's name is long and stands in the table already.
std::string_view label(const Explanation& x, const ExplainedOrder& o) {
  return &o == &x.identity() ? "the identity" : "the swizzle";
}

double misses_of(const Classified& c) { return c.total().misses().requests; }

// --- What it buys -------------------------------------------------------------------------------

struct Change {
  std::size_t array;
  MissClass miss_class;
  double before;
  double after;
  [[nodiscard]] double size() const { return std::abs(after - before); }
};

/// Largest first.
std::vector<Change> changes(const Explanation& x) {
  std::vector<Change> all;
  for (std::size_t a = 0; a < x.identity().misses.arrays.size(); ++a) {
    for (std::size_t c = 0; c < kMissClasses; ++c) {
      const auto miss_class = static_cast<MissClass>(c);
      all.push_back({a, miss_class, x.identity().misses.arrays[a].of(miss_class).requests,
                     x.order().misses.arrays[a].of(miss_class).requests});
    }
  }
  std::sort(all.begin(), all.end(), [](const Change& a, const Change& b) {
    return std::tuple(-a.size(), a.array, a.miss_class) <
           std::tuple(-b.size(), b.array, b.miss_class);
  });
  return all;
}

Sentences what_it_buys(const Launch& launch, const Explanation& x) {
  if (x.orders.size() == 1) {
    return {x.candidates > 0 ? fmt::format("A search over {} orders found none better than the "
                                           "identity.",
                                           x.candidates)
                             : "Only the identity was asked about."};
  }
  const Classified& before = x.identity().misses;
  const Classified& after = x.order().misses;
  Sentences out = {fmt::format(
      "L2 misses: {} requests, {} fetched; L2 hits: {}.",
      from_to(count_words(misses_of(before)), count_words(misses_of(after))),
      from_to(bytes_words(before.total().misses().bytes),
              bytes_words(after.total().misses().bytes)),
      from_to(percent(before.result.l2.hit_rate()), percent(after.result.l2.hit_rate())))};
  constexpr std::size_t kMost = 3;
  const std::vector<Change> all = changes(x);
  for (std::size_t i = 0; i < std::min(kMost, all.size()); ++i) {
    const Change& c = all[i];
    if (c.size() == 0 || c.size() < kWorthASentence * all.front().size()) break;
    out.push_back(fmt::format("Of {}, {} misses {}: {} requests.",
                              launch.trace.buffers[c.array].name, class_words(c.miss_class),
                              c.after < c.before ? "fall" : "rise",
                              from_to(count_words(c.before), count_words(c.after))));
  }
  return out;
}

// --- What binds ---------------------------------------------------------------------------------

std::string binds(const SimResult& r) {
  std::array<std::size_t, 5> level = {0, 1, 2, 3, 4};
  std::sort(level.begin(), level.end(),
            [&](std::size_t a, std::size_t b) { return r.utilisation[a] > r.utilisation[b]; });
  const auto busy = [&](std::size_t i) {
    return fmt::format("{} is busy {:.0f} % of it", bound_name(static_cast<Bound>(level[i])),
                       100 * r.utilisation[level[i]]);
  };
  return fmt::format("{}, bound by {} ({}, {})", ms(r.time_ms), bound_name(r.bound), busy(0),
                     busy(1));
}

Sentences what_binds(const Launch& launch, const Explanation& x) {
  Sentences out = {fmt::format("The identity takes {}.", binds(x.identity().misses.result))};
  if (x.orders.size() == 1) return out;
  const SimResult& after = x.order().misses.result;
  const double gain = x.speedup_at(after.time_ms);
  out.push_back(fmt::format("The swizzle takes {}.", binds(after)));
  out.push_back(fmt::format("That is {:.2f}x, {} the model's own error of {:.0f} %.", gain,
                            std::abs(gain - 1) > launch.machine.error_time ? "more than" : "within",
                            100 * launch.machine.error_time));
  return out;
}

// --- What is left -------------------------------------------------------------------------------

Sentences what_is_left(const Launch& launch, const Explanation& x) {
  const double now = x.identity().misses.result.time_ms;
  const double then = x.order().misses.result.time_ms;
  const TimeLimit& any = x.any_order;
  const TimeLimit& own = x.this_order;
  if (any.time_ms <= 0) return {"Nothing: the blocks neither compute nor ask for anything."};
  Sentences out = {fmt::format(
      "Perfect locality, every line fetched once, by one {}, moves {} into L2 and takes at least "
      "{}, bound by {}: no order gains more than {:.2f}x over the identity.",
      launch.machine.die_word, bytes_words(any.fetched_bytes), ms(any.time_ms),
      bound_name(any.bound), x.speedup_at(any.time_ms))};
  if (launch.machine.dies > 1) {
    out.push_back(fmt::format(
        "Fetched once by each {} that asks for it under {}, it is {}, at least {}, bound by {}.",
        launch.machine.die_word, label(x, x.order()), bytes_words(own.fetched_bytes),
        ms(own.time_ms), bound_name(own.bound)));
  }
  if (now <= any.time_ms * (1 + launch.machine.error_time)) {
    const bool traffic = x.identity().misses.total().misses().bytes >
                         any.fetched_bytes * (1 + launch.machine.error_time);
    out.push_back(fmt::format("That is within the model's error of {:.0f} %: there is {} to gain.",
                              100 * launch.machine.error_time,
                              traffic ? "no time, only traffic," : "nothing"));
  } else if (then < now) {
    out.push_back(fmt::format("The swizzle gets {:.0f} % of the time that there is to gain.",
                              100 * (now - then) / (now - any.time_ms)));
  }
  return out;
}

// --- What else would help -----------------------------------------------------------------------

/// The array with most misses of a class, and their number.
std::string mostly(const Launch& launch, const Classified& misses, MissClass c) {
  const auto more = [&](const ArrayMisses& a, const ArrayMisses& b) {
    return a.of(c).requests < b.of(c).requests;
  };
  const auto most = std::max_element(misses.arrays.begin(), misses.arrays.end(), more);
  return fmt::format(
      "{} of them {}", percent(most->of(c).requests / misses.total().of(c).requests),
      launch.trace.buffers[static_cast<std::size_t>(most - misses.arrays.begin())].name);
}

std::string opening(const Launch& launch, const Explanation& x, const ExplainedOrder& o,
                    MissClass c) {
  const MissTally tally = o.misses.total().of(c);
  return fmt::format("{} of the misses under {} are {} ({} requests, {} fetched; {})",
                     percent(share_of(o.misses, c)), label(x, o), class_words(c),
                     count_words(tally.requests), bytes_words(tally.bytes),
                     mostly(launch, o.misses, c));
}

void say_compulsory(const Launch& launch, const Explanation& x, Sentences& out) {
  out.push_back(opening(launch, x, x.order(), MissClass::kCompulsory) +
                ": no order can help, since nobody has asked for those lines before. Fewer bytes "
                "would, by a smaller type or a fused kernel.");
}

void say_sharing(const Launch& launch, const Explanation& x, Sentences& out) {
  out.push_back(opening(launch, x, x.order(), MissClass::kSharing) +
                fmt::format(": another {} has had the line. Blocks that share it would have to go "
                            "to one {}.",
                            launch.machine.die_word, launch.machine.die_word));
}

std::string times_l2(const Launch& launch, double bytes) {
  return fmt::format("{:.1f} times", bytes / static_cast<double>(launch.machine.l2.bytes));
}

void say_capacity(const Launch& launch, const Explanation& x, Sentences& out) {
  const WorkingSet& set = x.order().working_set;
  std::vector<std::string> arrays;
  for (std::size_t a = 0; a < set.by_array.size(); ++a) {
    if (set.by_array[a] > kWorthASentence * set.bytes) {
      arrays.push_back(launch.trace.buffers[a].name + " " + bytes_words(set.by_array[a]));
    }
  }
  const auto l2 = static_cast<double>(launch.machine.l2.bytes);
  out.push_back(opening(launch, x, x.order(), MissClass::kCapacity) +
                ": a fully associative L2 of the same size would have lost the line too.");
  out.push_back(fmt::format(
      "The {} blocks in flight on one {} ask for {} between them ({}), {} its L2 of {}{}",
      set.blocks, launch.machine.die_word, bytes_words(set.bytes), fmt::join(arrays, ", "),
      times_l2(launch, set.bytes), bytes_words(l2),
      set.bytes > l2 ? ": little of it is left for the blocks after them."
                     : ", which fits: lines are lost between more distant blocks."));
  if (x.grouped.empty()) return;
  const auto smaller = [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; };
  const auto& [spec, least] = *std::min_element(x.grouped.begin(), x.grouped.end(), smaller);
  std::string text = fmt::format("Of grouped orders up to height {}, {} asks for least: {}, {} L2",
                                 1U << (x.grouped.size() - 1), spec, bytes_words(least.bytes),
                                 times_l2(launch, least.bytes));
  text += least.bytes <= l2 ? ", which fits."
                            : ". No grouping of whole blocks fits: they share what they ask for at "
                              "the same time, and blocks that walk in step share most.";
  out.push_back(std::move(text));
}

/// Both orders before and after a change, as figures.
std::string replayed(const Explanation& x, const WhatIf& what_if) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < x.orders.size(); ++i) {
    const Classified& before = x.orders[i].misses;
    const Classified& after = what_if.orders[i];
    const auto conflicts = [](const Classified& c) {
      return count_words(c.total().of(MissClass::kConflict).requests);
    };
    parts.push_back(fmt::format(
        "under {} conflict misses {}, all misses {}, time {}", label(x, x.orders[i]),
        from_to(conflicts(before), conflicts(after)),
        from_to(count_words(misses_of(before)), count_words(misses_of(after))),
        from_to(fmt::format("{:.3f}", before.result.time_ms), ms(after.result.time_ms))));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

void say_conflict(const Launch& launch, const Explanation& x, Sentences& out) {
  for (const ExplainedOrder& o : x.orders) {
    if (share_of(o.misses, MissClass::kConflict) < kWorthASentence) continue;
    out.push_back(opening(launch, x, o, MissClass::kConflict) +
                  fmt::format(": a fully associative L2 of the same size would have hit. It would "
                              "miss {} requests in all.",
                              count_words(o.misses.associative_misses)));
  }
  if (x.padded) {
    std::vector<std::string> rows;
    for (const Padding& p : x.padded->paddings) {
      rows.push_back(
          fmt::format("{} ({} bytes apart)", launch.trace.buffers[p.buffer].name, p.stride_bytes));
    }
    out.push_back(fmt::format("Padding the rows of {} by one line of {} bytes, replayed: {}.",
                              fmt::join(rows, " and "), x.padded->paddings.front().pad_bytes,
                              replayed(x, *x.padded)));
  } else {
    out.push_back("No row stride that meets in few sets was seen, so padding was not tried.");
  }
  if (!x.hashed) return;
  out.push_back(
      fmt::format("An L2 whose sets are hashed perfectly, replayed: {}. How L2 chooses "
                  "its sets is not published: measure before you pad.",
                  replayed(x, *x.hashed)));
}

Sentences what_else(const Launch& launch, const Explanation& x) {
  using Say = void (*)(const Launch&, const Explanation&, Sentences&);
  static constexpr std::array<std::pair<MissClass, Say>, kMissClasses> kSay = {
      {{MissClass::kCompulsory, say_compulsory},
       {MissClass::kSharing, say_sharing},
       {MissClass::kCapacity, say_capacity},
       {MissClass::kConflict, say_conflict}}};
  Sentences out;
  for (const auto& [miss_class, say] : kSay) {
    // A swizzle may have cured conflicts that padding cures as well.
    const bool cured = miss_class == MissClass::kConflict && (x.padded || x.hashed);
    if (cured || share_of(x.order().misses, miss_class) >= kWorthASentence) say(launch, x, out);
  }
  if (out.empty()) out.emplace_back("L2 misses nothing.");
  return out;
}

}  // namespace

std::vector<Paragraph> explain_in_words(const Launch& launch, const Explanation& x) {
  return {{"What the order buys", what_it_buys(launch, x)},
          {"What binds the time", what_binds(launch, x)},
          {"What there is to gain", what_is_left(launch, x)},
          {"Why it still misses, and what else would help", what_else(launch, x)}};
}

}  // namespace swizzleperf
