// Starts scripted_server.py for a test; it ends with the object, or with the test program.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/files.h"

namespace swizzleperf::llm {

struct Certificate {
  std::filesystem::path certificate;
  std::filesystem::path key;
};

class ScriptedServer {
 public:
  /// `script`: a list of entries, see scripted_server.py.
  explicit ScriptedServer(const nlohmann::json& script, const Certificate* tls = nullptr);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  /// "http://127.0.0.1:PORT" (https with a certificate).
  [[nodiscard]] std::string base() const;
  /// What it was asked so far: {method, path, headers (names in lower case), body}.
  [[nodiscard]] std::vector<nlohmann::json> requests() const;

 private:
  ScratchDirectory directory_;
  bool tls_;
  pid_t child_ = -1;
  Fd stdin_;
  int port_ = 0;
};

/// An entry that answers as OpenAI's chat completions do.
nlohmann::json openai_answer(const std::string& text, int prompt_tokens = 100,
                             int completion_tokens = 10);

}  // namespace swizzleperf::llm
