// How an object file carries its device code: agreed between the compilers and the registration.
//
// clang's host half refers to a symbol that a vendor's linker would put a fat binary behind. Ours
// stands for a record in the section kRecordSection: this header, the unit (JSON: which source was
// compiled where and how, for whoever has to compile a changed copy), the bitcode. Every object has
// its own record and its own symbol, so objects, archives and shared libraries combine as they
// always do, and the records of a program are found in its file without running it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace swizzleperf::vgpu {

inline constexpr const char* kRecordSection = ".swizzleperf";
inline constexpr const char* kRecordSymbol = "__hip_fatbin_";  ///< clang's, before its unit's hash
inline constexpr char kRecordMagic[8] = {'s', 'w', 'z', 'l', 'p', 'r', 'f', '2'};
inline constexpr std::uint64_t kRecordAlignment = 16;  ///< of a record, and of the bitcode in it

struct RecordHeader {
  char magic[8];
  std::uint64_t unit_bytes;
  std::uint64_t bitcode_bytes;
  std::uint64_t linked;  ///< nonzero: device code that refers to other objects' (-fgpu-rdc)
  std::uint64_t cuda;    ///< nonzero: the source is CUDA, and messages use its words
};

constexpr std::uint64_t record_aligned(std::uint64_t bytes) {
  return (bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}
inline bool is_record(const void* data) {
  return std::memcmp(data, kRecordMagic, sizeof kRecordMagic) == 0;
}
constexpr std::uint64_t bitcode_offset(const RecordHeader& header) {
  return record_aligned(sizeof header + header.unit_bytes);
}
constexpr std::uint64_t record_bytes(const RecordHeader& header) {
  return record_aligned(bitcode_offset(header) + header.bitcode_bytes);
}

}  // namespace swizzleperf::vgpu
