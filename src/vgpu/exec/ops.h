// The operations of the virtual GPU, by code and element type.
//
// Their code is compiled once for any x86-64 and once for CPUs with AVX2 (ops/lanes.h); the table
// that fits the running CPU is chosen at first use. A code without a handler for a type does not
// exist: translation refuses the instruction.
#pragma once

#include <array>

#include "vgpu/exec/program.h"

namespace swizzleperf::vgpu {

enum class Code : std::uint8_t {
  // d = a op b, integers
  kAdd,
  kSub,
  kMul,
  kAnd,
  kOr,
  kXor,
  kShl,
  kLShr,
  kAShr,
  kUDiv,
  kSDiv,
  kURem,
  kSRem,
  kUMin,
  kUMax,
  kSMin,
  kSMax,
  kUAddSat,
  kUSubSat,
  kSAddSat,
  kSSubSat,
  // d = a op b, floating point
  kFAdd,
  kFSub,
  kFMul,
  kFDiv,
  kFRem,
  kFMin,
  kFMax,
  kFMinimum,
  kFMaximum,
  kPow,
  kAtan2,
  kHypot,
  kRemainder,
  kNextAfter,
  kCopySign,
  kLdexp,  // b is i32
  kPowi,   // b is i32
  // masks from comparisons; imm = 1 inverts
  kEq,
  kULt,
  kSLt,
  kFOeq,
  kFOlt,
  kFOle,
  kFOne,
  kFUno,
  kFClass,  // imm = bits of llvm.is.fpclass
  // d = op a
  kCtPop,
  kCtLz,
  kCtTz,
  kBSwap,
  kBitReverse,
  kAbs,
  kFNeg,
  kFAbs,
  kFloor,
  kCeil,
  kTrunc,
  kRound,
  kRint,
  kSqrt,
  kRcp,
  kRsq,
  kFract,
  kCanonicalize,
  kExp,
  kExp2,
  kExp10,
  kExpM1,
  kLog,
  kLog2,
  kLog10,
  kLog1P,
  kSin,
  kCos,
  kTan,
  kSinPi,
  kCosPi,
  kSinTurns,
  kCosTurns,
  kASin,
  kACos,
  kATan,
  kSinH,
  kCosH,
  kTanH,
  kASinH,
  kACosH,
  kATanH,
  kErf,
  kErfC,
  kErfInv,
  kErfCInv,
  kErfCX,
  kI0,
  kI1,
  kLGamma,
  kTGamma,
  kCbrt,
  kLogB,
  kIntLogB,
  kJ0,
  kJ1,
  kY0,
  kY1,
  kFrexpMantissa,
  kFrexpExponent,
  // d = op(a, b, c)
  kFma,
  kSelect,
  kFshl,
  kFshr,
  kFMed3,
  kSMed3,
  kUMed3,
  kBfeU,
  kBfeS,
  kPerm,
  kSadU8,
  kAlignByte,
  kMul24U,
  kMul24S,
  kMulHi24U,
  kMulHi24S,
  kCvtPkRtz,
  kDot4S,
  kDot4U,
  kSadHiU8,
  kSadU16,
  kMSadU8,
  kLerp,
  kCvtPkU8,  // a = float, b = byte's number, c = old
  kCvtPkNormI16,
  kCvtPkNormU16,
  kCvtPkI16,
  kCvtPkU16,
  kMulLegacy,
  kSignBits,          // v_ffbh_i32
  kFixup,             // v_div_fixup: a = quotient, b = denominator, c = numerator
  kBitOp3,            // imm = truth table
  kFromTiny,          // imm = byte | Tiny << 4
  kToTiny,            // a, b = numbers, c = old; imm = half of the word | Tiny << 4
  kToTinyStochastic,  // a = number, b = random bits, c = old; imm = byte | Tiny << 4
  // d = a + b * imm + imm2; b is i32 (signed, unsigned) or as wide as d
  kAddressS32,
  kAddressU32,
  kAddress,
  // registers to registers; the masked one writes the executing lanes only
  kMove,
  kMoveMasked,
  kPack,    // d = list of narrower registers, lowest first; imm = bits of each
  kUnpack,  // d = bits [imm, ...) of a
  // the launch and the lanes
  kArgument,        // imm = offset in the kernel arguments
  kWorkItemId,      // imm = axis
  kWorkGroupId,     // imm = axis
  kSpecialAddress,  // imm = 0 implicit arguments, 1 dispatch packet, 2 kernel arguments; + imm2
  kClock,
  kWaveId,
  kMbcntLo,
  kMbcntHi,
  kBallot,
  kReadFirstLane,
  kReadLane,
  kWriteLane,
  kBPermute,
  kPermute,
  kSwizzle,
  kDpp,
  kPermlaneSwap,
  kTrap,
  // memory; the type is that of one element
  kLoad,
  kLoadUniform,
  kLoadLds,
  kLoadLdsUniform,
  kLoadPrivate,
  kLoadFlat,
  kStore,
  kStoreLds,
  kStorePrivate,
  kStoreFlat,
  kTouch,
  kTouchUniform,
  kTouchFlat,  // checked and recorded, not performed; imm = AccessKind
  kAtomic,
  kAtomicLds,
  kAtomicPrivate,
  kAtomicFlat,  // imm = AtomicKind; b = value, c = compared
  kCopyMemory,
  kSetMemory,   // a = destination, b = source or byte, bytes = length; imm = spaces
  kIsAperture,  // mask: is a flat pointer in the aperture imm
  kToFlat32,
  kFromFlat32,  // imm = aperture
  // imm = index of the shape | Tiny of A << 16 | Tiny of B << 20 | byte of A's scales << 24 | of
  // B's << 28
  kMatrix,
  // services of the runtime, lane by lane (services.cc)
  kText,      // imm = TextCall; the list holds its operands
  kAllocate,  // d = device malloc(a)
  kRelease,   // device free(a)
  kCount
};

enum class AtomicKind : std::uint8_t {
  kExchange,
  kAdd,
  kSub,
  kAnd,
  kNand,
  kOr,
  kXor,
  kMax,
  kMin,
  kUMax,
  kUMin,
  kFAdd,
  kFSub,
  kFMax,
  kFMin,
  kHalfPairAdd,  // of 32 bits: two additions
  kBFloatPairAdd,
  kIncWrap,
  kDecWrap,
  kCondSub,
  kSubClamp,
  kCompareExchange
};

/// Device-side printf comes as a message that is begun and appended to.
enum class TextCall : std::uint8_t { kBegin, kBeginError, kNumbers, kString };

struct Operations {
  // [code][type][uniform]
  std::array<std::array<std::array<Handler, 2>, kTypes>, static_cast<std::size_t>(Code::kCount)>
      by_code{};
  // conversions: [from][to][signed][uniform]; the sign is that of the integer side
  std::array<std::array<std::array<std::array<Handler, 2>, 2>, kTypes>, kTypes> convert{};

  [[nodiscard]] Handler find(Code code, Type type, bool uniform) const {
    return by_code[static_cast<std::size_t>(code)][static_cast<std::size_t>(type)][uniform];
  }
  [[nodiscard]] Handler conversion(Type from, Type to, bool sign, bool uniform) const {
    return convert[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)][sign][uniform];
  }
};

/// The table for this CPU.
const Operations& operations();

// ---- Matrix instructions -----------------------------------------------------------------------

/// Floating point of eight bits and less, as matrix instructions take it.
enum class Tiny : std::uint8_t {
  kFp8Fnuz,  ///< gfx942: exponent 4, mantissa 3, no infinity, one NaN, no -0
  kBf8Fnuz,
  kFp8,  ///< OCP, gfx950: e4m3, no infinity
  kBf8,  ///< e5m2
  kFp6,  ///< e2m3, all finite
  kBf6,  ///< e3m2
  kFp4   ///< e2m1
};

enum class MatrixInput : std::uint8_t { kF16, kBF16, kF32, kXF32, kF64, kI8, kTiny };

/// D = A x B + C for `blocks` independent M x N x K products of one wave.
struct MatrixShape {
  const char* suffix;  ///< of the intrinsic's name after "llvm.amdgcn.mfma."
  std::uint8_t m, n, k, blocks;
  MatrixInput input;
  std::uint8_t per_lane;  ///< elements of A (and of B) in a lane
  // Of kTiny: is that matrix bf8? Scaled forms choose by operands.
  bool a_is_bf8 = false;
  bool b_is_bf8 = false;
  bool scaled = false;
};

/// Null if there is no such instruction here.
const MatrixShape* find_matrix_shape(const std::string& intrinsic);
const MatrixShape& matrix_shape(std::size_t index);

}  // namespace swizzleperf::vgpu
