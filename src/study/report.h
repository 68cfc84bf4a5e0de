// The files that a study leaves: tables for people and for programs, and the pictures.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "study/summary.h"

namespace swizzleperf::study {

struct Report {
  std::string attempts_csv;
  std::string table_csv;           ///< a row a configuration, over its trials
  std::string table_md;            ///< the same for people, with what follows from it
  std::string contradictions_csv;  ///< pairs of orders: the first hits more and is slower
  std::string hits_time_svg;
  std::string best_svg;
  nlohmann::ordered_json json;  ///< docs/json.md
};

Report make_report(const std::string& name, const std::vector<AttemptRow>& rows);

/// attempts.csv, table.csv, table.md, contradictions.csv, hits_time.svg, best.svg
void write_report(const Report& report, const std::filesystem::path& directory);

}  // namespace swizzleperf::study
