// From a kernel to a bundle: what is in it, that it builds where it lies and elsewhere, and what is
// refused. nvcc needs no GPU to compile; HIP is compiled for the virtual GPU.
#include "optimize/bundle.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "base/subprocess.h"
#include "measure/build.h"
#include "measure/results.h"
#include "optimize/run_support.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using measure::Bundle;
using measure::Variant;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const fs::path kSource = SWIZZLEPERF_SOURCE;

ChildResult run(std::vector<std::string> arguments, const fs::path& directory = {}) {
  ChildSpec spec;
  spec.argv = {executable()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.directory = directory;
  spec.time_limit_s = 280;
  return run_child(spec);
}

/// Files below a folder, relative, sorted.
std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The project with a candidate's patch applied by patch(1) has the candidate's files.
void expect_patch_says_all(const Bundle& bundle, int number) {
  const ScratchDirectory scratch;
  const fs::path copy = scratch.path() / "copy";
  const fs::path folder = measure::candidate_folder(bundle.directory, number);
  fs::copy(bundle.directory / measure::kProjectFolder, copy, fs::copy_options::recursive);
  ChildSpec patch;
  patch.argv = {"patch", "-p1", "-s", "-i", fs::absolute(folder / measure::kPatchFile).string()};
  patch.directory = copy;
  ASSERT_TRUE(run_child(patch).ok());
  const fs::path source = bundle.project.source;
  EXPECT_THAT(files_in(folder),
              testing::UnorderedElementsAre(source.string(), measure::kPatchFile));
  EXPECT_EQ(read_file(copy / source), read_file(folder / source));
  EXPECT_NE(read_file(bundle.directory / measure::kProjectFolder / source),
            read_file(folder / source));
}

/// Our compilers in the place of a vendor's, for as long as this lives.
class OurCompilers {
 public:
  OurCompilers() : path_(std::getenv("PATH")) {
    const fs::path ours = executable().parent_path();
    fs::create_symlink(ours / "swizzleperf-hipcc", scratch_.path() / "hipcc");
    fs::create_symlink(ours / "swizzleperf-nvcc", scratch_.path() / "nvcc");
    setenv("PATH", (scratch_.path().string() + ":" + path_).c_str(), 1);
  }
  ~OurCompilers() { setenv("PATH", path_.c_str(), 1); }

 private:
  ScratchDirectory scratch_;
  std::string path_;
};

std::vector<std::string> failures(const std::vector<Variant>& variants) {
  std::vector<std::string> result;
  for (const Variant& v : variants) {
    if (!v.failure.empty()) result.push_back(v.failure);
    EXPECT_FALSE(v.same_program) << v.number;
  }
  return result;
}

class OfGemm : public testing::Test {
 protected:
  Bundle bundle_for(const std::string& machine) {
    const fs::path place = scratch_.path() / machine;
    const ChildResult r =
        run({"optimize", kSource / "kernels/gemm/gemm.hip", "-q", "-m", machine, "--top", "3",
             "--bundle", place, "--run-dir", place.string() + "-run", "--", "512", "512", "128"});
    EXPECT_TRUE(r.ok()) << r.err;
    EXPECT_THAT(r.out, HasSubstr("the 3 best orders"));
    // Moved: nothing in it may say where it was made.
    const fs::path elsewhere = scratch_.path() / "elsewhere";
    fs::rename(place, elsewhere);
    return measure::read_bundle(elsewhere);
  }

  void expect_whole(const Bundle& bundle) {
    EXPECT_THAT(files_in(bundle.directory / measure::kProjectFolder),
                ElementsAre("common/gpu.h", "common/matrix_data.h", "common/matrix_tile.h",
                            "common/program.h", "gemm/gemm.hip"));
    ASSERT_EQ(bundle.candidates.size(), 3U);
    std::set<std::string> hashes;
    for (const measure::Candidate& c : bundle.candidates) {
      expect_patch_says_all(bundle, c.number);
      EXPECT_EQ(c.predicted.at("exact"), true);
      EXPECT_FALSE(c.from_model_text);
      hashes.insert(c.permutation);
    }
    EXPECT_EQ(hashes.size(), 3U);
    EXPECT_EQ(bundle.project.arguments, (std::vector<std::string>{"512", "512", "128"}));
    EXPECT_THAT(bundle.target.kernel, HasSubstr("gemm"));
    EXPECT_EQ(bundle.target.grid, (Dim3{4, 4, 1}));
    EXPECT_EQ(bundle.target.index, 0);
    EXPECT_EQ(bundle.project.program, "gemm.out");
    EXPECT_GT(bundle.predicted.at("time_ms"), 0.0);
  }

  ScratchDirectory scratch_;
};

TEST_F(OfGemm, BuildsWithNvcc) {
  const Bundle bundle = bundle_for("h200");
  expect_whole(bundle);
  EXPECT_EQ(bundle.project.language, measure::Language::kCuda);
  EXPECT_EQ(bundle.target.block, (Dim3{512, 1, 1}));  // HIP's has 256
  if (!find_program("nvcc")) GTEST_SKIP() << "nvcc is not installed";
  measure::BuildSettings settings;
  settings.architecture = "sm_90";
  EXPECT_THAT(failures(build_variants(bundle, scratch_.path() / "work", settings, 2)), IsEmpty());
}

TEST_F(OfGemm, BuildsWithHipccAndComputesTheSame) {
  const Bundle bundle = bundle_for("mi300x");
  expect_whole(bundle);
  EXPECT_EQ(bundle.project.language, measure::Language::kHip);
  const OurCompilers ours;
  measure::BuildSettings settings;
  settings.architecture = "gfx942";
  const std::vector<Variant> variants =
      build_variants(bundle, scratch_.path() / "work", settings, 2);
  EXPECT_THAT(failures(variants), IsEmpty());
  ChildSpec program;
  program.argv = {variants[1].program.string(), "256", "256", "64", "--check"};
  EXPECT_TRUE(run_child(program).ok());
}

// --- Projects -----------------------------------------------------------------------------------

/// A kernel in a folder of its own that two units share, built by make; and what surrounds such a
/// thing.
class OfProject : public testing::Test {
 protected:
  OfProject() {
    fs::copy(kSource / "tests/vgpu/toolchain/projects/slabs", project(),
             fs::copy_options::recursive);
    make_directories(project() / ".git");
    write_file(project() / ".git/HEAD", "ref: refs/heads/main\n");
  }
  [[nodiscard]] fs::path project() const { return scratch_.path() / "project"; }
  [[nodiscard]] fs::path place() const { return scratch_.path() / "bundle"; }

  ScratchDirectory scratch_;
};

TEST_F(OfProject, TakesTheFolderThatIsBuiltInAndNothingThatWasBuilt) {
  const ChildResult r =
      run({"optimize", "-q", "-m", "h200", "--build", "make", "--test", "./slabs | grep PASS",
           "--top", "2", "--bundle", "out/bundle", "./slabs"},
          project());
  ASSERT_TRUE(r.ok()) << r.err;
  ASSERT_TRUE(fs::exists(project() / "slabs.o"));
  fs::rename(project() / "out/bundle", place());
  const Bundle bundle = measure::read_bundle(place());
  EXPECT_THAT(files_in(place() / measure::kProjectFolder),
              ElementsAre("Makefile", "src/main.cpp", "src/slabs.cu", "src/slabs.h"));
  EXPECT_EQ(bundle.project.source, "src/slabs.cu");
  EXPECT_EQ(bundle.project.program, "slabs");
  EXPECT_EQ(bundle.project.build, "make");
  for (const measure::Candidate& c : bundle.candidates) expect_patch_says_all(bundle, c.number);
  const OurCompilers ours;
  const std::vector<Variant> variants = build_variants(bundle, scratch_.path() / "work", {}, 2);
  EXPECT_EQ(variants.size(), 3U);
  EXPECT_THAT(failures(variants), IsEmpty());
  for (const Variant& v : variants) EXPECT_EQ(test_variant(bundle, v, {}), "") << v.number;
}

TEST_F(OfProject, SaysWhatIsNotPossible) {
  const auto complaint = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"optimize", "-q", "--run-dir", scratch_.path() / "run"});
    const ChildResult r = run(std::move(arguments), project());
    EXPECT_EQ(r.exit_status, 2) << r.out << r.err;
    EXPECT_FALSE(fs::exists(scratch_.path() / "run"));
    return r.err;
  };
  const std::string slabs = "src/slabs.cu";
  EXPECT_THAT(complaint({write_launch(scratch_.path()), "--bundle", "b"}),
              HasSubstr("a trace has no program"));
  EXPECT_THAT(complaint({kSource / "kernels/softmax/softmax.toml", "--bundle", "b"}),
              HasSubstr("a Triton kernel cannot be measured this way; apply best.patch"));
  EXPECT_THAT(complaint({slabs, "--bundle", "src"}), HasSubstr("something is there already"));
  EXPECT_THAT(complaint({slabs, "--bundle", "b", "--project", "nowhere"}),
              HasSubstr("no such folder"));
  EXPECT_THAT(complaint({slabs, "--top", "3"}), HasSubstr("--bundle"));
  EXPECT_THAT(complaint({slabs, "--build", "true", "--bundle", "b", "--project", "src"}),
              HasSubstr("stand in"));
}

// --- Given orders -------------------------------------------------------------------------------

class OfGivenOrders : public testing::Test {
 protected:
  OfGivenOrders() {
    make_directories(project() / "include");
    make_directories(project() / "src/unused");
    write_file(project() / "include/scale.h", "#pragma once\n#define SCALE 2\n");
    write_file(project() / "src/unused/other.h", "");
    write_file(project() / "src/k.hip", kKernel);
    request_.program.program = project() / "src/k.hip";
    request_.program.compile_options = {"-I" + (project() / "include").string(), "-DBLOCKS=24"};
    request_.program.language = vgpu::Language::kHip;
    request_.language = measure::Language::kHip;
    request_.directory = scratch_.path() / "bundle";
    request_.quiet = true;
  }
  [[nodiscard]] fs::path project() const { return scratch_.path() / "project"; }

  BundleOutcome make(const std::vector<std::string>& swizzles) {
    return make_bundle(load_machine("mi300x"), swizzles, request_);
  }

  static constexpr const char* kKernel = R"(#include <hip/hip_runtime.h>
#include "scale.h"
__global__ void scale(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= SCALE;
}
int main() {
  float* x;
  (void)hipMalloc(&x, BLOCKS * 64 * sizeof(float));
  (void)hipMemset(x, 0x3f, BLOCKS * 64 * sizeof(float));
  scale<<<BLOCKS, 64>>>(x);
  return hipDeviceSynchronize() != hipSuccess;
}
)";

  ScratchDirectory scratch_;
  BundleRequest request_;
};

TEST_F(OfGivenOrders, MakesThemCandidatesInTheirOrder) {
  const BundleOutcome o =
      make({"die-contiguous", "identity", "die-contiguous", "pid = num_blocks - 1 - pid;"});
  EXPECT_EQ(o.notes.size(), 2U);
  const Bundle bundle = measure::read_bundle(request_.directory);
  ASSERT_EQ(bundle.candidates.size(), 2U);
  EXPECT_EQ(bundle.candidates[0].spec, "die-contiguous");
  EXPECT_THAT(bundle.candidates[1].formula, HasSubstr("num_blocks - 1 - pid"));
  for (const measure::Candidate& c : bundle.candidates) expect_patch_says_all(bundle, c.number);
  EXPECT_THAT(files_in(request_.directory / measure::kProjectFolder),
              ElementsAre("include/scale.h", "src/k.hip"));
  EXPECT_THAT(bundle.project.compile_options, ElementsAre("-Iinclude", "-DBLOCKS=24"));
  fs::remove_all(project());
  const OurCompilers ours;
  measure::BuildSettings settings;
  settings.architecture = "gfx942";
  EXPECT_EQ(build_variant(bundle, 1, scratch_.path() / "work", settings).failure, "");
}

TEST_F(OfGivenOrders, WarnsOfWhatIsNotInTheProject) {
  make_directories(scratch_.path() / "elsewhere");
  request_.project = project();
  request_.program.compile_options.push_back("-I");
  request_.program.compile_options.push_back(scratch_.path() / "elsewhere");
  const BundleOutcome o = make({"die-contiguous"});
  EXPECT_THAT(o.notes, ElementsAre(HasSubstr("elsewhere lies outside of the project")));
  EXPECT_EQ(o.bundle.project.compile_options.back(), fs::canonical(scratch_.path() / "elsewhere"));
  EXPECT_TRUE(fs::exists(request_.directory / measure::kProjectFolder / "src/unused/other.h"));
}

TEST_F(OfGivenOrders, LeavesNothingWhenNoneCanBeMade) {
  EXPECT_THAT([&] { make({"identity"}); },
              testing::ThrowsMessage<Error>(HasSubstr("no order to measure")));
  EXPECT_THAT([&] { make({"pid = 0;"}); },
              testing::ThrowsMessage<Error>(HasSubstr("is not a bijection")));
  EXPECT_THAT(files_in(scratch_.path()), ElementsAre("project/include/scale.h", "project/src/k.hip",
                                                     "project/src/unused/other.h"));
}

/// Results of a bundle come back into the run that it is of, and into no other.
TEST_F(OfGivenOrders, BringsResultsBack) {
  const auto optimize = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"optimize", "-q", request_.program.program,
                                          "-X=-I" + (project() / "include").string(),
                                          "-X=-DBLOCKS=24"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return swizzleperf::run(arguments);
  };
  const std::string run_directory = scratch_.path() / "run";
  ASSERT_TRUE(
      optimize({"--top", "2", "--bundle", request_.directory, "--run-dir", run_directory}).ok());
  Bundle bundle = measure::read_bundle(request_.directory);
  const auto take = [&] {
    return optimize({"--resume", run_directory, "--measured", request_.directory});
  };
  EXPECT_THAT(take().err, HasSubstr("result.json"));  // nothing measured yet
  measure::Results results;
  results.original.status = measure::Status::kMeasured;
  results.original.milliseconds = Estimate{2, 1.9, 2.1};
  results.candidates.resize(2);
  for (int i : {0, 1}) results.candidates[static_cast<std::size_t>(i)].number = i + 1;
  results.verdict = "keep the order as it is";
  write_results(results, bundle);
  const ChildResult taken = take();
  EXPECT_TRUE(taken.ok()) << taken.err;
  const auto result = nlohmann::json::parse(read_file(run_directory + "/result.json"));
  EXPECT_EQ(result["measured"]["original"]["time_ms"]["median"], 2);
  EXPECT_EQ(result["taken"]["swizzle"], "identity");
  EXPECT_FALSE(fs::exists(run_directory + "/best.patch"));

  // The second is what the GPU ran fastest: its patch applies where the first's would have.
  results.best = 2;
  write_results(results, bundle);
  EXPECT_TRUE(take().ok());
  const auto again = nlohmann::json::parse(read_file(run_directory + "/result.json"));
  EXPECT_EQ(again["taken"]["swizzle"], bundle.candidates[1].spec);
  EXPECT_EQ(read_file(run_directory + "/best.swz"), bundle.candidates[1].formula);
  const fs::path source = request_.program.program;
  const fs::path copy = scratch_.path() / "copy";
  fs::create_directories(copy);
  fs::copy_file(source, copy / source.filename());
  ChildSpec apply;
  apply.argv = {"patch", "-p1", "--batch", "-i", run_directory + "/best.patch"};
  apply.directory = copy;
  const ChildResult applied = run_child(apply);
  EXPECT_TRUE(applied.ok()) << applied.out << applied.err;
  EXPECT_EQ(
      read_file(copy / source.filename()),
      read_file(measure::candidate_folder(bundle.directory, 2) / bundle.candidates[1].files[0]));

  bundle.candidates[1].permutation = "00000000000000aa";
  write_bundle(bundle);
  EXPECT_THAT(take().err, HasSubstr("the run has no order such as its candidate 2"));
  bundle.target.grid.x = 7;
  write_bundle(bundle);
  EXPECT_THAT(take().err, HasSubstr("launched otherwise"));
}

/// Killed while the bundle is being written, its place is empty; what lies beside it does not
/// matter to the next.
TEST_F(OfGivenOrders, IsWholeOrNotThere) {
  const auto command = [&](const char* name) {
    return std::vector<std::string>{executable(),
                                    "optimize",
                                    "-q",
                                    request_.program.program,
                                    "-X=-I" + (project() / "include").string(),
                                    "-X=-DBLOCKS=24",
                                    "--top",
                                    "2",
                                    "--bundle",
                                    request_.directory,
                                    "--run-dir",
                                    scratch_.path() / name};
  };
  const auto being_written = [&] {
    return std::any_of(fs::directory_iterator(scratch_.path()), fs::directory_iterator(),
                       [](const fs::directory_entry& entry) {
                         return entry.path().filename().string().starts_with("bundle.tmp-");
                       });
  };
  start_and_kill_when(command("first"), being_written);
  EXPECT_TRUE(being_written());
  EXPECT_FALSE(fs::exists(request_.directory));
  ChildSpec again;
  again.argv = command("second");
  ASSERT_TRUE(run_child(again).ok());
  EXPECT_EQ(measure::read_bundle(request_.directory).candidates.size(), 2U);
}

}  // namespace
}  // namespace swizzleperf
