// See held.h.
//
// Each command begins from the snapshot, since an earlier one left memory changed: a launch may
// accumulate, count or overwrite what it read. All of memory is restored, not only what is known to
// be written, because a broken candidate writes what it should not.
//
// Time is read from events on the program's own stream. What comes before a timed launch
// (restoring, flushing) is queued on it without waiting, so that the device is still busy when
// launch and events arrive: an idle device would start its clock before the launch has crossed the
// bus. Where restoring has to wait, since the copy is on the host, a short fill stands in. Launches
// with nothing between them keep the device busy themselves, unless they are shorter than the few
// microseconds that the host needs for one; then these are measured.
#include "measure/probe/held.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "measure/probe/memory.h"
#include "measure/probe/quietly.h"

namespace swizzleperf::measure::probe {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBusyBytes = 16 << 20;  // filling them takes some microseconds

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string bytes_of(const std::vector<std::uint64_t>& hashes) {
  return {reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof hashes[0]};
}

/// Device memory that nobody reads.
class Scratch {
 public:
  Scratch(Device& device, std::uint64_t bytes)
      : device_(device), memory_(device.allocate(bytes)), bytes_(bytes) {
    if (!memory_)
      throw std::runtime_error(
          fmt::format("the device has no {} bytes left to fill its caches with", bytes));
  }
  ~Scratch() {
    (void)fault_of([&] { device_.release(memory_); });
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void fill() { device_.fill(memory_, 0, bytes_); }

 private:
  Device& device_;
  void* memory_;
  std::uint64_t bytes_;
};

/// Around each of so many launches; made before the first, since making one takes time.
class Stopwatch {
 public:
  Stopwatch(Device& device, int launches) : device_(device) {
    for (int i = 0; i < 2 * launches; ++i) events_.push_back(device.make_event());
  }
  ~Stopwatch() {
    (void)fault_of([&] {
      for (void* const event : events_) device_.release_event(event);
    });
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void time(int launch) {
    const auto first = 2 * static_cast<std::size_t>(launch);
    device_.record(events_[first]);
    device_.launch();
    device_.record(events_[first + 1]);
  }
  [[nodiscard]] std::vector<double> milliseconds() const {
    std::vector<double> result;
    for (std::size_t i = 0; i < events_.size(); i += 2)
      result.push_back(device_.milliseconds(events_[i], events_[i + 1]));
    return result;
  }

 private:
  Device& device_;
  std::vector<void*> events_;
};

class HeldLaunch {
 public:
  HeldLaunch(Device& device, const std::vector<Region>& regions)
      : device_(device), snapshot_(device, regions) {}

  [[nodiscard]] json described(const LaunchInfo& launch) {
    json allocations = json::array();
    for (const Region& region : snapshot_.regions()) allocations.push_back(region.bytes);
    return {{"device", device_.name()},
            {"grid", {launch.grid.x, launch.grid.y, launch.grid.z}},
            {"block", {launch.block.x, launch.block.y, launch.block.z}},
            {"dynamic_lds_bytes", launch.dynamic_lds_bytes},
            {"allocations", allocations}};
  }

  Message answer(const json& command) {
    const std::string name = command.at("command");
    if (name == "before") return {json::object(), bytes_of(snapshot_.hash_of_copy())};
    if (name == "state") {
      prepare(command);
      return hashed();
    }
    if (name == "launch") return launch(command);
    if (name == "read")
      return {json::object(),
              snapshot_.read(command.at("allocation"), command.at("offset"), command.at("bytes"))};
    if (name == "time") return time(command);
    if (name == "burst") return burst(command.at("seconds"));
    throw std::runtime_error(fmt::format("there is no command '{}'", name));
  }

  void restore() {
    snapshot_.restore_all();
    device_.synchronize();
  }

 private:
  [[nodiscard]] std::vector<bool> marked(const json& written) const {
    std::vector<bool> result(snapshot_.regions().size());
    for (const std::size_t region : written) result.at(region) = true;
    return result;
  }

  /// Memory becomes what a launch is to find.
  void prepare(const json& command) {
    const std::string start = command.at("start");
    const std::uint64_t seed = command.at("seed");
    const std::vector<bool> written = marked(command.at("written"));
    if (start != "as left") snapshot_.restore_all();
    for (std::size_t r = 0; r < written.size(); ++r) {
      if (start == "poisoned" && written[r]) snapshot_.poison(r, seed);
      if (start == "fresh" && !written[r]) snapshot_.shuffle(r, seed);
    }
    device_.synchronize();
  }

  Message hashed() { return {json::object(), bytes_of(snapshot_.hash_of_memory())}; }

  Message launch(const json& command) {
    prepare(command);
    device_.launch();
    device_.synchronize();
    return hashed();
  }

  Message time(const json& command) {
    const int warm_up = command.at("warm_up");
    const int repetitions = command.at("repetitions");
    const bool restores = command.at("restore");
    const bool flushes = command.at("flush");
    const std::vector<bool> written = marked(command.at("written"));
    std::optional<Scratch> filled;
    if (flushes)
      filled.emplace(device_, device_.flush_bytes());
    else if (restores && snapshot_.on_host())
      filled.emplace(device_, kBusyBytes);
    Stopwatch stopwatch(device_, repetitions);
    restore();
    for (int i = -warm_up; i < repetitions; ++i) {
      for (std::size_t r = 0; restores && r < written.size(); ++r)
        if (written[r]) snapshot_.restore(r);
      if (filled) filled->fill();
      i < 0 ? device_.launch() : stopwatch.time(i);
    }
    device_.synchronize();
    return {{{"milliseconds", stopwatch.milliseconds()}}, {}};
  }

  /// In batches that grow until one takes long enough for the wait at its end not to matter.
  Message burst(double seconds) {
    constexpr double kBatchSeconds = 0.05;
    restore();
    std::uint64_t launches = 0;
    std::uint64_t batch = 1;
    const Clock::time_point begin = Clock::now();
    double passed = 0;
    do {
      const double before = passed;
      for (std::uint64_t i = 0; i < batch; ++i) device_.launch();
      device_.synchronize();
      launches += batch;
      passed = seconds_since(begin);
      if (passed - before < kBatchSeconds) batch *= 2;
    } while (passed < seconds);
    return {{{"launches", launches}, {"seconds", passed}}, {}};
  }

  Device& device_;
  Snapshot snapshot_;
};

void answer_commands(Channel& session, HeldLaunch& held) {
  while (const auto message = session.receive()) {
    if (message->line.value("command", "") == "finish") return;
    Message reply;
    const std::string fault = fault_of([&] { reply = held.answer(message->line); });
    if (!fault.empty()) reply = {{{"error", fault}}, {}};
    if (!session.send(reply.line, reply.payload)) return;
  }
}

}  // namespace

void serve(Channel& session, Device& device, const LaunchInfo& launch,
           std::vector<Region> regions) {
  const std::string fault = fault_of([&] {
    device.synchronize();
    HeldLaunch held(device, regions);
    session.send({{"held", held.described(launch)}});
    answer_commands(session, held);
    held.restore();
  });
  session.send(fault.empty() ? json::object() : json{{"error", fault}});
}

}  // namespace swizzleperf::measure::probe
