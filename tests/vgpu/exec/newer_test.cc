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

TEST(NewerText, OnlyConstantsChange) {
  const std::string same =
      "%f0xAB = fadd float %a-inf, 1.0 ; float x-infinite\n!0 = !{!\"-O3 -in\"}\n";
  EXPECT_EQ(older_text(same), same);
  EXPECT_EQ(older_text("%x = select i1 %c, <2 x float> splat (float -inf), <2 x half> %half"),
            "%x = select i1 %c, <2 x float> splat (float 0xFFF0000000000000), <2 x half> %half");
}

}  // namespace
}  // namespace swizzleperf::vgpu
