// The text of a context, made of its facts and of nothing else.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace swizzleperf {

/// `facts` as make_context gives them; `source` is what is shown of the kernel's file.
std::string context_words(const nlohmann::json& facts, const std::string& source);

}  // namespace swizzleperf
