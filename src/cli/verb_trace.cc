// trace: run a program on the virtual GPU and keep what its blocks asked of memory.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/program_options.h"
#include "cli/verb.h"
#include "optimize/launch.h"
#include "report/launch_text.h"
#include "report/table.h"

namespace swizzleperf {
namespace {

using Json = nlohmann::ordered_json;

Json json(const Trace& t, const std::string& file) {
  Json document = json_document();
  document["program"] = t.program;
  document["kernel"] = t.kernel;
  document["arch"] = t.arch;
  document["grid"] = {t.grid.x, t.grid.y, t.grid.z};
  document["block"] = {t.block.x, t.block.y, t.block.z};
  document["vgprs"] = t.vgprs != 0 ? Json(t.vgprs) : Json();
  document["sgprs"] = t.vgprs != 0 ? Json(t.sgprs) : Json();
  document["lds_bytes"] = t.lds_bytes;
  document["buffers"] = Json::array();
  for (const Buffer& b : t.buffers)
    document["buffers"].push_back({{"name", b.name}, {"bytes", b.bytes}});
  document["blocks"] = {{"run", t.method.blocks_run},
                        {"checked", t.method.blocks_checked},
                        {"extrapolated", t.method.blocks_extrapolated}};
  document["seconds"] = t.method.seconds;
  document["templates"] = t.templates.size();
  document["patterns"] = t.patterns.size();
  document["file"] = file.empty() ? Json() : Json(file);
  return document;
}

std::string console(const Trace& t, const std::string& file) {
  std::string text =
      fmt::format("{}: {}\n", t.kernel, launch_words(t.grid, t.block)) +
      wrap(fmt::format("{} in {:.2f} s.", method_words(t), t.method.seconds), output_width());
  text += t.vgprs != 0 ? fmt::format("Code generator ({}): {} VGPRs, {} SGPRs, {} bytes of LDS.\n",
                                     t.arch, t.vgprs, t.sgprs, t.lds_bytes)
                       : "Registers unknown.\n";
  Table table{{{"array"}, {"size", true}}, {}};
  for (const Buffer& b : t.buffers)
    table.rows.push_back({b.name, bytes_words(static_cast<double>(b.bytes))});
  text += render(table, output_width());
  text += fmt::format("{} distinct access patterns in {} templates.\n", t.patterns.size(),
                      t.templates.size());
  if (!file.empty()) text += fmt::format("Trace written to {}.\n", file);
  return text;
}

Outcome run(const ProgramOptions& options, const CommonOptions& common) {
  const Machine machine = load_machine(common.machine);
  const ScratchDirectory scratch;
  const Trace trace = obtain_trace(program_spec(options, common, machine), scratch.path(), nullptr);
  if (!common.output.empty()) write_trace(trace, common.output);
  Outcome outcome;
  outcome.text = common.json ? to_text(json(trace, common.output)) : console(trace, common.output);
  outcome.output_taken = true;
  return outcome;
}

}  // namespace

Verb trace_verb() {
  return {"trace",
          "Find, prove and apply a swizzle",
          "Record what a kernel's blocks ask of memory",
          "Examples:\n"
          "  swizzleperf trace kernels/gemm/gemm.hip -o gemm.trace -- 4096 4096 4096\n"
          "  swizzleperf trace gemm.trace                what a trace holds\n"
          "With -o the trace is written to the file and the summary goes to stdout.",
          kMachine | kKernel | kProgramArguments,
          [](CLI::App& app) -> Action {
            const auto options = std::make_shared<ProgramOptions>();
            declare_program_options(app, options);
            return [options](const CommonOptions& common) { return run(*options, common); };
          }};
}

}  // namespace swizzleperf
