// Sessions with a real program: what is held, what commands say, and every way in which a program
// can fail. Compiled twice: the program is HIP's, on the virtual GPU, or CUDA's, on a GPU if there
// is one.
#include <gmock/gmock.h>
#include <signal.h>
#include <xxhash.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "base/files.h"
#include "base/subprocess.h"
#include "measure/sandbox.h"
#include "measure/session.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::size_t kElements = 1000;
constexpr std::uint32_t kX = 0;  // allocations of most modes
constexpr std::uint32_t kY = 1;

constexpr Language kLanguage = Language::LANGUAGE;
constexpr bool kCuda = kLanguage == Language::kCuda;
constexpr std::size_t kVariables = kCuda ? 0 : 1;  // CUDA's are not known

/// The program lies beside this executable.
std::string executable() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / PROGRAM;
}

/// A folder of its own whose name marks the processes of one test.
class Probe : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kCuda && !std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "no NVIDIA GPU here";
  }

  [[nodiscard]] ChildSpec program(const std::string& mode) const {
    ChildSpec spec;
    spec.argv = {executable(), mode, scratch_.path().string()};
    spec.time_limit_s = 60;
    return spec;
  }

  [[nodiscard]] static Target work(std::int64_t index = 0) {
    return {.symbol = "_Z4workPfPKfii", .kernel = "work", .index = index, .grid = {}, .block = {}};
  }

  Session held(const std::string& mode, const Target& target = work(),
               double command_s = 20) const {
    return {program(mode), kLanguage, target, 20, command_s};
  }

  /// The sentence of the refusal that `action` ends in, which leaves no process behind.
  template <class Action>
  std::string refusal(const Action& action) const {
    std::string sentence;
    try {
      action();
      ADD_FAILURE() << "not refused";
    } catch (const Refusal& refused) {
      sentence = refused.what();
    }
    EXPECT_THAT(processes(), IsEmpty());
    return sentence;
  }

  /// Processes of this test.
  [[nodiscard]] std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      pid_t pid = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
      try {
        const std::string command = read_file(entry.path() / "cmdline");
        if (command.find(scratch_.path().string()) != std::string::npos) found.push_back(pid);
      } catch (const Error&) {
        continue;  // it has just ended
      }
    }
    return found;
  }

 private:
  ScratchDirectory scratch_;
};

std::vector<float> numbers(float factor, float summand) {
  std::vector<float> result(kElements);
  for (std::size_t i = 0; i < kElements; ++i)
    result[i] = factor * static_cast<float>(i + 1) + summand;
  return result;
}

std::uint64_t hash_of(const std::vector<float>& values) {
  return XXH3_64bits(values.data(), values.size() * sizeof values[0]);
}

std::vector<float> read(Session& session, std::uint32_t allocation) {
  std::vector<float> result(kElements);
  const std::string bytes = session.read(allocation, 0, kElements * sizeof result[0]);
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

TEST_F(Probe, HoldsTheLaunchAndLetsItGo) {
  const ChildResult alone = run_child(program("right"));
  ASSERT_TRUE(alone.ok()) << alone.err;
  Session session = held("right");
  EXPECT_FALSE(session.held().device.empty());
  EXPECT_EQ(session.held().grid, (Dim3{16, 1, 1}));
  EXPECT_EQ(session.held().block, (Dim3{64, 1, 1}));
  ASSERT_THAT(session.held().allocations, SizeIs(2 + kVariables));
  EXPECT_EQ(session.held().allocations[kX].bytes, kElements * sizeof(float));
  const MemoryHash before = session.before();
  EXPECT_THAT(before[kX], ElementsAre(hash_of(numbers(1, 0))));
  EXPECT_THAT(before[kY], ElementsAre(hash_of(numbers(0, 0.5))));
  const MemoryHash after = session.launch(Start::kAsIs, {});
  EXPECT_THAT(after[kY], ElementsAre(hash_of(numbers(2, 1))));
  EXPECT_EQ(read(session, kY), numbers(2, 1));
  EXPECT_THAT(differing(before, after), ElementsAre(kY));
  EXPECT_EQ(session.before(), before);
  EXPECT_EQ(session.state(Start::kAsIs, {}), before);
  EXPECT_THAT(differing(session.state(Start::kFresh, {kY}), before), ElementsAre(kX));
  const ChildResult end = session.finish();
  EXPECT_TRUE(end.ok()) << end.err;
  EXPECT_EQ(end.out, alone.out);
  EXPECT_EQ(end.err, alone.err);
}

/// A command begins where the program stood, and the program goes on from there, whatever was done
/// in between.
TEST_F(Probe, AccumulatingKernelIsRestored) {
  const ChildResult alone = run_child(program("accumulates"));
  Session session = held("accumulates");
  const MemoryHash first = session.launch(Start::kAsIs, {});
  EXPECT_THAT(first[kY], ElementsAre(hash_of(numbers(1, 0.5))));
  session.launch(Start::kPoisoned, {kY});
  session.launch(Start::kFresh, {kY}, 5);
  session.time(1, 2, false, false, {kY});
  EXPECT_EQ(session.launch(Start::kAsIs, {}), first);
  EXPECT_THAT(session.launch(Start::kAsLeft, {})[kY], ElementsAre(hash_of(numbers(2, 0.5))));
  session.launch(Start::kFresh, {}, 6);
  EXPECT_TRUE(session.alive());
  EXPECT_EQ(session.finish().out, alone.out);
  EXPECT_FALSE(session.alive());
}

TEST_F(Probe, HoldsALaterLaunch) {
  Session session = held("twice", work(1));
  EXPECT_THAT(session.before()[kY], ElementsAre(hash_of(numbers(2, 2))));
  EXPECT_THAT(session.launch(Start::kAsIs, {})[kY], ElementsAre(hash_of(numbers(3, 2))));
}

TEST_F(Probe, FindsAKernelByName) {
  Target target = work();
  target.symbol = "";
  target.kernel = "^work\\(float";
  Session session = held("right", target);
  EXPECT_THAT(session.launch(Start::kAsIs, {})[kY], ElementsAre(hash_of(numbers(2, 1))));
}

TEST_F(Probe, PoisonShowsALostTile) {
  Session right = held("right");
  Session loses = held("loses");
  const MemoryHash expected = right.launch(Start::kPoisoned, {kY}, 1);
  EXPECT_THAT(expected[kY], ElementsAre(hash_of(numbers(2, 1))));
  const MemoryHash found = loses.launch(Start::kPoisoned, {kY}, 1);
  EXPECT_THAT(differing(expected, found), ElementsAre(kY));
  const float poison = read(loses, kY).back();
  EXPECT_TRUE(std::isnormal(poison));
  EXPECT_NE(loses.launch(Start::kPoisoned, {kY}, 2), found);
  EXPECT_NE(read(loses, kY).back(), poison);
}

TEST_F(Probe, FreshInputsShowARightAnswerForOneInput) {
  Session right = held("right");
  Session otherwise = held("otherwise");
  Session first = held("first");
  const MemoryHash as_it_is = right.launch(Start::kAsIs, {});
  EXPECT_EQ(first.launch(Start::kAsIs, {}), as_it_is);
  const MemoryHash fresh = right.launch(Start::kFresh, {kY}, 1);
  EXPECT_EQ(otherwise.launch(Start::kFresh, {kY}, 1), fresh);
  EXPECT_THAT(differing(fresh, first.launch(Start::kFresh, {kY}, 1)), ElementsAre(kY));
  EXPECT_NE(right.launch(Start::kFresh, {kY}, 2), fresh);
}

/// The units are the same ones: nothing is lost, nothing new.
TEST_F(Probe, FreshInputsAreAPermutationOfUnits) {
  Session session = held("right");
  session.launch(Start::kFresh, {kY}, 3);
  const std::vector<float> x = read(session, kX);
  EXPECT_NE(x[0], 1);
  std::vector<float> firsts;
  for (std::size_t unit = 0; unit < kElements; unit += 4) {
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(x[unit + i], x[unit] + static_cast<float>(i));
    firsts.push_back(x[unit]);
  }
  std::sort(firsts.begin(), firsts.end());
  for (std::size_t unit = 0; unit < firsts.size(); ++unit)
    EXPECT_EQ(firsts[unit], static_cast<float>(4 * unit + 1));
}

TEST_F(Probe, DeviceVariablesAreMemoryToo) {
  if (kCuda) GTEST_SKIP() << "they are not known";
  Target target = work();
  target.symbol = "_Z4drawPf";
  Session session = held("draws", target);
  const MemoryHash first = session.launch(Start::kAsIs, {});
  EXPECT_EQ(session.launch(Start::kAsIs, {}), first);
  EXPECT_THAT(differing(session.before(), first), ElementsAre(kY, 2));
}

TEST_F(Probe, ManagedMemory) {
  Session session = held("managed");
  EXPECT_THAT(session.launch(Start::kAsIs, {})[kY], ElementsAre(hash_of(numbers(2, 1))));
  EXPECT_THAT(session.finish().out, StartsWith("1003000.0 4.0"));
}

TEST_F(Probe, FreedMemoryIsForgotten) {
  Session session = held("frees");
  const std::vector<Allocation> allocations = session.held().allocations;
  ASSERT_THAT(allocations, SizeIs(3 + kVariables));
  EXPECT_EQ(allocations[0].bytes, 256);
  EXPECT_EQ(session.launch(Start::kAsIs, {})[2][0], hash_of(numbers(2, 1)));
}

TEST_F(Probe, KernelOfALoadedModule) {
  if (kCuda) GTEST_SKIP() << "the driver's launches are those of the runtime";
  Target target = work();
  target.symbol = "from_module";
  Session session = held("module", target);
  session.launch(Start::kAsIs, {});
  EXPECT_EQ(read(session, kY)[63], 4);
  EXPECT_EQ(read(session, kY)[64], 0.5);
  EXPECT_TRUE(session.finish().ok());
}

TEST_F(Probe, Times) {
  Session session = held("accumulates");
  const std::vector<double> milliseconds = session.time(2, 5, true, false, {kY});
  EXPECT_THAT(milliseconds, SizeIs(5));
  for (const double ms : milliseconds) EXPECT_GT(ms, 0);
  EXPECT_EQ(read(session, kY), numbers(1, 0.5));  // of a launch from the restored state
  EXPECT_THAT(session.time(0, 3, false, false, {kY}), SizeIs(3));
  EXPECT_EQ(read(session, kY), numbers(3, 0.5));
  EXPECT_THAT(session.time(0, 1, false, true, {}), SizeIs(1));
  const Session::Burst burst = session.burst(0.01);
  EXPECT_GE(burst.launches, 1);
  EXPECT_GE(burst.seconds, 0.01);
}

TEST_F(Probe, TwoSessionsAtOnce) {
  Session a = held("right");
  Session b = held("accumulates");
  const MemoryHash before = a.before();
  EXPECT_EQ(b.before(), before);
  const MemoryHash of_a = a.launch(Start::kAsIs, {});
  const MemoryHash of_b = b.launch(Start::kAsIs, {});
  a.time(0, 1, true, false, {kY});
  b.time(0, 1, true, false, {kY});
  EXPECT_EQ(a.launch(Start::kAsIs, {}), of_a);
  EXPECT_EQ(b.launch(Start::kAsIs, {}), of_b);
  EXPECT_TRUE(b.finish().ok());
  EXPECT_EQ(a.before(), before);
  EXPECT_TRUE(a.finish().ok());
}

TEST_F(Probe, TwoThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      Session session = held("right");
      const MemoryHash first = session.launch(Start::kAsIs, {});
      for (int round = 0; round < 20; ++round)
        EXPECT_EQ(session.launch(Start::kPoisoned, {kY}, static_cast<std::uint64_t>(round)), first);
      EXPECT_TRUE(session.finish().ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Probe, AProgramBehindAScript) {
  ChildSpec spec = program("right");
  spec.argv = {"sh", "-c", "\"$0\" nothing; \"$0\" right \"$1\"; echo over", spec.argv[0],
               spec.argv[2]};
  Session session(spec, kLanguage, work(), 20, 20);
  EXPECT_THAT(session.launch(Start::kAsIs, {})[kY], ElementsAre(hash_of(numbers(2, 1))));
  EXPECT_THAT(session.finish().out, EndsWith("\nover\n"));
}

TEST_F(Probe, AProgramInTheSandbox) {
  const ScratchDirectory folder;
  const ChildSpec spec = confined(program("right"), {.writable = folder.path()});
  Session session(spec, kLanguage, work(), 20, 20);
  EXPECT_THAT(session.launch(Start::kAsIs, {})[kY], ElementsAre(hash_of(numbers(2, 1))));
  EXPECT_TRUE(session.finish().ok());
}

TEST_F(Probe, SessionsCanBeMovedAndDropped) {
  {
    Session session = held("right");
    const Session other = std::move(session);
    EXPECT_THAT(other.held().allocations, SizeIs(2 + kVariables));
  }
  EXPECT_THAT(processes(), IsEmpty());
}

// --- Programs that fail -------------------------------------------------------------------------

TEST_F(Probe, CannotBeStarted) {
  ChildSpec spec = program("right");
  spec.argv[0] = "/nowhere/program";
  EXPECT_EQ(refusal([&] { Session(spec, kLanguage, work(), 5, 5); }),
            "it cannot be started: /nowhere/program: no such executable file");
}

TEST_F(Probe, ExitsBeforeTheLaunch) {
  EXPECT_EQ(refusal([&] { held("exits"); }),
            "it ended with exit status 3 before the launch of work: no input file");
}

TEST_F(Probe, AbortsBeforeTheLaunch) {
  EXPECT_EQ(refusal([&] { held("aborts"); }), "it was ended by SIGABRT before the launch of work");
}

TEST_F(Probe, CrashesBeforeTheLaunch) {
  EXPECT_EQ(refusal([&] { held("crashes"); }), "it was ended by SIGSEGV before the launch of work");
}

TEST_F(Probe, NeverLaunchesIt) {
  EXPECT_EQ(refusal([&] { held("never"); }),
            "it launched scale twice and add once, but never work");
}

TEST_F(Probe, HasNoSuchKernel) {
  Target target = work();
  target.symbol = "_Z7anotherPf";
  target.kernel = "another";
  EXPECT_EQ(refusal([&] { held("right", target); }),
            "it launched scale twice, add twice and work once, but never another");
}

TEST_F(Probe, LaunchesNothing) {
  EXPECT_THAT(refusal([&] { held("nothing"); }),
              kCuda ? HasSubstr("without libswizzleperf_probe_cuda.so in it")
                    : HasSubstr("it launched no kernel, never work"));
}

TEST_F(Probe, LaunchesItTooSeldom) {
  EXPECT_EQ(refusal([&] { held("right", work(4)); }),
            "it launched work once, so there is no launch 4 (they count from 0)");
}

TEST_F(Probe, LaunchesItFromAGraph) {
  EXPECT_EQ(refusal([&] { held("graph"); }),
            "it makes work a part of a graph (stream capture), which cannot be held");
}

TEST_F(Probe, HangsBeforeTheLaunch) {
  EXPECT_EQ(refusal([&] { Session(program("hangs"), kLanguage, work(), 3, 1); }),
            "it did not come to the launch of work within 3 s; it launched scale twice and add "
            "once");
}

TEST_F(Probe, HangsInTheLaunch) {
  EXPECT_EQ(refusal([&] { held("spins", work(), 0.3).launch(Start::kAsIs, {}); }),
            "the launch did not end within 0.3 s");
}

TEST_F(Probe, WritesOutside) {
  const std::string sentence = refusal([&] { held("outside").launch(Start::kAsIs, {}); });
  if (kCuda) {
    EXPECT_EQ(sentence, "the launch failed: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS");
  } else {
    EXPECT_THAT(sentence,
                AllOf(StartsWith("it ended with exit status 3 in the launch: swizzleperf: "),
                      HasSubstr("writes 4 bytes at")));
  }
}

TEST_F(Probe, IsKilledFromOutside) {
  EXPECT_EQ(refusal([&] {
              Session session = held("right");
              session.before();
              for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
              session.launch(Start::kAsIs, {});
            }),
            "it was ended by SIGKILL in the launch");
}

TEST_F(Probe, IsNotLoadedIntoAStaticProgram) {
  ChildSpec spec = program("right");
  spec.argv = {"/sbin/ldconfig", "--version"};
  EXPECT_THAT(refusal([&] { Session(spec, kLanguage, work(), 5, 5); }),
              HasSubstr("it ended without libswizzleperf_probe_"));
}

TEST_F(Probe, AnswersWhatMakesNoSense) {
  Session session = held("right");
  EXPECT_EQ(refusal([&] { session.read(kY, 3999, 2); }),
            "reading its memory failed: there are no such bytes to read");
}

TEST(Differing, RefusesOtherAllocations) {
  EXPECT_THROW((void)differing({{1}, {2}}, {{1}}), Refusal);
  EXPECT_THROW((void)differing({{1}, {2}}, {{1}, {2, 3}}), Refusal);
  EXPECT_THAT(differing({{1}, {2, 3}}, {{1}, {2, 4}}), ElementsAre(1));
}

}  // namespace
}  // namespace swizzleperf::measure
