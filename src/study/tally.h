// What is kept of millions of replays: for every hit count that occurs, how many orders had it and
// how their times are distributed, with the fastest and the slowest of them by number; and the sums
// that Pearson's correlation needs.
//
// Hits are whole numbers of which a small launch has some dozens of different ones, so they are
// kept exactly. Times are kept in bins of a thousandth, which is far below what a model's time
// means. Tallies of ranges are added in the order of the ranges, so that the result does not depend
// on who replayed what when, to the last bit.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace swizzleperf::study {

struct SeenDeal {
  std::uint64_t number = 0;
  double time_ms = 0;
};

struct HitLevel {
  std::uint64_t deals = 0;
  double time_sum = 0;
  SeenDeal fastest;  ///< the first of equals
  SeenDeal slowest;
  std::map<int, std::uint64_t> by_time;  ///< time_bin -> deals
};

/// Bins of a thousandth of the time.
int time_bin(double time_ms);
double bin_begin_ms(int bin);

struct Tally {
  std::uint64_t deals = 0;
  double hits_sum = 0;  ///< of what is above `origin`, as are the others
  double time_sum = 0;
  double hits_squares = 0;
  double time_squares = 0;
  double products = 0;
  std::map<double, HitLevel> levels;  ///< by hits

  /// Some point of the data, subtracted so that the squares lose no digits.
  struct Origin {
    double hits = 0;
    double time_ms = 0;
  };
  void add(std::uint64_t number, double hits, double time_ms, const Origin& origin);
  /// That of the range behind.
  void add(const Tally& next);
};

nlohmann::json to_json(const Tally& tally);
/// Throws nlohmann::json::exception for what to_json does not write.
Tally tally_from_json(const nlohmann::json& json);

/// Nothing where one side is constant.
std::optional<double> pearson(const Tally& tally);
/// Of ranks, times of one bin being equal.
std::optional<double> spearman(const Tally& tally);

/// All pairs of orders, told apart by whether more hits come with less time.
struct Pairs {
  double agree = 0;
  double contradict = 0;  ///< more hits, and slower
  double tied = 0;        ///< the same hits, or times in one bin
};
Pairs count_pairs(const Tally& tally);

}  // namespace swizzleperf::study
