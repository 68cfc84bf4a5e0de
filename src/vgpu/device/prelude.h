// Force-included before a HIP program's device half (-include): what Debian's HIP 5.2 headers take
// for granted and clang 22 no longer provides. Everything here is a declaration or an inline
// function; a program that includes no HIP header is not affected.
#pragma once

#if defined(__HIP__) && defined(__cplusplus)

extern "C" {

// The half header calls these without declaring them. The first is an instruction; binding it to
// its intrinsic by name keeps it one.
__attribute__((device)) __attribute__((const)) _Float16 __llvm_amdgcn_rcp_f16(_Float16) __asm(
    "llvm.amdgcn.rcp.f16");

typedef _Float16 __swizzleperf_2f16 __attribute__((ext_vector_type(2)));
static inline __attribute__((device)) __attribute__((always_inline)) __swizzleperf_2f16
__llvm_amdgcn_rcp_2f16(__swizzleperf_2f16 x) {
  return __swizzleperf_2f16{__llvm_amdgcn_rcp_f16(x.x), __llvm_amdgcn_rcp_f16(x.y)};
}

}  // extern "C"

// threadIdx and its fellows. The header's members x, y and z are objects of a class, which nobody
// can pass to printf; as properties they are numbers, as in CUDA and in later versions of HIP. The
// header's template is specialised before it is defined, so all else of it stays.
typedef __SIZE_TYPE__ __swizzleperf_size;
extern "C" __attribute__((device)) __attribute__((const)) __swizzleperf_size
__ockl_get_local_id(unsigned);
extern "C" __attribute__((device)) __attribute__((const)) __swizzleperf_size
__ockl_get_group_id(unsigned);
extern "C" __attribute__((device)) __attribute__((const)) __swizzleperf_size
__ockl_get_local_size(unsigned);
extern "C" __attribute__((device)) __attribute__((const)) __swizzleperf_size
__ockl_get_num_groups(unsigned);

template <typename F>
struct __HIP_Coordinates;

#define SWIZZLEPERF_COORDINATES(name, function)                                        \
  struct name;                                                                         \
  template <>                                                                          \
  struct __HIP_Coordinates<name> {                                                     \
    struct __X {};                                                                     \
    struct __Y {};                                                                     \
    struct __Z {};                                                                     \
    __declspec(property(get = __get_x)) unsigned x;                                    \
    __declspec(property(get = __get_y)) unsigned y;                                    \
    __declspec(property(get = __get_z)) unsigned z;                                    \
    __attribute__((device)) unsigned __get_x() const { return (unsigned)function(0); } \
    __attribute__((device)) unsigned __get_y() const { return (unsigned)function(1); } \
    __attribute__((device)) unsigned __get_z() const { return (unsigned)function(2); } \
    /* to dim3 and uint3 */                                                            \
    template <class T, class = decltype(T(1u, 1u, 1u).z)>                              \
    __attribute__((device)) operator T() const {                                       \
      return T(__get_x(), __get_y(), __get_z());                                       \
    }                                                                                  \
  };
SWIZZLEPERF_COORDINATES(__HIP_ThreadIdx, __ockl_get_local_id)
SWIZZLEPERF_COORDINATES(__HIP_BlockIdx, __ockl_get_group_id)
SWIZZLEPERF_COORDINATES(__HIP_BlockDim, __ockl_get_local_size)
SWIZZLEPERF_COORDINATES(__HIP_GridDim, __ockl_get_num_groups)
#undef SWIZZLEPERF_COORDINATES

#endif
