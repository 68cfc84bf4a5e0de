// reply_fuzz COUNT [SEED]: hostile and random replies through extraction and judgement.
//
// Half are mutations of good replies, since noise alone rarely gets past the first check; the rest
// is what people try on such a loop: binary, megabytes, deep nesting, host code, shell, paths. What
// must hold for each: it ends, what comes out is clean text, and only a bijection
// that is not the identity is let through.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/random.h"
#include "propose/judgement.h"
#include "propose/reply.h"
#include "support/hostile.h"

namespace swizzleperf {
namespace {

struct Counts {
  std::uint64_t formulas = 0;
  std::uint64_t valid = 0;  ///< different orders; a known one is refused
};

[[noreturn]] void fail(const std::string& reply, const std::string& what) {
  fmt::print(stderr, "{}\nfor the reply ({} bytes):\n{}\n", what, reply.size(),
             clean_text(reply, 4000));
  std::exit(1);
}

void check_clean(const std::string& reply, const std::string& text) {
  if (clean_text(text, std::string::npos) != text) fail(reply, "what came out is not clean text");
}

void check(const std::string& reply, KnownOrders& known, Counts& counts) {
  const Extracted e = extract(reply);
  check_clean(reply, e.proposal.formula);
  check_clean(reply, e.proposal.summary);
  check_clean(reply, e.proposal.reason);
  for (const Critique& c : e.proposal.critiques) check_clean(reply, c.why);
  const Extracted file = extract(reply, Edit::kKernel);
  check_clean(reply, file.proposal.kernel);
  if (file.problem.empty() == file.proposal.kernel.empty()) fail(reply, "no file and no problem");
  if (e.problem.empty() == e.proposal.formula.empty()) fail(reply, "no formula and no problem");
  if (e.problem.empty()) {
    ++counts.formulas;
    const LaunchShape shape{{13, 5, 1}, 8, 38};
    const Judgement j = judge_formula(e.proposal.formula, shape, known, 1);
    check_clean(reply, j.report);
    if (is_valid(j.outcome)) {
      ++counts.valid;
      known.emplace(j.on_launch.hash, "an earlier one");
      std::vector<std::uint32_t> order = j.on_launch.permutation;
      if (std::is_sorted(order.begin(), order.end())) fail(reply, "the identity got through");
      std::sort(order.begin(), order.end());
      for (std::uint32_t i = 0; i < 65; ++i) {
        if (order.size() != 65 || order[i] != i) fail(reply, "no bijection got through");
      }
    }
  }
}

}  // namespace
}  // namespace swizzleperf

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  swizzleperf::Random random(seed);
  swizzleperf::Counts counts;
  swizzleperf::KnownOrders known;
  for (std::uint64_t i = 0; i < count; ++i) {
    swizzleperf::check(swizzleperf::hostile::reply(random), known, counts);
  }
  fmt::print("{} replies: {} had a formula, {} of those were valid orders\n", count,
             counts.formulas, counts.valid);
  return counts.formulas == 0 || counts.valid == 0 ? 1 : 0;
}
