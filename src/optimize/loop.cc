// See loop.h.
#include "optimize/loop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "base/files.h"
#include "propose/figures.h"
#include "propose/prompt.h"
#include "propose/reply.h"
#include "report/progress.h"

namespace swizzleperf {
namespace {

/// Attempts in a row without any reply after which a proposer is not asked again.
constexpr std::uint64_t kMostFailures = 3;

// --- What it costs ------------------------------------------------------------------------------

template <class Value>
void take_off(std::optional<Value>& limit, Value spent) {
  if (limit) *limit -= std::min(*limit, spent);
}

/// The limits are of the whole run: what the other proposers spent is taken off.
Purse purse_of(const std::string& name, const ProposerSettings& settings, ProposalLog& log) {
  Purse purse{settings.limits, log.spent(name),
              [&log, name](const llm::Spent& spent) { log.spent(name, spent); }};
  for (const std::string& other : settings.names) {
    if (other == name) continue;
    const llm::Spent spent = log.spent(other);
    take_off(purse.limits.calls, spent.calls);
    take_off(purse.limits.tokens, spent.prompt_tokens + spent.completion_tokens);
    take_off(purse.limits.seconds, spent.seconds);
  }
  return purse;
}

std::unique_ptr<Proposer> make_proposer(const std::string& name, const ProposerSettings& settings,
                                        ProposalLog& log) {
  if (name == "manual") return manual_proposer();
  Purse purse = purse_of(name, settings, log);
  if (name == "command") return command_proposer(settings.command, std::move(purse));
  return llm_proposer(llm::endpoint_from(settings.endpoint), purse);
}

// --- One proposer -------------------------------------------------------------------------------

class Rounds {
 public:
  Rounds(const std::string& name, const LoopSetup& setup, Replays& replays, ProposalLog& log,
         History& history)
      : name_(name),
        setup_(setup),
        replays_(replays),
        log_(log),
        history_(history),
        progress_(setup.quiet) {}

  Ending run() {
    Ending end = ask_until_it_ends();
    const Tally tally = tally_of(history_, name_);
    progress_.finish(fmt::format(
        "{}: {} attempts, {} of them valid{}{}", name_, tally.attempts, tally.valid,
        tally.best
            ? fmt::format(", the best {:.3f} ms", tally.best->metrics.at("time_ms").get<double>())
            : "",
        end.sentence.empty() ? "" : "; " + end.sentence));
    return end;
  }

 private:
  Ending ask_until_it_ends() {
    while (true) {
      if (std::string why = log_.failure(name_); !why.empty()) return failed(std::move(why));
      if (made() >= setup_.settings.attempts) return {name_, Ending::Why::kDone, ""};
      try {
        const std::uint64_t number = history_.attempts.size() + 1;
        auto answer = log_.reply(number);
        if (!answer) answer = ask(number);
        conclude(judge(*answer, number));
      } catch (const ProposerEnds& end) {
        if (end.why() == ProposerEnds::Why::kWaiting) {
          return {name_, Ending::Why::kWaiting, end.what()};
        }
        if (end.why() == ProposerEnds::Why::kBudget) {
          return {name_, Ending::Why::kBudget, end.what()};
        }
        conclude({without_reply(history_.attempts.size() + 1, end.what()), {}});
        log_.failed(name_, clean_line(end.what(), kMostReplyBytes));
      }
    }
  }

  [[nodiscard]] Ending failed(std::string why) const {
    return {name_, Ending::Why::kFailed, std::move(why)};
  }

  [[nodiscard]] std::uint64_t made() const {
    return static_cast<std::uint64_t>(
        std::count_if(history_.attempts.begin(), history_.attempts.end(),
                      [&](const Attempt& a) { return a.proposer == name_; }));
  }

  Question question(std::uint64_t number) {
    if (!context_) context_ = setup_.context();
    const ProposerSettings& s = setup_.settings;
    const Brief brief{setup_.launch.trace,
                      setup_.launch.machine,
                      std::string(objective_name(setup_.ranking.objective)),
                      s.context != ContextKind::kUnaware,
                      context_->text,
                      context_->language,
                      setup_.baseline,
                      setup_.file};
    const std::uint64_t of_this_round = made() % s.samples;
    Round round;
    round.history = std::span(history_.attempts).first(history_.attempts.size() - of_this_round);
    round.best = history_.best_of(round.history.size());
    round.attempt = number;
    round.attempts_left = s.attempts - made();
    round.sample = of_this_round + 1;
    round.samples = s.samples;
    Question q = make_question(brief, round);
    q.files = setup_.run_directory / "prompts" / fmt::format("{:03}", number);
    return q;
  }

  Answer ask(std::uint64_t number) {
    const Question q = question(number);
    const std::string files = q.files.string();
    make_directories(q.files.parent_path());
    write_file(files + ".txt", q.instructions + "\n" + q.prompt);
    write_file(files + ".request.json", q.request.dump(1) + "\n");
    show(fmt::format("asked for attempt {}", number));
    if (!proposer_) meet();
    log_.asked(number, name_);
    Answer answer = proposer_->ask(q);
    if (name_ != "manual") write_file(files + ".reply.txt", answer.text);
    // From here on nobody sees the bytes as they came, so that a resumed run sees the same.
    answer.text = clean_text(answer.text, kMostReplyBytes);
    answer.problem = clean_line(answer.problem, kMostReplyBytes);
    answer.model = clean_line(answer.model, kMostReplyBytes);
    log_.replied(number, answer);
    return answer;
  }

  /// One that cannot even be set up (a file to replay is missing) must not cost what others found.
  void meet() {
    try {
      proposer_ = make_proposer(name_, setup_.settings, log_);
    } catch (const Error& error) {
      throw ProposerEnds(ProposerEnds::Why::kFailed, error.what());
    }
  }

  [[nodiscard]] Attempt without_reply(std::uint64_t number, const std::string& why) const {
    Attempt a;
    a.number = number;
    a.proposer = name_;
    a.report = clean_line(why, kMostReplyBytes);
    return a;
  }

  Tried judge(const Answer& answer, std::uint64_t number) {
    if (!answer.problem.empty()) return {without_reply(number, answer.problem), {}};
    const Edit edit = setup_.settings.edit;
    const Extracted reply = extract(answer.text, edit);
    Attempt a = without_reply(number, reply.problem);
    a.proposal = reply.proposal;
    a.outcome = AttemptOutcome::kSyntax;
    if (!reply.problem.empty()) return {a, {}};
    if (const Attempt* earlier = refused_before(a.proposal)) {
      a.outcome = AttemptOutcome::kRepeat;
      a.report = fmt::format("this is the text of attempt {} again, which was refused: {}",
                             earlier->number, earlier->report);
      return {a, {}};
    }
    return edit == Edit::kFormula ? judge_as_formula(std::move(a)) : judge_as_kernel(std::move(a));
  }

  Tried judge_as_formula(Attempt a) {
    const Judgement j =
        judge_formula(a.proposal.formula, setup_.launch.shape, history_.known, setup_.threads);
    a.outcome = j.outcome;
    a.report = j.report;
    a.hash = j.on_launch.hash;
    return is_valid(a.outcome) ? measure(std::move(a), j.on_launch.permutation) : Tried{a, {}};
  }

  Tried judge_as_kernel(Attempt a) {
    RewriteVerdict v = setup_.judge_rewrite(a.proposal.kernel, history_.known);
    a.outcome = v.outcome;
    a.report = clean_line(v.report, kMostReplyBytes);
    a.hash = v.hash;
    a.patch = std::move(v.patch);
    return is_valid(a.outcome) ? measure(std::move(a), v.permutation) : Tried{a, {}};
  }

  Tried measure(Attempt a, const std::vector<std::uint32_t>& permutation) {
    a.spec = fmt::format("{}-{}", name_, a.number);
    auto [score, metrics] = replays_.exact({a.spec, a.hash}, [&] { return permutation; });
    a.metrics = std::move(metrics);
    if (loses_balance(a.metrics, setup_.baseline)) a.outcome = AttemptOutcome::kLostBalance;
    a.report = measured_words(a.metrics, setup_.baseline) + " Correctness: " + a.report;
    return {std::move(a), score};
  }

  [[nodiscard]] const Attempt* refused_before(const Proposal& p) const {
    const auto it =
        std::find_if(history_.attempts.begin(), history_.attempts.end(), [&](const Attempt& a) {
          return !is_valid(a.outcome) && a.outcome != AttemptOutcome::kNoReply &&
                 a.proposal.formula == p.formula && a.proposal.kernel == p.kernel;
        });
    return it == history_.attempts.end() ? nullptr : &*it;
  }

  void conclude(const Tried& tried) {
    const Attempt& a = tried.attempt;
    log_.judged(a);
    history_.add(tried, setup_.ranking);
    show(fmt::format("attempt {}: {}", a.number, outcome_name(a.outcome)));
    if (log_.failures_in_row(name_) >= kMostFailures && log_.failure(name_).empty()) {
      log_.failed(name_, fmt::format("{} attempts in a row had no reply; the last: {}",
                                     kMostFailures, a.report));
    }
  }

  void show(const std::string& what) {
    std::string line =
        fmt::format("{}: {} ({} of {} made)", name_, what, made(), setup_.settings.attempts);
    if (const Attempt* best = history_.best()) {
      line += fmt::format(", best {} with {:.3f} ms", best->spec,
                          best->metrics.at("time_ms").get<double>());
    }
    progress_.update(line,
                     static_cast<double>(made()) /
                         static_cast<double>(std::max<std::uint64_t>(1, setup_.settings.attempts)));
  }

  const std::string& name_;
  const LoopSetup& setup_;
  Replays& replays_;
  ProposalLog& log_;
  History& history_;
  Progress progress_;
  std::unique_ptr<Proposer> proposer_;
  std::optional<Context> context_;
};

}  // namespace

void History::add(const Tried& tried, const Ranking& ranking) {
  const Attempt& a = tried.attempt;
  attempts.push_back(a);
  if (!is_valid(a.outcome)) return;
  known.emplace(a.hash, fmt::format("attempt {}", a.number));
  replayed.push_back({{a.spec, a.hash}, tried.score});
  rank(replayed, ranking);
}

Tally tally_of(const History& history, const std::string& proposer) {
  Tally tally;
  for (const Attempt& a : history.attempts) {
    if (a.proposer != proposer) continue;
    ++tally.attempts;
    tally.valid += is_valid(a.outcome) ? 1 : 0;
  }
  for (const Ranked& r : history.replayed) {
    const Attempt& a = history.attempt_of(r);
    if (a.proposer != proposer) continue;
    tally.best = &a;
    break;
  }
  return tally;
}

namespace {

/// Refuses a journal that somebody changed: its formula must give the order that was judged.
std::vector<std::uint32_t> recalled_order(const Attempt& a, const LaunchShape& shape) {
  std::optional<Formula> formula;
  try {
    formula = Formula::parse(a.proposal.formula);
  } catch (const Error&) {
    formula.reset();  // not even one: refused below like one of another order
  }
  if (formula) {
    GridVerdict v = verify_grid(*formula, shape);
    if (v.hash == a.hash) return std::move(v.permutation);
  }
  throw input_error(fmt::format(
      "proposals.jsonl: attempt {} is not the order that was judged; start a new run directory",
      a.number));
}

}  // namespace

History recall(const ProposalLog& log, Replays& replays, const LaunchShape& shape,
               const Ranking& ranking) {
  History history;
  for (const Attempt& logged : log.attempts()) {
    Tried tried{logged, {}};
    Attempt& a = tried.attempt;
    if (is_valid(a.outcome)) {
      std::tie(tried.score, a.metrics) = replays.exact({a.spec, a.hash}, [&] {
        if (!a.proposal.kernel.empty()) {
          throw input_error(fmt::format(
              "the journal has lost the replay of attempt {}; start a new run directory",
              a.number));
        }
        return recalled_order(a, shape);
      });
    }
    history.add(tried, ranking);
  }
  return history;
}

void note_search(const SearchResult& search, Replays& replays, ProposalLog& log, History& history,
                 const Ranking& ranking, const nlohmann::json& baseline) {
  for (const Ranked& r : search.finalists) {
    if (history.known.contains(r.candidate.hash)) continue;
    const Swizzle swizzle = make_swizzle(r.candidate.spec);
    Attempt a{history.attempts.size() + 1,
              "search",
              {swizzle.formula.text(), swizzle.words, "", {}, ""},
              AttemptOutcome::kMeasured,
              "",
              r.candidate.spec,
              r.candidate.hash,
              replays.exact(r.candidate),
              ""};
    if (!baseline.is_null()) a.report = measured_words(a.metrics, baseline);
    log.judged(a);
    history.add({std::move(a), r.score}, ranking);
  }
  for (const auto& [hash, spec] : search.seen) {
    history.known.emplace(hash, fmt::format("'{}', which the search has tried", spec));
  }
}

std::optional<std::uint64_t> History::best_of(std::size_t first) const {
  for (const Ranked& r : replayed) {
    const auto end = attempts.begin() + static_cast<std::ptrdiff_t>(first);
    const auto it = std::find_if(attempts.begin(), end,
                                 [&](const Attempt& a) { return a.spec == r.candidate.spec; });
    if (it != end) return it->number;
  }
  return std::nullopt;
}

const Attempt& History::attempt_of(const Ranked& ranked) const {
  return *std::find_if(attempts.begin(), attempts.end(),
                       [&](const Attempt& a) { return a.spec == ranked.candidate.spec; });
}

const Attempt* History::best() const {
  return replayed.empty() ? nullptr : &attempt_of(replayed.front());
}

Swizzle swizzle_of(const Attempt& a) {
  if (a.proposer == "search") return make_swizzle(a.spec);
  const std::string words = a.proposal.summary.empty() ? "A formula that was proposed in the loop."
                                                       : clean_line(a.proposal.summary, 400);
  return {a.spec, words, Formula::parse(a.proposal.formula)};
}

void check_proposers(const ProposerSettings& s) {
  static const std::vector<std::string> kKnown = {"search", "llm", "command", "manual"};
  if (s.names.empty()) throw usage_error("no proposer is named; name search, for example");
  const bool asks_command = std::find(s.names.begin(), s.names.end(), "command") != s.names.end();
  if (!s.command.argv.empty() && !asks_command) {
    throw usage_error("--command names a program that nobody asks; add --proposer search,command");
  }
  for (auto name = s.names.begin(); name != s.names.end(); ++name) {
    if (std::find(kKnown.begin(), kKnown.end(), *name) == kKnown.end()) {
      throw usage_error(
          fmt::format("there is no proposer '{}'; there are {}", *name, fmt::join(kKnown, ", ")));
    }
    if (std::find(s.names.begin(), name, *name) != name) {
      throw usage_error(fmt::format("the proposer {} is named twice; name it once", *name));
    }
    if (*name == "command" && s.command.argv.empty()) {
      throw usage_error("the proposer command needs --command, the program that is asked");
    }
    if (*name == "llm") llm::endpoint_from(s.endpoint);
  }
}

Ending ask_in_rounds(const std::string& name, const LoopSetup& setup, Replays& replays,
                     ProposalLog& log, History& history) {
  return Rounds(name, setup, replays, log, history).run();
}

}  // namespace swizzleperf
