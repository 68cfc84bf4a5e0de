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

#endif
