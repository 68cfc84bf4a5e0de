// Sources to patch, and what it means that a patch is right.
//
// A patched kernel is right when its block p does what block swizzle(p) of the original does. So
// both texts are run on the CPU (see data/cpu) one block at a time, each on a fresh output buffer,
// and the buffers' hashes are compared: before[swizzle(p)] == after[p]. A use that was forgotten,
// or a patch that changes nothing, shows as a difference.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "splice/splice.h"
#include "swizzleperf/grid.h"

namespace swizzleperf::splice {

struct Case {
  std::string name;  ///< an identifier
  std::string source;
  std::string kernel;
  std::string call;  ///< the kernel called as a function, writing 4096 floats at `out`
  Dim3 grid{5, 3, 2};
  unsigned threads_x = 1;
  unsigned threads_y = 1;
};

/// clang's arguments for a HIP source, with HIP's own headers; and with the small one of data/gpu,
/// which parses fifty times as fast.
std::vector<std::string> hip_arguments();
std::vector<std::string> small_hip_arguments();

/// A helper that no identity can pass for: the blocks reversed, then rotated by a third of the
/// grid.
std::string reversing_helper(const std::string& function);
Dim3 reversed(std::uint64_t block, const Dim3& grid);
/// A helper that changes nothing.
std::string identity_helper(const std::string& function);

/// A request to splice the reversing helper into `source`, which is written to `folder`/`name`.hip.
SpliceRequest request_for(const std::filesystem::path& folder, const std::string& name,
                          const std::string& source, const std::string& kernel,
                          const std::vector<std::string>& arguments);

/// Runs a program; `output` gets both of its streams. True if it exits with 0.
bool run_program(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                 std::string& output);

/// For each case the hashes of what each block writes, of the original and of the patched text.
struct BlockHashes {
  std::vector<std::string> before;
  std::vector<std::string> after;
};
std::vector<BlockHashes> run_on_cpu(const std::filesystem::path& folder,
                                    const std::vector<Case>& cases,
                                    const std::vector<std::string>& patched);

/// Splices every case and expects all that must hold of a patch: `git apply` of it gives the
/// patched text, the patched texts compile for gfx942 and for the host, and they pass run_on_cpu.
void expect_right(const std::vector<Case>& cases, const std::vector<std::string>& arguments);

std::string read_data(const std::string& file);

}  // namespace swizzleperf::splice
