// A source is text that people may read and edit, so what is new is appended and nothing is ever
// written anew: new orders and launches behind launches.toml, rows behind the table. The table is
// written first. Killed between the two, its last rows name a launch that is not there yet; adding
// the bundle again puts that right, and repeated rows do no harm.
#include "validate/add.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "base/files.h"
#include "base/random.h"
#include "measure/project.h"
#include "swizzleperf/error.h"
#include "swizzleperf/machine.h"
#include "swizzleperf/swizzles.h"

namespace swizzleperf::validate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable = "data/measured.csv";
constexpr const char* kColumns = "launch,swizzle,l2_hit_rate,dram_read_bytes,time_ms\n";

std::string toml_text(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

std::string toml_text(const std::vector<std::string>& texts) {
  std::string result = "[";
  for (const std::string& text : texts) {
    result += (result.size() > 1 ? ", " : "") + toml_text(text);
  }
  return result + "]";
}

// --- What is there ------------------------------------------------------------------------------

/// The text that is there and what is to be appended.
struct Growing {
  toml::table table;
  std::string text;

  [[nodiscard]] const toml::array& list(const char* key) const {
    static const toml::array kNone;
    const toml::array* found = table[key].as_array();
    return found ? *found : kNone;
  }
  void append(const std::string& section) {
    text += section;
    table = toml::parse(text);
  }
};

std::string beginning(const measure::Bundle& bundle) {
  return fmt::format(
      "# Written by 'swizzleperf validate --add', which only ever appends.\n"
      "title        = {}\n"
      "machine      = {}\n"
      "language     = {}\n"
      "moved_points = 2\n"
      "time_spread  = 0.05\n"
      "least_dram_bytes = 1_000_000\n\n"
      "[[measured]]\n"
      "file            = \"{}\"\n"
      "repeated        = \"median\"\n"
      "l2_hit_rate     = {{ column = \"l2_hit_rate\" }}\n"
      "dram_read_bytes = {{ column = \"dram_read_bytes\" }}\n"
      "time_ms         = {{ column = \"time_ms\" }}\n",
      toml_text(bundle.machine + ", measured by swizzleperf"), toml_text(bundle.machine),
      toml_text(std::string(measure::language_name(bundle.project.language))), kTable);
}

Growing open_source(const fs::path& file, const measure::Bundle& bundle) {
  Growing source;
  source.text = fs::exists(file) ? read_file(file) : beginning(bundle);
  bool ours = false;
  try {
    source.table = toml::parse(source.text);
    ours = source.table["measured"][0]["file"].value_or(std::string()) == kTable &&
           source.table["machine"].value_or(std::string()) == bundle.machine &&
           source.table["language"].value_or(std::string()) ==
               measure::language_name(bundle.project.language);
  } catch (const toml::parse_error&) {
    ours = false;
  }
  if (!ours) {
    throw input_error(fmt::format(
        "{}: not written by 'validate --add' for {} programs on {}; give another folder with --to",
        file.string(), measure::language_name(bundle.project.language), bundle.machine));
  }
  return source;
}

// --- Orders -------------------------------------------------------------------------------------

/// What --swizzle takes for a candidate: its name, if that says it all, else its formula.
std::string swizzle_of(const measure::Candidate& c) {
  try {
    return make_swizzle(c.spec).formula.text() == c.formula ? c.spec : c.formula;
  } catch (const Error&) {  // a name that a proposer's attempt got
    return c.formula;
  }
}

/// The name of an order in the tables; a new one gets its place.
std::string order_name(Growing& source, const std::string& wanted, const std::string& swizzle) {
  std::string name = wanted;
  for (int i = 2;; ++i) {
    const toml::table* taken = nullptr;
    for (const toml::node& node : source.list("orders")) {
      if ((*node.as_table())["name"].value_or(std::string()) == name) taken = node.as_table();
    }
    if (taken == nullptr) break;
    if ((*taken)["swizzle"].value_or(name) == swizzle) return name;
    name = fmt::format("{} ({})", wanted, i);
  }
  source.append(fmt::format("\n[[orders]]\nname    = {}\nswizzle = {}\n", toml_text(name),
                            toml_text(swizzle)));
  return name;
}

// --- The launch ---------------------------------------------------------------------------------

/// Equal for equal projects.
std::uint64_t project_hash(const fs::path& project) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(project)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::uint64_t hash = files.size();
  for (const fs::path& file : files) {
    for (const char c : file.lexically_relative(project).string() + '\n' + read_file(file)) {
      hash = mix64(hash ^ static_cast<unsigned char>(c));
    }
  }
  return hash;
}

/// "void ns::scale<4>(float*)" is scale.
std::string bare_name(const std::string& kernel) {
  static const std::regex kName(R"((\w+)(<.*>)?\()");
  std::smatch found;
  return std::regex_search(kernel, found, kName) ? found[1].str() : kernel;
}

/// The whole name means one kernel; but it is read as a regular expression first.
std::string kernel_regex(const std::string& kernel) {
  try {
    (void)std::regex(kernel);
    return kernel;
  } catch (const std::regex_error&) {
    return bare_name(kernel);
  }
}

/// Options of the bundle's project as they are said from anywhere.
std::vector<std::string> placed_options(std::vector<std::string> options, const fs::path& project) {
  bool is_path = false;
  for (std::string& option : options) {
    if (is_path && fs::exists(project / option)) option = (project / option).string();
    is_path = option == "-I" || option == "-isystem" || option == "-iquote" || option == "-include";
    if (!is_path && option.starts_with("-I")) option = "-I" + (project / option.substr(2)).string();
  }
  return options;
}

std::string launch_section(const measure::Bundle& bundle, const fs::path& folder,
                           const fs::path& project) {
  const measure::Project& p = bundle.project;
  const std::string kernel = bare_name(bundle.target.kernel);
  return fmt::format(
      "kernel          = {}\nprogram         = {}\narguments       = {}\n"
      "compile_options = {}\nkernels         = {}\nuse             = \"judge\"\n",
      toml_text(kernel), toml_text((project / p.source).string()), toml_text(p.arguments),
      toml_text(placed_options(p.compile_options, fs::absolute(folder / project))),
      toml_text(std::vector<std::string>{kernel_regex(bundle.target.kernel)}));
}

/// The launch's name in the tables; a new one gets its place.
std::string launch_name(Growing& source, const std::string& wanted, const std::string& section) {
  const toml::table sought = toml::parse(section);
  std::string name = wanted;
  for (int i = 2;; ++i) {
    const toml::table* taken = nullptr;
    for (const toml::node& node : source.list("launches")) {
      if ((*node.as_table())["name"].value_or(std::string()) == name) taken = node.as_table();
    }
    if (taken == nullptr) break;
    if (std::all_of(sought.begin(), sought.end(), [&](const auto& entry) {
          const toml::node* there = taken->get(entry.first.str());
          std::ostringstream a;
          std::ostringstream b;
          a << toml::node_view(entry.second);
          if (there != nullptr) b << toml::node_view(*there);
          return a.str() == b.str();
        })) {
      return name;
    }
    name = fmt::format("{} ({})", wanted, i);
  }
  source.append(fmt::format("\n[[launches]]\nname            = {}\n{}", toml_text(name), section));
  return name;
}

// --- The table ----------------------------------------------------------------------------------

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  return '"' + std::regex_replace(text, std::regex("\""), "\"\"") + '"';
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string row(const std::string& launch, const std::string& order, const measure::Measured& m) {
  const auto& c = m.profile.counters;
  return fmt::format("{},{},{},{},{}\n", field(launch), field(order),
                     number(c ? c->l2_hit_rate : std::nullopt),
                     number(c ? c->dram_read_bytes : std::nullopt),
                     number(m.milliseconds ? std::optional(m.milliseconds->value) : std::nullopt));
}

bool has_numbers(const measure::Measured& m) {
  return m.milliseconds || (m.profile.counters && (m.profile.counters->l2_hit_rate ||
                                                   m.profile.counters->dram_read_bytes));
}

void check_can_be_traced(const measure::Bundle& bundle) {
  const auto refuse = [&](const std::string& why) {
    throw input_error(fmt::format("{}: validate {}", bundle.directory.string(), why));
  };
  if (!bundle.project.build.empty()) {
    refuse(fmt::format("traces a program from its one source, and this is built by '{}'",
                       bundle.project.build));
  }
  if (bundle.target.index > 0) {
    refuse(
        fmt::format("traces a kernel's first launch, and this is launch {}", bundle.target.index));
  }
  (void)load_machine(bundle.machine);
}

}  // namespace

fs::path user_validation_directory() {
  if (const char* chosen = std::getenv("SWIZZLEPERF_VALIDATION"); chosen && *chosen) return chosen;
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) {
    return fs::path(data) / "swizzleperf" / "validation";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home && *home ? home : "/") / ".local/share/swizzleperf/validation";
}

measure::Bundle bundle_in(const fs::path& folder) {
  for (const fs::path& place : {folder, folder / "bundle"}) {
    if (measure::is_bundle(place)) return measure::read_bundle(place);
  }
  return measure::read_bundle(folder);  // which says what is missing
}

Added add_bundle(const measure::Bundle& bundle, const measure::Results& results,
                 const fs::path& directory) {
  check_can_be_traced(bundle);
  Added added;
  added.folder = directory / (bundle.machine + "-measured");
  const fs::path file = added.folder / "launches.toml";
  Growing source = open_source(file, bundle);

  const fs::path copy = bundle.directory / measure::kProjectFolder;
  const fs::path project = fs::path("projects") / fmt::format("{:016x}", project_hash(copy));
  std::string wanted = bare_name(bundle.target.kernel);
  for (const std::string& argument : bundle.project.arguments) wanted += " " + argument;
  const std::string launch =
      launch_name(source, wanted, launch_section(bundle, added.folder, project));

  std::string rows;
  const auto add = [&](const measure::Measured& m, const std::string& name,
                       const std::string& swizzle) {
    if (!has_numbers(m)) return;
    rows += row(launch, order_name(source, name, swizzle), m);
    ++added.points;
  };
  add(results.original, "identity", "identity");
  for (const measure::Measured& m : results.candidates) {
    const auto number = static_cast<std::size_t>(m.number);
    if (m.number < 1 || number > bundle.candidates.size()) {
      throw input_error(fmt::format("{}: its results are of a candidate {} that it does not have",
                                    bundle.directory.string(), m.number));
    }
    const measure::Candidate& c = bundle.candidates[number - 1];
    if (m.status != measure::Status::kMeasured) {
      added.notes.push_back(fmt::format("{} is left out: {}", c.spec, m.reason));
    } else if (c.formula.empty()) {
      added.notes.push_back(
          fmt::format("{} is left out: a rewritten kernel has no formula", c.spec));
    } else {
      add(m, c.spec, swizzle_of(c));
    }
  }
  if (added.points == 0) {
    throw input_error(
        fmt::format("{}: nothing was measured that could be added", bundle.directory.string()));
  }
  make_directories(added.folder / "data");
  if (!fs::exists(added.folder / project)) measure::copy_project(copy, added.folder / project);
  const fs::path table = added.folder / kTable;
  write_file(table, (fs::exists(table) ? read_file(table) : kColumns) + rows);
  write_file(file, source.text);
  return added;
}

}  // namespace swizzleperf::validate
