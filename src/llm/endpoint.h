// Which server is asked, as which vendor's protocol, for which model, with whose key.
//
// The danger is not that a run fails but that a key goes to the wrong host: environments of
// developers hold keys of several vendors, and a base address set for one of them must not receive
// another's. So a key is looked up together with the base it belongs to:
//
//   provider  flag, SWIZZLEPERF_LLM_PROVIDER, else openai; anthropic where its variables
//             (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL) are set and none of OpenAI's is
//   model     flag, SWIZZLEPERF_LLM_MODEL
//   base      flag, SWIZZLEPERF_LLM_API_BASE, the vendor's variable (OPENAI_BASE_URL, then
//             OPENAI_API_BASE; ANTHROPIC_BASE_URL), the vendor's own host
//   key       SWIZZLEPERF_LLM_API_KEY, which goes wherever the base points; else the vendor's
//             variable (OPENAI_API_KEY, ANTHROPIC_API_KEY), which goes to the vendor's own host
//             and to where the vendor's variable points, and nowhere else
//
// Where SWIZZLEPERF_LLM_PROVIDER is set and a flag names another provider, all SWIZZLEPERF_LLM_*
// are of that other endpoint and are left alone. There is no flag for a key: command lines are
// seen by every process of a machine. Local servers want no key, so none is asked for but by the
// vendors' own hosts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace swizzleperf::llm {

enum class Provider { kOpenAi, kAnthropic };
std::string_view provider_name(Provider provider);

/// A secret. It has no stream operator, no formatter and no conversion: whoever wants its text must
/// write the long name below, which one file does (http.cc).
class Key {
 public:
  Key() = default;
  explicit Key(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] bool present() const { return !text_.empty(); }
  [[nodiscard]] const std::string& reveal_to_http() const { return text_; }

 private:
  std::string text_;
};

/// What the command line says; empty and absent: not given.
struct EndpointOptions {
  std::string provider;  ///< "openai" | "anthropic"
  std::string model;
  std::string base;
  std::string record;                 ///< append every exchange to this file
  std::string replay;                 ///< answer from this file and use no network
  std::optional<double> timeout_s;    ///< of one exchange
  std::optional<double> temperature;  ///< sent only when given
  std::optional<std::uint32_t> max_output_tokens;
};

struct Endpoint {
  Provider provider = Provider::kOpenAi;
  std::string model;
  std::string url;         ///< whole, of the one call that is made
  std::string key_source;  ///< the variable that the key came from; empty: no key is sent
  std::string key_kept;    ///< a vendor's variable whose key is not sent to this host
  Key key;
  double timeout_s = 600;  ///< reasoning models think for minutes
  std::optional<double> temperature;
  std::uint32_t max_output_tokens = 16000;  ///< what a reasoning model thinks counts, too
  std::filesystem::path record;
  std::filesystem::path replay;
};

/// Flags over environment. Throws Error(kUsage): no model, an unknown provider, a base that is no
/// address or holds a password, the vendor's own host without a key.
Endpoint endpoint_from(const EndpointOptions& flags);

/// The same without demanding a model or a key: for `doctor`.
Endpoint look_up_endpoint(const EndpointOptions& flags);

/// "openai at http://127.0.0.1:8000/v1/chat/completions, model m, key from OPENAI_API_KEY".
std::string describe(const Endpoint& endpoint);

}  // namespace swizzleperf::llm
