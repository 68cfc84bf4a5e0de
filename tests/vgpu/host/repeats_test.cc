// Launches that repeat an earlier one: executed when anything that they may read is new, else done
// again by copying. What a "kernel" does here is a function of the test, and counted.
#include "vgpu/runtime/repeats.h"

#include <gtest/gtest.h>

#include <cstring>

namespace swizzleperf::vgpu::runtime {
namespace {

class RepeatsTest : public ::testing::Test {
 protected:
  RepeatsTest() {
    a = static_cast<int*>(heap.allocate(4096, MemoryKind::kDevice));
    b = static_cast<int*>(heap.allocate(4096, MemoryKind::kManaged));
    kernel.info = &info;
  }
  ~RepeatsTest() override {  // every heap begins at the same address
    heap.release(a, {MemoryKind::kDevice});
    heap.release(b, {MemoryKind::kManaged});
  }
  /// Launches f with one argument; true when it was executed.
  template <class F>
  bool launch(F f, int argument = 0) {
    Launch one{};
    one.grid = {4, 1, 1};
    one.block = {64, 1, 1};
    one.kernargs = std::as_bytes(std::span(&argument, 1));
    bool executed = false;
    repeats.run(kernel, one, heap, [&] {
      executed = true;
      f();
    });
    return executed;
  }

  Heap heap;
  KernelInfo info;
  Kernel kernel;
  Repeats repeats;
  int* a;
  int* b;
};

TEST_F(RepeatsTest, TheSameOnTheSameMemoryIsNotExecutedAThirdTime) {
  const auto f = [&] { b[0] = a[0] + 1; };
  EXPECT_TRUE(launch(f));
  EXPECT_TRUE(launch(f));  // from here on what it does is known
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(launch(f));
  EXPECT_EQ(b[0], 1);
  EXPECT_EQ(repeats.spared(), 100U);
}

TEST_F(RepeatsTest, WhatItWroteIsWrittenAgain) {
  const auto f = [&] { a[5] += 7; };
  for (int i = 0; i < 10; ++i) {
    std::memset(a, 0, 4096);
    b[3] = 4;
    EXPECT_EQ(launch(f), i < 2) << i;
    EXPECT_EQ(a[5], 7) << i;
  }
}

TEST_F(RepeatsTest, NewMemoryIsSeenWhoeverWroteIt) {
  const auto f = [&] { b[0] = a[0] + 1; };
  for (int i = 0; i < 4; ++i) launch(f);
  a[0] = 41;
  EXPECT_TRUE(launch(f));
  EXPECT_EQ(b[0], 42);
  b[7] = 1;  // by the host, in managed memory
  EXPECT_TRUE(launch(f));
}

TEST_F(RepeatsTest, AnotherLaunchOrLayoutIsAnother) {
  int count = 0;
  const auto f = [&] { ++count; };
  for (int i = 0; i < 3; ++i) launch(f, 1);
  EXPECT_EQ(count, 2);
  EXPECT_TRUE(launch(f, 2));
  void* const more = heap.allocate(4096, MemoryKind::kDevice);
  EXPECT_TRUE(launch(f, 1));
  heap.release(more, {MemoryKind::kDevice});
  EXPECT_TRUE(launch(f, 1));
}

/// Of more than is kept nothing is; the launch is executed each time.
TEST_F(RepeatsTest, LargeChangesAreNotKept) {
  constexpr std::uint64_t kBytes = 600 << 20;
  auto* const large = static_cast<char*>(heap.allocate(kBytes, MemoryKind::kDevice));
  ASSERT_NE(large, nullptr);
  for (int i = 0; i < 4; ++i) {
    large[7] = 0;
    EXPECT_TRUE(launch([&] { large[7] = 1; }));
  }
  heap.release(large, {MemoryKind::kDevice});
}

TEST_F(RepeatsTest, AKernelThatPrintsIsExecutedEachTime) {
  info.repeatable = false;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(launch([] {}));
}

TEST_F(RepeatsTest, MemoryOfTheProgramsOwnIsNotLookedAt) {
  int own[16] = {};
  ASSERT_TRUE(heap.adopt(own, sizeof own));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(launch([&] { own[0] = 1; }));
}

/// What changes each time is soon executed without a look at memory; the results are its own.
TEST_F(RepeatsTest, WhatIsNewEachTimeIsExecutedEachTime) {
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(launch([&] { ++a[0]; }));
  EXPECT_EQ(a[0], 50);
}

}  // namespace
}  // namespace swizzleperf::vgpu::runtime
