// Who proposes orders of blocks, and the words in which the loop and a proposer talk.
//
// `search` enumerates and replays (search.h). The others are asked round by round: a language
// model, a program that is handed JSON, a person. All that tells them apart is how a question
// reaches them and what asking costs, so a proposer is one function from a question to a text. What
// is taken out of that text is reply.h's business, whether it is any good is judgement.h's, and how
// long to go on is the loop's (optimize/loop.h). None of them ever touches a kernel: a reply is a
// formula of the swizzle language or it is nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "llm/client.h"
#include "swizzleperf/error.h"

namespace swizzleperf {

/// What became of an attempt. Those of the first two kinds were replayed and may be the best.
enum class AttemptOutcome {
  kMeasured,
  kLostBalance,  ///< replayed, and slower because the dies no longer end together
  kSyntax,
  kNotABijection,
  kIdentity,
  kRepeat,
  kHostChanged,      ///< of a whole kernel (optimize/rewrite.h): more than the kernel is other
  kNotBuilt,         ///< it does not compile
  kDifferentOutput,  ///< it does not do the original's work
  kNoReply,
};
std::string_view outcome_name(AttemptOutcome outcome);

/// Whether an order was replayed.
inline bool is_valid(AttemptOutcome outcome) {
  return outcome == AttemptOutcome::kMeasured || outcome == AttemptOutcome::kLostBalance;
}

/// Why an earlier attempt was not good enough, in the words of the proposer.
struct Critique {
  std::uint64_t attempt = 0;
  std::string why;
};

/// What is asked for.
enum class Edit {
  kFormula,  ///< of the swizzle language
  kKernel,   ///< the kernel's whole source file
};

struct Proposal {
  std::string formula;
  std::string summary;  ///< what the order does
  std::string reason;   ///< why it should be better
  std::vector<Critique> critiques;
  std::string kernel;  ///< the whole file, where that was asked for in place of a formula
};

/// One entry of the history that all proposers of a run share.
struct Attempt {
  std::uint64_t number = 0;  ///< from 1, over all proposers of the run
  std::string proposer;
  Proposal proposal;
  AttemptOutcome outcome = AttemptOutcome::kNoReply;
  std::string report;      ///< what a proposer can act on
  std::string spec;        ///< the name of its order in the journal; empty if it was not replayed
  std::uint64_t hash = 0;  ///< of its permutation, where it is one
  nlohmann::json metrics;  ///< of the exact replay (docs/json.md); null where there was none
  std::string patch;       ///< what a whole kernel changes; empty for a formula
};

/// What a proposer is asked. A program gets `request`; a language model or a person the two texts,
/// which say the same.
struct Question {
  std::uint64_t attempt = 0;  ///< the number that the answer will have in the history
  nlohmann::json request;
  std::string instructions;     ///< the task and the form of the reply
  std::string prompt;           ///< the context, the language, the history
  std::filesystem::path files;  ///< "RUN/prompts/007": what is kept of this question begins so
};

struct Answer {
  std::string text;     ///< as it came
  std::string problem;  ///< why there is none, or what is wrong with it; empty: nothing
  llm::Usage usage;
  std::string model;
};

/// Nothing more can be had of a proposer in this run.
class ProposerEnds : public Error {
 public:
  enum class Why {
    kBudget,   ///< a limit is reached
    kFailed,   ///< asking again is of no use
    kWaiting,  ///< for a person; the run can be resumed
  };
  ProposerEnds(Why why, const std::string& sentence) : Error(Exit::kInput, sentence), why_(why) {}
  [[nodiscard]] Why why() const { return why_; }

 private:
  Why why_;
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Throws ProposerEnds. A failure that may pass is an Answer with a problem.
  virtual Answer ask(const Question& question) = 0;
};

/// What asking may cost, what it has cost before, and who must know before anything else happens:
/// the hook is called when something that costs is begun and again when it has ended.
struct Purse {
  llm::Limits limits;
  llm::Spent spent;
  std::function<void(const llm::Spent&)> on_spent;
};

/// A program that reads Question::request on its stdin and answers on its stdout. It is started
/// anew for each question, without a shell, without keys in its environment; what it says on stderr
/// is kept beside the question.
struct CommandSettings {
  std::vector<std::string> argv;
  double time_limit_s = 600;
};
std::unique_ptr<Proposer> command_proposer(const CommandSettings& settings, Purse purse);

/// A person, or whatever reads and writes files: the question is written into the run directory,
/// the answer is looked for beside it.
std::unique_ptr<Proposer> manual_proposer();

/// A language model behind an endpoint.
std::unique_ptr<Proposer> llm_proposer(const llm::Endpoint& endpoint, const Purse& purse);

}  // namespace swizzleperf
