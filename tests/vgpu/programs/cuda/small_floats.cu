// half, bfloat16 and fp8 in CUDA: see small_floats.h.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math_constants.h>

#define GPU(name) cuda##name
#include "../small_floats.h"

#define TO(function) [] __device__(float x) { return bits_of(function(x)); }
#define FP8(saturate, kind) \
  [] __device__(float x) -> unsigned { return __nv_cvt_float_to_fp8(x, saturate, kind); }

/// Conversions of integers, in each direction; and back, saturated.
void test_integers(const Format& half, const Format& bfloat16) {
  const int n = 4000;
  const auto integer = [] __host__ __device__(int i) {
    const unsigned long long s = (unsigned long long)i * 0x9E3779B97F4A7C15ull;
    // Every seventh is a bfloat16 and a rest that only its last bit shows.
    if (i % 7 == 0) return (long long)((s >> 57 | 128) << 54) + 1;
    return (long long)s >> (i % 63);
  };
  struct Results {
    unsigned short h[4], b[4];
  };
  const auto got = on_device<Results>(n, [=] __device__(int i) -> Results {
    const long long v = integer(i);
    return {{__half_as_ushort(__ll2half_rn(v)), __half_as_ushort(__ll2half_rz(v)),
             __half_as_ushort(__ll2half_rd(v)), __half_as_ushort(__ll2half_ru(v))},
            {__bfloat16_as_ushort(__ll2bfloat16_rn(v)), __bfloat16_as_ushort(__ll2bfloat16_rz(v)),
             __bfloat16_as_ushort(__ll2bfloat16_rd(v)), __bfloat16_as_ushort(__ll2bfloat16_ru(v))}};
  });
  for (int i = 0; i < n; ++i) {
    // What a double loses of an integer never decides: but it may hide that there was a rest.
    double v = (double)integer(i);
    if ((__int128)v != (__int128)integer(i))
      v = std::nextafter(v, (__int128)v < (__int128)integer(i) ? INFINITY : -INFINITY);
    for (int k = 0; k < 4; ++k) {
      same_bits("half of an integer", v, k, got[i].h[k], half.round(v, k, false));
      same_bits("bfloat16 of an integer", v, k, got[i].b[k], bfloat16.round(v, k, false));
    }
  }
  struct Integers {
    int down, up, nearest, zero;
    short small;
    unsigned char tiny;
    unsigned long long large;
  };
  const auto back = on_device<Integers>(65536, [] __device__(int i) -> Integers {
    const __half h = of_bits<__half>((unsigned)i);
    return {__half2int_rd(h),   __half2int_ru(h),   __half2int_rn(h), __half2int_rz(h),
            __half2short_rn(h), __half2uchar_rz(h), __half2ull_rd(h)};
  });
  for (int i = 0; i < 65536; ++i) {
    const std::size_t code = (std::size_t)i & 0x7fff;
    if (code >= half.values.size()) continue;
    const double v = i & 0x8000 ? -half.values[code] : half.values[code];
    same_bits("integer below", v, 0, (unsigned)back[i].down, (unsigned)(int)std::floor(v));
    same_bits("integer above", v, 0, (unsigned)back[i].up, (unsigned)(int)std::ceil(v));
    same_bits("nearest integer", v, 0, (unsigned)back[i].nearest, (unsigned)(int)std::rint(v));
    same_bits("integer towards 0", v, 0, (unsigned)back[i].zero, (unsigned)(int)std::trunc(v));
    same_bits("short", v, 0, (unsigned)back[i].small,
              (unsigned)(int)std::min(32767.0, std::max(-32768.0, std::rint(v))));
    same_bits("byte", v, 0, back[i].tiny, (unsigned)std::min(255.0, std::max(0.0, std::trunc(v))));
    same_bits("unsigned", v, 0, (unsigned)back[i].large, (unsigned)std::max(0.0, std::floor(v)));
  }
}

/// Masks, with and without NaNs.
void test_masks() {
  const auto got = on_device<unsigned>(10, [] __device__(int i) -> unsigned {
    const __half2 a = __floats2half2_rn(1.0f, 2.0f), b = __floats2half2_rn(1.0f, CUDART_NAN_F);
    const __nv_bfloat162 c = __floats2bfloat162_rn(3.0f, 1.0f),
                         d = __floats2bfloat162_rn(2.0f, 1.0f);
    switch (i) {
      case 0:
        return __heq2_mask(a, b);
      case 1:
        return __hequ2_mask(a, b);
      case 2:
        return __hne2_mask(a, b);
      case 3:
        return __hneu2_mask(a, b);
      case 4:
        return __hgt2_mask(c, d);
      case 5:
        return __hge2_mask(c, d);
      case 6:
        return __hlt2_mask(c, d);
      case 7:
        return __hleu2_mask(a, b);
      case 8:
        return __hbequ2(a, b) * 2u + __hbeq2(a, b);
      default:
        return (unsigned)(__low2float(__hneu2(a, b)) + 2 * __high2float(__hneu2(a, b)));
    }
  });
  const unsigned wanted[] = {0xffff, ~0u, 0, 0xffff0000u, 0xffff, ~0u, 0, ~0u, 2, 2};
  for (int i = 0; i < 10; ++i) same_bits("mask", i, 0, got[i], wanted[i]);
}

int main() {
  const Format half(5, 10, 15, 0x7c00, true), bfloat16(8, 7, 127, 0x7f80, true);
  const Format e4m3(4, 3, 7, 0x7f, false), e5m2(5, 2, 15, 0x7c, true);
  test_rounding_to("half_rn", half, 0, false, TO(__float2half_rn));
  test_rounding_to("half_rz", half, 1, false, TO(__float2half_rz));
  test_rounding_to("half_rd", half, 2, false, TO(__float2half_rd));
  test_rounding_to("half_ru", half, 3, false, TO(__float2half_ru));
  test_rounding_to("bfloat16_rn", bfloat16, 0, false, TO(__float2bfloat16_rn));
  test_rounding_to("bfloat16_rz", bfloat16, 1, false, TO(__float2bfloat16_rz));
  test_rounding_to("bfloat16_rd", bfloat16, 2, false, TO(__float2bfloat16_rd));
  test_rounding_to("bfloat16_ru", bfloat16, 3, false, TO(__float2bfloat16_ru));
  test_rounding_to("e4m3", e4m3, 0, true, FP8(__NV_SATFINITE, __NV_E4M3));
  test_rounding_to("e4m3 unsaturated", e4m3, 0, false, FP8(__NV_NOSAT, __NV_E4M3));
  test_rounding_to("e5m2", e5m2, 0, true, FP8(__NV_SATFINITE, __NV_E5M2));
  test_rounding_to("e5m2 unsaturated", e5m2, 0, false, FP8(__NV_NOSAT, __NV_E5M2));
  test_arithmetic<__half>("half", half);
  test_arithmetic<__nv_bfloat16>("bfloat16", bfloat16);
  test_fp8<__nv_fp8_e4m3>("e4m3", e4m3, false);
  test_fp8<__nv_fp8_e5m2>("e5m2", e5m2, false);
  test_integers(half, bfloat16);
  test_masks();
  std::printf(small_wrong == 0 ? "PASS\n" : "FAIL: %d in all\n", small_wrong);
  return small_wrong == 0 ? 0 : 1;
}
