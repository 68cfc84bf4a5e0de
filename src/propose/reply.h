// Taking a proposal out of whatever was replied.
//
// Asked for one JSON object, language models send it within code fences, behind a page of thinking,
// with raw line breaks inside its strings, cut off in the middle, or forget it and write the
// formula alone. What was clearly meant is taken: being strict here would only cost calls. What it
// is worth is decided elsewhere (judgement.h), and strictly. The one thing that is not taken is a
// formula that was cut off, because what is left of it may well be a formula, only another one.
//
// Replies are hostile until shown otherwise. All work here is linear in their length (but for a few
// attempts at JSON), nothing recurses on their nesting, and what comes out is valid UTF-8 without
// control characters, since it ends up in terminals, prompts and files.
#pragma once

#include <string>
#include <string_view>

#include "propose/proposer.h"

namespace swizzleperf {

constexpr std::size_t kMostReplyBytes = 1 << 20;  ///< what is beyond is not looked at

/// Valid UTF-8 without control characters but line breaks and tabs, of at most `most` bytes.
std::string clean_text(std::string_view text, std::size_t most);

/// The same on one line.
std::string clean_line(std::string_view text, std::size_t most);

struct Extracted {
  Proposal proposal;
  std::string problem;  ///< why what was asked for is not in the reply; empty: it is
};

/// `edit` says what is looked for: a formula, or a whole file (in the object's "kernel", or in a
/// fence of its own).
Extracted extract(std::string_view reply, Edit edit = Edit::kFormula);

}  // namespace swizzleperf
