// Building variants: what is built, and what is said when it is not.
#include "measure/build.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/subprocess.h"
#include "measure/bundle_support.h"
#include "measure/sandbox.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Building : public testing::Test {
 protected:
  Building() : bundle_(sample_bundle(scratch_.path() / "b")) {}

  [[nodiscard]] fs::path work() const { return scratch_.path() / "work"; }
  Variant build(const std::string& command, double limit_s = 60) {
    bundle_.project.build = command;
    BuildSettings settings;
    settings.time_limit_s = limit_s;
    return build_variant(bundle_, 0, work(), settings);
  }
  static std::string output(const Variant& variant) {
    ChildSpec child;
    child.argv = {variant.program.string()};
    return run_child(child).out;
  }
  /// Every file of the bundle and what is in it.
  [[nodiscard]] std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> result;
    for (const auto& entry : fs::recursive_directory_iterator(bundle_.directory)) {
      if (entry.is_regular_file()) result[entry.path().string()] = read_file(entry.path());
    }
    return result;
  }

  ScratchDirectory scratch_;
  Bundle bundle_;
};

TEST_F(Building, GivesEachVariantACopyOfItsOwn) {
  const auto before = contents();
  bundle_.project.build = "echo '# built' >> src/kernel.hip && " + bundle_.project.build;
  const std::vector<Variant> variants = build_variants(bundle_, work(), {}, 2);
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_EQ(variants[0].failure, "");
  EXPECT_EQ(variants[1].failure, "");
  EXPECT_EQ(output(variants[0]), "plain\n");
  EXPECT_EQ(output(variants[1]), "swizzled\n");
  EXPECT_FALSE(variants[1].same_program);
  EXPECT_EQ(contents(), before);
}

TEST_F(Building, TellsAProgramThatIsTheOriginals) {
  bundle_.project.build = "echo '#!/bin/true' > program";
  const std::vector<Variant> variants = build_variants(bundle_, work(), {}, 2);
  EXPECT_FALSE(variants[0].same_program);
  EXPECT_TRUE(variants[1].same_program);
}

/// A build system that compares times sees that the candidate's file is newer than what lies there.
TEST_F(Building, MakesWhatDependsOnACandidatesFileAnew) {
  put(bundle_.directory / "project/Makefile",
      "program: src/kernel.hip\n\tcp src/kernel.hip program\n\tchmod +x program\n");
  put(bundle_.directory / "project/program", "#!/bin/sh\necho stale\n");
  const auto later = fs::file_time_type::clock::now() - std::chrono::seconds(1);
  fs::last_write_time(bundle_.directory / "project/program", later);
  bundle_.project.build = "make -s";
  const Variant variant = build_variant(bundle_, 1, work(), {});
  EXPECT_EQ(variant.failure, "");
  EXPECT_EQ(output(variant), "swizzled\n");
}

TEST_F(Building, BeginsAnewWhereSomethingWasBuiltBefore) {
  put(work() / "0/program", "left over");
  EXPECT_THAT(build("true").failure, HasSubstr("the build made no program"));
}

TEST_F(Building, SaysTheFirstError) {
  const Variant v = build(
      "echo compiling; echo 'k.cu(3): warning: odd' >&2; echo 'k.cu(7): error: no x' >&2; "
      "echo 'k.cu(8): error: no y' >&2; exit 2");
  EXPECT_EQ(v.failure, "the build failed with exit status 2: k.cu(7): error: no x");
  EXPECT_EQ(build("echo \"k.o: undefined reference to 'f'\" >&2; echo 'collect2: error: ld' >&2; "
                  "exit 1")
                .failure,
            "the build failed with exit status 1: k.o: undefined reference to 'f'");
  EXPECT_EQ(build("echo broken; exit 1").failure, "the build failed with exit status 1: broken");
}

TEST_F(Building, EndsABuildThatHangsWithAllThatItStarted) {
  const fs::path pid = scratch_.path() / "pid";
  const Variant v = build("sleep 1000 & echo $! > " + pid.string() + "; sleep 1000", 1);
  EXPECT_THAT(v.failure, StartsWith("the build was stopped after 1 s"));
  const int child = std::stoi(read_file(pid));
  for (int i = 0; i < 100 && kill(child, 0) == 0; ++i) usleep(20'000);  // until init reaps it
  EXPECT_NE(kill(child, 0), 0);
}

TEST_F(Building, IsNotDrownedInOutput) {
  const Variant v =
      build("echo 'k.cu(1): error: first' >&2; yes abcdefgh | head -c 100000000 >&2; exit 1");
  EXPECT_THAT(v.failure, EndsWith("k.cu(1): error: first"));
}

TEST_F(Building, ShowsTheBuildNoKeys) {
  setenv("SOME_API_KEY", "secret", 1);
  const Variant v = build("printf '%s' \"key=$SOME_API_KEY\" > program");
  unsetenv("SOME_API_KEY");
  EXPECT_EQ(read_file(v.program), "key=");
}

TEST_F(Building, ConfinesWhatALanguageModelWrote) {
  const auto& active = protections().active;
  if (std::none_of(active.begin(), active.end(),
                   [](const std::string& what) { return what.find("writes only") != what.npos; })) {
    GTEST_SKIP() << "this machine cannot keep a program to one folder";
  }
  const fs::path outside = scratch_.path() / "outside";
  bundle_.candidates[0].from_model_text = true;
  bundle_.project.build = "echo x > " + outside.string() + "; : > program";
  EXPECT_EQ(build_variant(bundle_, 1, work(), {}).failure, "");
  EXPECT_FALSE(fs::exists(outside));
  EXPECT_EQ(build_variant(bundle_, 0, work(), {}).failure, "");
  EXPECT_TRUE(fs::exists(outside));
}

TEST_F(Building, TestsWhatWasBuilt) {
  const Variant good = build("cp src/kernel.hip program && chmod +x program");
  EXPECT_EQ(test_variant(bundle_, good, {}), "");
  bundle_.project.test = "echo 'row 3 is wrong'; exit 1";
  EXPECT_EQ(test_variant(bundle_, good, {}), "the test failed with exit status 1: row 3 is wrong");
  bundle_.project.test = "";
  EXPECT_EQ(test_variant(bundle_, good, {}), "");
}

/// Stands for a vendor's compiler and says how it was called.
TEST_F(Building, CallsTheVendorsCompiler) {
  put(scratch_.path() / "bin/hipcc", "#!/bin/sh\necho \"$@\" > call\n: > program\n");
  fs::copy(scratch_.path() / "bin/hipcc", scratch_.path() / "bin/nvcc");
  for (const char* name : {"hipcc", "nvcc"}) {
    fs::permissions(scratch_.path() / "bin" / name, fs::perms::owner_all);
  }
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.StringChecker): PATH is set
  const std::string path = getenv("PATH");
  setenv("PATH", ((scratch_.path() / "bin").string() + ":" + path).c_str(), 1);
  const auto call = [&](const std::string& architecture) {
    bundle_.project.build = "";
    BuildSettings settings;
    settings.architecture = architecture;
    const Variant v = build_variant(bundle_, 1, work(), settings);
    EXPECT_EQ(v.failure, "");
    return read_file(v.directory / "call");
  };
  EXPECT_EQ(call(""),
            "-O3 -std=c++20 --offload-arch=native -x hip -DN=4 -Iinclude src/kernel.hip -o "
            "program\n");
  bundle_.project.language = Language::kCuda;
  EXPECT_EQ(call("sm_90"),
            "-O3 -std=c++20 -arch=sm_90 -x cu -DN=4 -Iinclude src/kernel.hip -o program\n");
  bundle_.project.compile_options = {"-std=c++17", "-O2", "-gencode=arch=compute_80,code=sm_80"};
  EXPECT_EQ(call(""),
            "-x cu -std=c++17 -O2 -gencode=arch=compute_80,code=sm_80 src/kernel.hip -o program\n");
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace swizzleperf::measure
