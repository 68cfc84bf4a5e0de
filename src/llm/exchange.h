// One HTTP exchange with a model's server, as data: what the client judges, what is recorded, and
// what a replay gives back. There is no key in it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace swizzleperf::llm {

/// Why there is no response.
enum class Failure {
  kNone,
  kNoConnection,  ///< name not found, refused, no TLS: nothing was sent
  kTimeout,
  kCut,  ///< the connection ended before the response did
  kTooLarge,
};

struct Exchange {
  Failure failure = Failure::kNone;
  std::string words;  ///< of the failure
  int status = 0;
  std::string body;
  std::optional<double> retry_after_s;
  std::string redirect;  ///< where a 3xx points
  double seconds = 0;
};

/// Where exchanges come from: a network, a recording, or the one written into the other.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Throws Error(kInput) only for what is wrong on this side (a recording without an answer, a
  /// full disk).
  virtual Exchange post(const nlohmann::json& request, double timeout_s) = 0;
};

}  // namespace swizzleperf::llm
