// An explanation as sentences and as JSON. Each sentence carries the figures it rests on, and each
// of those figures is in the JSON too.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explain/explain.h"

namespace swizzleperf {

struct Paragraph {
  std::string heading;
  std::vector<std::string> sentences;
};

/// What the swizzle buys, what binds, what is left to gain, what else would help.
std::vector<Paragraph> explain_in_words(const Launch& launch, const Explanation& explanation);

/// The keys of docs/json.md, without what every document begins with.
nlohmann::ordered_json to_json(const Launch& launch, const Explanation& explanation);

}  // namespace swizzleperf
