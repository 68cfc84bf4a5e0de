// What counting the lines that blocks share costs, for launches whose blocks are alike and for the
// worst: blocks at random, each with a shape of its own, of which only a part is looked at.
#include <benchmark/benchmark.h>

#include <array>

#include "base/random.h"
#include "context/sharing.h"
#include "support/synthetic.h"

namespace swizzleperf {
namespace {

/// Blocks of 1,000 single lines anywhere in 256 MB.
struct Scattered {
  [[nodiscard]] static Trace launch() {
    Trace t;
    t.grid = {256, 256, 1};
    t.block = {64, 1, 1};
    t.buffers = {{"array", 1ULL << 40, 256ULL << 20}};
    return t;
  }
  void operator()(const Dim3& index, BlockRecorder& r) const {
    r.begin(1);
    Random random(index.x + 256ULL * index.y);
    for (int i = 0; i < 1000; i += 50) {
      std::array<std::uint64_t, 64> lanes{};
      for (std::size_t lane = 0; lane < 50; ++lane)
        lanes[lane] = (1ULL << 40) + random.below(2 << 20) * 128;
      if (!r.access(AccessKind::kLoad, 0, (1ULL << 50) - 1, lanes.data(), 4)) return;
    }
  }
};

template <typename Launch>
void sharing(benchmark::State& state, const Launch& launch, bool extrapolate) {
  const LineTrace lines =
      make_lines(synthetic::build(launch, 2, extrapolate), synthetic::mi300x(), 2);
  std::uint64_t skipped = 0;
  for (auto _ : state) {
    const std::vector<ArraySharing> arrays = measure_sharing(lines, 1);
    skipped = 0;
    for (const ArraySharing& a : arrays) {
      for (const AxisSharing& axis : a.axes) {
        skipped += axis.row.skipped;
        for (const PairSharing& p : axis.pairs) skipped += p.skipped;
      }
    }
  }
  state.counters["blocks"] = static_cast<double>(lines.blocks.size());
  state.counters["skipped"] = static_cast<double>(skipped);
}

void gemm_8192(benchmark::State& state) { sharing(state, synthetic::Gemm{8192, 8192, 8192}, true); }
BENCHMARK(gemm_8192)->Unit(benchmark::kMillisecond);
void transpose_32768(benchmark::State& state) { sharing(state, synthetic::Transpose{32768}, true); }
BENCHMARK(transpose_32768)->Unit(benchmark::kMillisecond);
void scattered(benchmark::State& state) { sharing(state, Scattered{}, false); }
BENCHMARK(scattered)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swizzleperf
