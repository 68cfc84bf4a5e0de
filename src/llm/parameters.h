// Which parameters a model takes is found out by being refused.
//
// The limit of output tokens is `max_tokens` with most servers, `max_completion_tokens` with
// OpenAI's newer models, which refuse the older name, and some models take no temperature. Tables
// of models are out of date the day they are written, so the first refusal that names a parameter
// that was sent changes it, and what was learned holds for all of this process. Servers whose
// context is shorter than the limit that we ask for refuse, too: then it is left to them.
#pragma once

#include <string>
#include <string_view>

#include "llm/endpoint.h"

namespace swizzleperf::llm {

enum class TokenLimit { kMaxTokens, kMaxCompletionTokens, kNone };

/// Null for kNone.
const char* parameter_name(TokenLimit limit);

struct Parameters {
  TokenLimit limit = TokenLimit::kMaxTokens;
  bool limit_renamed = false;  ///< both names were tried: the next refusal drops it
  bool temperature = true;     ///< sent where the endpoint has one
};

struct Complaint;

/// What is known of the endpoint's model so far.
Parameters parameters_for(const Endpoint& endpoint);

/// What to change after the complaint about a request with these parameters, in words; empty when
/// it names none of them. Remembered.
std::string learn(const Endpoint& endpoint, const Parameters& sent, const Complaint& complaint,
                  std::string_view body);

}  // namespace swizzleperf::llm
