// The driver interface, as far as it says the same as the runtime: devices, contexts in name,
// memory. Modules come from PTX, which the virtual GPU does not read.
#pragma once

#include "cuda_runtime_api.h"

#ifndef CUDA_VERSION
#define CUDA_VERSION 12040
#endif
#define CUDAAPI

typedef hipError_t CUresult;
typedef int CUdevice;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef hipStream_t CUstream;
typedef hipEvent_t CUevent;
typedef unsigned long long CUdeviceptr;
#define CUDA_SUCCESS hipSuccess
#define CUDA_ERROR_INVALID_VALUE hipErrorInvalidValue
#define CUDA_ERROR_OUT_OF_MEMORY hipErrorOutOfMemory
#define CUDA_ERROR_NOT_INITIALIZED hipErrorNotInitialized
#define CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK cudaDevAttrMaxThreadsPerBlock
#define CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT cudaDevAttrMultiProcessorCount
#define CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR cudaDevAttrComputeCapabilityMajor
#define CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR cudaDevAttrComputeCapabilityMinor
#define CU_DEVICE_ATTRIBUTE_WARP_SIZE cudaDevAttrWarpSize
#define CU_DEVICE_ATTRIBUTE_CLOCK_RATE cudaDevAttrClockRate
#define CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE cudaDevAttrL2CacheSize
#define CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK cudaDevAttrMaxSharedMemoryPerBlock

#define cuInit hipInit
#define cuDeviceGet hipDeviceGet
#define cuDeviceGetCount hipGetDeviceCount
#define cuDeviceGetName hipDeviceGetName
#define cuDeviceTotalMem hipDeviceTotalMem
#define cuDeviceGetAttribute cudaDeviceGetAttribute
#define cuDriverGetVersion cudaRuntimeGetVersion
#define cuMemGetInfo hipMemGetInfo
#define cuCtxSynchronize hipDeviceSynchronize
#define cuStreamCreate hipStreamCreateWithFlags
#define cuStreamDestroy hipStreamDestroy
#define cuStreamSynchronize hipStreamSynchronize

#define SWIZZLEPERF_CU static inline __attribute__((unused)) CUresult
SWIZZLEPERF_CU cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  (void)flags, (void)device;
  *context = (CUcontext)0;
  return CUDA_SUCCESS;
}
SWIZZLEPERF_CU cuCtxDestroy(CUcontext context) {
  (void)context;
  return CUDA_SUCCESS;
}
SWIZZLEPERF_CU cuMemAlloc(CUdeviceptr* p, size_t bytes) { return hipMalloc((void**)p, bytes); }
SWIZZLEPERF_CU cuMemFree(CUdeviceptr p) { return hipFree((void*)p); }
SWIZZLEPERF_CU cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return hipMemcpy((void*)to, from, bytes, hipMemcpyHostToDevice);
}
SWIZZLEPERF_CU cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return hipMemcpy(to, (const void*)from, bytes, hipMemcpyDeviceToHost);
}
SWIZZLEPERF_CU cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return hipMemcpy((void*)to, (const void*)from, bytes, hipMemcpyDeviceToDevice);
}
SWIZZLEPERF_CU cuGetErrorString(CUresult error, const char** text) {
  *text = hipGetErrorString(error);
  return CUDA_SUCCESS;
}
SWIZZLEPERF_CU cuGetErrorName(CUresult error, const char** text) {
  *text = cudaGetErrorName(error);
  return CUDA_SUCCESS;
}
#undef SWIZZLEPERF_CU

#ifdef __cplusplus
#define SWIZZLEPERF_NO_MODULE(name) \
  template <class... A>             \
  CUresult name(A&&...) SWIZZLEPERF_MISSING("modules of PTX");
SWIZZLEPERF_NO_MODULE(cuModuleLoad)
SWIZZLEPERF_NO_MODULE(cuModuleLoadData)
SWIZZLEPERF_NO_MODULE(cuModuleLoadDataEx)
SWIZZLEPERF_NO_MODULE(cuModuleGetFunction)
SWIZZLEPERF_NO_MODULE(cuModuleUnload)
SWIZZLEPERF_NO_MODULE(cuLaunchKernel)
#undef SWIZZLEPERF_NO_MODULE
#endif
