// The memory of a held program: kept, hashed, restored, poisoned, shuffled.
//
// Bytes cross between device and host in batches of chunks through two pinned buffers, so that the
// bus works on one while the host's threads work on the other: what a chunk's bytes are wanted for
// (a hash, the copy, another order) is a function of the chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure/probe/device.h"

namespace swizzleperf::measure::probe {

inline constexpr std::uint64_t kChunk = 1 << 20;  // kChunkBytes of session.h

/// At most kChunk bytes of a region, from a multiple of kChunk.
struct Chunk {
  std::size_t region;
  std::uint64_t offset;
  std::uint64_t bytes;
};

class Staging {
 public:
  explicit Staging(Device& device);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// The bytes of each chunk, to be read by `consume`, on several threads.
  using Consume = std::function<void(std::size_t chunk, const std::byte* bytes)>;
  void download(std::span<const Region> regions, std::span<const Chunk> chunks,
                const Consume& consume);
  /// The bytes of each chunk are what `produce` writes, on several threads.
  using Produce = std::function<void(std::size_t chunk, std::byte* bytes)>;
  void upload(std::span<const Region> regions, std::span<const Chunk> chunks,
              const Produce& produce);

 private:
  static constexpr std::size_t kSlots = 32;  // of one of the two buffers

  [[nodiscard]] std::byte* slot(std::size_t buffer, std::size_t index) const {
    return buffers_ + (buffer * kSlots + index) * kChunk;
  }

  Device& device_;
  std::byte* buffers_;
  std::unique_ptr<std::byte[]> unpinned_;  // where there is no pinned memory
};

/// The state in which the program reached the launch. Its copy is on the device where that has
/// room, else on the host.
class Snapshot {
 public:
  /// Throws std::runtime_error with a sentence when there is no room for it anywhere.
  Snapshot(Device& device, std::vector<Region> regions);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  [[nodiscard]] const std::vector<Region>& regions() const { return regions_; }
  [[nodiscard]] bool on_host() const { return host_ != nullptr; }

  /// Hashes of the state, and of what memory holds now: of each chunk, in the order of regions.
  std::vector<std::uint64_t> hash_of_copy();
  std::vector<std::uint64_t> hash_of_memory();

  void restore(std::size_t region);
  void restore_all();
  /// Fills with a pattern that reads as an unlikely number in every type.
  void poison(std::size_t region, std::uint64_t seed);
  /// The 16-byte units of the state in another order: a function of the seed, the region's place
  /// and its size, and so the same in every program.
  void shuffle(std::size_t region, std::uint64_t seed);
  std::string read(std::size_t region, std::uint64_t offset, std::uint64_t bytes);

 private:
  void copy_to_host();
  [[nodiscard]] std::vector<Region> copies() const;

  Device& device_;
  Staging staging_;
  std::vector<Region> regions_;
  std::vector<std::uint64_t> offsets_;  // of their copies
  std::byte* copy_ = nullptr;           // on the device, or null
  std::byte* host_ = nullptr;           // else here
  std::uint64_t total_ = 0;
};

}  // namespace swizzleperf::measure::probe
