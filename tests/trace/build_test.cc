// A trace made by extrapolation equals the trace made by running every block: addresses, bytes,
// kinds, waves, intervals and costs, block by block. Kernels are chosen to be hard: edges, ragged
// tails, remaps, triangular loops, data-dependent addresses, single odd blocks.
#include "trace/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "base/random.h"
#include "support/random_launch.h"
#include "support/synthetic.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

constexpr std::uint64_t kBase = 1ULL << 40;
constexpr std::uint64_t kArray = 1ULL << 32;  // room of each array

struct Kernel {
  std::string name;
  Dim3 grid;
  RunBlock run;
};

Trace launch_of(const Dim3& grid) {
  Trace t;
  t.grid = grid;
  t.buffers = {
      {"a", kBase, kArray}, {"b", kBase + kArray, kArray}, {"c", kBase + 2 * kArray, kArray}};
  return t;
}

Trace build(const Kernel& kernel, bool extrapolate, unsigned threads = 2) {
  Trace t = launch_of(kernel.grid);
  build_trace(t, kernel.run, {.threads = threads, .extrapolate = extrapolate, .seed = 1});
  return t;
}

/// Lane i of `lanes` touches 4 bytes at element first + i * stride of array `array`.
bool access(BlockRecorder& r, AccessKind kind, std::uint32_t wave, std::uint64_t array,
            std::uint64_t first, std::uint64_t lanes = 64, std::uint64_t stride = 1) {
  std::array<std::uint64_t, 64> at{};
  for (std::uint64_t i = 0; i < 64; ++i) at[i] = kBase + array * kArray + (first + i * stride) * 4;
  const std::uint64_t mask = lanes >= 64 ? ~0ULL : (1ULL << lanes) - 1;
  return r.access(kind, wave, mask, at.data(), 4);
}

/// Block-by-block equality, independent of how blocks share templates.
void expect_same(const Trace& seen, const Trace& wanted) {
  ASSERT_EQ(seen.blocks.size(), wanted.blocks.size());
  for (std::size_t b = 0; b < seen.blocks.size(); ++b) {
    const Template& s = seen.templates.at(seen.blocks[b].template_index);
    const Template& w = wanted.templates.at(wanted.blocks[b].template_index);
    ASSERT_EQ(s.intervals, w.intervals) << "block " << b;
    ASSERT_EQ(s.events.size(), w.events.size()) << "block " << b;
    for (std::size_t e = 0; e < s.events.size(); ++e) {
      const Event& x = s.events[e];
      const Event& y = w.events[e];
      ASSERT_EQ(seen.anchors.at(seen.blocks[b].first_anchor + x.slot) + x.offset,
                wanted.anchors.at(wanted.blocks[b].first_anchor + y.slot) + y.offset)
          << "block " << b << ", event " << e;
      ASSERT_EQ(seen.patterns.at(x.pattern), wanted.patterns.at(y.pattern)) << "block " << b;
      ASSERT_EQ(s.slot_buffer.at(x.slot), w.slot_buffer.at(y.slot)) << "block " << b;
      ASSERT_EQ(x.kind, y.kind) << "block " << b;
      ASSERT_EQ(x.wave, y.wave) << "block " << b;
    }
  }
}

void expect_extrapolates_exactly(const Kernel& kernel) {
  SCOPED_TRACE(kernel.name);
  expect_same(build(kernel, true), build(kernel, false));
}

// ---- kernels ------------------------------------------------------------------------------------

/// c[i] = a[i] + b[i], 256 a block, n elements: the last block is ragged.
Kernel elementwise(std::uint64_t n) {
  return {"element-wise " + std::to_string(n),
          {static_cast<std::uint32_t>((n + 255) / 256), 1, 1},
          [n](const Dim3& index, BlockRecorder& r) {
            r.begin(4);
            for (std::uint32_t w = 0; w < 4; ++w) {
              const std::uint64_t first = index.x * std::uint64_t{256} + w * std::uint64_t{64};
              const std::uint64_t lanes = first < n ? n - first : 0;
              if (!access(r, AccessKind::kLoad, w, 0, first, lanes) ||
                  !access(r, AccessKind::kLoad, w, 1, first, lanes)) {
                return;
              }
              r.cost({.instructions = 6,
                      .vector_ops = static_cast<double>(std::min<std::uint64_t>(lanes, 64))});
              if (!access(r, AccessKind::kStore, w, 2, first, lanes)) return;
            }
          }};
}

/// Five points, halo clamped at the edges of the array.
Kernel stencil(std::uint32_t nx, std::uint32_t ny) {
  return {"stencil", {nx, ny, 1}, [nx, ny](const Dim3& index, BlockRecorder& r) {
            const std::int64_t width = nx * std::int64_t{64};
            const std::int64_t height = ny * std::int64_t{4};
            r.begin(4);
            for (std::uint32_t w = 0; w < 4; ++w) {
              const std::int64_t y = index.y * std::int64_t{4} + w;
              for (const auto& [dx, dy] : {std::pair{0, 0}, {0, -1}, {0, 1}, {-1, 0}, {1, 0}}) {
                std::array<std::uint64_t, 64> at{};
                const std::int64_t row = std::clamp<std::int64_t>(y + dy, 0, height - 1);
                for (std::int64_t i = 0; i < 64; ++i) {
                  const std::int64_t x =
                      std::clamp<std::int64_t>(index.x * std::int64_t{64} + i + dx, 0, width - 1);
                  at[i] = kBase + static_cast<std::uint64_t>(row * width + x) * 4;
                }
                if (!r.access(AccessKind::kLoad, w, ~0ULL, at.data(), 4)) return;
              }
              if (!access(r, AccessKind::kStore, w, 1,
                          static_cast<std::uint64_t>(y * width + index.x * std::int64_t{64}))) {
                return;
              }
            }
          }};
}

/// Query block q of head h reads keys and values 0..q; `head_first` decodes a 1-D grid by hand. So
/// many heads in a `group` share their keys.
Kernel attention(std::uint32_t heads, std::uint32_t queries, bool causal, bool head_first,
                 std::uint32_t group = 1) {
  const Dim3 grid = head_first ? Dim3{heads * queries, 1, 1} : Dim3{queries, heads, 1};
  return {std::string("attention") + (causal ? " causal" : "") + (head_first ? " head-first" : ""),
          grid, [=](const Dim3& index, BlockRecorder& r) {
            const std::uint64_t h = head_first ? index.x % heads : index.y;
            const std::uint64_t q = head_first ? index.x / heads : index.x;
            const std::uint64_t head = h * queries * 1024;  // elements of 16 rows of 64
            const std::uint64_t keys = h / group * queries * 1024;
            r.begin(2);
            for (std::uint64_t row = 0; row < 16; ++row) {
              if (!access(r, AccessKind::kLoad, row % 2, 0, head + q * 1024 + row * 64)) return;
            }
            for (std::uint64_t k = 0; k < (causal ? q + 1 : queries); ++k) {
              for (std::uint64_t row = 0; row < 16; ++row) {
                if (!access(r, AccessKind::kLoad, row % 2, 1, keys + k * 1024 + row * 64)) return;
              }
              r.cost({.instructions = 40, .matrix_flops = 16 * 16 * 64 * 2});
              if (!r.barrier()) return;
            }
            for (std::uint64_t row = 0; row < 16; ++row) {
              if (!access(r, AccessKind::kStore, row % 2, 2, head + q * 1024 + row * 64)) return;
            }
          }};
}

/// Addresses that depend on data: nothing to predict.
Kernel gather(std::uint32_t blocks, std::uint64_t events) {
  return {"gather", {blocks, 1, 1}, [events](const Dim3& index, BlockRecorder& r) {
            Random random(index.x);
            r.begin(4);
            for (std::uint64_t e = 0; e < events; ++e) {
              std::array<std::uint64_t, 64> at{};
              for (auto& a : at) a = kBase + random.below(1 << 20) * 4;
              if (!r.access(AccessKind::kLoad, e % 4, ~0ULL, at.data(), 4)) return;
            }
          }};
}

/// Every axis moves every array, by strides of its own; z also picks how fast.
Kernel boxes(const Dim3& grid) {
  return {"boxes " + std::to_string(grid.x) + "x" + std::to_string(grid.y) + "x" +
              std::to_string(grid.z),
          grid, [grid](const Dim3& index, BlockRecorder& r) {
            r.begin(2);
            for (std::uint64_t e = 0; e < 10; ++e) {
              const std::uint64_t a = index.x * 64 + index.y * 4096 + index.z * 70000 + e * 640;
              const std::uint64_t b = index.y * 32 + index.z * 512 + e * 16;
              if (!access(r, AccessKind::kLoad, e % 2, 0, a) ||
                  !access(r, AccessKind::kAtomic, e % 2, 1, b, 16)) {
                return;
              }
              if (e % 3 == 0 && !r.barrier()) return;
            }
            (void)access(r, AccessKind::kStore, 0, 2, linear(index, grid) * 64);
          }};
}

Kernel gemm(const synthetic::Gemm& g) { return {"gemm", g.grid(), g}; }

/// The element-wise kernel, but block `odd` reads elsewhere; with `late`, after any prefix.
Kernel one_odd_block(std::uint32_t blocks, std::uint32_t odd, bool late) {
  return {"odd block " + std::to_string(odd) + (late ? " late" : " early"),
          {blocks, 1, 1},
          [=](const Dim3& index, BlockRecorder& r) {
            r.begin(1);
            for (std::uint64_t e = 0; e < 400; ++e) {
              const bool here = index.x == odd && (late ? e > 300 : e < 3);
              if (!access(r, AccessKind::kLoad, 0, 0,
                          index.x * std::uint64_t{64} + e * 100000 + (here ? 4096 : 0))) {
                return;
              }
              if (e % 16 == 15 && !r.barrier()) return;
            }
          }};
}

// ---- tests --------------------------------------------------------------------------------------

TEST(BuildTrace, Gemm) {
  for (const std::uint64_t group : {1, 2, 3, 4, 8, 100}) {
    expect_extrapolates_exactly(gemm({2048, 2048, 256, 128, group}));
    expect_extrapolates_exactly(gemm({128 * 9, 128 * 7, 192, 128, group}));
    expect_extrapolates_exactly(gemm({128 * 13, 128, 512, 128, group}));
    expect_extrapolates_exactly(gemm({64 * 5, 64 * 31, 128, 64, group}));
  }
}

TEST(BuildTrace, Transpose) {
  for (const std::uint64_t n : {32, 64, 96, 128, 160, 1024, 1056}) {
    const synthetic::Transpose transpose{n};
    expect_extrapolates_exactly({"transpose", transpose.launch().grid, transpose});
  }
}

TEST(BuildTrace, ElementwiseWithRaggedTail) {
  for (const std::uint64_t n : {1, 255, 256, 257, 1000, 4096, 5000, 100000, 100001, 262144}) {
    expect_extrapolates_exactly(elementwise(n));
  }
}

TEST(BuildTrace, StencilWithClampedHalo) {
  for (const auto& [nx, ny] : {std::pair{1U, 1U}, {2U, 9U}, {5U, 5U}, {16U, 12U}, {40U, 3U}}) {
    expect_extrapolates_exactly(stencil(nx, ny));
  }
}

TEST(BuildTrace, Attention) {
  for (const bool causal : {false, true}) {
    for (const bool head_first : {false, true}) {
      for (const std::uint32_t heads : {1U, 3U, 7U, 16U}) {
        expect_extrapolates_exactly(attention(heads, 24, causal, head_first));
      }
    }
  }
}

TEST(BuildTrace, Gather) {
  for (const std::uint32_t blocks : {3U, 100U, 700U}) {
    for (const std::uint64_t events : {5, 100}) expect_extrapolates_exactly(gather(blocks, events));
  }
}

TEST(BuildTrace, GridsOfEveryDimension) {
  for (const Dim3& grid : {Dim3{1000, 1, 1},
                           {1, 1000, 1},
                           {1, 1, 1000},
                           {37, 29, 1},
                           {5, 1, 77},
                           {1, 13, 17},
                           {7, 11, 5},
                           {4, 4, 4},
                           {3, 2, 50},
                           {16, 1, 1}}) {
    expect_extrapolates_exactly(boxes(grid));
  }
  for (std::uint32_t n = 1; n <= 20; ++n) {
    expect_extrapolates_exactly(boxes({n, 1, 1}));
    expect_extrapolates_exactly(boxes({1, n, 2}));
  }
}

/// Blocks that differ in their work alone must not be taken for one another.
TEST(BuildTrace, WorkThatDependsOnTheBlock) {
  for (const bool prefix : {false, true}) {
    expect_extrapolates_exactly(
        {"uneven work", {300, 1, 1}, [prefix](const Dim3& index, BlockRecorder& r) {
           const std::uint64_t tile = prefix ? index.x % 7 * 50 + index.x / 7 : index.x;
           r.begin(1);
           for (std::uint64_t e = 0; e < 100; ++e) {
             if (!access(r, AccessKind::kLoad, 0, 0, tile * 64 + e * 100000)) return;
             r.cost({.instructions = 1.0 + index.x % 5});
             if (e % 8 == 7 && !r.barrier()) return;
           }
         }});
  }
}

/// Short blocks are all checked, so a single odd one among thousands is seen.
TEST(BuildTrace, SeesOneOddBlockAmongThousandsOfShortOnes) {
  expect_extrapolates_exactly(
      {"one odd block", {64, 64, 1}, [](const Dim3& index, BlockRecorder& r) {
         r.begin(1);
         const std::uint64_t block = index.y * std::uint64_t{64} + index.x;
         const std::uint64_t accesses = block == 1777 ? 400 : 8;
         for (std::uint64_t e = 0; e < accesses; ++e) {
           if (!access(r, AccessKind::kLoad, 0, 0, block * 1024 + e * 128)) return;
         }
       }});
}

/// A launch of long blocks without anything irregular runs few, and the method says how many.
TEST(BuildTrace, RunsFewBlocksOfRegularLaunches) {
  for (const Kernel& kernel : {gemm({8192, 8192, 4096}), gemm({8192, 4096, 8192})}) {
    const Trace t = build(kernel, true);
    EXPECT_LT(t.method.blocks_run, kernel.grid.count() / 4);
    EXPECT_EQ(t.method.blocks_run + t.method.blocks_extrapolated, kernel.grid.count());
    EXPECT_GT(t.method.blocks_checked, 0U);
    EXPECT_LE(t.method.blocks_checked, t.method.blocks_run);
  }
  const Trace all = build(boxes({100, 10, 1}), false);
  EXPECT_EQ(all.method.blocks_run, 1000U);
  EXPECT_EQ(all.method.blocks_checked, 0U);
  EXPECT_EQ(all.method.blocks_extrapolated, 0U);
}

/// Under a causal mask no two query blocks are alike, but all heads are.
TEST(BuildTrace, DoesNotRunAllHeadsOfCausalAttention) {
  for (const std::uint32_t group : {1U, 8U}) {
    const Kernel kernel = attention(64, 40, true, false, group);
    const Trace t = build(kernel, true);
    EXPECT_GT(t.method.blocks_extrapolated, kernel.grid.count() / 5);  // short blocks: many checks
    expect_same(t, build(kernel, false));
  }
}

/// Checks are other blocks than those fitted, and different from each other, also in a region that
/// is hardly larger than its checks.
TEST(BuildTrace, NoBlockIsRunTwiceInARegularRegion) {
  for (const std::uint32_t blocks : {15U, 16U, 20U, 40U, 1000U}) {
    std::vector<std::atomic<int>> runs(blocks);
    const Kernel kernel = boxes({blocks, 1, 1});
    Trace t = launch_of(kernel.grid);
    build_trace(t,
                [&](const Dim3& index, BlockRecorder& r) {
                  ++runs[index.x];
                  kernel.run(index, r);
                },
                {.threads = 2});
    std::uint64_t run = 0;
    for (const auto& n : runs) {
      EXPECT_LE(n, 1);
      run += n;
    }
    EXPECT_EQ(t.method.blocks_run, run);
    EXPECT_EQ(t.method.blocks_extrapolated, blocks - run);
  }
}

/// An odd block is found when it is among the checks, and in a small region all are.
TEST(BuildTrace, OddBlockInASmallRegion) {
  for (std::uint32_t odd = 0; odd < 14; ++odd) {
    for (const bool late : {false, true}) expect_extrapolates_exactly(one_odd_block(14, odd, late));
  }
}

/// In a large region it is found as often as the number of checks promises (build.h): an odd
/// stretch of a sixteenth of the blocks always, as checks are spread evenly.
TEST(BuildTrace, OddStretchInALargeRegion) {
  for (std::uint32_t first = 0; first < 960; first += 37) {
    expect_extrapolates_exactly(
        {"odd stretch at " + std::to_string(first),
         {1024, 1, 1},
         [first](const Dim3& index, BlockRecorder& r) {
           r.begin(1);
           const bool odd = index.x >= first && index.x < first + 64;
           for (std::uint64_t e = 0; e < 4; ++e) {
             if (!access(r, AccessKind::kLoad, 0, 0,
                         index.x * std::uint64_t{64} + e * 100000 + (odd ? 4096 : 0))) {
               return;
             }
           }
         }});
  }
}

TEST(BuildTrace, ThreadsDoNotChangeTheTrace) {
  for (const Kernel& kernel : {gemm({1024, 1024, 256, 128, 3}), attention(5, 12, true, true),
                               gather(60, 20), elementwise(10000)}) {
    SCOPED_TRACE(kernel.name);
    expect_same(build(kernel, true, 4), build(kernel, true, 1));
  }
}

TEST(BuildTrace, AnErrorOfABlockReachesTheCaller) {
  for (const bool extrapolate : {false, true}) {
    EXPECT_THROW((void)build({"fails",
                              {500, 1, 1},
                              [](const Dim3&, BlockRecorder& r) {
                                r.begin(1);
                                throw input_error("out of bounds");
                              }},
                             extrapolate),
                 Error);
  }
}

}  // namespace
}  // namespace swizzleperf
