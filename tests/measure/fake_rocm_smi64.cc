// One board of AMD's that counts energy.
#include <cstdint>

extern "C" {

int rsmi_init(std::uint64_t /*flags*/) { return 0; }
int rsmi_shut_down() { return 0; }
int rsmi_dev_energy_count_get(std::uint32_t device, std::uint64_t* ticks, float* microjoules,
                              std::uint64_t* timestamp) {
  constexpr int kInvalidArguments = 1;
  if (device != 0) return kInvalidArguments;
  *ticks = 2'000'000;
  *microjoules = 15.5F;
  *timestamp = 1;
  return 0;
}

}  // extern "C"
