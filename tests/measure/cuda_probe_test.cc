// The CUDA back end against a stand-in of the driver and of CUPTI, whose memory is the host's:
// which calls are seen, what is asked of the driver, and that the program notices nothing. What the
// real ones do is not tested here.
#include <gmock/gmock.h>

#include <cstring>

#include "measure/session.h"

namespace swizzleperf::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Target target() {
  Target work;
  work.symbol = "_Z4workPfPKfS_";
  work.kernel = "work";
  return work;
}

Session held(const std::string& mode) {
  ChildSpec spec;
  spec.argv = {FAKE_CUDA "/program", mode};
  spec.environment["LD_LIBRARY_PATH"] = FAKE_CUDA;
  spec.time_limit_s = 60;
  return {spec, Language::kCuda, target(), 20, 20};
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Refusal& refused) {
    return refused.what();
  }
  return "";
}

class CudaProbe : public ::testing::TestWithParam<const char*> {};

TEST_P(CudaProbe, HoldsEveryFormOfLaunch) {
  Session session = held(GetParam());
  EXPECT_EQ(session.held().device, "Fake GPU");
  EXPECT_EQ(session.held().grid, (Dim3{4, 1, 1}));
  EXPECT_EQ(session.held().block, (Dim3{64, 1, 1}));
  EXPECT_EQ(session.held().dynamic_lds_bytes, 32);
  // Pitched, managed, x, y, and what only an argument points to.
  ASSERT_EQ(session.held().allocations,
            (std::vector<Allocation>{{1536}, {16}, {1024}, {1024}, {64}}));
  const MemoryHash before = session.before();
  const MemoryHash after = session.launch(Start::kAsIs, {});
  EXPECT_THAT(differing(before, after), ElementsAre(3, 4));
  EXPECT_EQ(session.launch(Start::kAsIs, {}), after);
  const std::string bytes = session.read(3, 255 * 4, 4);
  float last = 0;
  std::memcpy(&last, bytes.data(), sizeof last);
  EXPECT_EQ(last, 511);
  EXPECT_NE(session.launch(Start::kFresh, {3, 4}), after);
  EXPECT_THAT(session.time(1, 3, true, true, {3}), ElementsAre(0.25, 0.25, 0.25));
  EXPECT_EQ(session.finish().out, "511.0 1.0\n");
}

INSTANTIATE_TEST_SUITE_P(Forms, CudaProbe, ::testing::Values("plain", "cooperative", "extended"));

TEST(CudaProbe, NamesTheDriversError) {
  EXPECT_EQ(refusal([] { held("faults").launch(Start::kAsIs, {}); }),
            "the launch failed: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST(CudaProbe, DoesNotHoldWhatIsCaptured) {
  EXPECT_THAT(refusal([] { held("captured"); }), HasSubstr("work a part of a graph"));
}

TEST(CudaProbe, IsNotLoadedWithoutACallOfCuda) {
  EXPECT_THAT(refusal([] {
                ChildSpec spec;
                spec.argv = {"/bin/true"};
                Session(spec, Language::kCuda, target(), 5, 5);
              }),
              HasSubstr("it ended without libswizzleperf_probe_cuda.so in it"));
}

}  // namespace
}  // namespace swizzleperf::measure
