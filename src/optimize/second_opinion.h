// Does a gain rest on what nobody publishes?
//
// The set index of AMD's L2 is not published, and the model's default makes rows that lie a power
// of two apart meet in few sets, as measured transposes do. An order can then gain by no more than
// spreading those conflict misses, which a different hash in the real machine would never have had,
// and which padding the rows cures without any swizzle. So a gain is asked for again on the same
// machine with sets chosen by a perfect hash.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "launch/launch.h"

namespace swizzleperf {

struct SecondOpinion {
  double speedup = 1;  ///< predicted time of the identity over the swizzle's, under a perfect hash
  double identity_hit_rate = 0;  ///< of L2, 0 to 1
  double best_hit_rate = 0;
  std::string caveat;  ///< one sentence, by `doubt`; empty where at least half of the gain survives
};

/// Replays a sample of both orders. Nothing where the machine's sets are hashed already.
std::optional<SecondOpinion> second_opinion(const Launch& launch,
                                            std::span<const std::uint32_t> best, std::uint64_t seed,
                                            unsigned threads);

/// Holds the opinion against what the model itself claims: how many times faster, and by how many
/// points of L2 hits.
void doubt(SecondOpinion& opinion, const Machine& machine, double claimed_speedup,
           double claimed_points);

}  // namespace swizzleperf
