// One kernel under all its names.
#include <gtest/gtest.h>

#include <regex>

#include "measure/kernel_names.h"

namespace swizzleperf::measure {
namespace {

Target target_of(const std::string& symbol) {
  Target target;
  target.symbol = symbol;
  target.kernel = symbol;
  return target;
}

TEST(KernelNames, AreOneKernelHoweverTheyArePrinted) {
  const Target gemm = target_of("_Z4gemmILb1ELi16ELj4EEvPKfPfi");
  for (const char* name :
       {"_Z4gemmILb1ELi16ELj4EEvPKfPfi", "_Z4gemmILb1ELi16ELj4EEvPKfPfi.kd",
        "void gemm<true, 16, 4u>(float const*, float*, int)",
        "void gemm<true, 16, 4u>(float const*, float*, int) [clone .kd]",
        "void gemm<true, 16, 4u>(float const*, float*, int) (.kd)",
        "void gemm<(bool)1, (int)16, (unsigned int)4>(const float *, float *, int)",
        "gemm<true, 16, 4u>"})
    EXPECT_EQ(match_kernel(name, gemm), NameMatch::kExact) << name;
  EXPECT_EQ(match_kernel("gemm", gemm), NameMatch::kBase);
}

TEST(KernelNames, OtherKernelsAreOthers) {
  const Target gemm = target_of("_Z4gemmILb1EEvPKfPfi");
  for (const char* name : {"_Z4gemmILb0EEvPKfPfi", "void gemm<false>(float const*, float*, int)",
                           "void gemm<(bool)0>(const float *, float *, int)", "sgemm", "gemm2",
                           "void my::gemm<true>(float const*, float*, int)", ""})
    EXPECT_EQ(match_kernel(name, gemm), NameMatch::kNo) << name;
}

TEST(KernelNames, PlainAndScopedNames) {
  EXPECT_EQ(match_kernel("copy", target_of("copy")), NameMatch::kExact);
  EXPECT_EQ(match_kernel("copy.kd", target_of("copy")), NameMatch::kExact);
  const Target scoped = target_of("_ZN2my4copyEPf");
  EXPECT_EQ(match_kernel("my::copy(float*)", scoped), NameMatch::kExact);
  EXPECT_EQ(match_kernel("copy", scoped), NameMatch::kBase);
  EXPECT_EQ(match_kernel("your::copy(float*)", scoped), NameMatch::kNo);
}

TEST(KernelNames, AnonymousNamespacesAreNamedByEachCompilerAnew) {
  const std::string clangs = "_ZN12_GLOBAL__N_14gemmEPf";
  const std::string nvccs = "_ZN34_GLOBAL__N__0a1b2c3d_7_gemm_cu_99f4gemmEPf";
  EXPECT_TRUE(is_in_anonymous_namespace(clangs));
  EXPECT_FALSE(is_in_anonymous_namespace("_Z4gemmPf"));
  for (const char* name : {clangs.c_str(), nvccs.c_str(), "(anonymous namespace)::gemm(float*)",
                           "<unnamed>::gemm(float *)"})
    EXPECT_EQ(match_kernel(name, target_of(clangs)), NameMatch::kExact) << name;
  const std::regex pattern(symbol_pattern(clangs));
  EXPECT_TRUE(std::regex_match(clangs, pattern));
  EXPECT_TRUE(std::regex_match(nvccs, pattern));
  EXPECT_FALSE(std::regex_match("_ZN12_GLOBAL__N_15gemm2EPf", pattern));
  EXPECT_EQ(symbol_pattern("_Z4gemm.a$b"), "^_Z4gemm\\.a\\$b$");
}

}  // namespace
}  // namespace swizzleperf::measure
