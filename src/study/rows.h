// What a study has found, attempt by attempt: the rows that every table and plot is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "study/study.h"

namespace swizzleperf::study {

/// An attempt, or a configuration that could not be run (then `attempt` is 0 and `reason` says
/// why). What was not measured is nothing.
struct AttemptRow {
  std::string kernel;
  std::string size;
  std::string machine;
  std::string context;  ///< empty: who was asked reads none
  std::string proposer;
  std::string model;  ///< empty: no model
  std::uint64_t trial = 1;
  std::uint64_t attempt = 0;
  std::string formula;
  std::string hash;  ///< of the order
  std::string outcome;
  std::optional<bool> parsed;
  std::optional<bool> bijective;
  std::optional<bool> identity;
  std::optional<bool> repeated;
  std::optional<bool> built;          ///< the best of a run, and all whole kernels
  std::optional<bool> equal_outputs;  ///< likewise
  std::optional<double> l2_before;    ///< hit rate of the order as it is
  std::optional<double> l2_after;
  std::optional<double> time_ms;
  std::optional<double> time_ratio;  ///< of the order as it is over this one's: above 1 is faster
  std::optional<double> tokens;      ///< prompt and completion
  std::optional<double> seconds;     ///< from the question to the reply
  bool best = false;                 ///< of its run, by the study's objective
  std::string reason;                ///< the report on the attempt, or why there is none
};

/// Those of one run.
std::vector<AttemptRow> rows_of(const StudyFile& study, const Finished& run);

/// attempts.csv
std::string attempts_csv(const std::vector<AttemptRow>& rows);

/// A field of a table of comma-separated values.
std::string csv_field(const std::string& text);
std::string csv_field(const std::optional<double>& value);
std::string csv_field(const std::optional<bool>& value);

}  // namespace swizzleperf::study
