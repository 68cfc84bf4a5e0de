// See dialect.h.
#include "llm/dialect.h"

#include <algorithm>

namespace swizzleperf::llm {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestMessage = 300;

/// The member of that name, or null; of anything that is no object, null.
const json& member(const json& value, const char* name) {
  static const json null;
  if (!value.is_object()) return null;
  const auto it = value.find(name);
  return it == value.end() ? null : *it;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<std::uint64_t> count_of(const json& value) {
  if (!value.is_number_integer() || value < 0) return std::nullopt;
  return value.get<std::uint64_t>();
}

/// A text, or a list of parts of which those of type "text" are meant.
std::string content_text(const json& content) {
  if (!content.is_array()) return text_of(content);
  std::string text;
  for (const json& part : content)
    if (member(part, "type") == "text") text += text_of(member(part, "text"));
  return text;
}

const char* role_name(Role role) {
  switch (role) {
    case Role::kSystem:
      return "system";
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      break;
  }
  return "assistant";
}

/// Anthropic takes what the system says beside the messages, not among them.
void put_messages(json& body, Provider provider, const std::vector<Message>& messages) {
  std::string system;
  body["messages"] = json::array();
  for (const Message& message : messages) {
    if (provider == Provider::kAnthropic && message.role == Role::kSystem) {
      system += (system.empty() ? "" : "\n\n") + message.text;
    } else {
      body["messages"].push_back({{"role", role_name(message.role)}, {"content", message.text}});
    }
  }
  if (!system.empty()) body["system"] = system;
}

std::optional<Answer> read_openai(const json& body) {
  const json& choices = member(body, "choices");
  if (!choices.is_array() || choices.empty()) return std::nullopt;
  const json& message = member(choices[0], "message");
  if (!message.is_object()) return std::nullopt;
  const json& reason = member(choices[0], "finish_reason");
  Answer answer;
  answer.text = content_text(member(message, "content"));
  answer.refusal = text_of(member(message, "refusal"));
  if (reason == "content_filter" && answer.refusal.empty()) answer.refusal = "a content filter";
  answer.out_of_tokens = reason == "length";
  answer.usage.prompt_tokens = count_of(member(member(body, "usage"), "prompt_tokens"));
  answer.usage.completion_tokens = count_of(member(member(body, "usage"), "completion_tokens"));
  return answer;
}

/// Tokens read from and written to Anthropic's cache are counted beside the others.
std::optional<std::uint64_t> anthropic_prompt_tokens(const json& usage) {
  std::optional<std::uint64_t> sum = count_of(member(usage, "input_tokens"));
  for (const char* name : {"cache_creation_input_tokens", "cache_read_input_tokens"})
    if (sum) *sum += count_of(member(usage, name)).value_or(0);
  return sum;
}

std::optional<Answer> read_anthropic(const json& body) {
  const json& content = member(body, "content");
  if (!content.is_array()) return std::nullopt;
  const json& reason = member(body, "stop_reason");
  Answer answer;
  answer.text = content_text(content);
  if (reason == "refusal") answer.refusal = "the model declined";
  answer.out_of_tokens = reason == "max_tokens";
  answer.usage.prompt_tokens = anthropic_prompt_tokens(member(body, "usage"));
  answer.usage.completion_tokens = count_of(member(member(body, "usage"), "output_tokens"));
  return answer;
}

/// Printable, on one line, and not too long; cut between UTF-8 characters.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool blank = byte <= ' ' || byte == 0x7f;
    if (blank && (line.empty() || line.back() == ' ')) continue;
    if (line.size() >= kLongestMessage && (byte & 0xc0) != 0x80) return line + "...";
    line += blank ? ' ' : c;
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

/// A code is a word with some servers, a number with others.
void put_code(Complaint& complaint, const json& code) {
  if (code.is_string()) complaint.kind += " " + code.get<std::string>();
  if (code.is_number_integer() && code >= 100 && code < 600) complaint.status = code.get<int>();
}

}  // namespace

json request_body(const Endpoint& endpoint, const std::vector<Message>& messages,
                  const Parameters& parameters, std::uint64_t output_tokens) {
  json body = {{"model", endpoint.model}};
  put_messages(body, endpoint.provider, messages);
  if (const char* name = parameter_name(parameters.limit)) body[name] = output_tokens;
  if (endpoint.temperature && parameters.temperature) body["temperature"] = *endpoint.temperature;
  return body;
}

std::optional<Answer> read_answer(Provider provider, std::string_view text) {
  const json body = json::parse(text, nullptr, false);
  std::optional<Answer> answer =
      provider == Provider::kAnthropic ? read_anthropic(body) : read_openai(body);
  if (answer) answer->model = text_of(member(body, "model"));
  return answer;
}

Complaint read_complaint(std::string_view text) {
  const json body = json::parse(text, nullptr, false);
  const json& nested = member(body, "error");
  const json& error = nested.is_object() ? nested : body;
  Complaint complaint;
  complaint.kind = text_of(member(error, "type"));
  complaint.parameter = text_of(member(error, "param"));
  put_code(complaint, member(error, "code"));
  std::string message = text_of(member(error, "message"));
  if (message.empty()) message = text_of(nested);
  if (message.empty()) message = text_of(member(body, "detail"));
  complaint.message = one_line(message.empty() ? text : std::string_view(message));
  return complaint;
}

}  // namespace swizzleperf::llm
