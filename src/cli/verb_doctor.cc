// doctor: what is on this system, what is missing, and what to do about it.
//
// Tracing and simulating need a compiler and headers; only measuring needs a GPU and its tools. So
// what is missing of the first kind is an error (exit 3), of the second a remark.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/files.h"
#include "base/subprocess.h"
#include "cli/verb.h"
#include "machine/detect.h"
#include "python/python.h"
#include "report/table.h"
#include "swizzleperf/machine.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

enum class For { kAll, kTriton, kMeasuring };

struct Finding {
  std::string what;
  std::string purpose;
  For whom;
  std::string found;  ///< where, or which version; empty: missing
  std::string remedy;
};

/// The first line of `--version` with a number such as 22.1, or the path if there is none.
std::string version_of(const fs::path& program) {
  ChildSpec spec;
  spec.argv = {program.string(), "--version"};
  spec.time_limit_s = 10;
  const std::string text = run_child(spec).out;
  std::smatch line;
  return std::regex_search(text, line, std::regex("[^\n]*[0-9]\\.[0-9][^\n]*")) ? line.str()
                                                                                : program.string();
}

Finding program(const std::string& name, const std::string& purpose, For whom,
                const std::string& remedy) {
  const auto path = find_program(name);
  return {name, purpose, whom, path ? version_of(*path) : "", remedy};
}

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

Finding machine_models(const std::vector<Machine>& machines, const std::string& fault) {
  const std::string found =
      machines.empty() ? ""
                       : fmt::format("{} in {}", machines.size(), machines_directory().string());
  return {"machine models", "know caches and dispatch", For::kAll, found, fault};
}

Finding gpus(const std::vector<Machine>& machines) {
  Finding finding{"a GPU", "measure, and confirm what was predicted", For::kMeasuring, "",
                  "only measuring needs one"};
  for (const DetectedGpu& gpu : detect_gpus("/", machines)) {
    if (!finding.found.empty()) finding.found += ", ";
    finding.found += gpu.product.empty() ? gpu.arch : gpu.product;
  }
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

std::vector<Finding> examine() {
  std::vector<Machine> machines;
  std::string fault;
  try {
    machines = all_machines();
  } catch (const Error& error) {
    fault = error.what();  // a finding like the others
  }
  return {
      program("clang++-22", "compile for the virtual GPU", For::kAll, "apt-get install clang-22"),
      hip_headers(),
      machine_models(machines, fault),
      triton(),
      gpus(machines),
      program("hipcc", "build for a real AMD GPU", For::kMeasuring,
              "install ROCm on a node with a GPU"),
      program("rocprofv3", "read counters of an AMD GPU", For::kMeasuring,
              "part of ROCm 6.2 and later"),
      program("nvcc", "build for a real NVIDIA GPU", For::kMeasuring, "install the CUDA toolkit"),
      program("ncu", "read counters of an NVIDIA GPU", For::kMeasuring,
              "Nsight Compute, in the CUDA toolkit"),
  };
}

std::string section(const std::vector<Finding>& findings, For whom) {
  Table table{{{"what"}, {"for"}, {"found"}}, {}};
  for (const Finding& f : findings)
    if (f.whom == whom)
      table.rows.push_back({f.what, f.purpose, f.found.empty() ? "missing: " + f.remedy : f.found});
  return render(table, output_width());
}

std::string console(const std::vector<Finding>& findings, bool ready) {
  return "To trace, simulate, prove and patch\n" + section(findings, For::kAll) +
         "\nFor Triton kernels\n" + section(findings, For::kTriton) +
         "\nTo measure on a real GPU\n" + section(findings, For::kMeasuring) +
         (ready ? "\nReady to work without a GPU.\n"
                : "\nNot ready: install what is missing in the first list.\n");
}

Json json(const std::vector<Finding>& findings, bool ready) {
  Json document = json_document();
  document["ready"] = ready;
  document["findings"] = Json::array();
  for (const Finding& f : findings)
    document["findings"].push_back({{"what", f.what},
                                    {"for", f.purpose},
                                    {"needed", f.whom == For::kAll},
                                    {"found", f.found.empty() ? Json(nullptr) : Json(f.found)},
                                    {"remedy", f.found.empty() ? Json(f.remedy) : Json(nullptr)}});
  return document;
}

Outcome run(const CommonOptions& common) {
  const std::vector<Finding> findings = examine();
  bool ready = true;
  for (const Finding& f : findings) ready = ready && (f.whom != For::kAll || !f.found.empty());
  return {common.json ? to_text(json(findings, ready)) : console(findings, ready),
          ready ? Exit::kDone : Exit::kInput};
}

}  // namespace

Verb doctor_verb() {
  return {"doctor",
          "Look around",
          "Say what is installed, what is missing and what to do",
          "Exit code 3 when something is missing that work without a GPU needs.",
          kNothing,
          [](CLI::App& /*app*/) -> Action { return run; }};
}

}  // namespace swizzleperf
