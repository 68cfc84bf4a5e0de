// Ranges for a profiler's timeline: nobody draws it.
#pragma once
static inline __attribute__((unused)) int nvtxRangePushA(const char* name) { return name == 0; }
static inline __attribute__((unused)) int nvtxRangePop(void) { return 0; }
static inline __attribute__((unused)) void nvtxMarkA(const char* name) { (void)name; }
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
