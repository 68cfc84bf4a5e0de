// Hostile inputs: formula_fuzz [COUNT] [SEED], or COUNT in SWIZZLEPERF_FUZZ_COUNT.
//
// Every input is random formula text, a named swizzle, or tokens and bytes at random, then usually
// mutated. It goes through the parser; what parses is evaluated, verified and printed. The only
// acceptable outcomes are a result and an Error whose place lies in the text. Crashes and undefined
// behaviour are the sanitizers' to find; hangs, the step limit's to prevent.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "random_formula.h"
#include "swizzleperf/print.h"
#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

class Fuzzer {
 public:
  explicit Fuzzer(std::uint64_t seed) : random_(seed) {
    for (const SwizzleFamily& family : swizzle_families()) {
      corpus_.push_back(make_swizzle(family.name).formula.text());
    }
    for (const char* hostile : {"system(\"rm -rf /\");", "pid = *(int*)0;", "import os\npid = 1",
                                "pid = 1 / 0", "while (1) { pid = pid; }"}) {
      corpus_.emplace_back(hostile);
    }
  }

  /// One input; returns what is wrong with how it was treated, or nothing.
  std::string step() {
    text_ = input();
    try {
      use(Formula::parse(text_));
      ++parsed_;
    } catch (const FormulaError& error) {
      ++refused_;
      const auto lines =
          1 + static_cast<std::uint32_t>(std::count(text_.begin(), text_.end(), '\n'));
      if (error.line() < 1 || error.line() > lines || error.column() < 1 ||
          error.column() > text_.size() + 1) {
        return fmt::format("the place of \"{}\" is outside the text", error.what());
      }
    } catch (const std::exception& error) {
      return fmt::format("an unexpected exception: {}", error.what());
    }
    return {};
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::uint64_t parsed() const { return parsed_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  void use(const Formula& formula) {
    const LaunchShape shape{random_.grid(40), random_.die_count(), 38};
    (void)verify_grid(formula, shape);
    (void)print_cpp(formula, {});
    try {
      (void)print_triton(formula, {});
    } catch (const Error&) {  // break and continue
    }
  }

  std::string input() {
    std::string text;
    const int kind = random_.number(0, 9);
    if (kind < 5) {
      text = random_.text(random_.chance(50));
    } else if (kind < 8) {
      text = corpus_[static_cast<std::size_t>(
          random_.number(0, static_cast<int>(corpus_.size()) - 1))];
    } else {
      const int count = random_.number(0, 60);
      for (int i = 0; i < count; ++i) text += token();
    }
    const int mutations = random_.chance(45) ? 0 : random_.number(1, 6);
    for (int i = 0; i < mutations; ++i) mutate(text);
    return text;
  }

  std::string token() {
    static constexpr const char* kTokens[] = {"pid",
                                              "pid_x",
                                              "num_blocks",
                                              "num_xcds",
                                              "a",
                                              "b",
                                              "=",
                                              "==",
                                              "+",
                                              "-",
                                              "*",
                                              "/",
                                              "%",
                                              "<<",
                                              ">>",
                                              "&",
                                              "|",
                                              "^",
                                              "~",
                                              "!",
                                              "<",
                                              ">",
                                              "<=",
                                              ">=",
                                              "!=",
                                              "&&",
                                              "||",
                                              "?",
                                              ":",
                                              ";",
                                              ",",
                                              "(",
                                              ")",
                                              "{",
                                              "}",
                                              "if",
                                              "else",
                                              "for",
                                              "while",
                                              "break",
                                              "continue",
                                              "int",
                                              "min(",
                                              "max(",
                                              "abs(",
                                              "cdiv(",
                                              "ilog2(",
                                              "0",
                                              "1",
                                              "64",
                                              "-1",
                                              "9223372036854775807",
                                              "0x",
                                              "//",
                                              "/*",
                                              "*/",
                                              "\n",
                                              "\\",
                                              "#",
                                              "\"",
                                              "[",
                                              "]",
                                              ".",
                                              "->",
                                              "::",
                                              "@",
                                              "++",
                                              "--",
                                              "+=",
                                              "<<=",
                                              "tl.program_id(0)",
                                              "blockIdx.x",
                                              "\xC3\xA4",
                                              "pid = ",
                                              "((((((((((((((((",
                                              "if (pid) {",
                                              "for (i = 0; i < 3; ++i) {",
                                              "while (pid > 0) "};
    constexpr int kCount = static_cast<int>(std::size(kTokens));
    return std::string(kTokens[random_.number(0, kCount - 1)]) + (random_.chance(70) ? " " : "");
  }

  void mutate(std::string& text) {
    const std::size_t at = text.empty() ? 0 : random_.engine()() % (text.size() + 1);
    const auto length = static_cast<std::size_t>(random_.number(1, 12));
    switch (random_.number(0, 4)) {
      case 0:
        text.insert(at, token());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at / 2, length * 4));
        break;
      case 3:
        text.insert(at, 1, static_cast<char>(random_.number(0, 255)));
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(random_.number(32, 126));
        break;
    }
  }

  testing::RandomFormula random_;
  std::vector<std::string> corpus_;
  std::string text_;
  std::uint64_t parsed_ = 0;
  std::uint64_t refused_ = 0;
};

int fuzz(std::uint64_t count, std::uint64_t seed) {
  Fuzzer fuzzer(seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string wrong = fuzzer.step();
    if (wrong.empty()) continue;
    fmt::print(stderr, "input {} of seed {}: {}\n{}\n", i, seed, wrong, fuzzer.text());
    return 1;
  }
  fmt::print("{} inputs (seed {}): {} parsed, {} refused\n", count, seed, fuzzer.parsed(),
             fuzzer.refused());
  return fuzzer.parsed() > count / 20 && fuzzer.refused() > count / 20 ? 0 : 1;
}

}  // namespace
}  // namespace swizzleperf

int main(int argc, char** argv) {
  const char* from_environment = std::getenv("SWIZZLEPERF_FUZZ_COUNT");
  const char* count = argc > 1 ? argv[1] : from_environment != nullptr ? from_environment : "20000";
  const char* seed = argc > 2 ? argv[2] : "1";
  return swizzleperf::fuzz(std::strtoull(count, nullptr, 10), std::strtoull(seed, nullptr, 10));
}
