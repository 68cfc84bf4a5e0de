// See record.h.
#include "llm/record.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "base/fd.h"
#include "base/files.h"
#include "swizzleperf/error.h"

namespace swizzleperf::llm {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<Failure, const char*>, 5> kFailures = {
    {{Failure::kNone, ""},
     {Failure::kNoConnection, "no connection"},
     {Failure::kTimeout, "timeout"},
     {Failure::kCut, "cut"},
     {Failure::kTooLarge, "too large"}}};

json to_json(const Exchange& e) {
  json failure;
  for (const auto& [kind, name] : kFailures)
    if (e.failure == kind && kind != Failure::kNone) failure = name;
  return {{"failure", failure},
          {"words", e.words},
          {"status", e.status},
          {"retry_after_s", e.retry_after_s ? json(*e.retry_after_s) : json()},
          {"redirect", e.redirect},
          {"seconds", e.seconds},
          {"body", e.body}};
}

Exchange from_json(const json& response) {
  Exchange e;
  const json& failure = response.at("failure");
  for (const auto& [kind, name] : kFailures)
    if (failure == name) e.failure = kind;
  response.at("words").get_to(e.words);
  response.at("status").get_to(e.status);
  if (const json& wait = response.at("retry_after_s"); !wait.is_null())
    e.retry_after_s = wait.get<double>();
  response.at("redirect").get_to(e.redirect);
  response.at("seconds").get_to(e.seconds);
  response.at("body").get_to(e.body);
  return e;
}

/// A server's bytes may be no UTF-8.
std::string line_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// What makes two requests the same question.
std::string question(Provider provider, json request) {
  request.erase("max_tokens");
  request.erase("max_completion_tokens");
  return std::string(provider_name(provider)) + " " + line_of(request);
}

class Recording : public Transport {
 public:
  Recording(std::unique_ptr<Transport> inner, std::filesystem::path file, Provider provider)
      : inner_(std::move(inner)),
        file_(std::move(file)),
        provider_(provider),
        fd_(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    if (!fd_.valid()) fail();
  }

  Exchange post(const json& request, double timeout_s) override {
    Exchange exchange = inner_->post(request, timeout_s);
    const json record = {{"provider", provider_name(provider_)},
                         {"request", request},
                         {"response", to_json(exchange)}};
    if (!write_all(fd_, line_of(record) + "\n")) fail();
    return exchange;
  }

 private:
  [[noreturn]] void fail() const {
    throw input_error(
        fmt::format("{}: exchanges cannot be recorded: {}", file_.string(), std::strerror(errno)));
  }

  std::unique_ptr<Transport> inner_;
  std::filesystem::path file_;
  Provider provider_;
  Fd fd_;
};

class Replaying : public Transport {
 public:
  Replaying(const std::filesystem::path& file, Provider provider)
      : file_(file), provider_(provider) {
    const std::string text = read_file(file);
    std::size_t line = 0;
    for (std::size_t at = 0; at < text.size();) {
      // A line that a kill tore in two has no newline, and was never answered from.
      const std::size_t stop = text.find('\n', at);
      if (stop == std::string::npos) break;
      add(text.substr(at, stop - at), ++line);
      at = stop + 1;
    }
  }

  Exchange post(const json& request, double /*timeout_s*/) override {
    const auto it = answers_.find(question(provider_, request));
    if (it == answers_.end()) {
      throw input_error(
          fmt::format("{}: holds no answer to this question of the run: it was recorded with "
                      "another model, program, machine or version; record it again",
                      file_.string()));
    }
    if (it->second.empty()) {
      throw input_error(
          fmt::format("{}: holds fewer answers to this question than the run asks "
                      "for: give as many attempts as when it was recorded",
                      file_.string()));
    }
    Exchange exchange = std::move(it->second.front());
    it->second.pop_front();
    return exchange;
  }

 private:
  void add(const std::string& text, std::size_t line) {
    try {
      const json record = json::parse(text);
      const bool anthropic = record.at("provider") == provider_name(Provider::kAnthropic);
      answers_[question(anthropic ? Provider::kAnthropic : Provider::kOpenAi, record.at("request"))]
          .push_back(from_json(record.at("response")));
    } catch (const json::exception&) {
      throw input_error(fmt::format("{}:{}: not a line of recorded exchanges (--llm-record)",
                                    file_.string(), line));
    }
  }

  std::filesystem::path file_;
  Provider provider_;
  std::map<std::string, std::deque<Exchange>> answers_;
};

}  // namespace

std::unique_ptr<Transport> recording_transport(std::unique_ptr<Transport> inner,
                                               const std::filesystem::path& file,
                                               Provider provider) {
  return std::make_unique<Recording>(std::move(inner), file, provider);
}

std::unique_ptr<Transport> replaying_transport(const std::filesystem::path& file,
                                               Provider provider) {
  return std::make_unique<Replaying>(file, provider);
}

}  // namespace swizzleperf::llm
