// Each wall by itself, since a machine may offer only that one.
#include "base/walls.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/files.h"
#include "base/subprocess.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;

int nothing(const void*) { return 0; }

class Wall : public testing::Test {
 protected:
  Wall() { write_file(outside_, "text"); }

  /// Why it cannot be had, or nothing.
  static std::string refusal(const Walls& walls) {
    ChildSpec spec;
    spec.argv = {"nothing"};
    spec.walls = walls;
    try {
      EXPECT_EQ(run_child(spec, nothing, nullptr).exit_status, 0);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  [[nodiscard]] Walls walls(const fs::path& writable) const {
    return {false, false, false, writable};
  }
  [[nodiscard]] ChildResult run(const Walls& walls, const std::string& script) const {
    ChildSpec spec;
    spec.argv = {"sh", "-c", script, "sh", outside_};
    spec.directory = walls.writable;
    spec.walls = walls;
    return run_child(spec);
  }
  void expect_writing_confined(const Walls& walls) const {
    EXPECT_TRUE(run(walls, "echo x > new && echo y > new && mv new newer && rm newer").ok());
    EXPECT_TRUE(run(walls, "f=/dev/shm/x$$; echo long > $f && echo x > $f && rm $f").ok());
    EXPECT_FALSE(run(walls, "echo x > \"$1\"").ok());
    EXPECT_FALSE(run(walls, "rm -f \"$1\"").ok());
    EXPECT_EQ(read_file(outside_), "text");
  }

  ScratchDirectory scratch_;
  ScratchDirectory folder_;
  fs::path outside_ = scratch_.path() / "outside";
};

#define NEEDS(walls) \
  if (const std::string why = refusal(walls); !why.empty()) GTEST_SKIP() << why

TEST_F(Wall, LandlockConfinesWriting) {
  Walls landlock = walls(folder_.path());
  landlock.landlock = true;
  NEEDS(landlock);
  expect_writing_confined(landlock);
}

TEST_F(Wall, NamespacesConfineWriting) {
  Walls namespaces = walls(folder_.path());
  namespaces.namespaces = true;
  NEEDS(namespaces);
  expect_writing_confined(namespaces);
}

TEST_F(Wall, BothConfineWriting) {
  Walls both = walls(folder_.path());
  both.landlock = both.namespaces = true;
  NEEDS(both);
  expect_writing_confined(both);
}

TEST_F(Wall, TheFolderMayLieWhereAnotherIsMounted) {
  const fs::path folder = "/dev/shm/swizzleperf-walls-" + std::to_string(::getpid());
  std::error_code problem;
  if (!fs::create_directory(folder, problem)) GTEST_SKIP() << problem.message();
  Walls both = walls(folder);
  both.landlock = both.namespaces = true;
  const std::string why = refusal(both);
  if (why.empty()) {
    EXPECT_TRUE(run(both, "echo x > new && echo y > new").ok());
    EXPECT_FALSE(run(both, "echo x > \"$1\"").ok());
  }
  fs::remove_all(folder);
  if (!why.empty()) GTEST_SKIP() << why;
}

TEST_F(Wall, MountsCannotBeUndone) {
  for (const bool landlock : {false, true}) {
    Walls mounts = walls(folder_.path());
    mounts.landlock = landlock;
    mounts.namespaces = true;
    NEEDS(mounts);
    EXPECT_FALSE(run(mounts,
                     "mount -o remount,rw / || umount /proc || "
                     "mount -t tmpfs none /mnt || unshare -m true")
                     .ok())
        << landlock;
  }
}

TEST_F(Wall, InNamespacesProcessesAreItsOwn) {
  Walls namespaces = walls(folder_.path());
  namespaces.namespaces = true;
  NEEDS(namespaces);
  EXPECT_EQ(run(namespaces, "echo $$").out, "2\n");
  EXPECT_EQ(run(namespaces, "cat /proc/self/stat | cut -d' ' -f4").out, "2\n");
  EXPECT_TRUE(run(namespaces, "test ! -e /proc/" + std::to_string(::getpid()) + " || exit 1").ok());
  EXPECT_EQ(run(namespaces, "kill -SEGV $$").signal, SIGSEGV);
}

TEST_F(Wall, TheCurrentDirectoryStaysWritable) {
  const fs::path before = fs::current_path();
  Walls namespaces = walls(folder_.path());
  namespaces.namespaces = true;
  NEEDS(namespaces);
  ChildSpec spec;
  spec.argv = {"sh", "-c", "echo x > here"};
  spec.walls = namespaces;
  fs::current_path(folder_.path());
  const ChildResult result = run_child(spec);
  fs::current_path(before);
  EXPECT_TRUE(result.ok()) << result.err;
  EXPECT_TRUE(fs::exists(folder_.path() / "here"));
}

/// As bits: 1: it can talk to a socket of its own on loopback; 2: to the one at this address;
/// 4: through a pair of Unix sockets.
int talk(const void* data) {
  const auto connects = [](const sockaddr_in& to) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  };
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof own;
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  const bool listens =
      fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0 &&
      ::listen(fd, 1) == 0 && ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0;
  int pair[2];
  return (listens && connects(own) ? 1 : 0) |
         (connects(*static_cast<const sockaddr_in*>(data)) ? 2 : 0) |
         (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && ::write(pair[0], "x", 1) == 1 ? 4
                                                                                            : 0);
}

class Network : public Wall {
 protected:
  Network() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* const plain = reinterpret_cast<sockaddr*>(&address_);
    EXPECT_EQ(::bind(listener_.get(), plain, sizeof address_), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listener_.get(), plain, &size), 0);
  }
  [[nodiscard]] int talks(const Walls& walls) const {
    ChildSpec spec;
    spec.argv = {"talk"};
    spec.walls = walls;
    return run_child(spec, talk, &address_).exit_status;
  }

  Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address_{};
};

TEST_F(Network, IsThereWithoutTheWall) { EXPECT_EQ(talks(Walls{}), 7); }

TEST_F(Network, WithoutNamespacesThereAreOnlyUnixSockets) {
  Walls sockets;
  sockets.no_network = true;
  NEEDS(sockets);
  EXPECT_EQ(talks(sockets), 4);
}

TEST_F(Network, InNamespacesThereIsOnlyItsOwnLoopback) {
  Walls own = walls(folder_.path());
  own.namespaces = own.no_network = true;
  NEEDS(own);
  EXPECT_EQ(talks(own), 5);
  own.no_network = false;
  EXPECT_EQ(talks(own), 7);
}

}  // namespace
}  // namespace swizzleperf
