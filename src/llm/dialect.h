// The two languages that servers speak, OpenAI's chat completions and Anthropic's messages: the
// body that asks, and what is read out of the one that answers. Nothing here knows of a network.
//
// Servers that call themselves compatible differ in what they leave out, so reading assumes
// nothing: a field of another type is a field that is not there.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/client.h"
#include "llm/parameters.h"

namespace swizzleperf::llm {

nlohmann::json request_body(const Endpoint& endpoint, const std::vector<Message>& messages,
                            const Parameters& parameters, std::uint64_t output_tokens);

/// What a response to a request that succeeded says.
struct Answer {
  std::string text;
  std::string model;
  Usage usage;
  bool out_of_tokens = false;  ///< the limit of output tokens ended it
  std::string refusal;         ///< why the model would not answer, or that a filter took it away
};

/// Nothing: the body is not JSON, or is no answer of this language.
std::optional<Answer> read_answer(Provider provider, std::string_view body);

/// What a response that failed says, in the dozen shapes of servers and gateways.
struct Complaint {
  std::string message;  ///< one line, of bounded length; a piece of the body where it is no JSON
  std::string kind;     ///< "insufficient_quota", "model_not_found", ...; code and type
  std::string parameter;
  int status = 0;  ///< some gateways say 200 and put the real status here
};

Complaint read_complaint(std::string_view body);

}  // namespace swizzleperf::llm
