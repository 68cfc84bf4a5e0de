// Formulas as kernel code: the same arithmetic as HIP/CUDA C++ or as Triton Python.
//
// Printed code must compute what Formula::evaluate computes, bit for bit, for every launch on which
// the formula was proved; tests compile it and compare. A guard makes a formula that is a bijection
// only on some launches safe everywhere: outside its condition the printed code is the identity.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "swizzleperf/formula.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {

struct PrintOptions {
  std::string function = "swizzleperf_block";
  std::uint32_t num_xcds = 8;  ///< baked in as a named constant
  std::uint32_t cus_per_xcd = 38;
  std::string comment;  ///< printed above the function, one line per '\n'; what it does, what was
                        ///< proved
  Guard guard;
  /// Names that mean something else where the code goes, macros above all: no variable gets one.
  std::vector<std::string> taken;
  /// A launch's grid, on which C++ becomes cheaper; what is printed is right on every other, too.
  std::optional<Dim3> grid;
};

/// A self-contained `static __device__` function
///   struct <function>_index { unsigned x, y, z; };
///   <function>_index <function>(unsigned x, unsigned y, unsigned z, unsigned nx, unsigned ny,
///                               unsigned nz)
/// from blockIdx and gridDim to the logical block index. Compiles as HIP, as CUDA and (with
/// __device__ defined away) as plain C++. For grids of fewer than 2^31 blocks; values are 32 bits
/// wide where that is proved to suffice for all of them, else 64. With a grid there is a second
/// function, `<function>_on`, and __forceinline__ has to be known, as it is in HIP and CUDA.
std::string print_cpp(const Formula& formula, const PrintOptions& options);

/// A `@triton.jit` function `<function>(pid_x, pid_y, pid_z, nx, ny, nz)` returning the three
/// logical indices. Relies on Triton's // and % rounding towards zero on tensors, as C's do. Throws
/// Error(kUsage) for a formula with `break` or `continue`, which Triton does not have.
std::string print_triton(const Formula& formula, const PrintOptions& options);

}  // namespace swizzleperf
