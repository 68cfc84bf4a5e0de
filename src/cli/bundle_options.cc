// See bundle_options.h.
#include "cli/bundle_options.h"

#include <CLI/CLI.hpp>

namespace swizzleperf {

void declare_bundle_options(CLI::App& app, BundleOptions& options) {
  const char* const kGroup = "Bundle";
  app.add_option("--bundle", options.directory,
                 "Write the orders into this folder, to be measured where the GPU is")
      ->group(kGroup);
  app.add_option("--project", options.project,
                 "The folder that the program is built from (what it includes, or with --build "
                 "this folder)")
      ->group(kGroup);
  app.add_option("--test", options.test,
                 "A shell command in the project's folder that fails where a build is wrong")
      ->group(kGroup);
}

BundleRequest bundle_request(const BundleOptions& options, const ProgramOptions& program,
                             const Machine& machine, vgpu::ProgramSpec& spec, bool quiet) {
  BundleRequest r;
  r.language = spec.language == vgpu::Language::kCuda  ? measure::Language::kCuda
               : spec.language == vgpu::Language::kHip ? measure::Language::kHip
                                                       : language_for(machine);
  spec.language =
      r.language == measure::Language::kCuda ? vgpu::Language::kCuda : vgpu::Language::kHip;
  r.program = spec;
  r.directory = options.directory;
  r.project = options.project;
  r.build = program.build;
  r.test = options.test;
  r.threads = threads_of(program);
  r.quiet = quiet;
  check_bundle(r);
  return r;
}

std::filesystem::path fresh_run_directory(const std::string& name) {
  std::filesystem::path base = std::filesystem::path("swizzleperf-runs") / name;
  if (!std::filesystem::exists(base)) return base;
  for (int i = 2;; ++i) {
    std::filesystem::path next = base.string() + "-" + std::to_string(i);
    if (!std::filesystem::exists(next)) return next;
  }
}

}  // namespace swizzleperf
