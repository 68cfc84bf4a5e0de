// What hipcc and nvcc do around the compilation proper: name outputs, keep to the order of a
// command line, print what clang printed as clang printed it, leave no partial file behind.
#include "vgpu/toolchain/driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

#include "base/files.h"
#include "base/subprocess.h"
#include "swizzleperf/error.h"
#include "vgpu/toolchain/compile.h"
#include "vgpu/toolchain/diagnose.h"
#include "vgpu/toolchain/link.h"
#include "vgpu/toolchain/record.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;

const char* name_of(Dialect dialect) {
  return dialect == Dialect::kNvcc ? "swizzleperf-nvcc" : "swizzleperf-hipcc";
}

void say(Dialect dialect, const std::string& sentence) {
  fmt::print(stderr, "{}: {}\n", name_of(dialect), sentence);
}

/// In the form that build systems look for the version in.
std::string version_text(Dialect dialect) {
  if (dialect == Dialect::kNvcc) {
    return "nvcc: NVIDIA (R) Cuda compiler driver, as swizzleperf-nvcc stands for it\n"
           "Cuda compilation tools, release 12.4, V12.4.131\n"
           "Build swizzleperf (kernels are compiled for the virtual GPU)\n";
  }
  return "HIP version: 5.2.21153-swizzleperf\n" + run_command({find_compiler(), "--version"}).out;
}

/// What CMake reads from nvcc's -v, in nvcc's form: where its toolkit is, an architecture, and the
/// command that links, whose first word CMake links with.
std::string nvcc_environment(const Pieces& pieces) {
  const fs::path compiler = locate_compiler("swizzleperf-nvcc");
  const std::string libraries =
      fmt::format("\"-L{}\"", pieces.runtime_library.parent_path().string());
  return fmt::format(
      "#$ TOP={0}\n"
      "#$ NVVMIR_LIBRARY_DIR={0}/nvvm/libdevice\n"
      "#$ PATH={0}\n"
      "#$ INCLUDES=\"-I{1}\"\n"
      "#$ LIBRARIES=  {2}\n"
      "#$ cicc -arch compute_90\n"
      "#$ \"{3}\" -o \"a.out\" {2}\n",
      compiler.parent_path().string(), pieces.cuda_headers.string(), libraries, compiler.string());
}

std::string help_text(Dialect dialect) {
  return fmt::format(
      "{0} compiles {1} programs for SwizzlePerf's virtual GPU. It takes the options of {2}:\n"
      "  {0} -O3 -c kernel.{3} -o kernel.o\n"
      "  {0} kernel.o main.cpp -o program && swizzleperf simulate ./program\n"
      "  make CC={0}\n",
      name_of(dialect), dialect == Dialect::kNvcc ? "CUDA" : "HIP",
      dialect == Dialect::kNvcc ? "nvcc" : "hipcc", dialect == Dialect::kNvcc ? "cu" : "hip");
}

/// One run of a compiler.
class Driver {
 public:
  Driver(Dialect dialect, CompilerCall call)
      : dialect_(dialect), call_(std::move(call)), pieces_(locate_pieces()) {
    extras_.host_options = call_.host_options;
    if (isatty(STDERR_FILENO) != 0) extras_.diagnostic_options = {"-fcolor-diagnostics"};
    extras_.precompiled = true;
  }

  int run() {
    for (const std::string& warning : call_.warnings) say(dialect_, "warning: " + warning);
    if (dialect_ == Dialect::kNvcc && (call_.verbose || call_.dry_run)) {
      fmt::print(stderr, "{}", nvcc_environment(pieces_));
    }
    switch (call_.stage) {
      case Stage::kVersion:
        fmt::print("{}", version_text(dialect_));
        return 0;
      case Stage::kHelp:
        fmt::print("{}", help_text(dialect_));
        return 0;
      case Stage::kPreprocessed:
      case Stage::kAssembly:
        return host_only();
      case Stage::kDeviceLink:
        return device_link();
      case Stage::kObjects:
        return objects();
      case Stage::kArchive:
      case Stage::kProgram:
        break;
    }
    return program();
  }

 private:
  Unit unit(const SourceFile& source) const { return make_unit(call_, source, ""); }

  fs::path output_for(const SourceFile& source, const char* ending) const {
    if (!call_.output.empty()) return call_.output;
    return source.file.stem().string() + ending;
  }

  /// -MD and -MMD without -MF: beside the output, about the output.
  std::vector<std::string> dependencies(const fs::path& output) const {
    std::vector<std::string> options = call_.dependency_options;
    const auto has = [&](const char* name) {
      return std::find(options.begin(), options.end(), name) != options.end();
    };
    if (!has("-MD") && !has("-MMD")) return options;
    if (!has("-MF")) {
      fs::path file = output;
      options.insert(options.end(), {"-MF", file.replace_extension(".d").string()});
    }
    if (!has("-MT") && !has("-MQ")) options.insert(options.end(), {"-MQ", output.string()});
    return options;
  }

  /// Shows a command; true when it should also run.
  bool announce(const Command& command) const {
    if (!call_.verbose && !call_.dry_run) return true;
    fmt::print(stderr, " \"{}\"\n", fmt::join(command, "\" \""));
    return !call_.dry_run;
  }

  /// -E, -M, -S: clang's own output.
  int host_only() {
    for (const SourceFile& source : call_.sources) {
      CompileExtras extras = extras_;
      extras.dependency_options = call_.dependency_options;
      Command command = host_command(unit(source), pieces_, extras);
      const bool assembly = call_.stage == Stage::kAssembly;
      command.emplace_back(assembly ? "-S" : "-E");
      const bool to_file = assembly || !call_.output.empty();
      if (to_file) command.insert(command.end(), {"-o", output_for(source, ".s").string()});
      if (!announce(command)) continue;
      ChildSpec child;
      child.argv = command;
      child.pass_stdout = true;
      const ChildResult result = run_child(child);
      fmt::print(stderr, "{}", result.err);
      if (!result.ok()) return 1;
    }
    return 0;
  }

  /// -dlink: device code is linked when it is loaded. But whoever links the host's half next, and
  /// it may be another linker, must take the device functions out of the archives.
  int device_link() {
    const ScratchDirectory scratch;
    const fs::path source = scratch.path() / "wanted.c";
    std::string text;
    for (const std::string& symbol : wanted_symbols(call_.link)) {
      text += fmt::format(
          "extern int {0};\n__attribute__((used)) static int* const want_{0} = &{0};\n", symbol);
    }
    write_file(source, text);
    const std::string output = call_.output.empty() ? "a_dlink.o" : call_.output;
    const Command command = {find_compiler(), "-x", "c",   "-fPIC", "-c",
                             source.string(), "-o", output};
    return !announce(command) || report(run_command(command)) ? 0 : 1;
  }

  static bool report(const ChildResult& result) {
    fmt::print(stderr, "{}", result.err);
    return result.ok();
  }

  /// The objects of one source in a directory; nothing when it does not compile.
  std::optional<std::vector<fs::path>> compile(const SourceFile& source, const fs::path& directory,
                                               const fs::path& output) {
    Unit u = unit(source);
    CompileExtras extras = extras_;
    extras.dependency_options = dependencies(output);
    if (call_.verbose || call_.dry_run) {
      Command host = host_command(u, pieces_, extras);
      host.insert(host.end(), {"-c", "-o", (directory / "host.o").string()});
      if (has_device_half(u))
        announce(device_command(u, pieces_, u.source, directory / "device.bc"));
      if (!announce(host)) return std::vector<fs::path>{};
    }
    const Compiled compiled = compile_unit(u, pieces_, extras, directory);
    fmt::print(stderr, "{}", compiled.diagnostics);
    if (u.language == Language::kCuda) {
      if (const std::string note = inline_ptx(compiled.diagnostics); !note.empty()) {
        say(dialect_, note);
      }
    }
    if (const std::string note = missing_library(compiled.diagnostics); !note.empty()) {
      say(dialect_, note);
    }
    if (!compiled.ok) return std::nullopt;
    return compiled.objects;
  }

  int objects() {
    for (const SourceFile& source : call_.sources) {
      const ScratchDirectory scratch;
      const fs::path output = output_for(source, ".o");
      const auto objects = compile(source, scratch.path(), output);
      if (!objects) return 1;
      if (call_.dry_run) continue;
      if (!report(join_objects(*objects, output))) return 1;
    }
    return 0;
  }

  int program() {
    const ScratchDirectory scratch;
    const fs::path output = call_.output.empty() ? fs::path("a.out") : fs::path(call_.output);
    std::vector<std::vector<fs::path>> made;
    for (const SourceFile& source : call_.sources) {
      const fs::path directory = scratch.path() / std::to_string(made.size());
      fs::create_directory(directory);
      auto objects = compile(source, directory, output);
      if (!objects) return 1;
      made.push_back(std::move(*objects));
    }
    const std::vector<std::string> items = linked_items(call_, made);
    if (call_.stage == Stage::kArchive) return archive(items, output);
    if (items.empty()) return 0;  // -v alone
    const Command command = link_command(pieces_, items, call_.host_options, output);
    if (!announce(command)) return 0;
    const ChildResult result = run_command(command);
    fmt::print(stderr, "{}", result.err);
    if (!result.ok()) {
      if (const std::string reason = missing_runtime(result.err); !reason.empty())
        say(dialect_, reason);
    }
    return result.ok() ? 0 : 1;
  }

  int archive(const std::vector<std::string>& items, const fs::path& output) {
    const auto archiver = find_program("llvm-ar-22");
    Command command = {archiver ? archiver->string() : "ar", "rcs", output.string()};
    for (const std::string& item : items) {
      if (!item.starts_with("-")) command.push_back(item);
    }
    return !announce(command) || report(run_command(command)) ? 0 : 1;
  }

  Dialect dialect_;
  CompilerCall call_;
  Pieces pieces_;
  CompileExtras extras_;
};

}  // namespace

int drive_compiler(Dialect dialect, int argc, char** argv) {
  try {
    return Driver(dialect, parse_command_line(dialect, {argv + 1, argv + argc})).run();
  } catch (const std::exception& error) {
    say(dialect, fmt::format("error: {}", error.what()));
    return 1;
  }
}

}  // namespace swizzleperf::vgpu
