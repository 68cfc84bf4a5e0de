// Only the first error is shown: what follows it is mostly its consequence, and whoever wants all
// of it has a compiler. Plain string search is enough; both tools print one diagnostic a line.
#include "vgpu/toolchain/diagnose.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "vgpu/toolchain/locate.h"

namespace swizzleperf::vgpu {
namespace {

/// The first line of `text` that contains `mark`, or "".
std::string line_with(const std::string& text, std::string_view mark) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(mark) != std::string::npos) return line;
  }
  return {};
}

void remove_first(std::string& text, std::string_view part) {
  if (const auto at = text.find(part); at != std::string::npos) text.erase(at, part.size());
}

/// After a crash clang prints a request to report it and a dump of its stack, whose line 1 says
/// what it was at ("1.\tk.hip:3:2: current parser token '+'").
std::string crash(const std::string& diagnostics) {
  if (diagnostics.find("PLEASE submit a bug report") == std::string::npos) return {};
  const std::string at = line_with(diagnostics, "1.\t");
  return fmt::format(
      "the compiler itself crashed{}: change the source there, or the options given "
      "with -X",
      at.starts_with("1.\t") ? fmt::format(" ({})", at.substr(3)) : "");
}

}  // namespace

std::string first_compile_error(const std::string& diagnostics) {
  if (std::string sentence = crash(diagnostics); !sentence.empty()) return sentence;
  std::string line = line_with(diagnostics, "error: ");
  if (line.empty()) return line_with(diagnostics, "");
  remove_first(line, "fatal ");
  remove_first(line, "error: ");
  return line;
}

std::string inline_ptx(const std::string& diagnostics) {
  const std::string line = line_with(diagnostics, " constraint '");
  const std::size_t error = line.find(": error: ");
  if (error == std::string::npos || line.find("in asm") == std::string::npos) return {};
  const std::string place = line.substr(0, line.rfind(':', error - 1));
  return fmt::format("{}: inline PTX assembly is not supported by the virtual GPU", place);
}

namespace {

struct Library {
  std::string_view header;  ///< how the names of its headers begin
  std::string_view name;
  const char* has = nullptr;  ///< what there is of its kind
};

constexpr Library kToolkit = {"", "the CUDA toolkit"};
constexpr const char* kCollectives =
    "only <cub/cub.cuh> and <hipcub/hipcub.hpp> for collectives inside a kernel";

constexpr std::array<Library, 40> kLibraries = {{
    {"cub/", "CUB", kCollectives},
    {"thrust/", "Thrust", kCollectives},
    {"cuda/", "libcu++"},
    {"cutlass/", "CUTLASS"},
    {"cute/", "CUTLASS"},
    {"cuda_awbarrier", kToolkit.name},
    {"cuda_fp4", kToolkit.name},
    {"cuda_fp6", kToolkit.name},
    {"cuda_gl_interop", kToolkit.name},
    {"cudaGL", kToolkit.name},
    {"cupti", "CUPTI"},
    {"nvrtc", "NVRTC"},
    {"nvjpeg", "nvJPEG"},
    {"cublas", "cuBLAS"},
    {"cufft", "cuFFT"},
    {"curand", "cuRAND's host interface", "<curand_kernel.h>"},
    {"cusparse", "cuSPARSE"},
    {"cusolver", "cuSOLVER"},
    {"cudnn", "cuDNN"},
    {"cutensor", "cuTENSOR"},
    {"nccl", "NCCL"},
    {"nvml", "NVML"},
    {"npp", "NPP"},
    {"nvshmem", "NVSHMEM"},
    {"mpi.h", "MPI"},
    {"hipcub/", "hipCUB", kCollectives},
    {"rocthrust/", "rocThrust", kCollectives},
    {"rocprim/", "rocPRIM", kCollectives},
    {"rocwmma/", "rocWMMA"},
    {"ck/", "Composable Kernel"},
    {"hipblas", "hipBLAS"},
    {"rocblas", "rocBLAS"},
    {"hipfft", "hipFFT"},
    {"rocfft", "rocFFT"},
    {"hiprand", "hipRAND"},
    {"rocrand", "rocRAND"},
    {"hipsparse", "hipSPARSE"},
    {"rocsparse", "rocSPARSE"},
    {"hipsolver", "hipSOLVER"},
    {"rccl", "RCCL"},
}};

const Library* library_of(std::string_view header) {
  for (const Library& library : kLibraries) {
    if (header.starts_with(library.header)) return &library;
  }
  return nullptr;
}

/// The header that clang says is not to be found, or "".
std::string missing_header(const std::string& line) {
  const std::size_t end = line.find("' file not found");
  if (end == std::string::npos) return {};
  const std::size_t quote = line.rfind('\'', end - 1);
  return quote == std::string::npos ? "" : line.substr(quote + 1, end - quote - 1);
}

std::string missing(const std::string& place, const std::string& header, const Library& library) {
  return fmt::format(
      "{}: <{}> belongs to {}, which is not here: the virtual GPU runs kernels that are compiled "
      "from the program's source{}; leave out or replace what calls it",
      place, header, library.name,
      library.has == nullptr ? "" : fmt::format(", and has {}", library.has));
}

/// "FILE:LINE" for each file that leads to the first error, the error's own last.
std::vector<std::string> include_chain(const std::string& diagnostics) {
  constexpr std::string_view kFrom = "In file included from ";
  std::vector<std::string> chain;
  std::istringstream lines(diagnostics);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error: ") != std::string::npos) {
      chain.push_back(line.substr(0, line.find(':')));
      return chain;
    }
    if (!line.starts_with(kFrom)) {
      chain.clear();
      continue;
    }
    chain.push_back(line.substr(kFrom.size(), line.rfind(':') - kFrom.size()));
  }
  return {};
}

/// The name by which a program includes a file of a toolkit; "" of any other file.
std::string toolkit_header(const std::string& place) {
  const std::filesystem::path file = place.substr(0, place.find(':'));
  for (auto directory = file.parent_path(); directory.has_relative_path();
       directory = directory.parent_path()) {
    if (is_cuda_toolkit(directory)) return file.lexically_relative(directory);
  }
  return {};
}

/// A toolkit installed where every compiler looks, beside much else, offers its headers for what
/// ours lack.
std::string foreign_header(const std::string& diagnostics) {
  const std::vector<std::string> chain = include_chain(diagnostics);
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const std::string header = toolkit_header(chain[i]);
    const Library* const library = library_of(header);
    if (library == nullptr && !header.starts_with("cuda")) continue;
    return missing(chain[i - 1], header, library != nullptr ? *library : kToolkit);
  }
  return {};
}

}  // namespace

std::string missing_library(const std::string& diagnostics) {
  const std::string line = line_with(diagnostics, "error: ");
  const std::string header = missing_header(line);
  const Library* const library = library_of(header);
  if (library == nullptr) return foreign_header(diagnostics);
  const std::string place = line.substr(0, line.find(": fatal error: "));
  return missing(place.substr(0, place.rfind(':')), header, *library);
}

namespace {

/// The first symbol that the linker did not find, or "".
std::string undefined_symbol(const std::string& diagnostics) {
  constexpr std::string_view kUndefined = "undefined symbol: ";
  const std::string line = line_with(diagnostics, kUndefined);
  return line.empty() ? "" : line.substr(line.find(kUndefined) + kUndefined.size());
}

}  // namespace

std::string missing_runtime(const std::string& diagnostics) {
  const std::string symbol = undefined_symbol(diagnostics);
  if (symbol.starts_with("cuda")) {
    return fmt::format(
        "{} is called by an object of another compiler: compile that with swizzleperf-nvcc, too",
        symbol);
  }
  if (!symbol.starts_with("hip") && !symbol.starts_with("__hip")) return {};
  return fmt::format("{} is called, which the virtual GPU does not support yet", symbol);
}

std::string link_error(const std::filesystem::path& source, const std::string& diagnostics) {
  const std::string symbol = undefined_symbol(diagnostics);
  if (symbol.empty()) {
    return fmt::format("{} does not link: {}", source.string(), first_compile_error(diagnostics));
  }
  if (symbol == "main") {
    return fmt::format(
        "{} has no main: give a program that allocates its data and launches the kernel",
        source.string());
  }
  if (symbol.starts_with("hip") || symbol.starts_with("__hip")) {
    return fmt::format("{} calls {}, which the virtual GPU does not support yet", source.string(),
                       symbol);
  }
  return fmt::format("{} uses {}, which is not defined: pass the library with -l", source.string(),
                     symbol);
}

}  // namespace swizzleperf::vgpu
