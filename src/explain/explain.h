// Why an order of blocks misses, in numbers; words.h makes sentences of them.
//
// Two orders are replayed whole, the identity and the one in question, and their misses classified
// (swizzleperf/classify.h). What is left to gain is bounded by what no order can avoid: the
// arithmetic, L2's own bandwidth, and one fetch of every line. What else would help is not argued
// but replayed: the same launch with padded rows, or with an L2 whose sets are hashed perfectly.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explain/working_set.h"
#include "launch/launch.h"
#include "swizzleperf/classify.h"

namespace swizzleperf {

/// One order of blocks, replayed.
struct ExplainedOrder {
  std::string swizzle;
  Classified misses;
  WorkingSet working_set;
};

/// The time that a launch takes at least when it fetches no line more often than it must.
struct TimeLimit {
  double fetched_bytes = 0;          ///< into L2s
  double read_bytes = 0;             ///< from memory
  double written_bytes = 0;          ///< to memory
  std::array<double, 5> level_ms{};  ///< compute, L2, fabric, last level, memory: busy so long
  double dispatch_ms = 0;            ///< handing out the blocks
  double time_ms = 0;                ///< the longest of these
  Bound bound = Bound::kCompute;
};

/// The launch replayed with something changed, under both orders.
struct WhatIf {
  std::vector<Padding> paddings;  ///< none: sets chosen by a perfect hash
  std::vector<Classified> orders;
};

struct Explanation {
  /// The identity, then the order in question if it is another.
  std::vector<ExplainedOrder> orders;
  std::size_t candidates = 0;  ///< orders looked at to find the one in question; 0 = it was given
  TimeLimit any_order;         ///< every line fetched by one die only
  TimeLimit this_order;        ///< every line fetched once by each die that asks for it
  std::optional<WhatIf> padded;
  std::optional<WhatIf> hashed;
  /// Of grouped orders, by height, where capacity misses weigh.
  std::vector<std::pair<std::string, WorkingSet>> grouped;

  [[nodiscard]] const ExplainedOrder& identity() const { return orders.front(); }
  [[nodiscard]] const ExplainedOrder& order() const { return orders.back(); }
  /// Of a launch that takes so long, over the identity; 1 where nothing takes any time.
  [[nodiscard]] double speedup_at(double ms) const {
    return ms > 0 ? identity().misses.result.time_ms / ms : 1;
  }
};

struct ExplainRequest {
  std::string swizzle;  ///< empty: the best of a search
  std::uint64_t seed = 1;
  unsigned threads = 1;
  bool what_else = true;  ///< also replay what else would help; costs replays of its own
};

/// Throws Error(kCheckFailed) when the swizzle is no bijection on the launch.
Explanation explain(const Launch& launch, const ExplainRequest& request);

/// A class that makes up this share of the misses is worth a sentence, and a what-if.
constexpr double kWorthASentence = 0.1;

/// The share of an order's misses that are of a class.
double share_of(const Classified& misses, MissClass c);

}  // namespace swizzleperf
