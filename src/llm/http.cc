// This file alone sees a key, and lets it out in one header to one host:
//   - redirects are not followed at all, since a redirected POST would take the header along or
//     lose its body; the client says where the server points instead;
//   - libcurl's own verbose log, which prints headers, is never turned on;
//   - a server that quotes the key in its response (some do in a 401) is censored on receipt,
//   before
//     anything can log, record or print it.
// Proxies come from the environment as for the curl program (https_proxy, http_proxy, no_proxy),
// and so do certificates (CURL_CA_BUNDLE, SSL_CERT_FILE).
//
// Ctrl-C needs no care here: the signal ends the whole process (base/interrupt.h), and libcurl is
// told to leave signals alone.
#include "llm/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

namespace swizzleperf::llm {
namespace {

constexpr long kConnectSeconds = 30;
/// Shorter keys are stand-ins ("none", "EMPTY"), and words that models use.
constexpr std::size_t kShortestSecret = 8;

struct EndHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct EndList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

CURL* new_handle() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL* handle = ready == CURLE_OK ? curl_easy_init() : nullptr;
  if (!handle) throw std::runtime_error("libcurl cannot be initialised");
  return handle;
}

std::string censored(std::string text, const Key& key) {
  const std::string& secret = key.reveal_to_http();
  if (secret.size() < kShortestSecret) return text;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos;)
    text.replace(at, secret.size(), "[key]");
  return text;
}

std::vector<std::string> headers_of(const Endpoint& endpoint) {
  // "Expect:" keeps libcurl from asking leave for a large body, which many servers leave
  // unanswered.
  std::vector<std::string> headers = {"Content-Type: application/json", "Expect:"};
  const std::string& key = endpoint.key.reveal_to_http();
  if (endpoint.provider == Provider::kAnthropic) {
    headers.emplace_back("anthropic-version: 2023-06-01");
    if (endpoint.key.present()) headers.push_back("x-api-key: " + key);
  } else if (endpoint.key.present()) {
    headers.push_back("Authorization: Bearer " + key);
  }
  return headers;
}

/// libcurl's callback; taking less than it was given ends the exchange.
std::size_t take(char* data, std::size_t size, std::size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  const std::size_t bytes = size * count;
  if (text.size() + bytes > kLargestBody) return 0;
  text.append(data, bytes);
  return bytes;
}

Failure failure_of(CURL* handle, CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return Failure::kNone;
    case CURLE_WRITE_ERROR:
      return Failure::kTooLarge;
    case CURLE_OPERATION_TIMEDOUT: {
      double until_sent = 0;
      curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME, &until_sent);
      return until_sent > 0 ? Failure::kTimeout : Failure::kNoConnection;
    }
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      return Failure::kNoConnection;
    default:
      return Failure::kCut;
  }
}

class HttpTransport : public Transport {
 public:
  explicit HttpTransport(const Endpoint& endpoint) : endpoint_(endpoint), handle_(new_handle()) {
    for (const std::string& header : headers_of(endpoint)) {
      headers_.reset(curl_slist_append(headers_.release(), header.c_str()));
      if (!headers_) throw std::bad_alloc();
    }
    set(CURLOPT_URL, endpoint_.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_USERAGENT, "swizzleperf");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    set(CURLOPT_WRITEFUNCTION, &take);
    set(CURLOPT_ERRORBUFFER, error_.data());
    for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
      if (const char* file = std::getenv(name); file && *file) {
        set(CURLOPT_CAINFO, file);
        break;
      }
    }
  }

  Exchange post(const nlohmann::json& request, double timeout_s) override {
    const std::string text = request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    Exchange exchange;
    error_[0] = '\0';
    set(CURLOPT_POSTFIELDS, text.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(text.size()));
    set(CURLOPT_WRITEDATA, &exchange.body);
    set(CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(std::min(timeout_s, 1e6) * 1000)));
    const CURLcode code = curl_easy_perform(handle_.get());
    curl_easy_getinfo(handle_.get(), CURLINFO_TOTAL_TIME, &exchange.seconds);
    exchange.failure = failure_of(handle_.get(), code);
    if (exchange.failure != Failure::kNone) {
      exchange.words = error_[0] ? error_.data() : curl_easy_strerror(code);
      exchange.body.clear();
      return exchange;
    }
    read_response(exchange);
    return exchange;
  }

 private:
  template <typename T>
  void set(CURLoption option, T value) {
    const CURLcode code = curl_easy_setopt(handle_.get(), option, value);
    if (code != CURLE_OK)
      throw std::runtime_error(fmt::format("libcurl: {}", curl_easy_strerror(code)));
  }

  void read_response(Exchange& exchange) {
    long status = 0;
    curl_off_t retry_after = 0;
    char* redirect = nullptr;
    curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(handle_.get(), CURLINFO_RETRY_AFTER, &retry_after);
    curl_easy_getinfo(handle_.get(), CURLINFO_REDIRECT_URL, &redirect);
    exchange.status = static_cast<int>(status);
    // Zero is also what libcurl gives where there is no such header.
    if (retry_after > 0) exchange.retry_after_s = static_cast<double>(retry_after);
    if (redirect) exchange.redirect = redirect;
    exchange.body = censored(std::move(exchange.body), endpoint_.key);
    exchange.redirect = censored(std::move(exchange.redirect), endpoint_.key);
  }

  Endpoint endpoint_;
  std::unique_ptr<CURL, EndHandle> handle_;
  std::unique_ptr<curl_slist, EndList> headers_;
  std::array<char, CURL_ERROR_SIZE> error_{};
};

}  // namespace

std::unique_ptr<Transport> http_transport(const Endpoint& endpoint) {
  return std::make_unique<HttpTransport>(endpoint);
}

}  // namespace swizzleperf::llm
