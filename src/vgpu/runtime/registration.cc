// What compiled host code calls before main: here is my device code, here are my kernels and device
// variables. The names and signatures are those that clang emits calls to.
#include <fmt/format.h>
#include <hip/hip_runtime_api.h>

#include <cstring>

#include "vgpu/runtime/embedded.h"
#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

/// What clang lays out around the embedded device code.
struct FatBinaryWrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const char* binary;
  void* reserved;
};

/// Takes the module in the record. See embedded.h.
Modules::Unit* add_record(const char* record) {
  if (!is_record(record)) {
    fail("the program's device code is for a real GPU: build it with swizzleperf-hipcc or -nvcc");
  }
  RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  const std::span bitcode(record + bitcode_offset(header), header.bitcode_bytes);
  if (header.cuda != 0) state().heap.speak_cuda();
  return state().modules.add(std::as_bytes(bitcode), header.linked != 0);
}

Modules::Unit* unit_of(void** handle) { return reinterpret_cast<Modules::Unit*>(handle); }

}  // namespace
}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

// NOLINTBEGIN(bugprone-reserved-identifier): clang emits calls to these names
extern "C" {

void** __hipRegisterFatBinary(const void* data) {
  const std::lock_guard lock(state().mutex);
  const auto* const wrapper = static_cast<const FatBinaryWrapper*>(data);
  return reinterpret_cast<void**>(add_record(wrapper->binary));
}

void __hipUnregisterFatBinary(void** /*handle*/) {}

void __hipRegisterFunction(void** handle, const void* host_function, char* /*device_function*/,
                           const char* device_name, unsigned int /*thread_limit*/, void* /*tid*/,
                           void* /*bid*/, dim3* /*block*/, dim3* /*grid*/, int* /*wave_size*/) {
  const std::lock_guard lock(state().mutex);
  state().modules.add_kernel(unit_of(handle), host_function, device_name);
}

void __hipRegisterVar(void** handle, void* shadow, char* /*host_name*/, char* device_name,
                      int /*is_extern*/, size_t /*bytes*/, int /*is_constant*/, int /*is_global*/) {
  const std::lock_guard lock(state().mutex);
  unit_of(handle)->shadows[shadow] = device_name;
}

void __hipRegisterManagedVar(void** handle, void** pointer, void* initial, const char* name,
                             size_t bytes, unsigned int /*alignment*/) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  void* const storage = s.heap.allocate(bytes, MemoryKind::kVariable);
  if (!storage) fail(fmt::format("no memory for managed variable '{}' of {} bytes", name, bytes));
  s.heap.rename(storage, fmt::format("managed variable '{}'", name));
  std::memcpy(storage, initial, bytes);
  *pointer = storage;
  const std::string symbol = std::string(name) + kManagedSuffix;
  unit_of(handle)->variables[symbol] = {storage, bytes};
  unit_of(handle)->shadows[static_cast<const void*>(pointer)] = symbol;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
