// The public face of the replay: preparation once, then any number of orders.
#include <algorithm>
#include <numeric>
#include <string_view>

#include "cachesim/core.h"
#include "swizzleperf/error.h"
#include "swizzleperf/simulate.h"

namespace swizzleperf {

std::string_view bound_name(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute";
    case Bound::kL2:
      return "L2";
    case Bound::kFabric:
      return "fabric";
    case Bound::kLastLevel:
      return "last level";
    case Bound::kMemory:
      return "memory";
    case Bound::kDispatch:
      return "dispatch";
    case Bound::kLatency:
      break;
  }
  return "latency";
}

double least_dispatch_ns(const Machine& machine, std::uint64_t blocks) {
  const bool per_die = machine.dispatch == Dispatch::kRoundRobinPerDie;
  const std::uint64_t queues = per_die ? machine.dies : 1;
  const std::uint64_t longest_queue = (blocks + queues - 1) / queues;
  return static_cast<double>(longest_queue) * machine.dispatch_interval_ns;
}

namespace cachesim {

std::vector<StepWork> interval_work(const LineTemplate& lines, const Machine& machine,
                                    const RequestUnits& units) {
  std::vector<StepWork> work;
  work.reserve(lines.intervals.size());
  std::uint32_t next = 0;
  for (const LineInterval& interval : lines.intervals) {
    const Cost& c = interval.cost;
    const double clocks = std::max(
        {c.vector_ops / machine.vector_ops_per_clk, c.matrix_flops / machine.matrix_flops_per_clk,
         c.lds_bytes / machine.lds_bytes_per_clk, c.instructions / machine.instructions_per_clk,
         interval.l1_clocks});
    StepWork step = {clocks / machine.clock_ghz, interval.request_end - next, 0};
    for (; next < interval.request_end; ++next) {
      step.l2_bytes += units.bytes[lines.requests[next].sectors];
    }
    work.push_back(step);
  }
  return work;
}

void count_units(Prepared& p) {
  std::vector<double> blocks(p.lines.templates.size());
  for (const BlockLines& b : p.lines.blocks) blocks[b.template_index] += 1;
  p.units_by_buffer.assign(std::max<std::size_t>(256, p.lines.buffers.size()), 0);
  for (std::size_t t = 0; t < blocks.size(); ++t) {
    const LineTemplate& lines = p.lines.templates[t];
    for (const LineRequest& r : lines.requests) {
      const std::uint32_t buffer = sampled_buffer(lines.slot_buffer[r.slot]);
      p.units_by_buffer[buffer] += blocks[t] * p.units.of(r.kind, r.sectors);
    }
  }
  p.total_units = std::accumulate(p.units_by_buffer.begin(), p.units_by_buffer.end(), 0.0);
}

namespace {

SimResult replay(const Prepared& p, const auto& source, double share, std::uint32_t dies,
                 std::span<const std::uint32_t> permutation) {
  using Source = std::remove_cvref_t<decltype(source)>;
  if (p.machine.lines_have_home != 0)  // its sets are hashed, so its tags wide
    return Replay<Cache<std::uint32_t>, Source, true>(p, source, share, dies).run(permutation);
  const bool narrow = p.l2_set.largest_tag(p.lines.num_lines) < WayGroup<std::uint16_t>::kNone;
  return narrow
             ? Replay<Cache<std::uint16_t>, Source, false>(p, source, share, dies).run(permutation)
             : Replay<Cache<std::uint32_t>, Source, false>(p, source, share, dies).run(permutation);
}

}  // namespace
}  // namespace cachesim

Replayer::Replayer(const Trace& trace, const Machine& machine, std::uint32_t blocks_per_cu)
    : data_(std::make_unique<Data>(machine, make_lines(trace, machine, blocks_per_cu),
                                   blocks_per_cu)) {
  constexpr std::uint32_t kMaxWays = 64;
  const std::uint32_t ways = std::max(machine.l2.ways, machine.llc ? machine.llc->ways : 0);
  if (ways > kMaxWays || machine.l2.line_bytes > 4 * kSectorBytes) {
    throw input_error("machine " + machine.name +
                      ": the replay handles caches of up to 64 ways and lines of up to 128 bytes");
  }
  Data& d = *data_;
  for (const LineTemplate& t : d.lines.templates) {
    d.work.push_back(cachesim::interval_work(t, machine, d.units));
  }
  cachesim::count_units(d);
}

Replayer::~Replayer() = default;
Replayer::Replayer(Replayer&&) noexcept = default;
Replayer& Replayer::operator=(Replayer&&) noexcept = default;

SimResult Replayer::exact(std::span<const std::uint32_t> permutation) const {
  const cachesim::ExactSource source(*data_);
  SimResult r = cachesim::replay(*data_, source, 1.0, data_->machine.dies, permutation);
  r.exact = permutation.size() == num_blocks();
  return r;
}

double Replayer::fine_share() const { return cachesim::fine_share(*data_); }

std::size_t Replayer::add_sample(double share, std::uint64_t seed, unsigned threads) {
  data_->samples.push_back(cachesim::make_sample(*data_, share, seed, threads));
  return data_->samples.size() - 1;
}

SimResult Replayer::sampled(std::size_t sample, std::span<const std::uint32_t> permutation,
                            std::uint32_t dies) const {
  const cachesim::Sample& s = data_->samples[sample];
  const cachesim::SampleSource source(*data_, s);
  // One queue feeds all dies of a single-queue machine: none can be left out.
  const Machine& m = data_->machine;
  if (dies == 0 || m.dispatch == Dispatch::kSingleQueue) dies = m.dies;
  return cachesim::replay(*data_, source, s.share, std::min(dies, m.dies), permutation);
}

std::uint64_t Replayer::num_blocks() const { return data_->lines.blocks.size(); }
std::uint64_t Replayer::num_requests() const { return data_->lines.num_requests; }
const Machine& Replayer::machine() const { return data_->machine; }
std::uint32_t Replayer::blocks_per_cu() const { return data_->blocks_per_cu; }

}  // namespace swizzleperf
