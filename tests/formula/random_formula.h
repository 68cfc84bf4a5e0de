// Random formula text: syntactically right, semantically wild.
//
// The generator is meant to reach every operation, both evaluators and every fault, so constants
// are small numbers, neighbours of powers of two and extremes; loops are usually bounded; names are
// usually, not always, set before they are read.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "swizzleperf/grid.h"

namespace swizzleperf::testing {

class RandomFormula {
 public:
  explicit RandomFormula(std::uint64_t seed) : random_(seed) {}

  /// `in_grid` makes the result a block of the grid (not a bijection, as a rule).
  std::string text(bool in_grid) {
    loops_ = 0;
    std::string out;
    for (const char* name : kNames) {
      if (!in_grid && chance(10)) out += "if (" + expr(1) + ") ";
      out += std::string(name) + " = " + expr(1) + ";\n";
    }
    const int count = number(1, 5);
    for (int i = 0; i < count; ++i) out += statement(2);
    if (!in_grid) return out + (chance(80) ? "pid = " + expr(3) + ";\n" : axes("", ""));
    if (chance(70)) return out + "pid = abs(" + expr(3) + ") % num_blocks;\n";
    return out + axes("abs(", ") % num_pid");
  }

  Dim3 grid(std::uint32_t most_blocks) {
    Dim3 g;
    g.x = pick(most_blocks);
    g.y = chance(60) ? pick(most_blocks / g.x) : 1;
    g.z = chance(30) ? pick(most_blocks / g.x / g.y) : 1;
    return g;
  }

  std::uint32_t die_count() {
    constexpr std::uint32_t kCounts[] = {1, 2, 4, 6, 8};
    return kCounts[number(0, 4)];
  }

  int number(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }
  bool chance(int percent) { return number(0, 99) < percent; }
  std::mt19937_64& engine() { return random_; }

 private:
  static constexpr const char* kNames[] = {"a", "b", "c", "turn"};

  std::uint32_t pick(std::uint32_t most) {
    if (most <= 1) return 1;
    const int bits = number(0, 31 - __builtin_clz(most));
    return 1 + static_cast<std::uint32_t>(random_() % std::min(most, 2U << bits));
  }

  std::string axes(const std::string& before, const std::string& after) {
    std::string out;
    for (const char* axis : {"_x", "_y", "_z"}) {
      out += std::string("pid") + axis + " = " + before + expr(2) + after +
             (after.empty() ? "" : axis) + ";\n";
    }
    return out;
  }

  std::string variable() { return kNames[number(0, 3)]; }

  std::string constant() {
    if (chance(85)) return std::to_string(number(0, 9));
    if (chance(70)) return std::to_string((std::int64_t{1} << number(3, 20)) + number(-1, 1));
    if (chance(70)) return std::to_string((std::int64_t{1} << number(21, 40)) + number(-1, 1));
    return "9223372036854775807";
  }

  std::string leaf() {
    constexpr const char* kInputs[] = {"pid",       "pid",        "pid",        "pid_x",
                                       "pid_y",     "pid_z",      "num_pid_x",  "num_pid_y",
                                       "num_pid_z", "num_blocks", "num_blocks", "num_xcds",
                                       "num_xcds",  "cus_per_xcd"};
    if (chance(35)) return constant();
    return chance(60) ? kInputs[number(0, 13)] : variable();
  }

  std::string expr(int depth) {
    constexpr const char* kBinary[] = {"+",  "-", "*",  "/",  "%",  "<<", ">>", "&", "|", "^", "<",
                                       "<=", ">", ">=", "==", "!=", "&&", "||", "+", "*", "/", "%"};
    if (depth == 0 || chance(20)) return leaf();
    const auto part = [&] { return expr(depth - 1); };
    switch (number(0, 13)) {
      case 0:
        return "(" + part() + " ? " + part() + " : " + part() + ")";
      case 1:
        return "min(" + part() + ", " + part() + ")";
      case 2:
        return "max(" + part() + ", " + part() + ")";
      case 3:
        return "cdiv(" + part() + ", " + part() + ")";
      case 4:
        return "abs(" + part() + ")";
      case 5:
        return "ilog2(" + part() + ")";
      case 6:
        return "(" + std::string(1, "-~!"[number(0, 2)]) + part() + ")";
      default:
        break;
    }
    return "(" + part() + " " + kBinary[number(0, 21)] + " " + part() + ")";
  }

  std::string block(int depth, bool in_loop) {
    std::string out = "{\n";
    const int count = number(1, 3);
    for (int i = 0; i < count; ++i) out += statement(depth);
    if (in_loop && chance(25)) {
      out += "if (" + expr(1) + ") " + (chance(50) ? "break;\n" : "continue;\n");
    }
    if (in_loop && chance(50)) out += statement(0);
    return out + "}";
  }

  std::string statement(int depth) {
    constexpr const char* kAssign[] = {
        "=", "=", "=", "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="};
    if (depth > 0 && chance(30)) {
      std::string out = "if (" + expr(2) + ") " + block(depth - 1, false);
      if (chance(50)) out += " else " + block(depth - 1, false);
      return out + "\n";
    }
    if (depth > 0 && chance(20)) return loop(depth - 1);
    if (chance(8)) return variable() + (chance(50) ? "++;\n" : "--;\n");
    return variable() + " " + kAssign[number(0, 13)] + " " + expr(2) + ";\n";
  }

  std::string loop(int depth) {
    const std::string i = "i" + std::to_string(loops_++);
    const std::string most = chance(70) ? std::to_string(number(0, 4)) : "pid % 5";
    if (chance(60)) {
      return "for (int " + i + " = 0; " + i + " < " + most + "; ++" + i + ") " +
             block(depth, true) + "\n";
    }
    return i + " = " + most + ";\nwhile (" + i + " > 0) {\n" + i + " -= 1;\n" + block(depth, true) +
           "\n}\n";
  }

  std::mt19937_64 random_;
  int loops_ = 0;
};

}  // namespace swizzleperf::testing
