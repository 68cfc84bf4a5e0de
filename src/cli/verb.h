// A verb is one file, verb_NAME.cc, that defines one function NAME_verb(), listed in registry.cc.
//
// It says which of the common options it uses (so that none is accepted and then ignored), declares
// its own on a CLI::App, and returns what to do. Doing it yields a text, in the asked format, and
// an exit code; main writes the text to stdout or to the file given with -o. Progress goes to the
// log, which is on stderr.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "swizzleperf/error.h"

namespace CLI {
class App;
}

namespace swizzleperf {

struct CommonOptions {
  std::string machine = "mi300x";
  std::string kernel;                 ///< a regular expression; empty: the only one
  std::vector<std::string> swizzles;  ///< specifications, in the order given
  std::uint64_t seed = 1;
  std::vector<std::string> program_arguments;  ///< what stands behind --
  bool json = false;
  std::string output;  ///< -o; empty: stdout
  std::string config;  ///< read by settings.cc
  int verbose = 0;     ///< how often -v was given
  bool quiet = false;
};

/// Which common options a verb uses; --format, -o, --config, -v and -q belong to all.
enum Uses : unsigned {
  kNothing = 0,
  kMachine = 1,
  kKernel = 2,
  kSwizzles = 4,
  kSeed = 8,
  kProgramArguments = 16,
};

struct Outcome {
  std::string text;  ///< console text or JSON, as common.json says
  Exit exit = Exit::kDone;
  bool output_taken = false;  ///< the verb wrote something else to -o; the text goes to stdout
};

using Action = std::function<Outcome(const CommonOptions&)>;

struct Verb {
  const char* name;
  const char* group;    ///< heading in --help
  const char* summary;  ///< one line in --help
  const char* help;     ///< below its options: examples and what the exit code means
  unsigned uses;
  Action (*declare)(CLI::App& app);  ///< declares the verb's own options
};

/// All verbs in the order of --help.
const std::vector<Verb>& verbs();

/// A document that begins with schema_version.
nlohmann::ordered_json json_document();

/// The document as text, with a newline at its end.
std::string to_text(const nlohmann::ordered_json& document);

}  // namespace swizzleperf
