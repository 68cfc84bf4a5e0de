// The order is: command line, SWIZZLEPERF_NAME in the environment, file, default. CLI11 can read
// both sources but lets the file win over the environment and ignores keys it does not know, so
// this is done here, on top of its options.
//
// A file gives common options at its top and a verb's own in a table of its name:
//     machine = "mi355x"
//     [verify]
//     grid = "64x48"
#include "cli/settings.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/nearest.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

const char* const kDefaultFile = "swizzleperf.toml";

struct Setting {
  std::vector<std::string> values;
  std::string origin;  ///< for the sentence when the option refuses them
};

bool is_common(const CLI::Option& option) { return option.get_group() == kCommonGroup; }

/// The long name; empty for --help and for what has none.
std::string name_of(const CLI::Option& option) {
  const auto& names = option.get_lnames();
  return names.empty() || names[0] == "help" || names[0] == "config" ? "" : names[0];
}

std::vector<std::string> option_names(const CLI::App& app, bool only_common) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (const std::string name = name_of(*option);
        !name.empty() && (!only_common || is_common(*option)))
      names.push_back(name);
  return names;
}

std::optional<Setting> from_environment(const std::string& name) {
  std::string variable = "SWIZZLEPERF_" + name;
  for (char& c : variable)
    c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const char* value = std::getenv(variable.c_str());
  if (!value || !*value) return std::nullopt;
  return Setting{{value}, variable};
}

// --- The file -----------------------------------------------------------------------------------

struct File {
  std::string name;
  toml::table table;

  [[nodiscard]] std::string at(const toml::node& node) const {
    return fmt::format("{}:{}", name, node.source().begin.line);
  }
};

File read_settings(const std::string& name) {
  const std::string text = read_file(name);
  try {
    return {name, toml::parse(text, name)};
  } catch (const toml::parse_error& fault) {
    throw input_error(fmt::format("{}:{}: not valid TOML: {}", name, fault.source().begin.line,
                                  fault.description()));
  }
}

void check_keys(const File& file, const toml::table& table, const std::vector<std::string>& known,
                const std::string& prefix) {
  for (const auto& [key, node] : table)
    if (std::find(known.begin(), known.end(), key.str()) == known.end())
      throw input_error(fmt::format("{}: unknown key '{}{}'{}", file.at(node), prefix, key.str(),
                                    did_you_mean(key.str(), known)));
}

/// Every table must be a verb and every key an option, also those of verbs that are not running.
void check_file(const File& file, const CLI::App& application) {
  std::vector<std::string> top;
  for (const CLI::App* verb : application.get_subcommands({})) {
    const std::vector<std::string> common = option_names(*verb, true);
    top.insert(top.end(), common.begin(), common.end());
    top.push_back(verb->get_name());
    const toml::node* node = file.table.get(verb->get_name());
    if (!node) continue;
    if (!node->is_table())
      throw input_error(fmt::format("{}: '{}' must be a table of options of that verb",
                                    file.at(*node), verb->get_name()));
    check_keys(file, *node->as_table(), option_names(*verb, false), verb->get_name() + ".");
  }
  check_keys(file, file.table, top, "");
}

std::string text_of(const File& file, const toml::node& node) {
  if (node.is_string()) return node.as_string()->get();
  if (node.is_integer()) return fmt::format("{}", node.as_integer()->get());
  if (node.is_floating_point()) return fmt::format("{}", node.as_floating_point()->get());
  if (node.is_boolean()) return node.as_boolean()->get() ? "true" : "false";
  throw input_error(fmt::format("{}: expected a text, a number, true or false", file.at(node)));
}

std::optional<Setting> from_table(const File& file, const toml::table* table,
                                  const std::string& name) {
  const toml::node* node = table ? table->get(name) : nullptr;
  if (!node) return std::nullopt;
  Setting setting{{}, file.at(*node)};
  if (const toml::array* values = node->as_array()) {
    for (const toml::node& value : *values) setting.values.push_back(text_of(file, value));
  } else {
    setting.values.push_back(text_of(file, *node));
  }
  return setting;
}

std::optional<File> chosen_file(const CLI::App& verb) {
  const CLI::Option* option = verb.get_option("--config");
  if (option->count() > 0) return read_settings(option->as<std::string>());
  if (const auto setting = from_environment("config")) return read_settings(setting->values[0]);
  if (std::filesystem::exists(kDefaultFile)) return read_settings(kDefaultFile);
  return std::nullopt;
}

void set(CLI::Option& option, const Setting& setting) {
  try {
    for (const std::string& value : setting.values) option.add_result(value);
    option.run_callback();
  } catch (const CLI::ParseError& fault) {
    throw usage_error(fmt::format("{}: {}", setting.origin, fault.what()));
  }
}

}  // namespace

void apply_settings(const CLI::App& application, CLI::App& verb) {
  const std::optional<File> file = chosen_file(verb);
  if (file) check_file(*file, application);
  for (CLI::Option* option : verb.get_options()) {
    const std::string name = name_of(*option);
    if (name.empty() || option->count() > 0) continue;
    std::optional<Setting> setting;
    if (is_common(*option)) setting = from_environment(name);
    if (!setting && file)
      setting = from_table(*file, file->table.get_as<toml::table>(verb.get_name()), name);
    if (!setting && file && is_common(*option)) setting = from_table(*file, &file->table, name);
    if (setting) set(*option, *setting);
  }
}

}  // namespace swizzleperf
