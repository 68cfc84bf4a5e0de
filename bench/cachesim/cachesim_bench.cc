// What a candidate costs: exactly, sampled, against the number of dies, and beside a cache written
// the way everybody writes one first (a list and a hash map a set) on the same requests.
//
// Rates are of one thread. The peer looks up L2 only, on sets of the same geometry, without time,
// last level, sectors or memory: it does less, and `times_slower` compares requests a second all
// the same.
#include <benchmark/benchmark.h>

#include <ctime>
#include <list>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "cachesim/geometry.h"
#include "support/synthetic.h"
#include "swizzleperf/classify.h"
#include "swizzleperf/simulate.h"
#include "trace/lines.h"

namespace swizzleperf {
namespace {

enum Launch { kGemm8192, kTranspose8192 };

const Trace& launch(std::int64_t which) {
  static const Trace gemm = synthetic::build(synthetic::Gemm{8192, 8192, 8192}, 1);
  static const Trace transpose = synthetic::build(synthetic::Transpose{8192}, 1);
  return which == kGemm8192 ? gemm : transpose;
}

Machine machine_of(std::uint32_t dies) {
  Machine m = synthetic::mi300x();
  m.dies = dies;
  m.jitter = 0.1;
  return m;
}

/// Blocks of its kind that share a CU: the GEMM's LDS leaves room for one.
std::uint32_t blocks_per_cu(std::int64_t which) { return which == kGemm8192 ? 1 : 8; }

std::vector<std::uint32_t> identity(const Trace& trace) {
  std::vector<std::uint32_t> order(trace.blocks.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

/// Seconds of this process' CPU time, which other work on the machine does not stretch.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void per_second(benchmark::State& state, const char* what, double count) {
  state.counters[what] = benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate);
}

void exact(benchmark::State& state) {
  const Trace& trace = launch(state.range(0));
  const Replayer replayer(trace, machine_of(static_cast<std::uint32_t>(state.range(1))),
                          blocks_per_cu(state.range(0)));
  const auto order = identity(trace);
  SimResult r;
  for (auto _ : state) r = replayer.exact(order);
  per_second(state, "requests", static_cast<double>(replayer.num_requests()));
  state.counters["l2_hit"] = r.l2.hit_rate();
}
BENCHMARK(exact)
    ->ArgNames({"transpose", "dies"})
    ->Args({kGemm8192, 1})
    ->Args({kGemm8192, 8})
    ->Args({kTranspose8192, 1})
    ->Args({kTranspose8192, 2})
    ->Args({kTranspose8192, 4})
    ->Args({kTranspose8192, 8})
    ->Unit(benchmark::kMillisecond);

/// The replay's cost against what it may depend on, for bench/plot.py: requests, and the dies that
/// one machine (304 CUs, 32 MB of L2) is cut into. Misses cost more than hits, so the hit rate is
/// told beside.
void cost(benchmark::State& state, const synthetic::Gemm& gemm, std::uint32_t dies) {
  const Trace trace = synthetic::build(gemm, 1);
  Machine machine = machine_of(dies);
  const std::uint32_t were = synthetic::mi300x().dies;
  machine.cus_per_die = machine.cus_per_die * were / dies;
  machine.l2.bytes = machine.l2.bytes * were / dies;
  machine.l2.bytes_per_clk *= static_cast<double>(were) / dies;
  machine.fabric_bytes_per_clk *= static_cast<double>(were) / dies;
  const Replayer replayer(trace, machine, 1);
  const auto order = identity(trace);
  SimResult r;
  for (auto _ : state) r = replayer.exact(order);
  state.counters["requests"] = static_cast<double>(replayer.num_requests());
  state.counters["dies"] = dies;
  state.counters["l2_hit"] = r.l2.hit_rate();
}

void cost_of_requests(benchmark::State& state) {
  cost(state, {4096, 4096, static_cast<std::uint64_t>(state.range(0))}, 8);
}
BENCHMARK(cost_of_requests)
    ->ArgName("depth")
    ->RangeMultiplier(2)
    ->Range(256, 16384)
    ->Unit(benchmark::kMillisecond);

/// Blocks share tiles with their neighbours, and the more dies, the fewer of them meet.
void cost_of_dies(benchmark::State& state) {
  cost(state, {4096, 4096, 4096}, static_cast<std::uint32_t>(state.range(0)));
}
BENCHMARK(cost_of_dies)
    ->ArgName("dies")
    ->RangeMultiplier(2)
    ->Range(1, 16)
    ->Unit(benchmark::kMillisecond);

/// One column of tiles: all blocks share a B of 1 MB and nothing else, so all dies hit alike.
void cost_of_dies_alike(benchmark::State& state) {
  cost(state, {131072, 128, 4096}, static_cast<std::uint32_t>(state.range(0)));
}
BENCHMARK(cost_of_dies_alike)
    ->ArgName("dies")
    ->RangeMultiplier(2)
    ->Range(1, 16)
    ->Unit(benchmark::kMillisecond);

/// What telling the misses apart costs, beside the same replay without.
void classified(benchmark::State& state) {
  const Trace& trace = launch(state.range(0));
  const Replayer replayer(trace, machine_of(8), blocks_per_cu(state.range(0)));
  const auto order = identity(trace);
  double plain = 0;
  double told_apart = 0;
  for (auto _ : state) {
    const double start = cpu_seconds();
    benchmark::DoNotOptimize(replayer.exact(order));
    const double middle = cpu_seconds();
    benchmark::DoNotOptimize(classify(replayer, order));
    plain += middle - start;
    told_apart += cpu_seconds() - middle;
  }
  const double replays = static_cast<double>(state.iterations());
  state.counters["times_slower"] = told_apart / plain;
  state.counters["ns_a_request"] =
      1e9 * (told_apart - plain) / replays / static_cast<double>(replayer.num_requests());
}
BENCHMARK(classified)
    ->ArgName("transpose")
    ->Arg(kGemm8192)
    ->Arg(kTranspose8192)
    ->Unit(benchmark::kMillisecond);

void sampled(benchmark::State& state) {
  const Trace& trace = launch(state.range(0));
  Replayer replayer(trace, machine_of(static_cast<std::uint32_t>(state.range(1))),
                    blocks_per_cu(state.range(0)));
  const double start = cpu_seconds();
  const std::size_t sample = replayer.add_sample(1.0 / static_cast<double>(state.range(2)), 1, 1);
  state.counters["prepare_ms"] = 1e3 * (cpu_seconds() - start);
  const auto order = identity(trace);
  SimResult r;
  for (auto _ : state) r = replayer.sampled(sample, order);
  per_second(state, "candidates", 1);
  per_second(state, "requests", static_cast<double>(replayer.num_requests()) * r.sampled_share);
  state.counters["l2_hit"] = r.l2.hit_rate();
}
BENCHMARK(sampled)
    ->ArgNames({"transpose", "dies", "one_in"})
    ->Args({kGemm8192, 1, 64})
    ->Args({kGemm8192, 2, 64})
    ->Args({kGemm8192, 4, 64})
    ->Args({kGemm8192, 8, 64})
    ->Args({kGemm8192, 8, 16})
    ->Args({kGemm8192, 8, 256})
    ->Args({kTranspose8192, 8, 16})
    ->Args({kTranspose8192, 8, 64})
    ->Unit(benchmark::kMillisecond);

/// The textbook LRU: per set a list, most recent first, and where each line is in it.
class ListCache {
 public:
  ListCache(std::uint32_t sets, std::size_t ways) : ways_(ways), sets_(sets) {}

  bool access(std::uint32_t set, std::uint32_t line) {
    Set& s = sets_[set];
    if (const auto it = s.where.find(line); it != s.where.end()) {
      s.lines.splice(s.lines.begin(), s.lines, it->second);
      return true;
    }
    if (s.lines.size() == ways_) {
      s.where.erase(s.lines.back());
      s.lines.pop_back();
    }
    s.lines.push_front(line);
    s.where[line] = s.lines.begin();
    return false;
  }

 private:
  struct Set {
    std::list<std::uint32_t> lines;
    std::unordered_map<std::uint32_t, std::list<std::uint32_t>::iterator> where;
  };
  std::size_t ways_;
  std::vector<Set> sets_;
};

/// The transpose's requests through ListCache, eight of them, blocks of all dies in turn.
void list_cache(benchmark::State& state) {
  const Trace& trace = launch(kTranspose8192);
  const Machine machine = machine_of(8);
  const LineTrace lines = make_lines(trace, machine, 8);
  const cachesim::SetMap set_of(machine.l2);
  double hits = 0;
  double seconds = 0;
  for (auto _ : state) {
    std::vector<ListCache> l2(machine.dies, ListCache(set_of.sets(), machine.l2.ways));
    hits = 0;
    const double start = cpu_seconds();
    for (std::size_t b = 0; b < lines.blocks.size(); ++b) {
      const std::uint32_t* anchors = lines.anchors.data() + lines.blocks[b].first_anchor;
      for (const LineRequest& r : lines.templates[lines.blocks[b].template_index].requests) {
        const std::uint32_t line = anchors[r.slot] + r.line;
        hits += l2[b % machine.dies].access(set_of(line).set, line) ? 1 : 0;
      }
    }
    seconds += cpu_seconds() - start;
  }
  const auto requests = static_cast<double>(lines.num_requests);
  const double rate = requests * static_cast<double>(state.iterations()) / seconds;
  const Replayer replayer(trace, machine, 8);
  const double start = cpu_seconds();
  benchmark::DoNotOptimize(replayer.exact(identity(trace)));
  const double replay_rate = requests / (cpu_seconds() - start);
  state.counters["requests/s"] = rate;
  state.counters["times_slower"] = replay_rate / rate;
  state.counters["l2_hit"] = hits / requests;
}
BENCHMARK(list_cache)->Unit(benchmark::kMillisecond)->MinTime(1.0);

}  // namespace
}  // namespace swizzleperf
