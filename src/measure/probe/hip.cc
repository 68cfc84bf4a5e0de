// The HIP back end: libswizzleperf_probe_hip.so, preloaded into the program.
//
// Being preloaded, its functions stand before those of the same name in HIP's runtime, to which
// each goes on: with ROCm that is libamdhip64.so, with our virtual GPU libswizzleperf_hip.so.
// (AMD's own way to be told of calls, rocprofiler-sdk, is of newer ROCm only and allows one tool at
// a time, which shall remain rocprofv3.) A program that looks HIP's functions up in the library's
// handle itself passes by us and is said to launch nothing.
//
// HIP's runtime may call its own entry points, by way of us: only the outermost call of a thread is
// the program's. Nothing is linked against HIP, since the library comes into every process that the
// program starts, also such that have no HIP.
#include <dlfcn.h>
#include <fmt/format.h>
#include <hip/hip_runtime_api.h>

#include <map>
#include <mutex>
#include <utility>

#include "measure/probe/probe.h"

namespace swizzleperf::measure::probe {
namespace {

// --- What comes behind us -----------------------------------------------------------------------

void* find_next(const char* name) {
  if (void* const function = ::dlsym(RTLD_NEXT, name)) return function;
  // A runtime that was loaded by dlopen stands in no order with us.
  for (const char* library :
       {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"})
    if (void* const loaded = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD))
      return ::dlsym(loaded, name);
  return nullptr;
}

template <class Signature>
class Next;
template <class... Parameters>
class Next<hipError_t(Parameters...)> {
 public:
  explicit Next(const char* name)
      : function_(reinterpret_cast<hipError_t (*)(Parameters...)>(find_next(name))) {}
  hipError_t operator()(Parameters... arguments) const {
    return function_ ? function_(arguments...) : hipErrorSharedObjectSymbolNotFound;
  }

 private:
  hipError_t (*function_)(Parameters...);
};

/// True for the calls that the program makes itself.
class Call {
 public:
  Call() { ++depth; }
  ~Call() { --depth; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  [[nodiscard]] bool is_the_programs() const { return depth == 1 && !unobserved(); }

 private:
  static inline thread_local int depth = 0;
};

// --- The device ---------------------------------------------------------------------------------

void check(const char* call, hipError_t error) {
  if (error == hipSuccess) return;
  static const auto next_name =
      reinterpret_cast<const char* (*)(hipError_t)>(find_next("hipGetErrorName"));
  throw DeviceFault(
      fmt::format("{}: {}", call, next_name ? next_name(error) : std::to_string(error).c_str()));
}

// clang-format off: a table
const auto& get_device() { static const Next<hipError_t(int*)> f("hipGetDevice"); return f; }
const auto& get_name() { static const Next<hipError_t(char*, int, hipDevice_t)> f("hipDeviceGetName"); return f; }
const auto& mem_info() { static const Next<hipError_t(size_t*, size_t*)> f("hipMemGetInfo"); return f; }
const auto& malloc_device() { static const Next<hipError_t(void**, size_t)> f("hipMalloc"); return f; }
const auto& free_device() { static const Next<hipError_t(void*)> f("hipFree"); return f; }
const auto& malloc_host() { static const Next<hipError_t(void**, size_t, unsigned)> f("hipHostMalloc"); return f; }
const auto& free_host() { static const Next<hipError_t(void*)> f("hipHostFree"); return f; }
const auto& memset_async() { static const Next<hipError_t(void*, int, size_t, hipStream_t)> f("hipMemsetAsync"); return f; }
const auto& memcpy_async() { static const Next<hipError_t(void*, const void*, size_t, hipMemcpyKind, hipStream_t)> f("hipMemcpyAsync"); return f; }
const auto& synchronize_device() { static const Next<hipError_t()> f("hipDeviceSynchronize"); return f; }
const auto& create_event() { static const Next<hipError_t(hipEvent_t*)> f("hipEventCreate"); return f; }
const auto& record_event() { static const Next<hipError_t(hipEvent_t, hipStream_t)> f("hipEventRecord"); return f; }
const auto& elapsed() { static const Next<hipError_t(float*, hipEvent_t, hipEvent_t)> f("hipEventElapsedTime"); return f; }
const auto& destroy_event() { static const Next<hipError_t(hipEvent_t)> f("hipEventDestroy"); return f; }
const auto& last_error() { static const Next<hipError_t()> f("hipGetLastError"); return f; }
const auto& is_capturing() { static const Next<hipError_t(hipStream_t, hipStreamCaptureStatus*)> f("hipStreamIsCapturing"); return f; }
const auto& symbol_address() { static const Next<hipError_t(void**, const void*)> f("hipGetSymbolAddress"); return f; }
// clang-format on

using Relaunch = std::function<hipError_t()>;

class HipDevice : public Device {
 public:
  HipDevice(hipStream_t stream, Relaunch relaunch)
      : stream_(stream), relaunch_(std::move(relaunch)) {
    check("hipGetDevice", get_device()(&device_));
  }

  std::string name() override {
    char text[256] = "";
    check("hipDeviceGetName", get_name()(text, sizeof text, device_));
    return text;
  }
  std::uint64_t free_bytes() override {
    std::size_t free = 0;
    std::size_t total = 0;
    check("hipMemGetInfo", mem_info()(&free, &total));
    return free;
  }
  /// HIP tells of the second level only; the largest last level there is has 256 MB.
  std::uint64_t flush_bytes() override { return 512 << 20; }

  void* allocate(std::uint64_t bytes) override {
    void* memory = nullptr;
    return unless_out_of_memory("hipMalloc", malloc_device()(&memory, bytes)) ? memory : nullptr;
  }
  void release(void* memory) override { check("hipFree", free_device()(memory)); }
  void* allocate_pinned(std::uint64_t bytes) override {
    void* memory = nullptr;
    return unless_out_of_memory("hipHostMalloc", malloc_host()(&memory, bytes, 0)) ? memory
                                                                                   : nullptr;
  }
  void release_pinned(void* memory) override { check("hipHostFree", free_host()(memory)); }

  void fill(void* to, std::uint8_t byte, std::uint64_t bytes) override {
    check("hipMemsetAsync", memset_async()(to, byte, bytes, stream_));
  }
  void copy_within(void* to, const void* from, std::uint64_t bytes) override {
    copy(to, from, bytes, hipMemcpyDeviceToDevice);
  }
  void copy_in(void* to, const void* host, std::uint64_t bytes) override {
    copy(to, host, bytes, hipMemcpyHostToDevice);
  }
  void copy_out(void* host, const void* from, std::uint64_t bytes) override {
    copy(host, from, bytes, hipMemcpyDeviceToHost);
  }
  void launch() override { check("the launch", relaunch_()); }
  void* make_event() override {
    hipEvent_t event = nullptr;
    check("hipEventCreate", create_event()(&event));
    return event;
  }
  void record(void* event) override {
    check("hipEventRecord", record_event()(static_cast<hipEvent_t>(event), stream_));
  }
  void synchronize() override { check("hipDeviceSynchronize", synchronize_device()()); }
  double milliseconds(void* from_event, void* to_event) override {
    float result = 0;
    check("hipEventElapsedTime", elapsed()(&result, static_cast<hipEvent_t>(from_event),
                                           static_cast<hipEvent_t>(to_event)));
    return result;
  }
  void release_event(void* event) override {
    check("hipEventDestroy", destroy_event()(static_cast<hipEvent_t>(event)));
  }

 private:
  void copy(void* to, const void* from, std::uint64_t bytes, hipMemcpyKind kind) {
    check("hipMemcpyAsync", memcpy_async()(to, from, bytes, kind, stream_));
  }
  /// The program must not find our refusal when it asks for its last error.
  static bool unless_out_of_memory(const char* call, hipError_t error) {
    if (error == hipErrorOutOfMemory) {
      (void)last_error()();
      return false;
    }
    check(call, error);
    return true;
  }

  hipStream_t stream_;
  Relaunch relaunch_;
  int device_ = 0;
};

// --- Names --------------------------------------------------------------------------------------

/// What the program's code registers as it is loaded, and what it looks up.
struct Known {
  std::mutex mutex;
  std::map<const void*, std::string> kernels;      // by host function or handle
  std::map<const void*, std::uint64_t> variables;  // bytes, by host variable
};

Known& known() {
  static Known* const all = new Known;  // programs call us from their own destructors
  return *all;
}

void name_kernel(const void* function, const char* symbol) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  if (symbol) k.kernels[function] = symbol;
}

std::string symbol_of(const void* function) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  const auto found = k.kernels.find(function);
  return found == k.kernels.end() ? "a kernel without a name" : found->second;
}

/// Variables are memory that a launch may change, too.
std::vector<Region> variables() {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  std::vector<Region> result;
  for (const auto& [variable, bytes] : k.variables) {
    void* address = nullptr;
    if (symbol_address()(&address, variable) == hipSuccess && address)
      result.push_back({static_cast<std::byte*>(address), bytes});
    else
      (void)last_error()();
  }
  return result;
}

// --- What the program does ----------------------------------------------------------------------

hipError_t note(const Call& call, hipError_t result, void** base, std::uint64_t bytes) {
  if (call.is_the_programs() && result == hipSuccess && base) allocated(*base, bytes);
  return result;
}

void note_free(const Call& call, void* base) {
  if (call.is_the_programs()) freed(base);
}

bool is_captured(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  return is_capturing()(stream, &status) == hipSuccess && status != hipStreamCaptureStatusNone;
}

Dim3 to_dim3(const dim3& d) { return {d.x, d.y, d.z}; }

hipError_t launch(const void* function, const Dim3& grid, const Dim3& block, std::uint64_t lds,
                  hipStream_t stream, const Relaunch& again, const Relaunch& go_on) {
  const Call call;
  if (!call.is_the_programs()) return go_on();
  const std::string symbol = symbol_of(function);
  if (is_captured(stream)) {
    captured(symbol);
  } else {
    launching(
        {symbol, grid, block, lds}, [&] { return std::make_unique<HipDevice>(stream, again); },
        variables);
  }
  return go_on();
}

hipError_t launch(const void* function, const Dim3& grid, const Dim3& block, std::uint64_t lds,
                  hipStream_t stream, const Relaunch& go_on) {
  return launch(function, grid, block, lds, stream, go_on, go_on);
}

__attribute__((constructor)) void begin() { connect("HIP"); }

}  // namespace
}  // namespace swizzleperf::measure::probe

using namespace swizzleperf::measure::probe;

extern "C" {

// --- Memory. Host memory is not kept: what a kernel leaves there is not compared. ----------------

hipError_t hipMalloc(void** pointer, size_t bytes) {
  const Call call;
  return note(call, malloc_device()(pointer, bytes), pointer, bytes);
}
hipError_t hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned int flags) {
  static const Next<hipError_t(void**, size_t, unsigned)> next("hipExtMallocWithFlags");
  const Call call;
  return note(call, next(pointer, bytes, flags), pointer, bytes);
}
hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned int flags) {
  static const Next<hipError_t(void**, size_t, unsigned)> next("hipMallocManaged");
  const Call call;
  return note(call, next(pointer, bytes, flags), pointer, bytes);
}
hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream) {
  static const Next<hipError_t(void**, size_t, hipStream_t)> next("hipMallocAsync");
  const Call call;
  return note(call, next(pointer, bytes, stream), pointer, bytes);
}
hipError_t hipMallocFromPoolAsync(void** pointer, size_t bytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  static const Next<hipError_t(void**, size_t, hipMemPool_t, hipStream_t)> next(
      "hipMallocFromPoolAsync");
  const Call call;
  return note(call, next(pointer, bytes, pool, stream), pointer, bytes);
}
hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  static const Next<hipError_t(void**, size_t*, size_t, size_t)> next("hipMallocPitch");
  const Call call;
  const hipError_t result = next(pointer, pitch, width, height);
  return note(call, result, pointer, pitch ? *pitch * height : 0);
}
hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, size_t* pitch, size_t width, size_t height,
                            unsigned int element_bytes) {
  static const Next<hipError_t(hipDeviceptr_t*, size_t*, size_t, size_t, unsigned)> next(
      "hipMemAllocPitch");
  const Call call;
  const hipError_t result = next(pointer, pitch, width, height, element_bytes);
  return note(call, result, pointer, pitch ? *pitch * height : 0);
}
hipError_t hipMalloc3D(hipPitchedPtr* pointer, hipExtent extent) {
  static const Next<hipError_t(hipPitchedPtr*, hipExtent)> next("hipMalloc3D");
  const Call call;
  const hipError_t result = next(pointer, extent);
  return pointer ? note(call, result, &pointer->ptr, pointer->pitch * extent.height * extent.depth)
                 : result;
}
hipError_t hipFree(void* pointer) {
  const Call call;
  note_free(call, pointer);  // before: another thread may be given the same address at once
  return free_device()(pointer);
}
hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  static const Next<hipError_t(void*, hipStream_t)> next("hipFreeAsync");
  const Call call;
  note_free(call, pointer);
  return next(pointer, stream);
}

// --- Names --------------------------------------------------------------------------------------

// NOLINTBEGIN(bugprone-reserved-identifier): clang emits calls to these names
void __hipRegisterFunction(void** handle, const void* host_function, char* device_function,
                           const char* device_name, unsigned int thread_limit, void* tid, void* bid,
                           dim3* block, dim3* grid, int* wave_size) {
  static const auto next =
      reinterpret_cast<decltype(&__hipRegisterFunction)>(find_next("__hipRegisterFunction"));
  name_kernel(host_function, device_name);
  if (next)
    next(handle, host_function, device_function, device_name, thread_limit, tid, bid, block, grid,
         wave_size);
}
void __hipRegisterVar(void** handle, void* variable, char* host_name, char* device_name,
                      int is_extern, size_t bytes, int is_constant, int is_global) {
  static const auto next =
      reinterpret_cast<decltype(&__hipRegisterVar)>(find_next("__hipRegisterVar"));
  {
    const std::lock_guard lock(known().mutex);
    if (bytes) known().variables[variable] = bytes;
  }
  if (next)
    next(handle, variable, host_name, device_name, is_extern, bytes, is_constant, is_global);
}
// NOLINTEND(bugprone-reserved-identifier)

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  static const Next<hipError_t(hipFunction_t*, hipModule_t, const char*)> next(
      "hipModuleGetFunction");
  const hipError_t result = next(function, module, name);
  if (result == hipSuccess && function) name_kernel(*function, name);
  return result;
}

// --- Launches -----------------------------------------------------------------------------------

hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                           size_t lds, hipStream_t stream) {
  static const Next<hipError_t(const void*, dim3, dim3, void**, size_t, hipStream_t)> next(
      "hipLaunchKernel");
  return launch(function, to_dim3(grid), to_dim3(block), lds, stream,
                [=] { return next(function, grid, block, arguments, lds, stream); });
}
/// Of programs with a default stream for each thread.
hipError_t hipLaunchKernel_spt(const void* function, dim3 grid, dim3 block, void** arguments,
                               size_t lds, hipStream_t stream) {
  static const Next<hipError_t(const void*, dim3, dim3, void**, size_t, hipStream_t)> next(
      "hipLaunchKernel_spt");
  return launch(function, to_dim3(grid), to_dim3(block), lds, stream ? stream : hipStreamPerThread,
                [=] { return next(function, grid, block, arguments, lds, stream); });
}
hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                              size_t lds, hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                              int flags) {
  static const Next<hipError_t(const void*, dim3, dim3, void**, size_t, hipStream_t, hipEvent_t,
                               hipEvent_t, int)>
      next("hipExtLaunchKernel");
  const auto with = [=](hipEvent_t from, hipEvent_t to) {
    return next(function, grid, block, arguments, lds, stream, from, to, flags);
  };
  return launch(
      function, to_dim3(grid), to_dim3(block), lds, stream, [=] { return with(nullptr, nullptr); },
      [=] { return with(start, stop); });
}
hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      unsigned int lds, hipStream_t stream) {
  static const Next<hipError_t(const void*, dim3, dim3, void**, unsigned, hipStream_t)> next(
      "hipLaunchCooperativeKernel");
  return launch(function, to_dim3(grid), to_dim3(block), lds, stream,
                [=] { return next(function, grid, block, arguments, lds, stream); });
}
hipError_t hipLaunchCooperativeKernel_spt(const void* function, dim3 grid, dim3 block,
                                          void** arguments, uint32_t lds, hipStream_t stream) {
  static const Next<hipError_t(const void*, dim3, dim3, void**, uint32_t, hipStream_t)> next(
      "hipLaunchCooperativeKernel_spt");
  return launch(function, to_dim3(grid), to_dim3(block), lds, stream ? stream : hipStreamPerThread,
                [=] { return next(function, grid, block, arguments, lds, stream); });
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                 unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                 unsigned int block_z, unsigned int lds, hipStream_t stream,
                                 void** arguments, void** extra) {
  static const Next<hipError_t(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, unsigned, hipStream_t, void**, void**)>
      next("hipModuleLaunchKernel");
  return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds, stream, [=] {
    return next(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, lds, stream, arguments,
                extra);
  });
}
/// Here a grid is counted in threads.
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t threads_x, uint32_t threads_y,
                                    uint32_t threads_z, uint32_t block_x, uint32_t block_y,
                                    uint32_t block_z, size_t lds, hipStream_t stream,
                                    void** arguments, void** extra, hipEvent_t start,
                                    hipEvent_t stop, uint32_t flags) {
  static const Next<hipError_t(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                               uint32_t, size_t, hipStream_t, void**, void**, hipEvent_t,
                               hipEvent_t, uint32_t)>
      next("hipExtModuleLaunchKernel");
  const auto with = [=](hipEvent_t from, hipEvent_t to) {
    return next(function, threads_x, threads_y, threads_z, block_x, block_y, block_z, lds, stream,
                arguments, extra, from, to, flags);
  };
  const auto blocks = [](uint32_t threads, uint32_t block) {
    return block ? (threads + block - 1) / block : 0;
  };
  return launch(
      function,
      {blocks(threads_x, block_x), blocks(threads_y, block_y), blocks(threads_z, block_z)},
      {block_x, block_y, block_z}, lds, stream, [=] { return with(nullptr, nullptr); },
      [=] { return with(start, stop); });
}

}  // extern "C"
