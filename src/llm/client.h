// Asking a language model, where every call costs money and may fail in a dozen ways.
//
// One question may take several HTTP exchanges: a server is busy, refuses a parameter, cuts the
// connection, or lets a model think until nothing is left for the answer. Each exchange is counted
// before it is begun and again when it has ended, and told to a hook both times, so that a process
// killed in between has on record what it knows: a call was made, its tokens are unknown.
//
// Rejected: streaming (nothing here is read before it is whole), `response_format` (half of the
// servers people run lack it), a pool of connections (calls take seconds to minutes).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "llm/endpoint.h"
#include "swizzleperf/error.h"

namespace swizzleperf::llm {

enum class Role { kSystem, kUser, kAssistant };

struct Message {
  Role role;
  std::string text;
};

/// Null: the server did not tell.
struct Usage {
  std::optional<std::uint64_t> prompt_tokens;
  std::optional<std::uint64_t> completion_tokens;
};

struct Reply {
  std::string text;         ///< as the model wrote it; empty when it wrote nothing, see `note`
  std::string note;         ///< what is wrong with it, in words; empty: nothing
  Usage usage;              ///< of all exchanges that this reply took
  std::uint32_t calls = 1;  ///< HTTP exchanges
  double seconds = 0;       ///< in exchanges and in waiting between them
  std::string model;        ///< as the server names it
};

/// Spent so far; a resumed run begins with what it had spent. Tokens are those that were told.
struct Spent {
  std::uint64_t calls = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
  bool usage_unknown = false;  ///< an exchange told no usage: the tokens are a lower bound
  double seconds = 0;
};

/// Null: no limit. Tokens are prompt and completion together.
struct Limits {
  std::optional<std::uint64_t> calls;
  std::optional<std::uint64_t> tokens;
  std::optional<double> seconds;
};

/// A limit is reached: nothing is wrong, and nothing more may be asked.
class BudgetSpent : public Error {
 public:
  explicit BudgetSpent(const std::string& sentence) : Error(Exit::kInput, sentence) {}
};

/// How failures are waited out.
struct Patience {
  unsigned retries = 5;                       ///< of one question, besides changed parameters
  double first_wait_s = 1;                    ///< doubled each time, with jitter
  double longest_wait_s = 60;                 ///< of our own waits
  double longest_obeyed_s = 600;              ///< of a server's Retry-After; a longer one ends it
  std::function<void(double seconds)> sleep;  ///< empty: really
};

class Transport;
struct Answer;
struct Step;

/// Used by one thread at a time. What was learned of a model's parameters is shared by all clients.
class Client {
 public:
  using OnSpent = std::function<void(const Spent&)>;

  /// Throws Error(kInput) when the file to replay or to record cannot be had.
  explicit Client(Endpoint endpoint, Limits limits = {}, Spent spent_before = {},
                  Patience patience = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Called with the totals when an exchange begins and when it has ended, before anything else is
  /// done. What it throws is thrown by ask.
  void on_spent(OnSpent hook) { on_spent_ = std::move(hook); }

  /// Throws BudgetSpent, or Error(kInput) when the endpoint cannot be had or refuses: asking again
  /// is of no use.
  Reply ask(const std::vector<Message>& messages);

  [[nodiscard]] const Spent& spent() const { return spent_; }
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

 private:
  void check_budget() const;
  [[nodiscard]] double seconds_left() const;
  [[nodiscard]] std::uint64_t output_tokens() const;
  Step exchange(const nlohmann::json& request, Reply& reply);
  void wait(const Step& step, unsigned failures, Reply& reply);
  bool wants_more_room(const Answer& answer);
  void tell_spent(const Spent& spent) const;

  Endpoint endpoint_;
  Limits limits_;
  Spent spent_;
  Patience patience_;
  OnSpent on_spent_;
  std::unique_ptr<Transport> transport_;
  std::uint64_t output_tokens_;
  bool doubled_ = false;  ///< output_tokens_, after an answer of nothing but thinking
  bool reached_ = false;  ///< the server has answered before: it is there
};

}  // namespace swizzleperf::llm
