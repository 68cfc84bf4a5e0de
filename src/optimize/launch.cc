// See launch.h.
#include "optimize/launch.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <utility>

namespace swizzleperf {

Launch place(Trace trace, Machine machine) {
  const BlockResources block = {static_cast<std::uint32_t>(trace.block.count()), trace.vgprs,
                                trace.lds_bytes};
  Launch launch = {std::move(trace), std::move(machine), {}, {}};
  launch.occupancy = occupancy(launch.machine, block);
  launch.shape = {launch.trace.grid, launch.machine.dies, launch.machine.cus_per_die};
  return launch;
}

bool is_source(const std::filesystem::path& file) {
  static constexpr std::array<std::string_view, 7> kEndings = {".hip", ".cu",  ".cpp", ".cc",
                                                               ".cxx", ".c++", ".py"};
  const std::string ending = file.extension().string();
  for (const std::string_view e : kEndings) {
    if (ending == e) return true;
  }
  return false;
}

bool is_triton(const vgpu::ProgramSpec& spec) {
  return vgpu::spliced_source(spec).extension() == ".py";
}

Trace obtain_trace(const vgpu::ProgramSpec& spec, const std::filesystem::path& work_directory,
                   std::optional<vgpu::BuiltProgram>* built) {
  // A file that says it is a trace is none of the others, whatever it holds.
  if (is_trace_file(spec.program) || spec.program.extension() == ".trace")
    return read_trace(spec.program);
  vgpu::BuiltProgram program = vgpu::build_program(spec, work_directory);
  for (const std::string& note : program.notes) fmt::print(stderr, "{}\n", note);
  Trace trace = vgpu::trace_program(spec, program);
  if (built != nullptr) *built = std::move(program);
  return trace;
}

}  // namespace swizzleperf
