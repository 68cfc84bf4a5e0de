// See scripted_server.h.
#include "llm/scripted_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <stdexcept>

namespace swizzleperf::llm {

using nlohmann::json;

namespace {

/// The two ends of a pipe.
std::array<Fd, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

ScriptedServer::ScriptedServer(const json& script, const Certificate* tls) : tls_(tls != nullptr) {
  const std::filesystem::path file = directory_.path() / "script.json";
  write_file(file, script.dump());
  // -I and -S: nothing of the developer's Python is loaded, and it starts twice as fast.
  std::vector<std::string> words = {"python3", "-IS", SCRIPTED_SERVER, file,
                                    directory_.path() / "requests.jsonl"};
  if (tls) words.insert(words.end(), {tls->certificate, tls->key});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  std::array<Fd, 2> in = make_pipe();
  std::array<Fd, 2> out = make_pipe();
  child_ = ::fork();
  if (child_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(in[0].get(), STDIN_FILENO);
    ::dup2(out[1].get(), STDOUT_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  stdin_ = std::move(in[1]);
  out[1].reset();
  std::string port;
  for (char c = 0; c != '\n'; port += c)
    if (read_some(out[0], &c, 1) <= 0)
      throw std::runtime_error("the scripted server does not start");
  port_ = std::stoi(port);
}

ScriptedServer::~ScriptedServer() {
  stdin_.reset();
  ::waitpid(child_, nullptr, 0);
}

std::string ScriptedServer::base() const {
  return (tls_ ? "https://localhost:" : "http://127.0.0.1:") + std::to_string(port_);
}

std::vector<json> ScriptedServer::requests() const {
  std::vector<json> all;
  std::istringstream lines(read_file(directory_.path() / "requests.jsonl"));
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
  return all;
}

json openai_answer(const std::string& text, int prompt_tokens, int completion_tokens) {
  json choice = {{"finish_reason", "stop"},
                 {"message", {{"role", "assistant"}, {"content", text}}}};
  json body = {{"model", "scripted-1"}, {"choices", json::array({std::move(choice)})}};
  body["usage"] = {{"prompt_tokens", prompt_tokens}, {"completion_tokens", completion_tokens}};
  return {{"body", std::move(body)}};
}

}  // namespace swizzleperf::llm
