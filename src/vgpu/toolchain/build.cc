// A program given by its source: the drop-in compilers' own way (command_line.h, compile.h,
// link.h), told to say only the first error, since one sentence is what a verb answers with.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/files.h"
#include "swizzleperf/error.h"
#include "vgpu/run.h"
#include "vgpu/toolchain/build_spec.h"
#include "vgpu/toolchain/command_line.h"
#include "vgpu/toolchain/compile.h"
#include "vgpu/toolchain/device.h"
#include "vgpu/toolchain/diagnose.h"
#include "vgpu/toolchain/link.h"
#include "vgpu/toolchain/record.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;

bool is_elf(const fs::path& file) {
  std::array<char, 4> head{};
  std::ifstream(file, std::ios::binary).read(head.data(), head.size());
  return head == std::array<char, 4>{'\x7f', 'E', 'L', 'F'};
}

fs::path own_directory(const fs::path& work_directory) {
  std::string pattern = (fs::absolute(work_directory) / "program-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw input_error(fmt::format("cannot create a directory in {}", work_directory.string()));
  }
  return pattern;
}

BuiltProgram use_executable(const ProgramSpec& spec, const fs::path& directory) {
  if (read_file(spec.program).find("libswizzleperf_hip.so") == std::string::npos) {
    throw input_error(fmt::format(
        "{} was not built for the virtual GPU (it does not use libswizzleperf_hip.so): build it "
        "with swizzleperf-hipcc or swizzleperf-nvcc, or give its source",
        spec.program.string()));
  }
  BuiltProgram built;
  built.directory = directory;
  built.executable = fs::absolute(spec.program);
  built.units = units_of(spec.program);
  return built;
}

const CompileExtras& terse() {
  static const CompileExtras extras = {
      .host_options = {},
      .dependency_options = {},
      .diagnostic_options = {"-w", "-fno-crash-diagnostics", "-ferror-limit=1",
                             "-fno-caret-diagnostics", "-fno-color-diagnostics"},
      .precompiled = true};
  return extras;
}

void check_compiled(const Compiled& compiled, Language language) {
  if (compiled.ok) return;
  if (const std::string library = missing_library(compiled.diagnostics); !library.empty()) {
    throw input_error(library);
  }
  const std::string assembly =
      language == Language::kCuda ? inline_ptx(compiled.diagnostics) : std::string();
  throw input_error(assembly.empty() ? fmt::format("{} (compiling for {})",
                                                   first_compile_error(compiled.diagnostics),
                                                   compiled.failed_for)
                                     : assembly);
}

/// A source of any name is a program here; only CUDA's speaks nvcc's dialect.
CompilerCall call_for(const ProgramSpec& spec) {
  const bool cuda =
      spec.language.value_or(language_of(spec.program, Dialect::kNvcc)) == Language::kCuda;
  std::vector<std::string> arguments = spec.compile_options;
  arguments.insert(arguments.end(), {"-x", cuda ? "cuda" : "hip", spec.program.string()});
  return parse_command_line(cuda ? Dialect::kNvcc : Dialect::kHipcc, arguments);
}

}  // namespace

BuiltProgram build_program(const ProgramSpec& spec, const fs::path& work_directory) {
  if (!fs::is_regular_file(spec.program)) {
    throw input_error(fmt::format("{}: no such file", spec.program.string()));
  }
  const fs::path directory = own_directory(work_directory);
  if (is_launch_spec(spec.program)) return build_spec_program(spec, directory);
  if (is_elf(spec.program)) return use_executable(spec, directory);

  const Pieces pieces = locate_pieces();
  const CompilerCall call = call_for(spec);
  Unit unit = make_unit(call, call.sources.front(), spec.arch);
  CompileExtras extras = terse();
  extras.host_options = call.host_options;
  const Compiled compiled = compile_unit(unit, pieces, extras, directory);
  check_compiled(compiled, unit.language);
  if (unit.kernels.empty()) {
    throw input_error(
        fmt::format("{} defines no kernel (__global__ function)", spec.program.string()));
  }

  BuiltProgram built;
  built.directory = directory;
  built.executable = directory / "program";
  built.units = {unit};
  const Command link = link_command(pieces, linked_items(call, {compiled.objects}),
                                    call.host_options, built.executable);
  const ChildResult result = run_command(link);
  if (!result.ok()) throw input_error(link_error(spec.program, result.err));
  return built;
}

const Unit& unit_of(const BuiltProgram& program, const std::string& symbol) {
  if (program.units.size() == 1) return program.units.front();
  const std::string plain = symbol.substr(0, symbol.find('.'));  // k.intern.HASH is a static one
  for (const Unit& unit : program.units) {
    if (std::find(unit.kernels.begin(), unit.kernels.end(), plain) != unit.kernels.end()) {
      return unit;
    }
  }
  throw input_error(fmt::format(
      "{} does not say which source file the kernel {} comes from: give the source itself",
      program.executable.string(), symbol));
}

fs::path build_device(const Unit& unit, const fs::path& source, const fs::path& work_directory) {
  fs::path bitcode = own_directory(work_directory) / "device.bc";
  const Pieces pieces = locate_pieces();
  const Compiled compiled = compile_device(unit, pieces, terse(), source, bitcode);
  check_compiled(compiled, unit.language);
  return bitcode;
}

Unit source_unit(const ProgramSpec& spec) {
  const CompilerCall call = call_for(spec);
  return make_unit(call, call.sources.front(), spec.arch);
}

fs::path build_device(const ProgramSpec& spec, const fs::path& work_directory) {
  if (is_launch_spec(spec.program)) {
    return build_spec_device(spec, own_directory(work_directory));
  }
  return build_device(source_unit(spec), spec.program, work_directory);
}

}  // namespace swizzleperf::vgpu
