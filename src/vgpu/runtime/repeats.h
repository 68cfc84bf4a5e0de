// Launches that only repeat what an earlier one did.
//
// Benchmarks launch a kernel a thousand times, and all launches before the one that a job is about
// have to be executed, since they may make its data. Nearly always the second of them already finds
// the memory as the first did, or as it left it, and does the same again. A kernel is a function of
// its arguments and of memory; so where both are the same, bit for bit, what it did the first time
// is done again by copying.
//
// Nothing is assumed of who writes to memory between two launches (copies, other kernels, the host
// itself through managed memory): it is hashed, all of it. That costs a fraction of what a launch
// that fills it costs, and is begun only when an equal launch comes for the second time; a kernel
// that finds something new each time is soon left alone.
#pragma once

#include <xxhash.h>

#include <functional>
#include <map>
#include <vector>

#include "vgpu/runtime/heap.h"
#include "vgpu/runtime/modules.h"

namespace swizzleperf::vgpu::runtime {

class Repeats {
 public:
  /// Executes the launch, or does again what an equal one did.
  void run(const Kernel& kernel, const Launch& launch, Heap& heap,
           const std::function<void()>& execute);

  /// Launches that were not executed.
  [[nodiscard]] std::uint64_t spared() const { return spared_; }

 private:
  using Hash = std::pair<XXH64_hash_t, XXH64_hash_t>;
  /// What an allocation held after a launch that changed it.
  struct Change {
    std::uint64_t base;
    std::vector<std::byte> contents;
  };
  struct Known {
    std::uint64_t seen = 0;
    std::uint64_t in_vain = 0;  ///< times its memory was hashed and was not what it had been
    bool recorded = false;
    Hash memory;  ///< before
    std::vector<Change> changes;
  };

  static Hash hash_of(const void* data, std::uint64_t bytes);
  static std::vector<Hash> contents(const Heap& heap);
  void record(Known& known, const Heap& heap, const std::vector<Hash>& before);

  std::map<Hash, Known> known_;  // by the hash of the launch
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t spared_ = 0;
};

}  // namespace swizzleperf::vgpu::runtime
