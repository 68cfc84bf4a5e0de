// A client of a scripted server: what it waited for and what it told of its spending is written
// down instead of waited for.
#pragma once

#include <gmock/gmock.h>

#include <memory>

#include "llm/clean_environment.h"
#include "llm/client.h"
#include "llm/scripted_server.h"

namespace swizzleperf::llm {

using ::testing::HasSubstr;
using ::testing::Not;

class ClientTest : public CleanEnvironment {
 protected:
  void SetUp() override {
    CleanEnvironment::SetUp();
    endpoint_options.model = "m";
    // What is learned of a model holds for the process: each test has a model of its own.
    endpoint_options.model =
        ::testing::UnitTest::GetInstance()->current_test_info()->name() + std::string("-model");
  }

  /// A server with that script, and a client of it.
  void begin(const nlohmann::json& script, const Spent& before = {}) {
    server = std::make_unique<ScriptedServer>(script);
    endpoint_options.base = server->base();
    connect(before);
  }

  void connect(const Spent& before = {}) {
    patience.sleep = [this](double seconds) { waits.push_back(seconds); };
    client = std::make_unique<Client>(endpoint_from(endpoint_options), limits, before, patience);
    client->on_spent([this](const Spent& spent) { told.push_back(spent); });
  }

  Reply ask(const std::string& text = "formula?") {
    return client->ask({{Role::kSystem, "be brief"}, {Role::kUser, text}});
  }

  /// The sentence with which asking ends; empty: with an answer.
  std::string fault() {
    try {
      ask();
      return "";
    } catch (const BudgetSpent& spent) {
      return std::string("budget: ") + spent.what();
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kInput);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.what();
    }
  }

  void expect_spent(std::uint64_t calls, std::uint64_t prompt, std::uint64_t completion,
                    bool unknown = false) const {
    const Spent& spent = client->spent();
    EXPECT_EQ(spent.calls, calls);
    EXPECT_EQ(spent.prompt_tokens, prompt);
    EXPECT_EQ(spent.completion_tokens, completion);
    EXPECT_EQ(spent.usage_unknown, unknown);
    if (told.empty()) return;
    EXPECT_EQ(told.back().calls, calls);
    EXPECT_EQ(told.back().prompt_tokens, prompt);
    EXPECT_EQ(told.back().usage_unknown, unknown);
  }

  EndpointOptions endpoint_options;
  Limits limits;
  Patience patience;
  std::unique_ptr<ScriptedServer> server;
  std::unique_ptr<Client> client;
  std::vector<double> waits;
  std::vector<Spent> told;
};

}  // namespace swizzleperf::llm
