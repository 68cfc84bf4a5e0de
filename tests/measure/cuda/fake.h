// A stand-in for the CUDA driver, as far as the probe and a program for it need one: its memory is
// the host's, its kernels are functions of the host, and all is done when a call returns. CUPTI's
// stand-in is told of its calls as the real one is of the driver's.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <vector>

/// What a CUfunction points to here.
struct CUfunc_st {
  const char* symbol;
  void (*run)(void** parameters);
  std::vector<std::size_t> parameter_bytes;
  CUresult result = CUDA_SUCCESS;  ///< of waiting for it
};

/// Set by cuptiSubscribe.
extern "C" CUpti_CallbackFunc fake_cuda_callback;
/// By cuptiEnableCallback.
extern "C" bool fake_cuda_enabled[CUPTI_DRIVER_TRACE_CBID_SIZE];
/// Memory that no call told of, as of a pool.
extern "C" CUdeviceptr fake_cuda_untold(std::size_t bytes);
