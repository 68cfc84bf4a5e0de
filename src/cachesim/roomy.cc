// A launch of few blocks fills no cache: whatever the order, no set of an L2 or of the last level
// gets more lines than it has ways, so nothing is ever evicted. Then which set a line lies in does
// not matter, and a cache is a byte a line: tens of kilobytes for eight dies and the last level
// instead of nine megabytes to allocate, clear and look through. The replay is the same code with
// the same results, in a tenth of the time, which is what replaying two million orders needs.
//
// The requests come in the form of a sample that leaves nothing out, with a line's number among
// those that are used in place of its set's.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "cachesim/core.h"

namespace swizzleperf {
namespace cachesim {
namespace {

/// Numbers lines as they come, and counts them by set.
class Lines {
 public:
  explicit Lines(const Machine& machine)
      : l2_ways_(machine.l2.ways),
        llc_ways_(machine.llc ? machine.llc->ways : std::numeric_limits<std::uint32_t>::max()),
        llc_per_l2_set_(llc_sets_per_l2_set(machine)) {}

  std::uint32_t number(std::uint32_t line, std::uint32_t set, std::uint32_t tag) {
    const auto [it, is_new] =
        numbers_.try_emplace(line, static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) {
      const std::uint32_t llc_set = set * llc_per_l2_set_ + llc_set_in_group(tag, llc_per_l2_set_);
      overflows_ |= ++in_l2_set_[set] > l2_ways_ || ++in_llc_set_[llc_set] > llc_ways_;
    }
    return it->second;
  }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(numbers_.size()); }
  [[nodiscard]] bool overflows() const {
    return overflows_ || numbers_.size() > std::numeric_limits<std::uint16_t>::max();
  }

 private:
  std::uint32_t l2_ways_;
  std::uint32_t llc_ways_;
  std::uint32_t llc_per_l2_set_;
  bool overflows_ = false;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;
  std::unordered_map<std::uint32_t, std::uint32_t> in_l2_set_;
  std::unordered_map<std::uint32_t, std::uint32_t> in_llc_set_;
};

/// The requests of the whole launch, or nothing where a set could overflow.
std::optional<Sample> all_requests(const Prepared& p) {
  Lines lines(p.machine);
  const ExactSource source(p);
  Sample all;
  all.share = 1;
  all.buffer_weight.assign(p.units_by_buffer.size(), 1);
  all.work = p.work;
  for (std::uint32_t b = 0; b < p.lines.blocks.size(); ++b) {
    all.first.push_back(all.requests.size());
    all.first_step.push_back(all.step_end.size());
    const auto block = source.open(b);
    for (std::size_t step = 0; step < source.num_steps(block); ++step) {
      source.for_each(
          block, step, [](std::uint32_t) {},
          [&](std::uint32_t tag, std::uint32_t set, AccessKind kind, std::uint8_t sectors,
              const auto& origin) {
            all.requests.push_back(
                {0, static_cast<std::uint16_t>(lines.number(origin.line, set, tag)),
                 static_cast<std::uint8_t>(static_cast<std::uint32_t>(kind) << 4 | sectors),
                 static_cast<std::uint8_t>(sampled_buffer(origin()))});
          });
      all.step_end.push_back(static_cast<std::uint32_t>(all.requests.size() - all.first.back()));
    }
    if (lines.overflows()) return std::nullopt;
  }
  all.first.push_back(all.requests.size());
  all.sets = lines.count();
  return all;
}

}  // namespace
}  // namespace cachesim

struct RoomyReplayer::Data {
  const cachesim::Prepared* prepared;
  cachesim::Sample all;
};

RoomyReplayer::RoomyReplayer(std::unique_ptr<const Data> data) : data_(std::move(data)) {}
RoomyReplayer::~RoomyReplayer() = default;
RoomyReplayer::RoomyReplayer(RoomyReplayer&&) noexcept = default;
RoomyReplayer& RoomyReplayer::operator=(RoomyReplayer&&) noexcept = default;

std::optional<RoomyReplayer> RoomyReplayer::of(const Replayer& replayer) {
  const cachesim::Prepared& p = *replayer.data_;
  if (p.machine.lines_have_home != 0) return std::nullopt;
  std::optional<cachesim::Sample> all = cachesim::all_requests(p);
  if (!all) return std::nullopt;
  return RoomyReplayer(std::make_unique<Data>(Data{&p, std::move(*all)}));
}

SimResult RoomyReplayer::exact(std::span<const std::uint32_t> permutation) const {
  using cachesim::SampleSource;
  const cachesim::Prepared& p = *data_->prepared;
  const SampleSource source(p, data_->all);
  SimResult r =
      cachesim::Replay<cachesim::RoomyCache, SampleSource, false>(p, source, 1.0, p.machine.dies)
          .run(permutation);
  r.exact = true;
  return r;
}

}  // namespace swizzleperf
