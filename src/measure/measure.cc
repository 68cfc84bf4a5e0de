// See measure.h.
#include "measure/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/files.h"
#include "measure/choose.h"
#include "measure/device.h"
#include "measure/sandbox.h"
#include "report/progress.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;

const char* vendor_of(Language language) { return language == Language::kCuda ? "NVIDIA" : "AMD"; }

std::vector<int> chosen_devices(Language language, const Settings& settings) {
  if (!settings.devices.empty()) return settings.devices;
  std::vector<int> all;
  for (const Gpu& gpu : visible_gpus(language)) all.push_back(gpu.device);
  return all;
}

/// What the devices work off together.
class Queue {
 public:
  Queue(const Bundle& bundle, Results& results, Progress& progress)
      : results_(results), progress_(progress), left_(bundle.candidates.size()) {
    results_.candidates.resize(bundle.candidates.size());
  }

  /// The next candidate's number, or nothing.
  std::optional<int> next() {
    const std::size_t i = next_.fetch_add(1);
    if (i >= results_.candidates.size()) return std::nullopt;
    return static_cast<int>(i) + 1;
  }

  void done(Measured m) {
    const std::lock_guard lock(mutex_);
    const auto all = static_cast<double>(results_.candidates.size());
    --left_;
    const bool refused = m.status == Status::kRefused || !m.speedup;
    const std::string what =
        refused ? "refused: " + m.reason : fmt::format("{:.3f}x", m.speedup->value);
    progress_.update(fmt::format("candidate {}: {}", m.number, what),
                     1 - static_cast<double>(left_) / all);
    const auto place = static_cast<std::size_t>(m.number - 1);
    results_.candidates[place] = std::move(m);
  }

  /// Of the first device to be ready, which speaks for the original.
  void first(const std::function<void()>& fill) { std::call_once(once_, fill); }

  void note(const std::string& fault) {
    if (fault.empty()) return;
    const std::lock_guard lock(mutex_);
    results_.original.notes.push_back(fault);
  }

  void control(const std::optional<Estimate>& estimate) {
    const std::lock_guard lock(mutex_);
    if (!estimate) return;
    if (!results_.control || estimate->high > results_.control->high) results_.control = estimate;
  }

 private:
  Results& results_;
  Progress& progress_;
  std::size_t left_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::once_flag once_;
};

std::string l2_words(const Settings& settings, const Device& device) {
  std::string words =
      settings.cold ? "cold: the last-level cache is filled with other data before each launch"
                    : "warm: launches follow each other";
  if (device.restores()) {
    words += "; memory that the launch writes is restored before each, by copies through the cache";
  }
  return words;
}

void work(const Bundle& bundle, const std::vector<Variant>& variants, const Settings& settings,
          int index, const fs::path& scratch, Queue& queue, Results& results) {
  Device device(bundle, variants, settings, index, scratch);
  queue.first([&] {
    results.device = device.name();
    results.l2_state = l2_words(settings, device);
    results.original.device = index;
    results.original.status = Status::kMeasured;
    results.original.notes = device.reference().notes;
    results.original.profile = device.profile(variants[0]);
    results.original.joules = device.joules_of_original();
  });
  queue.control(device.control());
  while (const auto number = queue.next()) queue.done(device.measure(*number));
  queue.note(device.finish());
}

/// One thread a device; the first failure ends it, once all have stopped.
void work_on_all(const std::vector<int>& devices,
                 const std::function<void(int index, std::size_t place)>& body) {
  std::vector<std::exception_ptr> failures(devices.size());
  std::vector<std::thread> threads;
  threads.reserve(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        body(devices[i], i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

/// The original's own time, from all rounds in which it took part.
void time_original(Results& r, const Settings& settings) {
  std::vector<Round> all;
  for (const Measured& m : r.candidates) {
    all.insert(all.end(), m.rounds.begin(), m.rounds.end());
  }
  r.original.milliseconds = original_time(all, r.confidence, settings.seed);
}

}  // namespace

std::string obstacle(Language language, bool own_build, const Settings& settings) {
  if (chosen_devices(language, settings).empty()) {
    return fmt::format(
        "no {} GPU is visible here to measure on; `swizzleperf doctor` says what was looked for",
        vendor_of(language));
  }
  const std::string compiler = language == Language::kCuda ? "nvcc" : "hipcc";
  if (!own_build && !find_program(compiler)) {
    return fmt::format("{} is not on PATH, and what is measured is built with it", compiler);
  }
  return missing_probe(language);
}

Results measure(const Bundle& bundle, const Settings& settings) {
  const auto begin = std::chrono::steady_clock::now();
  const Project& project = bundle.project;
  const std::string obstructed = obstacle(project.language, !project.build.empty(), settings);
  if (!obstructed.empty()) throw input_error(obstructed);
  const std::vector<int> devices = chosen_devices(project.language, settings);
  const ScratchDirectory scratch;
  Progress progress(settings.quiet);
  progress.update(fmt::format("building {} variants", bundle.candidates.size() + 1), 0);
  const std::vector<Variant> variants =
      build_variants(bundle, scratch.path(), settings.build, settings.jobs);
  if (!variants[0].failure.empty()) {
    throw input_error(fmt::format("the program as it is: {}", variants[0].failure));
  }
  Results results;
  results.devices = static_cast<int>(devices.size());
  results.confidence = confidence_for(bundle.candidates.size());
  results.protections = protections().active;
  Queue queue(bundle, results, progress);
  try {
    work_on_all(devices, [&](int index, std::size_t place) {
      const fs::path own = scratch.path() / fmt::format("device{}", place);
      make_directories(own);
      work(bundle, variants, settings, index, own, queue, results);
    });
  } catch (const Refusal& refusal) {
    throw input_error(fmt::format("the program as it is cannot be measured: {}", refusal.what()));
  }
  time_original(results, settings);
  choose(results, bundle);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  results.seconds = spent.count();
  progress.finish(fmt::format("measured {} candidates in {:.1f} s", results.candidates.size(),
                              results.seconds));
  write_results(results, bundle);
  return results;
}

}  // namespace swizzleperf::measure
