// See triton.h.
#include "splice/triton.h"

#include "base/files.h"
#include "python/python.h"
#include "splice/diff.h"

namespace swizzleperf::splice {
namespace {

constexpr double kTimeLimitSeconds = 60;  // parsing one file

}  // namespace

SpliceResult splice_triton(const SpliceRequest& request) {
  const std::string original = read_file(request.source);
  const nlohmann::json answer =
      ask_python("splice",
                 {{"source", std::filesystem::absolute(request.source).string()},
                  {"shown", request.source.filename().string()},
                  {"kernel", request.kernel},
                  {"function", request.function},
                  {"helper_code", request.helper_code}},
                 kTimeLimitSeconds);
  std::vector<Edit> edits;
  for (const nlohmann::json& edit : answer.at("edits")) {
    edits.push_back({{edit.at("begin"), edit.at("end")}, edit.at("text")});
  }
  sort_edits(edits);
  SpliceResult result;
  result.patched = apply_edits(original, edits);
  result.patch = unified_diff(original, edits, path_in_patch(request.source, request.root));
  result.changed = answer.at("changed");
  for (const nlohmann::json& remap : answer.at("remaps")) {
    result.existing_remaps.push_back({remap.at("where"), remap.at("what")});
  }
  result.notes = answer.at("notes");
  return result;
}

}  // namespace swizzleperf::splice
