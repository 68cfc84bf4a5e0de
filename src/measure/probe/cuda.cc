// The CUDA back end: libswizzleperf_probe_cuda.so, loaded by the driver through
// CUDA_INJECTION64_PATH, which works whatever way the program came to CUDA (nvcc links the runtime
// statically, so that there is nothing to preload before). Calls are seen by CUPTI's callbacks of
// the driver API, on which the runtime rests. When the wanted launch is entered all work is done
// inside the callback, by calls of the driver; then the callback returns and the launch goes
// through.
//
// CUPTI is opened here and not linked. It is no part of the driver; a program is measured with the
// one of the toolkit that is found where it runs, wherever that was put, and a linked library that
// is not found would keep the program from starting with a message of the loader's instead of ours.
// A CUPTI newer than the driver refuses to work, so all that are found are tried. Nor is the driver
// linked: it is in the process, since it loaded us.
//
// Variables (__device__) that no launch is given a pointer to are not known: the driver does not
// list them.
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "measure/probe/probe.h"
#include "measure/probe/quietly.h"

namespace swizzleperf::measure::probe {
namespace {

namespace fs = std::filesystem;

// --- The driver ---------------------------------------------------------------------------------

void* find_in_driver(const char* name) {
  static void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* const function = driver ? ::dlsym(driver, name) : nullptr;
  if (!function) throw DeviceFault(fmt::format("{}: the CUDA driver has no such function", name));
  return function;
}

/// A function of the driver, looked up at its first call. The names are those of the library, where
/// a function that was changed has a number; the header's macros would hide them.
template <class... Parameters>
class DriverCall {
 public:
  explicit constexpr DriverCall(const char* name) noexcept : name_(name) {}

  CUresult unchecked(Parameters... arguments) {
    auto* function = function_.load();
    if (!function) {
      function = reinterpret_cast<CUresult (*)(Parameters...)>(find_in_driver(name_));
      function_ = function;
    }
    return function(arguments...);
  }
  void operator()(Parameters... arguments) { check(unchecked(arguments...)); }
  void check(CUresult result) const;

 private:
  const char* name_;
  std::atomic<CUresult (*)(Parameters...)> function_ = nullptr;
};

constinit DriverCall<CUresult, const char**> get_error_name("cuGetErrorName");
constinit DriverCall<CUdevice*> ctx_get_device("cuCtxGetDevice");
constinit DriverCall<> ctx_synchronize("cuCtxSynchronize");
constinit DriverCall<char*, int, CUdevice> device_get_name("cuDeviceGetName");
constinit DriverCall<int*, CUdevice_attribute, CUdevice> device_get_attribute(
    "cuDeviceGetAttribute");
constinit DriverCall<std::size_t*, std::size_t*> mem_get_info("cuMemGetInfo_v2");
constinit DriverCall<CUdeviceptr*, std::size_t> mem_alloc("cuMemAlloc_v2");
constinit DriverCall<CUdeviceptr> mem_free("cuMemFree_v2");
constinit DriverCall<void**, std::size_t> mem_alloc_host("cuMemAllocHost_v2");
constinit DriverCall<void*> mem_free_host("cuMemFreeHost");
constinit DriverCall<CUdeviceptr, unsigned char, std::size_t, CUstream> memset_async(
    "cuMemsetD8Async");
constinit DriverCall<CUdeviceptr, CUdeviceptr, std::size_t, CUstream> copy_d_to_d(
    "cuMemcpyDtoDAsync_v2");
constinit DriverCall<CUdeviceptr, const void*, std::size_t, CUstream> copy_h_to_d(
    "cuMemcpyHtoDAsync_v2");
constinit DriverCall<void*, CUdeviceptr, std::size_t, CUstream> copy_d_to_h("cuMemcpyDtoHAsync_v2");
constinit DriverCall<CUevent*, unsigned> event_create("cuEventCreate");
constinit DriverCall<CUevent, CUstream> event_record("cuEventRecord");
constinit DriverCall<float*, CUevent, CUevent> event_elapsed_time("cuEventElapsedTime");
constinit DriverCall<CUevent> event_destroy("cuEventDestroy_v2");
constinit DriverCall<CUstream, CUstreamCaptureStatus*> stream_is_capturing("cuStreamIsCapturing");
constinit DriverCall<CUdeviceptr*, std::size_t*, CUdeviceptr> mem_get_address_range(
    "cuMemGetAddressRange_v2");
constinit DriverCall<void*, CUpointer_attribute, CUdeviceptr> pointer_get_attribute(
    "cuPointerGetAttribute");
constinit DriverCall<CUfunction, std::size_t, std::size_t*, std::size_t*> func_get_param_info(
    "cuFuncGetParamInfo");
constinit DriverCall<CUkernel, std::size_t, std::size_t*, std::size_t*> kernel_get_param_info(
    "cuKernelGetParamInfo");
constinit DriverCall<CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, CUstream, void**, void**>
    launch_kernel("cuLaunchKernel");
constinit DriverCall<CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, CUstream, void**>
    launch_cooperative_kernel("cuLaunchCooperativeKernel");
constinit DriverCall<const CUlaunchConfig*, CUfunction, void**, void**> launch_kernel_ex(
    "cuLaunchKernelEx");

template <class... Parameters>
void DriverCall<Parameters...>::check(CUresult result) const {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  if (get_error_name.unchecked(result, &text) != CUDA_SUCCESS || !text) text = "an unknown error";
  throw DeviceFault(fmt::format("{}: {}", name_, text));
}

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }
void* pointer(CUdeviceptr memory) {
  return reinterpret_cast<void*>(memory);  // NOLINT(performance-no-int-to-ptr): as the runtime does
}

using Relaunch = std::function<void()>;

class CudaDevice : public Device {
 public:
  CudaDevice(CUstream stream, Relaunch relaunch) : stream_(stream), relaunch_(std::move(relaunch)) {
    ctx_get_device(&device_);
  }

  std::string name() override {
    char text[256] = "";
    device_get_name(text, sizeof text, device_);
    return text;
  }
  std::uint64_t free_bytes() override {
    std::size_t free = 0;
    std::size_t total = 0;
    mem_get_info(&free, &total);
    return free;
  }
  std::uint64_t flush_bytes() override {
    int bytes = 0;
    device_get_attribute(&bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device_);
    return std::max<std::uint64_t>(2 * static_cast<std::uint64_t>(bytes), 16 << 20);
  }

  void* allocate(std::uint64_t bytes) override {
    CUdeviceptr memory = 0;
    const CUresult result = mem_alloc.unchecked(&memory, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
    mem_alloc.check(result);
    return pointer(memory);
  }
  void release(void* memory) override { mem_free(address(memory)); }
  void* allocate_pinned(std::uint64_t bytes) override {
    void* memory = nullptr;
    const CUresult result = mem_alloc_host.unchecked(&memory, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
    mem_alloc_host.check(result);
    return memory;
  }
  void release_pinned(void* memory) override { mem_free_host(memory); }

  void fill(void* to, std::uint8_t byte, std::uint64_t bytes) override {
    memset_async(address(to), byte, bytes, stream_);
  }
  void copy_within(void* to, const void* from, std::uint64_t bytes) override {
    copy_d_to_d(address(to), address(from), bytes, stream_);
  }
  void copy_in(void* to, const void* host, std::uint64_t bytes) override {
    copy_h_to_d(address(to), host, bytes, stream_);
  }
  void copy_out(void* host, const void* from, std::uint64_t bytes) override {
    copy_d_to_h(host, address(from), bytes, stream_);
  }
  void launch() override { relaunch_(); }
  void* make_event() override {
    CUevent event = nullptr;
    event_create(&event, CU_EVENT_DEFAULT);
    return event;
  }
  void record(void* event) override { event_record(static_cast<CUevent>(event), stream_); }
  void synchronize() override { ctx_synchronize(); }
  double milliseconds(void* from_event, void* to_event) override {
    float result = 0;
    event_elapsed_time(&result, static_cast<CUevent>(from_event), static_cast<CUevent>(to_event));
    return result;
  }
  void release_event(void* event) override { event_destroy(static_cast<CUevent>(event)); }

 private:
  CUstream stream_;
  Relaunch relaunch_;
  CUdevice device_ = 0;
};

// --- Memory that came another way ---------------------------------------------------------------

/// The device memory that a number points into, if it does.
std::vector<Region> region_at(std::uint64_t word) {
  unsigned type = 0;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  if (word == 0 ||
      pointer_get_attribute.unchecked(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, word) !=
          CUDA_SUCCESS ||
      type != CU_MEMORYTYPE_DEVICE ||
      mem_get_address_range.unchecked(&base, &bytes, word) != CUDA_SUCCESS)
    return {};
  return {{static_cast<std::byte*>(pointer(base)), bytes}};
}

void add_regions(std::vector<Region>& regions, const void* data, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(data) + at, sizeof word);
    for (const Region& region : region_at(word)) regions.push_back(region);
  }
}

/// A launch may name a CUkernel instead of a CUfunction.
bool parameter_bytes(CUfunction function, std::size_t index, std::size_t& bytes) {
  std::size_t offset = 0;
  return func_get_param_info.unchecked(function, index, &offset, &bytes) == CUDA_SUCCESS ||
         kernel_get_param_info.unchecked(reinterpret_cast<CUkernel>(function), index, &offset,
                                         &bytes) == CUDA_SUCCESS;
}

/// What the arguments point to: memory of pools and of maps that are told of by no allocation.
/// Drivers before 12.4 do not say how large arguments are.
std::vector<Region> regions_of_arguments(CUfunction function, void** parameters, void** extra) {
  std::vector<Region> regions;
  const void* packed = nullptr;
  std::size_t packed_bytes = 0;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) packed = extra[1];
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      packed_bytes = *static_cast<const std::size_t*>(extra[1]);
  }
  if (packed) add_regions(regions, packed, packed_bytes);
  (void)fault_of([&] {
    std::size_t bytes = 0;
    for (std::size_t i = 0; parameters && parameter_bytes(function, i, bytes); ++i)
      add_regions(regions, parameters[i], bytes);
  });
  return regions;
}

// --- What the program does ----------------------------------------------------------------------

/// What the forms of a launch have in common.
struct Launch {
  LaunchInfo info;
  CUfunction function;
  CUstream stream;
  void** parameters;
  void** extra;
  Relaunch again;
};

/// Streams are named explicitly, since our calls have no default stream of a thread's own.
CUstream named(CUstream stream, bool per_thread) {
  return per_thread && !stream ? CU_STREAM_PER_THREAD : stream;
}

template <class Parameters>
LaunchInfo info_of(const Parameters& p) {
  return {{},
          {p.gridDimX, p.gridDimY, p.gridDimZ},
          {p.blockDimX, p.blockDimY, p.blockDimZ},
          p.sharedMemBytes};
}

Launch plain(const cuLaunchKernel_params& p, bool per_thread) {
  const CUstream stream = named(p.hStream, per_thread);
  return {info_of(p), p.f, stream, p.kernelParams, p.extra, [p, stream] {
            launch_kernel(p.f, p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY,
                          p.blockDimZ, p.sharedMemBytes, stream, p.kernelParams, p.extra);
          }};
}

Launch cooperative(const cuLaunchCooperativeKernel_params& p, bool per_thread) {
  const CUstream stream = named(p.hStream, per_thread);
  return {info_of(p), p.f, stream, p.kernelParams, nullptr, [p, stream] {
            launch_cooperative_kernel(p.f, p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX,
                                      p.blockDimY, p.blockDimZ, p.sharedMemBytes, stream,
                                      p.kernelParams);
          }};
}

Launch extended(const cuLaunchKernelEx_params& p, bool per_thread) {
  CUlaunchConfig config = *p.config;
  config.hStream = named(config.hStream, per_thread);
  return {
      info_of(config), p.f,
      config.hStream,  p.kernelParams,
      p.extra,         [p, config] { launch_kernel_ex(&config, p.f, p.kernelParams, p.extra); }};
}

bool is_captured(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return stream_is_capturing.unchecked(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void enter_launch(Launch launch, const char* symbol) {
  launch.info.symbol = symbol ? symbol : "a kernel without a name";
  if (is_captured(launch.stream)) return captured(launch.info.symbol);
  launching(
      launch.info, [&] { return std::make_unique<CudaDevice>(launch.stream, launch.again); },
      [&] { return regions_of_arguments(launch.function, launch.parameters, launch.extra); });
}

template <class Parameters>
const Parameters& parameters_of(const CUpti_CallbackData& call) {
  return *static_cast<const Parameters*>(call.functionParams);
}

/// The variants for a default stream of each thread have parameters of the same form.
void enter(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return enter_launch(plain(parameters_of<cuLaunchKernel_params>(call),
                                id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz),
                          call.symbolName);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return enter_launch(extended(parameters_of<cuLaunchKernelEx_params>(call),
                                   id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz),
                          call.symbolName);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return enter_launch(cooperative(parameters_of<cuLaunchCooperativeKernel_params>(call),
                                      id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz),
                          call.symbolName);
    // Freed before it is: another thread may be given the same address at once.
    case CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2:
      return freed(pointer(parameters_of<cuMemFree_v2_params>(call).dptr));
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz:
      return freed(pointer(parameters_of<cuMemFreeAsync_params>(call).dptr));
    default:
      return;
  }
}

void note(CUdeviceptr* memory, std::size_t bytes) {
  if (memory) allocated(pointer(*memory), bytes);
}

void leave(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const auto* const result = static_cast<const CUresult*>(call.functionReturnValue);
  if (!result || *result != CUDA_SUCCESS) return;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2: {
      const auto& p = parameters_of<cuMemAlloc_v2_params>(call);
      return note(p.dptr, p.bytesize);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2: {
      const auto& p = parameters_of<cuMemAllocPitch_v2_params>(call);
      return note(p.dptr, p.pPitch ? *p.pPitch * p.Height : 0);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged: {
      const auto& p = parameters_of<cuMemAllocManaged_params>(call);
      return note(p.dptr, p.bytesize);
    }
    // What is allocated while a stream is captured is a part of the graph.
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz: {
      const auto& p = parameters_of<cuMemAllocAsync_params>(call);
      if (is_captured(named(p.hStream, id == CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz))) return;
      return note(p.dptr, p.bytesize);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz: {
      const auto& p = parameters_of<cuMemAllocFromPoolAsync_params>(call);
      if (is_captured(named(p.hStream, id == CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz)))
        return;
      return note(p.dptr, p.bytesize);
    }
    default:
      return;
  }
}

constexpr CUpti_CallbackId kCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz,
};

/// Our own calls come by here too.
void CUPTIAPI on_call(void* /*user*/, CUpti_CallbackDomain /*domain*/, CUpti_CallbackId id,
                      const void* data) {
  if (unobserved() || !data) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  const std::string fault = fault_of(
      [&] { return call.callbackSite == CUPTI_API_ENTER ? enter(id, call) : leave(id, call); });
  if (!fault.empty()) give_up(fault);
}

// --- CUPTI --------------------------------------------------------------------------------------

/// The toolkit on PATH, where there is one.
fs::path folder_of_nvcc() {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), directory.size() + 1));
    std::error_code error;
    const fs::path nvcc = fs::canonical(fs::path(directory) / "nvcc", error);
    if (!error) return nvcc.parent_path().parent_path();
  }
  return {};
}

/// Folders in which CUPTI may be; "" is wherever the loader looks.
std::vector<fs::path> folders() {
  std::vector<fs::path> result = {"", CUPTI_FOLDER};
  std::vector<fs::path> toolkits = {folder_of_nvcc(), "/usr/local/cuda"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const home = std::getenv(variable)) toolkits.insert(toolkits.begin(), home);
  for (const fs::path& toolkit : toolkits)
    for (const char* below : {"lib64", "lib", "extras/CUPTI/lib64"})
      if (!toolkit.empty()) result.push_back(toolkit / below);
  return result;
}

/// Empty when calls are seen from now on.
std::string begin_with(void* library) {
  const auto subscribe =
      reinterpret_cast<decltype(&cuptiSubscribe)>(::dlsym(library, "cuptiSubscribe"));
  const auto enable =
      reinterpret_cast<decltype(&cuptiEnableCallback)>(::dlsym(library, "cuptiEnableCallback"));
  const auto text =
      reinterpret_cast<decltype(&cuptiGetResultString)>(::dlsym(library, "cuptiGetResultString"));
  if (!subscribe || !enable || !text) return "it is no CUPTI";
  const auto said = [&](const char* function, CUptiResult result) {
    const char* name = nullptr;
    text(result, &name);
    return fmt::format("{}: {}", function, name ? name : "an unknown error");
  };
  CUpti_SubscriberHandle subscriber = nullptr;
  const CUptiResult result = subscribe(&subscriber, on_call, nullptr);
  if (result != CUPTI_SUCCESS) return said("cuptiSubscribe", result);
  for (const CUpti_CallbackId id : kCalls) {
    const CUptiResult enabled = enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    if (enabled != CUPTI_SUCCESS) return said("cuptiEnableCallback", enabled);
  }
  return "";
}

/// Empty when calls are seen from now on.
std::string begin() {
  std::string first_fault;
  for (const fs::path& folder : folders()) {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
      const fs::path file = folder / name;
      void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!library) continue;
      const std::string failed = begin_with(library);
      if (failed.empty()) return "";
      if (first_fault.empty())
        first_fault = fmt::format("CUPTI ({}) does not let us see the program's calls: {}",
                                  file.string(), failed);
    }
  }
  return first_fault.empty()
             ? "libcupti.so was not found: install the CUDA toolkit's CUPTI, or set CUDA_HOME"
             : first_fault;
}

}  // namespace
}  // namespace swizzleperf::measure::probe

/// The driver calls this when it has loaded us. Nonzero: all is well.
extern "C" int InitializeInjection() {
  using namespace swizzleperf::measure::probe;
  connect("CUDA");
  if (unobserved()) return 1;
  std::string fault;
  const std::string thrown = fault_of([&] { fault = begin(); });
  if (!thrown.empty() || !fault.empty()) give_up(thrown.empty() ? fault : thrown);
  return 1;
}
