// What doctor says of all that needs no GPU: tracing, proving, patching, proposing.
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "cli/finding.h"
#include "fmt/format.h"
#include "llm/endpoint.h"
#include "python/python.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Finding hip_headers() {
  const char* rocm = std::getenv("ROCM_PATH");
  Finding finding{"HIP headers", "compile HIP programs for the virtual GPU", For::kAll, "",
                  "apt-get install libamdhip64-dev"};
  for (const fs::path& place :
       {fs::path(rocm ? rocm : "/opt/rocm") / "include", fs::path("/usr/include")})
    if (finding.found.empty() && fs::exists(place / "hip/hip_runtime.h"))
      finding.found = (place / "hip").string();
  return finding;
}

Finding triton() {
  Finding finding{"Triton", "compile Triton kernels", For::kTriton, "", ""};
  constexpr double kTimeLimitSeconds = 60;  // a first import compiles Python's caches
  try {
    const Json versions = ask_python("versions", Json::object(), kTimeLimitSeconds);
    finding.found = fmt::format("{} in {}", versions.at("triton").get<std::string>(),
                                python_interpreter().string());
  } catch (const Error& error) {
    finding.remedy = error.what();
  }
  return finding;
}

/// Which server would be asked, and whether there is a key for it; nothing is sent.
Finding language_model() {
  Finding finding{"a language model", "propose swizzles", For::kProposing, "", ""};
  try {
    const std::string endpoint = llm::describe(llm::look_up_endpoint({}));
    finding.remedy = endpoint;
    (void)llm::endpoint_from({});
    finding.found = endpoint;
  } catch (const Error& error) {
    finding.remedy += (finding.remedy.empty() ? "" : "; ") + std::string(error.what());
  }
  return finding;
}

}  // namespace

const char* what_all_is_for() { return "To trace, simulate, prove and patch"; }

std::vector<Finding> planning_findings() {
  return {
      find_tool("clang++-22", "compile for the virtual GPU", For::kAll, "apt-get install clang-22"),
      hip_headers(),
      triton(),
      language_model(),
  };
}

}  // namespace swizzleperf
