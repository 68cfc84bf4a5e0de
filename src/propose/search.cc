// See search.h.
#include "propose/search.h"

#include <algorithm>
#include <cmath>
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
constexpr double kTimeTie = 0.005;             // predicted times closer than this are equal

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

/// Replays candidates on one rung; the order of the result is the order of the input.
std::vector<Ranked> replay_all(const std::vector<Candidate>& candidates, std::size_t rung,
                               const SearchSetup& setup, const SearchHooks& hooks,
                               const Score& identity) {
  std::vector<Ranked> ranked(candidates.size());
  std::mutex mutex;
  std::size_t done = 0;
  std::size_t best = candidates.size();
  parallel_for(candidates.size(), setup.threads, [&](std::uint64_t i, unsigned) {
    ranked[i] = {candidates[i], hooks.evaluate(candidates[i], rung)};
    const std::lock_guard lock(mutex);
    ++done;
    if (best == candidates.size() || cost_of(ranked[i].score, identity, setup.objective) <
                                         cost_of(ranked[best].score, identity, setup.objective)) {
      best = i;
    }
    if (hooks.progress) {
      hooks.progress(rung, done, candidates.size(), ranked[best].candidate, ranked[best].score);
    }
  });
  return ranked;
}

void sort_by_cost(std::vector<Ranked>& ranked, const Score& identity, Objective objective) {
  const auto key = [&](const Ranked& r) {
    return std::pair(cost_of(r.score, identity, objective), std::string_view(r.candidate.spec));
  };
  std::sort(ranked.begin(), ranked.end(),
            [&](const Ranked& a, const Ranked& b) { return key(a) < key(b); });
}

/// Among finalists whose time ties with the fastest, the one with the fewest L2 misses comes first.
void prefer_less_traffic(std::vector<Ranked>& finalists) {
  double fastest = finalists.front().score.time_ms;
  for (const Ranked& r : finalists) fastest = std::min(fastest, r.score.time_ms);
  const auto key = [&](const Ranked& r) {
    const bool tied = r.score.time_ms <= fastest * (1 + kTimeTie);
    return std::tuple(tied ? 0.0 : r.score.time_ms, r.score.l2_misses,
                      std::string_view(r.candidate.spec));
  };
  std::sort(finalists.begin(), finalists.end(),
            [&](const Ranked& a, const Ranked& b) { return key(a) < key(b); });
}

}  // namespace

Score score_of(const SimResult& r) {
  return {r.time_ms, r.l2.requests, r.l2_misses(), r.hbm_bytes()};
}

double cost_of(const Score& s, const Score& identity, Objective objective) {
  const double miss_rate = s.l2_requests > 0 ? s.l2_misses / s.l2_requests : 0;
  const double memory = identity.hbm_bytes > 0 ? s.hbm_bytes / identity.hbm_bytes : 1;
  const double time = identity.time_ms > 0 ? s.time_ms / identity.time_ms : 1;
  switch (objective) {
    case Objective::kL2:
      return miss_rate + 1e-3 * time;
    case Objective::kHbm:
      return memory + 1e-3 * miss_rate;
    case Objective::kTime:
      break;
  }
  return time * (1 + 0.02 * miss_rate + 0.01 * memory);
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
  add(coarse, beginning, few_dies, 64);
  add(coarse, blocks, few_dies, 20);
  add(4 * coarse, blocks, 0, 4);
  if (16 * coarse < 1) add(16 * coarse, blocks, 0, 1);
  add(1.0, blocks, 0, 1);
  return rungs;
}

SearchResult search(const SearchSetup& setup, const std::vector<Rung>& rungs,
                    const SearchHooks& hooks) {
  SearchResult result;
  std::vector<std::string> specs = setup.extra;
  for (std::string& s : enumerate_swizzles(setup.shape)) specs.push_back(std::move(s));
  std::unordered_map<std::uint64_t, std::string> seen;
  std::vector<Candidate> alive = distinct(specs, setup, seen, result.refused);
  result.candidates = alive.size();
  const Candidate identity = {"identity",
                              verify_grid(make_swizzle("identity").formula, setup.shape).hash};
  result.identity.candidate = identity;

  for (std::size_t rung = 0; rung < rungs.size(); ++rung) {
    const bool last = rung + 1 == rungs.size();
    // The identity takes part in every rung: scores are relative to it.
    std::vector<Candidate> batch = {identity};
    Score base = result.identity.score;
    if (!last) {
      base = hooks.evaluate(identity, rung);
      batch.clear();
    }
    batch.insert(batch.end(), alive.begin(), alive.end());
    std::vector<Ranked> ranked = replay_all(batch, rung, setup, hooks, base);
    if (last) {
      result.identity = ranked.front();
      ranked.erase(ranked.begin());
      base = result.identity.score;
    }
    sort_by_cost(ranked, base, setup.objective);
    if (last) {
      result.finalists = std::move(ranked);
      break;
    }
    result.identity.score = base;
    if (ranked.size() > rungs[rung].keep) ranked.resize(rungs[rung].keep);
    alive.clear();
    for (const Ranked& r : ranked) alive.push_back(r.candidate);
    if (rung == 0) {
      // A coarse grid of parameters finds the hill; its top is next to one of the first few.
      constexpr std::size_t kClimbFrom = 8;
      std::vector<std::string> near;
      for (std::size_t i = 0; i < std::min(kClimbFrom, ranked.size()); ++i) {
        for (std::string& s : neighbours(ranked[i].candidate.spec, setup.shape)) {
          near.push_back(std::move(s));
        }
      }
      std::vector<Refused> ignored;  // neighbours often repeat; that is no news
      for (Candidate& c : distinct(near, setup, seen, ignored)) alive.push_back(std::move(c));
      result.candidates = seen.size();
    }
  }
  if (!result.finalists.empty() && setup.objective == Objective::kTime) {
    prefer_less_traffic(result.finalists);
  }
  return result;
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
