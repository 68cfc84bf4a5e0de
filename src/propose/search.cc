// See search.h.
#include "propose/search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include "base/parallel.h"
#include "fmt/format.h"
#include "propose/space.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

constexpr double kSampleRequests = 1'000'000;  // of a coarse sample
constexpr double kMinSets = 8;                 // fewer sets tell too little

/// Specifications that are bijections on the launch, one a permutation, in order of appearance.
std::vector<Candidate> distinct(const std::vector<std::string>& specs, const SearchSetup& setup,
                                std::unordered_map<std::uint64_t, std::string>& seen,
                                std::vector<Refused>& refused) {
  struct Checked {
    std::uint64_t hash = 0;
    std::string reason;
  };
  std::vector<Checked> checked(specs.size());
  parallel_for(specs.size(), setup.threads, [&](std::uint64_t i, unsigned) {
    try {
      const GridVerdict v = verify_grid(make_swizzle(specs[i]).formula, setup.shape);
      if (!v.bijective) {
        checked[i].reason = "not a bijection on this launch";
      } else if (v.identity) {
        checked[i].reason = "the identity";
      }
      checked[i].hash = v.hash;
    } catch (const Error& error) {
      checked[i].reason = error.what();
    }
  });
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (checked[i].reason.empty()) {
      const auto [it, is_new] = seen.emplace(checked[i].hash, specs[i]);
      if (is_new) {
        candidates.push_back({specs[i], checked[i].hash});
        continue;
      }
      checked[i].reason = "repeats " + it->second;
    }
    refused.push_back({specs[i], checked[i].reason});
  }
  return candidates;
}

/// What decides first under an objective.
double leading(const Score& s, Objective objective) {
  switch (objective) {
    case Objective::kL2:
      return s.l2_misses;
    case Objective::kHbm:
      return s.hbm_bytes;
    case Objective::kTime:
      break;
  }
  return s.time_ms;
}

/// Replays candidates on one rung and ranks them.
std::vector<Ranked> replay_all(const std::vector<Candidate>& candidates, std::size_t rung,
                               const SearchSetup& setup, const SearchHooks& hooks) {
  std::vector<Ranked> ranked(candidates.size());
  std::mutex mutex;
  std::size_t done = 0;
  std::size_t best = candidates.size();
  parallel_for(candidates.size(), setup.threads, [&](std::uint64_t i, unsigned) {
    ranked[i] = {candidates[i], hooks.evaluate(candidates[i], rung)};
    const std::lock_guard lock(mutex);
    ++done;
    if (best == candidates.size() || ranked[i].score.l2_misses < ranked[best].score.l2_misses) {
      best = i;
    }
    if (hooks.progress) {
      hooks.progress(rung, done, candidates.size(), ranked[best].candidate, ranked[best].score);
    }
  });
  rank(ranked, setup.ranking);
  return ranked;
}

/// A coarse grid of parameters finds the hill; its top is next to one of the first few.
std::vector<Candidate> climb_from(const std::vector<Ranked>& ranked, const SearchSetup& setup,
                                  std::unordered_map<std::uint64_t, std::string>& seen) {
  constexpr std::size_t kClimbFrom = 8;
  std::vector<std::string> near;
  for (std::size_t i = 0; i < std::min(kClimbFrom, ranked.size()); ++i) {
    for (std::string& s : neighbours(ranked[i].candidate.spec, setup.shape)) {
      near.push_back(std::move(s));
    }
  }
  std::vector<Refused> ignored;  // neighbours often repeat; that is no news
  return distinct(near, setup, seen, ignored);
}

/// The composition that experts arrive at by hand: each die a contiguous share, walked in bands.
bool is_experts(const Candidate& candidate) {
  const std::string& spec = candidate.spec;
  return spec == "die-contiguous" || spec == "die-contiguous+y-fastest" ||
         spec.starts_with("die-contiguous+grouped:");
}

/// Sets the first `keep` apart. The best of the experts' kind is among them whatever its rank, so
/// that the last, exact comparison is always against it too. Returns the others.
std::vector<Ranked> shorten(std::vector<Ranked>& ranked, std::size_t keep) {
  if (ranked.size() <= keep) return {};
  const auto experts = std::find_if(ranked.begin(), ranked.end(),
                                    [](const Ranked& r) { return is_experts(r.candidate); });
  if (experts != ranked.end() && experts - ranked.begin() >= static_cast<std::ptrdiff_t>(keep)) {
    std::rotate(ranked.begin() + static_cast<std::ptrdiff_t>(keep) - 1, experts, experts + 1);
  }
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(keep);
  std::vector<Ranked> others(std::make_move_iterator(end), std::make_move_iterator(ranked.end()));
  ranked.resize(keep);
  return others;
}

/// Of `others`, which are ranked, `count` whose kinds are least among those chosen before them.
std::vector<Ranked> spread(const std::vector<Ranked>& chosen, std::vector<Ranked> others,
                           std::size_t count) {
  std::map<std::string, std::size_t> times;
  for (const Ranked& r : chosen) ++times[kind_of(r.candidate.spec)];
  std::vector<Ranked> alternatives;
  while (alternatives.size() < count && !others.empty()) {
    const auto next =
        std::min_element(others.begin(), others.end(), [&](const Ranked& a, const Ranked& b) {
          return times[kind_of(a.candidate.spec)] < times[kind_of(b.candidate.spec)];
        });
    ++times[kind_of(next->candidate.spec)];
    alternatives.push_back(std::move(*next));
    others.erase(next);
  }
  return alternatives;
}

}  // namespace

std::string_view objective_name(Objective objective) {
  switch (objective) {
    case Objective::kL2:
      return "l2";
    case Objective::kHbm:
      return "hbm";
    case Objective::kTime:
      break;
  }
  return "time";
}

Score score_of(const SimResult& r) {
  return {r.time_ms, r.l2.requests, r.l2_misses(), r.hbm_bytes()};
}

void rank(std::vector<Ranked>& candidates, const Ranking& ranking) {
  double least = std::numeric_limits<double>::infinity();
  double fewest = std::numeric_limits<double>::infinity();
  for (const Ranked& r : candidates) {
    least = std::min(least, leading(r.score, ranking.objective));
    fewest = std::min(fewest, r.score.l2_misses);
  }
  // Misses in steps of the tie above the fewest: a total order, unlike "within a tie of each
  // other".
  const double step = ranking.miss_tie * fewest;
  const auto misses = [&](const Ranked& r) {
    return step > 0 ? std::floor((r.score.l2_misses - fewest) / step) : r.score.l2_misses;
  };
  const auto key = [&](const Ranked& r) {
    const double value = leading(r.score, ranking.objective);
    const bool tied = value <= least * (1 + ranking.tie);
    return std::tuple(tied ? 0.0 : value, misses(r), r.candidate.spec.size(),
                      std::string_view(r.candidate.spec));
  };
  std::sort(candidates.begin(), candidates.end(),
            [&](const Ranked& a, const Ranked& b) { return key(a) < key(b); });
}

std::string kind_of(const std::string& spec) {
  const std::string last = spec.substr(spec.rfind('+') + 1);  // npos + 1 is the beginning
  const std::string family = last.substr(0, last.find(':'));
  static const std::map<std::string, std::string> kKinds = {
      {"grouped", "bands"},   {"aiter-grouped", "bands"}, {"cutlass-2", "bands"},
      {"cutlass-3", "bands"}, {"morton", "curve"},        {"hilbert", "curve"}};
  const auto known = kKinds.find(family);
  const std::string kind = known == kKinds.end() ? family : known->second;
  const std::size_t axis = last.find("axis=");
  // The families' own default: bands are cut along y.
  if (kind == "bands")
    return kind + " along " + (axis == std::string::npos ? "y" : last.substr(axis + 5));
  return axis == std::string::npos ? kind : kind + " along " + last.substr(axis + 5);
}

std::vector<Rung> plan_rungs(const Replayer& replayer) {
  const Machine& m = replayer.machine();
  const std::uint64_t blocks = replayer.num_blocks();
  const std::uint64_t resident = std::uint64_t{m.dies} * m.cus_per_die * replayer.blocks_per_cu();
  const double coarse = std::clamp(
      kSampleRequests / static_cast<double>(std::max<std::uint64_t>(1, replayer.num_requests())),
      std::min(1.0, kMinSets / m.l2.sets()), 1.0);
  const std::uint32_t few_dies = m.dispatch == Dispatch::kSingleQueue ? 0 : std::min(2U, m.dies);
  const std::uint64_t beginning = std::min(blocks, 3 * resident);

  std::vector<Rung> rungs;
  const auto add = [&](double share, std::uint64_t n, std::uint32_t dies, std::size_t keep) {
    share = std::min(share, 1.0);
    std::string name =
        share >= 1 ? "all cache sets" : fmt::format("1/{:.0f} of the cache sets", 1 / share);
    if (dies != 0 && dies < m.dies) name += fmt::format(", {} dies", dies);
    if (n < blocks) name += fmt::format(", first {} blocks", n);
    rungs.push_back({std::move(name), share, n, dies, keep});
  };
  add(coarse, beginning, few_dies, 40);
  add(coarse, blocks, few_dies, 7);
  add(8 * coarse, blocks, 0, kFinalists);
  return rungs;
}

RungReplays::RungReplays(Replayer& replayer, std::vector<Rung> rungs, std::uint64_t seed,
                         unsigned threads)
    : replayer_(replayer), rungs_(std::move(rungs)), samples_(rungs_.size()) {
  for (std::size_t i = rungs_.size(); i-- > 0;) {  // finest first: coarser ones are taken from it
    if (rungs_[i].share < 1) samples_[i] = replayer.add_sample(rungs_[i].share, seed, threads);
  }
}

SimResult RungReplays::replay(std::span<const std::uint32_t> permutation, std::size_t rung) const {
  const Rung& r = rungs_[rung];
  const std::span<const std::uint32_t> part = permutation.first(r.blocks);
  if (r.share >= 1) return replayer_.exact(part);
  SimResult result = replayer_.sampled(samples_[rung], part, r.dies);
  // The beginning of the launch may live in cache sets that the sample lacks; the whole does not.
  constexpr double kTrusted = 0.5;
  if (result.coverage < kTrusted || result.coverage > 1 / kTrusted) {
    result = replayer_.sampled(samples_[rung], permutation, r.dies);
  }
  return result;
}

SearchResult search(const SearchSetup& setup, const std::vector<Rung>& rungs,
                    const SearchHooks& hooks) {
  SearchResult result;
  std::vector<std::string> specs = setup.extra;
  for (std::string& s : enumerate_swizzles(setup.shape)) specs.push_back(std::move(s));
  std::unordered_map<std::uint64_t, std::string> seen;
  std::vector<Candidate> alive = distinct(specs, setup, seen, result.refused);
  for (std::size_t rung = 0; rung < rungs.size(); ++rung) {
    std::vector<Ranked> ranked = replay_all(alive, rung, setup, hooks);
    const bool is_last = rung + 1 == rungs.size();
    std::vector<Ranked> others = shorten(ranked, rungs[rung].keep);
    // Before the last rung there are twice as many as are wanted, so that it has a choice.
    result.alternatives = spread(ranked, std::move(others), (is_last ? 1 : 2) * setup.alternatives);
    alive.clear();
    for (const Ranked& r : ranked) alive.push_back(r.candidate);
    for (const Ranked& r : result.alternatives) alive.push_back(r.candidate);
    if (rung == 0) {
      for (Candidate& c : climb_from(ranked, setup, seen)) alive.push_back(std::move(c));
    }
    result.finalists = std::move(ranked);
  }
  result.candidates = seen.size();
  result.seen = std::move(seen);
  return result;
}

Candidate identity_candidate(const LaunchShape& shape) {
  return {"identity", verify_grid(make_swizzle("identity").formula, shape).hash};
}

std::vector<std::uint32_t> permutation_of(const std::string& spec, const LaunchShape& shape) {
  GridVerdict v = verify_grid(make_swizzle(spec).formula, shape);
  if (!v.bijective) {
    throw Error(Exit::kCheckFailed,
                fmt::format("{} is not a bijection on the grid {} x {} x {}; `swizzleperf verify` "
                            "shows which blocks it loses",
                            spec, shape.grid.x, shape.grid.y, shape.grid.z));
  }
  return std::move(v.permutation);
}

}  // namespace swizzleperf
