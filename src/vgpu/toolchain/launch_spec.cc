// As strict as the machine files: what is not known, or cannot be, is an error with file and line,
// since a spec that is silently misread gives a trace of another launch.
//
// The reader keeps expressions as texts. They may need values that come later in the file, or that
// only Triton's compiler knows (the constexprs of an autotuned configuration).
#include "vgpu/toolchain/launch_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "base/files.h"
#include "base/nearest.h"
#include "swizzleperf/error.h"
#include "vgpu/launcher/element.h"
#include "vgpu/run.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Keys = std::vector<std::string>;

std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

class Reader {
 public:
  explicit Reader(LaunchSpec& spec) : spec_(spec) {}

  void run() {
    const toml::table table = parse();
    check_keys(table,
               {"kernel", "function", "grid", "block", "shared_bytes", "num_warps", "num_stages",
                "options", "config", "compile_options", "sizes", "constexprs", "arguments"});
    read_kernel(table);
    read_function(table);
    read_launch(table);
    read_sizes(table);
    read_triton(table);
    read_arguments(table);
  }

 private:
  [[noreturn]] void fail(const toml::node& node, const std::string& sentence) const {
    throw spec_.error(line_of(node), sentence);
  }

  [[nodiscard]] toml::table parse() const {
    const std::string text = read_file(spec_.file);
    try {
      return toml::parse(text, spec_.file.string());
    } catch (const toml::parse_error& fault) {
      throw spec_.error(fault.source().begin.line,
                        fmt::format("not valid TOML: {}", fault.description()));
    }
  }

  void check_keys(const toml::table& table, const Keys& known) const {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      throw spec_.error(key.source().begin.line,
                        fmt::format("unknown key '{}'{}; known are: {}", key.str(),
                                    did_you_mean(key.str(), known), fmt::join(known, ", ")));
    }
  }

  [[nodiscard]] const toml::node& need(const toml::table& table, std::string_view key) const {
    const toml::node* const node = table.get(key);
    if (!node) throw spec_.error(line_of(table), fmt::format("the key '{}' is missing", key));
    return *node;
  }

  [[nodiscard]] std::string text(const toml::node& node, std::string_view key) const {
    if (!node.is_string()) fail(node, fmt::format("'{}' must be a text in quotes", key));
    return node.as_string()->get();
  }

  /// A whole number or an expression.
  [[nodiscard]] SpecText expression(const toml::node& node, std::string_view key) const {
    if (node.is_integer()) return {std::to_string(node.as_integer()->get()), line_of(node)};
    if (node.is_string()) return {node.as_string()->get(), line_of(node)};
    fail(node, fmt::format("'{}' must be a whole number or an expression in quotes", key));
  }

  [[nodiscard]] std::vector<SpecText> expressions(const toml::node& node, std::string_view key,
                                                  std::size_t most) const {
    std::vector<SpecText> all;
    if (const toml::array* const array = node.as_array()) {
      for (const toml::node& item : *array) all.push_back(expression(item, key));
    } else {
      all.push_back(expression(node, key));
    }
    if (all.empty() || all.size() > most) {
      fail(node, fmt::format("'{}' must have 1 to {} entries, not {}", key, most, all.size()));
    }
    return all;
  }

  void read_kernel(const toml::table& table) {
    const toml::node& node = need(table, "kernel");
    spec_.kernel = (spec_.file.parent_path() / text(node, "kernel")).lexically_normal();
    const std::string ending = spec_.kernel.extension().string();
    if (ending == ".py") {
      spec_.language = SpecLanguage::kTriton;
    } else if (ending == ".ll" || ending == ".bc") {
      spec_.language = SpecLanguage::kLlvm;
    } else if (ending == ".hip" || ending == ".cpp" || ending == ".cu") {
      spec_.language = SpecLanguage::kHip;
    } else {
      fail(node, fmt::format("'kernel' must be a .py (Triton), .ll or .bc (LLVM IR for amdgcn), or "
                             ".hip file, not '{}'",
                             text(node, "kernel")));
    }
    if (!fs::is_regular_file(spec_.kernel)) {
      fail(node, fmt::format("the kernel's file {} does not exist", spec_.kernel.string()));
    }
  }

  void read_function(const toml::table& table) {
    const toml::node& node = need(table, "function");
    spec_.function = text(node, "function");
    spec_.function_line = line_of(node);
  }

  [[nodiscard]] bool is_triton() const { return spec_.language == SpecLanguage::kTriton; }

  void refuse(const toml::table& table, std::initializer_list<const char*> keys,
              const char* why) const {
    for (const char* key : keys) {
      if (const toml::node* node = table.get(key)) fail(*node, fmt::format("'{}' {}", key, why));
    }
  }

  void read_launch(const toml::table& table) {
    spec_.grid = expressions(need(table, "grid"), "grid", 3);
    if (is_triton()) {
      refuse(table, {"block", "shared_bytes"},
             "is decided by Triton's compiler: give num_warps instead");
      return;
    }
    spec_.block = expressions(need(table, "block"), "block", 3);
    const toml::node* const shared = table.get("shared_bytes");
    spec_.shared_bytes = shared ? expression(*shared, "shared_bytes") : SpecText{"0", 0};
  }

  void read_sizes(const toml::table& table) {
    const toml::table* const sizes = optional_table(table, "sizes");
    if (!sizes) return;
    for (const auto& [key, node] : *sizes) {
      const std::string name(key.str());
      const SpecText text = expression(node, name);
      json value = text.text;
      if (node.is_integer()) value = node.as_integer()->get();
      spec_.sizes.push_back({name, text.line, value});
    }
  }

  void read_triton(const toml::table& table) {
    if (spec_.language != SpecLanguage::kHip) {
      refuse(table, {"compile_options"}, "is for .hip kernels");
    } else if (const toml::node* const options = table.get("compile_options")) {
      const toml::array* const list = options->as_array();
      if (!list) fail(*options, "'compile_options' must be a list of texts");
      for (const toml::node& item : *list)
        spec_.compile_options.push_back(text(item, "compile_options"));
    }
    if (!is_triton()) {
      refuse(table, {"num_warps", "num_stages", "options", "config", "constexprs"},
             "is for Triton kernels");
      return;
    }
    for (const char* key : {"num_warps", "num_stages"}) read_count(table, key);
    read_config(table);
    if (const toml::table* const more = optional_table(table, "options")) {
      for (const auto& [key, node] : *more) spec_.options[std::string(key.str())] = plain(node);
    }
    if (const toml::table* const constexprs = optional_table(table, "constexprs")) {
      for (const auto& [key, node] : *constexprs)
        spec_.constexprs.push_back({std::string(key.str()), line_of(node), constexpr_value(node)});
    }
  }

  void read_count(const toml::table& table, const char* key) {
    const toml::node* const node = table.get(key);
    if (!node) return;
    if (!node->is_integer() || node->as_integer()->get() < 1)
      fail(*node, fmt::format("'{}' must be a whole number from 1", key));
    spec_.options[key] = node->as_integer()->get();
  }

  void read_config(const toml::table& table) {
    const toml::node* const node = table.get("config");
    if (!node) return;
    if (!node->is_integer() || node->as_integer()->get() < 0)
      fail(*node, "'config' must be the number of an autotune configuration, from 0");
    spec_.config = node->as_integer()->get();
  }

  [[nodiscard]] const toml::table* optional_table(const toml::table& table,
                                                  std::string_view key) const {
    const toml::node* const node = table.get(key);
    if (!node) return nullptr;
    if (!node->is_table()) fail(*node, fmt::format("'{}' must be a table", key));
    return node->as_table();
  }

  [[nodiscard]] json plain(const toml::node& node) const {
    if (node.is_boolean()) return node.as_boolean()->get();
    if (node.is_integer()) return node.as_integer()->get();
    if (node.is_floating_point()) return node.as_floating_point()->get();
    if (node.is_string()) return node.as_string()->get();
    fail(node, "a number, a text, true or false is expected here");
  }

  /// A text is an expression; { text = "relu" } and { dtype = "float16" } are what they say.
  [[nodiscard]] json constexpr_value(const toml::node& node) const {
    const toml::table* const table = node.as_table();
    if (!table) return plain(node);
    check_keys(*table, {"text", "dtype"});
    if (table->size() != 1) fail(node, "one of 'text' and 'dtype' is expected here");
    if (const toml::node* const word = table->get("text")) return {{"text", text(*word, "text")}};
    const toml::node& dtype = *table->get("dtype");
    return {{"dtype", std::string(known_type(dtype).triton)}};
  }

  const ElementType& known_type(const toml::node& node) const {
    const std::string name = text(node, "dtype");
    if (const ElementType* const type = find_element_type(name)) return *type;
    const auto views = element_type_names();
    const Keys names(views.begin(), views.end());
    fail(node, fmt::format("unknown dtype '{}'{}; known are: {}", name, did_you_mean(name, names),
                           fmt::join(names, ", ")));
  }

  void read_arguments(const toml::table& table) {
    const toml::node* const node = table.get("arguments");
    if (!node) return;
    const toml::array* const list = node->as_array();
    if (!list) fail(*node, "'arguments' must be a list: write [[arguments]] above each");
    for (const toml::node& item : *list) {
      if (!item.is_table()) fail(item, "an argument must be a table");
      spec_.arguments.push_back(argument(*item.as_table()));
    }
  }

  [[nodiscard]] SpecArgument argument(const toml::table& table) const {
    check_keys(table, {"name", "dtype", "shape", "init", "value", "output"});
    SpecArgument a;
    a.name = text(need(table, "name"), "name");
    a.line = line_of(table);
    for (const SpecArgument& other : spec_.arguments) {
      if (other.name == a.name)
        fail(table,
             fmt::format("argument '{}' is given twice (first on line {})", a.name, other.line));
    }
    if (const toml::node* const dtype = table.get("dtype")) a.dtype = known_type(*dtype).name;
    const bool is_array = table.contains("shape");
    if (is_array == table.contains("value")) {
      fail(table, fmt::format("argument '{}' needs either a shape (an array) or a value", a.name));
    }
    if (is_array) {
      read_array(table, a);
    } else {
      read_value(table, a);
    }
    return a;
  }

  void read_array(const toml::table& table, SpecArgument& a) const {
    a.shape = expressions(*table.get("shape"), "shape", 16);
    if (a.dtype.empty()) fail(table, fmt::format("array '{}' needs a dtype", a.name));
    const toml::node* const init = table.get("init");
    a.fill = init ? fill(*init) : json{{"kind", "constant"}, {"value", 0}};
    if (const toml::node* const output = table.get("output")) {
      if (!output->is_boolean()) fail(*output, "'output' must be true or false");
      a.output = output->as_boolean()->get();
    }
  }

  void read_value(const toml::table& table, SpecArgument& a) const {
    if (const toml::node* const init = table.get("init")) fail(*init, "'init' is for arrays");
    if (const toml::node* const out = table.get("output")) fail(*out, "'output' is for arrays");
    const json value = plain(*table.get("value"));
    a.value = value == "none" ? json() : value;
  }

  // ---- initial contents

  [[nodiscard]] json fill(const toml::node& node) const {
    if (node.is_integer() || node.is_floating_point())
      return {{"kind", "constant"}, {"value", plain(node)}};
    if (node.is_string()) {
      const std::string word = text(node, "init");
      if (word == "zeros") return {{"kind", "constant"}, {"value", 0}};
      if (word == "ones") return {{"kind", "constant"}, {"value", 1}};
      return fill_of_kind(word, {}, node);
    }
    if (!node.is_table()) fail(node, "'init' must be a word, a number or a table");
    const toml::table& table = *node.as_table();
    return fill_of_kind(text(need(table, "kind"), "kind"), table, node);
  }

  struct FillKey {
    const char* key;
    json otherwise;  // null: must be given
  };

  static std::optional<std::vector<FillKey>> keys_of(const std::string& kind) {
    if (kind == "arange") return std::vector<FillKey>{};
    if (kind == "uniform") return std::vector<FillKey>{{"low", 0}, {"high", 1}, {"seed", 1}};
    if (kind == "normal") return std::vector<FillKey>{{"mean", 0}, {"deviation", 1}, {"seed", 1}};
    if (kind == "integers") return std::vector<FillKey>{{"low", 0}, {"high", {}}, {"seed", 1}};
    if (kind == "row_starts") return std::vector<FillKey>{{"total", {}}, {"seed", 1}};
    if (kind == "file") return std::vector<FillKey>{{"path", {}}};
    return std::nullopt;
  }

  [[nodiscard]] json fill_of_kind(const std::string& kind, const toml::table& table,
                                  const toml::node& place) const {
    const auto keys = keys_of(kind);
    if (!keys) {
      fail(place, fmt::format("unknown initial contents '{}'; known are: zeros, ones, arange, "
                              "uniform, normal, integers, row_starts, file",
                              kind));
    }
    Keys known = {"kind"};
    for (const FillKey& k : *keys) known.emplace_back(k.key);
    check_keys(table, known);
    json result = {{"kind", kind}};
    for (const FillKey& k : *keys) {
      const toml::node* const node = table.get(k.key);
      if (!node && k.otherwise.is_null())
        fail(place, fmt::format("initial contents '{}' need '{}'", kind, k.key));
      result[k.key] = node ? plain(*node) : k.otherwise;
    }
    if (kind == "file") take_file(result, place);
    return result;
  }

  void take_file(json& result, const toml::node& place) const {
    const fs::path file = spec_.file.parent_path() / result.at("path").get<std::string>();
    if (!fs::is_regular_file(file))
      fail(place, fmt::format("the file {} does not exist", file.string()));
    result["path"] = fs::absolute(file).string();
  }

  LaunchSpec& spec_;
};

/// A whole number, or else a floating-point one.
json number_of(const std::string& text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_number() || value.is_boolean() ? value : json();
}

void apply_setting(LaunchSpec& spec, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  if (equals == std::string::npos || equals == 0) {
    throw usage_error(
        fmt::format("'{}' behind -- is not NAME=VALUE, which sets a size, value or constexpr of {}",
                    setting, spec.file.string()));
  }
  const json value = number_of(setting.substr(equals + 1));
  if (value.is_null()) {
    throw usage_error(fmt::format("'{}': a number is expected behind the =", setting));
  }
  Keys known;
  for (SpecArgument& a : spec.arguments) {
    if (!a.shape.empty()) continue;
    known.push_back(a.name);
    if (a.name != name) continue;
    a.value = value;
    return;
  }
  for (std::vector<SpecConstant>* const constants : {&spec.sizes, &spec.constexprs}) {
    for (SpecConstant& c : *constants) {
      known.push_back(c.name);
      if (c.name != name) continue;
      c.value = value;
      return;
    }
  }
  throw usage_error(fmt::format("{} has no size, value or constexpr '{}'{}; it has: {}",
                                spec.file.string(), name, did_you_mean(name, known),
                                fmt::join(known, ", ")));
}

}  // namespace

Error LaunchSpec::error(std::uint32_t line, const std::string& sentence) const {
  return input_error(line ? fmt::format("{}:{}: {}", file.string(), line, sentence)
                          : fmt::format("{}: {}", file.string(), sentence));
}

std::int64_t LaunchSpec::number(const SpecText& text, const Names& names) const {
  try {
    return evaluate(text.text, names);
  } catch (const Error& fault) {
    throw error(text.line, fault.what());
  }
}

bool is_launch_spec(const fs::path& program) { return program.extension() == ".toml"; }

LaunchSpec read_launch_spec(const fs::path& file, const std::vector<std::string>& settings) {
  LaunchSpec spec;
  spec.file = file;
  Reader(spec).run();
  for (const std::string& setting : settings) apply_setting(spec, setting);
  return spec;
}

}  // namespace swizzleperf::vgpu
