// The words of CUDA C++, its built-in variables, barriers and fences, and what a kernel may call of
// the C library.
#pragma once

#define SWIZZLEPERF_DEVICE static inline __attribute__((device, always_inline, unused))
#define SWIZZLEPERF_HD static inline __attribute__((host, device, unused))

#undef __noinline__
#define __noinline__ __attribute__((noinline))
#undef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#undef __inline_hint__
#define __inline_hint__ inline
#undef __align__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#undef __launch_bounds__
#define __launch_bounds__(threads, ...) __attribute__((launch_bounds(threads)))
#define __maxnreg__(n)
#define __grid_constant__
#define __nv_pure__
#define __cudart_builtin__
#define __device_builtin__

// ---- Built-in variables ------------------------------------------------------------------------

extern "C" __attribute__((device, const)) unsigned long __ockl_get_local_id(unsigned);
extern "C" __attribute__((device, const)) unsigned long __ockl_get_group_id(unsigned);
extern "C" __attribute__((device, const)) unsigned long __ockl_get_local_size(unsigned);
extern "C" __attribute__((device, const)) unsigned long __ockl_get_num_groups(unsigned);

// The shape, and the kind of name, of clang's own CUDA headers: tools that look for blockIdx know
// it.
#define SWIZZLEPERF_AXIS(axis, i, fetch)                                           \
  __declspec(property(get = __fetch_##axis)) unsigned axis;                        \
  static inline __attribute__((device, always_inline)) unsigned __fetch_##axis() { \
    return (unsigned)fetch(i);                                                     \
  }
#define SWIZZLEPERF_BUILTIN(name, fetch)                                           \
  struct __cuda_builtin_##name##_t {                                               \
    SWIZZLEPERF_AXIS(x, 0, fetch)                                                  \
    SWIZZLEPERF_AXIS(y, 1, fetch)                                                  \
    SWIZZLEPERF_AXIS(z, 2, fetch)                                                  \
    __attribute__((device)) operator dim3() const { return dim3(x, y, z); }        \
    __attribute__((device)) operator uint3() const { return make_uint3(x, y, z); } \
                                                                                   \
   private:                                                                        \
    __cuda_builtin_##name##_t(const __cuda_builtin_##name##_t&) = delete;          \
  };                                                                               \
  extern const __attribute__((device)) __attribute__((weak)) __cuda_builtin_##name##_t name;
SWIZZLEPERF_BUILTIN(threadIdx, __ockl_get_local_id)
SWIZZLEPERF_BUILTIN(blockIdx, __ockl_get_group_id)
SWIZZLEPERF_BUILTIN(blockDim, __ockl_get_local_size)
SWIZZLEPERF_BUILTIN(gridDim, __ockl_get_num_groups)
#undef SWIZZLEPERF_BUILTIN
#undef SWIZZLEPERF_AXIS

static constexpr int warpSize = 32;

// ---- Barriers and fences -----------------------------------------------------------------------

extern "C" __attribute__((device, convergent)) int __ockl_wgred_add_i32(int);
extern "C" __attribute__((device, convergent)) int __ockl_wgred_and_i32(int);
extern "C" __attribute__((device, convergent)) int __ockl_wgred_or_i32(int);

static inline __attribute__((device, always_inline, convergent)) void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static inline __attribute__((device, always_inline, convergent)) int __syncthreads_count(int p) {
  return __ockl_wgred_add_i32(p != 0);
}
static inline __attribute__((device, always_inline, convergent)) int __syncthreads_and(int p) {
  return __ockl_wgred_and_i32(p != 0);
}
static inline __attribute__((device, always_inline, convergent)) int __syncthreads_or(int p) {
  return __ockl_wgred_or_i32(p != 0);
}
/// Lanes of a warp run in step; what is left to order is memory, for the compiler.
static inline __attribute__((device, always_inline, convergent)) void __syncwarp(
    unsigned = 0xffffffffu) {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}
SWIZZLEPERF_DEVICE void __threadfence_block() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
SWIZZLEPERF_DEVICE void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
SWIZZLEPERF_DEVICE void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

// ---- The clock, ending, text -------------------------------------------------------------------

SWIZZLEPERF_DEVICE long long clock64() { return (long long)__builtin_readcyclecounter(); }
SWIZZLEPERF_DEVICE long clock() { return (long)__builtin_readcyclecounter(); }
SWIZZLEPERF_DEVICE long long __clock64() { return clock64(); }
SWIZZLEPERF_DEVICE int __clock() { return (int)clock64(); }
SWIZZLEPERF_DEVICE void __nanosleep(unsigned) {}
SWIZZLEPERF_DEVICE void __trap() { __builtin_trap(); }
SWIZZLEPERF_DEVICE void __brkpt() {}
SWIZZLEPERF_DEVICE void __prof_trigger(int) {}

extern "C" __attribute__((device)) int printf(const char* format, ...);  // clang lowers the calls

extern "C" __attribute__((device)) unsigned long __ockl_fprintf_stderr_begin();
extern "C" __attribute__((device)) unsigned long __ockl_fprintf_append_args(
    unsigned long, unsigned, unsigned long, unsigned long, unsigned long, unsigned long,
    unsigned long, unsigned long, unsigned long, unsigned);
extern "C" __attribute__((device)) unsigned long __ockl_fprintf_append_string_n(unsigned long,
                                                                                const char*,
                                                                                unsigned long,
                                                                                unsigned);

/// What the C library's assert calls.
extern "C" __attribute__((device, noinline, weak)) void __assert_fail(const char* assertion,
                                                                      const char* file,
                                                                      unsigned line,
                                                                      const char* function) {
  const auto length = [](const char* text) {
    unsigned long n = 1;
    while (*text++) ++n;
    return n;
  };
  const char form[] = "%s:%u: %s: Device-side assertion `%s' failed.\n";
  unsigned long message = __ockl_fprintf_stderr_begin();
  message = __ockl_fprintf_append_string_n(message, form, sizeof form, 0);
  message = __ockl_fprintf_append_string_n(message, file, length(file), 0);
  message = __ockl_fprintf_append_args(message, 1, line, 0, 0, 0, 0, 0, 0, 0);
  message = __ockl_fprintf_append_string_n(message, function, length(function), 0);
  __ockl_fprintf_append_string_n(message, assertion, length(assertion), 1);
  __builtin_trap();
}

extern "C++" {
static inline __attribute__((device, always_inline)) void* memcpy(void* to, const void* from,
                                                                  size_t bytes) {
  return __builtin_memcpy(to, from, bytes);
}
static inline __attribute__((device, always_inline)) void* memmove(void* to, const void* from,
                                                                   size_t bytes) {
  return __builtin_memmove(to, from, bytes);
}
static inline __attribute__((device, always_inline)) void* memset(void* to, int value,
                                                                  size_t bytes) {
  return __builtin_memset(to, value, bytes);
}
}

// ---- Loads and stores with cache hints: the hints say nothing to a replay
// ------------------------

#define SWIZZLEPERF_LOAD(name)            \
  template <class T>                      \
  SWIZZLEPERF_DEVICE T name(const T* p) { \
    return *p;                            \
  }
SWIZZLEPERF_LOAD(__ldg)
SWIZZLEPERF_LOAD(__ldca)
SWIZZLEPERF_LOAD(__ldcg)
SWIZZLEPERF_LOAD(__ldcs)
SWIZZLEPERF_LOAD(__ldlu)
SWIZZLEPERF_LOAD(__ldcv)
#undef SWIZZLEPERF_LOAD
#define SWIZZLEPERF_STORE(name)                 \
  template <class T>                            \
  SWIZZLEPERF_DEVICE void name(T* p, T value) { \
    *p = value;                                 \
  }
SWIZZLEPERF_STORE(__stwb)
SWIZZLEPERF_STORE(__stcg)
SWIZZLEPERF_STORE(__stcs)
SWIZZLEPERF_STORE(__stwt)
#undef SWIZZLEPERF_STORE

SWIZZLEPERF_DEVICE unsigned __isGlobal(const void* p) {
  return !__builtin_amdgcn_is_shared(p) && !__builtin_amdgcn_is_private(p);
}
SWIZZLEPERF_DEVICE unsigned __isShared(const void* p) { return __builtin_amdgcn_is_shared(p); }
SWIZZLEPERF_DEVICE unsigned __isLocal(const void* p) { return __builtin_amdgcn_is_private(p); }

// ---- Textures and surfaces
// -----------------------------------------------------------------------

#define SWIZZLEPERF_NO_FETCH(name, what) \
  template <class T = void, class... A>  \
  __attribute__((device)) T name(A...) SWIZZLEPERF_MISSING(what);
SWIZZLEPERF_NO_FETCH(tex1D, "textures")
SWIZZLEPERF_NO_FETCH(tex1Dfetch, "textures")
SWIZZLEPERF_NO_FETCH(tex1DLod, "textures")
SWIZZLEPERF_NO_FETCH(tex2D, "textures")
SWIZZLEPERF_NO_FETCH(tex2DLod, "textures")
SWIZZLEPERF_NO_FETCH(tex2DLayered, "textures")
SWIZZLEPERF_NO_FETCH(tex2Dgather, "textures")
SWIZZLEPERF_NO_FETCH(tex3D, "textures")
SWIZZLEPERF_NO_FETCH(texCubemap, "textures")
SWIZZLEPERF_NO_FETCH(surf1Dread, "surfaces")
SWIZZLEPERF_NO_FETCH(surf1Dwrite, "surfaces")
SWIZZLEPERF_NO_FETCH(surf2Dread, "surfaces")
SWIZZLEPERF_NO_FETCH(surf2Dwrite, "surfaces")
SWIZZLEPERF_NO_FETCH(surf3Dread, "surfaces")
SWIZZLEPERF_NO_FETCH(surf3Dwrite, "surfaces")
#undef SWIZZLEPERF_NO_FETCH
