// See parameters.h.
#include "llm/parameters.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "llm/dialect.h"

namespace swizzleperf::llm {
namespace {

struct Learned {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Parameters> by_model;  ///< (url, model)
};

Learned& learned() {
  static Learned instance;
  return instance;
}

Parameters first_guess(const Endpoint& endpoint) {
  Parameters parameters;
  if (endpoint.url.starts_with("https://api.openai.com/"))
    parameters.limit = TokenLimit::kMaxCompletionTokens;
  return parameters;
}

bool names(std::string_view parameter, const Complaint& complaint, std::string_view body) {
  if (!complaint.parameter.empty()) return complaint.parameter == parameter;
  if (complaint.message.find(parameter) != std::string::npos) return true;
  return body.find(parameter) != std::string_view::npos;
}

bool about_context_length(const Complaint& complaint) {
  return complaint.kind.find("context_length") != std::string::npos ||
         complaint.message.find("context length") != std::string::npos;
}

std::string change_limit(const Endpoint& endpoint, Parameters& p, bool too_long) {
  const std::string before = parameter_name(p.limit);
  // Anthropic's API demands the one name.
  if (endpoint.provider == Provider::kAnthropic) return "";
  if (too_long || p.limit_renamed) {
    p.limit = TokenLimit::kNone;
    return fmt::format("{} is left out from now on", before);
  }
  p.limit =
      p.limit == TokenLimit::kMaxTokens ? TokenLimit::kMaxCompletionTokens : TokenLimit::kMaxTokens;
  p.limit_renamed = true;
  return fmt::format("{} is called {} from now on", before, parameter_name(p.limit));
}

}  // namespace

const char* parameter_name(TokenLimit limit) {
  switch (limit) {
    case TokenLimit::kMaxTokens:
      return "max_tokens";
    case TokenLimit::kMaxCompletionTokens:
      return "max_completion_tokens";
    case TokenLimit::kNone:
      break;
  }
  return nullptr;
}

Parameters parameters_for(const Endpoint& endpoint) {
  const std::lock_guard lock(learned().mutex);
  const auto it = learned().by_model.find({endpoint.url, endpoint.model});
  return it == learned().by_model.end() ? first_guess(endpoint) : it->second;
}

std::string learn(const Endpoint& endpoint, const Parameters& sent, const Complaint& complaint,
                  std::string_view body) {
  Parameters next = sent;
  std::string change;
  const char* limit = parameter_name(sent.limit);
  const bool too_long = about_context_length(complaint);
  if (sent.temperature && endpoint.temperature && names("temperature", complaint, body)) {
    next.temperature = false;
    change = "temperature is left out from now on";
  } else if (limit && (too_long || names(limit, complaint, body))) {
    change = change_limit(endpoint, next, too_long);
  }
  if (change.empty()) return "";
  const std::lock_guard lock(learned().mutex);
  learned().by_model[{endpoint.url, endpoint.model}] = next;
  return change;
}

}  // namespace swizzleperf::llm
