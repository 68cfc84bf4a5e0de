// Device memory: placement, lookup to the byte, and the digest.
#include "vgpu/runtime/heap.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/random.h"

namespace swizzleperf::vgpu::runtime {
namespace {

TEST(Heap, AllocationsAreAlignedDisjointAndFoundToTheByte) {
  Heap heap;
  Random random(1);
  std::vector<std::pair<char*, std::uint64_t>> live;
  for (int i = 0; i < 300; ++i) {
    if (!live.empty() && random.below(3) == 0) {
      const std::size_t victim = random.below(live.size());
      ASSERT_TRUE(heap.release(live[victim].first, {MemoryKind::kDevice}));
      EXPECT_EQ(heap.find(live[victim].first).allocation, nullptr);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      continue;
    }
    const std::uint64_t bytes = 1 + random.below(random.below(8) ? 10'000 : 8'000'000);
    auto* const base = static_cast<char*>(heap.allocate(bytes, MemoryKind::kDevice));
    ASSERT_NE(base, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(base) % 4096, 0U);
    base[0] = base[bytes - 1] = 1;  // it is there
    live.emplace_back(base, bytes);
  }
  for (const auto& [base, bytes] : live) {
    EXPECT_NE(heap.find(base, bytes).allocation, nullptr);
    EXPECT_EQ(heap.find(base, bytes + 1).allocation, nullptr);
    EXPECT_NE(heap.find(base + bytes - 1).allocation, nullptr);
    EXPECT_EQ(heap.find(base - 1).allocation, nullptr);
    EXPECT_FALSE(heap.release(base + 1, {MemoryKind::kDevice}));
    EXPECT_FALSE(heap.release(base, {MemoryKind::kHost}));
  }
  for (std::size_t i = 1; i < heap.memory().allocations.size(); ++i) {
    const Allocation& before = heap.memory().allocations[i - 1];
    EXPECT_GT(heap.memory().allocations[i].base, before.base + before.bytes);
  }
  for (const auto& [base, bytes] : live) heap.release(base, {MemoryKind::kDevice});
  EXPECT_EQ(heap.used(), 0U);
}

TEST(Heap, RefusesWhatTheMachineDoesNotHave) {
  Heap heap;
  EXPECT_EQ(heap.allocate(heap.limit() + 1, MemoryKind::kDevice), nullptr);
  EXPECT_EQ(heap.allocate(~std::uint64_t{0}, MemoryKind::kDevice), nullptr);
}

TEST(Heap, DigestCoversFreedMemoryAndOrder) {
  // One heap after another: they share the fixed addresses.
  const auto digest = [](char first, char second, bool release) {
    Heap heap;
    heap.keep_digests();
    auto* const a = static_cast<char*>(heap.allocate(100, MemoryKind::kDevice));
    auto* const b = static_cast<char*>(heap.allocate(100, MemoryKind::kManaged));
    auto* const host = static_cast<char*>(heap.allocate(100, MemoryKind::kHost));
    std::memset(a, first, 100);
    std::memset(b, second, 100);
    std::memset(host, first ^ second, 100);
    if (release) heap.release(b, {MemoryKind::kManaged});
    std::string result = heap.digest();
    heap.release(a, {MemoryKind::kDevice});
    if (!release) heap.release(b, {MemoryKind::kManaged});
    heap.release(host, {MemoryKind::kHost});
    return result;
  };
  const std::string reference = digest(1, 2, false);
  EXPECT_EQ(reference, digest(1, 2, true));
  EXPECT_NE(reference, digest(2, 1, false));
  EXPECT_NE(reference, digest(1, 3, false));
}

}  // namespace
}  // namespace swizzleperf::vgpu::runtime
