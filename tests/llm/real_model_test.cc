// Asks the real model that tests/llm/real_model starts, and checks the book-keeping, not the wisdom
// of the answers. Skipped where no endpoint is set.
#include <gmock/gmock.h>

#include <cstdlib>

#include "base/files.h"
#include "llm/client.h"

namespace swizzleperf::llm {
namespace {

TEST(RealModel, AnswersAndCounts) {
  if (std::getenv("SWIZZLEPERF_LLM_API_BASE") == nullptr)
    GTEST_SKIP() << "run it by tests/llm/real_model build/llm_real_model_test";
  const ScratchDirectory scratch;
  EndpointOptions options;
  options.record = scratch.path() / "exchanges.jsonl";
  options.max_output_tokens = 64;
  Client client(endpoint_from(options));
  const std::vector<Message> question = {
      {Role::kSystem, "You answer with one line of C."},
      {Role::kUser, "Write an expression that reverses the index pid among num_blocks blocks."}};
  const Reply first = client.ask(question);
  EXPECT_TRUE(!first.text.empty() || !first.note.empty());
  EXPECT_EQ(first.calls, client.spent().calls);
  ASSERT_TRUE(first.usage.prompt_tokens && first.usage.completion_tokens);
  EXPECT_GT(*first.usage.prompt_tokens, 20U);
  EXPECT_GT(*first.usage.completion_tokens, 0U);
  EXPECT_LE(*first.usage.completion_tokens, 64U);
  EXPECT_FALSE(client.spent().usage_unknown);
  EXPECT_GT(client.spent().seconds, 0);

  options.replay = options.record;
  options.record.clear();
  Client replayed(endpoint_from(options));
  EXPECT_EQ(replayed.ask(question).text, first.text);
  EXPECT_EQ(replayed.spent().completion_tokens, client.spent().completion_tokens);
}

TEST(RealModel, TheBudgetEndsIt) {
  if (std::getenv("SWIZZLEPERF_LLM_API_BASE") == nullptr) GTEST_SKIP();
  EndpointOptions options;
  options.max_output_tokens = 16;
  Limits limits;
  limits.tokens = 1;
  Client client(endpoint_from(options), limits);
  client.ask({{Role::kUser, "Count to three."}});
  EXPECT_GT(client.spent().prompt_tokens, 1U);
  EXPECT_THROW(client.ask({{Role::kUser, "Go on."}}), BudgetSpent);
}

}  // namespace
}  // namespace swizzleperf::llm
