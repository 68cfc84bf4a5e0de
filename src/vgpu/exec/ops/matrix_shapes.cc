// The matrix instructions there are.
#include <array>

#include "vgpu/exec/ops.h"

namespace swizzleperf::vgpu {
namespace {

constexpr MatrixShape shape(const char* suffix, int m, int n, int k, int blocks, MatrixInput input,
                            int per_lane) {
  return {suffix,
          static_cast<std::uint8_t>(m),
          static_cast<std::uint8_t>(n),
          static_cast<std::uint8_t>(k),
          static_cast<std::uint8_t>(blocks),
          input,
          static_cast<std::uint8_t>(per_lane)};
}

constexpr MatrixShape tiny_shape(const char* suffix, int m, int k, bool a_is_bf8, bool b_is_bf8) {
  MatrixShape s = shape(suffix, m, m, k, 1, MatrixInput::kTiny, 8);
  s.a_is_bf8 = a_is_bf8;
  s.b_is_bf8 = b_is_bf8;
  return s;
}

constexpr MatrixShape scaled_shape(const char* suffix, int m, int k) {
  MatrixShape s = shape(suffix, m, m, k, 1, MatrixInput::kTiny, 32);
  s.scaled = true;
  return s;
}

using enum MatrixInput;
constexpr std::array kShapes = {
    shape("f32.32x32x1f32", 32, 32, 1, 2, kF32, 1),
    shape("f32.16x16x1f32", 16, 16, 1, 4, kF32, 1),
    shape("f32.4x4x1f32", 4, 4, 1, 16, kF32, 1),
    shape("f32.32x32x2f32", 32, 32, 2, 1, kF32, 1),
    shape("f32.16x16x4f32", 16, 16, 4, 1, kF32, 1),
    shape("f32.32x32x4f16", 32, 32, 4, 2, kF16, 4),
    shape("f32.16x16x4f16", 16, 16, 4, 4, kF16, 4),
    shape("f32.4x4x4f16", 4, 4, 4, 16, kF16, 4),
    shape("f32.32x32x8f16", 32, 32, 8, 1, kF16, 4),
    shape("f32.16x16x16f16", 16, 16, 16, 1, kF16, 4),
    shape("f32.32x32x2bf16", 32, 32, 2, 2, kBF16, 2),
    shape("f32.16x16x2bf16", 16, 16, 2, 4, kBF16, 2),
    shape("f32.4x4x2bf16", 4, 4, 2, 16, kBF16, 2),
    shape("f32.32x32x4bf16", 32, 32, 4, 1, kBF16, 2),
    shape("f32.16x16x8bf16", 16, 16, 8, 1, kBF16, 2),
    shape("f32.32x32x4bf16.1k", 32, 32, 4, 2, kBF16, 4),
    shape("f32.16x16x4bf16.1k", 16, 16, 4, 4, kBF16, 4),
    shape("f32.4x4x4bf16.1k", 4, 4, 4, 16, kBF16, 4),
    shape("f32.32x32x8bf16.1k", 32, 32, 8, 1, kBF16, 4),
    shape("f32.16x16x16bf16.1k", 16, 16, 16, 1, kBF16, 4),
    shape("f32.16x16x8.xf32", 16, 16, 8, 1, kXF32, 2),
    shape("f32.32x32x4.xf32", 32, 32, 4, 1, kXF32, 2),
    shape("f64.16x16x4f64", 16, 16, 4, 1, kF64, 1),
    shape("f64.4x4x4f64", 4, 4, 4, 4, kF64, 1),
    shape("i32.32x32x4i8", 32, 32, 4, 2, kI8, 4),
    shape("i32.16x16x4i8", 16, 16, 4, 4, kI8, 4),
    shape("i32.4x4x4i8", 4, 4, 4, 16, kI8, 4),
    shape("i32.32x32x8i8", 32, 32, 8, 1, kI8, 4),
    shape("i32.16x16x16i8", 16, 16, 16, 1, kI8, 4),
    shape("i32.16x16x32.i8", 16, 16, 32, 1, kI8, 8),
    shape("i32.32x32x16.i8", 32, 32, 16, 1, kI8, 8),
    tiny_shape("f32.16x16x32.bf8.bf8", 16, 32, true, true),
    tiny_shape("f32.16x16x32.bf8.fp8", 16, 32, true, false),
    tiny_shape("f32.16x16x32.fp8.bf8", 16, 32, false, true),
    tiny_shape("f32.16x16x32.fp8.fp8", 16, 32, false, false),
    tiny_shape("f32.32x32x16.bf8.bf8", 32, 16, true, true),
    tiny_shape("f32.32x32x16.bf8.fp8", 32, 16, true, false),
    tiny_shape("f32.32x32x16.fp8.bf8", 32, 16, false, true),
    tiny_shape("f32.32x32x16.fp8.fp8", 32, 16, false, false),
    // gfx950
    scaled_shape("scale.f32.16x16x128.f8f6f4", 16, 128),
    scaled_shape("scale.f32.32x32x64.f8f6f4", 32, 64),
    shape("f32.16x16x32.f16", 16, 16, 32, 1, kF16, 8),
    shape("f32.32x32x16.f16", 32, 32, 16, 1, kF16, 8),
    shape("f32.16x16x32.bf16", 16, 16, 32, 1, kBF16, 8),
    shape("f32.32x32x16.bf16", 32, 32, 16, 1, kBF16, 8),
    shape("i32.16x16x64.i8", 16, 16, 64, 1, kI8, 16),
    shape("i32.32x32x32.i8", 32, 32, 32, 1, kI8, 16),
};

}  // namespace

const MatrixShape* find_matrix_shape(const std::string& intrinsic) {
  constexpr const char* kPrefix = "llvm.amdgcn.mfma.";
  if (!intrinsic.starts_with(kPrefix)) return nullptr;
  // Scaled forms carry the types of A and B behind.
  for (const MatrixShape& s : kShapes)
    if (intrinsic == std::string(kPrefix) + s.suffix ||
        (s.scaled && intrinsic.starts_with(std::string(kPrefix) + s.suffix + '.')))
      return &s;
  return nullptr;
}

const MatrixShape& matrix_shape(std::size_t index) { return kShapes[index]; }

}  // namespace swizzleperf::vgpu
