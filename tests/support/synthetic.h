// Launches made up in a few lines, for tests and benchmarks of the rooms behind the virtual GPU.
//
// A synthetic launch is a RunBlock function: it calls the recorder as the interpreter would. The
// shapes are those of real kernels (tiled GEMM, transpose, element-wise), so that what the tests
// see is what users see.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "swizzleperf/machine.h"
#include "swizzleperf/trace.h"
#include "trace/build.h"

namespace swizzleperf::synthetic {

/// MI300X as documented, with round numbers where nothing is published. Tests state their machine
/// here so that a change of machines/mi300x.toml does not move them.
inline Machine mi300x() {
  Machine m;
  m.name = "test-mi300x";
  m.vendor = "amd";
  m.dies = 8;
  m.cus_per_die = 38;
  m.clock_ghz = 2.1;
  m.vector_ops_per_clk = 256;
  m.matrix_flops_per_clk = 2048;
  m.l1 = {.bytes = 32768, .line_bytes = 128, .ways = 64, .bytes_per_clk = 64};
  m.l2 = {.bytes = 4 << 20,
          .line_bytes = 128,
          .ways = 16,
          .channels = 16,
          .interleave_bytes = 256,
          .index = SetIndex::kHashedChannels,
          .read_request_bytes = 128,
          .write_request_bytes = 64,
          .bytes_per_clk = 2048,
          .latency_ns = 150};
  m.llc = CacheModel{.bytes = 256ULL << 20,
                     .line_bytes = 128,
                     .ways = 16,
                     .channels = 16,
                     .index = SetIndex::kHashed,
                     .bytes_per_clk = 5600,
                     .latency_ns = 300};
  m.fabric_bytes_per_clk = 1024;
  m.hbm_bytes_per_ns = 5300;
  m.hbm_latency_ns = 500;
  return m;
}

/// C = A.B in fp16, tiles of tile x tile, K-steps of 64, 4 waves, loads of 16 bytes a lane. `group`
/// is the height of the kernel's own grouped order (1 = row-major). M, N, K multiples of tile.
struct Gemm {
  std::uint64_t m, n, k;
  std::uint64_t tile = 128;
  std::uint64_t group = 1;

  [[nodiscard]] Dim3 grid() const {
    return {static_cast<std::uint32_t>(n / tile), static_cast<std::uint32_t>(m / tile), 1};
  }
  static constexpr std::uint64_t kBase = 1ULL << 40;
  [[nodiscard]] std::uint64_t a() const { return kBase; }
  [[nodiscard]] std::uint64_t b() const { return a() + m * k * 2; }
  [[nodiscard]] std::uint64_t c() const { return b() + k * n * 2; }

  [[nodiscard]] Trace launch() const {
    Trace t;
    t.kernel = "gemm";
    t.grid = grid();
    t.block = {256, 1, 1};
    t.buffers = {{"A", a(), m * k * 2}, {"B", b(), k * n * 2}, {"C", c(), m * n * 2}};
    return t;
  }

  /// Rows of `row_bytes` at `base`, `stride` apart, loaded by the waves in turn, 1 KiB a time.
  static bool tile_access(BlockRecorder& r, AccessKind kind, std::uint64_t base, std::uint64_t rows,
                          std::uint64_t row_bytes, std::uint64_t stride) {
    std::array<std::uint64_t, 64> lanes{};
    std::uint32_t wave = 0;
    for (std::uint64_t first = 0; first < rows * row_bytes; first += 64 * 16) {
      for (std::uint64_t lane = 0; lane < 64; ++lane) {
        const std::uint64_t at = first + lane * 16;
        lanes[lane] = base + at / row_bytes * stride + at % row_bytes;
      }
      if (!r.access(kind, wave, ~0ULL, lanes.data(), 16)) return false;
      wave = (wave + 1) % 4;
    }
    return true;
  }

  void operator()(const Dim3& index, BlockRecorder& r) const {
    r.begin(4);
    std::uint64_t tm = index.y;
    std::uint64_t tn = index.x;
    if (group > 1) {
      const std::uint64_t columns = n / tile;
      const std::uint64_t rows = m / tile;
      const std::uint64_t pid = index.y * columns + index.x;
      const std::uint64_t first = pid / (group * columns) * group;
      const std::uint64_t height = std::min(rows - first, group);
      tm = first + pid % (group * columns) % height;
      tn = pid % (group * columns) / height;
    }
    for (std::uint64_t k0 = 0; k0 < k; k0 += 64) {
      if (!tile_access(r, AccessKind::kLoad, a() + (tm * tile * k + k0) * 2, tile, 128, k * 2) ||
          !tile_access(r, AccessKind::kLoad, b() + (k0 * n + tn * tile) * 2, 64, tile * 2, n * 2)) {
        return;
      }
      r.cost({.instructions = 4 * 60,
              .matrix_flops = 2.0 * 64 * static_cast<double>(tile * tile),
              .lds_bytes = 4 * 128 * static_cast<double>(tile)});
      if (!r.barrier()) return;
    }
    (void)tile_access(r, AccessKind::kStore, c() + (tm * tile * n + tn * tile) * 2, tile, tile * 2,
                      n * 2);
  }
};

/// out[x][y] = in[y][x], fp16, tiles of 32 x 32, one wave instruction a row pair.
struct Transpose {
  std::uint64_t n;
  static constexpr std::uint64_t kBase = 1ULL << 40;
  [[nodiscard]] Trace launch() const {
    Trace t;
    t.kernel = "transpose";
    t.grid = {static_cast<std::uint32_t>(n / 32), static_cast<std::uint32_t>(n / 32), 1};
    t.block = {256, 1, 1};
    t.buffers = {{"in", kBase, n * n * 2}, {"out", kBase + n * n * 2, n * n * 2}};
    return t;
  }
  void operator()(const Dim3& index, BlockRecorder& r) const {
    r.begin(4);
    std::array<std::uint64_t, 64> lanes{};
    for (const bool store : {false, true}) {
      const std::uint64_t base = store ? kBase + n * n * 2 : kBase;
      const std::uint64_t row = (store ? index.x : index.y) * std::uint64_t{32};
      const std::uint64_t column = (store ? index.y : index.x) * std::uint64_t{32};
      for (std::uint64_t i = 0; i < 32; i += 2) {
        for (std::uint64_t lane = 0; lane < 64; ++lane) {
          lanes[lane] = base + ((row + i + lane / 32) * n + column + lane % 32) * 2;
        }
        if (!r.access(store ? AccessKind::kStore : AccessKind::kLoad,
                      static_cast<std::uint32_t>(i / 2 % 4), ~0ULL, lanes.data(), 2)) {
          return;
        }
      }
      if (!store && !r.barrier()) return;
    }
  }
};

template <typename Launch>
Trace build(const Launch& launch, unsigned threads = 2, bool extrapolate = true) {
  Trace t = launch.launch();
  build_trace(t, launch, {.threads = threads, .extrapolate = extrapolate, .seed = 1});
  return t;
}

}  // namespace swizzleperf::synthetic
