// No key in anything that is written, printed or handed to a child, whatever the server does.
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

#include "base/subprocess.h"
#include "llm/client_test.h"

namespace swizzleperf::llm {
namespace {

using nlohmann::json;

const std::string kSecret = "sk-proj-0123456789abcdefSECRET";

class SecrecyTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    set("SWIZZLEPERF_LLM_API_KEY", kSecret);
    before = spdlog::default_logger();
    auto logger = std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
    logger->set_level(spdlog::level::trace);  // as -vv does
    spdlog::set_default_logger(logger);
  }
  void TearDown() override { spdlog::set_default_logger(before); }

  std::ostringstream log;
  std::shared_ptr<spdlog::logger> before;
  ScratchDirectory scratch;
};

TEST_F(SecrecyTest, NoKeyInLogsRecordsAndSentences) {
  for (const char* provider : {"openai", "anthropic"}) {
    const std::string file = scratch.path() / (std::string(provider) + ".jsonl");
    endpoint_options.record = file;
    std::string sentences;
    endpoint_options.provider = provider;
    json echoes;  // servers that quote the key: as an answer, as a refusal, in a redirect
    for (const int code : {200, 400, 401, 404, 429, 500})
      echoes.push_back({{"status", code}, {"echo", true}});
    echoes.push_back({{"status", 302}, {"headers", {{"Location", "http://x/?k=" + kSecret}}}});
    patience.retries = 0;
    begin(echoes);
    for (std::size_t i = 0; i < echoes.size(); ++i) sentences += fault() + "\n";
    EXPECT_EQ(server->requests().size(), echoes.size());
    EXPECT_NE(server->requests().at(0).dump().find(kSecret), std::string::npos) << "not sent";
    EXPECT_THAT(sentences, HasSubstr("[key]"));
    EXPECT_THAT(sentences, Not(HasSubstr(kSecret)));
    EXPECT_THAT(read_file(file), HasSubstr("[key]"));
    EXPECT_THAT(read_file(file), Not(HasSubstr(kSecret)));
    EXPECT_THAT(describe(client->endpoint()), Not(HasSubstr(kSecret)));
  }
  EXPECT_THAT(log.str(), HasSubstr("llm: from http://127.0.0.1"));  // bodies are in the log
  EXPECT_THAT(log.str(), HasSubstr("formula?"));
  EXPECT_THAT(log.str(), Not(HasSubstr(kSecret)));
}

TEST_F(SecrecyTest, NoKeyInAChild) {
  set("OPENAI_API_KEY", kSecret);
  set("ANTHROPIC_API_KEY", kSecret);
  ChildSpec spec;
  spec.argv = {"env"};
  const ChildResult child = run_child(spec);
  EXPECT_TRUE(child.ok());
  EXPECT_THAT(child.out, HasSubstr("PATH="));
  EXPECT_THAT(child.out, Not(HasSubstr(kSecret)));
}

}  // namespace
}  // namespace swizzleperf::llm
