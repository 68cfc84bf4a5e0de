// What HIP declares and the virtual GPU does not have. A program may name such a function and never
// call it, so it must link; a call ends the program with a sentence that says which function it was
// and what it belongs to. (No header is included: the functions need no parameters to refuse.)
#include <fmt/format.h>

#include <string>

namespace swizzleperf::vgpu::runtime {

[[noreturn]] void fail(const std::string& sentence);

namespace {

[[noreturn]] void refuse(const char* function, const char* what) {
  fail(fmt::format("{} is not supported by the virtual GPU, which has no {}", function, what));
}

}  // namespace
}  // namespace swizzleperf::vgpu::runtime

extern "C" {

#define REFUSE(function) \
  int function() { swizzleperf::vgpu::runtime::refuse(#function, kWhat); }

#define kWhat "textures, surfaces or arrays for them"
REFUSE(hipArray3DCreate)
REFUSE(hipArrayCreate)
REFUSE(hipArrayDestroy)
REFUSE(hipBindTexture)
REFUSE(hipBindTexture2D)
REFUSE(hipBindTextureToArray)
REFUSE(hipBindTextureToMipmappedArray)
REFUSE(hipCreateSurfaceObject)
REFUSE(hipCreateTextureObject)
REFUSE(hipDestroySurfaceObject)
REFUSE(hipDestroyTextureObject)
REFUSE(hipFreeArray)
REFUSE(hipFreeMipmappedArray)
REFUSE(hipGetChannelDesc)
REFUSE(hipGetMipmappedArrayLevel)
REFUSE(hipGetTextureAlignmentOffset)
REFUSE(hipGetTextureObjectResourceDesc)
REFUSE(hipGetTextureObjectResourceViewDesc)
REFUSE(hipGetTextureObjectTextureDesc)
REFUSE(hipGetTextureReference)
REFUSE(hipGraphicsSubResourceGetMappedArray)
REFUSE(hipMalloc3DArray)
REFUSE(hipMallocArray)
REFUSE(hipMallocMipmappedArray)
REFUSE(hipMemMapArrayAsync)
REFUSE(hipMemcpy2DFromArray)
REFUSE(hipMemcpy2DFromArrayAsync)
REFUSE(hipMemcpy2DToArray)
REFUSE(hipMemcpy2DToArrayAsync)
REFUSE(hipMemcpy2DFromArray_spt)
REFUSE(hipMemcpy2DToArray_spt)
REFUSE(hipMemcpyAtoH)
REFUSE(hipMemcpyFromArray)
REFUSE(hipMemcpyHtoA)
REFUSE(hipMemcpyToArray)
REFUSE(hipMipmappedArrayCreate)
REFUSE(hipMipmappedArrayDestroy)
REFUSE(hipMipmappedArrayGetLevel)
REFUSE(hipModuleGetTexRef)
REFUSE(hipTexObjectCreate)
REFUSE(hipTexObjectDestroy)
REFUSE(hipTexObjectGetResourceDesc)
REFUSE(hipTexObjectGetResourceViewDesc)
REFUSE(hipTexObjectGetTextureDesc)
REFUSE(hipTexRefGetAddress)
REFUSE(hipTexRefGetAddressMode)
REFUSE(hipTexRefGetFilterMode)
REFUSE(hipTexRefGetFlags)
REFUSE(hipTexRefGetFormat)
REFUSE(hipTexRefGetMaxAnisotropy)
REFUSE(hipTexRefGetMipMappedArray)
REFUSE(hipTexRefGetMipmapFilterMode)
REFUSE(hipTexRefGetMipmapLevelBias)
REFUSE(hipTexRefGetMipmapLevelClamp)
REFUSE(hipTexRefSetAddress)
REFUSE(hipTexRefSetAddress2D)
REFUSE(hipTexRefSetAddressMode)
REFUSE(hipTexRefSetArray)
REFUSE(hipTexRefSetBorderColor)
REFUSE(hipTexRefSetFilterMode)
REFUSE(hipTexRefSetFlags)
REFUSE(hipTexRefSetFormat)
REFUSE(hipTexRefSetMaxAnisotropy)
REFUSE(hipTexRefSetMipmapFilterMode)
REFUSE(hipTexRefSetMipmapLevelBias)
REFUSE(hipTexRefSetMipmapLevelClamp)
REFUSE(hipTexRefSetMipmappedArray)
REFUSE(hipUnbindTexture)
#undef kWhat

#define kWhat "compiler at run time (compile the kernel with the program)"
REFUSE(hiprtcAddNameExpression)
REFUSE(hiprtcCompileProgram)
REFUSE(hiprtcCreateProgram)
REFUSE(hiprtcDestroyProgram)
REFUSE(hiprtcGetCode)
REFUSE(hiprtcGetCodeSize)
REFUSE(hiprtcGetLoweredName)
REFUSE(hiprtcGetProgramLog)
REFUSE(hiprtcGetProgramLogSize)
#undef kWhat

#define kWhat "graphics"
REFUSE(hipGLGetDevices)
REFUSE(hipGraphicsGLRegisterBuffer)
REFUSE(hipGraphicsGLRegisterImage)
REFUSE(hipGraphicsMapResources)
REFUSE(hipGraphicsResourceGetMappedPointer)
REFUSE(hipGraphicsUnmapResources)
REFUSE(hipGraphicsUnregisterResource)
#undef kWhat

#define kWhat "memory or semaphores shared with other programs"
REFUSE(hipDestroyExternalMemory)
REFUSE(hipDestroyExternalSemaphore)
REFUSE(hipExternalMemoryGetMappedBuffer)
REFUSE(hipImportExternalMemory)
REFUSE(hipImportExternalSemaphore)
REFUSE(hipIpcCloseMemHandle)
REFUSE(hipIpcGetEventHandle)
REFUSE(hipIpcGetMemHandle)
REFUSE(hipIpcOpenEventHandle)
REFUSE(hipIpcOpenMemHandle)
REFUSE(hipMemExportToShareableHandle)
REFUSE(hipMemImportFromShareableHandle)
REFUSE(hipMemPoolExportPointer)
REFUSE(hipMemPoolExportToShareableHandle)
REFUSE(hipMemPoolImportFromShareableHandle)
REFUSE(hipMemPoolImportPointer)
REFUSE(hipSignalExternalSemaphoresAsync)
REFUSE(hipWaitExternalSemaphoresAsync)
#undef kWhat

#define kWhat "mapping of memory by hand (use hipMalloc)"
REFUSE(hipMemAddressFree)
REFUSE(hipMemAddressReserve)
REFUSE(hipMemCreate)
REFUSE(hipMemGetAccess)
REFUSE(hipMemGetAllocationGranularity)
REFUSE(hipMemGetAllocationPropertiesFromHandle)
REFUSE(hipMemMap)
REFUSE(hipMemPoolGetAccess)
REFUSE(hipMemRelease)
REFUSE(hipMemRetainAllocationHandle)
REFUSE(hipMemSetAccess)
REFUSE(hipMemUnmap)
#undef kWhat

#define kWhat "callbacks for profilers"
REFUSE(hipApiName)
REFUSE(hipRegisterActivityCallback)
REFUSE(hipRegisterApiCallback)
REFUSE(hipRemoveActivityCallback)
REFUSE(hipRemoveApiCallback)
#undef kWhat

#define kWhat "such operation on graphs"
REFUSE(hipGraphEventRecordNodeGetEvent)
REFUSE(hipGraphEventRecordNodeSetEvent)
REFUSE(hipGraphEventWaitNodeGetEvent)
REFUSE(hipGraphEventWaitNodeSetEvent)
REFUSE(hipGraphExecChildGraphNodeSetParams)
REFUSE(hipGraphExecEventRecordNodeSetEvent)
REFUSE(hipGraphExecEventWaitNodeSetEvent)
REFUSE(hipGraphExecMemcpyNodeSetParamsFromSymbol)
REFUSE(hipGraphExecMemcpyNodeSetParamsToSymbol)
REFUSE(hipGraphGetEdges)
REFUSE(hipGraphKernelNodeGetAttribute)
REFUSE(hipGraphKernelNodeSetAttribute)
REFUSE(hipGraphMemcpyNodeSetParamsFromSymbol)
REFUSE(hipGraphMemcpyNodeSetParamsToSymbol)
REFUSE(hipGraphNodeFindInClone)
REFUSE(hipGraphNodeGetDependentNodes)
REFUSE(hipStreamGetCaptureInfo_v2)
REFUSE(hipStreamUpdateCaptureDependencies)
#undef kWhat

#define kWhat "counterpart of it"
REFUSE(hipDrvMemcpy3D)
REFUSE(hipDrvMemcpy3DAsync)
REFUSE(hipDrvPointerGetAttributes)
REFUSE(hipExtGetLinkTypeAndHopCount)
REFUSE(hipExtLaunchMultiKernelMultiDevice)
REFUSE(hipExtStreamGetCUMask)
REFUSE(hipGetStreamDeviceId)
REFUSE(hipMemRangeGetAttribute)
REFUSE(hipMemRangeGetAttributes)
REFUSE(hipStreamWaitValue32)
REFUSE(hipStreamWaitValue64)
#undef kWhat

#undef REFUSE

}  // extern "C"
