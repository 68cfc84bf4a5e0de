// doctor: what is on this system, what is missing, and what to do about it.
//
// Tracing and simulating need a compiler and headers; only measuring needs a GPU and its tools. So
// what is missing of the first kind is an error (exit 3), of the second a remark.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/subprocess.h"
#include "cli/finding.h"
#include "cli/verb.h"
#include "machine/detect.h"
#include "report/table.h"
#include "swizzleperf/machine.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The first line of `--version` with a number such as 22.1, or the path if there is none.
std::string version_of(const fs::path& program) {
  ChildSpec spec;
  spec.argv = {program.string(), "--version"};
  spec.time_limit_s = 10;
  const std::string text = run_child(spec).out;
  std::smatch line;
  return std::regex_search(text, line, std::regex("[^\\s][^\n]*[0-9]\\.[0-9][^\n]*"))
             ? line.str()
             : program.string();
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

std::vector<Finding> examine() {
  std::vector<Machine> machines;
  std::string fault;
  try {
    machines = all_machines();
  } catch (const Error& error) {
    fault = error.what();  // a finding like the others
  }
  std::vector<Finding> findings = planning_findings();
  findings.push_back(machine_models(machines, fault));
  findings.push_back(gpus(machines));
  for (Finding& finding : measuring_findings()) findings.push_back(std::move(finding));
  return findings;
}

std::string section(const std::string& heading, const std::vector<Finding>& findings, For whom) {
  Table table{{{"what"}, {"for"}, {"found"}}, {}};
  for (const Finding& f : findings)
    if (f.whom == whom)
      table.rows.push_back({f.what, f.purpose, f.found.empty() ? "missing: " + f.remedy : f.found});
  return table.rows.empty() ? "" : heading + "\n" + render(table, output_width()) + "\n";
}

std::string console(const std::vector<Finding>& findings, bool ready) {
  return section(what_all_is_for(), findings, For::kAll) +
         section("For Triton kernels", findings, For::kTriton) +
         section("To ask a language model", findings, For::kProposing) +
         section("To measure on a real GPU", findings, For::kMeasuring) +
         (ready ? "Ready to work without a GPU.\n"
                : "Not ready: install what is missing in the first list.\n");
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

Finding find_tool(const std::string& name, const std::string& purpose, For whom,
                  const std::string& remedy) {
  const auto path = find_program(name);
  return {name, purpose, whom, path ? version_of(*path) : "", remedy};
}

Verb doctor_verb() {
  return {"doctor",
          "Look around",
          "Say what is installed, what is missing and what to do",
          "Exit code 3 when something is missing that work without a GPU needs.",
          kNothing,
          [](CLI::App& /*app*/) -> Action { return run; }};
}

}  // namespace swizzleperf
