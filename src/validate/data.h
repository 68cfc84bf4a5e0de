// What was measured on real GPUs, and what reproduces it: the folders of validation/ as data.
//
// A folder is a source: one machine, one way of measuring. Its launches.toml (validation/README.md
// is the contract) names the launches, the orders of blocks, which columns of which tables hold
// what, which points may be fitted to and which only judge, and the bounds that the model must
// keep. The files are edited by hand, so what is wrong in them is said with its line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/run.h"

namespace swizzleperf::validate {

/// Of one launch in one order; what was not measured is empty.
struct Measured {
  std::optional<double> l2_hit_rate;  ///< 0 to 1
  std::optional<double> l2_from;      ///< where a source gives a range of rates
  std::optional<double> l2_to;
  std::optional<double> llc_hit_rate;
  std::optional<double> dram_read_bytes;
  std::optional<double> time_ms;
  std::optional<double> profiled_ms;  ///< under the profiler: caches flushed before
  std::optional<double> speedup;      ///< time of the identity over this order's
  std::optional<double> bandwidth;    ///< bytes a second, in the source's own definition
};

struct Order {
  std::string name;        ///< as in the tables
  std::string swizzle;     ///< what --swizzle takes
  std::uint32_t dies = 0;  ///< for which it was written; 0: those of the machine
};

struct MeasuredPoint {
  std::size_t order = 0;  ///< index into Source::orders
  bool fitted = false;    ///< parameters may be fitted to it
  Measured measured;
};

struct MeasuredLaunch {
  std::string name;
  std::string kernel;  ///< the split is by kernel
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::vector<std::string> compile_options;
  std::vector<std::string>
      kernels;  ///< regular expressions, one a kernel launch; their sum is measured
  std::uint32_t blocks_per_cu = 0;    ///< at once on a compute unit, as measured; 0: unknown
  std::uint64_t first_blocks = 0;     ///< only so many in dispatch order are replayed; 0: all
  std::vector<MeasuredPoint> points;  ///< in the order of Source::orders
};

/// Which points a figure is about.
struct Selection {
  enum class Over { kAll, kFitted, kJudged };
  Over over = Over::kAll;
  std::vector<std::string> kernels;  ///< empty: all
  std::string launch;                ///< of a figure of one point
  std::string order;
  bool operator==(const Selection&) const = default;
};

struct Statistic;  // judge.h

struct Bound {
  const Statistic* statistic = nullptr;
  Selection selection;
  std::optional<double> at_least;
  std::optional<double> at_most;
};

struct Source {
  std::string name;  ///< of its folder
  std::filesystem::path file;
  std::string title;
  std::string machine;
  std::optional<vgpu::Language> language;  ///< none: as the program's name says
  double moved_points = 0;      ///< an order that changes L2 hits by more has a direction
  double time_spread = 0;       ///< launches whose times spread by more have a ranking
  double least_dram_bytes = 0;  ///< a launch that reads less has no relative error of it
  std::vector<Order> orders;
  std::vector<MeasuredLaunch> launches;
  std::vector<Bound> bounds;
};

/// $SWIZZLEPERF_VALIDATION, else beside the executable's folder. Throws Error(kInput).
std::filesystem::path validation_directory();

/// Every folder of `directory` that holds a launches.toml, by name. Throws Error(kInput): none, or
/// "file:line: sentence" for the first thing that is wrong.
std::vector<Source> read_sources(const std::filesystem::path& directory);

Source read_source(const std::filesystem::path& launches_file);

}  // namespace swizzleperf::validate
