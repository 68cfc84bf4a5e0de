// See trace_cache.h.
#include "validate/trace_cache.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <regex>
#include <set>

#include "base/files.h"
#include "launch/launch.h"
#include "swizzleperf/error.h"
#include "vgpu/toolchain/locate.h"

namespace swizzleperf::validate {
namespace {

namespace fs = std::filesystem;

std::string hash_of(std::string_view bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

/// The file and what it includes in quotes, with their contents; which of the includes an #if
/// leaves out does not matter.
void add_sources(const fs::path& file, std::set<fs::path>& seen, std::string& text) {
  if (!fs::is_regular_file(file) || !seen.insert(fs::weakly_canonical(file)).second) return;
  const std::string content = read_file(file);
  text += fmt::format("{} {}\n", file.filename().string(), hash_of(content));
  static const std::regex kInclude("#[ \t]*include[ \t]*\"([^\"\n]+)\"");
  for (std::sregex_iterator it(content.begin(), content.end(), kInclude), end; it != end; ++it) {
    add_sources(file.parent_path() / (*it)[1].str(), seen, text);
  }
}

std::string device_words(const vgpu::VirtualDevice& d) {
  return fmt::format("{} {} {} {} {}.{} {} {} {} {} {} {}", d.name, d.compute_units, d.clock_ghz,
                     d.l2_bytes, d.major, d.minor, d.lds_bytes, d.simds, d.waves_per_simd, d.blocks,
                     d.registers_per_lane, d.register_granule);
}

/// Everything that a trace depends on, but for the tracer.
std::string question(const vgpu::ProgramSpec& spec) {
  std::string text;
  std::set<fs::path> seen;
  add_sources(spec.program, seen, text);
  add_sources(vgpu::spliced_source(spec), seen, text);
  text += fmt::format("{}\n{}\n{} {}\n", fmt::join(spec.arguments, "\n"),
                      fmt::join(spec.compile_options, "\n"), spec.kernel_regex, spec.launch_index);
  text += fmt::format("{} {}\n", spec.arch, spec.language ? static_cast<int>(*spec.language) : -1);
  if (spec.device) text += device_words(*spec.device);
  return text;
}

/// Letters, digits and dashes.
std::string slug(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain || (!result.empty() && result.back() != '-')) result += plain ? c : '-';
  }
  return result;
}

/// A tracer that has changed leaves its traces behind; nobody else would remove them.
void remove_unused(const fs::path& directory) {
  constexpr auto kMonth = std::chrono::hours(30 * 24);
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(directory, ignored)) {
    if (item.path().extension() != ".trace") continue;
    const auto used = item.last_write_time(ignored);
    if (!ignored && used < fs::file_time_type::clock::now() - kMonth) {
      fs::remove(item.path(), ignored);
    }
  }
}

}  // namespace

TraceCache::TraceCache(fs::path directory)
    : directory_(std::move(directory)),
      tracer_(hash_of(read_file(vgpu::locate_pieces().runtime_library))) {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) {
    throw input_error(
        fmt::format("{}: cannot be created: {}", directory_.string(), error.message()));
  }
}

fs::path TraceCache::file_of(const std::string& name, const vgpu::ProgramSpec& spec) const {
  return directory_ / fmt::format("{}-{}.trace", slug(name), hash_of(tracer_ + question(spec)));
}

bool TraceCache::has(const std::string& name, const vgpu::ProgramSpec& spec) const {
  return is_trace_file(file_of(name, spec));
}

Trace TraceCache::get(const std::string& name, const vgpu::ProgramSpec& spec) const {
  const fs::path file = file_of(name, spec);
  if (is_trace_file(file)) {
    std::error_code ignored;
    fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);  // it is in use
    return read_trace(file);
  }
  const ScratchDirectory scratch;
  Trace trace = obtain_trace(spec, scratch.path(), nullptr);
  write_trace(trace, file);
  remove_unused(directory_);
  return trace;
}

fs::path user_trace_directory() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? fs::path(value) : fs::path();
  };
  if (const fs::path cache = set("XDG_CACHE_HOME"); !cache.empty()) {
    return cache / "swizzleperf/traces";
  }
  if (const fs::path home = set("HOME"); !home.empty()) return home / ".cache/swizzleperf/traces";
  throw input_error(
      "neither HOME nor XDG_CACHE_HOME says where to keep traces; name a folder with "
      "--save-traces");
}

}  // namespace swizzleperf::validate
