// Wrong sources: each gives its sentence, with a place where there is one.
#include <gmock/gmock.h>

#include "programs.h"

namespace swizzleperf::vgpu {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kKernel =
    "#include <hip/hip_runtime.h>\n"
    "__global__ void k(int* p) { *p = 1; }\n";

std::string build_sentence(const std::string& text) {
  const TextProgram program(text);
  return sentence([&] { (void)program.build(); });
}

TEST(Build, MissingFile) {
  ProgramSpec spec;
  spec.program = "/nowhere/a.hip";
  const ScratchDirectory scratch;
  EXPECT_EQ(sentence([&] { build_program(spec, scratch.path()); }), "/nowhere/a.hip: no such file");
}

TEST(Build, SyntaxErrorIsLocatedAndAlone) {
  const std::string text =
      build_sentence(std::string(kKernel) + "int main() {\n  k<<<1, 1>>>(0)\n  return oops;\n}\n");
  EXPECT_THAT(text, HasSubstr("program.hip:4:17: expected ';' after expression"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("oops")), Not(HasSubstr("\n"))));
}

TEST(Build, DeviceErrorIsLocated) {
  const std::string text = build_sentence(
      "#include <hip/hip_runtime.h>\n"
      "void host_only();\n"
      "__global__ void k() { host_only(); }\n"
      "int main() { k<<<1, 1>>>(); }\n");
  EXPECT_THAT(text, AllOf(HasSubstr("program.hip:3:23: "), HasSubstr("host_only")));
}

TEST(Build, MissingHeader) {
  EXPECT_THAT(build_sentence("#include \"not_there.h\"\nint main() {}\n"),
              HasSubstr("program.hip:1:10: 'not_there.h' file not found"));
}

TEST(Build, NoMain) { EXPECT_THAT(build_sentence(kKernel), HasSubstr("program.hip has no main")); }

TEST(Build, NoKernel) {
  EXPECT_THAT(build_sentence("#include <hip/hip_runtime.h>\nint main() { return 0; }\n"),
              EndsWith("program.hip defines no kernel (__global__ function)"));
}

TEST(Build, UnsupportedRuntimeFunction) {
  EXPECT_THAT(build_sentence(std::string(kKernel) + "extern \"C\" int hipOfTheFuture();\n"
                                                    "int main() {\n"
                                                    "  (void)hipOfTheFuture();\n"
                                                    "  k<<<1, 1>>>(nullptr);\n"
                                                    "}\n"),
              EndsWith("calls hipOfTheFuture, which the virtual GPU does not support yet"));
}

TEST(Build, UndefinedFunction) {
  EXPECT_THAT(
      build_sentence(std::string(kKernel) + "extern \"C\" void elsewhere();\n"
                                            "int main() { elsewhere(); k<<<1, 1>>>(nullptr); }\n"),
      HasSubstr("uses elsewhere, which is not defined"));
}

TEST(Build, UserOptionsReachCompilerAndLinker) {
  TextProgram program(
      std::string(kKernel) +
      "#include <cmath>\n"
      "int main(int argc, char**) { k<<<VALUE, 1>>>(0); return std::cos(argc) > 2; }\n");
  program.spec().compile_options = {"-DVALUE=1", "-lm"};
  const BuiltProgram built = program.build();
  EXPECT_TRUE(std::filesystem::exists(built.executable));
  EXPECT_EQ(built.units.size(), 1U);
}

/// Only the precompiled header can bring in what this program forgets to include; so it is in use.
TEST(Build, PrecompiledHeaderIsUsed) {
  const TextProgram program("__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n");
  EXPECT_TRUE(std::filesystem::exists(program.build().executable));
}

/// And what does not compile with it compiles without.
TEST(Build, OtherOptionsThanThePrecompiledHeadersWork) {
  TextProgram program(std::string(kKernel) + "int main() { k<<<1, 1>>>(nullptr); }\n");
  program.spec().compile_options = {"-std=c++14", "-fno-exceptions", "-O1"};
  EXPECT_TRUE(std::filesystem::exists(program.build().executable));
}

TEST(Build, ForeignExecutableIsRefused) {
  ProgramSpec spec;
  spec.program = "/bin/true";
  const ScratchDirectory scratch;
  EXPECT_THAT(sentence([&] { build_program(spec, scratch.path()); }),
              HasSubstr("was not built for the virtual GPU"));
}

}  // namespace
}  // namespace swizzleperf::vgpu
