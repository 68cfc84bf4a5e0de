// One source file to objects: the only place that knows clang's options for HIP and CUDA.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "vgpu/run.h"
#include "vgpu/toolchain/command_line.h"
#include "vgpu/toolchain/locate.h"

namespace swizzleperf::vgpu {

/// What a caller adds to the compilation of a unit.
struct CompileExtras {
  std::vector<std::string> host_options;
  std::vector<std::string> dependency_options;
  std::vector<std::string> diagnostic_options;
  bool precompiled = false;  ///< try the precompiled HIP header; it can only save time
};

using Command = std::vector<std::string>;

/// The unit of a call's source; `arch` where the call names none, "" for the usual one.
Unit make_unit(const CompilerCall& call, const SourceFile& source, const std::string& arch);

Command device_command(const Unit& unit, const Pieces& pieces, const std::filesystem::path& source,
                       const std::filesystem::path& output);
/// Without its stage and output (-c, -E, -S, -o).
Command host_command(const Unit& unit, const Pieces& pieces, const CompileExtras& extras);
bool has_device_half(const Unit& unit);

struct Compiled {
  bool ok = false;
  std::string diagnostics;  ///< the host's; the device's where only that failed
  std::string failed_for;   ///< "the host" or the architecture
  /// The host half and, where there is one, the record of the device half, in the directory given.
  std::vector<std::filesystem::path> objects;
};

/// Compiles, filling in unit.kernels.
Compiled compile_unit(Unit& unit, const Pieces& pieces, const CompileExtras& extras,
                      const std::filesystem::path& directory);

/// Compiles only the device half, from `source` in place of the unit's own.
Compiled compile_device(const Unit& unit, const Pieces& pieces, const CompileExtras& extras,
                        const std::filesystem::path& source, const std::filesystem::path& bitcode);

/// Joins objects into one.
ChildResult join_objects(const std::vector<std::filesystem::path>& objects,
                         const std::filesystem::path& output);

ChildResult run_command(const Command& command, const std::filesystem::path& directory = {});

}  // namespace swizzleperf::vgpu
