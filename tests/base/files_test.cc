// write_file must never lose the old contents: each way to fail is provoked, and the old file read.
#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string sentence(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kInput);
    return error.what();
  }
  return "no error";
}

std::size_t entries(const fs::path& directory) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

/// A limit on file sizes, as on a full disk, for one scope.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit old_{};
};

TEST(Files, RoundTripsEveryByte) {
  const ScratchDirectory scratch;
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes.push_back(static_cast<char>(i * 7));
  for (const std::string& text : {std::string(), std::string("a\0b\n", 4), bytes}) {
    write_file(scratch.path() / "f", text);
    EXPECT_EQ(read_file(scratch.path() / "f"), text);
  }
  EXPECT_EQ(entries(scratch.path()), 1U) << "a temporary file was left";
}

TEST(Files, ReplacesByRename) {
  const ScratchDirectory scratch;
  const fs::path file = scratch.path() / "f";
  write_file(file, "old");
  std::ifstream reader(file);  // a reader that opened the old file keeps reading the old file
  write_file(file, "new contents");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old");
  EXPECT_EQ(read_file(file), "new contents");
}

TEST(Files, FullDiskLeavesTheOldFile) {
  const ScratchDirectory scratch;
  const fs::path file = scratch.path() / "f";
  write_file(file, "old");
  {
    const FileSizeLimit limit(1000);
    EXPECT_THAT(sentence([&] { write_file(file, std::string(5000, 'x')); }),
                AllOf(HasSubstr(file.string()), HasSubstr("File too large")));
  }
  EXPECT_EQ(read_file(file), "old");
  EXPECT_EQ(entries(scratch.path()), 1U) << "a temporary file was left";
}

TEST(Files, UnwritableDirectoryIsOneSentence) {
  const ScratchDirectory scratch;
  write_file(scratch.path() / "f", "old");
  EXPECT_THAT(sentence([&] { write_file(scratch.path() / "f" / "below", "x"); }),
              HasSubstr("Not a directory"));
  EXPECT_THAT(sentence([&] { write_file(scratch.path() / "absent" / "f", "x"); }),
              HasSubstr("No such file"));
  EXPECT_THAT(sentence([&] { write_file(scratch.path(), "x"); }), HasSubstr("Is a directory"));
  EXPECT_EQ(read_file(scratch.path() / "f"), "old");
}

TEST(Files, DevicesAreWrittenAndNotReplaced) {
  EXPECT_THAT(sentence([] { write_file("/dev/full", "x"); }), HasSubstr("No space left"));
  write_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Files, LinksStayAndModesStay) {
  const ScratchDirectory scratch;
  write_file(scratch.path() / "real", "old");
  ::chmod((scratch.path() / "real").c_str(), 0640);
  fs::create_symlink("real", scratch.path() / "link");
  write_file(scratch.path() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(scratch.path() / "link"));
  EXPECT_EQ(read_file(scratch.path() / "real"), "new");
  struct stat status{};
  ASSERT_EQ(::stat((scratch.path() / "real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST(Files, ReadErrorsNameTheFile) {
  EXPECT_EQ(sentence([] { read_file("/no/such"); }),
            "cannot read /no/such: No such file or directory");
  EXPECT_EQ(sentence([] { read_file("/tmp"); }), "cannot read /tmp: Is a directory");
}

TEST(Files, DirectoriesAreMadeOrTheReasonIsTold) {
  const ScratchDirectory scratch;
  EXPECT_TRUE(make_directories(scratch.path() / "a" / "b"));
  EXPECT_FALSE(make_directories(scratch.path() / "a" / "b"));
  write_file(scratch.path() / "f", "x");
  EXPECT_THAT(sentence([&] { make_directories(scratch.path() / "f"); }), HasSubstr("directory"));
  EXPECT_THAT(sentence([&] { make_directories(scratch.path() / "f" / "below"); }),
              HasSubstr("cannot be created: Not a directory"));
}

TEST(Files, ADirectoryIsLockedForOneAtATime) {
  const ScratchDirectory scratch;
  {
    const Fd lock = lock_directory(scratch.path());
    EXPECT_THAT(sentence([&] { lock_directory(scratch.path()); }), HasSubstr("another process"));
  }
  EXPECT_TRUE(lock_directory(scratch.path()).valid());
  EXPECT_EQ(entries(scratch.path()), 0U);
  EXPECT_THAT(sentence([&] { lock_directory(scratch.path() / "absent"); }),
              HasSubstr("No such file"));
}

TEST(Files, ScratchDirectoriesDifferAndGo) {
  fs::path first;
  {
    const ScratchDirectory a;
    const ScratchDirectory b;
    EXPECT_NE(a.path(), b.path());
    first = a.path();
    write_file(first / "f", "x");
  }
  EXPECT_FALSE(fs::exists(first));
}

}  // namespace
}  // namespace swizzleperf
