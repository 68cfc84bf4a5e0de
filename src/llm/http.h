// The network: one POST over libcurl.
#pragma once

#include <memory>

#include "llm/endpoint.h"
#include "llm/exchange.h"

namespace swizzleperf::llm {

/// A response larger than this is no answer of a model.
inline constexpr std::size_t kLargestBody = std::size_t{16} << 20;

std::unique_ptr<Transport> http_transport(const Endpoint& endpoint);

}  // namespace swizzleperf::llm
