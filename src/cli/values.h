// What options take that several verbs have. CLI11's own checks let nan through every range, print
// the largest double in full, and show an enum by its numbers, which they also take.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <string>

#include "context/context.h"

namespace swizzleperf {

/// A number from `least` to `most`, which nan is not.
inline CLI::Validator number_between(double least, double most) {
  return {[least, most](const std::string& text) {
            double value = NAN;
            const bool read = CLI::detail::lexical_cast(text, value);
            return read && value >= least && value <= most
                       ? std::string()
                       : fmt::format("'{}' is no number from {:g} to {:g}", text, least, most);
          },
          ""};
}

/// A millisecond to thirty years.
inline CLI::Validator seconds() { return number_between(0.001, 1e9); }

template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value,
                        const std::map<std::string, Value>& words, const std::string& help) {
  const CLI::callback_t take = [&value, words](const CLI::results_t& results) {
    value = words.at(results.back());
    return true;
  };
  return app.add_option(name, take, help)->type_name("TEXT")->check(CLI::IsMember(words));
}

inline CLI::Option* add_context(CLI::App& app, ContextKind& kind) {
  return add_choice<ContextKind>(app, "--context", kind,
                                 {{"aware", ContextKind::kAware},
                                  {"unaware", ContextKind::kUnaware},
                                  {"overload", ContextKind::kOverload}},
                                 "What proposers are told: aware, unaware or overload (aware)");
}

inline CLI::Option* add_objective(CLI::App& app, Objective& objective) {
  return add_choice<Objective>(
      app, "--objective", objective,
      {{"time", Objective::kTime}, {"l2", Objective::kL2}, {"hbm", Objective::kHbm}},
      "time, l2 or hbm (time)");
}

}  // namespace swizzleperf
