// See rows.h.
#include "study/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/files.h"

namespace swizzleperf::study {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What a question cost.
struct Price {
  std::optional<double> tokens;
  std::optional<double> seconds;
};

std::optional<double> number(const json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<bool> truth(const json& value) {
  return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
}

/// By attempt, from proposals.jsonl: what had been spent when the reply came, less what had been
/// when the question was asked. Tokens are those of the reply, where it told any.
std::map<std::uint64_t, Price> prices(const fs::path& directory) {
  std::map<std::uint64_t, Price> all;
  std::map<std::string, double> spent;
  std::map<std::uint64_t, std::pair<std::string, double>> asked;
  const fs::path file = directory / "proposals.jsonl";
  if (!fs::exists(file)) return all;
  const std::string text = read_file(file);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const json line = json::parse(text.substr(at, end - at), nullptr, false);
    at = end + 1;
    if (!line.is_object()) continue;  // torn by a kill
    const std::string event = line.value("event", "");
    if (event == "spent") {
      spent[line.at("proposer")] = line.at("seconds");
    } else if (event == "asked") {
      const std::string proposer = line.at("proposer");
      asked[line.at("attempt")] = {proposer, spent[proposer]};
    } else if (event == "reply") {
      const std::uint64_t attempt = line.at("attempt");
      const auto& [proposer, before] = asked[attempt];
      const json usage = line.value("usage", json::object());
      const auto prompt = number(usage.value("prompt_tokens", json()));
      const auto completion = number(usage.value("completion_tokens", json()));
      all[attempt] = {prompt && completion ? std::optional(*prompt + *completion) : std::nullopt,
                      spent[proposer] - before};
    }
  }
  return all;
}

AttemptRow row_of(const StudyFile& study, const Configuration& c) {
  AttemptRow row;
  row.kernel = study.programs[c.program].name;
  row.size = c.size;
  row.machine = fs::path(c.machine).stem().string();
  if (c.context) row.context = context_name(*c.context);
  row.proposer = study.proposers[c.proposer].name;
  row.model = c.model;
  row.trial = c.trial;
  return row;
}

/// What the outcome says of the reply. A repeat is of an order or of a text that was refused.
void judge(AttemptRow& row) {
  const std::string& o = row.outcome;
  const bool replayed = o == "measured" || o == "lost_balance";
  const bool is_order = replayed || o == "identity" || (o == "repeat" && !row.hash.empty());
  const bool refused_text = o == "repeat" && row.hash.empty();
  const bool kernel = o == "host_changed" || o == "not_built" || o == "different_output";
  if (o == "no_reply" || o == "syntax") row.parsed = false;
  if (is_order || kernel || o == "not_a_bijection") row.parsed = true;
  if (is_order) row.bijective = true;
  if (o == "not_a_bijection") row.bijective = false;
  if (is_order) row.identity = o == "identity";
  if (row.parsed == true || refused_text) row.repeated = o == "repeat";
}

/// Whole kernels are built and compared before their order is replayed.
void judge_kernel(AttemptRow& row) {
  if (row.outcome == "not_built") row.built = false;
  if (row.outcome == "different_output") row.built = true;
  if (row.outcome == "different_output") row.equal_outputs = false;
  if (row.outcome == "measured" || row.outcome == "lost_balance") {
    row.built = row.equal_outputs = true;
  }
}

}  // namespace

std::vector<AttemptRow> rows_of(const StudyFile& study, const Finished& run) {
  AttemptRow common = row_of(study, run.configuration);
  if (run.result.is_null()) {
    common.outcome = "failed";
    common.reason = run.reason;
    return {common};
  }
  const json& result = run.result;
  const json& baseline = result.at("baseline").at("metrics");
  common.l2_before = number(baseline.at("l2").at("hit_rate"));
  const double time_before = baseline.at("time_ms");
  const json& best = result.at("best");
  const std::map<std::uint64_t, Price> price = prices(run.directory);
  std::vector<AttemptRow> rows;
  for (const json& a : result.at("attempts")) {
    AttemptRow row = common;
    row.attempt = a.at("attempt");
    row.formula = a.at("formula");
    row.hash = a.at("hash").is_string() ? a.at("hash").get<std::string>() : "";
    row.outcome = a.at("outcome");
    row.reason = a.at("report");
    judge(row);
    const ProposerSettings& settings = study.proposers[run.configuration.proposer].settings;
    if (settings.edit == Edit::kKernel && a.at("proposer") != "search") judge_kernel(row);
    row.l2_after = number(a.at("l2_hit_rate"));
    row.time_ms = number(a.at("time_ms"));
    if (row.time_ms && *row.time_ms > 0) row.time_ratio = time_before / *row.time_ms;
    if (const auto p = price.find(row.attempt); p != price.end()) {
      row.tokens = p->second.tokens;
      row.seconds = p->second.seconds;
    }
    row.best = best.is_object() && best.at("attempt") == row.attempt;
    if (row.best && !row.built) {
      row.built = truth(best.at("applied").at("built"));
      const json& comparison = best.at("applied").at("comparison");
      if (comparison.is_object()) row.equal_outputs = truth(comparison.at("equal"));
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    common.outcome = "nothing";
    common.reason = "no order was proposed";
    rows.push_back(common);
  }
  return rows;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    out += c;
    if (c == '"') out += c;
  }
  return out + "\"";
}

std::string csv_field(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "";
}

std::string csv_field(const std::optional<bool>& value) {
  return value ? (*value ? "true" : "false") : "";
}

std::string attempts_csv(const std::vector<AttemptRow>& rows) {
  std::string text =
      "kernel,size,machine,context,proposer,model,trial,attempt,formula,parsed,bijective,identity,"
      "repeated,built,equal_outputs,l2_before,l2_after,time_ratio,tokens,seconds,best,outcome,"
      "reason\n";
  for (const AttemptRow& r : rows) {
    const std::string attempt = r.attempt == 0 ? "" : fmt::to_string(r.attempt);
    const std::vector<std::string> fields = {csv_field(r.kernel),
                                             csv_field(r.size),
                                             csv_field(r.machine),
                                             csv_field(r.context),
                                             csv_field(r.proposer),
                                             csv_field(r.model),
                                             fmt::to_string(r.trial),
                                             attempt,
                                             csv_field(r.formula),
                                             csv_field(r.parsed),
                                             csv_field(r.bijective),
                                             csv_field(r.identity),
                                             csv_field(r.repeated),
                                             csv_field(r.built),
                                             csv_field(r.equal_outputs),
                                             csv_field(r.l2_before),
                                             csv_field(r.l2_after),
                                             csv_field(r.time_ratio),
                                             csv_field(r.tokens),
                                             csv_field(r.seconds),
                                             csv_field(std::optional(r.best)),
                                             csv_field(r.outcome),
                                             csv_field(r.reason)};
    text += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return text;
}

}  // namespace swizzleperf::study
