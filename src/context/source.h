// The part of a source file that a proposer needs to see: the kernel and what of the file it uses.
//
// A proposer writes index arithmetic, so hosts, checks and timing are noise to it, and a long file
// costs money with every question. The file is cut into its top-level declarations by a scan of
// brackets, and those that the kernel names, and those that these name, are kept. libclang would do
// better, but needs a file that compiles and its options; this works on whatever text there is and,
// where it does not find the kernel, says so and gives the beginning of the file.
//
// Comments are left out, in every context alike: what is said of locality is to be measured, not
// taken from what somebody wrote, and contexts are to differ by what they say of hardware only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace swizzleperf {

struct Excerpt {
  std::string text;
  std::size_t lines = 0;   ///< of the text
  bool found = false;      ///< the kernel's definition
  bool shortened = false;  ///< something that the kernel names, or its end, was left out
};

constexpr std::size_t kMostSourceBytes = 16'000;

/// `kernel` as a trace names it, template arguments and all; `file_name` tells Python from C++.
Excerpt kernel_excerpt(std::string_view source, std::string_view file_name, std::string_view kernel,
                       std::size_t most_bytes = kMostSourceBytes);

}  // namespace swizzleperf
