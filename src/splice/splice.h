// Putting a swizzle into a kernel's source, as a diff.
//
// The only change is where the kernel reads blockIdx: libclang finds those places (in the kernel
// and in the device functions it calls), a helper function is inserted above the first of them, and
// each use reads the helper's result. Anything that cannot be changed safely is refused by name and
// place, never guessed at. The patched text is parsed again before it is handed out: it must
// compile, and nothing the kernel reaches may still read the hardware's block index.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace swizzleperf::splice {

struct SpliceRequest {
  std::filesystem::path source;
  std::filesystem::path
      root;  ///< the patch names the file relative to it; empty: the file's folder
  std::vector<std::string> compile_arguments;  ///< as for clang: -x hip --offload-arch=... -I ...
  std::string kernel;       ///< unqualified, qualified, demangled or mangled name of the kernel
  std::string function;     ///< name of the helper: see print_cpp
  std::string helper_code;  ///< its complete text
};

struct Remap {
  std::string where;  ///< file:line
  std::string what;   ///< the expression that already remaps blockIdx
};

struct SpliceResult {
  std::string patched;  ///< the whole new text of the source file
  std::string patch;    ///< unified diff that `git apply` and `patch -p1` take in `root`
  std::vector<std::string> changed;    ///< "file:line: blockIdx.x", one a rewritten use
  std::vector<Remap> existing_remaps;  ///< arithmetic on blockIdx that looks like a swizzle
  std::vector<std::string> notes;      ///< sentences for the user: what was not looked at, and why
};

/// Reads the source, never writes it. Throws Error(kInput) naming what cannot be handled and where:
/// a use of blockIdx in a macro from another file, in a header, in a device function that another
/// kernel also calls, ...; Error(kUsage) when the kernel's name is unknown or ambiguous.
SpliceResult splice(const SpliceRequest& request);

}  // namespace swizzleperf::splice
