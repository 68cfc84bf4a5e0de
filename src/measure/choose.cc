// See choose.h.
#include "measure/choose.h"

#include <fmt/format.h>

#include <algorithm>

namespace swizzleperf::measure {
namespace {

std::string ratio_words(const Estimate& e) {
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", e.value, e.low, e.high);
}

const Candidate& candidate_of(const Bundle& bundle, const Measured& m) {
  return bundle.candidates.at(static_cast<std::size_t>(m.number - 1));
}

struct Fastest {
  const Measured* candidate = nullptr;  ///< null: there is none
  Estimate speedup;
};

Fastest fastest(const Results& r, Status status) {
  Fastest best;
  for (const Measured& m : r.candidates) {
    if (m.status != status || !m.speedup) continue;
    if (!best.candidate || m.speedup->value > best.speedup.value) best = {&m, *m.speedup};
  }
  return best;
}

double milliseconds_of(const Measured& m) { return m.milliseconds ? m.milliseconds->value : 0; }

std::string not_compared_words(const Fastest& f, const Bundle& bundle, double noise) {
  if (!f.candidate || f.speedup.low <= noise) return "";
  return fmt::format(
      "; candidate {} ({}) ran at {} but its outputs could not be compared, so it is not taken",
      f.candidate->number, candidate_of(bundle, *f.candidate).spec, ratio_words(f.speedup));
}

}  // namespace

double confidence_for(std::size_t candidates) {
  return 1 - 0.05 / static_cast<double>(std::max<std::size_t>(candidates, 1));
}

void choose(Results& r, const Bundle& bundle) {
  const double noise = std::max(1.0, r.control ? r.control->high : 1.0);
  const Fastest best = fastest(r, Status::kMeasured);
  r.best.reset();
  if (!best.candidate) {
    r.verdict = "keep the order as it is: no candidate could be measured and compared";
  } else if (best.speedup.low > noise) {
    const Measured& m = *best.candidate;
    r.best = m.number;
    r.verdict =
        fmt::format("take candidate {} ({}): {} of the original's speed, {:.4g} -> {:.4g} ms",
                    m.number, candidate_of(bundle, m).spec, ratio_words(best.speedup),
                    milliseconds_of(r.original), milliseconds_of(m));
  } else {
    r.verdict = fmt::format(
        "keep the order as it is: no candidate is faster beyond the noise (the fastest was "
        "candidate {}, {}, with {})",
        best.candidate->number, candidate_of(bundle, *best.candidate).spec,
        ratio_words(best.speedup));
  }
  if (r.control) {
    r.verdict += fmt::format("; the original against itself: {}", ratio_words(*r.control));
  }
  r.verdict += not_compared_words(fastest(r, Status::kNotCompared), bundle, noise);
}

}  // namespace swizzleperf::measure
