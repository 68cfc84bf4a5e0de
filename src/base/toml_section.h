// TOML files that people edit by hand: what is wrong in one is said with its file and line.
//
// A table, read key by key by somebody who knows what it may hold. Anything else in it is an error,
// since a key that is ignored is a key that somebody thought would work.
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "swizzleperf/error.h"

namespace swizzleperf {

/// A table of the file, and how to complain about it.
class Section {
 public:
  Section(const std::filesystem::path& file, const toml::table& table)
      : file_(file), table_(table) {}

  [[nodiscard]] static std::uint32_t line_of(const toml::node& node) {
    return node.source().begin.line;
  }
  [[nodiscard]] Error error(std::uint32_t line, const std::string& sentence) const {
    return input_error(fmt::format("{}:{}: {}", file_.string(), line, sentence));
  }
  [[nodiscard]] Error error(const std::string& sentence) const {
    return error(line_of(table_), sentence);
  }

  void allow(const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table_) {
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        throw error(line_of(node),
                    fmt::format("unknown key '{}'{}", key.str(), did_you_mean(key.str(), known)));
      }
    }
  }

  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }

  [[nodiscard]] std::uint32_t line(std::string_view key) const {
    const toml::node* node = table_.get(key);
    return line_of(node ? *node : static_cast<const toml::node&>(table_));
  }

  [[nodiscard]] std::string text(std::string_view key) const {
    const toml::node& node = need(key);
    if (!node.is_string()) throw error(line_of(node), fmt::format("'{}' must be a text", key));
    return node.as_string()->get();
  }
  [[nodiscard]] std::string text(std::string_view key, std::string otherwise) const {
    return has(key) ? text(key) : std::move(otherwise);
  }

  [[nodiscard]] double number(std::string_view key) const {
    const toml::node& node = need(key);
    if (!node.is_number()) throw error(line_of(node), fmt::format("'{}' must be a number", key));
    return node.value_or(0.0);
  }
  [[nodiscard]] std::optional<double> maybe_number(std::string_view key) const {
    return has(key) ? std::optional(number(key)) : std::nullopt;
  }
  [[nodiscard]] std::uint64_t count(std::string_view key) const {
    if (!has(key)) return 0;
    const std::int64_t value = need(key).is_integer() ? need(key).value_or(std::int64_t{0}) : 0;
    if (value < 1) {
      throw error(line(key), fmt::format("'{}' must be a whole number from 1 on", key));
    }
    return static_cast<std::uint64_t>(value);
  }

  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> result;
    if (!has(key)) return result;
    const toml::array* array = need(key).as_array();
    if (!array) throw error(line(key), fmt::format("'{}' must be a list of texts", key));
    for (const toml::node& node : *array) {
      if (!node.is_string()) {
        throw error(line_of(node), fmt::format("'{}' must be a list of texts", key));
      }
      result.push_back(node.as_string()->get());
    }
    return result;
  }

  /// [[key]] tables, or a list of inline ones.
  [[nodiscard]] std::vector<Section> sections(std::string_view key) const {
    std::vector<Section> result;
    const toml::array* array = need(key).as_array();
    if (!array) throw error(line(key), fmt::format("'{}' must be a list of tables", key));
    for (const toml::node& node : *array) {
      if (!node.is_table()) {
        throw error(line_of(node), fmt::format("'{}' must be a list of tables", key));
      }
      result.emplace_back(file_, *node.as_table());
    }
    return result;
  }
  [[nodiscard]] Section section(std::string_view key) const {
    const toml::node& node = need(key);
    if (!node.is_table()) throw error(line_of(node), fmt::format("'{}' must be a table", key));
    return {file_, *node.as_table()};
  }

 private:
  [[nodiscard]] const toml::node& need(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) throw error(fmt::format("'{}' is missing", key));
    return *node;
  }

  const std::filesystem::path& file_;
  const toml::table& table_;
};

}  // namespace swizzleperf
