// See launch.h.
#include "launch/launch.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace swizzleperf {
namespace {

/// "sm_90" and "gfx942" say 9.0 and 9.4.
vgpu::VirtualDevice device_of(const Machine& m) {
  vgpu::VirtualDevice d;
  d.name = m.title;
  d.compute_units = m.dies * m.cus_per_die;
  d.clock_ghz = m.clock_ghz;
  d.l2_bytes = (m.vendor == "nvidia" ? m.dies : 1) * m.l2.bytes;
  const std::size_t digit = m.arch.find_first_of("0123456789");
  const std::string digits = digit == std::string::npos ? "" : m.arch.substr(digit);
  const bool nvidia = m.vendor == "nvidia";
  const std::size_t major_digits = nvidia && digits.size() > 2 ? digits.size() - 1 : 1;
  if (digits.size() > major_digits) {
    d.major = static_cast<std::uint32_t>(
        std::strtoul(digits.substr(0, major_digits).c_str(), nullptr, 10));
    d.minor = static_cast<std::uint32_t>(digits[major_digits] - '0');
  }
  d.lds_bytes = m.lds_bytes;
  d.simds = m.simds_per_cu;
  d.waves_per_simd = m.waves_per_simd;
  d.blocks = m.blocks_per_cu;
  d.registers_per_lane = m.vgprs_per_lane;
  d.register_granule = m.vgpr_granule;
  d.most_block_lds_bytes = m.lds_bytes - m.lds_reserved_per_block;
  constexpr std::uint32_t kUnasked = 48 << 10;  // CUDA gives more only to kernels that ask for it
  d.block_lds_bytes = nvidia ? kUnasked : d.most_block_lds_bytes;
  return d;
}

}  // namespace

void set_target(vgpu::ProgramSpec& spec, const Machine& machine) {
  if (machine.vendor == "amd") spec.arch = machine.arch;
  spec.device = device_of(machine);
}

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
