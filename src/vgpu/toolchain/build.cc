// Building a HIP program for the virtual GPU: clang twice, then lld.
//
// A HIP source is compiled once for the device and once for the host, and the host half wants to
// embed the result of the device half. Done in that order the two would take twice the time, all of
// it before anything else can happen. So the host half embeds only a name, and the device bitcode
// joins at link time as a binary input, whose start and end lld gives symbols; the runtime library
// looks the name up (registration.cc). Both compilations then run side by side.
//
// Device code stays LLVM bitcode at -O3 with line tables: the virtual GPU runs what the code
// generator would have been given, and can say where. Names are kept, since buffers are called
// after the kernel's arguments.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <future>

#include "base/files.h"
#include "base/subprocess.h"
#include "swizzleperf/error.h"
#include "vgpu/run.h"
#include "vgpu/runtime/embedded.h"
#include "vgpu/toolchain/build_spec.h"
#include "vgpu/toolchain/device.h"
#include "vgpu/toolchain/diagnose.h"
#include "vgpu/toolchain/locate.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

std::string compiler() {
  const auto found = find_program("clang++-22");
  if (!found) throw input_error("clang++-22 is not on PATH: install the package clang-22");
  return found->string();
}

bool is_elf(const fs::path& file) {
  std::array<char, 4> head{};
  std::ifstream(file, std::ios::binary).read(head.data(), head.size());
  return head == std::array<char, 4>{'\x7f', 'E', 'L', 'F'};
}

/// -l, -L and -Wl, concern the linker; everything else the compiler.
bool is_link_option(const std::string& option) {
  return option.starts_with("-l") || option.starts_with("-L") || option.starts_with("-Wl,");
}

/// The link runs in another directory, so a relative -L must not stay relative.
std::string absolute_link_option(const std::string& option) {
  if (!option.starts_with("-L")) return option;
  return "-L" + fs::absolute(option.substr(2)).string();
}

Command common_command(const ProgramSpec& spec, const Pieces& pieces) {
  Command command = {compiler(), "-x", "hip", "--offload-arch=" + spec.arch, "-nogpulib",
                     // HIP 5.2's headers ask for it; clang no longer defines it.
                     "-D__AMDGCN_WAVEFRONT_SIZE=64", "-include", pieces.prelude.string(), "-w",
                     "-fno-crash-diagnostics", "-ferror-limit=1", "-fno-caret-diagnostics",
                     "-fno-color-diagnostics"};
  for (const std::string& option : spec.compile_options) {
    if (!is_link_option(option)) command.push_back(option);
  }
  return command;
}

Command device_command(const ProgramSpec& spec, const Pieces& pieces, const fs::path& output) {
  Command command = common_command(spec, pieces);
  command.insert(command.end(),
                 {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", pieces.device_library.string(),
                  "-O3", "-g1", "-fno-discard-value-names", "--offload-device-only", "-emit-llvm",
                  "-c", spec.program.string(), "-o", output.string()});
  return command;
}

Command host_command(const ProgramSpec& spec, const Pieces& pieces, const fs::path& embedded,
                     const fs::path& output) {
  Command command = common_command(spec, pieces);
  command.insert(command.end(),
                 {"-O2", "--offload-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang",
                  embedded.string(), "-c", spec.program.string(), "-o", output.string()});
  return command;
}

Command link_command(const ProgramSpec& spec, const Pieces& pieces, const fs::path& output) {
  const std::string library_directory = pieces.runtime_library.parent_path().string();
  Command command = {compiler(), "-fuse-ld=lld", "host.o",
                     // lld names a binary input after its path: see embedded.h.
                     fmt::format("-Wl,--format=binary,{},--format=default", kDeviceFile),
                     fmt::format("-Wl,--export-dynamic-symbol={}", kEmbeddedStart),
                     fmt::format("-Wl,--export-dynamic-symbol={}", kEmbeddedEnd),
                     "-L" + library_directory, "-Wl,-rpath," + library_directory,
                     "-lswizzleperf_hip", "-o", output.string()};
#ifdef SWIZZLEPERF_LINK_OPTION
  command.emplace_back(SWIZZLEPERF_LINK_OPTION);
#endif
  for (const std::string& option : spec.compile_options) {
    if (is_link_option(option)) command.push_back(absolute_link_option(option));
  }
  return command;
}

ChildResult run(const Command& command, const fs::path& directory = {}) {
  ChildSpec child;
  child.argv = command;
  child.directory = directory;
  return run_child(child);
}

/// Compiles with the precompiled HIP header where there is one. It can only save time: whatever
/// does not compile with it (another -std, a macro set before the include, an error) is tried
/// without.
ChildResult compile(const Command& command, const fs::path& precompiled) {
  if (fs::exists(precompiled)) {
    Command quick = command;
    quick.insert(quick.end(), {"-Xclang", "-include-pch", "-Xclang", precompiled.string()});
    if (ChildResult result = run(quick); result.ok()) return result;
  }
  return run(command);
}

void check_compiled(const ChildResult& result, const std::string& target) {
  if (result.ok()) return;
  if (result.timed_out) throw input_error("the compiler did not end within its time limit");
  throw input_error(fmt::format("{} (compiling for {})", first_compile_error(result.err), target));
}

/// The host half of a program with kernels registers them; its object names that function.
void check_has_kernels(const fs::path& source, const fs::path& host_object) {
  if (read_file(host_object).find("__hipRegisterFunction") == std::string::npos) {
    throw input_error(fmt::format("{} defines no kernel (__global__ function)", source.string()));
  }
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
        "{} was not built for the virtual GPU (it does not use libswizzleperf_hip.so): give its "
        "source",
        spec.program.string()));
  }
  BuiltProgram built;
  built.directory = directory;
  built.executable = fs::absolute(spec.program);
  return built;
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
  BuiltProgram built;
  built.directory = directory;
  built.executable = directory / "program";
  built.device_bitcode = directory / kDeviceFile;
  built.compile_command = device_command(spec, pieces, built.device_bitcode);

  const fs::path embedded = directory / "embedded";
  write_file(embedded, kEmbeddedMark);
  const fs::path host_object = directory / "host.o";
  auto device = std::async(std::launch::async, [&] {
    return compile(built.compile_command, pieces.precompiled("device", spec.arch));
  });
  const ChildResult host = compile(host_command(spec, pieces, embedded, host_object),
                                   pieces.precompiled("host", spec.arch));
  check_compiled(device.get(), spec.arch);
  check_compiled(host, "the host");
  check_has_kernels(spec.program, host_object);

  const ChildResult link = run(link_command(spec, pieces, built.executable), directory);
  if (!link.ok()) throw input_error(link_error(spec.program, link.err));
  return built;
}

DeviceCode compile_device(const ProgramSpec& spec, const fs::path& directory) {
  const Pieces pieces = locate_pieces();
  DeviceCode code;
  code.bitcode = directory / kDeviceFile;
  code.compile_command = device_command(spec, pieces, code.bitcode);
  check_compiled(compile(code.compile_command, pieces.precompiled("device", spec.arch)), spec.arch);
  return code;
}

fs::path build_device(const ProgramSpec& spec, const fs::path& work_directory) {
  const fs::path directory = own_directory(work_directory);
  if (is_launch_spec(spec.program)) return build_spec_device(spec, directory);
  return compile_device(spec, directory).bitcode;
}

}  // namespace swizzleperf::vgpu
