// The C++ end of the Python package `swizzleperf` (python/): what only Python can do (run Triton's
// compiler, parse Python) is asked of a child process, one question and one answer as JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace swizzleperf {

/// Runs `python3 -m swizzleperf COMMAND` with the question on its stdin and returns its answer.
/// Throws Error(kInput): no Python, no package, a time-out, a crash, or what the package says is
/// wrong (its sentence as it stands).
nlohmann::json ask_python(const std::string& command, const nlohmann::json& question,
                          double time_limit_s);

/// Which interpreter ask_python uses: $SWIZZLEPERF_PYTHON, else that of the checkout's .venv (made
/// by ./setup triton), else python3 on PATH.
std::filesystem::path python_interpreter();

}  // namespace swizzleperf
