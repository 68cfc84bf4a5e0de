// What a confined child can and cannot do, each tried by a real child. Walls that this machine does
// not offer are skipped with the reason; limits, descendants and the environment hold everywhere.
#include "measure/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "base/files.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

bool active(const std::string& what) {
  const std::vector<std::string>& all = protections().active;
  return std::find(all.begin(), all.end(), what) != all.end();
}

std::string why_missing(const std::string& what) {
  for (const std::string& line : protections().missing)
    if (line.starts_with(what + ": ")) return line;
  return what + ": neither active nor missing";
}

#define NEEDS(what) \
  if (!active(what)) GTEST_SKIP() << why_missing(what)

/// A folder to write in beside one that is not, and a lock that tells whether its holder lives.
class Sandbox : public testing::Test {
 protected:
  Sandbox() {
    fs::create_directory(inside_);
    write_file(outside_, "read me");
    write_file(inside_ / "lock", "");
  }

  [[nodiscard]] Confinement confinement() const {
    Confinement result;
    result.writable = inside_;
    result.time_limit_s = 60;
    return result;
  }
  [[nodiscard]] ChildResult run(const std::string& script) const {
    return run(script, confinement());
  }
  [[nodiscard]] ChildResult run(const std::string& script, const Confinement& limits) const {
    ChildSpec spec;
    spec.argv = {"sh", "-c", script, "sh", outside_};
    spec.directory = inside_;
    return run_child(confined(spec, limits));
  }
  /// The exit status of a function of ours.
  [[nodiscard]] int call(ChildBody body, const void* data) const {
    ChildSpec spec;
    spec.argv = {"a test"};
    return run_child(confined(spec, confinement()), body, data).exit_status;
  }
  [[nodiscard]] bool nobody_holds_the_lock() const {
    const Fd lock(::open((inside_ / "lock").c_str(), O_RDWR | O_CLOEXEC));
    return lock.valid() && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
  }

  ScratchDirectory scratch_;
  fs::path outside_ = scratch_.path() / "outside";
  fs::path inside_ = scratch_.path() / "inside";
};

TEST_F(Sandbox, WritesInsideReadsEverywhere) {
  const ChildResult result =
      run("echo text > new && mkdir d && mv new d/moved && rm -r d && echo done > kept && "
          "cat \"$1\" && echo x > /dev/null");
  EXPECT_TRUE(result.ok()) << result.err;
  EXPECT_EQ(result.out, "read me");
  EXPECT_EQ(read_file(inside_ / "kept"), "done\n");
}

TEST_F(Sandbox, WritesNothingElsewhere) {
  NEEDS("writes only below its folder");
  for (const char* deed : {"echo x >> \"$1\"", ": > \"$1\"", "rm -f \"$1\"", "mkdir \"$1.d\"",
                           "mv \"$1\" here", "mv lock \"$1\"", "ln -s x \"$1.link\"",
                           "touch /tmp/swizzleperf.$$", "cd ..; echo x > y"}) {
    EXPECT_FALSE(run(deed).ok()) << deed;
    EXPECT_EQ(read_file(outside_), "read me") << deed;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch_.path()), {}), 2);
}

TEST_F(Sandbox, ALinkOutOfTheFolderLeadsNowhere) {
  NEEDS("writes only below its folder");
  EXPECT_FALSE(run("ln -s \"$1\" link && echo x > link").ok());
  EXPECT_EQ(read_file(outside_), "read me");
}

TEST_F(Sandbox, ChangesNoModes) {
  NEEDS("changes no modes of files elsewhere");
  const fs::perms before = fs::status(outside_).permissions();
  EXPECT_FALSE(run("chmod 777 \"$1\"").ok());
  EXPECT_EQ(fs::status(outside_).permissions(), before);
}

TEST_F(Sandbox, SharedMemoryWorksAndALongerFileIsMadeShorter) {
  const ChildResult result =
      run("f=/dev/shm/swizzleperf.$$; echo longer > $f && echo x > $f && cat $f; rm -f $f");
  EXPECT_EQ(result.out, "x\n") << result.err;
}

/// A listening socket and where it is.
struct Listener {
  Fd socket;
  sockaddr_storage address{};
  socklen_t size = 0;
};

Listener listen_at(const sockaddr* wanted, socklen_t size) {
  Listener result{Fd(::socket(wanted->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)), {}, 0};
  result.size = sizeof result.address;
  if (!result.socket.valid() || ::bind(result.socket.get(), wanted, size) != 0 ||
      ::listen(result.socket.get(), 8) != 0 ||
      ::getsockname(result.socket.get(), reinterpret_cast<sockaddr*>(&result.address),
                    &result.size) != 0)
    throw std::runtime_error("cannot listen");
  return result;
}

Listener listen_tcp() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  return listen_at(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

Listener listen_unix(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path.c_str());
  return listen_at(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

/// 0: connected.
int connect_to(const void* data) {
  const auto& to = *static_cast<const Listener*>(data);
  const int fd = ::socket(to.address.ss_family, SOCK_STREAM, 0);
  return fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&to.address), to.size) != 0;
}

TEST_F(Sandbox, ReachesUnixSocketsInItsFolder) {
  const Listener listener = listen_unix(inside_ / "socket");
  EXPECT_EQ(call(connect_to, &listener), 0);
}

TEST_F(Sandbox, ReachesNoNetwork) {
  NEEDS("no network");
  const Listener listener = listen_tcp();
  EXPECT_EQ(connect_to(&listener), 0);  // it can be done
  EXPECT_EQ(call(connect_to, &listener), 1);
}

TEST_F(Sandbox, ReachesTheNetworkWhereItMay) {
  const Listener listener = listen_tcp();
  ChildSpec spec;
  spec.argv = {"a test"};
  Confinement open = confinement();
  open.network = true;
  EXPECT_EQ(run_child(confined(spec, open), connect_to, &listener).exit_status, 0);
}

/// Two daemons hold the lock: one in a new session, one that ignores what can be ignored.
const char* const kDaemons =
    "exec 9<lock; flock 9; (setsid sh -c 'sleep 1000' &); "
    "(setsid sh -c 'trap \"\" TERM INT HUP; sleep 1000; sleep 1000' &); sleep 0.3; ";

// The CUDA driver does, and fails where it cannot.
TEST_F(Sandbox, NamesItsThreadsButChangesNothingOfTheKernel) {
  const ChildResult named = run("echo quick > /proc/self/comm && cat /proc/self/comm");
  EXPECT_EQ(named.exit_status, 0) << named.err;
  EXPECT_EQ(run("echo 1 > /proc/sys/vm/drop_caches").exit_status == 0, false);
  EXPECT_EQ(run("echo h > /proc/sysrq-trigger").exit_status == 0, false);
}

TEST_F(Sandbox, LeavesNothingBehind) {
  EXPECT_TRUE(run(kDaemons).ok());
  EXPECT_TRUE(nobody_holds_the_lock());

  Confinement brief = confinement();
  brief.time_limit_s = 1;
  EXPECT_TRUE(run(std::string(kDaemons) + "sleep 1000", brief).timed_out);
  EXPECT_TRUE(nobody_holds_the_lock());
}

TEST_F(Sandbox, LeavesNothingBehindWhenWeAreKilled) {
  protections();
  const pid_t us = ::fork();
  if (us == 0) {
    (void)run(std::string(kDaemons) + "echo > started; sleep 1000");
    ::_exit(0);
  }
  for (int i = 0; i < 3000 && !fs::exists(inside_ / "started"); ++i) ::usleep(10'000);
  EXPECT_FALSE(nobody_holds_the_lock());
  ::kill(us, SIGKILL);
  ::waitpid(us, nullptr, 0);
  bool gone = false;
  for (int i = 0; i < 1000 && !gone; ++i, ::usleep(10'000)) gone = nobody_holds_the_lock();
  EXPECT_TRUE(gone);
}

TEST_F(Sandbox, SignalsNobodyElse) {
  NEEDS("signals no other process");
  EXPECT_FALSE(run("kill -0 " + std::to_string(::getpid())).ok());
}

TEST_F(Sandbox, EndlessMemoryEnds) {
  Confinement small = confinement();
  small.memory_bytes = 100'000'000;
  const ChildResult result = run("head -c 400000000 /dev/zero | (tail -n 1; sleep 1000)", small);
  EXPECT_TRUE(result.over_memory);
  EXPECT_FALSE(result.timed_out);
}

TEST_F(Sandbox, AnEndlessFileEnds) {
  Confinement small = confinement();
  small.file_bytes = 1'000'000;
  EXPECT_FALSE(run("cat /dev/zero > endless", small).ok());
  EXPECT_EQ(fs::file_size(inside_ / "endless"), 1'000'000U);
}

TEST_F(Sandbox, HomeAndTemporariesAreInTheFolderAndNoKeyIsSeen) {
  ::setenv("SANDBOX_API_KEY", "hunter2", 1);
  const ChildResult result = run("cd && pwd && mktemp && env");
  EXPECT_TRUE(result.ok()) << result.err;
  EXPECT_THAT(result.out, HasSubstr(inside_.string() + "\n" + inside_.string() + "/"));
  EXPECT_THAT(result.out, Not(HasSubstr("hunter2")));
}

TEST_F(Sandbox, StatusAndSignalComeThrough) {
  EXPECT_EQ(run("exit 7").exit_status, 7);
  EXPECT_EQ(run("kill -SEGV $$").signal, SIGSEGV);
  EXPECT_EQ(run("kill -ABRT $$").signal, SIGABRT);
}

TEST_F(Sandbox, AMissingFolderIsOneSentence) {
  Confinement nowhere = confinement();
  nowhere.writable = inside_ / "missing";
  EXPECT_THROW(confined({}, nowhere), Error);
}

TEST_F(Sandbox, WhatIsSaidIsWhatIsSeen) {
  for (const std::string& line : protections().active) std::printf("active: %s\n", line.c_str());
  for (const std::string& line : protections().missing) std::printf("missing: %s\n", line.c_str());
  const Listener listener = listen_tcp();
  EXPECT_EQ(active("writes only below its folder"), !run("touch \"$1.new\"").ok());
  EXPECT_EQ(active("changes no modes of files elsewhere"), !run("chmod 700 \"$1\"").ok());
  EXPECT_EQ(active("no network"), call(connect_to, &listener) != 0);
  EXPECT_EQ(active("signals no other process"), !run("kill -0 " + std::to_string(::getpid())).ok());
  EXPECT_TRUE(active("leaves no process behind"));
  EXPECT_TRUE(active("limits of time, memory and file size"));
  EXPECT_TRUE(active("an environment without keys"));
  EXPECT_EQ(protections().active.size() + protections().missing.size(), 7U);
}

TEST(OrdinaryUser, FindsTheSame) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  if (::geteuid() != 0) GTEST_SKIP() << "we are one";
  ChildSpec spec;
  spec.argv = {"setpriv", "--reuid=65534",           "--regid=65534", "--clear-groups",
               self,      "--gtest_filter=Sandbox.*"};
  spec.directory = "/";
  spec.time_limit_s = 200;
  spec.environment["TEST_TMPDIR"] = "/tmp";
  if (run_child([&] {
        ChildSpec probe = spec;
        probe.argv.back() = "--gtest_list_tests";
        return probe;
      }())
          .exit_status != 0)
    GTEST_SKIP() << "no setpriv, or " << self << " is out of an ordinary user's reach";
  const ChildResult result = run_child(spec);
  EXPECT_TRUE(result.ok()) << result.out << result.err;
  std::puts(result.out.substr(result.out.find("active:")).c_str());
}

}  // namespace
}  // namespace swizzleperf::measure
