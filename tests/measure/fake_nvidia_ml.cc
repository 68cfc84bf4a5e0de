// Two boards of NVIDIA's, as its management library would tell of them; the second does not count
// energy.
#include <cstdio>

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int boards[2] = {0, 1};
  constexpr int kInvalidArgument = 2;
  if (index >= 2) return kInvalidArgument;
  *device = &boards[index];
  return 0;
}
int nvmlDeviceGetName(void* /*device*/, char* name, unsigned bytes) {
  std::snprintf(name, bytes, "NVIDIA H200");
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned bytes) {
  std::snprintf(uuid, bytes, "GPU-%d2345678-0000-0000-0000-000000000000",
                *static_cast<int*>(device) + 1);
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  constexpr int kNotSupported = 3;
  if (*static_cast<int*>(device) == 1) return kNotSupported;
  *millijoules = 1'234'567;
  return 0;
}
int nvmlSystemGetDriverVersion(char* version, unsigned bytes) {
  std::snprintf(version, bytes, "580.1");
  return 0;
}

}  // extern "C"
