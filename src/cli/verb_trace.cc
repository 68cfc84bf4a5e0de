// trace: run a program on the virtual GPU and keep what its blocks asked of memory.
//
// A traced program is stopped at its launch, since its own checks could not pass once arithmetic
// was left out. With --run-to-end it is not traced but run, arithmetic and all, to its end.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"
#include "cli/program_options.h"
#include "cli/verb.h"
#include "launch/launch.h"
#include "report/launch_text.h"
#include "report/table.h"
#include "trace/lines.h"

namespace swizzleperf {
namespace {

using Json = nlohmann::ordered_json;

using Requests = std::optional<std::uint64_t>;

/// Those that reach the machine's L2; nothing where a block does not fit on a CU, or the trace is
/// too large for lines.
Requests l2_requests(const Trace& trace, const Machine& machine) {
  try {
    const BlockResources block = {static_cast<std::uint32_t>(trace.block.count()), trace.vgprs,
                                  trace.lds_bytes};
    return make_lines(trace, machine, occupancy(machine, block).blocks_per_cu).num_requests;
  } catch (const Error&) {
    return std::nullopt;
  }
}

Json json(const Trace& t, const Requests& requests, const std::string& file) {
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
  document["l2_requests"] = requests ? Json(*requests) : Json();
  document["seconds"] = t.method.seconds;
  document["templates"] = t.templates.size();
  document["patterns"] = t.patterns.size();
  document["file"] = file.empty() ? Json() : Json(file);
  return document;
}

/// For NVIDIA's machines, too, registers are those of LLVM's generator for AMD's.
std::string resources_text(const Trace& t, const Machine& machine) {
  if (t.vgprs == 0) return "Registers unknown.\n";
  return machine.vendor == "nvidia"
             ? fmt::format(
                   "Code generator (AMD's, which stands in for NVIDIA's): {} registers a "
                   "thread, {} bytes of shared memory.\n",
                   t.vgprs, t.lds_bytes)
             : fmt::format("Code generator ({}): {} VGPRs, {} SGPRs, {} bytes of LDS.\n", t.arch,
                           t.vgprs, t.sgprs, t.lds_bytes);
}

std::string console(const Trace& t, const Requests& requests, const Machine& machine,
                    const std::string& file) {
  std::string text =
      fmt::format("{}: {}\n", t.kernel, launch_words(t.grid, t.block)) +
      wrap(fmt::format("{} in {:.2f} s.", method_words(t), t.method.seconds), output_width());
  text += resources_text(t, machine);
  Table table{{{"array"}, {"size", true}}, {}};
  for (const Buffer& b : t.buffers)
    table.rows.push_back({b.name, bytes_words(static_cast<double>(b.bytes))});
  text += render(table, output_width());
  if (requests) {
    text += fmt::format("{} line requests to L2, all blocks together.\n",
                        count_words(static_cast<double>(*requests)));
  }
  text += fmt::format("{} distinct access patterns in {} templates.\n", t.patterns.size(),
                      t.templates.size());
  if (!file.empty()) text += fmt::format("Trace written to {}.\n", file);
  return text;
}

/// The program's own output, and how it ended: 1 when it says that something is wrong.
Outcome run_to_end(const vgpu::ProgramSpec& spec, const CommonOptions& common,
                   const std::filesystem::path& directory) {
  if (is_trace_file(spec.program)) {
    throw usage_error("--run-to-end runs a program; a trace holds no program");
  }
  const vgpu::BuiltProgram program = vgpu::build_program(spec, directory);
  const auto start = std::chrono::steady_clock::now();
  const vgpu::FunctionalRun end = vgpu::run_functional(spec, program);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  Outcome outcome;
  outcome.exit = end.exit_status == 0 ? Exit::kDone : Exit::kCheckFailed;
  if (common.json) {
    Json document = json_document();
    document["program"] = spec.program.string();
    document["exit_status"] = end.exit_status;
    document["stdout"] = end.captured_stdout;
    document["stderr"] = end.captured_stderr;
    document["output_digest"] = end.output_digest;
    document["seconds"] = seconds.count();
    outcome.text = to_text(document);
  } else {
    outcome.text = end.captured_stdout + end.captured_stderr +
                   fmt::format("Exit status {} after {:.2f} s; all device memory hashes to {}.\n",
                               end.exit_status, seconds.count(), end.output_digest);
  }
  return outcome;
}

struct Options {
  bool to_end = false;
  std::string save;
};

Outcome run(const ProgramOptions& options, const Options& own, const CommonOptions& common) {
  const Machine machine = load_machine(common.machine);
  const ScratchDirectory scratch;
  if (own.to_end) {
    vgpu::ProgramSpec spec = program_spec(options, common, machine);
    spec.save_directory = own.save;
    return run_to_end(spec, common, scratch.path());
  }
  const Trace trace = obtain_trace(program_spec(options, common, machine), scratch.path(), nullptr);
  if (!common.output.empty()) write_trace(trace, common.output);
  const Requests requests = l2_requests(trace, machine);
  Outcome outcome;
  outcome.text = common.json ? to_text(json(trace, requests, common.output))
                             : console(trace, requests, machine, common.output);
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
          "  swizzleperf trace --run-to-end kernels/gemm/gemm.hip -- 300 200 72 --check\n"
          "With -o the trace is written to the file and the summary goes to stdout.",
          kMachine | kKernel | kProgramArguments,
          [](CLI::App& app) -> Action {
            const auto options = std::make_shared<ProgramOptions>();
            declare_program_options(app, options);
            const auto own = std::make_shared<Options>();
            CLI::Option* const to_end = app.add_flag(
                "--run-to-end", own->to_end,
                "Trace nothing: run the whole program, show its output and exit status");
            app.add_option("--save", own->save,
                           "Of a launch spec: write its arrays into this folder, before and after")
                ->check(CLI::ExistingDirectory)
                ->needs(to_end);
            return [=](const CommonOptions& common) { return run(*options, *own, common); };
          }};
}

}  // namespace swizzleperf
