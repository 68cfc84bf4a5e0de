// See language.h.
#include "formula/language.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace swizzleperf {

const std::vector<LanguageExample>& language_examples() {
  static const std::vector<LanguageExample> all = {
      {"every second row is walked backwards",
       "if (pid_y % 2 == 1) pid_x = num_pid_x - 1 - pid_x;",
       {0, 1, 2, 3, 7, 6, 5, 4}},
      {"even blocks first, then odd ones",
       "half = cdiv(num_blocks, 2);\n"
       "pid = pid < half ? 2 * pid : 2 * (pid - half) + 1;",
       {0, 2, 4, 6, 1, 3, 5, 7}},
  };
  return all;
}

std::string language_text(bool hardware) {
  std::string text =
      "A swizzle is a formula: it is given the index of a block in the order of dispatch and says\n"
      "which block's work is done there. Every block must be computed exactly once, on every "
      "grid.\n"
      "Inputs   pid (linear, x fastest), or pid_x pid_y pid_z; num_pid_x num_pid_y num_pid_z\n"
      "         num_blocks";
  if (hardware) text += "; num_xcds (dies) cus_per_xcd";
  text +=
      "\n"
      "Result   the final pid, or the final pid_x pid_y pid_z; not both\n"
      "Language C on 64-bit integers: NAME = EXPRESSION; if (...) ... else ...; ?:;\n"
      "         for (i = 0; i < n; ++i) { ... }; while (...) { ... }; break; continue;\n"
      "         + - * / % << >> & | ^ ~ < <= > >= == != && || !; += and its like;\n"
      "         min(a, b) max(a, b) abs(a) cdiv(a, b) (a / b rounded up) ilog2(a); // comments\n"
      "         Division and % are C's. No arrays, no functions, no return, no floating point.\n";
  for (const LanguageExample& e : language_examples()) {
    text += fmt::format("Example: {}. On a grid of 4 x 2 the blocks are {}.\n", e.words,
                        fmt::join(e.blocks, " "));
    std::string_view rest = e.formula;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      text += fmt::format("    {}\n", rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
  return text;
}

}  // namespace swizzleperf
