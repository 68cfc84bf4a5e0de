// Exchanges kept in a file, and answered from it: for tests, and so that others can replay a
// published run without a model.
//
// One JSON line an exchange, appended as soon as it has ended: what was asked (the body; neither
// address nor headers), and what came back (status and body as text, or why nothing came). Failures
// are kept, too, so that a replay goes through the same retries and counts the same calls and
// tokens.
//
// A replay answers an equal question with what the file holds for it, in the file's order: the
// third time it is asked, with the third answer. Equal means the same provider, model, messages and
// temperature; the limit of output tokens may differ, since it depends on what was spent and
// learned before.
#pragma once

#include <filesystem>
#include <memory>

#include "llm/endpoint.h"
#include "llm/exchange.h"

namespace swizzleperf::llm {

/// Throws Error(kInput) when the file cannot be extended.
std::unique_ptr<Transport> recording_transport(std::unique_ptr<Transport> inner,
                                               const std::filesystem::path& file,
                                               Provider provider);

/// Throws Error(kInput) when the file cannot be read or holds a line that is no exchange.
std::unique_ptr<Transport> replaying_transport(const std::filesystem::path& file,
                                               Provider provider);

}  // namespace swizzleperf::llm
