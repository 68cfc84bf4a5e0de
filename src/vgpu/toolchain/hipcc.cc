// swizzleperf-hipcc: hipcc's place in a build, for the virtual GPU.
#include "vgpu/toolchain/driver.h"

int main(int argc, char** argv) {
  return swizzleperf::vgpu::drive_compiler(swizzleperf::vgpu::Dialect::kHipcc, argc, argv);
}
