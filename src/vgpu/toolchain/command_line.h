// What a command line of hipcc or nvcc asks for, in clang's terms.
//
// Build systems speak to a compiler in its own dialect: nvcc's -Xcompiler and -gencode, hipcc's
// --offload-arch. Here a line becomes a CompilerCall, which knows neither; what no dialect and no
// clang knows is dropped with a warning, since a flag that tunes real hardware says nothing to a
// virtual one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "vgpu/run.h"

namespace swizzleperf::vgpu {

enum class Dialect { kHipcc, kNvcc };

/// What comes out.
enum class Stage {
  kProgram,       ///< linked: an executable or, with -shared, a library
  kObjects,       ///< -c
  kAssembly,      ///< -S, of the host half
  kPreprocessed,  ///< -E, -M, -MM, of the host half
  kDeviceLink,    ///< -dlink: an object that wants what the archives have of device code
  kArchive,       ///< -lib
  kVersion,       ///< --version
  kHelp,
};

struct SourceFile {
  std::filesystem::path file;
  Language language;
};

struct CompilerCall {
  Stage stage = Stage::kProgram;
  std::vector<SourceFile> sources;
  /// Objects, libraries and linker options in their order; the object of source i is kSourceMark i.
  std::vector<std::string> link;
  std::vector<std::string> options;       ///< of both halves
  std::vector<std::string> host_options;  ///< of the host half and of the linker driver
  std::vector<std::string> dependency_options;
  std::string output;   ///< empty: as compilers name it
  std::string arch;     ///< of --offload-arch; empty: the usual one
  bool linked = false;  ///< device code may refer to other objects' (-rdc=true, -fgpu-rdc)
  bool verbose = false;
  bool dry_run = false;
  std::vector<std::string> warnings;
};

inline constexpr char kSourceMark = '\1';

/// Throws Error(kUsage): an option without its value, one that asks for a real GPU's code, no
/// input.
CompilerCall parse_command_line(Dialect dialect, const std::vector<std::string>& arguments);

/// The language that a file's name says it is in; a .cu of which the text includes HIP is HIP.
Language language_of(const std::filesystem::path& file, Dialect dialect);
bool is_source_name(const std::filesystem::path& file);

}  // namespace swizzleperf::vgpu
