// See endpoint.h.
#include "llm/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <regex>

#include "base/nearest.h"
#include "swizzleperf/error.h"

namespace swizzleperf::llm {
namespace {

/// What differs between the vendors before a word is sent.
struct Vendor {
  Provider provider;
  const char* name;
  const char* base;
  std::vector<const char*> base_variables;
  const char* key_variable;
  const char* call;
};

const Vendor& vendor(Provider provider) {
  static const Vendor open_ai{Provider::kOpenAi,
                              "openai",
                              "https://api.openai.com/v1",
                              {"OPENAI_BASE_URL", "OPENAI_API_BASE"},
                              "OPENAI_API_KEY",
                              "/chat/completions"};
  static const Vendor anthropic{
      Provider::kAnthropic,   "anthropic",         "https://api.anthropic.com/v1",
      {"ANTHROPIC_BASE_URL"}, "ANTHROPIC_API_KEY", "/messages"};
  return provider == Provider::kOpenAi ? open_ai : anthropic;
}

const char* const kProviderVariable = "SWIZZLEPERF_LLM_PROVIDER";
const char* const kModelVariable = "SWIZZLEPERF_LLM_MODEL";
const char* const kBaseVariable = "SWIZZLEPERF_LLM_API_BASE";
const char* const kKeyVariable = "SWIZZLEPERF_LLM_API_KEY";

/// A variable's value without blanks around it (a key read from a file ends in a newline).
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value ? value : "";
  const auto solid = [](unsigned char c) { return !std::isspace(c); };
  text.erase(text.begin(), std::find_if(text.begin(), text.end(), solid));
  text.erase(std::find_if(text.rbegin(), text.rend(), solid).base(), text.end());
  return text;
}

/// A value and who said it, for sentences.
struct Said {
  std::string value;
  std::string by;
};

Said first_said(std::initializer_list<Said> candidates) {
  for (const Said& said : candidates)
    if (!said.value.empty()) return said;
  return {};
}

Said vendor_base(const Vendor& v) {
  for (const char* name : v.base_variables)
    if (std::string value = variable(name); !value.empty()) return {std::move(value), name};
  return {};
}

// --- Provider -----------------------------------------------------------------------------------

Provider provider_of(const Said& said) {
  if (said.value == "openai") return Provider::kOpenAi;
  if (said.value == "anthropic") return Provider::kAnthropic;
  throw usage_error(
      fmt::format("{}: there is no provider '{}'{}; say openai (for every server "
                  "that speaks its chat completions) or anthropic",
                  said.by, said.value, did_you_mean(said.value, {"openai", "anthropic"})));
}

bool in_environment(const Vendor& v) {
  return !variable(v.key_variable).empty() || !vendor_base(v).value.empty();
}

Provider likely_provider() {
  const bool only_anthropic =
      in_environment(vendor(Provider::kAnthropic)) && !in_environment(vendor(Provider::kOpenAi));
  return only_anthropic ? Provider::kAnthropic : Provider::kOpenAi;
}

// --- Base ---------------------------------------------------------------------------------------

struct Address {
  std::string host;  ///< scheme and authority, lower case: "https://api.openai.com"
  std::string path;  ///< without slashes at its end
};

Address parse_base(const Said& base) {
  static const std::regex shape(R"((https?://)([^/?#\s]+)([^?#\s]*))", std::regex::icase);
  std::smatch part;
  if (base.value.find('@') != std::string::npos) {
    // Not quoted: it holds a password.
    throw usage_error(
        fmt::format("{}: the base address holds a name or password; give the key in "
                    "{} and leave it out of the address",
                    base.by, kKeyVariable));
  }
  if (!std::regex_match(base.value, part, shape)) {
    throw usage_error(
        fmt::format("{}: '{}' is no base address such as http://127.0.0.1:8000/v1 "
                    "(with http:// or https://, without ? and #)",
                    base.by, base.value));
  }
  Address address{part.str(1) + part.str(2), part.str(3)};
  for (char& c : address.host) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (address.path.ends_with('/')) address.path.pop_back();
  return address;
}

/// A whole address stays; a path that names a version (/v1, /api/v1, /v1beta/openai) is a base; any
/// other lacks the version.
std::string url_of(const Address& address, const Vendor& v) {
  static const std::regex version(R"((^|.*/)v[0-9][^/]*(/.*)?)");
  if (address.path.ends_with(v.call)) return address.host + address.path;
  const bool versioned = std::regex_match(address.path, version);
  return address.host + address.path + (versioned ? "" : "/v1") + v.call;
}

// --- Key ----------------------------------------------------------------------------------------

Key checked_key(std::string text, const char* name) {
  for (const char c : text)
    if (c <= ' ' || c > '~')
      throw usage_error(fmt::format(
          "{}: a key has no blanks, line breaks or other such characters inside", name));
  return Key(std::move(text));
}

/// Whether a vendor's key may go to this host: its own, or the one that its own variable names.
bool vendor_trusts(const Vendor& v, const std::string& host) {
  if (host == parse_base({v.base, ""}).host) return true;
  const Said own = vendor_base(v);
  return !own.value.empty() && host == parse_base(own).host;
}

void find_key(Endpoint& endpoint, const Vendor& v, const std::string& host, bool ours_apply) {
  if (std::string text = ours_apply ? variable(kKeyVariable) : ""; !text.empty()) {
    endpoint.key = checked_key(std::move(text), kKeyVariable);
    endpoint.key_source = kKeyVariable;
    return;
  }
  std::string text = variable(v.key_variable);
  if (text.empty()) return;
  if (!vendor_trusts(v, host)) {
    endpoint.key_kept = v.key_variable;
    return;
  }
  endpoint.key = checked_key(std::move(text), v.key_variable);
  endpoint.key_source = v.key_variable;
}

bool is_vendors_own(const Endpoint& endpoint) {
  return endpoint.url.starts_with(parse_base({vendor(endpoint.provider).base, ""}).host + "/");
}

}  // namespace

std::string_view provider_name(Provider provider) { return vendor(provider).name; }

Endpoint look_up_endpoint(const EndpointOptions& flags) {
  const Said named = first_said(
      {{flags.provider, "--llm-provider"}, {variable(kProviderVariable), kProviderVariable}});
  Endpoint endpoint;
  endpoint.provider = named.value.empty() ? likely_provider() : provider_of(named);
  const Vendor& v = vendor(endpoint.provider);
  const std::string ours_for = variable(kProviderVariable);
  const bool ours_apply = ours_for.empty() || ours_for == v.name;
  const auto ours = [&](const char* name) {
    return Said{ours_apply ? variable(name) : std::string(), name};
  };

  endpoint.model = first_said({{flags.model, "--llm-model"}, ours(kModelVariable)}).value;
  const Address address = parse_base(first_said(
      {{flags.base, "--llm-base"}, ours(kBaseVariable), vendor_base(v), {v.base, v.name}}));
  endpoint.url = url_of(address, v);
  find_key(endpoint, v, address.host, ours_apply);
  endpoint.record = flags.record;
  endpoint.replay = flags.replay;
  endpoint.temperature = flags.temperature;
  if (flags.timeout_s) endpoint.timeout_s = *flags.timeout_s;
  if (flags.max_output_tokens) endpoint.max_output_tokens = *flags.max_output_tokens;
  return endpoint;
}

Endpoint endpoint_from(const EndpointOptions& flags) {
  Endpoint endpoint = look_up_endpoint(flags);
  if (endpoint.model.empty()) {
    throw usage_error(
        fmt::format("no language model is named: give --llm-model NAME or set {}", kModelVariable));
  }
  if (!endpoint.record.empty() && endpoint.record == endpoint.replay)
    throw usage_error("--llm-record and --llm-replay name the same file: record into another");
  if (endpoint.replay.empty() && !endpoint.key.present() && is_vendors_own(endpoint)) {
    throw usage_error(
        fmt::format("{} wants a key: set {}, or give the address of a server of your "
                    "own with --llm-base",
                    parse_base({vendor(endpoint.provider).base, ""}).host,
                    vendor(endpoint.provider).key_variable));
  }
  return endpoint;
}

std::string describe(const Endpoint& endpoint) {
  std::string key = "no key";
  if (endpoint.key.present()) key = "key from " + endpoint.key_source;
  if (!endpoint.key_kept.empty())
    key += fmt::format(" ({} is not sent to this host)", endpoint.key_kept);
  return fmt::format("{} at {}, {}, {}", provider_name(endpoint.provider), endpoint.url,
                     endpoint.model.empty() ? "no model named" : "model " + endpoint.model, key);
}

}  // namespace swizzleperf::llm
