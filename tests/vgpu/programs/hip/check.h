// Shared by the small programs: they check themselves, print a FAIL line for what is wrong, and
// return how much was.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int failures = 0;

#define CHECK(condition)                                               \
  do {                                                                 \
    if (!(condition)) {                                                \
      std::printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                      \
    }                                                                  \
  } while (false)

#define OK(call)                                                                             \
  do {                                                                                       \
    const hipError_t error_ = (call);                                                        \
    if (error_ != hipSuccess) {                                                              \
      std::printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorName(error_)); \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (false)

/// The first few differences only: arrays tend to be wrong altogether.
template <class A, class B>
void check_equal(const char* what, std::size_t index, A got, B wanted) {
  if (got == static_cast<A>(wanted)) return;
  if (++failures <= 10)
    std::printf("FAIL %s[%zu]: got %.17g, wanted %.17g\n", what, index, static_cast<double>(got),
                static_cast<double>(wanted));
}

inline void check_close(const char* what, std::size_t index, double got, double wanted,
                        double tolerance) {
  const double size = std::fabs(wanted) > 1 ? std::fabs(wanted) : 1;
  if (std::fabs(got - wanted) <= tolerance * size || got == wanted ||
      (std::isnan(got) && std::isnan(wanted)))
    return;
  if (++failures <= 10)
    std::printf("FAIL %s[%zu]: got %.17g, wanted %.17g\n", what, index, got, wanted);
}

/// Device memory that copies itself in and out.
template <class T>
class Array {
 public:
  explicit Array(std::size_t count) : host(count) { allocate(); }
  explicit Array(std::vector<T> values) : host(std::move(values)) {
    allocate();
    upload();
  }
  ~Array() { (void)hipFree(device); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  void upload() { OK(hipMemcpy(device, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice)); }
  std::vector<T>& download() {
    OK(hipMemcpy(host.data(), device, host.size() * sizeof(T), hipMemcpyDeviceToHost));
    return host;
  }
  operator T*() const { return device; }

  std::vector<T> host;
  T* device = nullptr;

 private:
  void allocate() {
    OK(hipMalloc(reinterpret_cast<void**>(&device), host.size() * sizeof(T)));
    OK(hipMemset(device, 0, host.size() * sizeof(T)));
  }
};

/// Numbers that look random and are the same everywhere.
struct Numbers {
  unsigned long long state;
  explicit Numbers(unsigned long long seed) : state(seed * 2654435761u + 1) {}
  unsigned next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<unsigned>(state >> 33);
  }
  float real() { return static_cast<float>(next() % 100000) / 50000.0f - 1.0f; }
};

inline int report() {
  OK(hipDeviceSynchronize());
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
