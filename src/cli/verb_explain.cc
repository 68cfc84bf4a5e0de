// explain: why an order of blocks misses, what the swizzle buys, and what else would help.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/program_options.h"
#include "cli/verb.h"
#include "explain/explain.h"
#include "explain/words.h"
#include "report/launch_text.h"
#include "report/table.h"

namespace swizzleperf {
namespace {

struct Options {
  std::string json_file;
};

std::vector<std::string> row(const std::string& name, const ArrayMisses& array) {
  std::vector<std::string> cells = {
      name, count_words(array.requests),
      array.requests > 0
          ? fmt::format("{:.1f}", 100 * (1 - array.misses().requests / array.requests))
          : "-"};
  for (const MissTally& tally : array.by_class) cells.push_back(count_words(tally.requests));
  cells.push_back(bytes_words(array.misses().bytes));
  return cells;
}

std::string arrays(const Launch& launch, const Classified& misses) {
  Table table{{{"array"},
               {"requests", true},
               {"hit %", true},
               {"compulsory", true},
               {"sharing", true},
               {"capacity", true},
               {"conflict", true},
               {"fetched", true}},
              {}};
  for (std::size_t a = 0; a < misses.arrays.size(); ++a) {
    if (misses.arrays[a].requests > 0) {
      table.rows.push_back(row(launch.trace.buffers[a].name, misses.arrays[a]));
    }
  }
  if (table.rows.size() > 1) table.rows.push_back(row("all", misses.total()));
  return render(table, output_width());
}

std::string console(const Launch& launch, const Explanation& x) {
  const Trace& t = launch.trace;
  std::string text = fmt::format("{} on {}\n", t.kernel, launch.machine.title);
  text += wrap(fmt::format("{}, {} a CU (limited by {}). Requests to L2 and its misses by class, "
                           "every request replayed.",
                           launch_words(t.grid, t.block), launch.occupancy.blocks_per_cu,
                           launch.occupancy.limit),
               output_width());
  for (const ExplainedOrder& o : x.orders) {
    const bool found = x.candidates > 0 && &o == &x.order() && x.orders.size() > 1;
    text += "\n" + o.swizzle +
            (found ? fmt::format(" (the best of {} orders)", x.candidates) : std::string()) + "\n" +
            arrays(launch, o.misses);
  }
  for (const Paragraph& p : explain_in_words(launch, x)) {
    text += "\n" + p.heading + "\n";
    for (const std::string& sentence : p.sentences)
      text += wrap("- " + sentence, output_width(), 2);
  }
  return text;
}

Outcome run(const Options& options, const ProgramOptions& program, const CommonOptions& common) {
  if (common.swizzles.size() > 1) {
    throw usage_error("explain compares one order with the identity: give -s once");
  }
  const Machine machine = load_machine(common.machine);
  const ScratchDirectory scratch;
  const Launch launch =
      place(obtain_trace(program_spec(program, common, machine), scratch.path(), nullptr), machine);
  const Explanation x = explain(launch, {common.swizzles.empty() ? "" : common.swizzles.front(),
                                         common.seed, threads_of(program)});
  nlohmann::ordered_json document = json_document();
  document.update(to_json(launch, x));
  if (!options.json_file.empty()) write_file(options.json_file, to_text(document));
  Outcome outcome;
  outcome.text = common.json ? to_text(document) : console(launch, x);
  return outcome;
}

}  // namespace

Verb explain_verb() {
  return {"explain",
          "Find, prove and apply a swizzle",
          "Say why an order misses L2 and what would help",
          "Examples:\n"
          "  swizzleperf explain kernels/gemm/gemm.hip -- 4096 4096 4096\n"
          "  swizzleperf explain gemm.trace -m h200 -s grouped:height=8 --json gemm.json\n"
          "Compares one order, or the best of a search, with the identity, every request\n"
          "replayed. Misses are compulsory (no die has asked for the line before), sharing lost\n"
          "(another die has), capacity (a fully associative L2 of the same size would have lost\n"
          "it too) or conflict (it would not). Exit code 1 when the swizzle is no bijection.",
          kMachine | kKernel | kSwizzles | kSeed | kProgramArguments,
          [](CLI::App& app) -> Action {
            const auto options = std::make_shared<Options>();
            const auto program = std::make_shared<ProgramOptions>();
            declare_program_options(app, program);
            app.add_option("--json", options->json_file,
                           "Write the same figures as JSON to a file, beside the text");
            return [options, program](const CommonOptions& common) {
              return run(*options, *program, common);
            };
          }};
}

}  // namespace swizzleperf
