// What must hold of a child process, each provoked with /bin/sh.
#include "base/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/files.h"
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
