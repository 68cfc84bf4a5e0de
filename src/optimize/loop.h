// Proposers one after the other, over one history.
//
// `search` comes with hundreds of orders at once; the others are asked round by round, each round
// seeing what became of the ones before, whoever proposed them. All of them share the replays, the
// journal and the history, so a later proposer begins where an earlier one ended, an order is
// replayed once, and the best is the best of all.
//
// The loop ends with each proposer's attempts or with a budget. A proposer that cannot be had ends
// with a sentence, and what the others found stays. Nothing is lost by a kill (see proposals.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "context/context.h"
#include "optimize/proposals.h"
#include "optimize/replays.h"
#include "optimize/rewrite.h"
#include "propose/judgement.h"
#include "propose/proposer.h"

namespace swizzleperf {

/// Who is asked, how often, and what it may cost.
struct ProposerSettings {
  std::vector<std::string> names = {"search"};  ///< search, llm, command, manual; in this order
  std::uint64_t attempts = 10;                  ///< of each that is asked in rounds
  std::uint64_t samples = 1;                    ///< attempts that are asked for with one history
  llm::Limits limits;                           ///< of the whole run
  ContextKind context = ContextKind::kAware;
  Edit edit = Edit::kFormula;  ///< what those that are asked in rounds propose
  CommandSettings command;
  llm::EndpointOptions endpoint;

  [[nodiscard]] bool asks_in_rounds() const { return names != std::vector<std::string>{"search"}; }
};

/// An attempt, and what it is ranked by where it was replayed.
struct Tried {
  Attempt attempt;
  Score score;
};

/// What a run knows of orders.
struct History {
  std::vector<Attempt> attempts;
  std::vector<Ranked> replayed;  ///< the valid ones of them, best first
  KnownOrders known;

  void add(const Tried& tried, const Ranking& ranking);
  /// The attempt of an order that was replayed.
  [[nodiscard]] const Attempt& attempt_of(const Ranked& ranked) const;
  /// The attempt of the best order; null if none was replayed.
  [[nodiscard]] const Attempt* best() const;
  /// The number of the best of the first so many attempts.
  [[nodiscard]] std::optional<std::uint64_t> best_of(std::size_t first) const;
};

/// What came of one proposer.
struct Tally {
  std::uint64_t attempts = 0;
  std::uint64_t valid = 0;
  const Attempt* best = nullptr;
};
Tally tally_of(const History& history, const std::string& proposer);

/// What earlier processes of the run have tried.
History recall(const ProposalLog& log, Replays& replays, const LaunchShape& shape,
               const Ranking& ranking);

/// The search's finalists become attempts, everything that it looked at becomes known. Where nobody
/// is asked afterwards, the baseline may still be unknown (null), and the attempts have no report.
void note_search(const SearchResult& search, Replays& replays, ProposalLog& log, History& history,
                 const Ranking& ranking, const nlohmann::json& baseline);

/// The order of an attempt that proposed a formula, as what is proved and applied.
Swizzle swizzle_of(const Attempt& attempt);

/// How the asking of one proposer ended.
struct Ending {
  enum class Why { kDone, kBudget, kFailed, kWaiting };
  std::string proposer;
  Why why = Why::kDone;
  std::string sentence;  ///< empty: all its attempts were made
};

/// Throws Error(kUsage) for settings that cannot work, before anything is traced.
void check_proposers(const ProposerSettings& settings);

struct LoopSetup {
  const Launch& launch;
  const ProposerSettings& settings;
  Ranking ranking;
  std::filesystem::path run_directory;
  nlohmann::json baseline;           ///< metrics of the identity
  std::function<Context()> context;  ///< made when it is first needed
  /// Only where whole kernels are asked for: the file as it is, and the judgement on another.
  std::string file;
  std::function<RewriteVerdict(const std::string& text, const KnownOrders& known)> judge_rewrite;
  unsigned threads = 1;
  bool quiet = false;
};

/// Asks one proposer until something ends it. `replays` answer from the journal.
Ending ask_in_rounds(const std::string& name, const LoopSetup& setup, Replays& replays,
                     ProposalLog& log, History& history);

}  // namespace swizzleperf
