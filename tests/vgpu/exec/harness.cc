// See harness.h.
#include "harness.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/files.h"
#include "base/subprocess.h"

namespace swizzleperf::vgpu::test {

const std::vector<std::byte>& compile(const std::string& source, const std::string& arch) {
  static std::map<std::string, std::vector<std::byte>> cache;
  std::vector<std::byte>& bitcode = cache[arch + source];
  if (!bitcode.empty()) return bitcode;
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "kernel.hip";
  write_file(
      file,
      "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n#line 1 \"kernel.hip\"\n" + source);
  ChildSpec spec;
  spec.argv = {TEST_CLANG,
               "-x",
               "hip",
               "--offload-arch=" + arch,
               "-nogpulib",
               "-D__AMDGCN_WAVEFRONT_SIZE=64",
               "-include",
               TEST_PRELUDE,
               "-Xclang",
               "-mlink-builtin-bitcode",
               "-Xclang",
               TEST_DEVICE_BITCODE,
               "-O3",
               "-g1",
               "--offload-device-only",
               "-emit-llvm",
               "-ffp-contract=off",
               "-c",
               file.string(),
               "-o",
               (scratch.path() / "kernel.bc").string()};
  const ChildResult result = run_child(spec);
  if (!result.ok()) throw std::runtime_error("clang: " + result.err);
  const std::string bytes = read_file(scratch.path() / "kernel.bc");
  bitcode.resize(bytes.size());
  std::memcpy(bitcode.data(), bytes.data(), bytes.size());
  return bitcode;
}

HostLibrary::HostLibrary(const std::string& source) {
  const ScratchDirectory scratch;
  write_file(scratch.path() / "host.cc", source);
  ChildSpec spec;
  const std::string library = (scratch.path() / "host.so").string();
  spec.argv = {TEST_CLANG,
               "-x",
               "c++",
               "-std=c++20",
               "-O1",
               "-w",
               "-fwrapv",
               "-ffp-contract=off",
               "-shared",
               "-fPIC",
               (scratch.path() / "host.cc").string(),
               "-o",
               library};
  const ChildResult result = run_child(spec);
  if (!result.ok()) throw std::runtime_error("clang: " + result.err);
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw std::runtime_error(dlerror());
}

HostLibrary::~HostLibrary() { dlclose(handle_); }

void* HostLibrary::symbol(const std::string& name) const {
  void* p = dlsym(handle_, name.c_str());
  if (p == nullptr) throw std::runtime_error("no function " + name);
  return p;
}

Device::Device(const std::string& source, const std::string& arch)
    : module_(Module::load(compile(source, arch), "kernel.hip")) {
  for (const DeviceVariable& v : module_->variables()) {
    void* p = allocate(v.bytes, "device variable '" + v.symbol + "'");
    std::memcpy(p, v.initial.data(), v.bytes);
    module_->place_variable(v.symbol, reinterpret_cast<std::uint64_t>(p));
  }
}

void* Device::allocate(std::size_t bytes, const std::string& name) {
  storage_.push_back(std::make_unique<std::byte[]>(bytes + 256));
  const auto raw = reinterpret_cast<std::uint64_t>(storage_.back().get());
  const std::uint64_t base = (raw + 255) / 256 * 256;
  memory_.allocations.push_back({base, bytes, name});
  std::sort(memory_.allocations.begin(), memory_.allocations.end(),
            [](const Allocation& a, const Allocation& b) { return a.base < b.base; });
  return reinterpret_cast<void*>(base);
}

const KernelInfo& Device::kernel(const std::string& name) const {
  for (const KernelInfo& k : module_->kernels())
    if (k.name.starts_with(name + "(") || k.name == name) return k;
  throw std::runtime_error("no kernel " + name);
}

void* Device::variable(const std::string& symbol) {
  for (const Allocation& a : memory_.allocations)
    if (a.name == "device variable '" + symbol + "'") return reinterpret_cast<void*>(a.base);
  throw std::runtime_error("no variable " + symbol);
}

void Device::put(std::vector<std::byte>& bytes, const KernelInfo& info, std::size_t k,
                 const void* value, std::size_t size) {
  ASSERT_LT(k, info.arg_offset.size());
  ASSERT_EQ(size, info.arg_bytes[k]);
  std::memcpy(bytes.data() + info.arg_offset[k], value, size);
}

Recorded record(Module& module, const KernelInfo& info, const Launch& launch, const Dim3& block,
                Mode mode, const DeviceMemory& memory) {
  PatternTable patterns;
  BlockRecorder recorder(patterns);
  recorder.begin(static_cast<std::uint32_t>((launch.block.count() + 63) / 64));
  module.run_block(info, launch, block, mode, memory, &recorder);
  const RawBlock& raw = recorder.finish();
  return {raw.events, raw.intervals, patterns.patterns()};
}

namespace {

std::vector<std::vector<std::byte>> snapshot(const DeviceMemory& memory) {
  std::vector<std::vector<std::byte>> copy;
  for (const Allocation& a : memory.allocations) {
    const auto* p = reinterpret_cast<const std::byte*>(a.base);
    copy.emplace_back(p, p + a.bytes);
  }
  return copy;
}

void restore(const DeviceMemory& memory, const std::vector<std::vector<std::byte>>& copy) {
  for (std::size_t k = 0; k < copy.size(); ++k)
    std::copy(copy[k].begin(), copy[k].end(),
              reinterpret_cast<std::byte*>(memory.allocations[k].base));
}

/// Events of one interval as a multiset of (wave, kind, address, pattern's ranges).
using Key = std::tuple<std::uint8_t, int, std::uint64_t,
                       std::vector<std::pair<std::uint32_t, std::uint32_t>>>;
std::map<Key, int> multiset(const Recorded& r, std::uint32_t begin, std::uint32_t end) {
  std::map<Key, int> result;
  for (std::uint32_t k = begin; k < end; ++k) {
    const RawEvent& e = r.events[k];
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
    for (const ByteRange& range : r.patterns[e.pattern])
      ranges.emplace_back(range.begin, range.size);
    ++result[{e.wave, static_cast<int>(e.kind), e.address, ranges}];
  }
  return result;
}

}  // namespace

void Device::compare_modes(const KernelInfo& info, const Launch& launch) {
  const auto before = snapshot(memory_);
  const std::uint64_t blocks = std::min<std::uint64_t>(launch.grid.count(), 5);
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const Dim3 index = unlinear(
        b * (launch.grid.count() - 1) / std::max<std::uint64_t>(blocks - 1, 1), launch.grid);
    const Recorded functional = record(*module_, info, launch, index, Mode::kFunctional, memory_);
    restore(memory_, before);
    const Recorded addresses = record(*module_, info, launch, index, Mode::kAddress, memory_);
    restore(memory_, before);
    ASSERT_EQ(functional.intervals.size(), addresses.intervals.size()) << info.name;
    std::uint32_t begin = 0;
    for (std::size_t k = 0; k < functional.intervals.size(); ++k) {
      const Interval& f = functional.intervals[k];
      const Interval& a = addresses.intervals[k];
      ASSERT_EQ(f.event_end, a.event_end) << info.name << " interval " << k;
      EXPECT_EQ(f.barrier, a.barrier);
      EXPECT_EQ(f.cost.instructions, a.cost.instructions) << info.name << " interval " << k;
      EXPECT_EQ(f.cost.vector_ops, a.cost.vector_ops);
      EXPECT_EQ(f.cost.matrix_flops, a.cost.matrix_flops);
      EXPECT_EQ(f.cost.lds_bytes, a.cost.lds_bytes);
      EXPECT_TRUE(multiset(functional, begin, f.event_end) ==
                  multiset(addresses, begin, a.event_end))
          << info.name << " interval " << k;
      begin = f.event_end;
    }
  }
}

}  // namespace swizzleperf::vgpu::test
