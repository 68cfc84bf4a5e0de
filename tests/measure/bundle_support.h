// A bundle whose program is a shell script, so that it can be built and run anywhere.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.h"
#include "measure/bundle.h"

namespace swizzleperf::measure {

inline void put(const std::filesystem::path& file, const std::string& text) {
  make_directories(file.parent_path());
  write_file(file, text);
}

/// One candidate, whose script says "swizzled" where the original says "plain".
inline Bundle sample_bundle(const std::filesystem::path& directory) {
  Bundle b;
  b.directory = directory;
  b.project.language = Language::kHip;
  b.project.source = "src/kernel.hip";
  b.project.program = "program";
  b.project.build = "cp src/kernel.hip program && chmod +x program";
  b.project.compile_options = {"-DN=4", "-Iinclude"};
  b.project.arguments = {"64", "--check", ""};
  b.project.test = "./program | grep -q .";
  b.target = {"_Z4gemmPf", "gemm(float*)", 2, {64, 32, 2}, {256, 1, 1}};
  b.machine = "mi300x";
  b.predicted = {{"time_ms", 2.5}};
  Candidate c;
  c.number = 1;
  c.spec = "die-contiguous+grouped:8";
  c.formula = "pid = num_blocks - 1 - pid;";
  c.permutation = "0123456789abcdef";
  c.predicted = {{"time_ms", 1.5}, {"exact", true}};
  c.files = {"src/kernel.hip"};
  b.candidates = {c};
  put(directory / "project/src/kernel.hip", "#!/bin/sh\necho plain\n");
  put(directory / "candidates/1/src/kernel.hip", "#!/bin/sh\necho swizzled\n");
  return b;
}

}  // namespace swizzleperf::measure
