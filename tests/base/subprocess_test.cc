// What must hold of a child process, each provoked with /bin/sh.
#include "base/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/files.h"
#include "base/interrupt.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

ChildSpec command(std::vector<std::string> argv) {
  ChildSpec spec;
  spec.argv = std::move(argv);
  return spec;
}

ChildSpec shell(const std::string& script) { return command({"sh", "-c", script}); }

std::string sentence(const ChildSpec& spec) {
  try {
    run_child(spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kInput);
    return error.what();
  }
  return "no error";
}

/// True once the process is gone or a zombie that nobody reaped yet.
bool dies(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    if (::kill(pid, 0) != 0) return true;
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    if (stat.find(") Z") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Subprocess, ArgumentsArriveAsTheyAre) {
  const std::vector<std::string> hostile = {"",     " ", "a b", "'",         "\"", "$HOME",
                                            "`id`", "*", "\\",  "new\nline", "-n", "ü"};
  ChildSpec spec = shell("for a in \"$@\"; do printf '<%s>' \"$a\"; done");
  spec.argv.emplace_back("sh");
  std::string expected;
  for (const std::string& argument : hostile) {
    spec.argv.push_back(argument);
    expected += "<" + argument + ">";
  }
  EXPECT_EQ(run_child(spec).out, expected);
}

TEST(Subprocess, StatusSignalAndStreamsAreKeptApart) {
  const ChildResult result = run_child(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(result.exit_status, 7);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(run_child(shell("kill -SEGV $$")).signal, SIGSEGV);
  EXPECT_TRUE(run_child(shell("true")).ok());
}

TEST(Subprocess, InputArrivesAndMayBeIgnored) {
  ChildSpec spec = command({"cat"});
  spec.input = std::string(3 << 20, 'x');
  spec.capture_bytes = 4 << 20;
  EXPECT_EQ(run_child(spec).out, spec.input);
  ChildSpec closer = shell("exec 0<&-; sleep 0.05; echo fine");
  closer.input = spec.input;
  EXPECT_EQ(run_child(closer).out, "fine\n");
}

TEST(Subprocess, HugeOutputIsBoundedAndDoesNotBlock) {
  ChildSpec spec =
      shell("head -c 50000000 /dev/zero; head -c 50000000 /dev/zero >&2; echo end >&2");
  spec.capture_bytes = 1000;
  const ChildResult result = run_child(spec);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.out.size(), 1000U);
  EXPECT_EQ(result.err.size(), 1000U);
}

TEST(Subprocess, TimeoutEndsTheWholeGroup) {
  const ScratchDirectory scratch;
  ChildSpec spec = shell("sleep 100 & echo $! > grandchild; wait");
  spec.directory = scratch.path();
  spec.time_limit_s = 0.3;
  const ChildResult result = run_child(spec);
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_TRUE(dies(std::stoi(read_file(scratch.path() / "grandchild"))));
}

TEST(Subprocess, WhoIgnoresTermIsKilled) {
  ChildSpec spec = shell("trap '' TERM; echo started; while :; do sleep 0.1; done");
  spec.time_limit_s = 0.3;
  const ChildResult result = run_child(spec);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(result.out, "started\n");
}

TEST(Subprocess, NothingOutlivesTheLeader) {
  // The grandchild keeps both pipes open: waiting for their end would wait for it.
  const ChildResult result = run_child(shell("sleep 100 & echo $!"));
  EXPECT_TRUE(result.ok());
  EXPECT_LT(result.seconds, 50);
  EXPECT_TRUE(dies(std::stoi(result.out)));
}

TEST(Subprocess, ADaemonThatLeftTheGroupDoesNotHoldUs) {
  const ChildResult result = run_child(shell("setsid sleep 60 & sleep 0.2; echo done"));
  EXPECT_EQ(result.out, "done\n");
  EXPECT_LT(result.seconds, 30);
}

/// Shell text that starts a process which has left its group, its session and its parent, writes
/// its id to `daemon`, and goes on only then.
const std::string kDaemon =
    "(setsid sh -c 'echo $$ > started; mv started daemon; exec sleep 1000' &);"
    "until [ -s daemon ]; do sleep 0.01; done;";

class Daemon : public testing::Test {
 protected:
  [[nodiscard]] ChildSpec with(const std::string& then) const {
    ChildSpec spec = shell(kDaemon + then);
    spec.directory = scratch_.path();
    return spec;
  }
  [[nodiscard]] bool started() const { return fs::exists(scratch_.path() / "daemon"); }
  [[nodiscard]] pid_t id() const { return std::stoi(read_file(scratch_.path() / "daemon")); }
  [[nodiscard]] bool dead() const { return dies(id()); }
  void wait_until_started() const {
    for (int i = 0; i < 3000 && !started(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

 private:
  ScratchDirectory scratch_;
};

TEST_F(Daemon, EndsWithTheChild) {
  EXPECT_TRUE(run_child(with("true")).ok());
  EXPECT_TRUE(dead());
}

TEST_F(Daemon, EndsWithATimeout) {
  ChildSpec spec = with("sleep 1000");
  spec.time_limit_s = 1;
  EXPECT_TRUE(run_child(spec).timed_out);
  ASSERT_TRUE(started());
  EXPECT_TRUE(dead());
}

TEST_F(Daemon, EndsWithACancel) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ChildSpec spec = with("trap '' TERM; while :; do sleep 0.1; done");
  spec.cancel_fd = ends[0];
  std::thread canceller([&] {
    wait_until_started();
    ::close(ends[1]);
  });
  const ChildResult result = run_child(spec);
  canceller.join();
  ::close(ends[0]);
  EXPECT_TRUE(result.cancelled);
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(result.timed_out);
  EXPECT_TRUE(dead());
}

TEST_F(Daemon, EndsWhenWeAreKilled) {
  const pid_t us = ::fork();
  if (us == 0) {
    run_child(with("sleep 1000"));
    ::_exit(0);
  }
  wait_until_started();
  ::kill(us, SIGKILL);
  ::waitpid(us, nullptr, 0);
  EXPECT_TRUE(dead());
}

TEST_F(Daemon, EndsWhenASignalEndsUs) {
  const pid_t us = ::fork();
  if (us == 0) {
    clean_up_on_signals();
    run_child(with("sleep 1000"));
    ::_exit(0);
  }
  wait_until_started();
  const pid_t daemon = id();  // the folder is removed too
  ::kill(us, SIGTERM);
  int status = 0;
  ::waitpid(us, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_TRUE(dies(daemon));
}

TEST(Subprocess, AnotherChildDoesNotKeepOneAliveWhenWeAreKilled) {
  // The supervisor of the second is a copy of us that has the first one's socket.
  const ScratchDirectory scratch;
  const auto child = [&](const std::string& name) {
    ChildSpec spec = shell("echo $$ > t; mv t " + name + "; exec sleep 1000");
    spec.directory = scratch.path() / ("in_" + name);
    fs::create_directory(spec.directory);
    return spec;
  };
  const ChildSpec first = child("first");
  const ChildSpec second = child("second");
  const auto wait_for = [](const fs::path& file) {
    for (int i = 0; i < 3000 && !fs::exists(file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return std::stoi(read_file(file));
  };
  const pid_t us = ::fork();
  if (us == 0) {
    std::thread other([&] { run_child(first); });
    wait_for(first.directory / "first");
    run_child(second);
    ::_exit(0);
  }
  const pid_t last = wait_for(second.directory / "second");
  ::kill(us, SIGKILL);
  ::waitpid(us, nullptr, 0);
  EXPECT_TRUE(dies(std::stoi(read_file(first.directory / "first"))));
  EXPECT_TRUE(dies(last));
}

/// Forks into 2^7 processes, each of a session of its own, which all hold a lock.
int multiply(const void* path) {
  const int lock = ::open(static_cast<const char*>(path), O_RDWR);
  if (lock < 0 || ::flock(lock, LOCK_EX) != 0) return 1;
  for (int i = 0; i < 7; ++i)
    if (::fork() == 0) ::setsid();
  while (true) ::pause();
}

TEST(Subprocess, AForkBombOfManySessionsEndsWithItsTime) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() / "lock";
  write_file(path, "");
  ChildSpec spec = command({"bomb"});
  spec.time_limit_s = 1;
  EXPECT_TRUE(run_child(spec, multiply, path.c_str()).timed_out);
  const int lock = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  ::close(lock);
}

TEST(Subprocess, OrphansAreBuriedWhileTheChildRuns) {
  const ChildResult result = run_child(shell("(sh -c 'echo $$' &); sleep 0.3; ps -e -o pid,stat"));
  const std::string orphan = result.out.substr(0, result.out.find('\n'));
  EXPECT_THAT(result.out, Not(HasSubstr(" " + orphan + " Z")));
}

TEST(Subprocess, NoDescriptorOfOursIsSeen) {
  const int leak = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, on purpose
  ASSERT_GE(leak, 0);
  const ChildResult result = run_child(command({"ls", "/proc/self/fd"}));
  ::close(leak);
  EXPECT_EQ(result.out, "0\n1\n2\n3\n");  // 3 is ls reading that directory
}

TEST(Subprocess, SecretsStayHere) {
  for (const char* name :
       {"X_API_KEY", "X_TOKEN", "x_token_2", "AWS_SECRET_ACCESS", "DB_PASSWORD", "XAPIKEY"})
    ::setenv(name, "hunter2", 1);
  ::setenv("TOKENIZERS_PARALLELISM", "kept", 1);
  ChildSpec spec = command({"env"});
  spec.environment = {{"GIVEN_TOKEN", "on purpose"}};
  const std::string out = run_child(spec).out;
  EXPECT_THAT(out, Not(HasSubstr("hunter2")));
  EXPECT_THAT(out, HasSubstr("TOKENIZERS_PARALLELISM=kept"));
  EXPECT_THAT(out, HasSubstr("GIVEN_TOKEN=on purpose"));
  EXPECT_THAT(out, HasSubstr("PATH="));
}

TEST(Subprocess, MemoryLimitHolds) {
  ChildSpec spec = shell("head -c 400000000 /dev/zero | tail -n 1 | wc -c");  // tail keeps it all
  spec.memory_limit_bytes = 100'000'000;
  EXPECT_THAT(run_child(spec).err, HasSubstr("memory"));
}

struct Hoard {
  std::size_t bytes;
  unsigned seconds;
};

/// Two descendants keep so many bytes each; the child itself keeps nothing and ends after a while.
int keep_memory(const void* data) {
  const auto& hoard = *static_cast<const Hoard*>(data);
  for (int i = 0; i < 2; ++i)
    if (::fork() == 0) {
      void* const memory =
          ::mmap(nullptr, hoard.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::memset(memory, 1, hoard.bytes);
      ::sleep(1000);
    }
  ::sleep(hoard.seconds);
  return 0;
}

TEST(Subprocess, ResidentMemoryOfAllIsLimited) {
  ChildSpec spec = command({"hoard"});
  spec.resident_limit_bytes = 150'000'000;
  spec.time_limit_s = 100;
  const Hoard greedy{100'000'000, 1000};
  const ChildResult result = run_child(spec, keep_memory, &greedy);
  EXPECT_TRUE(result.over_memory);
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(result.timed_out);

  const Hoard modest{20'000'000, 1};
  EXPECT_TRUE(run_child(spec, keep_memory, &modest).ok());
}

TEST(Subprocess, OurOwnMemoryIsNotTheChilds) {
  const std::vector<char> ours(200'000'000, 1);
  ChildSpec spec = shell("sleep 0.5");
  spec.resident_limit_bytes = 100'000'000;
  EXPECT_TRUE(run_child(spec).ok());
  EXPECT_EQ(ours.back(), 1);
}

TEST(Subprocess, FilesAreLimited) {
  const ScratchDirectory scratch;
  ChildSpec spec = command({"cp", "/dev/zero", "endless"});
  spec.directory = scratch.path();
  spec.file_limit_bytes = 1'000'000;
  spec.time_limit_s = 100;
  const ChildResult result = run_child(spec);
  EXPECT_EQ(result.signal, SIGXFSZ);
  EXPECT_EQ(fs::file_size(scratch.path() / "endless"), 1'000'000U);
}

TEST(Subprocess, NoCoreFiles) { EXPECT_EQ(run_child(shell("ulimit -c")).out, "0\n"); }

TEST(Subprocess, HowItEndedIsAClause) {
  ChildSpec spec = shell("exit 3");
  EXPECT_EQ(how_it_ended(spec, run_child(spec)), "failed with exit status 3");
  spec = shell("kill -SEGV $$");
  EXPECT_EQ(how_it_ended(spec, run_child(spec)), "was ended by signal 11 (Segmentation fault)");
  spec = shell("sleep 1000");
  spec.time_limit_s = 0.2;
  EXPECT_EQ(how_it_ended(spec, run_child(spec)), "was stopped after 0.2 s");
  spec = shell("sleep 1000");
  spec.resident_limit_bytes = 1;
  EXPECT_EQ(how_it_ended(spec, run_child(spec)), "used more than 0.0 GB of memory");
  spec = command({"dd", "if=/dev/zero", "of=/dev/shm/swizzleperf-subprocess-test", "bs=2M"});
  spec.file_limit_bytes = 100'000'000;
  EXPECT_EQ(how_it_ended(spec, run_child(spec)), "wrote a file of more than 0.1 GB");
  fs::remove("/dev/shm/swizzleperf-subprocess-test");
}

TEST(Subprocess, WhatCannotStartIsOneSentence) {
  EXPECT_EQ(sentence(command({"no-such-program"})),
            "cannot start no-such-program: not found on PATH");
  EXPECT_EQ(sentence(command({"/etc/passwd"})),
            "cannot start /etc/passwd: no such executable file");
  ChildSpec spec = command({"true"});
  spec.directory = "/no/such";
  EXPECT_EQ(sentence(spec), "cannot start true in directory /no/such: No such file or directory");
}

TEST(Subprocess, FindsPrograms) {
  EXPECT_TRUE(find_program("sh").value_or("").is_absolute());
  EXPECT_EQ(find_program("/bin/sh"), fs::path("/bin/sh"));
  EXPECT_FALSE(find_program("/tmp"));
  EXPECT_FALSE(find_program(""));
  EXPECT_FALSE(find_program("no-such-program"));
}

}  // namespace
}  // namespace swizzleperf
