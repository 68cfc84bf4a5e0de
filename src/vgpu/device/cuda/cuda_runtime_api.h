// CUDA's runtime interface on the HIP runtime of the virtual GPU. The two are the same interface
// under two names, error numbers included, so most of this is renaming; what differs (attributes,
// properties, default arguments) is a small function. What the virtual GPU cannot do is declared
// unavailable, so that the compiler names it with the line that wants it.
#pragma once

#include "vector_types.h"

// HIP's own vectors have operators that collide with those that CUDA programs define.
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
// CUDA programs may ignore a result without being told.
#pragma push_macro("nodiscard")
#undef nodiscard
#define nodiscard
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include <hip/hip_runtime_api.h>
#pragma clang diagnostic pop
#pragma pop_macro("nodiscard")

#define CUDART_VERSION 12040
#define CUDART_CB
#define CUDARTAPI
#define SWIZZLEPERF_MISSING(what) \
  __attribute__((unavailable(what " are not supported by the virtual GPU")))

// ---- Types and constants -----------------------------------------------------------------------

#define cudaError hipError_t
#define cudaError_t hipError_t
#define cudaStream_t hipStream_t
#define cudaEvent_t hipEvent_t
#define cudaMemcpyKind hipMemcpyKind
#define cudaFuncAttributes hipFuncAttributes
#define cudaFuncCache hipFuncCache_t
#define cudaSharedMemConfig hipSharedMemConfig
#define cudaExtent hipExtent
#define cudaPos hipPos
#define cudaPitchedPtr hipPitchedPtr
#define cudaMemcpy3DParms hipMemcpy3DParms
#define cudaChannelFormatDesc hipChannelFormatDesc
#define cudaHostFn_t hipHostFn_t
#define cudaStreamCallback_t hipStreamCallback_t
#define cudaMemPool_t hipMemPool_t
#define cudaMemPoolAttr hipMemPoolAttr
#define cudaMemPoolProps hipMemPoolProps
#define cudaMemAccessDesc hipMemAccessDesc
#define cudaMemAccessFlags hipMemAccessFlags
#define cudaMemAllocationType hipMemAllocationType
#define cudaMemAllocationHandleType hipMemAllocationHandleType
#define cudaMemLocation hipMemLocation
#define cudaMemLocationType hipMemLocationType
#define cudaMemoryAdvise hipMemoryAdvise
#define cudaUUID_t hipUUID
#define cudaGraph_t hipGraph_t
#define cudaGraphExec_t hipGraphExec_t
#define cudaGraphNode_t hipGraphNode_t
#define cudaKernelNodeParams hipKernelNodeParams
#define cudaMemsetParams hipMemsetParams
#define cudaHostNodeParams hipHostNodeParams
#define cudaStreamCaptureMode hipStreamCaptureMode
#define cudaStreamCaptureStatus hipStreamCaptureStatus
#define cudaIpcMemHandle_t hipIpcMemHandle_t
#define cudaIpcEventHandle_t hipIpcEventHandle_t

#define cudaSuccess hipSuccess
#define cudaErrorInvalidValue hipErrorInvalidValue
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorInitializationError hipErrorNotInitialized
#define cudaErrorCudartUnloading hipErrorDeinitialized
#define cudaErrorInvalidConfiguration hipErrorInvalidConfiguration
#define cudaErrorInvalidPitchValue hipErrorInvalidPitchValue
#define cudaErrorInvalidSymbol hipErrorInvalidSymbol
#define cudaErrorInvalidDevicePointer hipErrorInvalidDevicePointer
#define cudaErrorInvalidMemcpyDirection hipErrorInvalidMemcpyDirection
#define cudaErrorInsufficientDriver hipErrorInsufficientDriver
#define cudaErrorMissingConfiguration hipErrorMissingConfiguration
#define cudaErrorInvalidDeviceFunction hipErrorInvalidDeviceFunction
#define cudaErrorNoDevice hipErrorNoDevice
#define cudaErrorInvalidDevice hipErrorInvalidDevice
#define cudaErrorInvalidResourceHandle hipErrorInvalidHandle
#define cudaErrorIllegalState hipErrorIllegalState
#define cudaErrorSymbolNotFound hipErrorNotFound
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorIllegalAddress hipErrorIllegalAddress
#define cudaErrorLaunchOutOfResources hipErrorLaunchOutOfResources
#define cudaErrorLaunchTimeout hipErrorLaunchTimeOut
#define cudaErrorPeerAccessAlreadyEnabled hipErrorPeerAccessAlreadyEnabled
#define cudaErrorPeerAccessNotEnabled hipErrorPeerAccessNotEnabled
#define cudaErrorAssert hipErrorAssert
#define cudaErrorHostMemoryAlreadyRegistered hipErrorHostMemoryAlreadyRegistered
#define cudaErrorHostMemoryNotRegistered hipErrorHostMemoryNotRegistered
#define cudaErrorLaunchFailure hipErrorLaunchFailure
#define cudaErrorCooperativeLaunchTooLarge hipErrorCooperativeLaunchTooLarge
#define cudaErrorNotSupported hipErrorNotSupported
#define cudaErrorUnknown hipErrorUnknown

#define cudaMemcpyHostToHost hipMemcpyHostToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemcpyDefault hipMemcpyDefault

#define cudaStreamDefault hipStreamDefault
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStreamLegacy ((hipStream_t)0)
#define cudaStreamPerThread hipStreamPerThread
#define cudaEventDefault hipEventDefault
#define cudaEventBlockingSync hipEventBlockingSync
#define cudaEventDisableTiming hipEventDisableTiming
#define cudaEventInterprocess hipEventInterprocess
#define cudaHostAllocDefault hipHostMallocDefault
#define cudaHostAllocPortable hipHostMallocPortable
#define cudaHostAllocMapped hipHostMallocMapped
#define cudaHostAllocWriteCombined hipHostMallocWriteCombined
#define cudaHostRegisterDefault hipHostRegisterDefault
#define cudaHostRegisterPortable hipHostRegisterPortable
#define cudaHostRegisterMapped hipHostRegisterMapped
#define cudaMemAttachGlobal hipMemAttachGlobal
#define cudaMemAttachHost hipMemAttachHost
#define cudaMemAttachSingle hipMemAttachSingle
#define cudaDeviceScheduleAuto hipDeviceScheduleAuto
#define cudaDeviceScheduleSpin hipDeviceScheduleSpin
#define cudaDeviceScheduleYield hipDeviceScheduleYield
#define cudaDeviceScheduleBlockingSync hipDeviceScheduleBlockingSync
#define cudaDeviceMapHost hipDeviceMapHost
#define cudaCpuDeviceId hipCpuDeviceId
#define cudaInvalidDeviceId hipInvalidDeviceId
#define cudaOccupancyDefault hipOccupancyDefault
#define cudaFuncCachePreferNone hipFuncCachePreferNone
#define cudaFuncCachePreferShared hipFuncCachePreferShared
#define cudaFuncCachePreferL1 hipFuncCachePreferL1
#define cudaFuncCachePreferEqual hipFuncCachePreferEqual
#define cudaSharedMemBankSizeDefault hipSharedMemBankSizeDefault
#define cudaSharedMemBankSizeFourByte hipSharedMemBankSizeFourByte
#define cudaSharedMemBankSizeEightByte hipSharedMemBankSizeEightByte
#define cudaFuncAttributeMaxDynamicSharedMemorySize hipFuncAttributeMaxDynamicSharedMemorySize
#define cudaFuncAttributePreferredSharedMemoryCarveout hipFuncAttributePreferredSharedMemoryCarveout
#define cudaMemAdviseSetReadMostly hipMemAdviseSetReadMostly
#define cudaMemAdviseUnsetReadMostly hipMemAdviseUnsetReadMostly
#define cudaMemAdviseSetPreferredLocation hipMemAdviseSetPreferredLocation
#define cudaMemAdviseUnsetPreferredLocation hipMemAdviseUnsetPreferredLocation
#define cudaMemAdviseSetAccessedBy hipMemAdviseSetAccessedBy
#define cudaMemAdviseUnsetAccessedBy hipMemAdviseUnsetAccessedBy
#define cudaMemPoolReuseFollowEventDependencies hipMemPoolReuseFollowEventDependencies
#define cudaMemPoolReuseAllowOpportunistic hipMemPoolReuseAllowOpportunistic
#define cudaMemPoolReuseAllowInternalDependencies hipMemPoolReuseAllowInternalDependencies
#define cudaMemPoolAttrReleaseThreshold hipMemPoolAttrReleaseThreshold
#define cudaMemPoolAttrReservedMemCurrent hipMemPoolAttrReservedMemCurrent
#define cudaMemPoolAttrReservedMemHigh hipMemPoolAttrReservedMemHigh
#define cudaMemPoolAttrUsedMemCurrent hipMemPoolAttrUsedMemCurrent
#define cudaMemPoolAttrUsedMemHigh hipMemPoolAttrUsedMemHigh
#define cudaMemAllocationTypePinned hipMemAllocationTypePinned
#define cudaMemHandleTypeNone hipMemHandleTypeNone
#define cudaMemAccessFlagsProtNone hipMemAccessFlagsProtNone
#define cudaMemAccessFlagsProtRead hipMemAccessFlagsProtRead
#define cudaMemAccessFlagsProtReadWrite hipMemAccessFlagsProtReadWrite
#define cudaMemLocationTypeInvalid hipMemLocationTypeInvalid
#define cudaMemLocationTypeDevice hipMemLocationTypeDevice
#define cudaMemLocationTypeHost ((hipMemLocationType)2)  // HIP 5.2 knows devices only
#define cudaStreamCaptureModeGlobal hipStreamCaptureModeGlobal
#define cudaStreamCaptureModeThreadLocal hipStreamCaptureModeThreadLocal
#define cudaStreamCaptureModeRelaxed hipStreamCaptureModeRelaxed
#define cudaStreamCaptureStatusNone hipStreamCaptureStatusNone
#define cudaStreamCaptureStatusActive hipStreamCaptureStatusActive

enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};
enum cudaComputeMode {
  cudaComputeModeDefault,
  cudaComputeModeExclusive,
  cudaComputeModeProhibited,
  cudaComputeModeExclusiveProcess
};
enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxShared = 100,
  cudaSharedmemCarveoutMaxL1 = 0
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxPitch = 11,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrGpuOverlap = 15,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrIsMultiGpuBoard = 84,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrMemoryPoolsSupported = 115
};

struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory;
  int computeMode, maxTexture1D, maxTexture2D[2], maxTexture3D[3];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
  int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
  int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
  int globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
  int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
  int concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem;
  int cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
};
#define cudaDeviceProp_v2 cudaDeviceProp

// ---- The same under another name ---------------------------------------------------------------

#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDevice hipGetDevice
#define cudaSetDevice hipSetDevice
#define cudaSetDeviceFlags hipSetDeviceFlags
#define cudaDeviceReset hipDeviceReset
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaThreadSynchronize hipDeviceSynchronize
#define cudaThreadExit hipDeviceReset
#define cudaDeviceSetCacheConfig hipDeviceSetCacheConfig
#define cudaDeviceSetSharedMemConfig hipDeviceSetSharedMemConfig
#define cudaDeviceGetStreamPriorityRange hipDeviceGetStreamPriorityRange
#define cudaDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cudaDeviceEnablePeerAccess hipDeviceEnablePeerAccess
#define cudaDeviceDisablePeerAccess hipDeviceDisablePeerAccess
#define cudaDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cudaDeviceGetDefaultMemPool hipDeviceGetDefaultMemPool
#define cudaDriverGetVersion hipDriverGetVersion
#define cudaGetLastError hipGetLastError
#define cudaPeekAtLastError hipPeekAtLastError
#define cudaGetErrorString hipGetErrorString
#define cudaMemGetInfo hipMemGetInfo
#define cudaMalloc hipMalloc
#define cudaMallocAsync hipMallocAsync
#define cudaMallocFromPoolAsync hipMallocFromPoolAsync
#define cudaMallocPitch hipMallocPitch
#define cudaMalloc3D hipMalloc3D
#define cudaMallocManaged hipMallocManaged
#define cudaHostAlloc hipHostMalloc
#define cudaHostGetDevicePointer hipHostGetDevicePointer
#define cudaHostGetFlags hipHostGetFlags
#define cudaHostUnregister hipHostUnregister
#define cudaFree hipFree
#define cudaFreeAsync hipFreeAsync
#define cudaFreeHost hipHostFree
#define cudaMemcpy hipMemcpy
#define cudaMemcpyPeer hipMemcpyPeer
#define cudaMemcpy2D hipMemcpy2D
#define cudaMemcpy3D hipMemcpy3D
#define cudaMemset hipMemset
#define cudaMemset2D hipMemset2D
#define cudaMemset3D hipMemset3D
#define cudaDeviceGetMemPool hipDeviceGetMemPool
#define cudaDeviceSetMemPool hipDeviceSetMemPool
#define cudaMemPoolCreate hipMemPoolCreate
#define cudaMemPoolDestroy hipMemPoolDestroy
#define cudaMemPoolGetAttribute hipMemPoolGetAttribute
#define cudaMemPoolSetAttribute hipMemPoolSetAttribute
#define cudaMemPoolSetAccess hipMemPoolSetAccess
#define cudaMemPoolTrimTo hipMemPoolTrimTo
#define cudaStreamCreate hipStreamCreate
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamCreateWithPriority hipStreamCreateWithPriority
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamQuery hipStreamQuery
#define cudaStreamGetFlags hipStreamGetFlags
#define cudaStreamGetPriority hipStreamGetPriority
#define cudaStreamAddCallback hipStreamAddCallback
#define cudaStreamBeginCapture hipStreamBeginCapture
#define cudaStreamEndCapture hipStreamEndCapture
#define cudaStreamIsCapturing hipStreamIsCapturing
#define cudaLaunchHostFunc hipLaunchHostFunc
#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDestroy hipEventDestroy
#define cudaEventSynchronize hipEventSynchronize
#define cudaEventQuery hipEventQuery
#define cudaEventElapsedTime hipEventElapsedTime
#define cudaGraphCreate hipGraphCreate
#define cudaGraphDestroy hipGraphDestroy
#define cudaGraphLaunch hipGraphLaunch
#define cudaGraphExecDestroy hipGraphExecDestroy
#define cudaGraphAddKernelNode hipGraphAddKernelNode
#define cudaGraphAddMemcpyNode hipGraphAddMemcpyNode
#define cudaGraphAddMemcpyNode1D hipGraphAddMemcpyNode1D
#define cudaGraphAddMemsetNode hipGraphAddMemsetNode
#define cudaGraphAddHostNode hipGraphAddHostNode
#define cudaGraphAddEmptyNode hipGraphAddEmptyNode
#define cudaGraphAddDependencies hipGraphAddDependencies
#define cudaGraphGetNodes hipGraphGetNodes
#define cudaGraphExecUpdate hipGraphExecUpdate
#define cudaIpcGetMemHandle hipIpcGetMemHandle
#define cudaIpcOpenMemHandle hipIpcOpenMemHandle
#define cudaIpcCloseMemHandle hipIpcCloseMemHandle
#define make_cudaExtent make_hipExtent
#define make_cudaPos make_hipPos
#define make_cudaPitchedPtr make_hipPitchedPtr

// ---- What differs ------------------------------------------------------------------------------

#ifdef __cplusplus
#define SWIZZLEPERF_DEFAULT(value) = value
#else
#define SWIZZLEPERF_DEFAULT(value)
#endif
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"

#define SWIZZLEPERF_SM_DEFAULT 900
#ifndef SWIZZLEPERF_SM
#define SWIZZLEPERF_COMPUTE SWIZZLEPERF_SM_DEFAULT
#else
#define SWIZZLEPERF_COMPUTE (SWIZZLEPERF_SM * 10)
#endif

static inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

static inline cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* prop, int device) {
  hipDeviceProp_t h;
  const cudaError_t error = hipGetDeviceProperties(&h, device);
  if (error != cudaSuccess) return error;
  __builtin_memset(prop, 0, sizeof *prop);
  __builtin_memcpy(prop->name, h.name, sizeof prop->name);
  prop->totalGlobalMem = h.totalGlobalMem;
  prop->sharedMemPerBlock = h.sharedMemPerBlock;
  int most = 0;
  (void)hipDeviceGetAttribute(&most, hipDeviceAttributeSharedMemPerBlockOptin, device);
  prop->sharedMemPerBlockOptin = (size_t)most;
  prop->sharedMemPerMultiprocessor = h.maxSharedMemoryPerMultiProcessor;
  prop->regsPerBlock = prop->regsPerMultiprocessor = h.regsPerBlock;
  prop->warpSize = 32;
  prop->memPitch = h.memPitch;
  prop->maxThreadsPerBlock = h.maxThreadsPerBlock;
  for (int axis = 0; axis < 3; ++axis) {
    prop->maxThreadsDim[axis] = h.maxThreadsDim[axis];
    prop->maxGridSize[axis] = h.maxGridSize[axis];
  }
  prop->clockRate = h.clockRate;
  prop->totalConstMem = 65536;
  prop->major = SWIZZLEPERF_COMPUTE / 100;
  prop->minor = SWIZZLEPERF_COMPUTE / 10 % 10;
  prop->textureAlignment = h.textureAlignment;
  prop->texturePitchAlignment = h.texturePitchAlignment;
  prop->multiProcessorCount = h.multiProcessorCount;
  prop->canMapHostMemory = h.canMapHostMemory;
  prop->concurrentKernels = h.concurrentKernels;
  prop->ECCEnabled = h.ECCEnabled;
  prop->pciBusID = h.pciBusID;
  prop->pciDeviceID = h.pciDeviceID;
  prop->pciDomainID = h.pciDomainID;
  prop->unifiedAddressing = prop->deviceOverlap = prop->asyncEngineCount = 1;
  prop->memoryClockRate = h.memoryClockRate;
  prop->memoryBusWidth = h.memoryBusWidth;
  prop->l2CacheSize = h.l2CacheSize;
  prop->maxThreadsPerMultiProcessor = h.maxThreadsPerMultiProcessor;
  prop->maxBlocksPerMultiProcessor = 32;
  prop->globalL1CacheSupported = prop->localL1CacheSupported = 1;
  prop->managedMemory = h.managedMemory;
  prop->concurrentManagedAccess = h.concurrentManagedAccess;
  prop->cooperativeLaunch = h.cooperativeLaunch;
  prop->singleToDoublePrecisionPerfRatio = 2;
  return cudaSuccess;
}

static inline cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr name, int device) {
  struct cudaDeviceProp p;
  const cudaError_t error = cudaGetDeviceProperties(&p, device);
  if (error != cudaSuccess) return error;
  switch (name) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxBlockDimX:
      *value = p.maxThreadsDim[0];
      break;
    case cudaDevAttrMaxBlockDimY:
      *value = p.maxThreadsDim[1];
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = p.maxThreadsDim[2];
      break;
    case cudaDevAttrMaxGridDimX:
      *value = p.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
      *value = p.maxGridSize[1];
      break;
    case cudaDevAttrMaxGridDimZ:
      *value = p.maxGridSize[2];
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = (int)p.sharedMemPerBlock;
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = (int)p.totalConstMem;
      break;
    case cudaDevAttrWarpSize:
      *value = p.warpSize;
      break;
    case cudaDevAttrMaxPitch:
      *value = (int)p.memPitch;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = p.regsPerBlock;
      break;
    case cudaDevAttrClockRate:
      *value = p.clockRate;
      break;
    case cudaDevAttrGpuOverlap:
      *value = p.deviceOverlap;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrKernelExecTimeout:
      *value = p.kernelExecTimeoutEnabled;
      break;
    case cudaDevAttrIntegrated:
      *value = p.integrated;
      break;
    case cudaDevAttrCanMapHostMemory:
      *value = p.canMapHostMemory;
      break;
    case cudaDevAttrComputeMode:
      *value = p.computeMode;
      break;
    case cudaDevAttrConcurrentKernels:
      *value = p.concurrentKernels;
      break;
    case cudaDevAttrEccEnabled:
      *value = p.ECCEnabled;
      break;
    case cudaDevAttrMemoryClockRate:
      *value = p.memoryClockRate;
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = p.memoryBusWidth;
      break;
    case cudaDevAttrL2CacheSize:
      *value = p.l2CacheSize;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrAsyncEngineCount:
      *value = p.asyncEngineCount;
      break;
    case cudaDevAttrUnifiedAddressing:
      *value = p.unifiedAddressing;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    case cudaDevAttrStreamPrioritiesSupported:
      *value = p.streamPrioritiesSupported;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = (int)p.sharedMemPerMultiprocessor;
      break;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = p.regsPerMultiprocessor;
      break;
    case cudaDevAttrManagedMemory:
      *value = p.managedMemory;
      break;
    case cudaDevAttrIsMultiGpuBoard:
      *value = p.isMultiGpuBoard;
      break;
    case cudaDevAttrPageableMemoryAccess:
      *value = p.pageableMemoryAccess;
      break;
    case cudaDevAttrConcurrentManagedAccess:
      *value = p.concurrentManagedAccess;
      break;
    case cudaDevAttrCooperativeLaunch:
      *value = p.cooperativeLaunch;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = (int)p.sharedMemPerBlockOptin;
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = p.maxBlocksPerMultiProcessor;
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = 0;
      break;
    case cudaDevAttrMemoryPoolsSupported:
      *value = 1;
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

/// HIP's name with CUDA's first letters, but for those that the two name differently.
static inline const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInitializationError:
      return "cudaErrorInitializationError";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorSymbolNotFound:
      return "cudaErrorSymbolNotFound";
    case cudaErrorLaunchTimeout:
      return "cudaErrorLaunchTimeout";
    default:
      break;
  }
  static __thread char name[64];
  const char* hip = hipGetErrorName(error);
  __builtin_strncpy(name, "cuda", sizeof name);
  __builtin_strncpy(name + 4, hip + 3, sizeof name - 5);
  return name;
}

static inline cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* a, const void* p) {
  hipPointerAttribute_t h;
  __builtin_memset(a, 0, sizeof *a);
  if (hipPointerGetAttributes(&h, p) != hipSuccess) {
    (void)hipGetLastError();
    a->type = cudaMemoryTypeUnregistered;
    a->hostPointer = (void*)p;
    return cudaSuccess;
  }
  a->type = h.isManaged                         ? cudaMemoryTypeManaged
            : h.memoryType == hipMemoryTypeHost ? cudaMemoryTypeHost
                                                : cudaMemoryTypeDevice;
  a->device = h.device;
  a->devicePointer = h.devicePointer;
  a->hostPointer = h.hostPointer;
  return cudaSuccess;
}

static inline cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
  (void)limit, (void)value;  // nothing here has such a limit
  return cudaSuccess;
}
static inline cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit) {
  *value = limit == cudaLimitMallocHeapSize ? 8 << 20
           : limit == cudaLimitStackSize    ? 1024
                                            : 1 << 20;
  return cudaSuccess;
}
static inline cudaError_t cudaHostRegister(void* p, size_t bytes,
                                           unsigned flags SWIZZLEPERF_DEFAULT(0)) {
  return hipHostRegister(p, bytes, flags);
}
static inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                          cudaMemcpyKind kind,
                                          cudaStream_t stream SWIZZLEPERF_DEFAULT(0)) {
  return hipMemcpyAsync(to, from, bytes, kind, stream);
}
static inline cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int device,
                                              size_t bytes,
                                              cudaStream_t stream SWIZZLEPERF_DEFAULT(0)) {
  return hipMemcpyPeerAsync(to, to_device, from, device, bytes, stream);
}
static inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                            size_t pitch, size_t width, size_t height,
                                            cudaMemcpyKind kind,
                                            cudaStream_t stream SWIZZLEPERF_DEFAULT(0)) {
  return hipMemcpy2DAsync(to, to_pitch, from, pitch, width, height, kind, stream);
}
static inline cudaError_t cudaMemcpy3DAsync(const hipMemcpy3DParms* p,
                                            cudaStream_t stream SWIZZLEPERF_DEFAULT(0)) {
  return hipMemcpy3DAsync(p, stream);
}
static inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                                          cudaStream_t stream SWIZZLEPERF_DEFAULT(0)) {
  return hipMemsetAsync(to, value, bytes, stream);
}
static inline cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width,
                                            size_t height,
                                            cudaStream_t stream SWIZZLEPERF_DEFAULT(0)) {
  return hipMemset2DAsync(to, pitch, value, width, height, stream);
}
static inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, int device,
                                               cudaStream_t stream SWIZZLEPERF_DEFAULT(0)) {
  return hipMemPrefetchAsync(p, bytes, device, stream);
}
static inline cudaError_t cudaMemAdvise(const void* p, size_t bytes, cudaMemoryAdvise advice,
                                        int device) {
  return hipMemAdvise(p, bytes, advice, device);
}
static inline cudaError_t cudaStreamAttachMemAsync(
    cudaStream_t stream, void* p, size_t bytes SWIZZLEPERF_DEFAULT(0),
    unsigned flags SWIZZLEPERF_DEFAULT(cudaMemAttachSingle)) {
  (void)stream, (void)p, (void)bytes, (void)flags;  // memory is visible to all streams
  return cudaSuccess;
}
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                              unsigned flags SWIZZLEPERF_DEFAULT(0)) {
  return hipStreamWaitEvent(stream, event, flags);
}
static inline cudaError_t cudaEventRecord(cudaEvent_t event,
                                          cudaStream_t stream SWIZZLEPERF_DEFAULT(0)) {
  return hipEventRecord(event, stream);
}
static inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                   unsigned flags) {
  (void)flags;
  return hipEventRecord(event, stream);
}
static inline cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp* prop) {
  (void)prop;
  *device = 0;
  return cudaSuccess;
}

#ifdef __cplusplus
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags = 0) {
  return hipEventCreateWithFlags(event, flags);
}
// CUDA 13 names a place where CUDA 12 had a device's number.
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, cudaMemLocation place,
                                        unsigned flags, cudaStream_t stream = 0) {
  (void)flags;
  return hipMemPrefetchAsync(p, bytes, place.id, stream);
}
inline cudaError_t cudaMemAdvise(const void* p, size_t bytes, cudaMemoryAdvise advice,
                                 cudaMemLocation place) {
  return hipMemAdvise(p, bytes, advice, place.id);
}
template <class T>
cudaError_t cudaMallocHost(T** p, size_t bytes, unsigned flags = 0) {
  return hipHostMalloc(reinterpret_cast<void**>(p), bytes, flags);
}
template <class F>
cudaError_t cudaFuncSetAttribute(F* function, hipFuncAttribute name, int value) {
  return hipFuncSetAttribute(reinterpret_cast<const void*>(function), name, value);
}
template <class F>
cudaError_t cudaFuncSetCacheConfig(F* function, cudaFuncCache config) {
  return hipFuncSetCacheConfig(reinterpret_cast<const void*>(function), config);
}
template <class F>
cudaError_t cudaFuncSetSharedMemConfig(F*, cudaSharedMemConfig) {
  return cudaSuccess;
}
template <class F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, F* function) {
  return hipFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}
template <class F>
cudaError_t cudaLaunchKernel(F* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return hipLaunchKernel(reinterpret_cast<const void*>(function), grid, block, arguments,
                         shared_bytes, stream);
}
template <class F>
cudaError_t cudaLaunchCooperativeKernel(F* function, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return hipLaunchCooperativeKernel(reinterpret_cast<const void*>(function), grid, block, arguments,
                                    static_cast<unsigned>(shared_bytes), stream);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F* function, int threads,
                                                          size_t shared_bytes) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(function), threads, shared_bytes);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, F* function,
                                                                   int threads, size_t shared_bytes,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F* function,
                                               size_t shared_bytes = 0, int limit = 0) {
  return hipOccupancyMaxPotentialBlockSize(grid, block, reinterpret_cast<const void*>(function),
                                           shared_bytes, limit);
}
// A symbol is a variable, whatever its type; the host knows it by its address.
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return hipMemcpyToSymbol(static_cast<const void*>(&symbol), from, bytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                    size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = 0) {
  return hipMemcpyToSymbolAsync(static_cast<const void*>(&symbol), from, bytes, offset, kind,
                                stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return hipMemcpyFromSymbol(to, static_cast<const void*>(&symbol), bytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = 0) {
  return hipMemcpyFromSymbolAsync(to, static_cast<const void*>(&symbol), bytes, offset, kind,
                                  stream);
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** address, const T& symbol) {
  return hipGetSymbolAddress(reinterpret_cast<void**>(address), static_cast<const void*>(&symbol));
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  return hipGetSymbolSize(bytes, static_cast<const void*>(&symbol));
}
// CUDA 12 has flags where CUDA 11 had room for an error.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                        unsigned long long flags = 0) {
  (void)flags;
  return hipGraphInstantiate(exec, graph, nullptr, nullptr, 0);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                        cudaGraphNode_t* node, char* text, size_t bytes) {
  return hipGraphInstantiate(exec, graph, node, text, bytes);
}
#else
#define cudaEventCreate hipEventCreate
static inline cudaError_t cudaMallocHost(void** p, size_t bytes) {
  return hipHostMalloc(p, bytes, 0);
}
#define cudaFuncSetAttribute hipFuncSetAttribute
#define cudaFuncSetCacheConfig hipFuncSetCacheConfig
#define cudaFuncGetAttributes hipFuncGetAttributes
#define cudaLaunchKernel hipLaunchKernel
#define cudaLaunchCooperativeKernel hipLaunchCooperativeKernel
#define cudaMemcpyToSymbol hipMemcpyToSymbol
#define cudaMemcpyFromSymbol hipMemcpyFromSymbol
#define cudaGetSymbolAddress hipGetSymbolAddress
#endif

// ---- What is missing ---------------------------------------------------------------------------

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef struct hipArray* cudaArray_t;
#define cudaArray hipArray
#define cudaResourceDesc hipResourceDesc
#define cudaTextureDesc hipTextureDesc
#define cudaResourceViewDesc hipResourceViewDesc
#define cudaResourceTypeArray hipResourceTypeArray
#define cudaResourceTypeLinear hipResourceTypeLinear
#define cudaResourceTypePitch2D hipResourceTypePitch2D
#define cudaAddressModeWrap hipAddressModeWrap
#define cudaAddressModeClamp hipAddressModeClamp
#define cudaAddressModeMirror hipAddressModeMirror
#define cudaAddressModeBorder hipAddressModeBorder
#define cudaFilterModePoint hipFilterModePoint
#define cudaFilterModeLinear hipFilterModeLinear
#define cudaReadModeElementType hipReadModeElementType
#define cudaReadModeNormalizedFloat hipReadModeNormalizedFloat
#define cudaChannelFormatKindSigned hipChannelFormatKindSigned
#define cudaChannelFormatKindUnsigned hipChannelFormatKindUnsigned
#define cudaChannelFormatKindFloat hipChannelFormatKindFloat
#define cudaCreateChannelDesc hipCreateChannelDesc

#ifdef __cplusplus
#define SWIZZLEPERF_NO_TEXTURE(name) \
  template <class... A>              \
  cudaError_t name(A&&...) SWIZZLEPERF_MISSING("textures");
#define SWIZZLEPERF_NO_SURFACE(name) \
  template <class... A>              \
  cudaError_t name(A&&...) SWIZZLEPERF_MISSING("surfaces");
SWIZZLEPERF_NO_TEXTURE(cudaCreateTextureObject)
SWIZZLEPERF_NO_TEXTURE(cudaDestroyTextureObject)
SWIZZLEPERF_NO_TEXTURE(cudaBindTexture)
SWIZZLEPERF_NO_TEXTURE(cudaBindTexture2D)
SWIZZLEPERF_NO_TEXTURE(cudaBindTextureToArray)
SWIZZLEPERF_NO_TEXTURE(cudaUnbindTexture)
SWIZZLEPERF_NO_TEXTURE(cudaMallocArray)
SWIZZLEPERF_NO_TEXTURE(cudaMalloc3DArray)
SWIZZLEPERF_NO_TEXTURE(cudaFreeArray)
SWIZZLEPERF_NO_TEXTURE(cudaMemcpyToArray)
SWIZZLEPERF_NO_TEXTURE(cudaMemcpy2DToArray)
SWIZZLEPERF_NO_TEXTURE(cudaMemcpyFromArray)
SWIZZLEPERF_NO_TEXTURE(cudaMemcpy2DFromArray)
SWIZZLEPERF_NO_TEXTURE(cudaMallocMipmappedArray)
SWIZZLEPERF_NO_SURFACE(cudaCreateSurfaceObject)
SWIZZLEPERF_NO_SURFACE(cudaDestroySurfaceObject)
SWIZZLEPERF_NO_SURFACE(cudaBindSurfaceToArray)
#endif

#pragma clang diagnostic pop
