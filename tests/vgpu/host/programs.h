// What the tests of this folder share: programs from files or from text, and the sentence of an
// error.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files.h"
#include "swizzleperf/error.h"
#include "vgpu/run.h"

namespace swizzleperf::vgpu {

inline ProgramSpec program_file(const std::string& name) {
  ProgramSpec spec;
  spec.program = std::filesystem::path(PROGRAMS) / name;
  return spec;
}

/// A program written for one test.
class TextProgram {
 public:
  explicit TextProgram(const std::string& text) {
    spec_.program = scratch_.path() / "program.hip";
    write_file(spec_.program, text);
  }
  [[nodiscard]] ProgramSpec& spec() { return spec_; }
  [[nodiscard]] const std::filesystem::path& directory() const { return scratch_.path(); }
  [[nodiscard]] BuiltProgram build() const { return build_program(spec_, scratch_.path()); }

 private:
  ScratchDirectory scratch_;
  ProgramSpec spec_;
};

/// The sentence of the error that `action` throws.
template <class Action>
std::string sentence(Action action, Exit exit = Exit::kInput) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), exit);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace swizzleperf::vgpu
