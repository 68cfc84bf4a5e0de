// gfx950's transposing reads of LDS (ds_read_b64_tr_b16), which put a matrix whose other axis is
// contiguous in LDS into the order that matrix instructions want.
//
// Sixteen lanes work together. Each gives the address of 8 bytes; what they read, lane after lane,
// is a matrix of 4 rows of 16 values, four lanes a row. Each lane gets a column of it:
//
//     lane        0        1        2        3                     lane   0     1    ...  15
//     row 0   a0..a3   a4..a7   a8..a11  a12..a15                         a0    a1        a15
//     row 1   b0..b3   ...        (lanes 4 to 7)             ->           b0    b1        b15
//     row 2   c0..c3   ...        (lanes 8 to 11)                         c0    c1        c15
//     row 3   d0..d3   ...        (lanes 12 to 15)                        d0    d1        d15
//
// It is one access of LDS; the exchange behind it is made of the operations that are there: value j
// of lane i lies in lane 4 j + i / 4 of the sixteen, at place i mod 4.
#include "vgpu/exec/translate/translator.h"

namespace swizzleperf::vgpu {

void Translator::transposed_read(const llvm::CallInst& i) {
  const auto results = scalars_of(i.getType());
  if (results.size() != 4 || results[0].bytes != 2)
    refuse(i, "a transposing read of elements other than 16 bits");
  llvm::Type* const word = llvm::Type::getInt32Ty(i.getContext());
  const auto words = scalars_of(llvm::FixedVectorType::get(word, 2));
  const llvm::Value* const pointer = i.getArgOperand(0);
  Operands read;
  memory(i, pointer->getType()->getPointerAddressSpace(), operand(pointer), false, words, read);

  const auto number = [&](std::uint64_t value) { return constant(Type::kI32, value); };
  const auto make = [&](Code code, std::uint32_t a, std::uint32_t b) {
    return emit(code, Type::kI32, {a, b});
  };
  const std::uint32_t all = number(0xffffffff);
  const std::uint32_t lane = make(Code::kMbcntHi, all, make(Code::kMbcntLo, all, number(0)));
  const std::uint32_t first = make(Code::kAnd, lane, number(~std::uint64_t{15}));
  const std::uint32_t quarter = make(Code::kLShr, make(Code::kAnd, lane, number(15)), number(2));
  const std::uint32_t shift = make(Code::kShl, make(Code::kAnd, lane, number(1)), number(4));
  // All ones in lanes that take from the second word.
  const std::uint32_t upper = make(Code::kAnd, make(Code::kLShr, lane, number(1)), number(1));
  const std::uint32_t mask = make(Code::kSub, number(0), upper);
  Operands out;
  for (std::uint64_t j = 0; j < 4; ++j) {
    const std::uint32_t source = make(Code::kAdd, make(Code::kAdd, first, quarter), number(4 * j));
    const std::uint32_t place = make(Code::kShl, source, number(2));  // counted in bytes
    const std::uint32_t low = make(Code::kBPermute, place, read[0]);
    const std::uint32_t high = make(Code::kBPermute, place, read[1]);
    const std::uint32_t differ = make(Code::kAnd, make(Code::kXor, low, high), mask);
    const std::uint32_t both = make(Code::kXor, low, differ);
    out.push_back(resized(make(Code::kLShr, both, shift), Type::kI32, Type::kI16));
  }
  result(i, std::move(out));
}

}  // namespace swizzleperf::vgpu
