// Deterministic pseudo-random numbers that are the same on every platform and for every thread
// count: a counter is hashed, so item i's number does not depend on who drew item i-1's.
#pragma once

#include <cstdint>

namespace swizzleperf {

/// Mixes 64 bits so that any input bit flips each output bit with probability one half.
inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

__extension__ using Wide = unsigned __int128;

/// A stream of numbers from a seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix64(seed)) {}
  std::uint64_t next() { return mix64(state_++); }
  /// Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace swizzleperf
