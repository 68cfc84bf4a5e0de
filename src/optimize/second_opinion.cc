// See second_opinion.h.
#include "optimize/second_opinion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "swizzleperf/simulate.h"

namespace swizzleperf {

std::optional<SecondOpinion> second_opinion(const Launch& launch,
                                            std::span<const std::uint32_t> best, std::uint64_t seed,
                                            unsigned threads) {
  if (launch.machine.l2.index == SetIndex::kHashed) return std::nullopt;
  Machine machine = launch.machine;
  machine.l2.index = SetIndex::kHashed;
  Replayer replayer(launch.trace, machine, launch.occupancy.blocks_per_cu);
  const std::size_t sample = replayer.add_sample(replayer.fine_share(), seed, threads);

  std::vector<std::uint32_t> order(replayer.num_blocks());
  std::iota(order.begin(), order.end(), 0U);
  const SimResult identity = replayer.sampled(sample, order);
  const SimResult swizzled = replayer.sampled(sample, best);

  SecondOpinion opinion;
  opinion.speedup = swizzled.time_ms > 0 ? identity.time_ms / swizzled.time_ms : 1;
  opinion.identity_hit_rate = identity.l2.hit_rate();
  opinion.best_hit_rate = swizzled.l2.hit_rate();
  return opinion;
}

void doubt(SecondOpinion& opinion, const Machine& machine, double claimed_speedup,
           double claimed_points) {
  const double points = 100 * (opinion.best_hit_rate - opinion.identity_hit_rate);
  // A gain within the model's error is no claim.
  const bool claims_time = claimed_speedup - 1 > machine.error_time;
  const bool time_survives = !claims_time || opinion.speedup - 1 >= (claimed_speedup - 1) / 2;
  const bool hits_survive = points >= claimed_points / 2;
  if (!time_survives || !hits_survive) {
    opinion.caveat = fmt::format(
        "Caution: this may be mostly an escape from conflict misses. How L2 chooses its sets is "
        "not "
        "published; with a perfect hash the same order gains {:.2f}x and {:+.1f} points of L2 "
        "hits. "
        "Padding the rows (a stride that is not a power of two) would cure such misses without a "
        "swizzle; measure both",
        opinion.speedup, points);
  }
}

}  // namespace swizzleperf
