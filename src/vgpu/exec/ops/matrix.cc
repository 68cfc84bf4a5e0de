// Which lane holds what (AMD's matrix instruction documents), for one block, L = lanes / M:
//
//     A (M x K)            lane = (k / P) * M + row, element k mod P     P = elements per lane
//     B (K x N)            lane = (k / P) * N + col, element k mod P
//     C, D (M x N)         lane = ((row / 4) mod G) * N + col,  G = 64 / N
//                          element = 4 * (row / (4 G)) + row mod 4
//
//       32x32, G = 2       lanes 0-31          lanes 32-63
//                   e 0-3  rows  0- 3          rows  4- 7
//                   e 4-7  rows  8-11          rows 12-15      and so on
//
// Several blocks (K = P then): A and B have block b in lanes [b M, (b + 1) M). D of 32x32 and 16x16
// has block b in elements [b E, (b + 1) E), E = M N / 64 of one block; D of 4x4 has it in lanes
// [4 b, 4 b + 4). Double precision lays rows out singly: lane = (row mod G) * N + col,
// element = row / G; its 4x4 form has lane = 16 row + 4 b + col.
// Products are accumulated in the order of k, fused.
#include "vgpu/exec/ops/lanes.h"

namespace swizzleperf::vgpu {
namespace {

float to_xf32(float x) {  // ten bits of mantissa are kept, rounded to the nearest even
  const u32 u = bits_as<u32>(x);
  return bits_as<float>((u + 0xfff + (u >> 13 & 1)) & ~0x1fffU);
}

/// Numbers of 8, 6 or 4 bits, packed in 32 or 64; scales are powers of two, one a lane.
void tiny_input(Wave& w, const MatrixShape& shape, const u32* list, Tiny tiny, const u32* scales,
                u32 scale_byte, float (*out)[kLanes]) {
  const u32 bits = tiny_bits(tiny);
  const u32 word_bits = shape.scaled ? 32 : 64;
  alignas(64) u32 scratch32[kLanes];
  alignas(64) u64 scratch64[kLanes];
  const auto word = [&](u32 index, u32 lane) -> u64 {
    return shape.scaled ? spread(w, list[index], scratch32)[lane]
                        : spread(w, list[index], scratch64)[lane];
  };
  for (u32 e = 0; e < shape.per_lane; ++e) {
    const u32 at = e * bits;
    const u32 first = at / word_bits;
    const bool cut = at % word_bits + bits > word_bits;  // six bits may lie across two words
    for (u32 i = 0; i < kLanes; ++i) {
      u64 field = word(first, i) >> (at % word_bits);
      if (cut) field |= word(first + 1, i) << (word_bits - at % word_bits);
      const float value = tiny_to_float(tiny, static_cast<u32>(field) & ((1U << bits) - 1));
      const int exponent =
          scales == nullptr ? 0 : static_cast<int>(scales[i] >> (8 * scale_byte) & 0xff) - 127;
      out[e][i] = std::ldexp(value, exponent);
    }
  }
}

/// Elements of A or B as numbers, [element][lane]. Bytes come packed in 32 or 64 bits.
template <class A>
void matrix_input(Wave& w, const MatrixShape& shape, const u32* list, A (*out)[kLanes]) {
  const auto convert = [&](auto zero, auto&& to_number) {
    using T = decltype(zero);
    alignas(64) T scratch[kLanes];
    for (u32 e = 0; e < shape.per_lane; ++e) {
      const T* in = spread(w, list[e], scratch);
      LANES out[e][i] = static_cast<A>(to_number(in[i]));
    }
  };
  const auto bytes_of = [&](auto zero) {
    using T = decltype(zero);
    alignas(64) T scratch[kLanes];
    for (u32 e = 0; e < shape.per_lane; ++e) {
      const T* in = spread(w, list[e / sizeof(T)], scratch);
      const u32 shift = 8 * (e % sizeof(T));
      LANES out[e][i] =
          static_cast<A>(static_cast<i8>(in[i] >> shift));  // NOLINT(bugprone-signed-char-misuse)
    }
  };
  switch (shape.input) {
    case MatrixInput::kF16:
      convert(_Float16{}, [](_Float16 x) { return wide(x); });
      break;
    case MatrixInput::kBF16:
      convert(BFloat{}, [](BFloat x) { return wide(x); });
      break;
    case MatrixInput::kF32:
      convert(0.0F, [](float x) { return x; });
      break;
    case MatrixInput::kXF32:
      convert(0.0F, [](float x) { return to_xf32(x); });
      break;
    case MatrixInput::kF64:
      convert(0.0, [](double x) { return x; });
      break;
    case MatrixInput::kTiny:
      break;  // tiny_input
    case MatrixInput::kI8:
      if (shape.per_lane == 8)
        bytes_of(u64{});
      else
        bytes_of(u32{});
  }
}

/// Formats of fewer bits come in as many registers as they fill.
u32 registers_of(const MatrixShape& s, Tiny tiny, u32 word_bits) {
  return s.per_lane * tiny_bits(tiny) / word_bits;
}

struct Place {
  u32 lane;
  u32 element;
};
Place result_place(const MatrixShape& s, u32 b, u32 row, u32 col) {
  if (s.input == MatrixInput::kF64)
    return s.m == 4 ? Place{16 * row + 4 * b + col, 0} : Place{row % 4 * 16 + col, row / 4};
  if (s.m == 4) return {4 * b + col, row};
  const u32 groups = kLanes / s.n;
  const u32 per_block = static_cast<u32>(s.m) * s.n / kLanes;
  return {row / 4 % groups * s.n + col, b * per_block + 4 * (row / (4 * groups)) + row % 4};
}
u32 input_lane(const MatrixShape& s, u32 b, u32 index, u32 k) {
  if (s.input == MatrixInput::kF64 && s.m == 4) return 16 * (k / s.per_lane) + 4 * b + index;
  return (s.blocks > 1 ? b : k / s.per_lane) * s.m + index;
}

template <class A>
A multiply_add(A a, A b, A c) {
  if constexpr (std::is_same_v<A, i32>) {
    return static_cast<i32>(static_cast<u32>(a) * static_cast<u32>(b) + static_cast<u32>(c));
  } else {
    return fused(a, b, c);
  }
}

/// d += a x b. A row of B, and of D, is a run of lanes.
template <class A, u32 kN>
void multiply(const MatrixShape& s, const A (*a)[kLanes], const A (*b)[kLanes], A (*d)[kLanes]) {
  for (u32 block = 0; block < s.blocks; ++block) {
    for (u32 row = 0; row < s.m; ++row) {
      const Place place = result_place(s, block, row, 0);
      A* out = d[place.element] + place.lane;
      A sum[kN];
      for (u32 col = 0; col < kN; ++col)
        sum[col] = out[col];  // NOLINT(clang-analyzer-core.uninitialized.Assign)
      for (u32 k = 0; k < s.k; ++k) {
        const u32 e = k % s.per_lane;
        const A x = a[e][input_lane(s, block, row, k)];
        const A* y = b[e] + input_lane(s, block, 0, k);
        for (u32 col = 0; col < kN; ++col) sum[col] = multiply_add(x, y[col], sum[col]);
      }
      for (u32 col = 0; col < kN; ++col) out[col] = sum[col];
    }
  }
}

/// The list: D, then A, B and C, then (of scaled forms) the scales of A and of B. How many
/// registers A and B take depends on their formats.
void tiny_matrix(Wave& w, const Op& op, const MatrixShape& s, u32 outputs) {
  const u32* list = w.run->program->lists.data() + op.list;
  const auto tiny_a = static_cast<Tiny>(op.imm >> 16 & 15);
  const auto tiny_b = static_cast<Tiny>(op.imm >> 20 & 15);
  const u32 word_bits = s.scaled ? 32 : 64;
  const u32* in_a = list + outputs;
  const u32* in_b = in_a + registers_of(s, tiny_a, word_bits);
  const u32* in_c = in_b + registers_of(s, tiny_b, word_bits);
  alignas(64) float a[32][kLanes];
  alignas(64) float b[32][kLanes];
  alignas(64) float d[16][kLanes];
  alignas(64) float scratch[kLanes];
  alignas(64) u32 scale_a[kLanes];
  alignas(64) u32 scale_b[kLanes];
  const u32* scales_a = s.scaled ? spread(w, in_c[outputs], scale_a) : nullptr;
  const u32* scales_b = s.scaled ? spread(w, in_c[outputs + 1], scale_b) : nullptr;
  tiny_input(w, s, in_a, tiny_a, scales_a, static_cast<u32>(op.imm >> 24 & 3), a);
  tiny_input(w, s, in_b, tiny_b, scales_b, static_cast<u32>(op.imm >> 28 & 3), b);
  for (u32 e = 0; e < outputs; ++e)
    __builtin_memcpy(d[e], spread(w, in_c[e], scratch), sizeof d[e]);
  if (s.n == 32)
    multiply<float, 32>(s, a, b, d);
  else
    multiply<float, 16>(s, a, b, d);
  for (u32 e = 0; e < outputs; ++e) __builtin_memcpy(lanes<float>(w, list[e]), d[e], sizeof d[e]);
}

/// The list holds the registers of D, A, B and C, one after the other.
template <class A>
void matrix(Wave& w, const Op& op) {
  const MatrixShape& s = matrix_shape(static_cast<std::size_t>(op.imm) & 0xffff);
  const u32 outputs = static_cast<u32>(s.m) * s.n * s.blocks / kLanes;
  const u32* list = w.run->program->lists.data() + op.list;
  const u32 inputs = (op.count - 2 * outputs) / 2;
  if (s.input == MatrixInput::kTiny) return tiny_matrix(w, op, s, outputs);
  alignas(64) A a[16][kLanes];
  alignas(64) A b[16][kLanes];
  alignas(64) A d[32][kLanes];
  alignas(64) A scratch[kLanes];
  matrix_input(w, s, list + outputs, a);
  matrix_input(w, s, list + outputs + inputs, b);
  for (u32 e = 0; e < outputs; ++e)
    __builtin_memcpy(d[e], spread(w, list[outputs + 2 * inputs + e], scratch), sizeof d[e]);
  if (s.n == 32)
    multiply<A, 32>(s, a, b, d);
  else if (s.n == 16)
    multiply<A, 16>(s, a, b, d);
  else
    multiply<A, 4>(s, a, b, d);
  for (u32 e = 0; e < outputs; ++e) __builtin_memcpy(lanes<A>(w, list[e]), d[e], sizeof d[e]);
}

}  // namespace

void CONCAT(add_matrix_, ISA_NAME)(Operations& operations) {
  const Table table{operations};
  table.set(Code::kMatrix, Type::kF32, matrix<float>, nullptr);
  table.set(Code::kMatrix, Type::kF64, matrix<double>, nullptr);
  table.set(Code::kMatrix, Type::kI32, matrix<i32>, nullptr);
}

}  // namespace swizzleperf::vgpu
