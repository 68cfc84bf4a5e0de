// Tests that read the environment begin without anything of the developer's in it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace swizzleperf::llm {

class CleanEnvironment : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY",
          "ANTHROPIC_BASE_URL", "SWIZZLEPERF_LLM_PROVIDER", "SWIZZLEPERF_LLM_MODEL",
          "SWIZZLEPERF_LLM_API_BASE", "SWIZZLEPERF_LLM_API_KEY", "http_proxy", "HTTPS_PROXY",
          "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "CURL_CA_BUNDLE",
          "SSL_CERT_FILE"})
      ::unsetenv(name);
  }
  static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
};

}  // namespace swizzleperf::llm
