// Bodies that ask and bodies that answer, in the shapes that servers and gateways send.
#include "llm/dialect.h"

#include <gmock/gmock.h>

#include "base/random.h"

namespace swizzleperf::llm {
namespace {

using nlohmann::json;

Endpoint endpoint_for(Provider provider, const std::string& url = "http://x/v1") {
  Endpoint endpoint;
  endpoint.provider = provider;
  endpoint.model = "m";
  endpoint.url = url;
  return endpoint;
}

const std::vector<Message> kTalk = {{Role::kSystem, "be brief"},
                                    {Role::kUser, "hello"},
                                    {Role::kAssistant, "hi"},
                                    {Role::kUser, "formula?"}};

TEST(Dialect, NothingIsSentThatWasNotAskedFor) {
  const json body = request_body(endpoint_for(Provider::kOpenAi), kTalk, {}, 77);
  EXPECT_EQ(body, json::parse(R"({"model": "m", "max_tokens": 77, "messages": [
      {"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"},
      {"role": "assistant", "content": "hi"}, {"role": "user", "content": "formula?"}]})"));
}

TEST(Dialect, AnthropicTakesTheSystemBesideTheMessages) {
  const json body = request_body(endpoint_for(Provider::kAnthropic), kTalk, {}, 77);
  EXPECT_EQ(body, json::parse(R"({"model": "m", "max_tokens": 77, "system": "be brief",
      "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"},
      {"role": "user", "content": "formula?"}]})"));
}

TEST(Dialect, OpenAiAnswers) {
  const auto answer = read_answer(Provider::kOpenAi, R"({"model": "m-1", "choices": [{
      "finish_reason": "length", "message": {"content": "text", "reasoning_content": "hm"}}],
      "usage": {"prompt_tokens": 5, "completion_tokens": 6}})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "text");
  EXPECT_EQ(answer->model, "m-1");
  EXPECT_TRUE(answer->out_of_tokens);
  EXPECT_EQ(answer->usage.prompt_tokens, 5U);
  EXPECT_EQ(answer->usage.completion_tokens, 6U);
}

TEST(Dialect, ContentInPartsNullsAndRefusals) {
  const auto text = [](const char* message) {
    return read_answer(Provider::kOpenAi,
                       std::string(R"({"choices": [{"message": )") + message + "}]}")
        .value();
  };
  EXPECT_EQ(text(R"({"content": [{"type": "text", "text": "a"}, {"type": "image"}, 3,
                                {"type": "text", "text": "b"}]})")
                .text,
            "ab");
  EXPECT_EQ(text(R"({"content": null, "refusal": "no"})").refusal, "no");
  EXPECT_EQ(text(R"({"content": 7})").text, "");
  EXPECT_FALSE(text(R"({"content": "x"})").usage.prompt_tokens.has_value());
}

TEST(Dialect, UsageThatIsNoCountIsUnknown) {
  for (const char* usage : {"null", "[]", R"({"prompt_tokens": null})", R"({"prompt_tokens": -1})",
                            R"({"prompt_tokens": "5"})", R"({"prompt_tokens": 1.5})"}) {
    const auto answer =
        read_answer(Provider::kOpenAi,
                    std::string(R"({"choices": [{"message": {}}], "usage": )") + usage + "}");
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->usage.prompt_tokens) << usage;
  }
}

TEST(Dialect, AnthropicAnswersCountCachedTokens) {
  const auto answer = read_answer(Provider::kAnthropic, R"({"model": "c", "content": [
      {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "one "},
      {"type": "text", "text": "two"}], "stop_reason": "max_tokens",
      "usage": {"input_tokens": 3, "cache_read_input_tokens": 40,
                "cache_creation_input_tokens": 500, "output_tokens": 7}})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "one two");
  EXPECT_TRUE(answer->out_of_tokens);
  EXPECT_EQ(answer->usage.prompt_tokens, 543U);
  EXPECT_EQ(answer->usage.completion_tokens, 7U);
  EXPECT_EQ(
      read_answer(Provider::kAnthropic, R"({"content": [], "stop_reason": "refusal"})")->refusal,
      "the model declined");
}

TEST(Dialect, WhatIsNoAnswer) {
  for (const char* body : {"", "null", "[]", "{}", "<html>", R"({"choices": []})",
                           R"({"choices": {}})", R"({"choices": [1]})", R"({"choices": [{}]})",
                           R"({"choices": [{"message": "text"}]})", R"({"choices": [{"mess)"}) {
    EXPECT_FALSE(read_answer(Provider::kOpenAi, body)) << body;
  }
  for (const char* body : {"", "{}", R"({"content": "text"})", R"({"choices": []})"})
    EXPECT_FALSE(read_answer(Provider::kAnthropic, body)) << body;
}

TEST(Dialect, ComplaintsInManyShapes) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"error": {"message": "bad\n  thing", "type": "t", "param": "p", "code": "c"}})",
       "bad thing"},
      {R"({"object": "error", "message": "bad thing", "code": 400})", "bad thing"},
      {R"({"error": "bad thing"})", "bad thing"},
      {R"({"detail": "bad thing"})", "bad thing"},
      {R"({"type": "error", "error": {"type": "x", "message": "bad thing"}})", "bad thing"},
      {"bad\r\n\tthing ", "bad thing"},
      {"", ""},
  };
  for (const auto& [body, message] : cases) EXPECT_EQ(read_complaint(body).message, message);
  const Complaint c = read_complaint(cases[0].first);
  EXPECT_EQ(c.parameter, "p");
  EXPECT_EQ(c.kind, "t c");
  EXPECT_EQ(read_complaint(R"({"error": {"code": 429}})").status, 429);
  EXPECT_EQ(read_complaint(R"({"error": {"code": 7}})").status, 0);
}

TEST(Dialect, LongComplaintsAreCutBetweenCharacters) {
  std::string page;
  for (int i = 0; i < 1000; ++i) page += "\u00e4";
  const std::string message = read_complaint(page).message;
  EXPECT_LT(message.size(), 310U);
  EXPECT_NO_THROW((void)json(message).dump());  // throws where UTF-8 is torn
}

/// Whatever a server sends, reading ends and throws nothing.
TEST(Dialect, RandomBodies) {
  const std::string seed = R"({"choices": [{"message": {"content": "x", "refusal": null},
      "finish_reason": "length"}], "usage": {"prompt_tokens": 5}, "error": {"code": 400,
      "message": "m", "type": "t"}, "content": [{"type": "text", "text": "x"}]})";
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string body = seed;
    for (std::uint64_t n = random.below(6); n > 0; --n) {
      const std::size_t at = random.below(body.size());
      if (random.below(3) == 0) {
        body.erase(at, random.below(12));
      } else {
        body[at] = R"({}[]",:0a)"[random.below(9)];
      }
      if (body.empty()) body = "x";
    }
    for (const Provider provider : {Provider::kOpenAi, Provider::kAnthropic})
      (void)read_answer(provider, body);
    (void)read_complaint(body);
  }
  (void)read_answer(Provider::kOpenAi, std::string(1 << 20, '['));
}

// --- What a refusal teaches ---------------------------------------------------------------------

std::string after(const Endpoint& endpoint, const std::string& body) {
  const std::string words = learn(endpoint, parameters_for(endpoint), read_complaint(body), body);
  const Parameters now = parameters_for(endpoint);
  const char* limit = parameter_name(now.limit);
  return words.empty() ? "nothing"
                       : std::string(limit ? limit : "none") + (now.temperature ? "" : " cold");
}

const char* const kUseTheNewName =
    R"({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "param": "max_tokens"}})";

TEST(Parameters, TheLimitIsRenamedOnceAndThenDropped) {
  const Endpoint local = endpoint_for(Provider::kOpenAi, "http://rename/v1");
  EXPECT_EQ(parameters_for(local).limit, TokenLimit::kMaxTokens);
  EXPECT_EQ(after(local, kUseTheNewName), "max_completion_tokens");
  EXPECT_EQ(after(local, R"({"detail": "max_completion_tokens: no"})"), "none");
  EXPECT_EQ(after(local, R"({"detail": "max_tokens: no"})"), "nothing");
}

TEST(Parameters, TheOtherDirection) {
  const Endpoint vendor =
      endpoint_for(Provider::kOpenAi, "https://api.openai.com/v1/chat/completions");
  EXPECT_EQ(parameters_for(vendor).limit, TokenLimit::kMaxCompletionTokens);
  EXPECT_EQ(after(vendor, kUseTheNewName), "nothing");  // that was not sent
  EXPECT_EQ(
      after(
          vendor,
          R"({"error": {"message": "Unrecognized request argument supplied: max_completion_tokens"}})"),
      "max_tokens");
}

TEST(Parameters, ATooShortContextLeavesTheLimitToTheServer) {
  const Endpoint vllm = endpoint_for(Provider::kOpenAi, "http://vllm/v1");
  EXPECT_EQ(
      after(
          vllm,
          R"({"object": "error", "message": "This model's maximum context length is 8192 tokens. However, you requested 20000 tokens", "code": 400})"),
      "none");
}

TEST(Parameters, TemperatureIsDroppedWhereItWasSent) {
  Endpoint endpoint = endpoint_for(Provider::kOpenAi, "http://cold/v1");
  const std::string body = R"({"detail": [{"loc": ["body", "temperature"], "msg": "forbidden"}]})";
  EXPECT_EQ(after(endpoint, body), "nothing");
  endpoint.temperature = 0.2;
  EXPECT_EQ(after(endpoint, body), "max_tokens cold");
  EXPECT_EQ(after(endpoint, body), "nothing");
  endpoint.model = "another";
  EXPECT_TRUE(parameters_for(endpoint).temperature);
}

TEST(Parameters, AnthropicsLimitStays) {
  EXPECT_EQ(after(endpoint_for(Provider::kAnthropic, "http://a/v1"),
                  R"({"error": {"message": "max_tokens: 99999 > 8192"}})"),
            "nothing");
}

}  // namespace
}  // namespace swizzleperf::llm
