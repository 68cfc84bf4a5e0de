// See optimize.h.
#include "optimize/optimize.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <functional>

#include "base/fd.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/random.h"
#include "optimize/journal.h"
#include "optimize/order.h"
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

std::string_view objective_name(Objective objective) {
  switch (objective) {
    case Objective::kL2:
      return "l2";
    case Objective::kHbm:
      return "hbm";
    case Objective::kTime:
      break;
  }
  return "time";
}

/// What decides a run's result; a resumed run must ask the same.
json config_of(const OptimizeRequest& r) {
  return {{"schema_version", kSchemaVersion},
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
          {"seed", r.seed}};
}

/// Keeps other processes out of a run directory. The kernel drops the lock when we end, however we
/// do, and it leaves no file behind.
Fd lock_run_directory(const fs::path& directory) {
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) {
    throw input_error(fmt::format("{}: cannot be opened: {}; give a run directory",
                                  directory.string(), std::generic_category().message(errno)));
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw input_error(
        fmt::format("{}: another process works in this run directory; wait for it, or name another "
                    "directory",
                    directory.string()));
  }
  return fd;
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
    std::error_code error;
    const bool created = fs::create_directories(r.run_directory, error);
    if (error) {
      throw input_error(
          fmt::format("{}: cannot be created: {}", r.run_directory.string(), error.message()));
    }
    Fd lock = lock_run_directory(r.run_directory);
    if (fs::exists(config_file)) {
      throw usage_error(
          fmt::format("{} already holds a run: continue it with --resume, or name "
                      "another directory",
                      r.run_directory.string()));
    }
    write_file(config_file, config.dump(2) + "\n");
    return {std::move(lock), created};
  }
  Fd lock = lock_run_directory(r.run_directory);
  json before;
  try {
    before = json::parse(read_file(config_file));
  } catch (const json::exception&) {
    throw input_error(config_file.string() + ": not a run's config.json");
  }
  for (const auto& [key, value] : config.items()) {
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

/// Replays, answered from the journal where it can be. Rungs are those of the search; one past the
/// last is the exact replay.
class Judge {
 public:
  Judge(const Launch& launch, Replayer& replayer, std::uint64_t seed, unsigned threads,
        Journal& journal)
      : launch_(launch),
        replayer_(replayer),
        replays_(replayer, seed, threads),
        journal_(journal) {}

  [[nodiscard]] const std::vector<Rung>& rungs() const { return replays_.rungs(); }

  Score score(const Candidate& candidate, std::size_t rung) {
    const json record = record_of(candidate, rung);
    return {record.at("time_ms"), record.at("l2_requests"), record.at("l2_misses"),
            record.at("hbm_bytes")};
  }

  /// All metrics of the exact replay.
  json exact(const Candidate& candidate) {
    return record_of(candidate, rungs().size()).at("result");
  }

 private:
  json record_of(const Candidate& candidate, std::size_t rung) {
    if (auto known = journal_.find(rung, candidate.spec)) return *std::move(known);
    const SimResult result = replay(candidate, rung);
    const Score score = score_of(result);
    json record = {{"rung", rung},
                   {"spec", candidate.spec},
                   {"hash", fmt::format("{:016x}", candidate.hash)},
                   {"time_ms", score.time_ms},
                   {"l2_requests", score.l2_requests},
                   {"l2_misses", score.l2_misses},
                   {"hbm_bytes", score.hbm_bytes},
                   {"result", to_json(result, launch_.trace.buffers)}};
    journal_.append(record);
    return record;
  }

  [[nodiscard]] SimResult replay(const Candidate& candidate, std::size_t rung) const {
    const std::vector<std::uint32_t> all = permutation_of(candidate.spec, launch_.shape);
    return rung == rungs().size() ? replayer_.exact(all) : replays_.replay(all, rung);
  }

  const Launch& launch_;
  const Replayer& replayer_;
  RungReplays replays_;
  Journal& journal_;
};

/// Enough of a SimResult for the verdict, from its JSON (a resumed run has only that).
SimResult from_json(const json& j) {
  SimResult r;
  r.l2 = {j.at("l2").at("requests"), j.at("l2").at("hits")};
  r.hbm_read_bytes = j.at("hbm").at("read_bytes");
  r.hbm_write_bytes = j.at("hbm").at("write_bytes");
  r.time_ms = j.at("time_ms");
  for (const Bound b : {Bound::kCompute, Bound::kL2, Bound::kFabric, Bound::kLastLevel,
                        Bound::kMemory, Bound::kLatency}) {
    if (j.at("bound") == bound_name(b)) r.bound = b;
  }
  return r;
}

/// Samples do not tell misses apart that are closer than this.
constexpr double kMissTie = 0.002;

SearchResult run_search(const OptimizeRequest& request, const Launch& launch, Judge& judge) {
  Progress progress(request.quiet);
  const std::vector<Rung>& rungs = judge.rungs();
  const SearchSetup setup = {launch.shape,
                             {request.objective, launch.machine.error_time / 2, kMissTie},
                             request.extra_swizzles,
                             request.threads};
  SearchHooks hooks;
  hooks.evaluate = [&](const Candidate& c, std::size_t rung) { return judge.score(c, rung); };
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

/// Replays the finalists exactly and ranks them by that.
void decide_exactly(std::vector<Ranked>& finalists, Judge& judge, Objective objective,
                    const Machine& machine, unsigned threads) {
  parallel_for(finalists.size(), threads, [&](std::uint64_t i, unsigned) {
    finalists[i].score = judge.score(finalists[i].candidate, judge.rungs().size());
  });
  rank(finalists, {objective, machine.error_time / 2, 0});
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
    o.applied = apply(*o.best_swizzle, o.launch, *o.proof, spec, *built, scratch);
    if (!o.applied->comparison.first_difference.empty()) {
      o.not_applied = "the patched kernel does not compute the same bytes: " +
                      o.applied->comparison.first_difference;
    }
  } catch (const Error& error) {
    o.not_applied = error.what();
  }
}

json proof_json(const Proof& proof) {
  return {{"launch_blocks", proof.launch_blocks},
          {"range", {{"checked", proof.range.checked}, {"failed", proof.range.failed}}},
          {"guard", proof.guard.condition.empty() ? json() : json(proof.guard.condition)},
          {"guarded_share", proof.guarded_share}};
}

json applied_json(const OptimizeOutcome& o) {
  if (!o.applied || !o.not_applied.empty()) {
    return {{"patch", nullptr}, {"reason", o.not_applied}};
  }
  json remaps = json::array();
  for (const splice::Remap& r : o.applied->splice.existing_remaps) {
    remaps.push_back({{"where", r.where}, {"what", r.what}});
  }
  return {{"patch", "best.patch"},
          {"changed", o.applied->splice.changed},
          {"existing_remaps", remaps},
          {"notes", o.applied->splice.notes},
          {"comparison",
           {{"equal", o.applied->comparison.first_difference.empty()},
            {"blocks_compared", o.applied->comparison.blocks_compared},
            {"bytes_compared", o.applied->comparison.bytes_compared},
            {"first_difference", o.applied->comparison.first_difference.empty()
                                     ? json()
                                     : json(o.applied->comparison.first_difference)}}}};
}

json second_opinion_json(const std::optional<SecondOpinion>& opinion) {
  if (!opinion) return {};
  return {{"l2_index", "hashed"},
          {"speedup", opinion->speedup},
          {"l2_hit_rate", {opinion->identity_hit_rate, opinion->best_hit_rate}},
          {"caveat", opinion->caveat.empty() ? json() : json(opinion->caveat)}};
}

json result_json(const OptimizeRequest& request, const OptimizeOutcome& o, double seconds) {
  const Launch& l = o.launch;
  json attempts = json::array();
  for (const Ranked& r : o.search.finalists) {
    attempts.push_back({{"swizzle", r.candidate.spec},
                        {"hash", fmt::format("{:016x}", r.candidate.hash)},
                        {"time_ms", r.score.time_ms},
                        {"l2_hit_rate", 1 - r.score.l2_misses / r.score.l2_requests},
                        {"hbm_bytes", r.score.hbm_bytes}});
  }
  json best;
  if (o.best_swizzle) {
    best = {{"swizzle", o.best_swizzle->spec},
            {"words", o.best_swizzle->words},
            {"formula", o.best_swizzle->formula.text()},
            {"code", o.code},
            {"metrics", o.best},
            {"proof", o.proof ? proof_json(*o.proof) : json()},
            {"applied", applied_json(o)}};
  }
  return {{"schema_version", kSchemaVersion},
          {"program", l.trace.program},
          {"kernel", l.trace.kernel},
          {"machine", l.machine.name},
          {"objective", objective_name(request.objective)},
          {"seed", request.seed},
          {"grid", {l.trace.grid.x, l.trace.grid.y, l.trace.grid.z}},
          {"block", {l.trace.block.x, l.trace.block.y, l.trace.block.z}},
          {"blocks_per_cu", l.occupancy.blocks_per_cu},
          {"occupancy_limit", l.occupancy.limit},
          {"baseline", {{"swizzle", "identity"}, {"metrics", o.baseline}}},
          {"best", best},
          {"verdict",
           {{"decision", decision_name(o.verdict.decision)},
            {"reason", o.verdict.reason},
            {"second_opinion", second_opinion_json(o.second_opinion)}}},
          {"blocks",
           {{"repeated", o.blocks.repeated.blocks},
            {"overlapping", o.blocks.same.blocks},
            {"communicating", o.blocks.communication.blocks},
            {"warnings", o.warnings}}},
          {"attempts", attempts},
          {"totals",
           {{"candidates", o.search.candidates},
            {"refused", o.search.refused.size()},
            {"seconds", seconds}}}};
}

}  // namespace

OptimizeOutcome optimize(const OptimizeRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const Machine machine = load_machine(request.machine);
  const RunDirectory directory = open_run_directory(request);
  const fs::path trace_file = request.run_directory / "launch.trace";
  const ScratchDirectory scratch;

  vgpu::ProgramSpec spec = request.program;
  spec.arch = machine.vendor == "amd" ? machine.arch : spec.arch;
  std::optional<vgpu::BuiltProgram> built;
  OptimizeOutcome o;
  const bool traced_before = request.resume && is_trace_file(trace_file);
  Trace trace;
  if (traced_before) {
    trace = read_trace(trace_file);
  } else {
    trace = first_trace(request, spec, directory.created, scratch.path(), built);
    write_trace(trace, trace_file);
  }
  o.launch = place(std::move(trace), machine);

  Journal journal(request.run_directory / "journal.jsonl");
  Replayer replayer(o.launch.trace, machine, o.launch.occupancy.blocks_per_cu);
  Judge judge_orders(o.launch, replayer, request.seed, request.threads, journal);
  o.search = run_search(request, o.launch, judge_orders);
  const bool found = !o.search.finalists.empty();
  if (found) {
    decide_exactly(o.search.finalists, judge_orders, request.objective, machine, request.threads);
    const Candidate& best = o.search.finalists.front().candidate;
    const Swizzle swizzle = make_swizzle(best.spec);
    const Proof proof = prove(swizzle, o.launch.shape, request.threads);
    o.best = judge_orders.exact(best);
    o.code = helper_code(swizzle, o.launch, proof, spec);
    o.best_swizzle = swizzle;
    o.proof = proof;
  }
  // The identity's exact replay, the patch, a second opinion and a look at the blocks need nothing
  // of each other.
  const std::array<std::function<void()>, 4> last = {
      [&] { o.baseline = judge_orders.exact(identity_candidate(o.launch.shape)); },
      [&] {
        if (found) try_apply(o, spec, built, scratch.path());
      },
      [&] {
        if (found) {
          o.second_opinion =
              second_opinion(o.launch, *o.best_swizzle, request.seed, request.threads);
        }
      },
      [&] {
        o.blocks = watch_trace(o.launch.trace);
        o.warnings = order_warnings(o.blocks);
      }};
  parallel_for(last.size(), std::max(2U, request.threads),
               [&](std::uint64_t i, unsigned) { last[i](); });

  const SimResult identity = from_json(o.baseline);
  if (o.best_swizzle) {
    const SimResult best = from_json(o.best);
    o.verdict = judge(machine, identity, &best);
    if (o.verdict.decision == Verdict::Decision::kKeepIdentity) o.second_opinion.reset();
    if (o.second_opinion) {
      doubt(*o.second_opinion, machine, identity.time_ms / best.time_ms,
            100 * (best.l2.hit_rate() - identity.l2.hit_rate()));
    }
    write_file(request.run_directory / "best.swz", o.best_swizzle->formula.text());
  } else {
    o.verdict = judge(machine, identity, nullptr);
  }
  if (o.verdict.decision == Verdict::Decision::kKeepIdentity) {
    o.not_applied = "the verdict is to keep the identity";
  } else if (o.applied && o.not_applied.empty()) {
    write_file(request.run_directory / "best.patch", o.applied->splice.patch);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  o.json = result_json(request, o, seconds);
  write_file(request.run_directory / "result.json", o.json.dump(2) + "\n");
  return o;
}

}  // namespace swizzleperf
