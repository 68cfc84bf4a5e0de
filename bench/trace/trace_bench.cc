// From wave instructions to the lines of a launch: what each stage costs on a GEMM of 8192^3, whose
// every block makes 256 wave loads of 1 KiB in each of 128 steps.
//
// Rates are of one thread. `blocks_run` is what the extrapolation had to execute of 4096 blocks;
// here a block costs next to nothing, on the virtual GPU it is most of the time.
#include <benchmark/benchmark.h>

#include <array>
#include <filesystem>

#include "base/files.h"
#include "base/random.h"
#include "support/synthetic.h"
#include "trace/lines.h"

namespace swizzleperf {
namespace {

constexpr synthetic::Gemm kGemm{8192, 8192, 8192};

/// Lanes of 16 bytes in rows of 128: a tile load of a GEMM, or scattered over 1 MiB.
void recorder_access(benchmark::State& state, bool scattered) {
  std::array<std::uint64_t, 64> lanes{};
  Random random(1);
  for (std::uint64_t i = 0; i < 64; ++i) {
    lanes[i] = (1ULL << 40) + (scattered ? random.below(1 << 16) * 16 : i / 8 * 16384 + i % 8 * 16);
  }
  PatternTable patterns;
  BlockRecorder recorder(patterns);
  for (auto _ : state) {
    recorder.begin(4);
    for (std::uint32_t i = 0; i < 4096; ++i) {
      benchmark::DoNotOptimize(recorder.access(AccessKind::kLoad, i % 4, ~0ULL, lanes.data(), 16));
      if (i % 64 == 63) benchmark::DoNotOptimize(recorder.barrier());
    }
    benchmark::DoNotOptimize(recorder.finish().events.data());
  }
  state.counters["accesses"] =
      benchmark::Counter(4096, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(recorder_access, rows, false);
BENCHMARK_CAPTURE(recorder_access, scattered, true);

void build_gemm(benchmark::State& state) {
  synthetic::Gemm gemm = kGemm;
  gemm.group = static_cast<std::uint64_t>(state.range(0));
  Trace trace;
  for (auto _ : state) trace = synthetic::build(gemm, 1);
  state.counters["blocks_run"] = static_cast<double>(trace.method.blocks_run);
  state.counters["templates"] = static_cast<double>(trace.templates.size());
}
BENCHMARK(build_gemm)->ArgName("group")->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond);

void lines_of_gemm(benchmark::State& state) {
  const Trace trace = synthetic::build(kGemm, 1);
  const Machine machine = synthetic::mi300x();
  LineTrace lines;
  for (auto _ : state) lines = make_lines(trace, machine, 1);
  state.counters["templates"] = static_cast<double>(lines.templates.size());
  state.counters["requests"] = static_cast<double>(lines.num_requests);
}
BENCHMARK(lines_of_gemm)->Unit(benchmark::kMillisecond);

void file_of_gemm(benchmark::State& state) {
  const Trace trace = synthetic::build(kGemm, 1);
  const ScratchDirectory directory;
  const std::filesystem::path file = directory.path() / "gemm.trace";
  write_trace(trace, file);
  for (auto _ : state) benchmark::DoNotOptimize(read_trace(file));
  state.counters["bytes"] = static_cast<double>(std::filesystem::file_size(file));
}
BENCHMARK(file_of_gemm)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swizzleperf
