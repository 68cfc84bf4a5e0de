// See taken.h.
#include "optimize/taken.h"

#include "base/files.h"

namespace swizzleperf {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The hunks of one patch under the file's name in another: a bundle's is relative to the project,
/// a run's to where `git apply` will be called.
std::string under_name_of(const std::string& named, const std::string& patch) {
  const auto hunks = [](const std::string& p) { return p.find('\n', p.find('\n') + 1) + 1; };
  return named.substr(0, hunks(named)) + patch.substr(hunks(patch));
}

}  // namespace

std::string take_measured(OptimizeOutcome& run, const measure::Bundle& bundle,
                          const measure::Results& results, const fs::path& run_directory) {
  std::string patched;
  std::error_code none;
  json taken = {{"by", "measurement"}, {"swizzle", "identity"}, {"patch", nullptr}};
  if (results.best) {
    const measure::Candidate& c = bundle.candidates.at(static_cast<std::size_t>(*results.best - 1));
    const fs::path folder = measure::candidate_folder(bundle.directory, c.number);
    patched = read_file(folder / c.files.at(0));
    std::string patch = read_file(folder / measure::kPatchFile);
    if (run.applied) patch = under_name_of(run.applied->splice.patch, patch);
    write_file(run_directory / "best.patch", patch);
    if (c.formula.empty()) {
      fs::remove(run_directory / "best.swz", none);
    } else {
      write_file(run_directory / "best.swz", c.formula);
    }
    taken["swizzle"] = c.spec;
    taken["patch"] = "best.patch";
  } else {
    fs::remove(run_directory / "best.patch", none);
    fs::remove(run_directory / "best.swz", none);
  }
  run.json["measured"] = measure::to_json(results, bundle);
  run.json["taken"] = taken;
  write_file(run_directory / "result.json",
             run.json.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  return patched;
}

}  // namespace swizzleperf
