// The device library: what HIP headers expect of ROCm's ockl and ocml, for the virtual GPU.
//
// HIP's headers turn threadIdx, __syncthreads, __popc, sqrtf, ... into calls of functions that ROCm
// ships as bitcode. We have no ROCm, so this file defines them; it is compiled once, without a
// target CPU, and linked into every program's device half (-mlink-builtin-bitcode), where clang
// inlines it. Three kinds:
//   - work-item and lane queries, fences: one AMDGPU intrinsic or a load of an implicit argument;
//   - arithmetic with one right answer (floor, fma, sqrt, rounding, half precision through single):
//     LLVM intrinsics, which both the virtual GPU and the code generator understand;
//   - transcendental functions in f32 and f64 stay undefined on purpose: the virtual GPU binds them
//     to the host's libm, and the code generator gets stand-ins.
// A GPU's own results may differ in the last bit of such functions; comparisons of an original with
// its patched kernel do not, since both use the same ones.
//
// What only the runtime can do stays undefined too: printf's messages, malloc, the barrier of the
// grid. Images and synchronisation of several devices are absent: a kernel that uses them is
// refused by that name.

#define API __attribute__((always_inline))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef _Float16 half;
typedef half half2 __attribute__((ext_vector_type(2)));
typedef unsigned short ushort2 __attribute__((ext_vector_type(2)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef float float2 __attribute__((ext_vector_type(2)));
#define PRIVATE __attribute__((address_space(5)))
#define CONSTANT __attribute__((address_space(4)))
#define LDS __attribute__((address_space(3)))

// ---- Work items ------------------------------------------------------------------------------
// Sizes come from the implicit arguments of code object version 5 and later: the number of blocks
// (u32 x 3), the block's extents (u16 x 3), the remainders of a ragged grid (u16 x 3; HIP has
// none).

typedef struct {
  u32 block_count[3];
  u16 group_size[3];
  u16 remainder[3];
} ImplicitArgs;

static const CONSTANT ImplicitArgs* implicit_args(void) {
  return (const CONSTANT ImplicitArgs*)__builtin_amdgcn_implicitarg_ptr();
}

API u64 __ockl_get_local_id(u32 axis) {
  switch (axis) {
    case 0:
      return __builtin_amdgcn_workitem_id_x();
    case 1:
      return __builtin_amdgcn_workitem_id_y();
    case 2:
      return __builtin_amdgcn_workitem_id_z();
    default:
      return 0;
  }
}

API u64 __ockl_get_group_id(u32 axis) {
  switch (axis) {
    case 0:
      return __builtin_amdgcn_workgroup_id_x();
    case 1:
      return __builtin_amdgcn_workgroup_id_y();
    case 2:
      return __builtin_amdgcn_workgroup_id_z();
    default:
      return 0;
  }
}

API u64 __ockl_get_local_size(u32 axis) { return axis < 3 ? implicit_args()->group_size[axis] : 1; }
API u64 __ockl_get_enqueued_local_size(u32 axis) { return __ockl_get_local_size(axis); }
API u64 __ockl_get_num_groups(u32 axis) {
  return axis < 3 ? implicit_args()->block_count[axis] : 1;
}
API u64 __ockl_get_global_size(u32 axis) {
  return __ockl_get_num_groups(axis) * __ockl_get_local_size(axis);
}
API u64 __ockl_get_global_id(u32 axis) {
  return __ockl_get_group_id(axis) * __ockl_get_local_size(axis) + __ockl_get_local_id(axis);
}
API u64 __ockl_get_global_offset(u32 axis) { return 0; }
API u32 __ockl_get_work_dim(void) { return 3; }
API u64 __ockl_get_local_linear_id(void) {
  const CONSTANT ImplicitArgs* a = implicit_args();
  return (__builtin_amdgcn_workitem_id_z() * a->group_size[1] + __builtin_amdgcn_workitem_id_y()) *
             a->group_size[0] +
         __builtin_amdgcn_workitem_id_x();
}

// ---- Lanes of a wave -------------------------------------------------------------------------

API u32 __ockl_lane_u32(void) {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
API u32 __ockl_activelane_u32(void) {
  const u64 active = __builtin_amdgcn_read_exec();
  return __builtin_amdgcn_mbcnt_hi((u32)(active >> 32), __builtin_amdgcn_mbcnt_lo((u32)active, 0));
}
API _Bool __ockl_wfany_i32(int predicate) {
  return __builtin_amdgcn_uicmpl((u64)predicate, 0, 33) != 0;
}
API _Bool __ockl_wfall_i32(int predicate) {
  return __builtin_amdgcn_uicmpl((u64)predicate, 0, 32) == 0;
}

// ---- Fences and reductions over a block ------------------------------------------------------
// Waves of a block run one after the other between barriers, so a fence orders nothing by itself;
// it is kept as a fence for the code generator. Numbers as in the headers: order 2 acquire,
// 3 release, 4 both, 5 sequential; scope 1 work item, 2 group, 3 device, 4 all devices.

API void __atomic_work_item_fence(u32 flags, u32 order, u32 scope) {
  if (scope <= 1) return;
  if (scope == 2)
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  else if (scope == 3)
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  else
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}

static LDS int block_total __attribute__((loader_uninitialized));

static void block_meet(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#define BLOCK_REDUCTION(name, first, operation)                              \
  API int __ockl_wgred_##name##_i32(int value) {                             \
    block_meet();                                                            \
    if (__ockl_get_local_linear_id() == 0) block_total = first;              \
    block_meet();                                                            \
    __scoped_atomic_fetch_##operation(&block_total, value, __ATOMIC_RELAXED, \
                                      __MEMORY_SCOPE_WRKGRP);                \
    block_meet();                                                            \
    return block_total;                                                      \
  }
BLOCK_REDUCTION(add, 0, add)
BLOCK_REDUCTION(and, ~0, and)
BLOCK_REDUCTION(or, 0, or)

// ---- The grid --------------------------------------------------------------------------------
// __ockl_grid_sync is a control-flow matter of the engine.

API _Bool __ockl_grid_is_valid(void) { return 1; }

// ---- Integers --------------------------------------------------------------------------------

API u8 __ockl_clz_u8(u8 x) { return x ? (u8)(__builtin_clz(x) - 24) : 8; }
API u16 __ockl_clz_u16(u16 x) { return x ? (u16)(__builtin_clz(x) - 16) : 16; }
API u32 __ockl_clz_u32(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
API u64 __ockl_clz_u64(u64 x) { return x ? (u64)__builtin_clzl(x) : 64; }
API u32 __ockl_ctz_u32(u32 x) { return x ? (u32)__builtin_ctz(x) : 32; }
API u64 __ockl_ctz_u64(u64 x) { return x ? (u64)__builtin_ctzl(x) : 64; }
API u32 __ockl_popcount_u32(u32 x) { return (u32)__builtin_popcount(x); }
API u64 __ockl_popcount_u64(u64 x) { return (u64)__builtin_popcountl(x); }
API u32 __ockl_mul24_u32(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
API int __ockl_mul24_i32(int a, int b) {
  return (int)((u32)((int)((u32)a << 8) >> 8) * (u32)((int)((u32)b << 8) >> 8));
}
API u32 __ockl_mul_hi_u32(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
API int __ockl_mul_hi_i32(int a, int b) { return (int)(((long)a * b) >> 32); }
// From 32-bit halves: no machine here has 128-bit integers.
API u64 __ockl_mul_hi_u64(u64 a, u64 b) {
  const u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
  const u64 low = a0 * b0;
  const u64 cross = a1 * b0 + (low >> 32);
  const u64 middle = a0 * b1 + (u32)cross;
  return a1 * b1 + (cross >> 32) + (middle >> 32);
}
API long __ockl_mul_hi_i64(long a, long b) {
  return (long)(__ockl_mul_hi_u64((u64)a, (u64)b) - (a < 0 ? (u64)b : 0) - (b < 0 ? (u64)a : 0));
}
API u32 __ockl_sad_u32(u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }
API u32 __ockl_sadd_u32(u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }

API float __ockl_fdot2(half2 a, half2 b, float c, _Bool saturate) {
  const float r = __builtin_fmaf((float)a.x, (float)b.x, __builtin_fmaf((float)a.y, (float)b.y, c));
  return saturate ? __builtin_fminf(__builtin_fmaxf(r, 0.0f), 1.0f) : r;
}
API int __ockl_sdot2(short2 a, short2 b, int c, _Bool saturate) {
  const long r = (long)c + (long)a.x * b.x + (long)a.y * b.y;
  if (!saturate) return (int)r;
  return r > 2147483647l ? 2147483647 : r < -2147483648l ? (int)-2147483648l : (int)r;
}
API u32 __ockl_udot2(ushort2 a, ushort2 b, u32 c, _Bool saturate) {
  const u64 r = (u64)c + (u64)a.x * b.x + (u64)a.y * b.y;
  return saturate && r > 0xffffffffu ? 0xffffffffu : (u32)r;
}
#define DOT(name, T, element, parts, wide, low, high)                                       \
  API T __ockl_##name(T a, T b, T c, _Bool saturate) {                                      \
    wide r = c;                                                                             \
    for (int i = 0; i < parts; ++i) {                                                       \
      const int bits = 32 / parts;                                                          \
      const wide x = (element)((element)((u32)a << (32 - bits - bits * i))) >> (32 - bits); \
      const wide y = (element)((element)((u32)b << (32 - bits - bits * i))) >> (32 - bits); \
      r += x * y;                                                                           \
    }                                                                                       \
    return saturate ? (T)(r < low ? low : r > high ? high : r) : (T)r;                      \
  }
DOT(sdot4, int, int, 4, long, -2147483648l, 2147483647l)
DOT(udot4, u32, u32, 4, u64, 0ul, 0xfffffffful)
DOT(sdot8, int, int, 8, long, -2147483648l, 2147483647l)
DOT(udot8, u32, u32, 8, u64, 0ul, 0xfffffffful)

API void __ockl_atomic_add_noret_f32(float* address, float value) {
  __scoped_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

// ---- Arithmetic with one right answer --------------------------------------------------------

#define ROUNDING(T, type)                                                                       \
  API type __ocml_floor_##T(type x) { return __builtin_elementwise_floor(x); }                  \
  API type __ocml_ceil_##T(type x) { return __builtin_elementwise_ceil(x); }                    \
  API type __ocml_trunc_##T(type x) { return __builtin_elementwise_trunc(x); }                  \
  API type __ocml_round_##T(type x) { return __builtin_elementwise_round(x); }                  \
  API type __ocml_rint_##T(type x) { return __builtin_elementwise_rint(x); }                    \
  API type __ocml_nearbyint_##T(type x) { return __builtin_elementwise_nearbyint(x); }          \
  API type __ocml_fabs_##T(type x) { return __builtin_elementwise_abs(x); }                     \
  API type __ocml_sqrt_##T(type x) { return __builtin_elementwise_sqrt(x); }                    \
  API type __ocml_rsqrt_##T(type x) { return (type)1 / __builtin_elementwise_sqrt(x); }         \
  API type __ocml_copysign_##T(type x, type y) { return __builtin_elementwise_copysign(x, y); } \
  API type __ocml_fmin_##T(type x, type y) { return __builtin_elementwise_minnum(x, y); }       \
  API type __ocml_fmax_##T(type x, type y) { return __builtin_elementwise_maxnum(x, y); }       \
  API type __ocml_fma_##T(type x, type y, type z) { return __builtin_elementwise_fma(x, y, z); }
ROUNDING(f32, float)
ROUNDING(f64, double)
ROUNDING(f16, half)
ROUNDING(2f16, half2)

#define CLASSIFICATION(T, type)                                         \
  API int __ocml_isnan_##T(type x) { return __builtin_isnan(x); }       \
  API int __ocml_isinf_##T(type x) { return __builtin_isinf(x) != 0; }  \
  API int __ocml_isfinite_##T(type x) { return __builtin_isfinite(x); } \
  API type __ocml_fdim_##T(type x, type y) {                            \
    return x > y ? x - y : (x != x || y != y ? x + y : (type)0);        \
  }
CLASSIFICATION(f32, float)
CLASSIFICATION(f64, double)
CLASSIFICATION(f16, half)

API int __ocml_signbit_f32(float x) { return (int)(__builtin_bit_cast(u32, x) >> 31); }
API int __ocml_signbit_f64(double x) { return (int)(__builtin_bit_cast(u64, x) >> 63); }
API short2 __ocml_isnan_2f16(half2 x) { return -(x != x); }
API short2 __ocml_isinf_2f16(half2 x) {
  return -(__builtin_elementwise_abs(x) == (half2)__builtin_inff16());
}
API float __ocml_ldexp_f32(float x, int e) { return __builtin_ldexpf(x, e); }
API double __ocml_ldexp_f64(double x, int e) { return __builtin_ldexp(x, e); }
API float __ocml_scalbn_f32(float x, int e) { return __builtin_ldexpf(x, e); }
API double __ocml_scalbn_f64(double x, int e) { return __builtin_ldexp(x, e); }

// Round-to-nearest forms.
#define NEAREST(T, type)                                                         \
  API type __ocml_add_rte_##T(type x, type y) { return x + y; }                  \
  API type __ocml_sub_rte_##T(type x, type y) { return x - y; }                  \
  API type __ocml_mul_rte_##T(type x, type y) { return x * y; }                  \
  API type __ocml_div_rte_##T(type x, type y) { return x / y; }                  \
  API type __ocml_sqrt_rte_##T(type x) { return __builtin_elementwise_sqrt(x); } \
  API type __ocml_fma_rte_##T(type x, type y, type z) { return __builtin_elementwise_fma(x, y, z); }
NEAREST(f32, float)
NEAREST(f64, double)

// Directed rounding: the nearest result, moved by one step if the exact one lies on the other side.
// So all that is wanted of "exact - nearest" is its sign. For single precision double has it; for
// double the difference is computed without error, after a scaling where exponents might run out.

static int sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
static int is_finite(double x) { return __builtin_fabs(x) < __builtin_inf(); }

#define DIRECTED(T, type, bits_t, sign_bit)                                              \
  static type step_##T(type x, int up) {                                                 \
    bits_t u = __builtin_bit_cast(bits_t, x);                                            \
    if ((u << 1) == 0) return __builtin_bit_cast(type, (bits_t)(up ? 1 : sign_bit | 1)); \
    u += ((u & sign_bit) == 0) == up ? (bits_t)1 : (bits_t) - 1;                         \
    return __builtin_bit_cast(type, u);                                                  \
  }                                                                                      \
  /* side: the sign of exact - r; to = -1 down, 1 up, 0 towards zero */                  \
  static type directed_##T(type r, int side, int to) {                                   \
    if (side == 0 || r != r) return r;                                                   \
    const int wants_up = to > 0 || (to == 0 && r < 0);                                   \
    return (side > 0) == wants_up && (to != 0 || r != 0) ? step_##T(r, side > 0) : r;    \
  }
DIRECTED(f32, float, u32, 0x80000000u)
DIRECTED(f64, double, u64, 0x8000000000000000ul)

/// What a + b is more than s, where nothing overflows.
static double rest_of_sum(double a, double b, double s) {
  const double back = s - a;
  return (a - (s - back)) + (b - back);
}

static int side_of_sum_f64(double a, double b, double s) {
  return is_finite(s) ? sign_of(rest_of_sum(a, b, s)) : -sign_of(s);
}
static int side_of_product_f64(double a, double b, double p) {
  if (!is_finite(p)) return -sign_of(p);
  if (__builtin_fabs(p) < 0x1p-900) {  // then neither factor is beyond 2^174
    return sign_of(__builtin_elementwise_fma(a * 0x1p600, b * 0x1p600, -(p * 0x1p600 * 0x1p600)));
  }
  return sign_of(__builtin_elementwise_fma(a, b, -p));
}
static int side_of_quotient_f64(double a, double b, double q) {
  if (b == 0) return 0;
  if (!is_finite(q)) return -sign_of(q);
  double rest;
  if (__builtin_fabs(a) >= 0x1p-900) {
    rest = __builtin_elementwise_fma(-q, b, a);
  } else if (__builtin_fabs(b) > 1) {
    rest = __builtin_elementwise_fma(-q * 0x1p600 * 0x1p600, b, a * 0x1p600 * 0x1p600);
  } else {
    rest = __builtin_elementwise_fma(-q * 0x1p600, b * 0x1p600, a * 0x1p600 * 0x1p600);
  }
  return b < 0 ? -sign_of(rest) : sign_of(rest);
}
static int side_of_root_f64(double a, double r) {
  if (__builtin_fabs(a) < 0x1p-900) {
    a *= 0x1p600;
    r *= 0x1p300;
  }
  return is_finite(r) ? sign_of(__builtin_elementwise_fma(-r, r, a)) : 0;
}
/// Boldo and Muller's error of a fused multiply-add, of which the last sum has the right sign.
static int side_of_fma_unscaled(double a, double b, double c, double r) {
  const double product = a * b;
  const double product_rest = __builtin_elementwise_fma(a, b, -product);
  const double low = c + product_rest;
  const double high = product + low;
  return sign_of(((high - r) + rest_of_sum(product, low, high)) +
                 rest_of_sum(c, product_rest, low));
}
static int side_of_fma_f64(double a, double b, double c, double r) {
  if (!is_finite(a) || !is_finite(b) || !is_finite(c) || a == 0 || b == 0) return 0;
  if (!is_finite(r)) return -sign_of(r);
  const double product = a * b;
  const double size = __builtin_fabs(product);
  // Far below c only the product's sign is left of it.
  if (size < __builtin_fabs(c) * 0x1p-120) return (a < 0) == (b < 0) ? 1 : -1;
  if (size < 0x1p-700) {  // so neither factor is beyond 2^374, nor c beyond 2^-580
    return side_of_fma_unscaled(a * 0x1p600, b * 0x1p600, c * 0x1p600 * 0x1p600,
                                r * 0x1p600 * 0x1p600);
  }
  if (size > 0x1p900 || __builtin_fabs(c) > 0x1p1000) {
    // A c that vanishes by the scaling keeps its sign.
    double scaled = c * 0x1p-200;
    if (scaled == 0 && c != 0) scaled = __builtin_copysign(0x1p-1074, c);
    const int first = __builtin_fabs(a) > __builtin_fabs(b);
    return side_of_fma_unscaled(first ? a * 0x1p-200 : a, first ? b : b * 0x1p-200, scaled,
                                r * 0x1p-200);
  }
  return side_of_fma_unscaled(a, b, c, r);
}

static int side_of_sum_f32(float a, float b, float s) {
  if (!is_finite(s)) return is_finite(a) && is_finite(b) ? -sign_of(s) : 0;
  const double sum = (double)a + (double)b;
  const double left = sum - (double)s;  // exact: the two are neighbours
  return sign_of(left != 0 ? left : rest_of_sum(a, b, sum));
}
static int side_of_product_f32(float a, float b, float p) {
  const double product = (double)a * (double)b;
  return is_finite(product) ? sign_of(product - (double)p) : 0;
}
static int side_of_quotient_f32(float a, float b, float q) { return side_of_quotient_f64(a, b, q); }
static int side_of_root_f32(float a, float r) { return side_of_root_f64(a, r); }
static int side_of_fma_f32(float a, float b, float c, float r) {
  const double product = (double)a * (double)b;
  const double sum = product + (double)c;
  if (!is_finite(sum)) return 0;
  const double left = sum - (double)r;
  return sign_of(left != 0 ? left : rest_of_sum(product, c, sum));
}

// An exact zero as the sum of two opposites is negative when rounding downwards.
#define DIRECTION(T, type, mode, to)                                                          \
  static type zero_##mode##_##T(type s, type a, type b) {                                     \
    const int opposite = a == -b && (a != 0 || 1 / a != 1 / b);                               \
    return to < 0 && opposite ? -(type)0 : s;                                                 \
  }                                                                                           \
  API type __ocml_add_##mode##_##T(type a, type b) {                                          \
    const type s = a + b;                                                                     \
    if (s == 0) return zero_##mode##_##T(s, a, b);                                            \
    if (!is_finite(a) || !is_finite(b)) return s;                                             \
    return directed_##T(s, side_of_sum_##T(a, b, s), to);                                     \
  }                                                                                           \
  API type __ocml_sub_##mode##_##T(type a, type b) { return __ocml_add_##mode##_##T(a, -b); } \
  API type __ocml_mul_##mode##_##T(type a, type b) {                                          \
    const type p = a * b;                                                                     \
    if (!is_finite(a) || !is_finite(b)) return p;                                             \
    return directed_##T(p, side_of_product_##T(a, b, p), to);                                 \
  }                                                                                           \
  API type __ocml_div_##mode##_##T(type a, type b) {                                          \
    const type q = a / b;                                                                     \
    if (!is_finite(a) || !is_finite(b)) return q;                                             \
    return directed_##T(q, side_of_quotient_##T(a, b, q), to);                                \
  }                                                                                           \
  API type __ocml_sqrt_##mode##_##T(type a) {                                                 \
    const type r = __builtin_elementwise_sqrt(a);                                             \
    return directed_##T(r, side_of_root_##T(a, r), to);                                       \
  }                                                                                           \
  API type __ocml_fma_##mode##_##T(type a, type b, type c) {                                  \
    const type r = __builtin_elementwise_fma(a, b, c);                                        \
    if (r == 0 && side_of_fma_##T(a, b, c, r) == 0) {                                         \
      return a == 0 || b == 0 ? zero_##mode##_##T(r, a * b, c) : to < 0 ? -(type)0 : r;       \
    }                                                                                         \
    return directed_##T(r, side_of_fma_##T(a, b, c, r), to);                                  \
  }
DIRECTION(f32, float, rtn, -1)
DIRECTION(f32, float, rtp, 1)
DIRECTION(f32, float, rtz, 0)
DIRECTION(f64, double, rtn, -1)
DIRECTION(f64, double, rtp, 1)
DIRECTION(f64, double, rtz, 0)

// The fast forms are the intrinsics of the same name: one instruction on hardware.
API float __ocml_native_sin_f32(float x) { return __builtin_elementwise_sin(x); }
API float __ocml_native_cos_f32(float x) { return __builtin_elementwise_cos(x); }
API float __ocml_native_sqrt_f32(float x) { return __builtin_elementwise_sqrt(x); }
API float __ocml_native_exp_f32(float x) { return __builtin_elementwise_exp(x); }
API float __ocml_native_exp2_f32(float x) { return __builtin_elementwise_exp2(x); }
API float __ocml_native_exp10_f32(float x) { return __builtin_elementwise_exp10(x); }
API float __ocml_native_log_f32(float x) { return __builtin_elementwise_log(x); }
API float __ocml_native_log2_f32(float x) { return __builtin_elementwise_log2(x); }
API float __ocml_native_log10_f32(float x) { return __builtin_elementwise_log10(x); }
API float __ocml_native_recip_f32(float x) { return 1.0f / x; }
API float __ocml_native_rsqrt_f32(float x) { return 1.0f / __builtin_elementwise_sqrt(x); }

// ---- Compositions ----------------------------------------------------------------------------

#define COMPOSITIONS(T, type)                                                                      \
  extern type __ocml_sin_##T(type);                                                                \
  extern type __ocml_cos_##T(type);                                                                \
  extern type __ocml_sinpi_##T(type);                                                              \
  extern type __ocml_cospi_##T(type);                                                              \
  extern type __ocml_cbrt_##T(type);                                                               \
  extern type __ocml_hypot_##T(type, type);                                                        \
  API type __ocml_sincos_##T(type x, PRIVATE type* c) {                                            \
    *c = __ocml_cos_##T(x);                                                                        \
    return __ocml_sin_##T(x);                                                                      \
  }                                                                                                \
  API type __ocml_sincospi_##T(type x, PRIVATE type* c) {                                          \
    *c = __ocml_cospi_##T(x);                                                                      \
    return __ocml_sinpi_##T(x);                                                                    \
  }                                                                                                \
  API type __ocml_modf_##T(type x, PRIVATE type* whole) {                                          \
    const type t = __builtin_elementwise_trunc(x);                                                 \
    *whole = t;                                                                                    \
    return __builtin_elementwise_copysign(__builtin_isinf(x) ? (type)0 : x - t, x);                \
  }                                                                                                \
  API type __ocml_rcbrt_##T(type x) { return (type)1 / __ocml_cbrt_##T(x); }                       \
  API type __ocml_rhypot_##T(type x, type y) { return (type)1 / __ocml_hypot_##T(x, y); }          \
  API type __ocml_len3_##T(type x, type y, type z) {                                               \
    return __builtin_elementwise_sqrt(x * x + y * y + z * z);                                      \
  }                                                                                                \
  API type __ocml_len4_##T(type x, type y, type z, type w) {                                       \
    return __builtin_elementwise_sqrt(x * x + y * y + z * z + w * w);                              \
  }                                                                                                \
  API type __ocml_rlen3_##T(type x, type y, type z) { return (type)1 / __ocml_len3_##T(x, y, z); } \
  API type __ocml_rlen4_##T(type x, type y, type z, type w) {                                      \
    return (type)1 / __ocml_len4_##T(x, y, z, w);                                                  \
  }
COMPOSITIONS(f32, float)
COMPOSITIONS(f64, double)

#define DISTRIBUTIONS(T, type)                                                             \
  extern type __ocml_erfc_##T(type);                                                       \
  extern type __ocml_erfcinv_##T(type);                                                    \
  extern type __ocml_exp2_##T(type);                                                       \
  extern type __ocml_remainder_##T(type, type);                                            \
  API type __ocml_ncdf_##T(type x) {                                                       \
    return (type)0.5 * __ocml_erfc_##T(x * (type) - 0.70710678118654752440);               \
  }                                                                                        \
  API type __ocml_ncdfinv_##T(type x) {                                                    \
    return (type) - 1.41421356237309504880 * __ocml_erfcinv_##T(x + x);                    \
  }                                                                                        \
  API type __ocml_scalb_##T(type x, type y) { return x * __ocml_exp2_##T(y); }             \
  /* The sign and the lower seven bits of the quotient, of which the fraction is exact. */ \
  API type __ocml_remquo_##T(type x, type y, PRIVATE int* quotient) {                      \
    const type r = __ocml_remainder_##T(x, y);                                             \
    const type wide = __ocml_remainder_##T(x, y * (type)128);                              \
    const int low = (int)__builtin_elementwise_rint((wide - r) / y);                       \
    const int magnitude = (low < 0 ? -low : low) & 127;                                    \
    *quotient = (x < 0) != (y < 0) ? -(low <= 0 ? magnitude : (128 - magnitude) & 127)     \
                                   : (low >= 0 ? magnitude : (128 - magnitude) & 127);     \
    return r;                                                                              \
  }
DISTRIBUTIONS(f32, float)
DISTRIBUTIONS(f64, double)

API float __ocml_frexp_f32(float x, PRIVATE int* exponent) {
  int e;
  const float m = __builtin_frexpf(x, &e);
  *exponent = e;
  return m;
}
API double __ocml_frexp_f64(double x, PRIVATE int* exponent) {
  int e;
  const double m = __builtin_frexp(x, &e);
  *exponent = e;
  return m;
}

// Half precision through single: one rounding at the end.
#define HALF_THROUGH_FLOAT(name)                                                       \
  extern float __ocml_##name##_f32(float);                                             \
  API half __ocml_##name##_f16(half x) { return (half)__ocml_##name##_f32((float)x); } \
  API half2 __ocml_##name##_2f16(half2 x) {                                            \
    return (half2){__ocml_##name##_f16(x.x), __ocml_##name##_f16(x.y)};                \
  }
HALF_THROUGH_FLOAT(sin)
HALF_THROUGH_FLOAT(cos)
HALF_THROUGH_FLOAT(exp)
HALF_THROUGH_FLOAT(exp2)
HALF_THROUGH_FLOAT(exp10)
HALF_THROUGH_FLOAT(log)
HALF_THROUGH_FLOAT(log2)
HALF_THROUGH_FLOAT(log10)
HALF_THROUGH_FLOAT(tanh)

extern float __ocml_pown_f32(float, int);
API half __ocml_pown_f16(half x, int n) { return (half)__ocml_pown_f32((float)x, n); }
API half2 __ocml_pown_2f16(half2 x, short2 n) {
  return (half2){__ocml_pown_f16(x.x, n.x), __ocml_pown_f16(x.y, n.y)};
}
API half __ocml_cvtrtz_f16_f32(float x) { return (half)__builtin_amdgcn_cvt_pkrtz(x, 0.0f).x; }
