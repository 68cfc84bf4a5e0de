// Machine files: TOML in which every number says where it comes from.
//
//     title = "AMD Instinct MI300X"
//     [sources]
//     cdna3 = "AMD CDNA 3 white paper"
//     [l2]
//     bytes = { value = 4194304, kind = "documented", source = "cdna3", note = "of one die" }
//
// A source that names an entry of [sources] stands for its text. The name of a machine is the name
// of its file. [modes.cpx] holds what differs in a partition mode, in the same form; a file that
// says base = "mi300x" holds what differs from that machine. Both are one operation here: apply a
// table to a model that may have values already, then check the whole.
//
// A model is only as good as its numbers, so the loader is strict: what it does not know, or what
// cannot be, is an error with file, line and key.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/files.h"
#include "base/nearest.h"
#include "machine/fields.h"
#include "swizzleperf/error.h"
#include "swizzleperf/machine.h"

namespace swizzleperf {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"documented", "measured", "memory",
                                                    "calibrated"};
constexpr std::uint32_t kSector = 32;
constexpr std::size_t kMaxBases = 4;  // a chain longer than this is a circle

using Lines = std::map<std::string, std::uint32_t>;

/// One file being read; every error it makes names file, line and key.
class Reader {
 public:
  explicit Reader(const fs::path& file) : file_(file.string()) {}

  [[nodiscard]] Error error(std::uint32_t line, const std::string& sentence) const {
    return input_error(line ? fmt::format("{}:{}: {}", file_, line, sentence)
                            : fmt::format("{}: {}", file_, sentence));
  }

  [[nodiscard]] toml::table parse() const {
    const std::string text = read_file(file_);
    try {
      return toml::parse(text, file_);
    } catch (const toml::parse_error& fault) {
      throw error(fault.source().begin.line,
                  fmt::format("not valid TOML: {}", fault.description()));
    }
  }

  /// Applies what the table gives; `extra` are the keys allowed beside the model's own.
  void apply(const toml::table& table, const toml::table& sources,
             const std::vector<std::string>& extra, Machine& machine) {
    check_keys(table, machine_fields(), "", extra);
    read_text(table, "title", machine.title);
    read_text(table, "vendor", machine.vendor);
    read_text(table, "arch", machine.arch);
    read_text(table, "die_word", machine.die_word);
    apply_fields(table, machine_fields(), "", sources, machine, machine);
    apply_cache(table, "l1", sources, machine, [&]() -> CacheModel& { return machine.l1; });
    apply_cache(table, "l2", sources, machine, [&]() -> CacheModel& { return machine.l2; });
    apply_cache(table, "llc", sources, machine, [&]() -> CacheModel& {
      if (!machine.llc) machine.llc.emplace();
      return *machine.llc;
    });
  }

  /// What no single number shows: gaps, and numbers that contradict each other.
  void check(const Machine& machine) const {
    check_complete(machine);
    if (machine.vendor != "amd" && machine.vendor != "nvidia")
      throw error(0, fmt::format("vendor is '{}'; it must be 'amd' or 'nvidia'", machine.vendor));
    check_power_of_two("wave", machine.wave);
    check_cache("l1", machine.l1);
    check_cache("l2", machine.l2);
    check_piece("l2.read_request_bytes", machine.l2.read_request_bytes);
    check_piece("l2.write_request_bytes", machine.l2.write_request_bytes);
    check_piece("l2.fill_bytes", machine.l2.fill_bytes);
    if (machine.llc) check_cache("llc", *machine.llc);
    if (machine.lines_have_home != 0) check_homes(machine);
  }

 private:
  template <typename Owner>
  void check_keys(const toml::table& table, std::span<const Field<Owner>> fields,
                  const std::string& prefix, const std::vector<std::string>& extra) const {
    std::vector<std::string> known = extra;
    for (const auto& field : fields) known.emplace_back(field.key);
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      throw error(node.source().begin.line, fmt::format("unknown key '{}{}'{}", prefix, key.str(),
                                                        did_you_mean(key.str(), known)));
    }
  }

  void read_text(const toml::table& table, std::string_view key, std::string& text) const {
    const toml::node* node = table.get(key);
    if (!node) return;
    if (!node->is_string())
      throw error(node->source().begin.line, fmt::format("'{}' must be a text in quotes", key));
    text = node->as_string()->get();
  }

  template <typename CacheOf>
  void apply_cache(const toml::table& table, const std::string& name, const toml::table& sources,
                   Machine& machine, const CacheOf& cache_of) {
    const toml::node* node = table.get(name);
    if (!node) return;
    if (!node->is_table())
      throw error(node->source().begin.line, fmt::format("'{}' must be a table", name));
    std::vector<std::string> extra;
    if (name == "l2") {
      for (const auto& field : l2_fields()) extra.emplace_back(field.key);
    }
    check_keys(*node->as_table(), cache_fields(), name + ".", extra);
    apply_fields(*node->as_table(), cache_fields(), name + ".", sources, cache_of(), machine);
    if (name == "l2") {
      apply_fields(*node->as_table(), l2_fields(), name + ".", sources, cache_of(), machine);
    }
  }

  template <typename Owner>
  void apply_fields(const toml::table& table, std::span<const Field<Owner>> fields,
                    const std::string& prefix, const toml::table& sources, Owner& owner,
                    Machine& machine) {
    for (const Field<Owner>& field : fields) {
      const toml::node* node = table.get(field.key);
      if (!node) continue;
      const std::string key = prefix + std::string(field.key);
      lines_[key] = node->source().begin.line;
      const toml::table& fact = fact_of(*node, key);
      std::visit([&](auto member) { owner.*member = value_of(fact, key, field, owner.*member); },
                 field.member);
      record(fact, key, sources, machine);
    }
  }

  /// The inline table that holds a number and its provenance.
  [[nodiscard]] const toml::table& fact_of(const toml::node& node, const std::string& key) const {
    if (!node.is_table())
      throw error(
          node.source().begin.line,
          fmt::format("'{}' must be {{ value = ..., kind = \"...\", source = \"...\" }} with a "
                      "kind of {}: a number without its source is not accepted",
                      key, fmt::join(kKinds, ", ")));
    const toml::table& fact = *node.as_table();
    const std::vector<std::string> known = {"value", "kind", "source", "note"};
    for (const auto& [name, part] : fact)
      if (std::find(known.begin(), known.end(), name.str()) == known.end())
        throw error(part.source().begin.line, fmt::format("unknown key '{}.{}'{}", key, name.str(),
                                                          did_you_mean(name.str(), known)));
    return fact;
  }

  template <typename Owner, typename Value>
  Value value_of(const toml::table& fact, const std::string& key, const Field<Owner>& field,
                 const Value& /*type*/) const {
    const toml::node* node = fact.get("value");
    if (!node) throw error(lines_.at(key), fmt::format("'{}' has no value", key));
    if constexpr (std::is_same_v<Value, Dispatch>) {
      return static_cast<Dispatch>(word_of(*node, key, dispatch_words()));
    } else if constexpr (std::is_same_v<Value, SetIndex>) {
      return static_cast<SetIndex>(word_of(*node, key, set_index_words()));
    } else {
      return number_of<Value>(*node, key, field.most, field.zero_allowed);
    }
  }

  [[nodiscard]] std::size_t word_of(const toml::node& node, const std::string& key,
                                    std::span<const std::string_view> words) const {
    const std::string word = node.value_or(std::string());
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end())
      throw error(node.source().begin.line,
                  fmt::format("'{}' must be one of {}", key, fmt::join(words, ", ")));
    return static_cast<std::size_t>(found - words.begin());
  }

  template <typename Number>
  Number number_of(const toml::node& node, const std::string& key, double most,
                   bool zero_allowed) const {
    const std::uint32_t line = node.source().begin.line;
    constexpr bool kWhole = std::is_integral_v<Number>;
    if (kWhole ? !node.is_integer() : !node.is_number())
      throw error(line, fmt::format("'{}' must be a {}", key, kWhole ? "whole number" : "number"));
    // value_or() gives up on integers that no double holds exactly.
    const double value =
        node.is_integer() ? static_cast<double>(node.as_integer()->get()) : node.value_or(0.0);
    if (!std::isfinite(value) || value < 0 || (value == 0 && !zero_allowed) || value > most)
      throw error(line, fmt::format("'{}' is {}; it must be {}", key, value,
                                    value > 0      ? fmt::format("at most {:.0f}", most)
                                    : zero_allowed ? "0 or more"
                                                   : "more than 0"));
    if constexpr (kWhole) return static_cast<Number>(node.as_integer()->get());
    return static_cast<Number>(value);
  }

  void record(const toml::table& fact, const std::string& key, const toml::table& sources,
              Machine& machine) const {
    Provenance entry{key, text_of(*fact.get("value")), fact["kind"].value_or(std::string()),
                     fact["source"].value_or(std::string()), fact["note"].value_or(std::string())};
    if (std::find(kKinds.begin(), kKinds.end(), entry.kind) == kKinds.end())
      throw error(lines_.at(key),
                  fmt::format("the kind of '{}' must be one of {}", key, fmt::join(kKinds, ", ")));
    if (entry.source.empty()) throw error(lines_.at(key), fmt::format("'{}' has no source", key));
    if (sources.contains(entry.source)) entry.source = sources[entry.source].value_or(entry.source);

    auto& all = machine.provenance;
    const auto old =
        std::find_if(all.begin(), all.end(), [&](const Provenance& p) { return p.key == key; });
    if (old != all.end()) {
      *old = std::move(entry);
    } else {
      all.push_back(std::move(entry));
    }
  }

  static std::string text_of(const toml::node& node) {
    if (node.is_string()) return node.as_string()->get();
    if (node.is_integer()) return fmt::format("{}", node.as_integer()->get());
    return fmt::format("{}", node.value_or(0.0));
  }

  void check_complete(const Machine& machine) const {
    for (const auto& [key, text] : {std::pair{"title", &machine.title},
                                    {"vendor", &machine.vendor},
                                    {"arch", &machine.arch},
                                    {"die_word", &machine.die_word}})
      if (text->empty()) throw error(0, fmt::format("'{}' is missing", key));
    const auto require = [&](const std::string& key) {
      for (const Provenance& entry : machine.provenance)
        if (entry.key == key) return;
      throw error(0, fmt::format("'{}' is missing", key));
    };
    for (const auto& field : machine_fields()) require(std::string(field.key));
    for (const auto& field : l2_fields()) require(fmt::format("l2.{}", field.key));
    for (const std::string_view cache : {"l1", "l2", "llc"})
      if (cache != "llc" || machine.llc)
        for (const auto& field : cache_fields()) require(fmt::format("{}.{}", cache, field.key));
  }

  void check_power_of_two(const std::string& key, std::uint64_t value) const {
    if (!std::has_single_bit(value))
      throw error(line_of(key), fmt::format("'{}' is {}; it must be a power of two", key, value));
  }

  void check_piece(const std::string& key, std::uint32_t bytes) const {
    check_power_of_two(key, bytes);
    if (bytes < kSector)
      throw error(line_of(key),
                  fmt::format("'{}' is {}, less than a sector of {} bytes", key, bytes, kSector));
  }

  void check_cache(const std::string& name, const CacheModel& cache) const {
    check_power_of_two(name + ".line_bytes", cache.line_bytes);
    if (cache.line_bytes < kSector)
      throw error(line_of(name + ".line_bytes"),
                  fmt::format("'{}.line_bytes' is {}, less than a sector of {} bytes", name,
                              cache.line_bytes, kSector));
    check_power_of_two(name + ".interleave_bytes", cache.interleave_bytes);
    const std::uint64_t set = static_cast<std::uint64_t>(cache.line_bytes) * cache.ways;
    if (cache.bytes % set != 0)
      throw error(line_of(name + ".bytes"),
                  fmt::format("'{}.bytes' is {}, which is no whole number of sets of {} ways of {} "
                              "bytes",
                              name, cache.bytes, cache.ways, cache.line_bytes));
    if (cache.index == SetIndex::kHashedChannels && cache.sets() % cache.channels != 0)
      throw error(line_of(name + ".channels"),
                  fmt::format("'{0}.channels' is {1}, which does not divide the {2} sets of {0}",
                              name, cache.channels, cache.sets()));
    if (cache.interleave_bytes < cache.line_bytes)
      throw error(line_of(name + ".interleave_bytes"),
                  fmt::format("'{}.interleave_bytes' is {}, less than a line of {} bytes", name,
                              cache.interleave_bytes, cache.line_bytes));
  }

  /// What the replay of dies that fetch from each other relies on.
  void check_homes(const Machine& machine) const {
    const auto require = [&](bool given, const char* what) {
      if (given) return;
      throw error(line_of("lines_have_home"),
                  fmt::format("'lines_have_home' is 1, which is modelled only with {}", what));
    };
    require(machine.dispatch == Dispatch::kSingleQueue, "dispatch = single-queue");
    require(machine.l2.index == SetIndex::kHashed, "l2.index = hashed");
    require(!machine.llc, "no [llc]");
  }

  /// 0 (no line shown) where the value comes from the base.
  [[nodiscard]] std::uint32_t line_of(const std::string& key) const {
    const auto found = lines_.find(key);
    return found == lines_.end() ? 0 : found->second;
  }

  std::string file_;
  Lines lines_;
};

Machine load_by_name(const std::string& name, std::size_t depth);

/// A file with its base below it, and `mode` (may be empty) on top.
Machine load_file(const fs::path& file, const std::string& mode, std::size_t depth) {
  Reader reader(file);
  const toml::table table = reader.parse();
  Machine machine;
  if (const auto base = table["base"].value<std::string>()) {
    if (depth == kMaxBases) throw reader.error(0, "its bases go round in a circle");
    machine = load_by_name(*base, depth + 1);
  }
  const toml::table none;
  const toml::table* sources = table["sources"].as_table();
  const toml::table& source_texts = sources ? *sources : none;
  std::vector<std::string> extra = {"title", "vendor", "arch", "die_word", "l1", "l2", "llc"};
  const std::vector<std::string> mode_extra = extra;
  extra.insert(extra.end(), {"base", "sources", "modes"});
  reader.apply(table, source_texts, extra, machine);
  machine.name = file.stem().string();
  if (!mode.empty()) {
    reader.apply(*table["modes"][mode].as_table(), source_texts, mode_extra, machine);
    machine.name += "-" + mode;
  }
  reader.check(machine);
  return machine;
}

std::vector<std::string> modes_of(const fs::path& file) {
  const toml::table table = Reader(file).parse();
  const toml::table* modes = table["modes"].as_table();
  std::vector<std::string> names;
  if (modes)
    for (const auto& [name, node] : *modes)
      if (node.is_table()) names.emplace_back(name.str());
  return names;
}

struct Entry {
  fs::path file;
  std::string mode;
  [[nodiscard]] std::string name() const {
    return file.stem().string() + (mode.empty() ? "" : "-" + mode);
  }
};

/// Everything shipped, each machine followed by its partition modes.
std::vector<Entry> entries() {
  std::vector<fs::path> files;
  for (const auto& item : fs::directory_iterator(machines_directory()))
    if (item.path().extension() == ".toml") files.push_back(item.path());
  std::sort(files.begin(), files.end());
  std::vector<Entry> result;
  for (const fs::path& file : files) {
    result.push_back({file, ""});
    for (const std::string& mode : modes_of(file)) result.push_back({file, mode});
  }
  return result;
}

/// The file of a name, and its mode if it has one; nothing for an unknown name.
std::optional<Entry> find_entry(const std::string& name) {
  const fs::path directory = machines_directory();
  const fs::path whole = directory / (name + ".toml");
  if (fs::exists(whole)) return Entry{whole, ""};
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  Entry entry{directory / (name.substr(0, dash) + ".toml"), name.substr(dash + 1)};
  if (!fs::exists(entry.file)) return std::nullopt;
  const std::vector<std::string> modes = modes_of(entry.file);
  if (std::find(modes.begin(), modes.end(), entry.mode) == modes.end()) return std::nullopt;
  return entry;
}

Machine load_by_name(const std::string& name, std::size_t depth) {
  if (const auto entry = find_entry(name)) return load_file(entry->file, entry->mode, depth);
  std::vector<std::string> known;
  std::vector<std::string> shown;  // without the partition modes, which are many
  for (const Entry& entry : entries()) {
    known.push_back(entry.name());
    if (entry.mode.empty()) shown.push_back(entry.name());
  }
  throw usage_error(
      fmt::format("unknown machine '{}'{} (known: {} and their partition modes; or give the path "
                  "of a .toml file)",
                  name, did_you_mean(name, known), fmt::join(shown, ", ")));
}

bool has_models(const fs::path& directory) {
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(directory, ignored))
    if (item.path().extension() == ".toml") return true;
  return false;
}

}  // namespace

fs::path machines_directory() {
  if (const char* chosen = std::getenv("SWIZZLEPERF_MACHINES"); chosen && *chosen) {
    if (has_models(chosen)) return chosen;
    throw input_error(
        fmt::format("no machine models (*.toml) in {}, which SWIZZLEPERF_MACHINES names", chosen));
  }
  std::error_code ignored;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  for (const char* place : {"machines", "share/swizzleperf/machines"})
    if (has_models(prefix / place)) return prefix / place;
  throw input_error(
      fmt::format("no machine models found in {0}/machines or {0}/share/swizzleperf/machines; set "
                  "SWIZZLEPERF_MACHINES to their directory",
                  prefix.string()));
}

Machine load_machine(const std::string& name_or_path) {
  const bool is_path =
      name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml");
  return is_path ? load_file(name_or_path, "", 0) : load_by_name(name_or_path, 0);
}

std::vector<Machine> all_machines() {
  std::vector<Machine> machines;
  for (const Entry& entry : entries()) machines.push_back(load_file(entry.file, entry.mode, 0));
  return machines;
}

}  // namespace swizzleperf
