// See falsifier.h.
#include "study/falsifier.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/fd.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/random.h"
#include "report/launch_text.h"
#include "report/progress.h"
#include "study/deals.h"
#include "swizzleperf/error.h"

namespace swizzleperf::study {
namespace {

using nlohmann::json;
using Order = std::vector<std::uint32_t>;

constexpr std::uint64_t kMostDeals = 20'000'000;  // some hours on two cores
constexpr std::uint64_t kDealsOfRange = 4096;     // a second: what a kill may cost
constexpr std::uint32_t kCopies = 400;
constexpr std::uint32_t kCopiesToScreen = 100;
constexpr std::size_t kLevelsToScreen = 64;

// --- Deals and orders ---------------------------------------------------------------------------

/// Which die starts the block of a dispatch index.
std::uint32_t die_of_index(const Machine& machine, std::uint32_t index) {
  return index / machine.dispatch_chunk % machine.dies;
}

std::vector<std::uint32_t> blocks_of_dies(const Launch& launch) {
  std::vector<std::uint32_t> blocks(launch.machine.dies);
  for (std::uint32_t i = 0; i < launch.trace.blocks.size(); ++i)
    ++blocks[die_of_index(launch.machine, i)];
  return blocks;
}

std::string too_many(const Launch& launch, const Deals& deals) {
  const Trace& t = launch.trace;
  return fmt::format(
      "{} has {} blocks, which can be dealt to {} {}s in {:.3g} ways, and at most {} "
      "are replayed: give a launch of fewer blocks (16 on 8 dies: 2027025)",
      t.kernel, t.grid.count(), launch.machine.dies, launch.machine.die_word,
      deals.approximate_count(), kMostDeals);
}

Deals deals_of(const Launch& launch) {
  const Machine& m = launch.machine;
  if (m.dispatch != Dispatch::kRoundRobinPerDie) {
    throw input_error(
        fmt::format("{} hands blocks to whichever die has room, so that a swizzle does "
                    "not choose dies; take a machine that deals them in turn (mi300x)",
                    m.title));
  }
  Deals deals(blocks_of_dies(launch));
  if (deals.count() > kMostDeals) throw input_error(too_many(launch, deals));
  return deals;
}

/// Each die's blocks in ascending order.
Order order_of(const Machine& machine, const std::vector<std::uint32_t>& die_of_block) {
  std::vector<std::vector<std::uint32_t>> waiting(machine.dies);
  for (std::uint32_t b = 0; b < die_of_block.size(); ++b) waiting[die_of_block[b]].push_back(b);
  std::vector<std::size_t> next(machine.dies, 0);
  Order order;
  for (std::uint32_t i = 0; i < die_of_block.size(); ++i) {
    const std::uint32_t die = die_of_index(machine, i);
    order.push_back(waiting[die][next[die]++]);
  }
  return order;
}

void shuffle(std::vector<std::uint32_t>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

/// The same deal with dies of one size renamed and each die's blocks in another order.
Order symmetric_copy(const Machine& machine, const std::vector<std::uint32_t>& die_of_block,
                     Random& random) {
  std::vector<std::vector<std::uint32_t>> blocks(machine.dies);
  for (std::uint32_t b = 0; b < die_of_block.size(); ++b) blocks[die_of_block[b]].push_back(b);
  for (auto& of_die : blocks) shuffle(of_die, random);
  for (std::size_t d = blocks.size(); d > 1; --d) {
    const std::size_t other = random.below(d);
    if (blocks[d - 1].size() == blocks[other].size()) std::swap(blocks[d - 1], blocks[other]);
  }
  std::vector<std::size_t> next(machine.dies, 0);
  Order order;
  for (std::uint32_t i = 0; i < die_of_block.size(); ++i) {
    const std::uint32_t die = die_of_index(machine, i);
    order.push_back(blocks[die][next[die]++]);
  }
  return order;
}

Machine with_equal_cus(Machine machine) {
  machine.skew = 0;
  machine.jitter = 0;
  return machine;
}

/// A launch on a machine, replayed the quickest way.
class Stage {
 public:
  Stage(const Launch& launch, const Machine& machine)
      : replayer_(launch.trace, machine, launch.occupancy.blocks_per_cu),
        roomy_(RoomyReplayer::of(replayer_)) {}
  [[nodiscard]] SimResult replay(const Order& order) const {
    return roomy_ ? roomy_->exact(order) : replayer_.exact(order);
  }

 private:
  Replayer replayer_;
  std::optional<RoomyReplayer> roomy_;
};

// --- All deals ----------------------------------------------------------------------------------

/// The finished ranges of a run, kept in a file that is only appended to: a line that says what is
/// replayed, then a line a range.
class Ranges {
 public:
  Ranges(const std::filesystem::path& file, const json& run)
      : file_(file), fd_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (!fd_.valid()) fail();
    const std::string text = read_file(file);
    // What a kill tore in two has no newline.
    const std::size_t end = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    for (std::size_t at = 0; at < end;) {
      const std::size_t stop = text.find('\n', at);
      take(text.substr(at, stop - at), run, at == 0);
      at = stop + 1;
    }
    if (::ftruncate(fd_.get(), static_cast<off_t>(end)) != 0 || ::lseek(fd_.get(), 0, SEEK_END) < 0)
      fail();
    if (end == 0) write(run);
  }

  [[nodiscard]] bool has(std::uint64_t range) const { return done_.contains(range); }

  /// Reaches the file before this returns. One caller at a time.
  void append(std::uint64_t range, Tally tally) {
    write({{"range", range}, {"tally", to_json(tally)}});
    done_.emplace(range, std::move(tally));
  }

  [[nodiscard]] Tally sum() const {
    Tally all;
    for (const auto& [range, tally] : done_) all.add(tally);
    return all;
  }

 private:
  void take(const std::string& line, const json& run, bool first) {
    try {
      const json record = json::parse(line);
      if (first && record != run) {
        throw input_error(
            fmt::format("{}: is of another launch, machine or version: give a new "
                        "directory",
                        file_.string()));
      }
      if (!first)
        done_.emplace(record.at("range").get<std::uint64_t>(), tally_from_json(record.at("tally")));
    } catch (const json::exception&) {
      throw input_error(
          fmt::format("{}: holds a line that no run wrote: give a new directory", file_.string()));
    }
  }

  void write(const json& record) {
    if (!write_all(fd_, record.dump() + "\n")) fail();
  }

  [[noreturn]] void fail() const {
    throw input_error(
        fmt::format("{}: cannot be written: {}", file_.string(), std::strerror(errno)));
  }

  std::filesystem::path file_;
  Fd fd_;
  std::map<std::uint64_t, Tally> done_;
};

struct Hall {
  const Launch& launch;
  const Deals& deals;
  const Stage& equal;
  Tally::Origin origin;
};

Tally replay_range(const Hall& hall, std::uint64_t range) {
  Tally tally;
  const std::uint64_t end = std::min(hall.deals.count(), (range + 1) * kDealsOfRange);
  for (std::uint64_t number = range * kDealsOfRange; number < end; ++number) {
    const SimResult r =
        hall.equal.replay(order_of(hall.launch.machine, hall.deals.die_of_block(number)));
    tally.add(number, r.l2.hits, r.time_ms, hall.origin);
  }
  return tally;
}

void replay_missing(const Hall& hall, Ranges& ranges, const FalsifierRequest& request,
                    Falsified& out) {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t all = hall.deals.count();
  std::vector<std::uint64_t> missing;
  for (std::uint64_t r = 0; r * kDealsOfRange < all; ++r)
    if (!ranges.has(r)) missing.push_back(r);
  const auto start = Clock::now();
  Progress progress(request.quiet);
  std::mutex mutex;
  std::size_t finished = 0;
  parallel_for(missing.size(), request.threads, [&](std::uint64_t i, unsigned) {
    Tally tally = replay_range(hall, missing[i]);
    const std::lock_guard lock(mutex);
    out.replayed += tally.deals;
    ranges.append(missing[i], std::move(tally));
    ++finished;
    progress.update(fmt::format("{} of {} ways to deal {} blocks",
                                all - (missing.size() - finished) * kDealsOfRange, all,
                                hall.deals.num_blocks()),
                    static_cast<double>(finished) / static_cast<double>(missing.size()));
  });
  out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
}

// --- What to show -------------------------------------------------------------------------------

class Judge {
 public:
  Judge(const Launch& launch, const Deals& deals, std::uint64_t seed)
      : launch_(launch), deals_(deals), modelled_(launch, launch.machine), seed_(seed) {}

  [[nodiscard]] Exhibit show(const SeenDeal& deal, double hits) const {
    const std::vector<std::uint32_t> die_of = deals_.die_of_block(deal.number);
    Exhibit e;
    e.number = deal.number;
    e.hits = hits;
    e.time_ms = deal.time_ms;
    e.copies = copies(deal.number, kCopies, 1);
    e.blocks_of_die.resize(launch_.machine.dies);
    for (std::uint32_t b = 0; b < die_of.size(); ++b) e.blocks_of_die[die_of[b]].push_back(b);
    e.formula = table_formula(order_of(launch_.machine, die_of));
    return e;
  }

  /// A quick look, by other copies than those shown.
  [[nodiscard]] double screen(const SeenDeal& deal) const {
    return copies(deal.number, kCopiesToScreen, 2).mean_ms;
  }

 private:
  [[nodiscard]] Copies copies(std::uint64_t deal, std::uint32_t number, std::uint64_t salt) const {
    const std::vector<std::uint32_t> die_of = deals_.die_of_block(deal);
    Random random(mix64(mix64(seed_) + salt) ^ deal);
    Copies c{.number = number, .least_ms = HUGE_VAL};
    double squares = 0;
    for (std::uint32_t i = 0; i < number; ++i) {
      const double t = modelled_.replay(symmetric_copy(launch_.machine, die_of, random)).time_ms;
      const double before = c.mean_ms;
      c.mean_ms += (t - before) / (i + 1);
      squares += (t - before) * (t - c.mean_ms);
      c.least_ms = std::min(c.least_ms, t);
      c.most_ms = std::max(c.most_ms, t);
    }
    c.deviation_ms = std::sqrt(squares / (number - 1));
    return c;
  }

  const Launch& launch_;
  const Deals& deals_;
  Stage modelled_;
  std::uint64_t seed_;
};

/// The fastest and the slowest deal of each hit count (of some, where there are many) are looked
/// at; the pair that contradicts most is shown, judged by copies of its own, so that it was not
/// chosen for the luck of those.
std::optional<Refutation> worst_refutation(const Falsified& f, const Judge& judge) {
  struct Screened {
    SeenDeal deal;
    double hits = 0;
    double mean_ms = 0;
  };
  std::optional<Screened> fewer;  // the fastest of those before
  std::pair<Screened, Screened> worst;
  double worst_ratio = 1;
  const std::size_t stride = (f.tally.levels.size() + kLevelsToScreen - 1) / kLevelsToScreen;
  std::size_t turn = 0;
  for (const auto& [hits, level] : f.tally.levels) {
    if (turn++ % stride != 0) continue;
    const Screened slow{level.slowest, hits, judge.screen(level.slowest)};
    const Screened fast{level.fastest, hits, judge.screen(level.fastest)};
    const Screened& slower = slow.mean_ms > fast.mean_ms ? slow : fast;
    const Screened& faster = slow.mean_ms > fast.mean_ms ? fast : slow;
    if (fewer && slower.mean_ms / fewer->mean_ms > worst_ratio) {
      worst_ratio = slower.mean_ms / fewer->mean_ms;
      worst = {slower, *fewer};
    }
    if (!fewer || faster.mean_ms < fewer->mean_ms) fewer = faster;
  }
  if (worst_ratio <= 1) return std::nullopt;
  const auto& [more, less] = worst;
  return Refutation{judge.show(more.deal, more.hits), judge.show(less.deal, less.hits)};
}

}  // namespace

double Refutation::standard_error() const {
  const auto relative = [](const Copies& c) {
    return c.deviation_ms / std::sqrt(c.number) / c.mean_ms;
  };
  return std::hypot(relative(more_hits.copies), relative(fewer_hits.copies));
}

/// Eight entries are digits of one number.
std::string table_formula(const std::vector<std::uint32_t>& order) {
  constexpr std::size_t kDigits = 8;
  const auto bits = std::bit_width(static_cast<std::uint32_t>(order.size() - 1));
  std::string table;
  for (std::size_t first = 0; first < order.size(); first += kDigits) {
    const std::size_t end = std::min(order.size(), first + kDigits);
    std::uint64_t word = 0;
    for (std::size_t i = end; i > first; --i) word = word << bits | order[i - 1];
    table += end == order.size() ? fmt::format("0x{:x}", word)
                                 : fmt::format("pid < {} ? 0x{:x} : ", end, word);
  }
  return fmt::format("pid = (({}) >> (pid % {} * {})) & {};", table, kDigits, bits,
                     (1U << bits) - 1U);
}

Falsified falsify(const Launch& launch, const FalsifierRequest& request) {
  const Deals deals = deals_of(launch);
  const Stage equal(launch, with_equal_cus(launch.machine));
  const auto replay = [&](std::uint64_t number) {
    return equal.replay(order_of(launch.machine, deals.die_of_block(number)));
  };
  const SimResult first = replay(0);
  const SimResult middle = replay(deals.count() / 2);
  Falsified out;
  out.requests = first.l2.requests;
  // Two replays tell the launch, the machine and the model better than their names.
  const json run = {{"kernel", launch.trace.kernel},
                    {"grid", {launch.trace.grid.x, launch.trace.grid.y, launch.trace.grid.z}},
                    {"machine", launch.machine.name},
                    {"deals", deals.count()},
                    {"of_range", kDealsOfRange},
                    {"requests", first.l2.requests},
                    {"probes", {first.l2.hits, first.time_ms, middle.l2.hits, middle.time_ms}}};
  make_directories(request.directory);
  const Fd lock = lock_directory(request.directory);
  Ranges ranges(request.directory / "deals.jsonl", run);
  replay_missing({launch, deals, equal, {first.l2.hits, first.time_ms}}, ranges, request, out);
  out.tally = ranges.sum();

  const Judge judge(launch, deals, request.seed);
  const auto& [most, level] = *out.tally.levels.rbegin();
  out.most_hits = judge.show(level.fastest, most);
  // Of equally fast ones that with most hits: it is not the hits that make it so.
  auto fastest = out.tally.levels.rbegin();
  for (auto it = fastest; it != out.tally.levels.rend(); ++it)
    if (it->second.fastest.time_ms < fastest->second.fastest.time_ms) fastest = it;
  out.fastest = judge.show(fastest->second.fastest, fastest->first);
  out.worst = worst_refutation(out, judge);
  return out;
}

}  // namespace swizzleperf::study
