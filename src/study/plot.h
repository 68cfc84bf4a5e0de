// Pictures of a study as plain SVG: points in a frame, and nothing that a library is needed for.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swizzleperf::study {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> categories;  ///< of x = 0, 1, ...; empty: x is a number
  std::vector<Series> series;
  std::optional<double> y_rule;  ///< a line to compare with
};

/// Well-formed for any text and any finite numbers; points that are none are left out.
std::string svg(const Plot& plot);

}  // namespace swizzleperf::study
