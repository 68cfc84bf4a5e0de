// optimize: the main job. Finds the best order of blocks for a kernel, proves it, puts it into the
// source as a patch and checks the patch on the virtual GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/program_options.h"
#include "cli/verb.h"
#include "optimize/optimize.h"
#include "report/launch_text.h"
#include "report/table.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Options {
  std::string objective = "time";
  std::string run_directory;
  std::string resume;
  bool in_place = false;
};

Objective objective_of(const std::string& word) {
  if (word == "l2") return Objective::kL2;
  if (word == "hbm") return Objective::kHbm;
  return Objective::kTime;
}

/// swizzleperf-runs/gemm, gemm-2, ...: the first that does not exist.
fs::path fresh_directory(const fs::path& program) {
  fs::path base = fs::path("swizzleperf-runs") / program.stem();
  if (!fs::exists(base)) return base;
  for (int i = 2;; ++i) {
    fs::path next = base.string() + "-" + std::to_string(i);
    if (!fs::exists(next)) return next;
  }
}

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
          fmt::format("{:.3f}", time),
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
  if (o.best_swizzle) table.rows.push_back(metrics_row("best found", o.best, base));
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
               c.blocks_compared, bytes_words(static_cast<double>(c.bytes_compared))),
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
  if (o.best_swizzle && !taken) {
    text += wrap("(The best order found was " + o.best_swizzle->spec + ".)", output_width());
  }
  text += refused(o, given);
  if (!o.warnings.empty()) text += heading("Warnings");
  for (const std::string& warning : o.warnings) text += wrap(warning + ".", output_width(), 2);
  if (o.best_swizzle && taken) {
    text += heading("Swizzle: " + o.best_swizzle->spec);
    text += wrap(o.best_swizzle->words, output_width());
    text += remaps(o);
    text += "\n" + o.code;
    text += heading("Proved") + proof(o);
    text += heading("Patch") + patch(o, directory);
  }
  return text +
         wrap(fmt::format("\n{} orders replayed in {:.1f} s; everything is in {}.",
                          o.search.candidates, o.json.at("totals").at("seconds").get<double>(),
                          directory.string()),
              output_width());
}

// --- Running ------------------------------------------------------------------------------------

Outcome run(const Options& options, const ProgramOptions& program, const CommonOptions& common) {
  if (!options.resume.empty() && !options.run_directory.empty())
    throw usage_error("--resume names the run directory itself: leave --run-dir out");
  for (const std::string& spec : common.swizzles)
    make_swizzle(spec);  // told now, not after a search
  OptimizeRequest request;
  const Machine machine = load_machine(common.machine);
  request.program = program_spec(program, common, machine);
  request.machine = common.machine;
  request.objective = objective_of(options.objective);
  request.extra_swizzles = common.swizzles;
  request.seed = common.seed;
  request.threads = threads_of(program);
  request.resume = !options.resume.empty();
  request.run_directory = request.resume                  ? fs::path(options.resume)
                          : options.run_directory.empty() ? fresh_directory(program.program)
                                                          : fs::path(options.run_directory);
  request.quiet = common.quiet;
  const OptimizeOutcome o = optimize(request);
  const bool patched = o.applied && o.not_applied.empty();
  const bool in_place = options.in_place && patched;
  if (in_place) write_file(o.applied->source, o.applied->splice.patched);
  Outcome outcome;
  outcome.text =
      common.json ? o.json.dump(2) + "\n" : console(o, request.run_directory, common.swizzles);
  if (in_place && !common.json)
    outcome.text += o.applied->source.string() + " was patched in place.\n";
  const bool taken = o.verdict.decision != Verdict::Decision::kKeepIdentity;
  const bool differs = o.applied && !o.applied->comparison.first_difference.empty();
  if (taken && differs) outcome.exit = Exit::kCheckFailed;
  return outcome;
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
      "The run directory keeps config.json, journal.jsonl, launch.trace, result.json, best.swz\n"
      "and best.patch. Exit code 0 also for the verdict to keep the identity; 1 when a patched\n"
      "kernel does not compute the original's bytes.",
      kMachine | kKernel | kSwizzles | kSeed | kProgramArguments,
      [](CLI::App& app) -> Action {
        const auto options = std::make_shared<Options>();
        const auto program = std::make_shared<ProgramOptions>();
        declare_program_options(app, program);
        app.add_option("--objective", options->objective, "time, l2 or hbm (time)")
            ->check(CLI::IsMember({"time", "l2", "hbm"}));
        app.add_option("--run-dir", options->run_directory,
                       "Where to keep the run (swizzleperf-runs/NAME)");
        app.add_option("--resume", options->resume, "Continue the run in this directory");
        app.add_flag("--in-place", options->in_place, "Write the patch into the source");
        return [options, program](const CommonOptions& common) {
          return run(*options, *program, common);
        };
      }};
}

}  // namespace swizzleperf
