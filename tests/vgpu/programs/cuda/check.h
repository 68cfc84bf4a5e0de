// What the programs here share: a check of every call, and a comparison that says where it failed.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t error = (call);                                                            \
    if (error != cudaSuccess) {                                                                  \
      std::printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

inline int& failures() {
  static int count = 0;
  return count;
}

inline void expect_at(int line, bool ok, const char* what) {
  if (ok) return;
  std::printf("FAIL line %d: %s\n", line, what);
  ++failures();
}
#define EXPECT(condition) expect_at(__LINE__, (condition), #condition)

inline void near_at(int line, double value, double wanted, double tolerance) {
  if (std::fabs(value - wanted) <= tolerance) return;
  std::printf("FAIL line %d: %.9g instead of %.9g\n", line, value, wanted);
  ++failures();
}
#define EXPECT_NEAR(value, wanted, tolerance) near_at(__LINE__, (value), (wanted), (tolerance))

inline int finish() {
  if (failures() == 0) std::printf("PASS\n");
  return failures() == 0 ? 0 : 1;
}
