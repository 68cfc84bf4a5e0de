// simulate: what a machine's caches would do with a launch, under the identity and the swizzles
// given. The identity is always the first row, since every figure is read against it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/program_options.h"
#include "cli/verb.h"
#include "launch/launch.h"
#include "report/arrays.h"
#include "report/launch_text.h"
#include "report/metrics.h"
#include "report/table.h"
#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Options {
  bool exact = false;
};

/// One order of blocks, replayed (or refused: then there is no result).
struct Row {
  Swizzle swizzle;
  GridVerdict verdict;
  std::optional<SimResult> result;
  double seconds = 0;
};

std::vector<Row> make_rows(const CommonOptions& common, const LaunchShape& shape) {
  std::vector<std::string> specs = {"identity"};
  specs.insert(specs.end(), common.swizzles.begin(), common.swizzles.end());
  std::vector<Row> rows;
  for (const std::string& spec : specs) {
    Swizzle swizzle = make_swizzle(spec);
    GridVerdict verdict = verify_grid(swizzle.formula, shape);
    rows.push_back({std::move(swizzle), std::move(verdict), std::nullopt, 0});
  }
  return rows;
}

void replay(std::vector<Row>& rows, Replayer& replayer, bool exact, unsigned threads,
            std::uint64_t seed) {
  std::size_t sample = 0;
  if (!exact) sample = replayer.add_sample(replayer.fine_share(), seed, threads);
  parallel_for(rows.size(), threads, [&](std::uint64_t i, unsigned) {
    Row& row = rows[i];
    if (!row.verdict.bijective) return;
    const auto start = Clock::now();
    row.result = exact ? replayer.exact(row.verdict.permutation)
                       : replayer.sampled(sample, row.verdict.permutation);
    row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  });
}

/// The identity is a bijection, so the first row always has a result.
const SimResult& identity_of(const std::vector<Row>& rows) {
  const std::optional<SimResult>& result = rows.front().result;
  if (!result) throw input_error("the identity was not replayed");
  return *result;
}

std::string console(const Launch& launch, const Replayer& replayer, const std::vector<Row>& rows,
                    bool exact, bool arrays) {
  const Trace& t = launch.trace;
  std::string text =
      fmt::format("{} on {}: {}, {} (limited by {})\n", t.kernel, launch.machine.title,
                  launch_words(t.grid, t.block),
                  blocks_per_unit_words(launch.occupancy.blocks_per_cu, launch.machine),
                  launch.occupancy.limit);
  text += wrap(fmt::format("{} line requests to L2, {}.",
                           count_words(static_cast<double>(replayer.num_requests())),
                           exact ? "all replayed"
                                 : fmt::format("{:.1f} % of the cache sets replayed",
                                               100 * identity_of(rows).sampled_share)),
               output_width());
  Table table{{{"swizzle"},
               {"L2 hit %", true},
               {"last level %", true},
               {"HBM", true},
               {"time ms", true},
               {"speed", true},
               {"bound by"}},
              {}};
  std::string refused;
  for (const Row& row : rows) {
    if (!row.result) {
      table.rows.push_back({row.swizzle.spec, "-", "-", "-", "-", "-", "refused"});
      refused += wrap(fmt::format("{}: {}", row.swizzle.spec,
                                  describe(row.verdict.counterexample.value_or(Counterexample{}))),
                      output_width(), 2);
      continue;
    }
    const SimResult& r = *row.result;
    table.rows.push_back({row.swizzle.spec, fmt::format("{:.2f}", 100 * r.l2.hit_rate()),
                          r.llc ? fmt::format("{:.2f}", 100 * r.llc->hit_rate()) : "-",
                          bytes_words(r.hbm_bytes()), ms_words(r.time_ms),
                          fmt::format("{:.2f}x", identity_of(rows).time_ms / r.time_ms),
                          std::string(bound_name(r.bound))});
  }
  double seconds = 0;
  for (const Row& row : rows) seconds += row.seconds;
  text += "\n" + render(table, output_width());
  if (!refused.empty()) text += "\n" + refused;
  if (arrays)
    text +=
        "\nArrays, in the identity's order\n" + arrays_table(t, identity_of(rows).misses_by_buffer);
  return text +
         fmt::format("\nReplay: {:.3f} s a swizzle.\n", seconds / static_cast<double>(rows.size()));
}

Json json(const Launch& launch, const std::vector<Row>& rows, bool exact) {
  const Trace& t = launch.trace;
  Json document = json_document();
  document["machine"] = launch.machine.name;
  document["kernel"] = t.kernel;
  document["grid"] = {t.grid.x, t.grid.y, t.grid.z};
  document["block"] = {t.block.x, t.block.y, t.block.z};
  document["blocks_per_cu"] = launch.occupancy.blocks_per_cu;
  document["occupancy_limit"] = launch.occupancy.limit;
  document["exact"] = exact;
  document["results"] = Json::array();
  for (const Row& row : rows) {
    Json entry = {{"swizzle", row.swizzle.spec},
                  {"formula", row.swizzle.formula.text()},
                  {"bijective", row.verdict.bijective},
                  {"identity", row.verdict.identity}};
    const Json none = {{"l2", nullptr},
                       {"llc", nullptr},
                       {"hbm", nullptr},
                       {"per_domain", nullptr},
                       {"time_ms", nullptr}};
    entry.update(row.result ? Json(to_json(*row.result, t.buffers)) : none);
    entry["seconds"] = row.result ? Json(row.seconds) : Json();
    document["results"].push_back(std::move(entry));
  }
  return document;
}

Outcome run(const Options& options, const ProgramOptions& program, const CommonOptions& common) {
  const Machine machine = load_machine(common.machine);
  const ScratchDirectory scratch;
  const Launch launch =
      place(obtain_trace(program_spec(program, common, machine), scratch.path(), nullptr), machine);
  std::vector<Row> rows = make_rows(common, launch.shape);
  Replayer replayer(launch.trace, machine, launch.occupancy.blocks_per_cu);
  const bool exact = options.exact || replayer.fine_share() >= 1;
  replay(rows, replayer, exact, threads_of(program), common.seed);
  Outcome outcome;
  outcome.text = common.json ? to_text(json(launch, rows, exact))
                             : console(launch, replayer, rows, exact, common.verbose);
  for (const Row& row : rows) {
    if (!row.result) outcome.exit = Exit::kCheckFailed;
  }
  return outcome;
}

}  // namespace

Verb simulate_verb() {
  return {
      "simulate",
      "Find, prove and apply a swizzle",
      "Predict cache hits and time under given swizzles",
      "Examples:\n"
      "  swizzleperf simulate kernels/gemm/gemm.hip -s die-contiguous -- 4096 4096 4096\n"
      "  swizzleperf simulate gemm.trace -m h200 -s grouped:height=8 --exact\n"
      "The first row is the identity; with -v a table of the arrays follows. Exit code 1 when a\n"
      "swizzle is no bijection on the launch.",
      kMachine | kKernel | kSwizzles | kSeed | kProgramArguments,
      [](CLI::App& app) -> Action {
        const auto options = std::make_shared<Options>();
        const auto program = std::make_shared<ProgramOptions>();
        declare_program_options(app, program);
        app.add_flag("--exact", options->exact, "Replay every request, not a sample");
        return [options, program](const CommonOptions& common) {
          return run(*options, *program, common);
        };
      }};
}

}  // namespace swizzleperf
