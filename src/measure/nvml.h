// NVIDIA's management library, if it is there: it comes with the driver, so it is looked for when
// asked and never linked. Its few functions are declared here, which spares a header of CUDA's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace swizzleperf::measure {

class Nvml {
 public:
  /// Nothing where there is no library or no driver.
  static std::optional<Nvml> open();

  [[nodiscard]] int devices() const;
  [[nodiscard]] std::string name(int device) const;  ///< empty where it does not say
  [[nodiscard]] std::string uuid(int device) const;
  [[nodiscard]] std::optional<double> joules(int device) const;
  [[nodiscard]] std::string driver() const;

 private:
  struct Library;
  explicit Nvml(std::shared_ptr<Library> library) : library_(std::move(library)) {}
  std::shared_ptr<Library> library_;
};

}  // namespace swizzleperf::measure
