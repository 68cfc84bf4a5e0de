// A launch spec: a kernel without a host program, and how it is launched. docs/launch-spec.md is
// its contract; this is the file read and checked, with nothing computed yet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "swizzleperf/error.h"
#include "vgpu/toolchain/expression.h"

namespace swizzleperf::vgpu {

/// A text of the spec, with its line for messages. Numbers in the file become texts too.
struct SpecText {
  std::string text;
  std::uint32_t line = 0;
};

struct SpecArgument {
  std::string name;
  std::uint32_t line = 0;
  std::string dtype;            ///< of an array: always; of a value: "" where it was not given
  std::vector<SpecText> shape;  ///< of an array; empty for a value
  nlohmann::json fill;          ///< of an array: its initial contents; texts in it are expressions
  bool output = false;
  nlohmann::json value;  ///< of a value: a number, a bool, an expression as text, or null (None)
};

/// A number that only the spec's own expressions use, or a constexpr of a Triton kernel.
struct SpecConstant {
  std::string name;
  std::uint32_t line = 0;
  nlohmann::json value;  ///< a number, an expression; of a constexpr also a bool, {"text": ...} or
                         ///< {"dtype": ...}
};

enum class SpecLanguage { kTriton, kLlvm, kHip };

struct LaunchSpec {
  std::filesystem::path file;
  std::filesystem::path kernel;  ///< its source, found from the spec's folder
  SpecLanguage language = SpecLanguage::kTriton;
  std::string function;
  std::uint32_t function_line = 0;
  std::vector<SpecText> grid;   ///< 1 to 3
  std::vector<SpecText> block;  ///< of kLlvm and kHip: 1 to 3; empty for Triton
  SpecText shared_bytes;        ///< dynamic LDS of kLlvm and kHip
  std::vector<SpecArgument> arguments;
  nlohmann::json options = nlohmann::json::object();  ///< num_warps, num_stages, ...: Triton's
  std::vector<SpecConstant> sizes;
  std::vector<SpecConstant> constexprs;
  std::int64_t config = 0;                   ///< of @triton.autotune
  std::vector<std::string> compile_options;  ///< of kHip

  /// A sentence about a line of the file.
  [[nodiscard]] Error error(std::uint32_t line, const std::string& sentence) const;
  /// evaluate() with the line in its errors.
  [[nodiscard]] std::int64_t number(const SpecText& text, const Names& names) const;
};

/// Throws Error(kInput): "file:line: sentence". `settings` are NAME=VALUE texts that replace sizes,
/// values and constexprs of the spec.
LaunchSpec read_launch_spec(const std::filesystem::path& file,
                            const std::vector<std::string>& settings);

}  // namespace swizzleperf::vgpu
