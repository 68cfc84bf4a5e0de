// Not the swizzle language: what stands here is copied out of Python launch code, where // divides
// (and is no comment) and next_power_of_2 is usual. Recursive descent over the text; a grid
// expression is evaluated once, so nothing is compiled.
#include "vgpu/toolchain/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <optional>
#include <vector>

#include "base/nearest.h"
#include "swizzleperf/error.h"

namespace swizzleperf::vgpu {
namespace {

constexpr int kMaxDepth = 100;

class Evaluator {
 public:
  Evaluator(std::string_view text, const Names& names) : text_(text), names_(names) {}

  std::int64_t run() {
    const std::int64_t value = sum();
    skip_spaces();
    if (at_ < text_.size()) fail(fmt::format("'{}' is not expected here", text_.substr(at_)));
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw input_error(fmt::format("in the expression \"{}\": {}", text_, what));
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool take(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  void check(bool overflows) const {
    if (overflows) fail("the value does not fit into 64 bits");
  }

  [[nodiscard]] std::int64_t negated(std::int64_t value) const {
    std::int64_t result = 0;
    check(__builtin_sub_overflow(std::int64_t{0}, value, &result));
    return result;
  }

  std::int64_t sum() {
    std::int64_t value = product();
    for (;;) {
      if (take("+")) {
        check(__builtin_add_overflow(value, product(), &value));
      } else if (take("-")) {
        check(__builtin_sub_overflow(value, product(), &value));
      } else {
        return value;
      }
    }
  }

  std::int64_t product() {
    std::int64_t value = atom();
    for (;;) {
      if (take("//")) {
        value = floor_div(value, atom());
      } else if (take("/")) {
        fail("'/' gives a fraction in Python: write // or cdiv");
      } else if (take("*")) {
        check(__builtin_mul_overflow(value, atom(), &value));
      } else if (take("%")) {
        const std::int64_t right = atom();
        value -= floor_div(value, right) * right;
      } else {
        return value;
      }
    }
  }

  std::int64_t floor_div(std::int64_t a, std::int64_t b) const {
    if (b == 0) fail("division by zero");
    if (b == -1) return negated(a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  }

  std::int64_t atom() {
    if (++depth_ > kMaxDepth) fail("brackets are nested too deeply");
    const std::int64_t value = plain_atom();
    --depth_;
    return value;
  }

  std::int64_t plain_atom() {
    if (take("-")) {
      return negated(atom());
    }
    if (take("(")) {
      const std::int64_t value = sum();
      close();
      return value;
    }
    skip_spaces();
    if (at_ == text_.size()) fail("a value is missing at the end");
    const auto first = static_cast<unsigned char>(text_[at_]);
    if (std::isdigit(first) != 0) return number();
    if (std::isalpha(first) != 0 || first == '_') return name();
    fail(fmt::format("'{}' is not expected here", text_.substr(at_, 1)));
  }

  void close() {
    if (!take(")")) fail("a closing bracket is missing");
  }

  std::int64_t number() {
    std::int64_t value = 0;
    for (; at_ < text_.size() &&
           (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_');
         ++at_) {
      if (text_[at_] == '_') continue;
      check(__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text_[at_] - '0', &value));
    }
    return value;
  }

  std::int64_t name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    std::string word(text_.substr(begin, at_ - begin));
    if (word == "triton" && take(".")) return name();
    if (take("(")) return call(word);
    const auto known = names_.find(word);
    if (known != names_.end()) return known->second;
    std::vector<std::string> all;
    for (const auto& [other, value] : names_) all.push_back(other);
    fail(fmt::format("there is no '{}' with a whole number as its value{}; there are: {}", word,
                     did_you_mean(word, all),
                     all.empty() ? "none" : fmt::to_string(fmt::join(all, ", "))));
  }

  std::int64_t call(const std::string& function) {
    std::vector<std::int64_t> values;
    if (!take(")")) {
      do {
        values.push_back(sum());
      } while (take(","));
      close();
    }
    const auto need = [&](std::size_t count) {
      if (values.size() != count)
        fail(fmt::format("{} takes {} value{}", function, count, count == 1 ? "" : "s"));
    };
    if (function == "cdiv") {
      need(2);
      return -floor_div(negated(values[0]), values[1]);
    }
    if (function == "next_power_of_2") {
      need(1);
      if (values[0] < 1) return 1;
      check(values[0] > std::int64_t{1} << 62);
      return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(values[0])));
    }
    if (function == "min" || function == "max") {
      if (values.empty()) fail(fmt::format("{} takes one value or more", function));
      return function == "min" ? *std::min_element(values.begin(), values.end())
                               : *std::max_element(values.begin(), values.end());
    }
    fail(fmt::format("there is no function '{}'; there are: cdiv, min, max, next_power_of_2",
                     function));
  }

  std::string_view text_;
  const Names& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::int64_t evaluate(std::string_view text, const Names& names) {
  return Evaluator(text, names).run();
}

}  // namespace swizzleperf::vgpu
