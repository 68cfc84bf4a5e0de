// See proposals.h.
#include "optimize/proposals.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace swizzleperf {
namespace {

using nlohmann::json;

AttemptOutcome outcome_of(const std::string& name) {
  constexpr std::array kAll = {AttemptOutcome::kMeasured,        AttemptOutcome::kLostBalance,
                               AttemptOutcome::kSyntax,          AttemptOutcome::kNotABijection,
                               AttemptOutcome::kIdentity,        AttemptOutcome::kRepeat,
                               AttemptOutcome::kHostChanged,     AttemptOutcome::kNotBuilt,
                               AttemptOutcome::kDifferentOutput, AttemptOutcome::kNoReply};
  for (const AttemptOutcome outcome : kAll) {
    if (outcome_name(outcome) == name) return outcome;
  }
  throw std::invalid_argument(name);
}

json count(const std::optional<std::uint64_t>& value) { return value ? json(*value) : json(); }

std::optional<std::uint64_t> count_at(const json& object, const char* key) {
  const json& value = object.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<std::uint64_t>());
}

Attempt attempt_of(const json& line) {
  Attempt a;
  a.number = line.at("attempt");
  a.proposer = line.at("proposer");
  a.proposal = {line.at("formula"), line.at("summary"), line.at("reason"), {}, line.at("kernel")};
  a.patch = line.at("patch");
  for (const json& c : line.at("critiques")) {
    a.proposal.critiques.push_back({c.at("attempt"), c.at("why")});
  }
  a.outcome = outcome_of(line.at("outcome"));
  a.report = line.at("report");
  if (line.at("swizzle").is_string()) a.spec = line.at("swizzle");
  if (line.at("hash").is_string()) {
    a.hash = std::stoull(line.at("hash").get<std::string>(), nullptr, 16);
  }
  if (is_valid(a.outcome) && a.spec.empty()) throw std::invalid_argument("an order of no name");
  return a;
}

}  // namespace

json to_json(const Attempt& a) {
  json critiques = json::array();
  for (const Critique& c : a.proposal.critiques) {
    critiques.push_back({{"attempt", c.attempt}, {"why", c.why}});
  }
  return {{"attempt", a.number},
          {"proposer", a.proposer},
          {"formula", a.proposal.formula},
          {"summary", a.proposal.summary},
          {"reason", a.proposal.reason},
          {"critiques", critiques},
          {"outcome", outcome_name(a.outcome)},
          {"report", a.report},
          {"swizzle", a.spec.empty() ? json() : json(a.spec)},
          {"hash", a.hash == 0 ? json() : json(fmt::format("{:016x}", a.hash))}};
}

ProposalLog::ProposalLog(const std::filesystem::path& file)
    : lines_(file, [this](json&& line) { take(line); }) {}

void ProposalLog::take(const json& line) {
  const std::string event = line.at("event");
  if (event == "spent") {
    spent_[line.at("proposer")] = {line.at("calls"), line.at("prompt_tokens"),
                                   line.at("completion_tokens"), line.at("usage_unknown"),
                                   line.at("seconds")};
  } else if (event == "reply") {
    const json& usage = line.at("usage");
    replies_[line.at("attempt")] = {
        line.at("text"),
        line.at("problem"),
        {count_at(usage, "prompt_tokens"), count_at(usage, "completion_tokens")},
        line.at("model")};
  } else if (event == "attempt") {
    const Attempt a = attempt_of(line);
    attempts_.push_back(a);
    replies_.erase(a.number);
    std::uint64_t& in_row = in_row_[a.proposer];
    in_row = a.outcome == AttemptOutcome::kNoReply ? in_row + 1 : 0;
  } else if (event == "failed") {
    failures_[line.at("proposer")] = line.at("why");
  } else if (event == "finished") {
    failures_.clear();
    in_row_.clear();
  }
}

void ProposalLog::write(const json& line) {
  lines_.append(line);
  take(line);
}

void ProposalLog::asked(std::uint64_t attempt, const std::string& proposer) {
  write({{"event", "asked"}, {"attempt", attempt}, {"proposer", proposer}});
}

void ProposalLog::spent(const std::string& proposer, const llm::Spent& s) {
  write({{"event", "spent"},
         {"proposer", proposer},
         {"calls", s.calls},
         {"prompt_tokens", s.prompt_tokens},
         {"completion_tokens", s.completion_tokens},
         {"usage_unknown", s.usage_unknown},
         {"seconds", s.seconds}});
}

void ProposalLog::replied(std::uint64_t attempt, const Answer& answer) {
  write({{"event", "reply"},
         {"attempt", attempt},
         {"text", answer.text},
         {"problem", answer.problem},
         {"usage",
          {{"prompt_tokens", count(answer.usage.prompt_tokens)},
           {"completion_tokens", count(answer.usage.completion_tokens)}}},
         {"model", answer.model}});
}

void ProposalLog::judged(const Attempt& attempt) {
  json line = to_json(attempt);
  line["event"] = "attempt";
  line["kernel"] = attempt.proposal.kernel;
  line["patch"] = attempt.patch;
  write(line);
}

void ProposalLog::failed(const std::string& proposer, const std::string& why) {
  write({{"event", "failed"}, {"proposer", proposer}, {"why", why}});
}

void ProposalLog::finished() { write({{"event", "finished"}}); }

std::optional<Answer> ProposalLog::reply(std::uint64_t attempt) const {
  const auto it = replies_.find(attempt);
  return it == replies_.end() ? std::nullopt : std::optional(it->second);
}

llm::Spent ProposalLog::spent(const std::string& proposer) const {
  const auto it = spent_.find(proposer);
  return it == spent_.end() ? llm::Spent{} : it->second;
}

std::string ProposalLog::failure(const std::string& proposer) const {
  const auto it = failures_.find(proposer);
  return it == failures_.end() ? "" : it->second;
}

std::uint64_t ProposalLog::failures_in_row(const std::string& proposer) const {
  const auto it = in_row_.find(proposer);
  return it == in_row_.end() ? 0 : it->second;
}

}  // namespace swizzleperf
