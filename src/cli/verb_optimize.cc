// optimize: the main job. Finds the best order of blocks for a kernel, proves it, puts it into the
// source as a patch and checks the patch on the virtual GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/words.h"
#include "cli/optimize_measure.h"
#include "cli/program_options.h"
#include "cli/values.h"
#include "cli/verb.h"
#include "measure/words.h"
#include "optimize/optimize.h"
#include "propose/reply.h"
#include "report/launch_text.h"
#include "report/table.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Options {
  Objective objective = Objective::kTime;
  std::string run_directory;
  std::string resume;
  bool in_place = false;
  StageOptions stage;
  std::vector<std::string> proposers = {"search"};
  std::string command;
  ProposerSettings settings;  ///< but for the two above
};

// --- In words -----------------------------------------------------------------------------------

std::string percent(const Json& level) {
  if (level.is_null() || level.at("hit_rate").is_null()) return "-";
  return fmt::format("{:.1f}", 100 * level.at("hit_rate").get<double>());
}

std::vector<std::string> metrics_row(const std::string& name, const Json& m, double base_time) {
  const double time = m.at("time_ms");
  return {name,
          percent(m.at("l2")),
          percent(m.at("llc")),
          bytes_words(m.at("hbm").at("read_bytes")),
          bytes_words(m.at("hbm").at("write_bytes")),
          ms_words(time),
          fmt::format("{:.2f}x", base_time / time),
          m.at("bound")};
}

std::string figures(const OptimizeOutcome& o) {
  Table table{{{"order"},
               {"L2 hit %", true},
               {"last level %", true},
               {"HBM read", true},
               {"written", true},
               {"time ms", true},
               {"speed", true},
               {"bound by"}},
              {}};
  const double base = o.baseline.at("time_ms");
  table.rows.push_back(metrics_row("as it is", o.baseline, base));
  if (o.history.best()) table.rows.push_back(metrics_row("best found", o.best, base));
  return render(table, output_width());
}

std::string heading(const std::string& text) { return "\n" + text + "\n"; }

std::string remaps(const OptimizeOutcome& o) {
  if (!o.applied || o.applied->splice.existing_remaps.empty()) return "";
  std::string text = wrap(
      "The kernel already remaps its blocks; the swizzle is applied beneath that, to blockIdx:",
      output_width());
  for (const splice::Remap& r : o.applied->splice.existing_remaps)
    text += wrap(fmt::format("  {}: {}", r.where, r.what), output_width(), 4);
  return text;
}

std::string proof(const OptimizeOutcome& o) {
  if (!o.proof) return "";
  const Proof& p = *o.proof;
  std::string text =
      fmt::format("On this launch each of {} blocks is computed exactly once. ", p.launch_blocks);
  if (p.guard.condition.empty()) {
    text += fmt::format(
        "So it is on all {} launches of the declared range (grids of 1 to 3 "
        "dimensions, up to 4,096 blocks, 1 to 8 dies).",
        p.range.checked);
  } else {
    text += fmt::format(
        "Elsewhere it holds where {}; the code checks that and is the identity on "
        "the other {:.0f} % of the declared range.",
        p.guard.condition, 100 * p.guarded_share);
  }
  return wrap(text, output_width());
}

std::string zeros_words(const vgpu::BlockComparison& c) {
  if (c.bytes_not_zero != 0) return "";
  return " All of them are zero, which proves little: let the program fill its inputs.";
}

std::string patch(const OptimizeOutcome& o, const fs::path& directory) {
  if (!o.applied || !o.not_applied.empty())
    return wrap("No patch: " + o.not_applied + (o.not_applied.ends_with('.') ? "" : "."),
                output_width());
  const vgpu::BlockComparison& c = o.applied->comparison;
  const bool nvidia = o.launch.machine.vendor == "nvidia";
  std::string text =
      wrap(fmt::format(
               "{} (changes {}). Compiled for {}, where {} sampled blocks wrote the same {} as the "
               "original's, bit for bit.",
               (directory / "best.patch").string(), fmt::join(o.applied->splice.changed, ", "),
               nvidia ? "the virtual GPU" : o.launch.trace.arch + " and the virtual GPU",
               c.blocks_compared, bytes_words(static_cast<double>(c.bytes_compared))) +
               zeros_words(c),
           output_width());
  for (const std::string& note : o.applied->splice.notes) text += wrap(note, output_width(), 2);
  return text;
}

/// The user's own candidates that were not replayed, and why.
std::string refused(const OptimizeOutcome& o, const std::vector<std::string>& given) {
  std::string text;
  for (const Refused& r : o.search.refused) {
    if (std::find(given.begin(), given.end(), r.spec) != given.end())
      text += wrap(fmt::format("Not replayed: {}: {}.", r.spec, r.reason), output_width(), 2);
  }
  return text;
}

// --- Proposals in words -------------------------------------------------------------------------

std::string known_count(bool known, std::uint64_t value) {
  return known ? fmt::to_string(value) : "unknown";
}

/// A row a proposer that was asked in rounds, and how it ended.
std::string proposers(const OptimizeOutcome& o) {
  Table table{{{"proposer"},
               {"attempts", true},
               {"valid", true},
               {"best ms", true},
               {"calls", true},
               {"tokens", true},
               {"seconds", true}},
              {}};
  std::string ends;
  for (const Ending& end : o.endings) {
    const Tally tally = tally_of(o.history, end.proposer);
    const llm::Spent& spent = o.spent.at(end.proposer);
    table.rows.push_back({end.proposer, fmt::to_string(tally.attempts), fmt::to_string(tally.valid),
                          tally.best ? ms_words(tally.best->metrics.at("time_ms")) : "-",
                          fmt::to_string(spent.calls),
                          known_count(!spent.usage_unknown && spent.calls > 0,
                                      spent.prompt_tokens + spent.completion_tokens),
                          fmt::format("{:.1f}", spent.seconds)});
    if (!end.sentence.empty()) ends += wrap(end.proposer + ": " + end.sentence, output_width(), 2);
  }
  return render(table, output_width()) + ends;
}

std::string shortened(const std::string& line) {
  constexpr std::size_t kMost = 100;
  return line.size() <= kMost ? line : clean_line(line, kMost - 4) + " ...";
}

/// A row an attempt: what was proposed and what became of it.
std::string attempts(const OptimizeOutcome& o) {
  Table table{
      {{"attempt", true}, {"by"}, {"outcome"}, {"L2 hit %", true}, {"time ms", true}, {"what"}},
      {}};
  for (const Attempt& a : o.history.attempts) {
    const bool valid = is_valid(a.outcome);
    std::string what = valid ? a.proposal.summary : a.report;
    if (a.proposer == "search") what = a.spec;
    if (what.empty()) what = a.proposal.formula;
    table.rows.push_back(
        {fmt::to_string(a.number), a.proposer, std::string(outcome_name(a.outcome)),
         valid ? percent(a.metrics.at("l2")) : "-", valid ? ms_words(a.metrics.at("time_ms")) : "-",
         shortened(clean_line(what, 1000))});
  }
  return render(table, output_width());
}

std::string proposals(const OptimizeOutcome& o) {
  if (o.endings.empty()) return "";
  std::string text = heading("Proposers") + proposers(o);
  if (!o.history.attempts.empty()) text += heading("Attempts") + attempts(o);
  return text;
}

/// What the proposer of the best order said of it.
std::string said(const OptimizeOutcome& o) {
  const Attempt& a = *o.history.best();
  if (a.proposer == "search" || a.proposal.reason.empty()) return "";
  return wrap(fmt::format("Why, in the words of the proposer ({}, attempt {}): {}", a.proposer,
                          a.number, clean_line(a.proposal.reason, 1000)),
              output_width());
}

std::size_t orders_replayed(const OptimizeOutcome& o) {
  const auto others =
      std::count_if(o.history.attempts.begin(), o.history.attempts.end(),
                    [](const Attempt& a) { return is_valid(a.outcome) && a.proposer != "search"; });
  return o.search.candidates + static_cast<std::size_t>(others);
}

std::string console(const OptimizeOutcome& o, const fs::path& directory,
                    const std::vector<std::string>& given) {
  const Launch& l = o.launch;
  std::string text =
      fmt::format("{} on {}\n", l.trace.kernel, l.machine.title) +
      wrap(fmt::format("{}, {} (limited by {}); {}.", launch_words(l.trace.grid, l.trace.block),
                       blocks_per_unit_words(l.occupancy.blocks_per_cu, l.machine),
                       l.occupancy.limit, method_words(l.trace)),
           output_width()) +
      "\n" + figures(o);
  text += heading("Verdict: " + std::string(decision_name(o.verdict.decision)));
  text += wrap(o.verdict.reason + ".", output_width());
  if (o.second_opinion && !o.second_opinion->caveat.empty()) {
    text += wrap(o.second_opinion->caveat + ".", output_width());
  }
  const bool taken = o.verdict.decision != Verdict::Decision::kKeepIdentity;
  const Attempt* best = o.history.best();
  if (best && !taken) {
    text += wrap("(The best order found was " + best->spec + ".)", output_width());
  }
  text += refused(o, given);
  text += proposals(o);
  if (!o.warnings.empty()) text += heading("Warnings");
  for (const std::string& warning : o.warnings) text += wrap(warning + ".", output_width(), 2);
  if (best && taken) {
    text += heading("Swizzle: " + best->spec);
    text += wrap(o.best_swizzle ? o.best_swizzle->words : clean_line(best->proposal.summary, 400),
                 output_width());
    text += said(o);
    text += remaps(o);
    if (o.proof) text += "\n" + o.code + heading("Proved") + proof(o);
    text += heading("Patch") + patch(o, directory);
    if (!o.proof)
      text += wrap(
          "Only this launch was looked at: on others the rewritten kernel may "
          "lose blocks.",
          output_width());
  }
  return text +
         wrap(fmt::format("\n{} orders replayed in {:.1f} s; everything is in {}.",
                          orders_replayed(o), o.json.at("totals").at("seconds").get<double>(),
                          directory.string()),
              output_width());
}

// --- Running ------------------------------------------------------------------------------------

/// Something must have come of asking: an order, refused ones at least, or a question to a person.
Exit exit_of(const OptimizeOutcome& o) {
  const bool taken = o.verdict.decision != Verdict::Decision::kKeepIdentity;
  const bool differs = o.applied && !o.applied->comparison.first_difference.empty();
  if (taken && differs) return Exit::kCheckFailed;
  if (o.endings.empty() || o.history.best()) return Exit::kDone;
  const auto any = [&](Ending::Why why) {
    return std::any_of(o.endings.begin(), o.endings.end(),
                       [why](const Ending& e) { return e.why == why; });
  };
  if (any(Ending::Why::kWaiting)) return Exit::kDone;
  return any(Ending::Why::kFailed) ? Exit::kInput : Exit::kCheckFailed;
}

Outcome run(const Options& options, const ProgramOptions& program, const CommonOptions& common) {
  if (!options.resume.empty() && !options.run_directory.empty())
    throw usage_error("--resume names the run directory itself: leave --run-dir out");
  for (const std::string& spec : common.swizzles)
    make_swizzle(spec);  // told now, not after a search
  OptimizeRequest request;
  const Machine machine = load_machine(common.machine);
  request.program = program_spec(program, common, machine);
  request.machine = common.machine;
  request.objective = options.objective;
  request.extra_swizzles = common.swizzles;
  request.seed = common.seed;
  request.threads = threads_of(program);
  request.resume = !options.resume.empty();
  request.run_directory = request.resume ? fs::path(options.resume)
                          : options.run_directory.empty()
                              ? fresh_run_directory(fs::path(program.program).stem().string())
                              : fs::path(options.run_directory);
  request.quiet = common.quiet;
  request.proposers = options.settings;
  request.proposers.names = options.proposers;
  request.proposers.command.argv = split_words(options.command);
  const Stage stage = plan_stage(options.stage, program, machine, request.run_directory,
                                 request.resume, common, request.program);
  // Some may turn out not to be patchable; the finalists stand in for them.
  if (stage.bundle) request.alternatives = stage.top;
  OptimizeOutcome o = optimize(request);
  const StageOutcome measured = carry_out(stage, o, request.run_directory);
  Outcome outcome;
  outcome.text = common.json ? o.json.dump(2) + "\n"
                             : console(o, request.run_directory, common.swizzles) + measured.text;
  if (options.in_place && o.applied) {
    const std::string text =
        measured.patched.value_or(o.not_applied.empty() ? o.applied->splice.patched : "");
    if (!text.empty()) {
      write_file(o.applied->source, text);
      if (!common.json) outcome.text += o.applied->source.string() + " was patched in place.\n";
    }
  }
  outcome.exit = exit_of(o);
  return outcome;
}

void declare_proposer_options(CLI::App& app, const std::shared_ptr<Options>& options) {
  const char* const kProposers = "Proposers";
  const auto add = [&](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->group(kProposers);
  };
  ProposerSettings& s = options->settings;
  add("--proposer", options->proposers, "search, llm, command, manual: who is asked, in this order")
      ->delimiter(',')
      ->allow_extra_args(false);
  add("--attempts", s.attempts, "Attempts of each that is asked in rounds (10)")
      ->check(CLI::Range(1, 10000));
  add("--samples", s.samples, "Attempts that are asked for with one history (1)")
      ->check(CLI::Range(1, 1000));
  const CLI::Range at_least_one(std::int64_t{1}, std::numeric_limits<std::int64_t>::max());
  add("--max-calls", s.limits.calls, "Calls of models and commands in the whole run")
      ->check(at_least_one);
  add("--max-tokens", s.limits.tokens, "Tokens of models in the whole run")->check(at_least_one);
  add("--max-time", s.limits.seconds, "Seconds spent waiting for replies in the whole run")
      ->check(seconds());
  add_context(app, s.context)->group(kProposers);
  add_choice<Edit>(app, "--edit", s.edit, {{"formula", Edit::kFormula}, {"kernel", Edit::kKernel}},
                   "What they propose: a formula, or the whole kernel (formula)")
      ->group(kProposers);
  add("--command", options->command, "The program that the proposer command asks, with arguments");
  add("--command-timeout", s.command.time_limit_s, "Seconds that it may take for a reply (600)")
      ->check(seconds());
  add("--llm-provider", s.endpoint.provider, "openai or anthropic");
  add("--llm-model", s.endpoint.model, "The model's name");
  add("--llm-base", s.endpoint.base, "Where its server is, such as http://localhost:8000");
  add("--llm-timeout", s.endpoint.timeout_s, "Seconds that an answer may take (600)")
      ->check(seconds());
  add("--llm-max-output", s.endpoint.max_output_tokens,
      "Tokens that an answer may have, thinking included (16000)")
      ->check(CLI::Range(1U, 10'000'000U));
  add("--llm-temperature", s.endpoint.temperature, "Sent only when given")
      ->check(number_between(0, 1000));
  add("--llm-record", s.endpoint.record, "Append every exchange to this file");
  add("--llm-replay", s.endpoint.replay, "Answer from this file and use no network");
}

}  // namespace

Verb optimize_verb() {
  return {
      "optimize",
      "Find, prove and apply a swizzle",
      "Find, prove and patch in the best swizzle",
      "Examples:\n"
      "  swizzleperf optimize kernels/gemm/gemm.hip\n"
      "  swizzleperf optimize my.hip -m mi355x --kernel attn --objective hbm -- 128 4096\n"
      "  swizzleperf optimize kernels/softmax/softmax.toml -- rows=4096      a Triton kernel\n"
      "  swizzleperf optimize my.hip --resume swizzleperf-runs/my      after an interruption\n"
      "  swizzleperf optimize my.cu -m h200 --measure auto      where there is a GPU\n"
      "  swizzleperf optimize my.cu -m h200 --bundle to-measure      for a node with one\n"
      "  swizzleperf optimize my.hip --proposer search,llm --llm-model qwen3 \\\n"
      "      --llm-base http://localhost:8000\n"
      "  swizzleperf optimize my.hip --proposer command --command 'python3 agent.py'\n"
      "The run directory keeps config.json, journal.jsonl, launch.trace, result.json, best.swz "
      "and\n"
      "best.patch; proposals.jsonl and prompts/ where proposers are asked (docs/proposers.md).\n"
      "Keys come from OPENAI_API_KEY, ANTHROPIC_API_KEY or SWIZZLEPERF_LLM_API_KEY. Exit code 0\n"
      "also for the verdict to keep the identity, and while --proposer manual waits for a reply; "
      "1\n"
      "when a patched kernel does not compute the original's bytes, or every proposal was "
      "refused;\n"
      "3 when a proposer could not be had and nobody else found an order.",
      kMachine | kKernel | kSwizzles | kSeed | kProgramArguments,
      [](CLI::App& app) -> Action {
        const auto options = std::make_shared<Options>();
        const auto program = std::make_shared<ProgramOptions>();
        declare_program_options(app, program);
        add_objective(app, options->objective);
        app.add_option("--run-dir", options->run_directory,
                       "Where to keep the run (swizzleperf-runs/NAME)");
        app.add_option("--resume", options->resume, "Continue the run in this directory");
        app.add_flag("--in-place", options->in_place, "Write the patch into the source");
        declare_stage_options(app, options->stage);
        declare_proposer_options(app, options);
        return [options, program](const CommonOptions& common) {
          return run(*options, *program, common);
        };
      }};
}

}  // namespace swizzleperf
