// Text of later LLVMs is read as what it means.
#include "vgpu/exec/newer.h"

#include <gtest/gtest.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/SourceMgr.h>

#include <cmath>

namespace swizzleperf::vgpu {
namespace {

/// The value that `@x = global TYPE CONSTANT` gets.
llvm::APFloat parsed(const std::string& type, const std::string& constant) {
  static llvm::LLVMContext context;
  const std::string text = older_text("@x = global " + type + " " + constant + "\n");
  llvm::SMDiagnostic diagnostic;
  const auto buffer = llvm::MemoryBuffer::getMemBufferCopy(text);
  const auto module = llvm::parseIR(buffer->getMemBufferRef(), diagnostic, context);
  EXPECT_NE(module, nullptr) << text << diagnostic.getMessage().str();
  if (!module) return llvm::APFloat(0.0);
  return llvm::cast<llvm::ConstantFP>(module->getGlobalVariable("x")->getInitializer())
      ->getValueAPF();
}

std::uint64_t bits(const std::string& type, const std::string& constant) {
  return parsed(type, constant).bitcastToAPInt().getZExtValue();
}

TEST(NewerText, BitsOfEveryType) {
  EXPECT_EQ(bits("float", "f0x3F3504F3"), 0x3F3504F3);
  EXPECT_EQ(bits("float", "f0x00000001"), 1);  // denormal
  EXPECT_EQ(bits("float", "f0x7FA00001"), 0x7FA00001);
  EXPECT_EQ(bits("float", "f0xFF800000"), 0xFF800000);
  EXPECT_EQ(bits("half", "f0x3C00"), 0x3C00);
  EXPECT_EQ(bits("bfloat", "f0x3F80"), 0x3F80);
  EXPECT_EQ(bits("double", "f0x400921FB54442D18"), 0x400921FB54442D18);
}

TEST(NewerText, InfinitiesAndNansByName) {
  EXPECT_EQ(bits("float", "-inf"), 0xFF800000);
  EXPECT_EQ(bits("float", "+inf"), 0x7F800000);
  EXPECT_EQ(bits("half", "-inf"), 0xFC00);
  EXPECT_EQ(bits("bfloat", "+inf"), 0x7F80);
  EXPECT_EQ(bits("double", "-inf"), 0xFFF0000000000000);
  EXPECT_EQ(bits("float", "+qnan"), 0x7FC00000);
  EXPECT_EQ(bits("float", "-nan(0x1)"), 0xFFC00001);
  EXPECT_EQ(bits("float", "+snan(0x1)"), 0x7F800001);
}

/// The shortest decimal that rounds to the value, which need not be it.
TEST(NewerText, DecimalsAreRoundedToTheirType) {
  EXPECT_EQ(bits("float", "1.0"), 0x3F800000);
  EXPECT_EQ(bits("float", "1.000000e-01"), 0x3DCCCCCD);
  EXPECT_EQ(bits("float", "0.044715"), 0x3D372713);
  EXPECT_EQ(bits("float", "-3.0e+38"), 0xFF61B1E6);
  EXPECT_EQ(bits("float", "+1.0e-45"), 1);
  EXPECT_EQ(bits("half", "0.1"), 0x2E66);
  EXPECT_EQ(bits("bfloat", "3.14159"), 0x4049);
  EXPECT_EQ(bits("double", "0.1"), 0x3FB999999999999A);
  EXPECT_EQ(older_text("%x = call float @f(float 0.1, <2 x half> splat (half 0.1), i32 1)"),
            "%x = call float @f(float 0x3FB99999A0000000, <2 x half> splat (half 0xH2E66), i32 1)");
}

TEST(NewerText, OnlyConstantsChange) {
  const std::string same =
      "%f0xAB = fadd float %a-inf, %b.10 ; float x-infinite\n!0 = !{!\"-O3 -in\"}\n"
      "%d = fmul double %a, 1.000000e-01\n%i = add i32 %b, 10\n";
  EXPECT_EQ(older_text(same), same);
  EXPECT_EQ(older_text("%x = select i1 %c, <2 x float> splat (float -inf), <2 x half> %half"),
            "%x = select i1 %c, <2 x float> splat (float 0xFFF0000000000000), <2 x half> %half");
}

}  // namespace
}  // namespace swizzleperf::vgpu
