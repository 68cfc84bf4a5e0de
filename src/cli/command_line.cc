// CLI11 does the parsing; the sentences for what is wrong are ours, since its own name neither the
// verb nor what was probably meant.
#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "base/nearest.h"
#include "base/utf8.h"
#include "cli/settings.h"

namespace swizzleperf {
namespace {

const char* const kAbout =
    "SwizzlePerf finds, proves and applies the block swizzle that makes a GPU kernel reuse\n"
    "its caches, on a machine without a GPU.";

const char* const kFooter =
    "Each verb explains itself: swizzleperf VERB --help\n"
    "\n"
    "Options may also come from the environment (SWIZZLEPERF_MACHINE=h200) and from a file\n"
    "(./swizzleperf.toml or --config FILE); the command line wins, then the environment.\n"
    "\n"
    "Exit codes: 0 done, 1 a check failed, 2 wrong usage, 3 wrong input or environment.";

void add_common_options(CLI::App& app, unsigned uses, CommonOptions& common) {
  const auto group = [](CLI::Option* option) { option->group(kCommonGroup); };
  if (uses & kMachine)
    group(app.add_option("-m,--machine", common.machine,
                         "Machine model, by name or .toml file (mi300x)"));
  if (uses & kKernel)
    group(app.add_option("-k,--kernel", common.kernel, "Kernel, by regular expression"));
  if (uses & kSwizzles)
    group(app.add_option("-s,--swizzle", common.swizzles, "NAME, FORMULA or @FILE; may be repeated")
              ->allow_extra_args(false));
  if (uses & kSeed) group(app.add_option("--seed", common.seed, "Seed of what is random (1)"));
  group(app.add_option_function<std::string>(
               "--format", [&common](const std::string& word) { common.json = word == "json"; },
               "console or json (console)")
            ->check(CLI::IsMember({"console", "json"})));
  group(app.add_option("-o,--output", common.output, "Write the result to a file"));
  group(app.add_option("--config", common.config, "Read options from a file (./swizzleperf.toml)"));
  group(app.add_flag("-v,--verbose", common.verbose,
                     "Log what is being done; -vv also what language models are told and say"));
  group(app.add_flag("-q,--quiet", common.quiet, "Log errors only"));
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// All that is said here may get into a result, and results are JSON.
void check_text(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!is_utf8(arguments[i]))
      throw usage_error(fmt::format(
          "argument {} is not UTF-8, which results are written in; rename or convert it", i + 1));
}

/// Named before CLI11 sees the words, which would only say that one was not expected.
void check_verb(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw usage_error("no verb given; 'swizzleperf --help' lists them");
  if (arguments[0].starts_with('-')) return;
  std::vector<std::string> known;
  for (const Verb& verb : verbs()) known.emplace_back(verb.name);
  if (std::find(known.begin(), known.end(), arguments[0]) != known.end()) return;
  throw usage_error(fmt::format("there is no verb '{}'{} ('swizzleperf --help' lists them)",
                                arguments[0], did_you_mean(arguments[0], known)));
}

void check_remaining(const CLI::App& app, unsigned uses) {
  for (const std::string& word : app.remaining()) {
    if (!word.starts_with('-'))
      throw usage_error(fmt::format(
          "'{}' is one argument too many for {}{}", word, app.get_name(),
          uses & kProgramArguments ? "; the program's own arguments go behind --" : ""));
    const std::string name = word.substr(0, word.find('='));
    throw usage_error(fmt::format("{} has no option {}{}", app.get_name(), name,
                                  did_you_mean(name, names_of(app))));
  }
}

/// The application with all its verbs; each has a CommonOptions of its own.
struct Application {
  CLI::App app{kAbout, "swizzleperf"};
  std::map<const CLI::App*, Action> actions;
  std::map<const CLI::App*, unsigned> uses;
  std::map<const CLI::App*, std::unique_ptr<CommonOptions>> common;

  Application() {
    app.footer(kFooter);
    app.set_version_flag("--version", "swizzleperf " SWIZZLEPERF_VERSION);
    app.require_subcommand(1);
    app.get_formatter()->column_width(28);
    app.get_formatter()->label("SUBCOMMAND", "VERB");
    app.get_formatter()->label("TEXT:{console,json}", "FORMAT");
    for (const Verb& verb : verbs()) {
      CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
      sub->group(verb.group)->footer(verb.help)->allow_extras();
      actions[sub] = verb.declare(*sub);
      uses[sub] = verb.uses;
      common[sub] = std::make_unique<CommonOptions>();
      add_common_options(*sub, verb.uses, *common[sub]);
    }
  }
};

}  // namespace

std::optional<Invocation> parse_command_line(const std::vector<std::string>& arguments,
                                             std::string& help) {
  check_text(arguments);
  check_verb(arguments);
  // Behind -- everything is the program's, whatever it looks like.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> own(arguments.begin(), dashes);
  Application application;
  try {
    application.app.parse(std::vector<std::string>(own.rbegin(), own.rend()));
  } catch (const CLI::CallForHelp&) {
    help = application.app.help();
    return std::nullopt;
  } catch (const CLI::CallForVersion& version) {
    help = std::string(version.what()) + "\n";
    return std::nullopt;
  } catch (const CLI::ParseError& fault) {
    throw usage_error(fault.what());
  }
  CLI::App* verb = application.app.get_subcommands().front();
  check_remaining(*verb, application.uses.at(verb));
  apply_settings(application.app, *verb);
  if (dashes != arguments.end()) {
    if ((application.uses.at(verb) & kProgramArguments) == 0)
      throw usage_error(fmt::format("{} runs no program: nothing may follow --", verb->get_name()));
    application.common.at(verb)->program_arguments.assign(dashes + 1, arguments.end());
  }
  return Invocation{std::move(application.actions[verb]), *application.common[verb]};
}

}  // namespace swizzleperf
