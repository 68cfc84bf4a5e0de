// See optimize.h.
#include "optimize/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include "base/files.h"
#include "base/parallel.h"
#include "base/random.h"
#include "optimize/journal.h"
#include "optimize/order.h"
#include "optimize/replays.h"
#include "optimize/result.h"
#include "propose/reply.h"
#include "report/metrics.h"
#include "report/progress.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::uint64_t text_hash(const std::string& text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return hash;
}

/// What decides a run's result; a resumed run must ask the same. Not the budgets, which may be
/// raised, nor the model, whose server may have changed its name.
json config_of(const OptimizeRequest& r) {
  json config = {{"schema_version", kSchemaVersion},
                 {"program", fs::absolute(r.program.program).string()},
                 {"program_hash", text_hash(read_file(r.program.program))},
                 {"kernel_hash", text_hash(read_file(vgpu::spliced_source(r.program)))},
                 {"arguments", r.program.arguments},
                 {"compile_options", r.program.compile_options},
                 {"kernel", r.program.kernel_regex},
                 {"launch", r.program.launch_index},
                 {"machine", r.machine},
                 {"objective", objective_name(r.objective)},
                 {"swizzles", r.extra_swizzles},
                 {"seed", r.seed},
                 {"proposers", r.proposers.names},
                 {"samples", r.proposers.samples},
                 {"context", context_name(r.proposers.context)},
                 {"edit", r.proposers.edit == Edit::kKernel ? "kernel" : "formula"},
                 {"command", r.proposers.command.argv}};
  if (r.program.language) {
    config["language"] = *r.program.language == vgpu::Language::kCuda ? "cuda" : "hip";
  }
  return config;
}

/// A run directory that is ours for as long as this lives.
struct RunDirectory {
  Fd lock;
  bool created = false;  ///< by us, so that it may be removed
};

/// Creates the run directory, or checks that a resumed one belongs to the same question.
RunDirectory open_run_directory(const OptimizeRequest& r) {
  const fs::path config_file = r.run_directory / "config.json";
  const json config = config_of(r);
  if (!r.resume) {
    const bool created = make_directories(r.run_directory);
    Fd lock = lock_directory(r.run_directory);
    if (fs::exists(config_file)) {
      throw usage_error(
          fmt::format("{} already holds a run: continue it with --resume, or name "
                      "another directory",
                      r.run_directory.string()));
    }
    write_file(config_file, config.dump(2) + "\n");
    return {std::move(lock), created};
  }
  Fd lock = lock_directory(r.run_directory);
  json before;
  try {
    before = json::parse(read_file(config_file));
  } catch (const json::exception&) {
    throw input_error(config_file.string() + ": not a run's config.json");
  }
  for (const auto& [key, value] : config.items()) {
    if (before.contains(key) && before[key] != value && key.ends_with("_hash")) {
      throw usage_error(fmt::format(
          "{}: the program has been changed since this run was started; start a new run directory",
          r.run_directory.string()));
    }
    if (!before.contains(key) || before[key] != value) {
      throw usage_error(fmt::format(
          "{}: the run was started with other {} ({}, now {}); start a new run directory",
          r.run_directory.string(), key, before.contains(key) ? before[key].dump() : "none",
          value.dump()));
    }
  }
  return {std::move(lock), false};
}

/// A run whose program does not even give a trace has learned nothing: its directory goes, so that
/// the corrected program can be run under the same name.
Trace first_trace(const OptimizeRequest& r, const vgpu::ProgramSpec& spec, bool created,
                  const fs::path& scratch, std::optional<vgpu::BuiltProgram>& built) {
  try {
    return obtain_trace(spec, scratch, &built);
  } catch (const Error&) {
    std::error_code ignored;
    if (!r.resume) fs::remove(r.run_directory / "config.json", ignored);
    if (created) fs::remove(r.run_directory, ignored);  // only if it is empty
    throw;
  }
}

/// Samples do not tell misses apart that are closer than this.
constexpr double kMissTie = 0.002;

SearchResult run_search(const OptimizeRequest& request, const Launch& launch, Replays& replays) {
  Progress progress(request.quiet);
  const std::vector<Rung>& rungs = replays.rungs();
  const SearchSetup setup = {launch.shape,
                             {request.objective, launch.machine.error_time / 2, kMissTie},
                             request.extra_swizzles,
                             request.threads,
                             request.alternatives};
  SearchHooks hooks;
  hooks.evaluate = [&](const Candidate& c, std::size_t rung) { return replays.score(c, rung); };
  hooks.progress = [&](std::size_t rung, std::size_t done, std::size_t of, const Candidate& leader,
                       const Score& score) {
    const double part = static_cast<double>(done) / static_cast<double>(of);
    progress.update(
        fmt::format("search {}/{} ({}): {}/{} candidates, best {} with {:.1f} % L2 hits, {:.3f} ms",
                    rung + 1, rungs.size(), rungs[rung].name, done, of, leader.spec,
                    score.l2_requests > 0 ? 100 * (1 - score.l2_misses / score.l2_requests) : 0.0,
                    score.time_ms),
        (static_cast<double>(rung) + part) / static_cast<double>(rungs.size()));
  };
  SearchResult result = search(setup, rungs, hooks);
  progress.finish(fmt::format(
      "search: {} distinct orders replayed ({} more specifications repeat them or the identity)",
      result.candidates, result.refused.size()));
  return result;
}

/// By exact replays.
Ranking exact_ranking(const OptimizeRequest& request, const Machine& machine) {
  return {request.objective, machine.error_time / 2, 0};
}

/// Replays the finalists exactly and ranks them by that.
void decide_exactly(std::vector<Ranked>& finalists, Replays& replays, const Ranking& ranking,
                    unsigned threads) {
  parallel_for(finalists.size(), threads, [&](std::uint64_t i, unsigned) {
    finalists[i].score = replays.exact_score(finalists[i].candidate);
  });
  rank(finalists, ranking);
}

/// What proposers are told of the launch. Kept in the run directory, so that a resumed run tells
/// the same and need not build the program for it.
Context obtain_context(const OptimizeRequest& request, const Launch& launch,
                       const vgpu::ProgramSpec& spec, std::optional<vgpu::BuiltProgram>& built,
                       const fs::path& scratch) {
  const fs::path file = request.run_directory / "context.json";
  if (request.resume && fs::exists(file)) {
    const json kept = json::parse(read_file(file), nullptr, false);
    const auto has_text = [&](const char* key) {
      return kept.is_object() && kept.contains(key) && kept[key].is_string();
    };
    if (has_text("text") && has_text("language")) {
      return {kept["text"], kept.value("facts", json()), kept["language"]};
    }
  }
  if (!built && !is_trace_file(spec.program)) built = vgpu::build_program(spec, scratch);
  const KernelSource source = kernel_source(spec, built, launch.trace);
  Context context = make_context(launch, {request.proposers.context, source.text, source.name,
                                          request.seed, request.threads, request.objective});
  context.text = clean_text(context.text, std::string::npos);  // it has somebody's source
  const json kept = {
      {"text", context.text}, {"language", context.language}, {"facts", context.facts}};
  write_file(file, kept.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  return context;
}

/// Asks all proposers, one after the other, and fills in what they found. `setup` lacks the
/// baseline.
void ask_proposers(const OptimizeRequest& request, OptimizeOutcome& o, LoopSetup setup,
                   Replays& replays, ProposalLog& log) {
  o.history = recall(log, replays, o.launch.shape, setup.ranking);
  if (request.proposers.asks_in_rounds()) {
    o.baseline = replays.exact(identity_candidate(o.launch.shape));
  }
  setup.baseline = o.baseline;
  for (const std::string& name : request.proposers.names) {
    if (name != "search") {
      o.endings.push_back(ask_in_rounds(name, setup, replays, log, o.history));
      if (o.endings.back().why == Ending::Why::kWaiting) break;
      continue;
    }
    o.search = run_search(request, o.launch, replays);
    decide_exactly(o.search.finalists, replays, setup.ranking, request.threads);
    note_search(o.search, replays, log, o.history, setup.ranking, o.baseline);
    for (const Ranked& r : o.search.alternatives) {
      o.alternatives.push_back({r.candidate, replays.last_sample(r.candidate)});
    }
  }
  for (const std::string& name : request.proposers.names) o.spent[name] = log.spent(name);
}

/// A rewritten kernel is its own patch. It is judged once more, since a resumed run has only its
/// text; its order comes out of that.
void take_rewrite(OptimizeOutcome& o, const Attempt& best, const RewriteVerdict& verdict,
                  const fs::path& source) {
  o.best_order = verdict.permutation;
  Applied applied;
  applied.source = source;
  applied.splice.patched = best.proposal.kernel;
  applied.splice.patch = verdict.patch;
  applied.splice.changed = {source.filename().string() + ": the kernel, rewritten"};
  applied.comparison = verdict.comparison;
  o.applied = std::move(applied);
  o.built = is_valid(verdict.outcome);
  if (!*o.built) o.not_applied = verdict.report;
}

/// Puts the best swizzle into the source and checks it; says in `not_applied` why it cannot.
void try_apply(OptimizeOutcome& o, const vgpu::ProgramSpec& spec,
               std::optional<vgpu::BuiltProgram>& built, const fs::path& scratch) {
  if (!o.best_swizzle || !o.proof) return;
  if (is_trace_file(spec.program)) {
    o.not_applied = "a trace has no source";
    return;
  }
  if (vgpu::is_launch_spec(spec.program) && !is_source(vgpu::spliced_source(spec))) {
    o.not_applied = "the kernel was not given as source";
    return;
  }
  try {
    if (!built) built = vgpu::build_program(spec, scratch);
    o.built = false;
    o.applied = apply(*o.best_swizzle, o.launch, *o.proof, spec, *built, scratch);
    o.built = true;
    if (!o.applied->comparison.first_difference.empty()) {
      o.not_applied = "the patched kernel does not compute the same bytes: " +
                      o.applied->comparison.first_difference;
    }
  } catch (const Error& error) {
    o.not_applied = error.what();
  }
}

/// Of the best attempt all that can be known of it by itself.
void take_best(OptimizeOutcome& o, const OptimizeRequest& request, const LoopSetup& setup,
               const vgpu::ProgramSpec& spec) {
  const Attempt* best = o.history.best();
  if (!best) return;
  o.best = best->metrics;
  if (!best->proposal.kernel.empty()) {
    take_rewrite(o, *best, setup.judge_rewrite(best->proposal.kernel, {}), spec.program);
    return;
  }
  const Swizzle swizzle = swizzle_of(*best);
  const Proof proof = prove(swizzle, o.launch.shape, request.threads);
  o.code = helper_code(swizzle, o.launch, proof, spec);
  o.best_order = verify_grid(swizzle.formula, o.launch.shape).permutation;
  o.best_swizzle = swizzle;
  o.proof = proof;
}

/// What is to be said of the best order, given all that was found out.
void decide(OptimizeOutcome& o) {
  const Machine& machine = o.launch.machine;
  const SimResult identity = from_json(o.baseline);
  if (!o.history.best()) {
    o.verdict = judge(machine, identity, nullptr);
    if (!o.endings.empty()) o.verdict.reason = "nobody has proposed an order that could be used";
  } else {
    const SimResult best = from_json(o.best);
    o.verdict = judge(machine, identity, &best);
    if (o.verdict.decision == Verdict::Decision::kKeepIdentity) o.second_opinion.reset();
    if (o.second_opinion) {
      doubt(*o.second_opinion, machine, identity.time_ms / best.time_ms,
            100 * (best.l2.hit_rate() - identity.l2.hit_rate()));
    }
  }
  if (o.verdict.decision == Verdict::Decision::kKeepIdentity) {
    o.not_applied = "the verdict is to keep the identity";
  }
}

Launch obtain_launch(const OptimizeRequest& request, const Machine& machine,
                     const vgpu::ProgramSpec& spec, bool created, const fs::path& scratch,
                     std::optional<vgpu::BuiltProgram>& built) {
  const fs::path file = request.run_directory / "launch.trace";
  if (request.resume && is_trace_file(file)) return place(read_trace(file), machine);
  Trace trace = first_trace(request, spec, created, scratch, built);
  write_trace(trace, file);
  return place(std::move(trace), machine);
}

/// What cannot work, before anything is done.
void check_request(const OptimizeRequest& request) {
  check_proposers(request.proposers);
  if (request.proposers.edit == Edit::kKernel &&
      (!is_source(request.program.program) || is_triton(request.program))) {
    throw usage_error(request.program.program.string() +
                      ": --edit kernel needs the program as its one source file in HIP or CUDA");
  }
}

}  // namespace

OptimizeOutcome optimize(const OptimizeRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const Machine machine = load_machine(request.machine);
  check_request(request);
  const RunDirectory directory = open_run_directory(request);
  const ScratchDirectory scratch;

  vgpu::ProgramSpec spec = request.program;
  spec.arch = machine.vendor == "amd" ? machine.arch : spec.arch;
  std::optional<vgpu::BuiltProgram> built;
  OptimizeOutcome o;
  o.launch = obtain_launch(request, machine, spec, directory.created, scratch.path(), built);

  Journal journal(request.run_directory / "journal.jsonl");
  ProposalLog log(request.run_directory / "proposals.jsonl");
  Replayer replayer(o.launch.trace, machine, o.launch.occupancy.blocks_per_cu);
  Replays replays(o.launch, replayer, plan_rungs(replayer), request.seed, request.threads, journal);
  const auto built_program = [&]() -> const vgpu::BuiltProgram& {
    if (!built) built = vgpu::build_program(spec, scratch.path());
    return *built;
  };
  LoopSetup setup = {o.launch,
                     request.proposers,
                     exact_ranking(request, machine),
                     request.run_directory,
                     {},
                     [&] { return obtain_context(request, o.launch, spec, built, scratch.path()); },
                     "",
                     [&](const std::string& text, const KnownOrders& known) {
                       return judge_rewrite(text, o.launch, spec, built_program(), known,
                                            scratch.path());
                     },
                     request.threads,
                     request.quiet};
  if (request.proposers.edit == Edit::kKernel) {
    setup.file = clean_text(read_file(spec.program), std::string::npos);
  }
  ask_proposers(request, o, setup, replays, log);
  take_best(o, request, setup, spec);
  // The identity's exact replay, the patch, a second opinion and a look at the blocks need nothing
  // of each other.
  const std::array<std::function<void()>, 4> last = {
      [&] { o.baseline = replays.exact(identity_candidate(o.launch.shape)); },
      [&] {
        if (o.best_swizzle) try_apply(o, spec, built, scratch.path());
      },
      [&] {
        if (!o.best_order.empty()) {
          o.second_opinion = second_opinion(o.launch, o.best_order, request.seed, request.threads);
        }
      },
      [&] {
        o.blocks = watch_trace(o.launch.trace);
        o.warnings = order_warnings(o.blocks);
      }};
  parallel_for(last.size(), std::max(2U, request.threads),
               [&](std::uint64_t i, unsigned) { last[i](); });

  decide(o);
  if (o.best_swizzle) {
    write_file(request.run_directory / "best.swz", o.best_swizzle->formula.text());
  }
  if (o.applied && o.not_applied.empty()) {
    write_file(request.run_directory / "best.patch", o.applied->splice.patch);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  o.json = result_json(request, o, seconds);
  write_file(request.run_directory / "result.json", o.json.dump(2) + "\n");
  log.finished();
  return o;
}

}  // namespace swizzleperf
