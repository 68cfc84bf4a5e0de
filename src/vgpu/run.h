// From a program's source (or executable) to a trace: the host side of the virtual GPU.
//
// The program is compiled with clang for host and device, linked with our runtime library
// (libswizzleperf_hip.so: hipMalloc, hipMemcpy, hipLaunchKernel, ...) and run as a child process
// that executes kernels on the virtual GPU. The child is told what to do by a request (JSON in an
// environment variable's file) and answers with a result file; a crash of the user's program is
// therefore a sentence, not a crash of ours.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "swizzleperf/check.h"
#include "swizzleperf/trace.h"

namespace swizzleperf::vgpu {

/// What a program is told when it asks about its device: of the machine that is modelled.
struct VirtualDevice {
  std::string name;
  std::uint32_t compute_units = 0;
  double clock_ghz = 0;
  std::uint64_t l2_bytes = 0;  ///< as its vendor's runtime reports it: AMD's of one die
  std::uint32_t major = 0;     ///< compute capability
  std::uint32_t minor = 0;
  // Of a compute unit.
  std::uint32_t lds_bytes = 0;
  std::uint32_t simds = 0;
  std::uint32_t waves_per_simd = 0;
  std::uint32_t blocks = 0;
  std::uint32_t registers_per_lane = 0;
  std::uint32_t register_granule = 0;
  // Of a block: what its vendor's runtime reports, and what it grants to who asks for more.
  std::uint32_t block_lds_bytes = 0;
  std::uint32_t most_block_lds_bytes = 0;
};

enum class Language { kC, kCpp, kHip, kCuda };

struct ProgramSpec {
  /// A .hip/.cu/.cpp source with a main, an executable, or a launch spec (.toml).
  std::filesystem::path program;
  std::vector<std::string> arguments;        ///< of the program; of a spec: NAME=VALUE
  std::vector<std::string> compile_options;  ///< -I, -D, -std ... given by the user
  std::string kernel_regex;                  ///< empty: choose the launch with the most traffic
  std::int64_t launch_index = -1;            ///< among matching launches; -1: the first
  std::string arch = "gfx942";
  std::optional<Language> language;     ///< of a source (kHip, kCuda); none: as its name says
  std::optional<VirtualDevice> device;  ///< none: the usual one of the architecture
  double time_limit_s = 600;
  std::uint64_t memory_limit_bytes = 0;  ///< 0 = none
  std::uint64_t step_limit = 0;          ///< wave instructions a block; 0 = a generous default
  unsigned threads = 0;                  ///< 0 = all cores
  bool extrapolate = true;
  /// Told, while a trace is waited for, what the program is doing; at its end "".
  std::function<void(const std::string&)> watch;
  std::filesystem::path kernel_source;  ///< instead of the source that a launch spec names
  /// Of a launch spec that is run to its end: where its arrays are written, before and after.
  std::filesystem::path save_directory;
};

/// One compiled source file, as the objects made of it remember it: enough to compile a changed
/// copy. Paths in it are absolute, but for the source's.
struct Unit {
  std::filesystem::path source;     ///< as the compiler was told: relative to the directory
  std::filesystem::path directory;  ///< where the compiler was called
  Language language = Language::kHip;
  std::string arch;
  bool linked = false;               ///< its device code may refer to other units' (rdc)
  std::vector<std::string> options;  ///< for clang, of both halves
  std::vector<std::string> kernels;  ///< their symbols
};

/// A program built for the virtual GPU, in a new directory inside the given work directory, whose
/// owner removes it.
struct BuiltProgram {
  std::filesystem::path directory;
  std::filesystem::path executable;
  std::vector<Unit> units;  ///< with device code
  /// What the executable gets instead of the spec's arguments.
  std::optional<std::vector<std::string>> arguments;
  std::vector<std::string> notes;  ///< sentences for the user
};

/// Compiles and links, or takes an executable that the drop-in compilers made. Throws Error(kInput)
/// with the compiler's first error when the program is at fault.
BuiltProgram build_program(const ProgramSpec& spec, const std::filesystem::path& work_directory);

/// The unit that defines a kernel. Throws Error(kInput) when there is none.
const Unit& unit_of(const BuiltProgram& program, const std::string& symbol);

/// clang's arguments for parsing the unit's device half.
std::vector<std::string> parse_arguments(const Unit& unit);

/// The unit's source and all that either half includes, but for the system's headers and ours; as
/// absolute paths without links to folders. Throws Error(kInput) with the compiler's first error.
std::vector<std::filesystem::path> included_files(const Unit& unit);

/// Compiles the device half of a unit, from `source` in place of its own file, and returns the
/// bitcode's file: enough for compare_blocks.
std::filesystem::path build_device(const Unit& unit, const std::filesystem::path& source,
                                   const std::filesystem::path& work_directory);

/// The same of a program's own source.
std::filesystem::path build_device(const ProgramSpec& spec,
                                   const std::filesystem::path& work_directory);

bool is_launch_spec(const std::filesystem::path& program);

/// The source file that holds the kernel: the program, or what its launch spec names.
std::filesystem::path spliced_source(const ProgramSpec& spec);

/// The arrays that a launch spec says must be written whole; empty for any other program.
std::vector<std::string> declared_outputs(const ProgramSpec& spec);

/// Runs the program up to the traced launch and returns its trace.
Trace trace_program(const ProgramSpec& spec, const BuiltProgram& program);

/// Runs the whole program in functional mode.
struct FunctionalRun {
  int exit_status = 0;
  std::string output_digest;  ///< hash over all memory the program had on the device (each
                              ///< allocation when it was freed, or at the end), in allocation order
  std::string captured_stdout;
  std::string captured_stderr;
};
FunctionalRun run_functional(const ProgramSpec& spec, const BuiltProgram& program);

/// Watches how the blocks of the traced launch share memory: runs them all in functional mode, one
/// after the other. `progress` is called now and then with the number done and that of all.
LaunchFindings check_program(const ProgramSpec& spec, const BuiltProgram& program,
                             const std::function<void(std::uint64_t, std::uint64_t)>& progress);

/// Compares a patched device module with the original on sampled blocks of the traced launch:
/// patched block p must write the bytes that original block permutation[p] writes. Corners and
/// edges are sampled first, then blocks at random.
struct BlockComparison {
  std::uint64_t blocks_compared = 0;
  std::uint64_t bytes_compared = 0;
  std::uint64_t bytes_not_zero = 0;  ///< of those; where all are zero, equality says little
  std::string first_difference;      ///< empty = equal
};
BlockComparison compare_blocks(const ProgramSpec& spec, const BuiltProgram& original,
                               const std::filesystem::path& patched_bitcode,
                               const std::vector<std::uint32_t>& permutation,
                               std::uint64_t sample_blocks, std::uint64_t seed);

}  // namespace swizzleperf::vgpu
