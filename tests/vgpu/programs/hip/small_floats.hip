// bfloat16 and fp8 of HIP 6's headers: see small_floats.h.
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_math_constants.h>
#include <hip/hip_runtime.h>

#define GPU(name) hip##name
#include "../small_floats.h"

template <__hip_fp8_interpretation_t kind>
void test_kind(const char* name, const Format& format, bool fnuz) {
  const std::vector<float> in = around(format);
  const Shared<float> shared(in);
  const float* const p = shared.p;
  const auto got = on_device<unsigned>((int)in.size(), [=] __device__(int i) -> unsigned {
    return __hip_cvt_float_to_fp8(p[i], __HIP_SATFINITE, kind);
  });
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (std::fabs(in[i]) == INFINITY) continue;  // not saturated
    unsigned wanted = format.round(in[i], 0, true);
    if (fnuz && wanted == 0x80) wanted = 0;
    same_bits(name, in[i], 0, got[i], wanted);
  }
}

/// What is beyond the largest number, and pairs.
void test_special() {
  const auto got = on_device<unsigned>(12, [] __device__(int i) -> unsigned {
    switch (i) {
      case 0:
        return __hip_cvt_float_to_fp8(HIP_INF_F, __HIP_SATFINITE, __HIP_E5M2);
      case 1:
        return __hip_cvt_float_to_fp8(-HIP_INF_F, __HIP_SATFINITE, __HIP_E4M3);
      case 2:
        return __hip_cvt_float_to_fp8(HIP_NAN_F, __HIP_SATFINITE, __HIP_E4M3_FNUZ);
      case 3:
        return __hip_cvt_float_to_fp8(449.0f, __HIP_NOSAT, __HIP_E4M3);
      case 4:
        return __hip_cvt_float_to_fp8(449.0f, __HIP_SATFINITE, __HIP_E4M3);
      case 5:
        return __hip_cvt_float_to_fp8(-241.0f, __HIP_NOSAT, __HIP_E4M3_FNUZ);
      case 6:
        return __hip_cvt_float_to_fp8(-0.0f, __HIP_NOSAT, __HIP_E5M2_FNUZ);
      case 7:
        return __hip_cvt_float2_to_fp8x2(float2{1.0f, -2.0f}, __HIP_SATFINITE, __HIP_E4M3);
      case 8: {
        const float4 v = (float4)__hip_fp8x4_e4m3_fnuz(float4{1.0f, 2.0f, -3.0f, 0.5f});
        return v.x == 1 && v.y == 2 && v.z == -3 && v.w == 0.5f;
      }
      case 9:
        return (unsigned)(int)__hip_fp8_e5m2(-7.0f) == (unsigned)-7;
      case 10:
        return bits_of(__hip_bfloat16((float)__hip_fp8_e4m3_fnuz(1.5f)));
      default: {
        const __hip_bfloat162 v = __float22bfloat162_rn(float2{1.0f, 2.0f});
        return bits_of(__hadd(__low2bfloat16(v), __high2bfloat16(v)));
      }
    }
  });
  const unsigned wanted[] = {0x7c, 0xff, 0x80, 0x7f, 0x7e, 0x80, 0, 0xc038, 1, 1, 0x3fc0, 0x4040};
  for (int i = 0; i < 12; ++i) same_bits("special", i, 0, got[i], wanted[i]);
}

int main() {
  const Format bfloat16(8, 7, 127, 0x7f80, true);
  const Format e4m3(4, 3, 7, 0x7f, false), e5m2(5, 2, 15, 0x7c, true);
  const Format e4m3_fnuz(4, 3, 8, 0x80, false), e5m2_fnuz(5, 2, 16, 0x80, false);
  test_rounding_to("bfloat16", bfloat16, 0, false,
                   [] __device__(float x) { return bits_of(__float2bfloat16(x)); });
  test_arithmetic<__hip_bfloat16>("bfloat16", bfloat16);
  test_kind<__HIP_E4M3>("e4m3", e4m3, false);
  test_kind<__HIP_E5M2>("e5m2", e5m2, false);
  test_kind<__HIP_E4M3_FNUZ>("e4m3 fnuz", e4m3_fnuz, true);
  test_kind<__HIP_E5M2_FNUZ>("e5m2 fnuz", e5m2_fnuz, true);
  test_fp8<__hip_fp8_e4m3>("e4m3", e4m3, false);
  test_fp8<__hip_fp8_e5m2>("e5m2", e5m2, false);
  test_fp8<__hip_fp8_e4m3_fnuz>("e4m3 fnuz", e4m3_fnuz, true);
  test_fp8<__hip_fp8_e5m2_fnuz>("e5m2 fnuz", e5m2_fnuz, true);
  test_special();
  std::printf(small_wrong == 0 ? "PASS\n" : "FAIL: %d in all\n", small_wrong);
  return small_wrong == 0 ? 0 : 1;
}
