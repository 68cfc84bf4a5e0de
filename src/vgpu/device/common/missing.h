// What belongs to CUB and is not here. The names exist, so that a program which includes everything
// compiles, and whoever uses one is told in the line of the use.
#pragma once
#pragma clang system_header

#include "sort.h"

namespace SWIZZLEPERF_CUB {

#define SWIZZLEPERF_CUB_NO                                                          \
  struct __attribute__((unavailable(                                                \
      "not supported by the virtual GPU, which has of CUB and hipCUB what kernels " \
      "call of reductions, scans, BlockLoad, BlockStore, BlockExchange and BlockRadixSort")))
SWIZZLEPERF_CUB_NO DeviceReduce;
SWIZZLEPERF_CUB_NO DeviceScan;
SWIZZLEPERF_CUB_NO DeviceRadixSort;
SWIZZLEPERF_CUB_NO DeviceMergeSort;
SWIZZLEPERF_CUB_NO DeviceSelect;
SWIZZLEPERF_CUB_NO DevicePartition;
SWIZZLEPERF_CUB_NO DeviceHistogram;
SWIZZLEPERF_CUB_NO DeviceRunLengthEncode;
SWIZZLEPERF_CUB_NO DeviceSegmentedReduce;
SWIZZLEPERF_CUB_NO DeviceSegmentedRadixSort;
SWIZZLEPERF_CUB_NO DeviceSegmentedSort;
SWIZZLEPERF_CUB_NO DeviceSpmv;
SWIZZLEPERF_CUB_NO DeviceAdjacentDifference;
SWIZZLEPERF_CUB_NO DeviceMemcpy;
SWIZZLEPERF_CUB_NO DeviceCopy;
SWIZZLEPERF_CUB_NO DeviceFor;
SWIZZLEPERF_CUB_NO CachingDeviceAllocator;

template <class, int, int, class = NullType, int...>
SWIZZLEPERF_CUB_NO BlockMergeSort;
template <class, int, int...>
SWIZZLEPERF_CUB_NO BlockDiscontinuity;
template <class, int, int...>
SWIZZLEPERF_CUB_NO BlockAdjacentDifference;
template <class, int, int, int, int...>
SWIZZLEPERF_CUB_NO BlockHistogram;
template <class, int, int...>
SWIZZLEPERF_CUB_NO BlockShuffle;
template <class, int, int = 1, class = NullType>
SWIZZLEPERF_CUB_NO WarpMergeSort;
template <class, int, int...>
SWIZZLEPERF_CUB_NO WarpExchange;
template <class, int, int...>
SWIZZLEPERF_CUB_NO WarpLoad;
template <class, int, int...>
SWIZZLEPERF_CUB_NO WarpStore;
#undef SWIZZLEPERF_CUB_NO

}  // namespace SWIZZLEPERF_CUB
