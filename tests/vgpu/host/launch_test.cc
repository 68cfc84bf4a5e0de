// Which launch is recorded, and what its trace says of the program.
#include <gmock/gmock.h>

#include "programs.h"

namespace swizzleperf::vgpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Launch : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = new ScratchDirectory;
    built_ = new BuiltProgram(build_program(program_file("several_kernels.hip"), scratch_->path()));
  }
  static void TearDownTestSuite() {
    delete built_;
    delete scratch_;
  }
  static Trace trace(const std::string& regex, std::int64_t index = -1) {
    ProgramSpec spec = program_file("several_kernels.hip");
    spec.kernel_regex = regex;
    spec.launch_index = index;
    return trace_program(spec, *built_);
  }
  static std::string fault(const std::string& regex, std::int64_t index = -1) {
    return sentence([&] { trace(regex, index); });
  }

  static inline ScratchDirectory* scratch_ = nullptr;
  static inline BuiltProgram* built_ = nullptr;
};

TEST_F(Launch, TheOneWithTheMostTrafficByDefault) {
  EXPECT_THAT(trace("").kernel, HasSubstr("gather_many"));
}

TEST_F(Launch, ByName) {
  const Trace t = trace("make_indices");
  EXPECT_THAT(t.kernel, HasSubstr("make_indices"));
  EXPECT_EQ(t.grid, (Dim3{16, 1, 1}));
  EXPECT_EQ(t.block, (Dim3{256, 1, 1}));
  EXPECT_EQ(t.arch, "gfx942");
  EXPECT_GT(t.vgprs, 0U);
}

/// What the list of kernels shows can be pasted, and a bare name is no regular expression.
TEST_F(Launch, ByItsWholeOrBareName) {
  const std::string whole = trace("make_indices").kernel;
  EXPECT_EQ(trace(whole).kernel, whole);
  EXPECT_THAT(trace("fill").kernel, HasSubstr("fill("));
}

TEST_F(Launch, ByIndex) {
  EXPECT_THAT(trace("", 1).kernel, HasSubstr("fill"));
  EXPECT_THAT(trace("fill", 1).kernel, HasSubstr("fill"));
  EXPECT_THAT(fault("fill", 2), HasSubstr("makes 2 such launches, so there is no launch 2"));
}

/// The recorded launch gathers through indices that an earlier launch made: had that one not been
/// executed, every index would be 0 and all blocks would read the same line.
TEST_F(Launch, EarlierLaunchesAreExecuted) {
  const Trace t = trace("gather_many");
  std::uint64_t loads_from_values = 0;
  for (const Template& one : t.templates) {
    for (const Event& event : one.events) {
      const Buffer& buffer = t.buffers[one.slot_buffer[event.slot]];
      if (buffer.name == "arg 1 'values'" && t.patterns[event.pattern].size() > 1) {
        ++loads_from_values;
      }
    }
  }
  EXPECT_GT(loads_from_values, 0U);
}

TEST_F(Launch, BuffersAreNamedByArguments) {
  const Trace t = trace("gather_many");
  std::vector<std::string> names;
  for (const Buffer& buffer : t.buffers) names.push_back(buffer.name);
  EXPECT_THAT(names, ::testing::ElementsAre("arg 0 'indices'", "arg 1 'values'", "arg 2 'out'"));
  EXPECT_EQ(t.buffers[2].bytes, 4096 * sizeof(float));
}

TEST_F(Launch, AddressesAreTheSameInEveryRun) {
  const Trace first = trace("fill");
  const Trace second = trace("fill");
  EXPECT_EQ(first.anchors, second.anchors);
  EXPECT_EQ(first.buffers[0].base, second.buffers[0].base);
}

TEST_F(Launch, TwoMatchesAreListed) {
  EXPECT_THAT(fault("fill|gather"), AllOf(HasSubstr("matches 2 kernels"), HasSubstr("fill("),
                                          HasSubstr("gather_many("), Not(HasSubstr("make_"))));
}

TEST_F(Launch, NoMatchListsWhatThereIs) {
  EXPECT_THAT(fault("softmax"),
              AllOf(HasSubstr("no kernel of"), HasSubstr("'softmax'"), HasSubstr("make_indices("),
                    HasSubstr("fill("), HasSubstr("gather_many(")));
}

TEST_F(Launch, BadRegexIsAUsageError) {
  EXPECT_THAT(sentence([&] { trace("fill("); }, Exit::kUsage),
              HasSubstr("'fill(' is not a regular expression"));
}

}  // namespace
}  // namespace swizzleperf::vgpu
