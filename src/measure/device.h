// One GPU's share of a measurement: the original held at its launch, and candidates against it, one
// after the other.
//
// Every device holds an original of its own, so a ratio never compares two GPUs, and which device
// took which candidate changes nothing but noise.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "measure/build.h"
#include "measure/compare.h"
#include "measure/measure.h"
#include "measure/results.h"
#include "measure/rounds.h"

namespace swizzleperf::measure {

class Device {
 public:
  /// Starts the original and learns what its launch does. Throws Refusal when that fails, since
  /// nothing can then be measured. `index` is the driver's; the program sees that GPU alone.
  Device(const Bundle& bundle, const std::vector<Variant>& variants, const Settings& settings,
         int index, std::filesystem::path scratch);

  [[nodiscard]] const std::string& name() const { return original_.held().device; }
  [[nodiscard]] const Reference& reference() const { return reference_; }
  [[nodiscard]] bool restores() const { return plan_.restore; }

  /// The original against itself in a second process. Nothing if that could not be run.
  std::optional<Estimate> control();

  Measured measure(int number);

  /// Counters of the original; the session of it stays as it is.
  Profile profile(const Variant& variant);
  std::optional<double> joules_of_original();

  /// Lets the original go on to its end: "" if that went well, else a sentence.
  std::string finish();

 private:
  [[nodiscard]] ChildSpec child(const Variant& variant) const;
  [[nodiscard]] Session start(int number) const;
  /// Brings a dead original back.
  void revive();
  void compare(Session& own, Measured& m);
  void compare_state(Session& own, Start state, Measured& m);
  std::optional<double> joules(Session& session);
  void go_on(Session& own, Measured& m);

  const Bundle& bundle_;
  const std::vector<Variant>& variants_;
  const Settings& settings_;
  int index_;
  std::filesystem::path scratch_;
  Session original_;
  Reference reference_;
  TimingPlan plan_;
  std::optional<int> original_exit_;  ///< of an original that went on to its end
};

}  // namespace swizzleperf::measure
