// Rates of the evaluator and of the proof over the default range.
//
// evaluate/...: one launch on one core, in blocks a second, beside the same map as compiled C++
// with a run-time grid and die count (native_per_evaluate = its time over ours, above 1 = we are
// faster). Both are timed in the same iteration, so that a busy machine slows both.
#include <benchmark/benchmark.h>
#include <time.h>

#include <string>
#include <vector>

#include "native.h"
#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void evaluate(benchmark::State& state, const std::string& spec, NativeMap native,
              std::uint32_t xcds) {
  const Formula formula = make_swizzle(spec).formula;
  const LaunchShape shape{{509, 127, 1}, xcds, 38};
  const std::uint64_t count = shape.grid.count();
  std::vector<std::int64_t> native_targets(count);
  double ours = 0;
  double theirs = 0;
  for (auto _ : state) {
    const double start = thread_seconds();
    std::vector<std::int64_t> targets = formula.evaluate(shape);
    benchmark::DoNotOptimize(targets.data());
    const double seconds = thread_seconds() - start;
    ours += seconds;
    state.SetIterationTime(seconds);
    if (native == nullptr) continue;
    const double native_start = thread_seconds();
    native(static_cast<std::int64_t>(count), xcds, shape.grid.x, native_targets.data());
    benchmark::DoNotOptimize(native_targets.data());
    theirs += thread_seconds() - native_start;
    if (targets != native_targets) state.SkipWithError("the native map differs");
  }
  state.counters["blocks/s"] = static_cast<double>(count * state.iterations()) / ours;
  if (native != nullptr) state.counters["native_per_evaluate"] = theirs / ours;
}

void prove(benchmark::State& state, const std::string& spec) {
  const Formula formula = make_swizzle(spec).formula;
  for (auto _ : state) {
    const RangeVerdict verdict = verify_range(formula, default_verify_range(), 2);
    if (verdict.failed != 0) state.SkipWithError("not a bijection");
    state.counters["launches"] = static_cast<double>(verdict.checked);
  }
}

void guard(benchmark::State& state, const std::string& spec) {
  const Formula formula = make_swizzle(spec).formula;
  for (auto _ : state) {
    benchmark::DoNotOptimize(find_guard(formula, default_verify_range(), 2));
  }
}

void register_all() {
  const auto add = [](const char* spec, NativeMap native, std::uint32_t xcds) {
    const std::string name = std::string("evaluate/") + spec + "/dies:" + std::to_string(xcds);
    benchmark::RegisterBenchmark(name.c_str(), evaluate, spec, native, xcds)->UseManualTime();
  };
  for (const std::uint32_t xcds : {8U, 6U}) {
    add("die-contiguous", native_die_contiguous, xcds);
    add("die-contiguous+grouped:height=8", native_die_contiguous_grouped, xcds);
  }
  for (const char* spec : {"chunked", "head-first", "hilbert", "random"}) add(spec, nullptr, 8);
  for (const char* spec :
       {"die-contiguous", "die-contiguous+grouped", "chunked+hilbert", "random"}) {
    benchmark::RegisterBenchmark((std::string("prove/") + spec).c_str(), prove, spec)
        ->Unit(benchmark::kMillisecond)
        ->MeasureProcessCPUTime()
        ->UseRealTime();
  }
  benchmark::RegisterBenchmark("guard/die-contiguous-simple", guard, "die-contiguous-simple")
      ->Unit(benchmark::kMillisecond)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}

}  // namespace
}  // namespace swizzleperf

int main(int argc, char** argv) {
  swizzleperf::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
