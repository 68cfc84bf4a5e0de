// A bundle comes from another machine and from other hands: it was unpacked, copied, perhaps
// edited. So everything in bundle.json is checked before anything of it is used, a key by its name,
// and no path is believed to stay in the folder before it was followed to its end. Keys that are
// not known are left alone: a version that adds some does not raise schema_version.
#include "measure/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/files.h"
#include "report/metrics.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFile = "bundle.json";

/// An object of the file, read key by key; `name` is how it is called in sentences ("target.").
class Object {
 public:
  Object(const fs::path& file, const json& value, std::string name)
      : file_(file), value_(value), name_(std::move(name)) {
    if (!value.is_object()) throw error(name_.substr(0, name_.size() - 1), "must be an object");
  }

  [[nodiscard]] Error error(const std::string& key, const std::string& what) const {
    return input_error(fmt::format("{}: '{}' {}", file_.string(), key, what));
  }
  [[nodiscard]] Error error_of(const char* key, const std::string& what) const {
    return error(name_ + key, what);
  }

  [[nodiscard]] const json& value(const char* key) const {
    const auto found = value_.find(key);
    if (found == value_.end()) throw error_of(key, "is missing");
    return *found;
  }
  [[nodiscard]] Object object(const char* key) const {
    return {file_, value(key), name_ + key + "."};
  }
  [[nodiscard]] const json& list(const char* key) const {
    const json& list = value(key);
    if (!list.is_array()) throw error_of(key, "must be a list");
    return list;
  }

  [[nodiscard]] std::string text(const char* key) const { return text_in(value(key), key); }
  /// Null is the empty text.
  [[nodiscard]] std::string maybe_text(const char* key) const {
    return value(key).is_null() ? "" : text(key);
  }
  [[nodiscard]] std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> result;
    for (const json& entry : list(key)) result.push_back(text_in(entry, key));
    return result;
  }

  [[nodiscard]] std::int64_t number(const char* key, std::int64_t least, std::int64_t most) const {
    return number_in(value(key), key, least, most);
  }
  [[nodiscard]] Dim3 extent(const char* key) const {
    const json& list = this->list(key);
    if (list.size() != 3) throw error_of(key, "must have three numbers");
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const auto at = [&](std::size_t i) {
      return static_cast<std::uint32_t>(number_in(list[i], key, 1, kMost));
    };
    return {at(0), at(1), at(2)};
  }
  [[nodiscard]] bool flag(const char* key) const {
    if (!value(key).is_boolean()) throw error_of(key, "must be true or false");
    return value(key).get<bool>();
  }
  /// Metrics of a replay, or null.
  [[nodiscard]] json metrics(const char* key) const {
    const json& m = value(key);
    if (!m.is_null() && !m.is_object()) throw error_of(key, "must be an object or null");
    return m;
  }

 private:
  [[nodiscard]] std::string text_in(const json& entry, const char* key) const {
    if (!entry.is_string()) throw error_of(key, "must be text");
    std::string text = entry;
    if (text.find('\0') != text.npos) throw error_of(key, "must not have a zero byte");
    return text;
  }
  [[nodiscard]] std::int64_t number_in(const json& entry, const char* key, std::int64_t least,
                                       std::int64_t most) const {
    const bool whole = entry.is_number_integer() &&
                       (!entry.is_number_unsigned() ||
                        entry.get<std::uint64_t>() <= static_cast<std::uint64_t>(most));
    if (!whole || entry.get<std::int64_t>() < least || entry.get<std::int64_t>() > most) {
      throw error_of(key, fmt::format("must be a whole number from {} to {}", least, most));
    }
    return entry;
  }

  const fs::path& file_;
  const json& value_;
  std::string name_;
};

/// Whether a path names something below the folder that it is relative to, as it is written.
bool stays_below(const fs::path& path) {
  const fs::path plain = path.lexically_normal();
  return !plain.empty() && plain.is_relative() && *plain.begin() != ".." && plain != ".";
}

/// A path in the bundle, relative to one of its folders, that stays there as it is written.
fs::path inner_path(const Object& object, const char* key, const std::string& text) {
  if (!stays_below(text)) {
    throw object.error_of(key, fmt::format("names '{}', which leaves the bundle's folder", text));
  }
  return fs::path(text).lexically_normal();
}

/// A file that must be there, and really below `folder` once links were followed.
void check_file(const Object& object, const char* key, const fs::path& folder,
                const fs::path& path) {
  std::error_code fault;
  if (!fs::is_regular_file(folder / path, fault)) {
    throw object.error_of(
        key, fmt::format("names '{}', but {} is no file", path.string(), (folder / path).string()));
  }
  const fs::path end = fs::canonical(folder / path).lexically_relative(fs::canonical(folder));
  if (!stays_below(end)) {
    throw object.error_of(
        key, fmt::format("names '{}', a link that leaves the bundle's folder", path.string()));
  }
}

Language language_in(const Object& project) {
  const std::string name = project.text("language");
  if (name == "hip") return Language::kHip;
  if (name == "cuda") return Language::kCuda;
  throw project.error_of("language", fmt::format("is 'hip' or 'cuda', not '{}'", name));
}

Project project_in(const Object& object, const fs::path& directory) {
  Project p;
  p.language = language_in(object);
  p.source = inner_path(object, "source", object.text("source"));
  check_file(object, "source", directory / kProjectFolder, p.source);
  p.program = inner_path(object, "program", object.text("program"));
  p.build = object.maybe_text("build");
  p.compile_options = object.texts("compile_options");
  p.arguments = object.texts("arguments");
  p.test = object.maybe_text("test");
  return p;
}

Target target_in(const Object& object) {
  Target t;
  t.symbol = object.text("symbol");
  t.kernel = object.text("kernel");
  t.index = object.number("index", 0, std::int64_t{1} << 31);
  t.grid = object.extent("grid");
  t.block = object.extent("block");
  return t;
}

bool is_hash(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Candidate candidate_in(const Object& object, const fs::path& directory, int number) {
  Candidate c;
  c.number = static_cast<int>(object.number("number", 1, std::numeric_limits<int>::max()));
  if (c.number != number) {
    throw object.error_of("number", fmt::format("is {} where {} is due", c.number, number));
  }
  c.spec = object.text("spec");
  c.formula = object.maybe_text("formula");
  c.permutation = object.text("permutation");
  if (!is_hash(c.permutation)) {
    throw object.error_of("permutation", "must have 16 hexadecimal digits in lower case");
  }
  c.predicted = object.metrics("predicted");
  for (const std::string& file : object.texts("files")) {
    c.files.push_back(inner_path(object, "files", file));
    check_file(object, "files", candidate_folder(directory, number), c.files.back());
  }
  if (c.files.empty()) throw object.error_of("files", "names no file, so nothing would differ");
  c.from_model_text = object.flag("from_model_text");
  return c;
}

void check_version(const Object& top) {
  const std::int64_t version =
      top.number("schema_version", 1, std::numeric_limits<std::int64_t>::max());
  if (version > kSchemaVersion) {
    throw top.error("schema_version",
                    fmt::format("is {}, and this swizzleperf knows {} at most: use the one that "
                                "wrote the bundle, or a later one",
                                version, kSchemaVersion));
  }
}

json or_null(const std::string& text) { return text.empty() ? json() : json(text); }

json texts(const std::vector<fs::path>& paths) {
  json result = json::array();
  for (const fs::path& path : paths) result.push_back(path.string());
  return result;
}

json extent_json(const Dim3& extent) { return {extent.x, extent.y, extent.z}; }

json to_json(const Candidate& c) {
  return {{"number", c.number},
          {"spec", c.spec},
          {"formula", or_null(c.formula)},
          {"permutation", c.permutation},
          {"predicted", c.predicted},
          {"files", texts(c.files)},
          {"from_model_text", c.from_model_text}};
}

json to_json(const Bundle& b) {
  json candidates = json::array();
  for (const Candidate& c : b.candidates) candidates.push_back(to_json(c));
  const Project& p = b.project;
  const Target& t = b.target;
  return {{"schema_version", kSchemaVersion},
          {"machine", b.machine},
          {"project",
           {{"language", language_name(p.language)},
            {"source", p.source.string()},
            {"program", p.program.string()},
            {"build", or_null(p.build)},
            {"compile_options", p.compile_options},
            {"arguments", p.arguments},
            {"test", or_null(p.test)}}},
          {"target",
           {{"symbol", t.symbol},
            {"kernel", t.kernel},
            {"index", t.index},
            {"grid", extent_json(t.grid)},
            {"block", extent_json(t.block)}}},
          {"predicted", b.predicted},
          {"candidates", candidates}};
}

}  // namespace

std::string_view language_name(Language language) {
  return language == Language::kCuda ? "cuda" : "hip";
}

bool is_foreign(const Bundle& bundle, int number) {
  return number > 0 && bundle.candidates.at(static_cast<std::size_t>(number) - 1).from_model_text;
}

fs::path candidate_folder(const fs::path& bundle, int number) {
  return bundle / "candidates" / std::to_string(number);
}

bool is_bundle(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_regular_file(directory / kFile, ignored) &&
         fs::is_directory(directory / kProjectFolder, ignored);
}

Bundle read_bundle(const fs::path& directory) {
  const fs::path file = directory / kFile;
  if (!fs::exists(file)) {
    throw input_error(
        fmt::format("{}: no bundle, since it has no {}; 'swizzleperf optimize --bundle' writes one",
                    directory.string(), kFile));
  }
  json document;
  try {
    document = json::parse(read_file(file));
  } catch (const json::exception&) {
    throw input_error(fmt::format("{}: not valid JSON; copy the bundle anew", file.string()));
  }
  const Object top(file, document, "");
  check_version(top);
  Bundle b;
  b.directory = directory;
  b.machine = top.text("machine");
  b.project = project_in(top.object("project"), directory);
  b.target = target_in(top.object("target"));
  b.predicted = top.metrics("predicted");
  const json& candidates = top.list("candidates");
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Object object(file, candidates[i], fmt::format("candidates[{}].", i));
    b.candidates.push_back(candidate_in(object, directory, static_cast<int>(i) + 1));
  }
  return b;
}

void write_bundle(const Bundle& bundle) {
  write_file(bundle.directory / kFile,
             to_json(bundle).dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace swizzleperf::measure
