// A program held at one launch.
//
// The program runs as a child with a library of ours inside (CUDA: CUPTI's callbacks, loaded
// through CUDA_INJECTION64_PATH; HIP: LD_PRELOAD), which lets everything pass until the wanted
// launch is about to happen. There the program's thread stops, and the library serves our commands
// over a socket: launch from this or that state of memory, hash what memory holds, time so many
// launches. So original and candidate can both be held at once and be timed A B A B, on the memory
// that the programs themselves prepared, whatever they were built from; no source is instrumented.
//
// A state of memory is one of Start. The state in which the program reached the launch is kept in a
// copy (on the device if it fits, else on the host), so each command begins from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "measure/bundle.h"

namespace swizzleperf::measure {

/// What memory holds before a launch.
enum class Start {
  kAsIs,      ///< what the program put there
  kAsLeft,    ///< what the last launch left: nothing is restored
  kPoisoned,  ///< as it is, but what the launch writes is filled with a pattern, so that what is
              ///< not written shows
  kFresh,     ///< as it is, but the 16-byte units of each allocation that the launch does not write
              ///< are shuffled among themselves: other inputs of the same kind and range
};

struct Allocation {
  std::uint64_t bytes = 0;
  bool operator==(const Allocation&) const = default;
};

/// Hashes of all device memory that the program has, in the order of allocation: a hash for each
/// chunk of kChunkBytes, so that two programs can be compared without their bytes being moved.
inline constexpr std::uint64_t kChunkBytes = 1 << 20;
using MemoryHash = std::vector<std::vector<std::uint64_t>>;

/// Allocations of which a launch changed bytes, by index.
using Written = std::vector<std::uint32_t>;

/// Why a program is of no use: a sentence without a full stop, as in "it ended with exit status 1
/// before it launched the kernel: <its last line>".
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Held {
  std::string device;  ///< the GPU's name, as its driver says
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_lds_bytes = 0;
  std::vector<Allocation> allocations;
};

class Session {
 public:
  /// Starts the program and waits until it is held at the launch. `spec` is the child as it is to
  /// be run (argv, directory, limits); the environment that brings the library in is added here.
  /// `reach_s`: the most seconds until the launch; `command_s`: until a command is answered.
  /// Throws Refusal: it ended, crashed, hung, or never made the launch.
  Session(ChildSpec spec, Language language, const Target& target, double reach_s,
          double command_s);
  /// Kills the program if finish() was not called.
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  [[nodiscard]] const Held& held() const;
  /// Whether it still answers: false once a command has thrown, and after finish().
  [[nodiscard]] bool alive() const;

  /// All commands throw Refusal when the program ends, crashes or does not answer in time, or when
  /// the launch fails; the session is of no further use then.

  /// Of memory as the program prepared it.
  MemoryHash before();
  /// Of memory as a launch from `start` would find it; nothing is launched. Not of kAsLeft.
  MemoryHash state(Start start, const Written& written, std::uint64_t seed = 1);
  /// One launch from `start`; what memory holds after it. `seed` where something is drawn.
  MemoryHash launch(Start start, const Written& written, std::uint64_t seed = 1);
  /// Bytes of an allocation as the last launch left them; at most kChunkBytes.
  std::string read(std::uint32_t allocation, std::uint64_t offset, std::uint64_t bytes);
  /// Launches `warm_up` times, then `repetitions` times with events around each. With `restore`,
  /// `written` is restored before each launch, outside of what is timed; with `flush`, the
  /// last-level cache of the device is filled with something else before each, likewise.
  /// Milliseconds, one a launch.
  std::vector<double> time(int warm_up, int repetitions, bool restore, bool flush,
                           const Written& written);
  /// Launches again and again for `seconds` or so, without restoring, and says how often: for
  /// readings of energy. The span is host time around it.
  struct Burst {
    std::uint64_t launches = 0;
    double seconds = 0;
  };
  Burst burst(double seconds);
  /// Restores memory, lets the launch happen and the program go on to its end.
  ChildResult finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Allocations whose hashes differ. Throws Refusal when they are not of the same allocations.
Written differing(const MemoryHash& a, const MemoryHash& b);

/// Whether the library for a language was built here, and if not why, in a sentence.
std::string missing_probe(Language language);

}  // namespace swizzleperf::measure
