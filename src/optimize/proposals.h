// proposals.jsonl: what was asked, what it cost, what was answered and what became of it.
//
// Lines of these kinds, in the order in which they are true, each written before the next thing is
// done. So a run that is killed knows afterwards that a question was sent (it cost a call, whatever
// came of it), that a reply had come (it is not asked for again), or that an attempt was judged.
//     {event: "asked", attempt, proposer}
//     {event: "spent", proposer, calls, prompt_tokens, completion_tokens, usage_unknown, seconds}
//     {event: "reply", attempt, text, problem, usage, model}
//     {event: "attempt", attempt, proposer, formula, summary, reason, critiques, outcome, report,
//      swizzle, hash, kernel, patch}
//     {event: "failed", proposer, why}   and   {event: "finished"}
// "finished" closes a run of the program. A proposer that failed is not asked again before it, and
// is after it: somebody resumed a finished run in the hope of more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "optimize/json_lines.h"
#include "propose/proposer.h"

namespace swizzleperf {

nlohmann::json to_json(const Attempt& attempt);

class ProposalLog {
 public:
  /// Opens or creates. Throws Error(kInput).
  explicit ProposalLog(const std::filesystem::path& file);

  void asked(std::uint64_t attempt, const std::string& proposer);
  void spent(const std::string& proposer, const llm::Spent& spent);
  void replied(std::uint64_t attempt, const Answer& answer);
  void judged(const Attempt& attempt);
  void failed(const std::string& proposer, const std::string& why);
  void finished();

  /// Judged attempts, without their metrics, which the journal has.
  [[nodiscard]] const std::vector<Attempt>& attempts() const { return attempts_; }
  /// The reply to a question, if it came.
  [[nodiscard]] std::optional<Answer> reply(std::uint64_t attempt) const;
  [[nodiscard]] llm::Spent spent(const std::string& proposer) const;
  /// Why a proposer failed, since the last "finished"; empty if it did not.
  [[nodiscard]] std::string failure(const std::string& proposer) const;
  /// Its attempts without a reply since its last one with one, and since the last "finished".
  [[nodiscard]] std::uint64_t failures_in_row(const std::string& proposer) const;

 private:
  void take(const nlohmann::json& line);
  void write(const nlohmann::json& line);

  std::vector<Attempt> attempts_;
  std::map<std::uint64_t, Answer> replies_;
  std::map<std::string, llm::Spent> spent_;
  std::map<std::string, std::string> failures_;  // by proposer, as the next
  std::map<std::string, std::uint64_t> in_row_;
  JsonLines lines_;
};

}  // namespace swizzleperf
