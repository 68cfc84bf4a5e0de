// What a client does about each answer of a server, with its totals.
#include "llm/client_test.h"

#include <algorithm>

namespace swizzleperf::llm {
namespace {

using nlohmann::json;

json status(int code, const json& body = "") { return {{"status", code}, {"body", body}}; }

json error(int code, const std::string& message, const std::string& parameter = "") {
  json fault = {{"message", message}, {"type", "invalid_request_error"}};
  if (!parameter.empty()) fault["param"] = parameter;
  return status(code, {{"error", fault}});
}

json openai_empty(const char* reason, int completion_tokens) {
  json entry = openai_answer("", 100, completion_tokens);
  json& choice = entry["body"]["choices"][0];
  choice["finish_reason"] = reason;
  choice["message"]["reasoning_content"] = "let me think";
  return entry;
}

TEST_F(ClientTest, AsksOpenAi) {
  set("SWIZZLEPERF_LLM_API_KEY", "sk-test-key");
  begin(json::array({openai_answer("pid = pid;")}));
  const Reply reply = ask();
  EXPECT_EQ(reply.text, "pid = pid;");
  EXPECT_EQ(reply.note, "");
  EXPECT_EQ(reply.model, "scripted-1");
  EXPECT_EQ(reply.calls, 1U);
  EXPECT_EQ(reply.usage.prompt_tokens, 100U);
  EXPECT_EQ(reply.usage.completion_tokens, 10U);
  expect_spent(1, 100, 10);

  const json request = server->requests().at(0);
  EXPECT_EQ(request.at("path"), "/v1/chat/completions");
  EXPECT_EQ(request.at("headers").at("authorization"), "Bearer sk-test-key");
  EXPECT_EQ(request.at("headers").at("content-type"), "application/json");
  std::vector<std::string> names;
  for (const auto& [name, value] : request.at("body").items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"max_tokens", "messages", "model"}));
}

TEST_F(ClientTest, AsksAnthropic) {
  set("SWIZZLEPERF_LLM_API_KEY", "sk-test-key");
  endpoint_options.provider = "anthropic";
  begin(json::array({{{"body",
                       {{"model", "claude"},
                        {"content", json::array({{{"type", "text"}, {"text", "pid = 0;"}}})},
                        {"stop_reason", "end_turn"},
                        {"usage", {{"input_tokens", 7}, {"output_tokens", 3}}}}}},
                     {{"status", 529}, {"body", {{"type", "error"}}}},
                     error(400, "max_tokens: too large")}));
  EXPECT_EQ(ask().text, "pid = 0;");
  expect_spent(1, 7, 3);
  const json request = server->requests().at(0);
  EXPECT_EQ(request.at("path"), "/v1/messages");
  EXPECT_EQ(request.at("headers").at("x-api-key"), "sk-test-key");
  EXPECT_EQ(request.at("headers").at("anthropic-version"), "2023-06-01");
  EXPECT_FALSE(request.at("headers").contains("authorization"));
  EXPECT_EQ(request.at("body").at("system"), "be brief");
  EXPECT_THAT(fault(), HasSubstr("refuses the request (400: max_tokens: too large)"));
  expect_spent(3, 7, 3);
}

TEST_F(ClientTest, NoKeyNoHeader) {
  begin(json::array({openai_answer("x")}));
  ask();
  EXPECT_FALSE(server->requests().at(0).at("headers").contains("authorization"));
}

// --- Busy servers -------------------------------------------------------------------------------

TEST_F(ClientTest, RetryAfterIsObeyed) {
  begin(json::array({{{"status", 429}, {"headers", {{"Retry-After", "7"}}}},
                     {{"status", 503}, {"retry_after_date", 400}},
                     openai_answer("x")}));
  const Reply reply = ask();
  EXPECT_EQ(reply.text, "x");
  EXPECT_EQ(reply.calls, 3U);
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0], 7);
  EXPECT_GT(waits[1], 100);  // minutes of grace for a slow machine
  EXPECT_LE(waits[1], 400);
  expect_spent(3, 100, 10);
  EXPECT_GE(client->spent().seconds, waits[0] + waits[1]);
  EXPECT_EQ(server->requests().size(), 3U);
}

TEST_F(ClientTest, WithoutItWaitsGrowWithJitterUpToACap) {
  patience.retries = 6;
  patience.first_wait_s = 2;
  patience.longest_wait_s = 20;
  begin(json::array({status(429), status(500), status(502), status(503, "<html>down"), status(504),
                     status(529), openai_answer("x")}));
  EXPECT_EQ(ask().text, "x");
  const std::vector<double> full = {2, 4, 8, 16, 20, 20};
  ASSERT_EQ(waits.size(), full.size());
  for (std::size_t i = 0; i < full.size(); ++i) {
    EXPECT_GE(waits[i], full[i] / 2);
    EXPECT_LE(waits[i], full[i]);
  }
  EXPECT_FALSE(std::is_sorted(waits.begin(), waits.end()) && waits[4] == waits[5]);
  expect_spent(7, 100, 10);
}

TEST_F(ClientTest, PatienceEnds) {
  patience.retries = 2;
  begin(json::array({status(500), status(500), status(500, "kaputt"), openai_answer("x")}));
  EXPECT_THAT(fault(), HasSubstr("is busy or broken (500: kaputt); given up after 3 tries"));
  expect_spent(3, 0, 0);
  EXPECT_EQ(ask().text, "x");  // and the client is still good
  expect_spent(4, 100, 10);
}

TEST_F(ClientTest, ARetryAfterOfHoursEndsIt) {
  begin(json::array({{{"status", 429}, {"headers", {{"Retry-After", "7200"}}}}}));
  EXPECT_THAT(fault(), HasSubstr("7200 s"));
  EXPECT_TRUE(waits.empty());
  expect_spent(1, 0, 0);
}

TEST_F(ClientTest, AnEmptyAccountIsNotWaitedFor) {
  json entry = error(429, "You exceeded your current quota");
  entry["body"]["error"]["code"] = "insufficient_quota";
  begin(json::array({entry}));
  EXPECT_THAT(fault(), HasSubstr("used up (429: You exceeded"));
  expect_spent(1, 0, 0);
}

TEST_F(ClientTest, AStatusHiddenInASuccess) {
  begin(json::array({{{"body", {{"error", {{"code", 429}, {"message", "slow down"}}}}}},
                     {{"body", {{"error", {{"code", 401}, {"message", "no"}}}}}}}));
  EXPECT_THAT(fault(), HasSubstr("wants a key (401: no)"));
  EXPECT_EQ(waits.size(), 1U);
  expect_spent(2, 0, 0);
}

// --- Parameters ---------------------------------------------------------------------------------

TEST_F(ClientTest, ARefusedTemperatureIsDroppedAndRemembered) {
  endpoint_options.temperature = 0.25;
  begin(json::array(
      {error(400, "Unsupported value: 'temperature' does not support 0.25", "temperature"),
       openai_answer("x"), openai_answer("y"), openai_answer("z")}));
  EXPECT_EQ(ask().text, "x");
  EXPECT_TRUE(waits.empty());
  expect_spent(2, 100, 10);
  connect();  // another client of this process, the same model
  EXPECT_EQ(ask().text, "y");
  endpoint_options.model = "another model";
  connect();
  EXPECT_EQ(ask().text, "z");
  std::vector<bool> sent;
  for (const json& request : server->requests())
    sent.push_back(request.at("body").contains("temperature"));
  EXPECT_EQ(sent, (std::vector<bool>{true, false, false, true}));
}

TEST_F(ClientTest, ARefusedMaxTokensIsRenamedAndRemembered) {
  begin(json::array(
      {error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'", "max_tokens"),
       openai_answer("x"), openai_answer("y")}));
  EXPECT_EQ(ask().text, "x");
  connect();
  EXPECT_EQ(ask().text, "y");
  const std::vector<json> requests = server->requests();
  EXPECT_TRUE(requests.at(0).at("body").contains("max_tokens"));
  for (std::size_t i : {1, 2}) {
    EXPECT_FALSE(requests.at(i).at("body").contains("max_tokens"));
    EXPECT_EQ(requests.at(i).at("body").at("max_completion_tokens"), 16000);
  }
}

TEST_F(ClientTest, ARefusalThatNamesNoParameterIsTheEnd) {
  begin(json::array({error(400, "messages: this is not how it goes")}));
  EXPECT_THAT(fault(), HasSubstr("refuses the request (400: messages: this is"));
  expect_spent(1, 0, 0);
}

TEST_F(ClientTest, AServerThatRefusesEverythingIsNotAskedForEver) {
  endpoint_options.temperature = 0;
  json script;
  for (int i = 0; i < 20; ++i)
    script.push_back(error(400, "temperature, max_tokens and max_completion_tokens are bad"));
  begin(script);
  EXPECT_THAT(fault(), HasSubstr("refuses the request"));
  expect_spent(4, 0, 0);
}

// --- Answers that are none ----------------------------------------------------------------------

TEST_F(ClientTest, AnAnswerOfNothingButThinkingDoublesTheRoomOnce) {
  endpoint_options.max_output_tokens = 500;
  begin(json::array(
      {openai_empty("length", 500), openai_answer("x", 100, 600), openai_empty("length", 1000)}));
  Reply reply = ask();
  EXPECT_EQ(reply.text, "x");
  EXPECT_EQ(reply.calls, 2U);
  EXPECT_EQ(reply.usage.prompt_tokens, 200U);
  EXPECT_EQ(reply.usage.completion_tokens, 1100U);
  expect_spent(2, 200, 1100);

  reply = ask();
  EXPECT_EQ(reply.text, "");
  EXPECT_EQ(reply.note,
            "the model spent all of its 1000 output tokens before it came to an answer");
  expect_spent(3, 300, 2100);
  std::vector<int> rooms;
  for (const json& request : server->requests()) rooms.push_back(request["body"]["max_tokens"]);
  EXPECT_EQ(rooms, (std::vector<int>{500, 1000, 1000}));
  EXPECT_TRUE(waits.empty());
}

TEST_F(ClientTest, EmptyRefusedAndCutAnswersAreNoted) {
  json refused = openai_empty("stop", 1);
  refused["body"]["choices"][0]["message"]["refusal"] = "I must not";
  json cut = openai_answer("pid = ");
  cut["body"]["choices"][0]["finish_reason"] = "length";
  begin(json::array({openai_empty("stop", 1), refused, openai_empty("content_filter", 1), cut}));
  EXPECT_EQ(ask().note, "the model answered with nothing");
  EXPECT_EQ(ask().note, "the model gave no answer: I must not");
  EXPECT_EQ(ask().note, "the model gave no answer: a content filter");
  const Reply reply = ask();
  EXPECT_EQ(reply.text, "pid = ");
  EXPECT_EQ(reply.note, "the answer is cut off at 16000 output tokens");
  expect_spent(4, 400, 13);
}

TEST_F(ClientTest, WhatIsNoChatCompletionIsAskedAgain) {
  const std::string whole = openai_answer("x").at("body").dump();
  begin(json::array({{{"body", "<html>gateway</html>"}},
                     {{"body", {{"choices", json::array()}}}},
                     {{"body", whole.substr(0, whole.size() / 2)}},
                     {{"body", whole}}}));
  const Reply reply = ask();
  EXPECT_EQ(reply.text, "x");
  EXPECT_EQ(waits.size(), 3U);
  EXPECT_FALSE(reply.usage.prompt_tokens);  // what those three cost, nobody knows
  expect_spent(4, 100, 10, true);
}

TEST_F(ClientTest, UsageThatIsNotToldStaysUnknown) {
  json entry = openai_answer("x");
  entry["body"].erase("usage");
  begin(json::array({entry, openai_answer("y")}));
  EXPECT_FALSE(ask().usage.prompt_tokens);
  expect_spent(1, 0, 0, true);
  EXPECT_EQ(ask().usage.prompt_tokens, 100U);
  expect_spent(2, 100, 10, true);
}

TEST_F(ClientTest, TheTextIsPassedOnAsItIs) {
  const std::vector<std::string> texts = {
      "```json\n{\"formula\": \"pid = pid;\"}\n```",
      "Sure! Here it is:\n\npid = num_blocks - 1 - pid;\n\nHope that helps \xF0\x9F\x98\x80",
      "{\"formula\": \"pid = ", "  \n<think>no</think>pid\t"};
  json script;
  for (const std::string& text : texts) script.push_back(openai_answer(text));
  begin(script);
  for (const std::string& text : texts) EXPECT_EQ(ask().text, text);
}

// --- Wrong settings -----------------------------------------------------------------------------

TEST_F(ClientTest, AWrongKeyIsSaidOnce) {
  set("SWIZZLEPERF_LLM_API_KEY", "sk-test-key");
  begin(json::array({error(401, "Incorrect API key provided"), error(403, "not for you")}));
  EXPECT_EQ(fault(), endpoint_options.base +
                         "/v1/chat/completions refuses the key from SWIZZLEPERF_LLM_API_KEY (401: "
                         "Incorrect API key provided)");
  EXPECT_THAT(fault(), HasSubstr("(403: not for you)"));
  expect_spent(2, 0, 0);
  EXPECT_TRUE(waits.empty());
}

TEST_F(ClientTest, AMissingKeyIsSaid) {
  set("OPENAI_API_KEY", "sk-open");
  begin(json::array({error(401, "who are you")}));
  EXPECT_THAT(fault(), HasSubstr("wants a key (401: who are you); set SWIZZLEPERF_LLM_API_KEY; "
                                 "OPENAI_API_KEY is not sent to this host"));
  EXPECT_FALSE(server->requests().at(0).at("headers").contains("authorization"));
}

TEST_F(ClientTest, NotFoundIsTheModelOrTheAddress) {
  begin(json::array(
      {error(404, "The model `m` does not exist."), status(404, {{"detail", "Not Found"}})}));
  EXPECT_THAT(fault(), HasSubstr("has no model 'NotFoundIsTheModelOrTheAddress-model' (404: The"));
  EXPECT_THAT(fault(), HasSubstr("is not where this server speaks openai's protocol (404: Not "
                                 "Found); correct --llm-base"));
}

TEST_F(ClientTest, RedirectsAreNotFollowed) {
  set("SWIZZLEPERF_LLM_API_KEY", "sk-test-key");
  const ScriptedServer other(json::array({openai_answer("stolen")}));
  begin(json::array({{{"status", 307}, {"headers", {{"Location", other.base() + "/v1"}}}}}));
  EXPECT_THAT(fault(), HasSubstr("points to " + other.base() + "/v1 (307)"));
  EXPECT_TRUE(other.requests().empty());
}

// --- Budgets ------------------------------------------------------------------------------------

TEST_F(ClientTest, TheBudgetOfCallsCountsEveryExchange) {
  limits.calls = 3;
  begin(json::array({status(500), openai_answer("x"), status(500), openai_answer("y")}));
  EXPECT_EQ(ask().text, "x");
  EXPECT_EQ(fault(), "budget: the budget of 3 calls of the model is spent");
  expect_spent(3, 100, 10);
  EXPECT_EQ(fault(), "budget: the budget of 3 calls of the model is spent");
  EXPECT_EQ(server->requests().size(), 3U);
}

TEST_F(ClientTest, TheBudgetOfTokensLimitsWhatIsAskedFor) {
  limits.tokens = 300;
  endpoint_options.max_output_tokens = 250;
  begin(json::array({openai_answer("x", 100, 10), openai_answer("y", 100, 95)}));
  ask();
  ask();
  EXPECT_EQ(fault(), "budget: the budget of 300 tokens of the model is spent (305 used)");
  EXPECT_EQ(server->requests().at(0)["body"]["max_tokens"], 250);
  EXPECT_EQ(server->requests().at(1)["body"]["max_tokens"], 190);
}

TEST_F(ClientTest, ATightBudgetIsNotDoubled) {
  limits.tokens = 300;
  begin(json::array({openai_empty("length", 100)}));
  EXPECT_EQ(ask().note, "the model spent all of its 300 output tokens before it came to an answer");
  expect_spent(1, 100, 100);
}

TEST_F(ClientTest, TheBudgetOfSecondsForbidsAWait) {
  limits.seconds = 1000;
  patience.longest_obeyed_s = 5000;
  begin(json::array({{{"status", 429}, {"headers", {{"Retry-After", "2000"}}}}}));
  EXPECT_THAT(fault(), HasSubstr("budget: "));
  EXPECT_TRUE(waits.empty());
  connect({.seconds = 1000});
  EXPECT_EQ(fault(), "budget: the budget of 1000 s with the model is spent");
  EXPECT_EQ(server->requests().size(), 1U);
}

TEST_F(ClientTest, AResumedRunCarriesWhatItHadSpent) {
  limits.calls = 11;
  begin(json::array({openai_answer("x")}),
        {.calls = 10, .prompt_tokens = 5000, .completion_tokens = 70, .usage_unknown = true});
  ask();
  expect_spent(11, 5100, 80, true);
  EXPECT_THAT(fault(), HasSubstr("budget of 11 calls"));
}

/// Who is killed during an exchange finds on record that it was begun.
TEST_F(ClientTest, SpendingIsToldWhenAnExchangeBeginsAndWhenItEnds) {
  begin(json::array({status(500), openai_answer("x")}));
  ask();
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[0].calls, 1U);
  EXPECT_TRUE(told[0].usage_unknown);
  EXPECT_EQ(told[1].calls, 1U);
  EXPECT_FALSE(told[1].usage_unknown);
  EXPECT_EQ(told[2].calls, 2U);
  EXPECT_TRUE(told[2].usage_unknown);
  EXPECT_EQ(told[3].prompt_tokens, 100U);
  EXPECT_FALSE(told[3].usage_unknown);
}

TEST_F(ClientTest, AHookThatFailsStopsBeforeAnythingIsSent) {
  begin(json::array({openai_answer("x")}));
  client->on_spent([](const Spent&) { throw input_error("disk full"); });
  EXPECT_EQ(fault(), "disk full");
  EXPECT_TRUE(server->requests().empty());
}

}  // namespace
}  // namespace swizzleperf::llm
