// See verdict.h.
#include "optimize/verdict.h"

#include <fmt/format.h>

namespace swizzleperf {

std::string_view decision_name(Verdict::Decision decision) {
  switch (decision) {
    case Verdict::Decision::kFaster:
      return "faster";
    case Verdict::Decision::kLessTraffic:
      return "less traffic";
    case Verdict::Decision::kKeepIdentity:
      break;
  }
  return "keep the identity";
}

Verdict judge(const Machine& machine, const SimResult& identity, const SimResult* best) {
  constexpr double kSameMemory = 1.02;  // memory traffic within two per cent is the same
  if (best == nullptr) {
    return {Verdict::Decision::kKeepIdentity, "no other order of blocks exists on this launch"};
  }
  const double speedup = best->time_ms > 0 ? identity.time_ms / best->time_ms : 1;
  const double points = 100 * (best->l2.hit_rate() - identity.l2.hit_rate());
  const std::string figures = fmt::format(
      "predicted time {:.3f} -> {:.3f} ms ({:.2f}x), L2 hits {:.1f} -> {:.1f} %", identity.time_ms,
      best->time_ms, speedup, 100 * identity.l2.hit_rate(), 100 * best->l2.hit_rate());
  if (speedup > 1 + machine.error_time) return {Verdict::Decision::kFaster, figures};
  if (points > machine.error_l2_points && speedup > 1 - machine.error_time / 4 &&
      best->hbm_bytes() <= kSameMemory * identity.hbm_bytes()) {
    return {Verdict::Decision::kLessTraffic,
            fmt::format("{}; the launch is bound by {}, so fewer misses save traffic and energy "
                        "rather than time",
                        figures, bound_name(best->bound))};
  }
  return {Verdict::Decision::kKeepIdentity,
          fmt::format("nothing beats it by more than the model's error ({:.0f} % of time, {:.1f} "
                      "points of L2 hits): best was {}",
                      100 * machine.error_time, machine.error_l2_points, figures)};
}

}  // namespace swizzleperf
