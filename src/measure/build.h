// Building a bundle's variants, each in a copy of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "measure/bundle.h"

namespace swizzleperf::measure {

struct BuildSettings {
  std::string architecture;    ///< "sm_90", "gfx942"; empty: that of the GPU that is there
  double time_limit_s = 1800;  ///< of one build
  double test_limit_s = 1800;  ///< of one run of the test
};

/// The program as it is (number 0) or a candidate, built.
struct Variant {
  int number = 0;
  std::filesystem::path directory;  ///< the copy; the build ran here, and so will the program
  std::filesystem::path program;    ///< absolute
  std::string failure;              ///< a sentence without a full stop; empty: it is built
  bool same_program = false;        ///< byte by byte the original's, so nothing can differ
};

/// Builds in `work_directory`/NUMBER, which is made anew; never touches the bundle. What is wrong
/// with the source or the build is the variant's `failure`. Throws Error(kInput) when the copy
/// cannot be written or there is no compiler.
Variant build_variant(const Bundle& bundle, int number, const std::filesystem::path& work_directory,
                      const BuildSettings& settings);

/// All of them, the original first, so many at a time.
std::vector<Variant> build_variants(const Bundle& bundle,
                                    const std::filesystem::path& work_directory,
                                    const BuildSettings& settings, unsigned jobs);

/// Runs the project's test on a built variant: what is wrong, in a sentence without a full stop;
/// empty where nothing is or there is no test.
std::string test_variant(const Bundle& bundle, const Variant& variant,
                         const BuildSettings& settings);

}  // namespace swizzleperf::measure
