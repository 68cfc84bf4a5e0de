// See fake.h.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "fake.h"
#undef cuEventElapsedTime
#undef cuMemGetAddressRange

CUpti_CallbackFunc fake_cuda_callback = nullptr;
bool fake_cuda_enabled[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};

namespace {

std::map<CUdeviceptr, std::size_t> memory;
std::size_t events = 0;
CUresult pending = CUDA_SUCCESS;  // what the next wait says
bool capturing = false;

/// A call as CUPTI reports it.
template <class Parameters, class Body>
CUresult api(CUpti_CallbackId id, Parameters parameters, const char* symbol, Body body) {
  CUresult result = CUDA_SUCCESS;
  CUpti_CallbackData data{};
  data.functionParams = &parameters;
  data.functionReturnValue = &result;
  data.symbolName = symbol;
  const auto tell = [&](CUpti_ApiCallbackSite site) {
    data.callbackSite = site;
    if (fake_cuda_callback && fake_cuda_enabled[id])
      fake_cuda_callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  };
  tell(CUPTI_API_ENTER);
  result = body();
  tell(CUPTI_API_EXIT);
  return result;
}

CUresult allocate(CUdeviceptr* pointer, std::size_t bytes) {
  if (bytes > std::size_t{1} << 33) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = reinterpret_cast<CUdeviceptr>(std::calloc(bytes, 1));
  memory[*pointer] = bytes;
  return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr pointer) {
  if (memory.erase(pointer) == 0) return CUDA_ERROR_INVALID_VALUE;
  std::free(reinterpret_cast<void*>(pointer));
  return CUDA_SUCCESS;
}

CUresult run(CUfunction f, void** parameters) {
  if (capturing) return CUDA_SUCCESS;
  f->run(parameters);
  if (f->result != CUDA_SUCCESS) pending = f->result;
  return CUDA_SUCCESS;
}

}  // namespace

CUdeviceptr fake_cuda_untold(std::size_t bytes) {
  CUdeviceptr pointer = 0;
  allocate(&pointer, bytes);
  return pointer;
}

extern "C" {

CUresult cuInit(unsigned) {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  // NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint): the test sets it
  void* const library = path ? dlopen(path, RTLD_NOW) : nullptr;
  if (library) reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuCtxSynchronize() { return pending; }
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = 1 << 20;
  return attribute == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{1} << 33;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* p, std::size_t n) {
  return api(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, cuMemAlloc_v2_params{p, n}, nullptr,
             [&] { return allocate(p, n); });
}
CUresult cuMemAllocPitch(CUdeviceptr* p, std::size_t* pitch, std::size_t width, std::size_t height,
                         unsigned element) {
  return api(CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2,
             cuMemAllocPitch_v2_params{p, pitch, width, height, element}, nullptr, [&] {
               *pitch = 512;
               return allocate(p, *pitch * height);
             });
}
CUresult cuMemAllocManaged(CUdeviceptr* p, std::size_t n, unsigned flags) {
  return api(CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged, cuMemAllocManaged_params{p, n, flags},
             nullptr, [&] { return allocate(p, n); });
}
CUresult cuMemAllocAsync(CUdeviceptr* p, std::size_t n, CUstream stream) {
  return api(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, cuMemAllocAsync_params{p, n, stream}, nullptr,
             [&] { return allocate(p, n); });
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* p, std::size_t n, CUmemoryPool pool,
                                 CUstream stream) {
  return api(CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync,
             cuMemAllocFromPoolAsync_params{p, n, pool, stream}, nullptr,
             [&] { return allocate(p, n); });
}
CUresult cuMemFree(CUdeviceptr p) {
  return api(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, cuMemFree_v2_params{p}, nullptr,
             [&] { return release(p); });
}
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream) {
  return api(CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync, cuMemFreeAsync_params{p, stream}, nullptr,
             [&] { return release(p); });
}
CUresult cuMemAllocHost(void** p, std::size_t n) {
  *p = std::malloc(n);
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* p) { return std::free(p), CUDA_SUCCESS; }

CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, std::size_t n, CUstream) {
  return std::memset(reinterpret_cast<void*>(p), value, n), CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t n, CUstream) {
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), n);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t n, CUstream) {
  return std::memcpy(reinterpret_cast<void*>(to), from, n), CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t n, CUstream) {
  return std::memcpy(to, reinterpret_cast<void*>(from), n), CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(++events);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float* ms, CUevent, CUevent) { return *ms = 0.25F, CUDA_SUCCESS; }
CUresult cuEventDestroy(CUevent) { return CUDA_SUCCESS; }

CUresult cuStreamBeginCapture(CUstream, CUstreamCaptureMode) {
  return capturing = true, CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr p) {
  for (const auto& [begin, size] : memory) {
    if (p < begin || p >= begin + size) continue;
    *base = begin;
    *bytes = size;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute, CUdeviceptr p) {
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  *static_cast<unsigned*>(value) = CU_MEMORYTYPE_DEVICE;
  return cuMemGetAddressRange_v2(&base, &bytes, p) == CUDA_SUCCESS ? CUDA_SUCCESS
                                                                   : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuFuncGetParamInfo(CUfunction f, std::size_t i, std::size_t* offset, std::size_t* bytes) {
  if (i >= f->parameter_bytes.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = 8 * i;
  *bytes = f->parameter_bytes[i];
  return CUDA_SUCCESS;
}
CUresult cuKernelGetParamInfo(CUkernel, std::size_t, std::size_t*, std::size_t*) {
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void** p,
                        void** extra) {
  return api(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
             cuLaunchKernel_params{f, gx, gy, gz, bx, by, bz, shared, stream, p, extra}, f->symbol,
             [&] { return run(f, p); });
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void** p) {
  return api(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
             cuLaunchCooperativeKernel_params{f, gx, gy, gz, bx, by, bz, shared, stream, p},
             f->symbol, [&] { return run(f, p); });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** p, void** extra) {
  return api(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, cuLaunchKernelEx_params{config, f, p, extra},
             f->symbol, [&] { return run(f, p); });
}

}  // extern "C"
