// The host's half that all programs of the suite share: command line, data, check, time.
//
// A program launches its kernel once; that is what the virtual GPU traces. Inputs are always
// filled, since a patched kernel is compared with the original on them: values are random-like and
// repeat with a period that is prime, so that no row or tile equals its neighbour and the host
// needs no copy of what it uploads.
//
// Exit status: 0, 1 when the check fails, 2 for wrong arguments, 3 when the device refuses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gpu.h"

namespace suite {

// ---- errors -------------------------------------------------------------------------------------

#define DEVICE_CHECK(call)                                               \
  do {                                                                   \
    const hipError_t status = (call);                                    \
    if (status != hipSuccess) {                                          \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   hipGetErrorString(status));                           \
      std::exit(3);                                                      \
    }                                                                    \
  } while (false)

// ---- command line -------------------------------------------------------------------------------

/// Whole numbers by position (all of them or none), numbers and flags by name.
class CommandLine {
 public:
  bool check = false;
  int repetitions = 0;

  /// `name` and what follows it in the usage line, without --check and --time.
  CommandLine(std::string name, std::string arguments, std::string words)
      : name_(std::move(name)), arguments_(std::move(arguments)), words_(std::move(words)) {
    flag("--check", check);
    number("--time", repetitions, 1 << 20);
  }
  void size(const char* name, int& value, int most) { sizes_.push_back({name, &value, most}); }
  void number(const char* name, int& value, int most) { numbers_.push_back({name, &value, most}); }
  void flag(const char* name, bool& value) { flags_.push_back({name, &value}); }

  void parse(int argc, char** argv) {
    std::vector<const char*> positional;
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      if (argument == "--help" || argument == "-h") help();
      if (argument.empty() || argument[0] != '-') {
        positional.push_back(argv[i]);
      } else if (!take_flag(argument) &&
                 !take_number(argument, i + 1 < argc ? argv[i + 1] : nullptr)) {
        wrong("there is no option " + argument);
      } else if (is_number(argument)) {
        ++i;
      }
    }
    if (!positional.empty() && positional.size() != sizes_.size()) {
      wrong("it takes " + std::to_string(sizes_.size()) + " sizes or none, not " +
            std::to_string(positional.size()));
    }
    for (std::size_t i = 0; i < positional.size(); ++i) set(sizes_[i], positional[i]);
  }

  [[noreturn]] void wrong(const std::string& what) const {
    std::fprintf(stderr, "%s: %s (usage: %s)\n", name_.c_str(), what.c_str(), usage().c_str());
    std::exit(2);
  }

 private:
  struct Number {
    const char* name;
    int* value;
    int most;
  };
  struct Flag {
    const char* name;
    bool* value;
  };

  std::string usage() const { return name_ + " " + arguments_ + " [--check] [--time N]"; }

  [[noreturn]] void help() const {
    std::printf(
        "usage: %s\n%s\n"
        "  --check   compare with a reference on the CPU; exit status 1 if they differ\n"
        "  --time N  time N launches by events and print their median and least\n",
        usage().c_str(), words_.c_str());
    std::exit(0);
  }

  bool take_flag(const std::string& name) {
    for (const Flag& f : flags_) {
      if (name == f.name) return *f.value = true;
    }
    return false;
  }

  bool is_number(const std::string& name) const {
    return std::any_of(numbers_.begin(), numbers_.end(),
                       [&](const Number& n) { return name == n.name; });
  }

  bool take_number(const std::string& name, const char* text) {
    for (const Number& n : numbers_) {
      if (name != n.name) continue;
      set(n, text != nullptr ? text : "");
      return true;
    }
    return false;
  }

  void set(const Number& number, const char* text) const {
    char* end = nullptr;
    const long long value = std::strtoll(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > number.most) {
      wrong(std::string(number.name) + " is a whole number from 1 to " +
            std::to_string(number.most) + ", not '" + text + "'");
    }
    *number.value = static_cast<int>(value);
  }

  std::string name_;
  std::string arguments_;
  std::string words_;
  std::vector<Number> sizes_;
  std::vector<Number> numbers_;
  std::vector<Flag> flags_;
};

// ---- data ---------------------------------------------------------------------------------------

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    DEVICE_CHECK(hipMalloc(&data_, count * sizeof(T)));
  }
  ~DeviceArray() { (void)hipFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return static_cast<T*>(data_); }
  std::size_t count() const { return count_; }

  void upload(const T* from, std::size_t count, std::size_t at = 0) {
    DEVICE_CHECK(hipMemcpy(data() + at, from, count * sizeof(T), hipMemcpyHostToDevice));
  }
  std::vector<T> download(std::size_t at, std::size_t count) const {
    std::vector<T> values(count);
    DEVICE_CHECK(hipMemcpy(values.data(), data() + at, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
  }
  std::vector<T> download() const { return download(0, count_); }

 private:
  std::size_t count_;
  void* data_ = nullptr;
};

inline std::uint32_t mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

/// In [0, 1).
inline float random_unit(std::uint32_t seed, std::uint32_t index) {
  return static_cast<float>(mix(seed * 0x9e3779b9U + mix(index)) >> 8) / (1 << 24);
}

/// An array of random-like values in [low, high), as long as one likes.
template <typename T>
class Values {
 public:
  Values(std::uint32_t seed, float low, float high, std::size_t count)
      : pool_(std::min(count, kPeriod)) {
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      pool_[i] =
          static_cast<T>(low + (high - low) * random_unit(seed, static_cast<std::uint32_t>(i)));
    }
  }
  float operator[](std::size_t i) const { return static_cast<float>(pool_[i % kPeriod]); }

  void fill(DeviceArray<T>& array) const {
    for (std::size_t at = 0; at < array.count(); at += kPeriod) {
      array.upload(pool_.data(), std::min(kPeriod, array.count() - at), at);
    }
  }

 private:
  static constexpr std::size_t kPeriod = 1'000'003;
  std::vector<T> pool_;
};

/// Which of `count` rows a check looks at: all of them while that is quick, else some that include
/// the first and the last.
inline std::vector<int> rows_to_check(int count, double cost_of_row) {
  constexpr double kQuick = 3e8;
  const int most = static_cast<int>(std::clamp(kQuick / cost_of_row, 16.0, 1e9));
  std::vector<int> rows;
  for (int i = 0; i < std::min(count, most); ++i) {
    rows.push_back(count <= most
                       ? i
                       : static_cast<int>(static_cast<std::int64_t>(i) * (count - 1) / (most - 1)));
  }
  return rows;
}

// ---- check --------------------------------------------------------------------------------------

/// Errors relative to the expected value, or to `scale` where that is greater.
class Comparison {
 public:
  explicit Comparison(double allowed, double scale = 1) : allowed_(allowed), scale_(scale) {}

  void add(std::size_t index, double got, double expected) {
    const double error = std::fabs(got - expected) / std::max(std::fabs(expected), scale_);
    ++compared_;
    if (!(error <= allowed_) && wrong_++ == 0) first_ = {index, got, expected};
    if (error > largest_) largest_ = error;
  }

  /// Says how it went; true when all values are right.
  bool report(const char* what) const {
    if (wrong_ > 0) {
      std::printf(
          "check: FAIL: %zu of %zu values of %s are wrong; the first, [%zu], is %.9g and "
          "should be %.9g\n",
          wrong_, compared_, what, first_.index, first_.got, first_.expected);
    } else {
      std::printf("check: PASS: %zu values of %s, largest error %.3g, allowed %.3g\n", compared_,
                  what, largest_, allowed_);
    }
    return wrong_ == 0 && compared_ > 0;
  }

 private:
  struct Wrong {
    std::size_t index;
    double got;
    double expected;
  };
  double allowed_;
  double scale_;
  double largest_ = 0;
  std::size_t compared_ = 0;
  std::size_t wrong_ = 0;
  Wrong first_ = {};
};

/// Half a unit in the last place of a half, for results that are rounded once.
constexpr double kHalfRounding = 1.0 / 2048;

// ---- time ---------------------------------------------------------------------------------------

/// Times `launch` by itself so many times, after one more to warm up; the caches stay as the last
/// launch left them.
template <typename Launch>
void measure(const char* what, int repetitions, Launch&& launch) {
#if defined(SUITE_VARIANTS)  // validation/h200/variants.cuh: many orders in one program
  measure_variants(what, repetitions, launch);
  return;
#endif
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  DEVICE_CHECK(hipEventCreate(&start));
  DEVICE_CHECK(hipEventCreate(&stop));
  launch();
  std::vector<float> times(repetitions);
  for (float& milliseconds : times) {
    DEVICE_CHECK(hipEventRecord(start, nullptr));
    launch();
    DEVICE_CHECK(hipEventRecord(stop, nullptr));
    DEVICE_CHECK(hipEventSynchronize(stop));
    DEVICE_CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  }
  DEVICE_CHECK(hipEventDestroy(start));
  DEVICE_CHECK(hipEventDestroy(stop));
  std::sort(times.begin(), times.end());
  std::printf("time: %s: median %.4f ms, min %.4f ms of %d\n", what, times[times.size() / 2],
              times[0], repetitions);
}

/// After a launch: was it accepted, and did it end well?
inline void finish() {
  DEVICE_CHECK(hipGetLastError());
  DEVICE_CHECK(hipDeviceSynchronize());
}

inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

}  // namespace suite
