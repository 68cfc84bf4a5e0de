// How a program carries its device code: agreed between the link command and the registration.
//
// The host object embeds `kEmbeddedMark` where a vendor's compiler would embed a fat binary; the
// bitcode itself is a binary input of the link, and lld defines symbols at its start and end that
// are derived from the file's name.
#pragma once

namespace swizzleperf::vgpu {

inline constexpr const char* kDeviceFile = "device.bc";
inline constexpr const char* kEmbeddedMark = "swizzleperf: see _binary_device_bc_start";
inline constexpr const char* kEmbeddedStart = "_binary_device_bc_start";
inline constexpr const char* kEmbeddedEnd = "_binary_device_bc_end";

}  // namespace swizzleperf::vgpu
