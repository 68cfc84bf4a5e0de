// A HIP or CUDA source is compiled once for the device and once for the host, and the host half
// wants to embed the result of the device half. Done in that order the two would take twice the
// time. So clang is told nothing of the device code: the host half then refers to it by a symbol
// (it is made for linkers that bundle late), and a second, tiny object defines that symbol as a
// record around the bitcode (runtime/embedded.h). Both compilations run side by side.
//
// Device code stays LLVM bitcode at -O3 with line tables: the virtual GPU runs what the code
// generator would have been given, and can say where. Names are kept, since buffers are called
// after the kernel's arguments.
//
// CUDA is compiled as clang's HIP: one dialect of IR for the virtual GPU. Our CUDA headers give it
// its names; a warp of 32 lanes is a property of the module that they state.
#include "vgpu/toolchain/compile.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <future>
#include <set>
#include <utility>

#include "base/files.h"
#include "swizzleperf/error.h"
#include "vgpu/runtime/embedded.h"
#include "vgpu/toolchain/diagnose.h"
#include "vgpu/toolchain/elf.h"
#include "vgpu/toolchain/record.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;

void append(Command& to, const Command& from) { to.insert(to.end(), from.begin(), from.end()); }

/// Tells the objects of one program apart; both halves must be given the same.
std::string unit_id(const Unit& unit) {
  std::string text = (unit.directory / unit.source).string();
  for (const std::string& option : unit.options) text += '\n' + option;
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

Command language_options(const Unit& unit, const Pieces& pieces) {
  const std::string cuda = "-I" + pieces.cuda_headers.string();  // before a toolkit's
  switch (unit.language) {
    case Language::kC:
      return {"-x", "c", cuda, "-D__HIP_PLATFORM_AMD__"};
    case Language::kCpp:
      return {"-x", "c++", cuda, "-D__HIP_PLATFORM_AMD__"};
    default:
      break;
  }
  Command options = {"-x", "hip", "--offload-arch=" + unit.arch, "-nogpulib",
                     "-cuid=" + unit_id(unit)};
  if (unit.linked) options.emplace_back("-fgpu-rdc");
  const bool cuda_program = unit.language == Language::kCuda;
  // HIP 5.2's headers ask for the wave's size; clang no longer defines it.
  options.push_back(fmt::format("-D__AMDGCN_WAVEFRONT_SIZE={}", cuda_program ? 32 : 64));
  // clang's headers have directed rounding where the device library has it, and ours does.
  append(options, {"-DOCML_BASIC_ROUNDED_OPERATIONS", "-include", pieces.prelude.string()});
  if (cuda_program) {
    append(options, {cuda, "-include", "swizzleperf_cuda.h"});
  } else {
    // Behind the program's own directories, in front of the system's, where HIP 5.2 is.
    append(options, {"-isystem", pieces.hip_headers.string()});
  }
  return options;
}

/// Compiles with the precompiled HIP header where there is one. Whatever does not compile with it
/// (another -std, a macro set before the include, an error) is tried without.
ChildResult compile(const Command& command, const fs::path& precompiled,
                    const fs::path& directory) {
  if (!precompiled.empty() && fs::exists(precompiled)) {
    Command quick = command;
    append(quick, {"-Xclang", "-include-pch", "-Xclang", precompiled.string()});
    if (ChildResult result = run_command(quick, directory); result.ok()) return result;
  }
  return run_command(command, directory);
}

/// The header to try; none for CUDA, and none where every included file must be told.
fs::path precompiled(const Unit& unit, const Pieces& pieces, const CompileExtras& extras,
                     const char* half) {
  if (unit.language != Language::kHip || !extras.precompiled) return {};
  return extras.dependency_options.empty() ? pieces.precompiled(half, unit.arch) : fs::path();
}

/// What the host half of a unit says of its device half.
struct HostHalf {
  std::string record_symbol;  ///< empty: it neither launches nor names anything there
  std::vector<std::string> kernels;
};

/// The host half calls a kernel through a stub of the kernel's name with this in front.
constexpr std::string_view kStub = "__device_stub__";

/// The kernel's symbol from its stub's: a mangled name says how long it is, in front of it.
std::string kernel_of_stub(const std::string& stub) {
  const std::size_t at = stub.find(kStub);
  for (std::size_t digits = 1; digits <= 3 && digits <= at; ++digits) {
    const std::string before = stub.substr(at - digits, digits);
    if (before.find_first_not_of("0123456789") != std::string::npos) break;
    const std::size_t length = std::stoul(before);  // a digit further left may belong elsewhere
    if (before.front() == '0' || length <= kStub.size() || length > stub.size() - at) continue;
    return stub.substr(0, at - digits) + std::to_string(length - kStub.size()) +
           stub.substr(at + kStub.size());
  }
  return stub.substr(0, at) + stub.substr(at + kStub.size());  // extern "C"
}

HostHalf read_host_half(const fs::path& object) {
  HostHalf half;
  std::set<std::string> kernels;
  for (const ElfSymbol& symbol : elf_symbols(read_file(object))) {
    if (symbol.name.starts_with(kRecordSymbol) && !symbol.defined) half.record_symbol = symbol.name;
    if (symbol.name.find(kStub) == std::string::npos) continue;
    kernels.insert(kernel_of_stub(symbol.name));
  }
  half.kernels.assign(kernels.begin(), kernels.end());
  return half;
}

/// The object that holds the record, as C around an assembler's directive. A linked unit also
/// defines what it must: a symbol by which an archive's index leads to it, the handle that clang's
/// host half leaves to the linker, and, where there is no such half, its own registration.
std::string record_source(const std::string& symbol, bool linked, bool registers,
                          const fs::path& record) {
  std::string text = fmt::format(
      "__asm__(\".section {0},\\\"a\\\"\\n.balign {1}\\n.globl {2}\\n.hidden {2}\\n{2}:\\n"
      ".incbin \\\"{3}\\\"\\n.text\\n\");\n",
      kRecordSection, kRecordAlignment, symbol, record.string());
  if (!linked) return text;
  const std::string hash = symbol.substr(std::string_view(kRecordSymbol).size());
  text += fmt::format("int {}{};\n", kLinkedSymbol, hash);
  if (registers) {
    return text +
           fmt::format("__attribute__((visibility(\"hidden\"))) void* __hip_gpubin_handle_{};\n",
                       hash);
  }
  return text + fmt::format(
                    "extern const char {0}[];\n"
                    "extern void** __hipRegisterFatBinary(const void*);\n"
                    "static const struct {{ unsigned magic, version; const void *data, *unused; }} "
                    "wrapper = {{0x48495046, 1, {0}, 0}};\n"
                    "__attribute__((constructor)) static void add(void) {{\n"
                    "  __hipRegisterFatBinary(&wrapper);\n"
                    "}}\n",
                    symbol);
}

fs::path make_record_object(const Unit& unit, const HostHalf& half, const fs::path& bitcode,
                            const fs::path& directory) {
  const fs::path record = directory / "record";
  const fs::path source = directory / "record.c";
  fs::path object = directory / "record.o";
  write_file(record, make_record(unit, read_file(bitcode)));
  const bool registers = !half.record_symbol.empty();
  const std::string symbol = registers ? half.record_symbol : kRecordSymbol + unit_id(unit);
  write_file(source, record_source(symbol, unit.linked, registers, record));
  const ChildResult result = run_command(
      {find_compiler(), "-x", "c", "-w", "-fPIC", "-c", source.string(), "-o", object.string()});
  if (!result.ok()) throw input_error("cannot embed the device code: " + result.err);
  return object;
}

/// What a rule for make ("k.o: k.hip \\\n  k.h") says the object is made from.
std::vector<std::string> prerequisites(const std::string& rule) {
  std::vector<std::string> names;
  std::string name;
  const std::size_t begin = rule.find(": ") + 1;
  for (std::size_t i = begin; i < rule.size(); ++i) {
    const char next = i + 1 < rule.size() ? rule[i + 1] : '\n';
    const bool escaped = (rule[i] == '\\' && (next == ' ' || next == '#' || next == '\n')) ||
                         (rule[i] == '$' && next == '$');
    if (escaped) ++i;
    if (rule[i] != '\n' && (rule[i] != ' ' || escaped)) {
      name += rule[i];
    } else if (!name.empty()) {
      names.push_back(std::exchange(name, ""));
    }
  }
  return names;
}

/// Whether a file is one of ours, which no program includes by itself.
bool is_piece(const fs::path& file, const Pieces& pieces) {
  if (file == pieces.prelude) return true;
  const std::string name = file.lexically_normal().string();
  const auto below = [&](const fs::path& folder) {
    return name.starts_with(folder.string() + "/");
  };
  return below(pieces.cuda_headers) || below(pieces.hip_headers) ||
         below(pieces.prelude.parent_path() / "common");
}

}  // namespace

Unit make_unit(const CompilerCall& call, const SourceFile& source, const std::string& arch) {
  Unit unit;
  unit.source = source.file;
  unit.directory = fs::current_path();
  unit.language = source.language;
  unit.arch = !call.arch.empty() ? call.arch : !arch.empty() ? arch : "gfx942";
  unit.linked = call.linked && has_device_half(unit);
  for (const std::string& option : call.options) {
    const bool other_language =
        unit.language == Language::kC && option.find("++") != std::string::npos;
    if (!option.starts_with("-std=") || !other_language) unit.options.push_back(option);
  }
  return unit;
}

bool has_device_half(const Unit& unit) {
  return unit.language == Language::kHip || unit.language == Language::kCuda;
}

Command device_command(const Unit& unit, const Pieces& pieces, const fs::path& source,
                       const fs::path& output) {
  Command command = {find_compiler()};
  append(command, language_options(unit, pieces));
  append(command, unit.options);
  append(command,
         {"-w", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", pieces.device_library.string(),
          "-O3", "-g1", "-fno-discard-value-names", "--offload-device-only", "-emit-llvm", "-c",
          source.string(), "-o", output.string()});
  return command;
}

std::vector<std::string> parse_arguments(const Unit& unit) {
  Command arguments = language_options(unit, locate_pieces());
  append(arguments, unit.options);
  append(arguments, {"-working-directory", unit.directory.string()});
  return arguments;
}

std::vector<fs::path> included_files(const Unit& unit) {
  const Pieces pieces = locate_pieces();
  const ScratchDirectory scratch;
  const std::string rule = (scratch.path() / "rule").string();
  std::set<fs::path> files;
  for (const char* half : {"--offload-device-only", "--offload-host-only"}) {
    Command command = {find_compiler()};
    append(command, language_options(unit, pieces));
    append(command, unit.options);
    // clang's -MD says nothing of a device half, its compiler proper does.
    append(command,
           {"-w", "-fno-caret-diagnostics", half, "-E", "-Xclang", "-dependency-file", "-Xclang",
            rule, "-Xclang", "-MT", "-Xclang", "object", "-o", "/dev/null", unit.source.string()});
    const ChildResult result = run_command(command, unit.directory);
    if (!result.ok()) throw input_error(first_compile_error(result.err));
    for (const std::string& name : prerequisites(read_file(rule))) {
      const fs::path file = fs::absolute(unit.directory / name);
      if (!is_piece(file, pieces))
        files.insert(fs::canonical(file.parent_path()) / file.filename());
    }
  }
  return {files.begin(), files.end()};
}

Command host_command(const Unit& unit, const Pieces& pieces, const CompileExtras& extras) {
  Command command = {find_compiler(), "-O2"};
  append(command, language_options(unit, pieces));
  append(command, unit.options);
  append(command, extras.host_options);
  append(command, extras.diagnostic_options);
  append(command, extras.dependency_options);
  if (has_device_half(unit)) command.emplace_back("--offload-host-only");
  command.emplace_back("-Wno-unused-command-line-argument");
  command.push_back(unit.source.string());
  return command;
}

Compiled compile_device(const Unit& unit, const Pieces& pieces, const CompileExtras& extras,
                        const fs::path& source, const fs::path& bitcode) {
  Command command = device_command(unit, pieces, source, bitcode);
  append(command, extras.diagnostic_options);
  const ChildResult result =
      compile(command, precompiled(unit, pieces, extras, "device"), unit.directory);
  return {result.ok(), result.err, unit.arch, {}};
}

Compiled compile_unit(Unit& unit, const Pieces& pieces, const CompileExtras& extras,
                      const fs::path& directory) {
  const fs::path bitcode = directory / "device.bc";
  const fs::path host_object = directory / "host.o";
  std::future<Compiled> device;
  if (has_device_half(unit)) {
    device = std::async(std::launch::async, compile_device, std::cref(unit), std::cref(pieces),
                        std::cref(extras), unit.source, bitcode);
  }
  Command command = host_command(unit, pieces, extras);
  append(command, {"-c", "-o", host_object.string()});
  const ChildResult host =
      compile(command, precompiled(unit, pieces, extras, "host"), unit.directory);
  Compiled device_half = device.valid() ? device.get() : Compiled{true, "", "", {}};
  if (!host.ok()) return {false, host.err, "the host", {}};
  if (!device_half.ok) return device_half;
  Compiled compiled{true, host.err, "", {host_object}};
  if (!has_device_half(unit)) return compiled;
  const HostHalf half = read_host_half(host_object);
  unit.kernels = half.kernels;
  if (!half.record_symbol.empty() || unit.linked) {
    compiled.objects.push_back(make_record_object(unit, half, bitcode, directory));
  }
  return compiled;
}

ChildResult join_objects(const std::vector<fs::path>& objects, const fs::path& output) {
  Command command = {find_compiler(), "-fuse-ld=lld", "-r", "-nostdlib", "-o", output.string()};
  for (const fs::path& object : objects) command.push_back(object.string());
  return run_command(command);
}

ChildResult run_command(const Command& command, const fs::path& directory) {
  ChildSpec child;
  child.argv = command;
  child.directory = directory;
  child.time_limit_s = 3600;
  child.capture_bytes = 64 << 20;
  return run_child(child);
}

}  // namespace swizzleperf::vgpu
