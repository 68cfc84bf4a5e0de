// See device.h.
#include "measure/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "measure/choose.h"
#include "measure/sandbox.h"

namespace swizzleperf::measure {
namespace {

/// What a program is told so that it sees one GPU.
std::map<std::string, std::string> only_device(Language language, int index) {
  const std::string number = std::to_string(index);
  if (language == Language::kCuda) {
    // Numbered as the driver's tools do; the runtime's own default puts the fastest first.
    return {{"CUDA_VISIBLE_DEVICES", number}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
  }
  std::map<std::string, std::string> only = {{"ROCR_VISIBLE_DEVICES", number}};
  for (const char* among_those : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"})
    if (std::getenv(among_those)) only[among_those] = "0";
  return only;
}

std::string shape_words(const Dim3& d) { return fmt::format("{} x {} x {}", d.x, d.y, d.z); }

}  // namespace

ChildSpec Device::child(const Variant& variant) const {
  ChildSpec spec;
  spec.argv = {variant.program.string()};
  const auto& arguments = bundle_.project.arguments;
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.directory = variant.directory;
  spec.environment = only_device(bundle_.project.language, index_);
  spec.resident_limit_bytes =
      settings_.memory_bytes != 0 ? settings_.memory_bytes : most_of_free_memory();
  // Of the whole time in which it is held, which is as long as the other candidates need.
  spec.time_limit_s = 24 * 3600;
  if (!is_foreign(bundle_, variant.number)) return spec;
  Confinement confinement;
  confinement.writable = variant.directory;
  confinement.time_limit_s = spec.time_limit_s;
  confinement.memory_bytes = spec.resident_limit_bytes;
  return confined(spec, confinement);
}

Session Device::start(int number) const {
  return {child(variants_[static_cast<std::size_t>(number)]), bundle_.project.language,
          bundle_.target, settings_.reach_s, settings_.command_s};
}

Device::Device(const Bundle& bundle, const std::vector<Variant>& variants, const Settings& settings,
               int index, std::filesystem::path scratch)
    : bundle_(bundle),
      variants_(variants),
      settings_(settings),
      index_(index),
      scratch_(std::move(scratch)),
      original_(start(0)),
      reference_(learn(original_, [this] { return start(0); }, settings.seed)) {
  const Held& held = original_.held();
  const Target& target = bundle.target;
  if (held.grid != target.grid || held.block != target.block) {
    throw Refusal(fmt::format(
        "it launches {} of {} here, but {} of {} where the bundle was made, so the orders are not "
        "of this launch",
        shape_words(held.grid), shape_words(held.block), shape_words(target.grid),
        shape_words(target.block)));
  }
  plan_.seconds = settings.timing_s;
  plan_.cold = settings.cold;
  plan_.restore = !reference_.idempotent;
  plan_.confidence = confidence_for(bundle.candidates.size());
  plan_.seed = settings.seed;
}

void Device::revive() { original_ = start(0); }

std::optional<Estimate> Device::control() {
  try {
    Session second = start(0);
    const auto rounds = time_in_turn(original_, second, reference_.written, plan_);
    return speedup(rounds, plan_.confidence, plan_.seed);
  } catch (const Refusal&) {
    revive();
    return std::nullopt;
  }
}

void Device::compare_state(Session& own, Start state, Measured& m) {
  const std::string what =
      difference(own, original_, reference_, state, settings_.tolerance, settings_.seed);
  if (!what.empty()) throw Refusal(what);
  m.compared.emplace_back(state_name(state));
}

/// Everything but fresh inputs, which may end the program and so come last.
void Device::compare(Session& own, Measured& m) {
  if (own.before() != reference_.before) {
    m.status = Status::kNotCompared;
    m.reason =
        "its memory before the launch is not the original's: the program prepares other inputs "
        "each time";
    return;
  }
  if (!reference_.repeatable && !settings_.tolerance) {
    m.status = Status::kNotCompared;
    m.reason =
        "the original itself leaves other bytes each time (sums by atomics?): state a tolerance "
        "with --tolerance";
    return;
  }
  m.status = Status::kMeasured;
  compare_state(own, Start::kAsIs, m);
  if (reference_.after.contains(Start::kPoisoned)) compare_state(own, Start::kPoisoned, m);
}

std::optional<double> Device::joules(Session& session) {
  if (settings_.energy_s <= 0 || !reference_.idempotent) return std::nullopt;
  Session::Burst burst;
  const auto power = watts_while(bundle_.project.language, index_,
                                 [&] { burst = session.burst(settings_.energy_s); });
  if (!power || burst.launches == 0) return std::nullopt;
  return *power * burst.seconds / static_cast<double>(burst.launches);
}

std::optional<double> Device::joules_of_original() { return joules(original_); }

/// The program goes on to its own end, and the project's test says what it thinks of it.
void Device::go_on(Session& own, Measured& m) {
  const Variant& variant = variants_[static_cast<std::size_t>(m.number)];
  const ChildResult end = own.finish();
  if (!original_exit_) {
    Session again = start(0);
    original_exit_ = again.finish().exit_status;
  }
  if (end.exit_status != *original_exit_ || end.signal != 0) {
    const std::string how =
        end.exit_status == 0 ? "ended with exit status 0" : how_it_ended(child(variant), end);
    throw Refusal(
        fmt::format("after the launch it {}; the original exits with {}", how, *original_exit_));
  }
  const std::string failed = test_variant(bundle_, variant, settings_.build);
  if (!failed.empty()) throw Refusal(failed);
}

Measured Device::measure(int number) {
  Measured m;
  m.number = number;
  m.device = index_;
  m.notes = reference_.notes;
  const Variant& variant = variants_[static_cast<std::size_t>(number)];
  if (!variant.failure.empty()) {
    m.reason = variant.failure;
    return m;
  }
  if (variant.same_program) m.notes.emplace_back("its executable is the original's, byte by byte");
  try {
    Session own = start(number);
    compare(own, m);
    m.rounds = time_in_turn(original_, own, reference_.written, plan_);
    m.milliseconds = own_time(m.rounds, plan_.confidence, plan_.seed);
    m.speedup = speedup(m.rounds, plan_.confidence, plan_.seed);
    m.joules = joules(own);
    const bool fresh = m.status == Status::kMeasured && reference_.after.contains(Start::kFresh);
    if (fresh) compare_state(own, Start::kFresh, m);
    go_on(own, m);
    m.profile = profile(variant);
  } catch (const Refusal& refusal) {
    m.status = Status::kRefused;
    m.reason = original_.alive() ? refusal.what()
                                 : fmt::format("the original failed beside it: {}", refusal.what());
  }
  if (!original_.alive()) revive();
  return m;
}

Profile Device::profile(const Variant& variant) {
  if (!settings_.counters) return {std::nullopt, "counters were not asked for"};
  ChildSpec spec = child(variant);
  spec.time_limit_s = settings_.reach_s;
  // Behind walls the profiler, too, writes only where they let it.
  const std::filesystem::path& folder =
      spec.walls.writable.empty() ? scratch_ : spec.walls.writable;
  return measure::profile(spec, bundle_.project.language, bundle_.target, folder);
}

std::string Device::finish() {
  try {
    const ChildResult end = original_.finish();
    return end.ok() ? ""
                    : fmt::format("after the launch the original {}",
                                  how_it_ended(child(variants_[0]), end));
  } catch (const Refusal& refusal) {
    return fmt::format("the original: {}", refusal.what());
  }
}

}  // namespace swizzleperf::measure
