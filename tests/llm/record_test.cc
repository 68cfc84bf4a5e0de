// A run that was recorded is replayed without a network: the same answers, retries and totals.
#include <cmath>

#include "llm/client_test.h"

namespace swizzleperf::llm {
namespace {

using nlohmann::json;

class RecordTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    file = scratch.path() / "exchanges.jsonl";
  }

  /// Asks each question of a scripted server and records it.
  void record(const json& script, const std::vector<std::string>& questions) {
    endpoint_options.record = file;
    begin(script);
    for (const std::string& question : questions) recorded.push_back(ask(question));
    spent = client->spent();
    server.reset();
  }

  void replay() {
    endpoint_options.record.clear();
    endpoint_options.replay = file;
    endpoint_options.base = "http://nowhere.invalid";
    waits.clear();
    connect();
  }

  void expect_same(const Reply& reply, const Reply& original) const {
    EXPECT_EQ(reply.text, original.text);
    EXPECT_EQ(reply.note, original.note);
    EXPECT_EQ(reply.calls, original.calls);
    EXPECT_EQ(reply.model, original.model);
    EXPECT_EQ(reply.usage.prompt_tokens, original.usage.prompt_tokens);
    EXPECT_EQ(reply.usage.completion_tokens, original.usage.completion_tokens);
  }

  ScratchDirectory scratch;
  std::filesystem::path file;
  std::vector<Reply> recorded;
  Spent spent;
};

const std::vector<std::string> kQuestions = {"a", "b", "b", "a", "c"};

json eventful_script() {
  json thinking = openai_answer("", 100, 500);
  thinking["body"]["choices"][0]["finish_reason"] = "length";
  json cut = openai_answer("lost");
  cut["cut"] = 9;
  return json::array({openai_answer("1"),
                      {{"status", 400}, {"body", {{"detail", "max_tokens is unknown"}}}},
                      openai_answer("2"),
                      thinking,
                      openai_answer("3", 11, 22),
                      {{"status", 429}, {"headers", {{"Retry-After", "3"}}}},
                      openai_answer("4 \xC3\xA4\n"),
                      cut,
                      openai_answer("5")});
}

TEST_F(RecordTest, ReplayGivesTheSameAnswersAndTotals) {
  record(eventful_script(), kQuestions);
  endpoint_options.model += "-not";  // nothing learned of this one
  std::string text = read_file(file);
  replay();
  EXPECT_THAT(fault(), HasSubstr("holds no answer to this question"));

  endpoint_options.model = client->endpoint().model.substr(0, client->endpoint().model.size() - 4);
  replay();
  for (std::size_t i = 0; i < kQuestions.size(); ++i) expect_same(ask(kQuestions[i]), recorded[i]);
  expect_spent(spent.calls, spent.prompt_tokens, spent.completion_tokens, spent.usage_unknown);
  EXPECT_TRUE(waits.empty());
  EXPECT_EQ(read_file(file), text);
}

TEST_F(RecordTest, EqualQuestionsGetTheirAnswersInOrder) {
  record(json::array({openai_answer("1"), openai_answer("2")}), {"a", "a"});
  replay();
  EXPECT_EQ(ask("a").text, "1");
  EXPECT_EQ(ask("a").text, "2");
  EXPECT_THROW(ask("a"), Error);
}

TEST_F(RecordTest, OtherProvidersModelsAndTemperaturesAreOtherQuestions) {
  record(json::array({openai_answer("1")}), {"formula?"});
  const EndpointOptions before = endpoint_options;
  const auto misses = [this, &before](const auto& change) {
    endpoint_options = before;
    change(endpoint_options);
    replay();
    EXPECT_THAT(fault(), HasSubstr("holds no answer to this question"));
  };
  misses([](EndpointOptions& o) { o.provider = "anthropic"; });
  misses([](EndpointOptions& o) { o.model = "other"; });
  misses([](EndpointOptions& o) { o.temperature = 0.5; });
  endpoint_options = before;
  endpoint_options.max_output_tokens = 3;
  replay();
  EXPECT_EQ(fault(), "");
}

TEST_F(RecordTest, ATornLineIsLeftOutAndAForeignOneRefused) {
  record(json::array({openai_answer("1"), openai_answer("2")}), {"a", "b"});
  const std::string text = read_file(file);
  write_file(file, text.substr(0, text.size() - 5));
  replay();
  EXPECT_EQ(ask("a").text, "1");
  EXPECT_THROW(ask("b"), Error);

  write_file(file, text + "{\"provider\": 1}\n");
  try {
    replay();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("exchanges.jsonl:3: not a line of recorded exchanges"));
  }
}

TEST_F(RecordTest, FilesThatCannotBeHad) {
  endpoint_options.base = "http://127.0.0.1:1";
  endpoint_options.record = scratch.path() / "no" / "such";
  EXPECT_THROW(connect(), Error);
  endpoint_options.record = "/dev/full";
  begin(json::array({openai_answer("1")}));
  EXPECT_THAT(fault(), HasSubstr("/dev/full: exchanges cannot be recorded: No space left"));
  EXPECT_THROW(replay(), Error);  // nothing was recorded
  endpoint_options.record = endpoint_options.replay;
  EXPECT_THROW(connect(), Error);
}

/// What a hostile server sends is kept and given back, whatever it is.
TEST_F(RecordTest, BytesThatAreNoText) {
  patience.retries = 0;
  endpoint_options.record = file;
  begin(json::array({{{"body", std::string(100000, '[')}}}));
  EXPECT_THAT(fault(), HasSubstr("what is no chat completion"));
  replay();
  EXPECT_THAT(fault(), HasSubstr("what is no chat completion"));
}

/// Seconds are those of the recording, so a budget of seconds ends a replay where it ended the run.
TEST_F(RecordTest, SecondsAreReplayed) {
  record(json::array({openai_answer("1"), openai_answer("2")}), {"a", "b"});
  std::string text = read_file(file);
  const json first = json::parse(text.substr(0, text.find('\n')));
  json slow = first;
  slow["response"]["seconds"] = 60;
  write_file(file, slow.dump() + text.substr(text.find('\n')));
  limits.seconds = 59;
  replay();
  EXPECT_EQ(ask("a").text, "1");
  EXPECT_EQ(client->spent().seconds, 60);
  EXPECT_THROW(ask("b"), BudgetSpent);
}

}  // namespace
}  // namespace swizzleperf::llm
