// Who is asked, and above all: whose key goes where.
#include "llm/endpoint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <ostream>

#include "llm/clean_environment.h"
#include "swizzleperf/error.h"

namespace swizzleperf::llm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

static_assert(!fmt::is_formattable<Key>::value);
template <typename T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };
static_assert(!Streamable<Key>);
static_assert(!std::is_convertible_v<Key, std::string>);

class EndpointTest : public CleanEnvironment {
 protected:
  void SetUp() override {
    CleanEnvironment::SetUp();
    flags.model = "m";
  }
  [[nodiscard]] Endpoint endpoint() const { return endpoint_from(flags); }
  [[nodiscard]] std::string fault() const {
    try {
      const Endpoint e = endpoint();
      return "no fault: " + describe(e);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kUsage);
      return error.what();
    }
  }
  EndpointOptions flags;
};

TEST_F(EndpointTest, BasesWithAndWithoutAVersionAndWholeAddresses) {
  const std::map<std::string, std::string> cases = {
      {"http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions"},
      {"http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1/chat/completions"},
      {"http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/chat/completions"},
      {"http://127.0.0.1:8000/v1//", "http://127.0.0.1:8000/v1/chat/completions"},
      {"HTTP://LocalHost:11434", "http://localhost:11434/v1/chat/completions"},
      {"http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"},
      {"https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"},
      {"https://gate.example/Team", "https://gate.example/Team/v1/chat/completions"},
      {"https://gate.example/v1beta/openai", "https://gate.example/v1beta/openai/chat/completions"},
      {"https://gate.example/vision", "https://gate.example/vision/v1/chat/completions"},
      {"https://gate.example/x/chat/completions", "https://gate.example/x/chat/completions"},
      {"http://127.0.0.1:8000/v1/chat/completions/", "http://127.0.0.1:8000/v1/chat/completions"},
  };
  for (const auto& [base, url] : cases) {
    flags.base = base;
    EXPECT_EQ(endpoint().url, url) << base;
  }
  flags.provider = "anthropic";
  flags.base = "http://127.0.0.1:9";
  EXPECT_EQ(endpoint().url, "http://127.0.0.1:9/v1/messages");
  flags.base = "http://127.0.0.1:9/v1/messages";
  EXPECT_EQ(endpoint().url, "http://127.0.0.1:9/v1/messages");
}

TEST_F(EndpointTest, WhatIsNoBaseIsSaid) {
  for (const char* base : {"localhost:8000", "ftp://x", "http://", "http://h/v1?key=1", "x y"}) {
    flags.base = base;
    EXPECT_THAT(fault(), HasSubstr("--llm-base: '")) << base;
  }
  flags.base = "http://me:hunter2@host/v1";
  EXPECT_THAT(fault(), HasSubstr("SWIZZLEPERF_LLM_API_KEY"));
  EXPECT_THAT(fault(), Not(HasSubstr("hunter2")));
}

TEST_F(EndpointTest, FlagsWinOverOurVariablesOverTheVendors) {
  set("OPENAI_API_BASE", "http://c:1");
  EXPECT_EQ(endpoint().url, "http://c:1/v1/chat/completions");
  set("OPENAI_BASE_URL", "http://b:1");
  EXPECT_EQ(endpoint().url, "http://b:1/v1/chat/completions");
  set("SWIZZLEPERF_LLM_API_BASE", "http://a:1");
  EXPECT_EQ(endpoint().url, "http://a:1/v1/chat/completions");
  flags.base = "http://f:1";
  EXPECT_EQ(endpoint().url, "http://f:1/v1/chat/completions");

  set("SWIZZLEPERF_LLM_MODEL", "other");
  EXPECT_EQ(endpoint().model, "m");
  flags.model.clear();
  EXPECT_EQ(endpoint().model, "other");
}

TEST_F(EndpointTest, NoModelIsOneSentence) {
  flags.model.clear();
  flags.base = "http://a";
  EXPECT_EQ(fault(),
            "no language model is named: give --llm-model NAME or set SWIZZLEPERF_LLM_MODEL");
}

TEST_F(EndpointTest, TheVendorsHostWantsAKeyAndLocalServersNone) {
  EXPECT_THAT(fault(), HasSubstr("https://api.openai.com wants a key: set OPENAI_API_KEY"));
  set("OPENAI_API_KEY", "sk-open");
  EXPECT_EQ(endpoint().url, "https://api.openai.com/v1/chat/completions");
  EXPECT_EQ(endpoint().key_source, "OPENAI_API_KEY");
  flags.provider = "anthropic";
  EXPECT_THAT(fault(), HasSubstr("ANTHROPIC_API_KEY"));
  flags.base = "http://127.0.0.1:1";
  EXPECT_FALSE(endpoint().key.present());
}

TEST_F(EndpointTest, AnthropicIsGuessedWhereOnlyItsVariablesAreSet) {
  set("ANTHROPIC_API_KEY", "sk-ant");
  EXPECT_EQ(endpoint().provider, Provider::kAnthropic);
  EXPECT_EQ(endpoint().url, "https://api.anthropic.com/v1/messages");
  set("OPENAI_API_KEY", "sk-open");
  EXPECT_EQ(endpoint().provider, Provider::kOpenAi);
  set("SWIZZLEPERF_LLM_PROVIDER", "anthropic");
  EXPECT_EQ(endpoint().provider, Provider::kAnthropic);
  flags.provider = "openai";
  EXPECT_EQ(endpoint().provider, Provider::kOpenAi);
  flags.provider = "opennai";
  EXPECT_THAT(fault(), HasSubstr("did you mean 'openai'"));
}

// --- Keys ---------------------------------------------------------------------------------------

TEST_F(EndpointTest, OneVendorsKeyNeverGoesToAnothersHost) {
  set("OPENAI_API_KEY", "sk-open");
  set("ANTHROPIC_BASE_URL", "https://claude.example");
  flags.provider = "anthropic";
  EXPECT_EQ(endpoint().url, "https://claude.example/v1/messages");
  EXPECT_FALSE(endpoint().key.present());

  flags.provider = "openai";  // and its base is not Anthropic's variable
  EXPECT_EQ(endpoint().url, "https://api.openai.com/v1/chat/completions");
  EXPECT_EQ(endpoint().key.reveal_to_http(), "sk-open");
}

TEST_F(EndpointTest, AVendorsKeyStaysWithTheVendor) {
  set("OPENAI_API_KEY", "sk-open");
  // Anywhere else, also with TLS taken away or a look-alike name.
  for (const char* base : {"http://127.0.0.1:8000", "https://openrouter.ai/api/v1",
                           "http://api.openai.com", "https://api.openai.com.evil.example",
                           "https://api.openai.com:444", "https://api.anthropic.com"}) {
    flags.base = base;
    EXPECT_FALSE(endpoint().key.present()) << base;
    EXPECT_EQ(endpoint().key_kept, "OPENAI_API_KEY");
    EXPECT_THAT(describe(endpoint()), HasSubstr("OPENAI_API_KEY is not sent to this host"));
    set("SWIZZLEPERF_LLM_API_BASE", base);
    flags.base.clear();
    EXPECT_FALSE(endpoint().key.present()) << base;
    ::unsetenv("SWIZZLEPERF_LLM_API_BASE");
  }
  flags.base = "https://API.openai.com/v1";
  EXPECT_TRUE(endpoint().key.present());
  flags.base.clear();
  set("OPENAI_BASE_URL", "http://gate.example:1/v1");  // the user said that they belong together
  EXPECT_TRUE(endpoint().key.present());
  flags.base = "http://gate.example:1";
  EXPECT_TRUE(endpoint().key.present());
  flags.base = "http://gate.example:2";
  EXPECT_FALSE(endpoint().key.present());
}

TEST_F(EndpointTest, OurOwnKeyGoesWhereOurEndpointIs) {
  set("OPENAI_API_KEY", "sk-open");
  set("SWIZZLEPERF_LLM_API_KEY", "\n sk-ours\n");
  flags.base = "http://127.0.0.1:8000";
  EXPECT_EQ(endpoint().key.reveal_to_http(), "sk-ours");
  EXPECT_EQ(endpoint().key_source, "SWIZZLEPERF_LLM_API_KEY");

  // Ours is for OpenAI; a flag says Anthropic: nothing of it is used.
  set("SWIZZLEPERF_LLM_PROVIDER", "openai");
  set("SWIZZLEPERF_LLM_API_BASE", "http://ours.example");
  set("SWIZZLEPERF_LLM_MODEL", "ours");
  flags = {};
  flags.provider = "anthropic";
  flags.model = "m";
  set("ANTHROPIC_API_KEY", "sk-ant");
  EXPECT_EQ(endpoint().url, "https://api.anthropic.com/v1/messages");
  EXPECT_EQ(endpoint().key.reveal_to_http(), "sk-ant");
  flags.model.clear();
  EXPECT_THAT(fault(), HasSubstr("no language model is named"));
}

TEST_F(EndpointTest, AKeyThatWouldBreakAHeaderIsRefusedAndNotShown) {
  set("SWIZZLEPERF_LLM_API_KEY", "sk-one\r\nX-Evil: 1");
  flags.base = "http://a";
  EXPECT_THAT(fault(), HasSubstr("SWIZZLEPERF_LLM_API_KEY"));
  EXPECT_THAT(fault(), Not(HasSubstr("sk-one")));
}

TEST_F(EndpointTest, DescribedWithoutTheKey) {
  set("SWIZZLEPERF_LLM_API_KEY", "sk-secret-secret");
  flags.base = "http://127.0.0.1:8000";
  EXPECT_EQ(describe(endpoint()),
            "openai at http://127.0.0.1:8000/v1/chat/completions, model m, key from "
            "SWIZZLEPERF_LLM_API_KEY");
}

}  // namespace
}  // namespace swizzleperf::llm
