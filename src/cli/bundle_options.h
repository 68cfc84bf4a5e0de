// The options that say what goes into a bundle, which `optimize` and `measure` share.
#pragma once

#include <filesystem>
#include <string>

#include "cli/program_options.h"
#include "optimize/bundle.h"

namespace swizzleperf {

struct BundleOptions {
  std::filesystem::path directory;  ///< --bundle
  std::filesystem::path project;
  std::string test;
};

void declare_bundle_options(CLI::App& app, BundleOptions& options);

/// What is traced becomes what will be measured: `spec` gets the bundle's language. Throws as
/// check_bundle() does.
BundleRequest bundle_request(const BundleOptions& options, const ProgramOptions& program,
                             const Machine& machine, vgpu::ProgramSpec& spec, bool quiet);

/// swizzleperf-runs/NAME, NAME-2, ...: the first that does not exist.
std::filesystem::path fresh_run_directory(const std::string& name);

}  // namespace swizzleperf
