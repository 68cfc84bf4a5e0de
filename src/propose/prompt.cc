// See prompt.h.
#include "propose/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "propose/figures.h"
#include "propose/reply.h"
#include "report/metrics.h"

namespace swizzleperf {
namespace {

using nlohmann::json;

constexpr std::size_t kMostShort = 60;         // attempts that are told of
constexpr std::size_t kMostFormula = 4000;     // bytes of an earlier formula
constexpr std::size_t kMostReport = 2500;      // bytes of its report
constexpr std::size_t kMostShortReport = 200;  // of a report in a line

constexpr std::string_view kInstructions =
    R"(You choose the order in which a GPU kernel's blocks are computed. The order is a formula in a small
language that is described below: it maps the index of a block in the order of dispatch to the block that
is computed there. A good order makes blocks that use the same data run near each other in time and place.

You are asked in rounds. Each formula is proved to compute every block exactly once, then replayed on a
model of the machine, and you are told what it did. Formulas that lose a block, compute one twice, leave
the grid, change nothing, or give an order that was tried before (whatever their text) are refused.

First criticise: for each earlier attempt that you are shown, one sentence on why it was not good enough.
Then propose one formula that is better, for this launch; it should hold for every other grid, too.

Answer with one JSON object and nothing else:
{"critiques": [{"attempt": 1, "why": "one sentence"}],
 "summary": "what the new order does, one or two sentences",
 "reason": "why it should be better, one or two sentences",
 "formula": "the formula; write line breaks as \n"}
)";

constexpr std::string_view kKernelInstructions =
    R"(You rewrite a GPU kernel so that its blocks are computed in a better order: blocks that use the same
data should run near each other in time and place. Only the order may change: which block's work is done at
which block index. Each block's work stays what it is.

You are asked in rounds. Each rewritten file is compiled and traced on a virtual GPU; each of its blocks must
load and store exactly what one block of the original does, and each block of the original must be computed
once, with the same results. The order is then replayed on a model of the machine, and you are told what it
did. What changes nothing, or gives an order that was tried before, is refused.

Keep everything but the kernels' bodies and __device__ functions exactly as it is; no preprocessor lines but
#pragma unroll, no inline assembly.

First criticise: for each earlier attempt that you are shown, one sentence on why it was not good enough.
Answer with one JSON object, then the whole file in one code fence:
{"critiques": [{"attempt": 1, "why": "one sentence"}],
 "summary": "what the new order does, one or two sentences",
 "reason": "why it should be better, one or two sentences"}
)";

std::string_view objective_text(std::string_view objective, bool hardware) {
  if (objective == "l2") return hardware ? "the highest L2 hit rate" : "the highest cache hit rate";
  if (objective == "hbm") return "the least memory traffic";
  return "the least time";
}

// --- The history --------------------------------------------------------------------------------

/// An attempt as a proposer may see it.
struct Told {
  const Attempt& attempt;
  std::string report;
  json metrics;
};

Told tell(const Brief& b, const Attempt& a) {
  Told told{a, clean_text(a.report, kMostReport), json()};
  if (a.metrics.is_null()) return told;
  if (b.hardware) {
    told.metrics = brief(a.metrics, b.baseline);
  } else {
    told.report = objective_words(a.metrics, b.baseline, b.objective);
  }
  return told;
}

bool is_last_round(const Round& r, const Attempt& a) {
  return a.number + r.samples > r.history.back().number;
}

/// The attempts that are told of: the last ones and the best.
std::vector<const Attempt*> selected(const Round& r) {
  std::vector<const Attempt*> out;
  const std::size_t skipped = r.history.size() - std::min(kMostShort, r.history.size());
  for (std::size_t i = 0; i < r.history.size(); ++i) {
    if (i >= skipped || r.history[i].number == r.best) out.push_back(&r.history[i]);
  }
  return out;
}

json history_json(const Brief& b, const Round& r) {
  json history = json::array();
  for (const Attempt* a : selected(r)) {
    const Told told = tell(b, *a);
    history.push_back(
        {{"attempt", a->number},
         {"proposer", a->proposer},
         {"formula", clean_text(a->proposal.formula, kMostFormula)},
         {"patch", a->patch.empty() ? json() : json(clean_text(a->patch, kMostFormula))},
         {"summary", a->proposal.summary},
         {"outcome", outcome_name(a->outcome)},
         {"report", told.report},
         {"metrics", told.metrics}});
  }
  return history;
}

std::string indented(std::string_view text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  while (out.ends_with(' ') || out.ends_with('\n')) out.pop_back();
  return out + "\n";
}

std::string short_text(const Told& t) {
  return fmt::format("attempt {} ({}): {}; {}\n", t.attempt.number, t.attempt.proposer,
                     outcome_name(t.attempt.outcome), clean_line(t.report, kMostShortReport));
}

std::string full_text(const Told& t, bool is_best) {
  const Attempt& a = t.attempt;
  std::string text = fmt::format("Attempt {} ({}): {}{}\n", a.number, a.proposer,
                                 outcome_name(a.outcome), is_best ? ", the best so far" : "");
  if (!a.proposal.summary.empty()) text += fmt::format("Summary: {}\n", a.proposal.summary);
  if (!a.proposal.formula.empty()) {
    text += "Formula:\n" + indented(clean_text(a.proposal.formula, kMostFormula));
  }
  if (!a.patch.empty()) text += "Change:\n" + indented(clean_text(a.patch, kMostFormula));
  return text + fmt::format("Report: {}\n", t.report);
}

std::string history_text(const Brief& b, const Round& r) {
  if (r.history.empty()) return "Nothing was tried yet.\n";
  std::string all;
  std::string full;
  const std::vector<const Attempt*> shown = selected(r);
  if (shown.size() < r.history.size()) {
    all = fmt::format("({} earlier attempts are left out.)\n", r.history.size() - shown.size());
  }
  for (const Attempt* a : shown) {
    const Told told = tell(b, *a);
    all += short_text(told);
    const bool is_best = a->number == r.best;
    if (is_best || is_last_round(r, *a)) full += "\n" + full_text(told, is_best);
  }
  return all + full;
}

// --- The launch ---------------------------------------------------------------------------------

json machine_json(const Machine& m) {
  return {{"name", m.name},
          {"title", m.title},
          {"dies", m.dies},
          {"cus_per_die", m.cus_per_die},
          {"l2_bytes_per_die", m.l2.bytes},
          {"l2_line_bytes", m.l2.line_bytes},
          {"llc_bytes", m.llc ? json(m.llc->bytes) : json()}};
}

json extents(const Dim3& e) { return {e.x, e.y, e.z}; }

}  // namespace

Question make_question(const Brief& b, const Round& r) {
  Question q;
  q.attempt = r.attempt;
  q.request = {{"schema_version", kSchemaVersion},
               {"kernel", b.trace.kernel},
               {"machine", b.hardware ? machine_json(b.machine) : json()},
               {"grid", extents(b.trace.grid)},
               {"block", extents(b.trace.block)},
               {"objective", b.objective},
               {"context", b.context},
               {"language", b.language},
               {"baseline", b.hardware ? brief(b.baseline, b.baseline) : json()},
               {"best", r.best ? json(*r.best) : json()},
               {"history", history_json(b, r)},
               {"attempt", r.attempt},
               {"attempts_left", r.attempts_left},
               {"sample", r.sample},
               {"samples", r.samples}};
  const bool whole = !b.file.empty();
  q.request["edit"] = whole ? "kernel" : "formula";
  if (whole) q.request["file"] = b.file;
  q.instructions = whole ? kKernelInstructions : kInstructions;
  q.prompt = fmt::format(
      "{}\n# {}\n# What was tried\n{}\n# Your turn\nPropose attempt {}. The aim is {}.\n",
      b.context, whole ? "The whole file\n```\n" + b.file + "```\n" : "The language\n" + b.language,
      history_text(b, r), r.attempt, objective_text(b.objective, b.hardware));
  return q;
}

}  // namespace swizzleperf
