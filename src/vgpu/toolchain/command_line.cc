// Three tables of options: what every Unix compiler takes, what nvcc adds, what hipcc adds. A row
// says how an option takes its value and what becomes of it. Only options outside the tables are
// tried on clang, all in one call of it that compiles nothing.
//
// Paths are made absolute here: a source may be compiled again from another directory, when a patch
// is checked.
#include "vgpu/toolchain/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/subprocess.h"
#include "swizzleperf/error.h"
#include "vgpu/toolchain/locate.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;

// ---- how an option takes its value --------------------------------------------------------------

enum class Takes {
  kNothing,
  kNext,    ///< -o FILE
  kJoined,  ///< -std=c++17, -fPIC
  kEither,  ///< -IDIR, -I DIR
  kEquals,  ///< --name=V, --name V
};

struct State {
  CompilerCall call;
  Dialect dialect = Dialect::kHipcc;
  std::optional<Language> forced;          ///< by -x
  std::vector<std::string> unknown;        ///< options for clang to judge
  std::vector<std::string> architectures;  ///< --offload-arch, all of them
  std::string sm;                          ///< digits of the first sm_ or compute_

  void argument(std::vector<std::string>& rest);
  void list(const std::string& values);
};

struct Row {
  const char* name;
  Takes takes;
  void (*act)(State& s, const std::string& value);
};

struct Match {
  const Row* row;
  std::string value;
  bool took_next = false;
};

// ---- what becomes of it -------------------------------------------------------------------------

using S = State;
using V = const std::string;

std::string absolute(const std::string& path) { return fs::absolute(path).lexically_normal(); }

void ignore(S& /*s*/, V& /*v*/) {}

template <class... Words>
void both(S& s, const Words&... words) {
  (s.call.options.emplace_back(words), ...);
}
template <class... Words>
void host(S& s, const Words&... words) {
  (s.call.host_options.emplace_back(words), ...);
}
template <class... Words>
void link(S& s, const Words&... words) {
  (s.call.link.emplace_back(words), ...);
}
template <class... Words>
void depend(S& s, const Words&... words) {
  (s.call.dependency_options.emplace_back(words), ...);
}

/// Ours come first, but a header of a toolkit that ours lack would be found there and declare all
/// of CUDA once more: so its directory is left out.
void include(S& s, const char* option, V& directory) {
  const std::string path = absolute(directory);
  if (is_cuda_toolkit(path) || fs::exists(path + "/hip/hip_runtime_api.h")) return;
  if (std::string_view(option) == "-I") {
    both(s, option + path);
  } else {
    both(s, option, path);
  }
}

void set_stage(S& s, Stage stage) {
  // -E and -M say more than -c beside them.
  if (s.call.stage != Stage::kPreprocessed) s.call.stage = stage;
}

void set_language(S& s, V& v) {
  if (v == "cu") {
    s.forced = s.dialect == Dialect::kNvcc ? Language::kCuda : Language::kHip;
  } else if (v == "cuda") {
    s.forced = Language::kCuda;
  } else if (v == "hip") {
    s.forced = Language::kHip;
  } else if (v == "c++" || v == "c++-header") {
    s.forced = Language::kCpp;
  } else if (v == "c") {
    s.forced = Language::kC;
  } else if (v == "none") {
    s.forced.reset();
  } else {
    throw usage_error(fmt::format("-x {}: only hip, cu, c++ and c are known", v));
  }
}

/// sm_86, compute_80, 'arch=compute_80,code=[sm_80,compute_80]', native: the first number counts,
/// since one virtual GPU runs it all.
void set_sm(S& s, V& v) {
  const std::size_t at = v.find_first_of("0123456789");
  if (at == std::string::npos || !s.sm.empty()) return;
  s.sm = v.substr(at, v.find_first_not_of("0123456789", at) - at);
}

void set_linked(S& s, V& v) { s.call.linked = v == "true" || v == "1" || v.empty(); }

void need_gpu_code(S& /*s*/, V& v) {
  throw usage_error(fmt::format(
      "{} asks for a real GPU's code, which these compilers do not make: compile to an object or a "
      "program",
      v));
}

/// The names of libraries that our runtime library stands for.
bool is_replaced_library(const std::string& name) {
  static constexpr std::array kNames = {
      "cudart",        "cudart_static", "cudadevrt",     "cuda",       "amdhip64",
      "hip_hcc",       "hiprt",         "hsa-runtime64", "nvToolsExt", "curand",
      "curand_static", "hiprand",       "rocrand"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Prefixes of the vendors' libraries that nothing here stands for.
bool is_missing_library(const std::string& name) {
  static constexpr std::array<std::string_view, 24> kNames = {
      "cublas",    "cufft",     "cusparse", "cusolver", "cudnn",     "cutensor",
      "nccl",      "nvrtc",     "npp",      "nvjpeg",   "nvidia-ml", "cupti",
      "rocblas",   "hipblas",   "rocfft",   "hipfft",   "rocsparse", "hipsparse",
      "rocsolver", "hipsolver", "rccl",     "MIOpen",   "hiprtc",    "cufile"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// NAME of libNAME.so.13 and libNAME.a; "" of any other file.
std::string library_of_file(const fs::path& file) {
  const std::string name = file.filename();
  const std::size_t end = std::min(name.find(".so"), name.find(".a"));
  return name.starts_with("lib") && end != std::string::npos ? name.substr(3, end - 3) : "";
}

void library(S& s, V& v) {
  const bool by_file = v.starts_with(":");
  if (is_replaced_library(by_file ? library_of_file(v.substr(1)) : v)) return;
  link(s, "-l" + v);
}

void linker_list(S& s, V& v) {
  std::istringstream words(v);
  for (std::string word; std::getline(words, word, ',');) {
    s.call.link.insert(s.call.link.end(), {"-Xlinker", word});
  }
}

void option_file(S& s, V& v) {
  std::istringstream text(read_file(v));
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool started = false;
  for (char c = 0; text.get(c);) {
    if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? '\0' : c;
      started = true;
    } else if (c == '\\' && quote != '\'') {
      if (text.get(c)) word += c;
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (started || !word.empty()) words.push_back(std::exchange(word, {}));
      started = false;
    } else {
      word += c;
    }
  }
  if (started || !word.empty()) words.push_back(word);
  while (!words.empty()) s.argument(words);
}

// ---- the tables ---------------------------------------------------------------------------------

// What Unix compilers share.
constexpr Row kCommon[] = {
    {"-c", Takes::kNothing, [](S& s, V&) { set_stage(s, Stage::kObjects); }},
    {"-S", Takes::kNothing, [](S& s, V&) { set_stage(s, Stage::kAssembly); }},
    {"-E", Takes::kNothing, [](S& s, V&) { set_stage(s, Stage::kPreprocessed); }},
    {"-o", Takes::kEither, [](S& s, V& v) { s.call.output = v; }},
    {"-x", Takes::kEither, set_language},
    {"-MD", Takes::kNothing, [](S& s, V&) { depend(s, "-MD"); }},
    {"-MMD", Takes::kNothing, [](S& s, V&) { depend(s, "-MMD"); }},
    {"-MP", Takes::kNothing, [](S& s, V&) { depend(s, "-MP"); }},
    {"-MG", Takes::kNothing, [](S& s, V&) { depend(s, "-MG"); }},
    {"-MF", Takes::kEither, [](S& s, V& v) { depend(s, "-MF", v); }},
    {"-MT", Takes::kEither, [](S& s, V& v) { depend(s, "-MT", v); }},
    {"-MQ", Takes::kEither, [](S& s, V& v) { depend(s, "-MQ", v); }},
    {"-M", Takes::kNothing,
     [](S& s, V&) {
       set_stage(s, Stage::kPreprocessed);
       depend(s, "-M");
     }},
    {"-MM", Takes::kNothing,
     [](S& s, V&) {
       set_stage(s, Stage::kPreprocessed);
       depend(s, "-MM");
     }},
    {"-isystem", Takes::kEither, [](S& s, V& v) { include(s, "-isystem", v); }},
    {"-iquote", Takes::kEither, [](S& s, V& v) { include(s, "-iquote", v); }},
    {"-idirafter", Takes::kEither, [](S& s, V& v) { include(s, "-idirafter", v); }},
    {"-include", Takes::kEither,
     [](S& s, V& v) { both(s, "-include", fs::exists(v) ? absolute(v) : v); }},
    {"-imacros", Takes::kEither,
     [](S& s, V& v) { both(s, "-imacros", fs::exists(v) ? absolute(v) : v); }},
    {"-I", Takes::kEither, [](S& s, V& v) { include(s, "-I", v); }},
    {"-D", Takes::kEither, [](S& s, V& v) { both(s, "-D" + v); }},
    {"-U", Takes::kEither, [](S& s, V& v) { both(s, "-U" + v); }},
    {"-std", Takes::kEquals, [](S& s, V& v) { both(s, "-std=" + v); }},
    {"-O", Takes::kJoined, [](S& s, V& v) { both(s, "-O" + v); }},
    {"-O", Takes::kNothing, [](S& s, V&) { both(s, "-O"); }},
    {"-Xclang", Takes::kNext, [](S& s, V& v) { both(s, "-Xclang", v); }},
    {"-mllvm", Takes::kNext, ignore},  // tunes the code generator that is not run
    {"-Wl,", Takes::kJoined, [](S& s, V& v) { link(s, "-Wl," + v); }},
    {"-Wa,", Takes::kJoined, [](S& s, V& v) { host(s, "-Wa," + v); }},
    {"-Wp,", Takes::kJoined, [](S& s, V& v) { host(s, "-Wp," + v); }},
    {"-W", Takes::kJoined, [](S& s, V& v) { both(s, "-W" + v); }},
    {"-w", Takes::kNothing, [](S& s, V&) { both(s, "-w"); }},
    {"-pedantic", Takes::kNothing, [](S& s, V&) { both(s, "-pedantic"); }},
    {"-ansi", Takes::kNothing, [](S& s, V&) { both(s, "-ansi"); }},
    {"-l", Takes::kEither, library},
    {"-L", Takes::kEither, [](S& s, V& v) { link(s, "-L" + absolute(v)); }},
    {"-T", Takes::kNext, [](S& s, V& v) { link(s, "-T", v); }},
    {"-u", Takes::kNext, [](S& s, V& v) { link(s, "-u", v); }},
    {"-z", Takes::kNext, [](S& s, V& v) { link(s, "-z", v); }},
    {"-Xlinker", Takes::kNext, [](S& s, V& v) { link(s, "-Xlinker", v); }},
    {"-shared", Takes::kNothing, [](S& s, V&) { link(s, "-shared"); }},
    {"-rdynamic", Takes::kNothing, [](S& s, V&) { link(s, "-rdynamic"); }},
    {"-s", Takes::kNothing, [](S& s, V&) { link(s, "-s"); }},
    {"-static", Takes::kNothing, ignore},  // our runtime is a shared library
    {"-flto", Takes::kNothing, ignore},    // the halves are joined as objects
    {"-flto=", Takes::kJoined, ignore},
    {"-fuse-ld=", Takes::kJoined, ignore},
    {"-pthread", Takes::kNothing, [](S& s, V&) { host(s, "-pthread"); }},
    {"-fopenmp", Takes::kNothing, [](S& s, V&) { host(s, "-fopenmp"); }},
    {"-fsanitize=", Takes::kJoined, [](S& s, V& v) { host(s, "-fsanitize=" + v); }},
    {"-fprofile", Takes::kJoined, [](S& s, V& v) { host(s, "-fprofile" + v); }},
    {"--coverage", Takes::kNothing, [](S& s, V&) { host(s, "--coverage"); }},
    {"-pg", Takes::kNothing, [](S& s, V&) { host(s, "-pg"); }},
    {"-march=", Takes::kJoined, [](S& s, V& v) { host(s, "-march=" + v); }},
    {"-mtune=", Takes::kJoined, [](S& s, V& v) { host(s, "-mtune=" + v); }},
    {"-mcpu=", Takes::kJoined, [](S& s, V& v) { host(s, "-mcpu=" + v); }},
    {"-ggdb", Takes::kNothing, [](S& s, V&) { host(s, "-g"); }},
    {"-g", Takes::kJoined, [](S& s, V& v) { host(s, "-g" + v); }},
    {"-g", Takes::kNothing, [](S& s, V&) { host(s, "-g"); }},
    {"-v", Takes::kNothing, [](S& s, V&) { s.call.verbose = true; }},
    {"-###", Takes::kNothing, [](S& s, V&) { s.call.dry_run = true; }},
    {"--version", Takes::kNothing, [](S& s, V&) { s.call.stage = Stage::kVersion; }},
    {"--help", Takes::kNothing, [](S& s, V&) { s.call.stage = Stage::kHelp; }},
    {"-dumpversion", Takes::kNothing, [](S& s, V&) { s.call.stage = Stage::kVersion; }},
};

// nvcc's own; a long name stands for itself with one dash and with two.
constexpr Row kNvcc[] = {
    {"-arch", Takes::kEquals, set_sm},
    {"-gpu-architecture", Takes::kEquals, set_sm},
    {"-gencode", Takes::kEquals, set_sm},
    {"-generate-code", Takes::kEquals, set_sm},
    {"-code", Takes::kEquals, set_sm},
    {"-gpu-code", Takes::kEquals, set_sm},
    {"-Xcompiler", Takes::kEquals, [](S& s, V& v) { s.list(v); }},
    {"-compiler-options", Takes::kEquals, [](S& s, V& v) { s.list(v); }},
    {"-Xlinker", Takes::kEquals, linker_list},
    {"-linker-options", Takes::kEquals, linker_list},
    {"-Xptxas", Takes::kEquals, ignore},
    {"-ptxas-options", Takes::kEquals, ignore},
    {"-Xnvlink", Takes::kEquals, ignore},
    {"-nvlink-options", Takes::kEquals, ignore},
    {"-Xfatbin", Takes::kEquals, ignore},
    {"-Xcudafe", Takes::kEquals, ignore},
    {"-Xarchive", Takes::kEquals, ignore},
    {"-diag-suppress", Takes::kEquals, ignore},
    {"-diag-error", Takes::kEquals, ignore},
    {"-diag-warn", Takes::kEquals, ignore},
    {"-ccbin", Takes::kEquals, ignore},  // the host half is clang's here
    {"-compiler-bindir", Takes::kEquals, ignore},
    {"-cudart", Takes::kEquals, ignore},
    {"-cudadevrt", Takes::kEquals, ignore},
    {"-maxrregcount", Takes::kEquals, ignore},
    {"-default-stream", Takes::kEquals, ignore},
    {"-ftz", Takes::kEquals, ignore},
    {"-prec-div", Takes::kEquals, ignore},
    {"-prec-sqrt", Takes::kEquals, ignore},
    {"-fmad", Takes::kEquals,
     [](S& s, V& v) { both(s, v == "false" ? "-ffp-contract=off" : "-ffp-contract=fast"); }},
    {"-use_fast_math", Takes::kNothing, ignore},  // the exact functions are right as well
    {"-expt-relaxed-constexpr", Takes::kNothing, ignore},
    {"-expt-extended-lambda", Takes::kNothing, ignore},
    {"-extended-lambda", Takes::kNothing, ignore},
    {"-lineinfo", Takes::kNothing, ignore},
    {"-generate-line-info", Takes::kNothing, ignore},
    {"-G", Takes::kNothing, ignore},
    {"-device-debug", Takes::kNothing, ignore},
    {"-resource-usage", Takes::kNothing, ignore},
    {"-res-usage", Takes::kNothing, ignore},
    {"-restrict", Takes::kNothing, ignore},
    {"-keep", Takes::kNothing, ignore},
    {"-keep-dir", Takes::kEquals, ignore},
    {"-odir", Takes::kEquals, ignore},
    {"-t", Takes::kEquals, ignore},
    {"-threads", Takes::kEquals, ignore},
    {"-split-compile", Takes::kEquals, ignore},
    {"-compress-mode", Takes::kEquals, ignore},
    {"-m", Takes::kEquals, ignore},
    {"-machine", Takes::kEquals, ignore},
    {"-m64", Takes::kNothing, ignore},
    {"-Wno-deprecated-gpu-targets", Takes::kNothing, ignore},
    {"-allow-unsupported-compiler", Takes::kNothing, ignore},
    {"-forward-unknown-to-host-compiler", Takes::kNothing, ignore},
    {"-forward-unknown-to-host-linker", Takes::kNothing, ignore},
    {"-forward-unknown-opts", Takes::kNothing, ignore},
    {"-disable-warnings", Takes::kNothing, [](S& s, V&) { both(s, "-w"); }},
    {"-Werror", Takes::kEquals, ignore},  // its kinds are nvcc's own
    {"-rdc", Takes::kEquals, set_linked},
    {"-relocatable-device-code", Takes::kEquals, set_linked},
    {"-dc", Takes::kNothing,
     [](S& s, V& v) {
       set_linked(s, v);
       set_stage(s, Stage::kObjects);
     }},
    {"-device-c", Takes::kNothing,
     [](S& s, V& v) {
       set_linked(s, v);
       set_stage(s, Stage::kObjects);
     }},
    {"-dw", Takes::kNothing, [](S& s, V&) { set_stage(s, Stage::kObjects); }},
    {"-dlink", Takes::kNothing, [](S& s, V&) { set_stage(s, Stage::kDeviceLink); }},
    {"-device-link", Takes::kNothing, [](S& s, V&) { set_stage(s, Stage::kDeviceLink); }},
    {"-lib", Takes::kNothing, [](S& s, V&) { set_stage(s, Stage::kArchive); }},
    {"-link", Takes::kNothing, ignore},
    {"-compile", Takes::kNothing, [](S& s, V&) { set_stage(s, Stage::kObjects); }},
    {"-preprocess", Takes::kNothing, [](S& s, V&) { set_stage(s, Stage::kPreprocessed); }},
    {"-generate-dependencies", Takes::kNothing,
     [](S& s, V&) {
       set_stage(s, Stage::kPreprocessed);
       depend(s, "-M");
     }},
    {"-generate-nonsystem-dependencies", Takes::kNothing,
     [](S& s, V&) {
       set_stage(s, Stage::kPreprocessed);
       depend(s, "-MM");
     }},
    {"-generate-dependencies-with-compile", Takes::kNothing, [](S& s, V&) { depend(s, "-MD"); }},
    {"-generate-nonsystem-dependencies-with-compile", Takes::kNothing,
     [](S& s, V&) { depend(s, "-MMD"); }},
    {"-dependency-output", Takes::kEquals, [](S& s, V& v) { depend(s, "-MF", v); }},
    {"-output-file", Takes::kEquals, [](S& s, V& v) { s.call.output = v; }},
    {"-include-path", Takes::kEquals, [](S& s, V& v) { include(s, "-I", v); }},
    {"-system-include", Takes::kEquals, [](S& s, V& v) { include(s, "-isystem", v); }},
    {"-pre-include", Takes::kEquals,
     [](S& s, V& v) { both(s, "-include", fs::exists(v) ? absolute(v) : v); }},
    {"-library", Takes::kEquals, library},
    {"-library-path", Takes::kEquals, [](S& s, V& v) { link(s, "-L" + absolute(v)); }},
    {"-define-macro", Takes::kEquals, [](S& s, V& v) { both(s, "-D" + v); }},
    {"-undefine-macro", Takes::kEquals, [](S& s, V& v) { both(s, "-U" + v); }},
    {"-optimize", Takes::kEquals, [](S& s, V& v) { both(s, "-O" + v); }},
    {"-debug", Takes::kNothing, [](S& s, V&) { host(s, "-g"); }},
    {"-profile", Takes::kNothing, ignore},
    {"-options-file", Takes::kEquals, option_file},
    {"-optf", Takes::kEquals, option_file},
    {"-verbose", Takes::kNothing, [](S& s, V&) { s.call.verbose = true; }},
    {"-dryrun", Takes::kNothing, [](S& s, V&) { s.call.dry_run = true; }},
    {"-V", Takes::kNothing, [](S& s, V&) { s.call.stage = Stage::kVersion; }},
    {"-h", Takes::kNothing, [](S& s, V&) { s.call.stage = Stage::kHelp; }},
    {"-ptx", Takes::kNothing, [](S& s, V&) { need_gpu_code(s, "-ptx"); }},
    {"-cubin", Takes::kNothing, [](S& s, V&) { need_gpu_code(s, "-cubin"); }},
    {"-fatbin", Takes::kNothing, [](S& s, V&) { need_gpu_code(s, "-fatbin"); }},
    {"-cuda", Takes::kNothing, [](S& s, V&) { need_gpu_code(s, "-cuda"); }},
};

// hipcc's own.
constexpr Row kHipcc[] = {
    {"--offload-arch=", Takes::kJoined, [](S& s, V& v) { s.architectures.push_back(v); }},
    {"--amdgpu-target=", Takes::kJoined, [](S& s, V& v) { s.architectures.push_back(v); }},
    {"--cuda-gpu-arch=", Takes::kJoined, [](S& s, V& v) { s.architectures.push_back(v); }},
    {"-fgpu-rdc", Takes::kNothing, set_linked},
    {"-fno-gpu-rdc", Takes::kNothing, [](S& s, V&) { s.call.linked = false; }},
    {"--hip-link", Takes::kNothing, ignore},
    {"--rocm-path=", Takes::kJoined, ignore},
    {"--hip-path=", Takes::kJoined, ignore},
    {"--rocm-device-lib-path=", Takes::kJoined, ignore},
    {"--hip-device-lib-path=", Takes::kJoined, ignore},
    {"--gcc-toolchain=", Takes::kJoined, ignore},
    {"-parallel-jobs=", Takes::kJoined, ignore},
    {"-fhip-emit-relocatable", Takes::kNothing, ignore},
    {"--genco", Takes::kNothing, [](S& s, V&) { need_gpu_code(s, "--genco"); }},
    {"--cuda-device-only", Takes::kNothing,
     [](S& s, V&) { need_gpu_code(s, "--cuda-device-only"); }},
    {"--offload-device-only", Takes::kNothing,
     [](S& s, V&) { need_gpu_code(s, "--offload-device-only"); }},
};

// ---- reading ------------------------------------------------------------------------------------

std::optional<Match> match(const Row& row, const std::string& argument,
                           const std::vector<std::string>& rest) {
  const std::string_view name = row.name;
  const auto next = [&]() -> std::optional<Match> {
    if (rest.size() < 2) throw usage_error(fmt::format("{} wants a value after it", argument));
    return Match{&row, rest[1], true};
  };
  switch (row.takes) {
    case Takes::kNothing:
      if (argument == name) return Match{&row, ""};
      break;
    case Takes::kNext:
      if (argument == name) return next();
      break;
    case Takes::kJoined:
      if (argument.size() > name.size() && argument.starts_with(name))
        return Match{&row, argument.substr(name.size())};
      break;
    case Takes::kEither:
      if (argument == name) return next();
      if (argument.starts_with(name)) return Match{&row, argument.substr(name.size())};
      break;
    case Takes::kEquals:
      if (argument == name) return next();
      if (argument.starts_with(std::string(name) + "="))
        return Match{&row, argument.substr(name.size() + 1)};
      break;
  }
  return std::nullopt;
}

std::optional<Match> find(std::span<const Row> table, const std::string& argument,
                          const std::vector<std::string>& rest) {
  for (const Row& row : table) {
    if (auto found = match(row, argument, rest)) return found;
  }
  return std::nullopt;
}

std::optional<Match> find(Dialect dialect, const std::vector<std::string>& rest) {
  const std::string& argument = rest.front();
  if (dialect == Dialect::kHipcc) {
    if (auto found = find(kHipcc, argument, rest)) return found;
    return find(kCommon, argument, rest);
  }
  const bool two_dashes = argument.starts_with("--");
  if (auto found = find(kNvcc, two_dashes ? argument.substr(1) : argument, rest)) return found;
  if (auto found = find(kCommon, argument, rest)) return found;
  return two_dashes ? find(kCommon, argument.substr(1), rest) : std::nullopt;
}

void input(State& s, const std::string& file) {
  if (!s.forced && !is_source_name(file)) {
    if (!is_replaced_library(library_of_file(file))) s.call.link.push_back(file);
    return;
  }
  s.call.link.push_back(kSourceMark + std::to_string(s.call.sources.size()));
  s.call.sources.push_back({file, s.forced ? *s.forced : language_of(file, s.dialect)});
}

/// Takes the first argument, and what belongs to it, off the front.
void State::argument(std::vector<std::string>& rest) {
  const std::string word = rest.front();
  std::size_t taken = 1;
  if (word.size() > 1 && word.front() == '@') {
    option_file(*this, word.substr(1));
  } else if (word.size() < 2 || word.front() != '-') {
    input(*this, word);
  } else if (const auto found = find(dialect, rest)) {
    taken = found->took_next ? 2 : 1;
    found->row->act(*this, found->value);
  } else {
    unknown.push_back(word);
  }
  rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(taken));
}

/// -Xcompiler's comma-separated options, which are those of any Unix compiler.
void State::list(const std::string& values) {
  std::vector<std::string> words;
  std::istringstream in(values);
  for (std::string word; std::getline(in, word, ',');) {
    const bool linkers = !words.empty() && words.back().starts_with("-Wl");
    if (linkers) {
      words.back() += "," + word;  // the commas of -Wl,-rpath,DIR are its own
    } else {
      // -Xcompiler "-O2 -Wall" is one argument for nvcc and two for the host's compiler.
      std::istringstream parts(word);
      for (std::string part; parts >> part;) words.push_back(part);
    }
  }
  const Dialect own = dialect;
  dialect = Dialect::kHipcc;  // for these words nvcc's names mean nothing
  while (!words.empty()) argument(words);
  dialect = own;
}

/// Gives clang the options that no table has; those it does not know are dropped with a warning.
void judge_unknown(State& s) {
  if (s.unknown.empty()) return;
  ChildSpec child;
  child.argv = {find_compiler(), "-###", "-x", "c++", "-c", "/dev/null", "-o", "/dev/null"};
  child.argv.insert(child.argv.end(), s.unknown.begin(), s.unknown.end());
  const std::string said = run_child(child).err;
  for (const std::string& option : s.unknown) {
    const bool refused =
        said.find(fmt::format("unknown argument: '{}'", option)) != std::string::npos ||
        said.find(fmt::format("unknown argument '{}'", option)) != std::string::npos ||
        said.find(fmt::format("unsupported option '{}'", option)) != std::string::npos;
    if (refused) {
      s.call.warnings.push_back(fmt::format("{} is not known here and was left out", option));
    } else if (option.starts_with("-m")) {
      s.call.host_options.push_back(option);
    } else {
      both(s, option);
    }
  }
}

/// Of the architectures named, the one to compile for: the machine models' own if it is there.
std::string chosen_arch(const std::vector<std::string>& named) {
  std::string chosen;
  for (const std::string& values : named) {
    std::istringstream in(values);
    for (std::string word; std::getline(in, word, ',');) {
      word = word.substr(0, word.find(':'));  // gfx90a:sramecc+:xnack-
      if (word.starts_with("gfx") && (chosen.empty() || word == "gfx942")) chosen = word;
    }
  }
  return chosen;
}

void check(const State& s) {
  const Stage stage = s.call.stage;
  if (stage == Stage::kVersion || stage == Stage::kHelp) return;
  if (s.call.link.empty() && s.call.sources.empty() && !s.call.verbose) {
    throw usage_error("no input files");
  }
  if (stage == Stage::kProgram) {
    for (const std::string& item : s.call.link) {
      const bool shared = item.find(".so") != std::string::npos;  // an archive is the project's own
      if (is_missing_library(item.starts_with("-l") ? item.substr(2)
                             : shared               ? library_of_file(item)
                                                    : "")) {
        throw input_error(fmt::format(
            "{} is not here: the vendors' libraries have no place on the virtual GPU; leave the "
            "part of the program that calls it out",
            item));
      }
    }
  } else if (stage != Stage::kDeviceLink && stage != Stage::kArchive && !s.call.output.empty() &&
             s.call.sources.size() > 1) {
    throw usage_error("-o names one file, but several sources are to be compiled");
  }
}

bool includes_hip(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) &&
         read_file(file).find("hip/hip_runtime") != std::string::npos;
}

}  // namespace

bool is_source_name(const fs::path& file) {
  static constexpr std::array<std::string_view, 9> kEndings = {
      ".cu", ".hip", ".cpp", ".cc", ".cxx", ".c++", ".C", ".c", ".cp"};
  return std::find(kEndings.begin(), kEndings.end(), file.extension().string()) != kEndings.end();
}

Language language_of(const fs::path& file, Dialect dialect) {
  const std::string ending = file.extension();
  if (ending == ".c") return Language::kC;
  if (ending == ".hip") return Language::kHip;
  if (dialect == Dialect::kHipcc) return Language::kHip;
  if (ending == ".cu") return includes_hip(file) ? Language::kHip : Language::kCuda;
  return Language::kCpp;
}

CompilerCall parse_command_line(Dialect dialect, const std::vector<std::string>& arguments) {
  State s;
  s.dialect = dialect;
  std::vector<std::string> rest = arguments;
  while (!rest.empty()) s.argument(rest);
  judge_unknown(s);
  s.call.arch = chosen_arch(s.architectures);
  if (!s.sm.empty()) s.call.options.push_back("-DSWIZZLEPERF_SM=" + s.sm);
  check(s);
  return std::move(s.call);
}

}  // namespace swizzleperf::vgpu
