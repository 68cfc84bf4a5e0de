// One thing that doctor looked for.
#pragma once

#include <string>
#include <vector>

namespace swizzleperf {

enum class For { kAll, kTriton, kProposing, kMeasuring };

struct Finding {
  std::string what;
  std::string purpose;
  For whom;
  std::string found;  ///< where, or which version; empty: missing
  std::string remedy;
};

/// A program on PATH, by its version.
Finding find_tool(const std::string& name, const std::string& purpose, For whom,
                  const std::string& remedy);

/// What work without a GPU needs, and its heading; a build for GPU nodes does little of that.
std::vector<Finding> planning_findings();
const char* what_all_is_for();

/// What measuring on a real GPU needs, and what may be done with it here.
std::vector<Finding> measuring_findings();

}  // namespace swizzleperf
