// The one exception type of the project.
//
// A user reads exactly one sentence when something is wrong: what, where, what to do. Whoever
// detects the fault writes that sentence and says which exit code it means; main() prints it and
// nothing else. Code that can go on (a bad candidate in a search, say) catches it and records it.
#pragma once

#include <stdexcept>
#include <string>

namespace swizzleperf {

/// Exit codes of the command line (documented in README.md).
enum class Exit : int {
  kDone = 0,         ///< also "keep the identity: nothing better"
  kCheckFailed = 1,  ///< a proof, comparison or validation failed
  kUsage = 2,        ///< the command line or a text given on it is wrong
  kInput = 3,        ///< a file, a program or the environment is at fault
};

class Error : public std::runtime_error {
 public:
  Error(Exit exit, const std::string& sentence) : std::runtime_error(sentence), exit_(exit) {}
  [[nodiscard]] Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

inline Error usage_error(const std::string& sentence) { return {Exit::kUsage, sentence}; }
inline Error input_error(const std::string& sentence) { return {Exit::kInput, sentence}; }

}  // namespace swizzleperf
