// See client.h. An exchange becomes a step: what was answered, or what to do about it. The rules
// are in judge(), one a line of README-like plainness; everything else is book-keeping.
#include "llm/client.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>
#include <utility>

#include "base/random.h"
#include "llm/dialect.h"
#include "llm/exchange.h"
#include "llm/http.h"
#include "llm/record.h"

namespace swizzleperf::llm {

using nlohmann::json;

/// After an exchange without an answer.
enum class Next {
  kChangeParameter,  ///< if the complaint names one
  kWait,             ///< and ask again
  kGiveUp,
};

struct Judgement {
  Next next = Next::kGiveUp;
  std::string why;  ///< a sentence without its full stop
};

struct Step {
  Judgement judgement;  ///< where there is no answer
  Exchange exchange;
  std::optional<Answer> answer;
  Complaint complaint;
};

namespace {

std::unique_ptr<Transport> transport_for(const Endpoint& endpoint) {
  std::unique_ptr<Transport> transport =
      endpoint.replay.empty() ? http_transport(endpoint)
                              : replaying_transport(endpoint.replay, endpoint.provider);
  if (endpoint.record.empty()) return transport;
  return recording_transport(std::move(transport), endpoint.record, endpoint.provider);
}

// --- What a response means
// ------------------------------------------------------------------------

std::string said(int status, const Complaint& complaint) {
  return complaint.message.empty() ? fmt::format("{}", status)
                                   : fmt::format("{}: {}", status, complaint.message);
}

std::string key_refused(const Endpoint& endpoint, const std::string& words) {
  if (endpoint.key.present()) {
    return fmt::format("{} refuses the key from {} ({})", endpoint.url, endpoint.key_source, words);
  }
  const std::string kept = endpoint.key_kept.empty()
                               ? std::string()
                               : fmt::format("; {} is not sent to this host", endpoint.key_kept);
  return fmt::format("{} wants a key ({}); set SWIZZLEPERF_LLM_API_KEY{}", endpoint.url, words,
                     kept);
}

std::string not_found(const Endpoint& endpoint, const Complaint& complaint,
                      const std::string& words) {
  const bool model = complaint.kind.find("model") != std::string::npos ||
                     complaint.message.find("model") != std::string::npos;
  if (model) {
    return fmt::format("{} has no model '{}' ({}); correct --llm-model or SWIZZLEPERF_LLM_MODEL",
                       endpoint.url, endpoint.model, words);
  }
  return fmt::format(
      "{} is not where this server speaks {}'s protocol ({}); correct --llm-base or "
      "SWIZZLEPERF_LLM_API_BASE",
      endpoint.url, provider_name(endpoint.provider), words);
}

Judgement judge_failure(const Endpoint& endpoint, const Exchange& e, bool reached) {
  switch (e.failure) {
    case Failure::kNoConnection:
      return {reached ? Next::kWait : Next::kGiveUp,
              fmt::format("{} cannot be reached: {}", endpoint.url, e.words)};
    case Failure::kTooLarge:
      return {Next::kGiveUp, fmt::format("{} answers with more than {} MiB, which no model does",
                                         endpoint.url, kLargestBody >> 20)};
    case Failure::kTimeout:
      return {Next::kWait, fmt::format("{} did not answer in time: {}", endpoint.url, e.words)};
    case Failure::kCut:
    case Failure::kNone:
      break;
  }
  return {Next::kWait, fmt::format("{} broke off: {}", endpoint.url, e.words)};
}

Judgement judge_status(const Endpoint& endpoint, int status, const Exchange& e,
                       const Complaint& complaint) {
  const std::string words = said(status, complaint);
  const auto give_up = [](std::string why) { return Judgement{Next::kGiveUp, std::move(why)}; };
  if (status >= 300 && status < 400) {
    return give_up(
        fmt::format("{} points to {} ({}), where nothing is sent unasked; give the right "
                    "address with --llm-base",
                    endpoint.url, e.redirect.empty() ? "elsewhere" : e.redirect, status));
  }
  if (status == 401 || status == 403) return give_up(key_refused(endpoint, words));
  if (status == 404 || status == 405) return give_up(not_found(endpoint, complaint, words));
  if (complaint.kind.find("insufficient_quota") != std::string::npos)
    return give_up(fmt::format("{} says that the account is used up ({})", endpoint.url, words));
  if (status == 400 || status == 422)
    return {Next::kChangeParameter,
            fmt::format("{} refuses the request ({})", endpoint.url, words)};
  if (status >= 500 || status == 408 || status == 409 || status == 425 || status == 429)
    return {Next::kWait, fmt::format("{} is busy or broken ({})", endpoint.url, words)};
  return give_up(fmt::format("{} refuses the request ({})", endpoint.url, words));
}

/// `reached`: the server has answered before.
Step judge(const Endpoint& endpoint, Exchange exchange, bool reached) {
  const auto as_status = [&](int status, Complaint& complaint) {
    Judgement judgement = judge_status(endpoint, status, exchange, complaint);
    return Step{std::move(judgement), std::move(exchange), std::nullopt, std::move(complaint)};
  };
  if (exchange.failure != Failure::kNone) {
    Judgement judgement = judge_failure(endpoint, exchange, reached);
    return {std::move(judgement), std::move(exchange), std::nullopt, {}};
  }
  Complaint complaint = read_complaint(exchange.body);
  if (exchange.status < 200 || exchange.status >= 300) return as_status(exchange.status, complaint);
  if (std::optional<Answer> answer = read_answer(endpoint.provider, exchange.body))
    return {{}, std::move(exchange), std::move(answer), {}};
  if (complaint.status >= 400) return as_status(complaint.status, complaint);
  Judgement judgement{Next::kWait, fmt::format("{} answers with what is no chat completion ({})",
                                               endpoint.url, said(exchange.status, complaint))};
  return {std::move(judgement), std::move(exchange), std::nullopt, std::move(complaint)};
}

/// A server that refuses has computed nothing; what one did that broke off, nobody knows.
Usage usage_of(const Step& step) {
  if (step.answer) return step.answer->usage;
  const int status = std::max(step.exchange.status, step.complaint.status);
  if (step.exchange.failure == Failure::kNoConnection || status >= 300) return {0, 0};
  return {};
}

void add(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& part) {
  if (sum && part) {
    *sum += *part;
  } else {
    sum.reset();
  }
}

std::string note_on(const Answer& answer, std::uint64_t output_tokens) {
  if (!answer.refusal.empty()) return "the model gave no answer: " + answer.refusal;
  if (answer.out_of_tokens && answer.text.empty()) {
    return fmt::format("the model spent all of its {} output tokens before it came to an answer",
                       output_tokens);
  }
  if (answer.out_of_tokens)
    return fmt::format("the answer is cut off at {} output tokens", output_tokens);
  return answer.text.empty() ? "the model answered with nothing" : "";
}

/// Between half of `seconds` and all of it, so that clients that failed together part.
double jittered(double seconds) {
  static Random random(std::random_device{}());
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  constexpr std::uint64_t kSteps = 1 << 20;
  return seconds * (0.5 + 0.5 * static_cast<double>(random.below(kSteps)) / kSteps);
}

}  // namespace

Client::Client(Endpoint endpoint, Limits limits, Spent spent_before, Patience patience)
    : endpoint_(std::move(endpoint)),
      limits_(limits),
      spent_(spent_before),
      patience_(std::move(patience)),
      transport_(transport_for(endpoint_)),
      output_tokens_(endpoint_.max_output_tokens) {
  if (!endpoint_.key_kept.empty())
    spdlog::info("llm: {} is not sent to {}", endpoint_.key_kept, endpoint_.url);
  if (!patience_.sleep) {
    patience_.sleep = [](double seconds) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    };
  }
  // A recording has its waits behind it.
  if (!endpoint_.replay.empty()) patience_.sleep = nullptr;
}

Client::~Client() = default;

// --- The budget
// -------------------------------------------------------------------------------------

double Client::seconds_left() const {
  return limits_.seconds ? std::max(0.0, *limits_.seconds - spent_.seconds) : HUGE_VAL;
}

void Client::check_budget() const {
  const std::uint64_t tokens = spent_.prompt_tokens + spent_.completion_tokens;
  if (limits_.calls && spent_.calls >= *limits_.calls)
    throw BudgetSpent(fmt::format("the budget of {} calls of the model is spent", *limits_.calls));
  if (limits_.tokens && tokens >= *limits_.tokens) {
    throw BudgetSpent(fmt::format("the budget of {} tokens of the model is spent ({} used)",
                                  *limits_.tokens, tokens));
  }
  if (limits_.seconds && spent_.seconds >= *limits_.seconds)
    throw BudgetSpent(fmt::format("the budget of {} s with the model is spent", *limits_.seconds));
}

/// No more than the budget has left: what is asked for will be used.
std::uint64_t Client::output_tokens() const {
  if (!limits_.tokens) return output_tokens_;
  return std::min(output_tokens_,
                  *limits_.tokens - (spent_.prompt_tokens + spent_.completion_tokens));
}

void Client::tell_spent(const Spent& spent) const {
  if (on_spent_) on_spent_(spent);
}

// --- One exchange
// -------------------------------------------------------------------------------------

Step Client::exchange(const json& request, Reply& reply) {
  Spent begun = spent_;
  begun.calls += 1;
  begun.usage_unknown = true;
  tell_spent(begun);
  spdlog::trace("llm: to {}: {}", endpoint_.url,
                request.dump(-1, ' ', false, json::error_handler_t::replace));

  Step step =
      judge(endpoint_, transport_->post(request, std::min(endpoint_.timeout_s, seconds_left())),
            reached_);
  const Usage usage = usage_of(step);
  spent_.calls += 1;
  spent_.seconds += step.exchange.seconds;
  spent_.prompt_tokens += usage.prompt_tokens.value_or(0);
  spent_.completion_tokens += usage.completion_tokens.value_or(0);
  const bool unknown = !usage.prompt_tokens || !usage.completion_tokens;
  if (unknown && step.answer && limits_.tokens && !spent_.usage_unknown) {
    spdlog::warn(
        "llm: {} tells no usage, so that a budget of tokens cannot be kept; calls and "
        "seconds are",
        endpoint_.url);
  }
  spent_.usage_unknown = spent_.usage_unknown || unknown;
  tell_spent(spent_);

  reached_ = reached_ || step.exchange.failure == Failure::kNone;
  reply.calls += 1;
  reply.seconds += step.exchange.seconds;
  add(reply.usage.prompt_tokens, usage.prompt_tokens);
  add(reply.usage.completion_tokens, usage.completion_tokens);
  spdlog::debug(
      "llm: {} {} in {:.1f} s", endpoint_.url,
      step.exchange.status ? fmt::format("answered {}", step.exchange.status) : "did not answer",
      step.exchange.seconds);
  spdlog::trace("llm: from {}: {}", endpoint_.url, step.exchange.body);
  return step;
}

/// Before another try; throws when there shall be none.
void Client::wait(const Step& step, unsigned failures, Reply& reply) {
  const bool hung = step.exchange.failure == Failure::kTimeout;
  // A question that took minutes in vain is asked once more, not five times.
  const unsigned retries = hung ? std::min(1U, patience_.retries) : patience_.retries;
  if (hung) check_budget();  // which may be what ended it
  if (failures > retries)
    throw input_error(fmt::format("{}; given up after {} tries", step.judgement.why, failures));
  const std::optional<double> told = step.exchange.retry_after_s;
  if (told && *told > patience_.longest_obeyed_s) {
    throw input_error(fmt::format("{} and asks to be left alone for {:.0f} s; go on then",
                                  step.judgement.why, *told));
  }
  const double seconds =
      told ? *told
           : jittered(std::min(patience_.longest_wait_s,
                               std::ldexp(patience_.first_wait_s, static_cast<int>(failures) - 1)));
  if (!patience_.sleep) return;
  if (limits_.seconds && seconds >= seconds_left()) {
    throw BudgetSpent(
        fmt::format("{}; the budget of {} s with the model does not allow for the "
                    "wait of {:.0f} s",
                    step.judgement.why, *limits_.seconds, seconds));
  }
  spdlog::info("llm: {}; again in {:.0f} s", step.judgement.why, seconds);
  patience_.sleep(seconds);
  spent_.seconds += seconds;
  reply.seconds += seconds;
}

/// An answer of nothing but thinking: the limit is doubled, once, and stays so.
bool Client::wants_more_room(const Answer& answer) {
  if (!answer.out_of_tokens || !answer.text.empty() || doubled_) return false;
  if (!parameter_name(parameters_for(endpoint_).limit) || output_tokens() < output_tokens_)
    return false;
  doubled_ = true;
  output_tokens_ *= 2;
  spdlog::info("llm: {}; asked again with {}", note_on(answer, output_tokens_ / 2), output_tokens_);
  return true;
}

Reply Client::ask(const std::vector<Message>& messages) {
  Reply reply;
  reply.calls = 0;
  reply.usage = {0, 0};
  for (unsigned failures = 0;;) {
    check_budget();
    const Parameters parameters = parameters_for(endpoint_);
    const std::uint64_t room = output_tokens();
    Step step = exchange(request_body(endpoint_, messages, parameters, room), reply);
    if (step.answer) {
      Answer& answer = *step.answer;
      if (wants_more_room(answer)) continue;
      reply.note = note_on(answer, room);
      reply.text = std::move(answer.text);
      reply.model = answer.model.empty() ? endpoint_.model : std::move(answer.model);
      return reply;
    }
    if (step.judgement.next == Next::kChangeParameter) {
      const std::string change = learn(endpoint_, parameters, step.complaint, step.exchange.body);
      if (change.empty()) throw input_error(step.judgement.why);
      spdlog::info("llm: {}; {}", step.judgement.why, change);
      continue;
    }
    if (step.judgement.next == Next::kGiveUp) throw input_error(step.judgement.why);
    wait(step, ++failures, reply);
  }
}

}  // namespace swizzleperf::llm
