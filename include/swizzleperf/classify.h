// Why requests miss L2.
//
// An order of blocks can only cure some misses, so they are told apart by asking four caches that
// see the same requests at the same moments as the real one, each containing the next:
//
//     of the whole device, endless     misses too: compulsory, no order can help
//     of this die, endless             misses too: sharing lost, another die has had it
//     of this die, fully associative   misses too: capacity, too much was asked for in between
//     of this die, as it is            misses:     conflict, only its sets were too small
//
// A miss belongs to the first cache in this list that misses it as well, so each belongs to exactly
// one class and the classes add up to the replay's misses. The third is true LRU and as large as
// the real one. It also misses some requests that the real one happens to hit (LRU is not optimal);
// `associative_misses` counts all of its misses, so that the net effect of the sets is known.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "swizzleperf/simulate.h"

namespace swizzleperf {

enum class MissClass : std::uint8_t { kCompulsory, kSharing, kCapacity, kConflict };
constexpr std::size_t kMissClasses = 4;
std::string_view miss_class_name(MissClass c);

struct MissTally {
  double requests = 0;  ///< in the units in which the machine's counters count
  double bytes = 0;     ///< fetched; a store fetches nothing
  MissTally& operator+=(const MissTally& other) {
    requests += other.requests;
    bytes += other.bytes;
    return *this;
  }
};

/// What one array asks of L2.
struct ArrayMisses {
  double requests = 0;
  std::array<MissTally, kMissClasses> by_class{};
  [[nodiscard]] MissTally misses() const {
    MissTally sum;
    for (const MissTally& tally : by_class) sum += tally;
    return sum;
  }
  [[nodiscard]] const MissTally& of(MissClass c) const {
    return by_class[static_cast<std::size_t>(c)];
  }
  ArrayMisses& operator+=(const ArrayMisses& other) {
    requests += other.requests;
    for (std::size_t c = 0; c < kMissClasses; ++c) by_class[c] += other.by_class[c];
    return *this;
  }
};

struct Classified {
  SimResult result;                 ///< of the exact replay
  std::vector<ArrayMisses> arrays;  ///< by Trace::buffers
  double associative_misses = 0;    ///< of fully associative L2s of the same size
  double written_bytes = 0;         ///< of sectors written, each counted once

  [[nodiscard]] ArrayMisses total() const {
    ArrayMisses sum;
    for (const ArrayMisses& array : arrays) sum += array;
    return sum;
  }
};

/// Rows of an array made longer: what lies `stride_bytes` apart lies `pad_bytes` more apart. Both
/// are multiples of L2's line.
struct Padding {
  std::uint32_t buffer = 0;  ///< index into Trace::buffers
  std::uint64_t stride_bytes = 0;
  std::uint64_t pad_bytes = 0;
};

/// Replays every request and classifies the misses; costs two to three times an exact replay. With
/// paddings it is a what-if: the same requests, at the lines where they would then lie. (What L1
/// filtered is left as it was.) Throws Error(kInput) when the padded arrays span 2^32 lines.
Classified classify(const Replayer& replayer, std::span<const std::uint32_t> permutation,
                    std::span<const Padding> paddings = {});

}  // namespace swizzleperf
