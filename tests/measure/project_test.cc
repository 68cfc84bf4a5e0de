// Copying a project: what comes along, what does not, and what is refused.
#include "measure/project.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "measure/bundle_support.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class ProjectCopy : public testing::Test {
 protected:
  [[nodiscard]] fs::path from() const { return scratch_.path() / "from"; }
  [[nodiscard]] fs::path to() const { return scratch_.path() / "to"; }

  /// Files and links of the copy, relative.
  [[nodiscard]] std::set<std::string> copied() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(to())) {
      if (entry.is_symlink() || !entry.is_directory()) {
        names.insert(entry.path().lexically_relative(to()).string());
      }
    }
    return names;
  }

  ScratchDirectory scratch_;
};

TEST_F(ProjectCopy, LeavesOutWhatIsNoSource) {
  const std::string elf =
      "\x7f"
      "ELF\x02\x01\x01" +
      std::string(9, '\0');
  put(from() / "Makefile", "all:\n");
  put(from() / "src/k.cu", "kernel");
  put(from() / "src/deps/k.d", "k.o: k.cu");
  put(from() / "lib/vendor.so", elf + "\x03" + std::string(40, '\0'));
  put(from() / "src/k.o", elf + "\x01" + std::string(40, '\0'));
  put(from() / "main", elf + "\x03" + std::string(40, '\0') + "libswizzleperf_hip.so");
  put(from() / "lib.a", "!<arch>\nswzlprf2");
  put(from() / ".git/HEAD", "ref");
  put(from() / "sub/.git", "gitdir: elsewhere");
  put(from() / "sub/file", "x");
  put(from() / "swizzleperf-runs/gemm/result.json", "{}");
  put(from() / "old/bundle.json", "{}");
  put(from() / "old/project/file", "x");
  put(from() / "cmake-build/CMakeCache.txt", "x");
  put(from() / "cmake-build/generated.h", "x");
  put(from() / "named/file", "x");
  ASSERT_EQ(mkfifo((from() / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(copy_project(from(), to(), {.left_out = {from() / "named"}}), IsEmpty());
  EXPECT_THAT(copied(),
              ElementsAre("Makefile", "lib/vendor.so", "src/deps/k.d", "src/k.cu", "sub/file"));
}

TEST_F(ProjectCopy, KeepsPermissionsAndTimes) {
  put(from() / "run.sh", "#!/bin/sh\n");
  fs::permissions(from() / "run.sh", fs::perms(0750));
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1000);
  fs::last_write_time(from() / "run.sh", old);
  copy_project(from(), to());
  EXPECT_EQ(fs::status(to() / "run.sh").permissions(), fs::perms(0750));
  EXPECT_EQ(fs::last_write_time(to() / "run.sh"), fs::last_write_time(from() / "run.sh"));
}

TEST_F(ProjectCopy, KeepsLinksInsideAndCopiesWhatOthersLeadTo) {
  put(scratch_.path() / "outside/a.h", "outside");
  put(scratch_.path() / "outside/deep/b.h", "deep");
  fs::create_symlink("deep/b.h", scratch_.path() / "outside/again.h");
  put(from() / "include/k.h", "inside");
  fs::create_directory(from() / "src");
  fs::create_symlink("../include/k.h", from() / "src/relative.h");
  fs::create_symlink(from() / "include/k.h", from() / "src/absolute.h");
  fs::create_symlink(scratch_.path() / "outside", from() / "vendor");
  fs::create_symlink("../../outside/a.h", from() / "src/one.h");
  EXPECT_THAT(copy_project(from(), to()), IsEmpty());
  EXPECT_EQ(fs::read_symlink(to() / "src/relative.h"), "../include/k.h");
  EXPECT_EQ(fs::read_symlink(to() / "src/absolute.h"), "../include/k.h");
  EXPECT_FALSE(fs::is_symlink(to() / "vendor"));
  EXPECT_EQ(read_file(to() / "vendor/deep/b.h"), "deep");
  EXPECT_EQ(fs::read_symlink(to() / "vendor/again.h"), "deep/b.h");
  EXPECT_FALSE(fs::is_symlink(to() / "src/one.h"));
  EXPECT_EQ(read_file(to() / "src/one.h"), "outside");
}

TEST_F(ProjectCopy, IsNotCaughtInLoops) {
  put(from() / "file", "x");
  put(scratch_.path() / "other/file", "y");
  fs::create_symlink("self", from() / "self");
  fs::create_symlink(".", from() / "here");
  fs::create_symlink("..", from() / "above");
  fs::create_symlink("../other", from() / "other");
  fs::create_symlink("../from", scratch_.path() / "other/back");
  fs::create_symlink("/nowhere/at/all", from() / "dangling");
  const std::vector<std::string> notes = copy_project(from(), to());
  EXPECT_THAT(copied(), ElementsAre("file", "here", "other/file", "self"));
  EXPECT_EQ(notes.size(), 3U);
  EXPECT_THAT(notes, Contains(HasSubstr("above leads to a folder that holds it")));
  EXPECT_THAT(notes, Contains(HasSubstr("back leads to a folder that holds it")));
  EXPECT_THAT(notes, Contains(HasSubstr("dangling leads nowhere")));
}

TEST_F(ProjectCopy, NamesWhatIsLargest) {
  put(from() / "k.cu", "kernel");
  put(from() / "data/small", "x");
  put(from() / "data/inner/huge", "x");
  fs::resize_file(from() / "data/inner/huge", std::uintmax_t{2} << 30);  // sparse
  EXPECT_THAT(
      [&] { copy_project(from(), to()); },
      ThrowsMessage<Error>(AllOf(HasSubstr("1024 MiB"), HasSubstr("from/data with 2048 MiB"),
                                 HasSubstr("--project"))));
  EXPECT_FALSE(fs::exists(to()));
}

TEST_F(ProjectCopy, CountsManySmallFilesToo) {
  for (int i = 0; i < 40; ++i) put(from() / "many" / std::to_string(i), "");
  EXPECT_THROW(copy_project(from(), to(), {.left_out = {}, .most_bytes = 100'000}), Error);
  EXPECT_NO_THROW(copy_project(from(), to(), {.left_out = {}, .most_bytes = 1'000'000}));
}

TEST_F(ProjectCopy, NamesAFileThatCannotBeRead) {
  put(from() / "secret", "x");
  fs::permissions(from() / "secret", fs::perms::none);
  fs::permissions(scratch_.path(), fs::perms::all);
  const uid_t me = geteuid();
  constexpr uid_t kNobody = 65534;
  if (me == 0) {
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  EXPECT_THAT([&] { copy_project(from(), to()); },
              ThrowsMessage<Error>(AllOf(HasSubstr("secret"), HasSubstr("Permission denied"))));
  ASSERT_EQ(seteuid(me), 0);
}

TEST_F(ProjectCopy, RefusesAFolderThatIsNotThere) {
  EXPECT_THAT([&] { copy_project(from(), to()); },
              ThrowsMessage<Error>(HasSubstr("no such folder")));
}

TEST_F(ProjectCopy, OfSomeFilesKeepsTheirPlaces) {
  put(from() / "a/src/k.cu", "kernel");
  put(from() / "a/include/k.h", "header");
  put(from() / "a/other", "x");
  const std::vector<fs::path> files = {from() / "a/src/k.cu", from() / "a/include/k.h"};
  EXPECT_EQ(common_folder(files), from() / "a");
  EXPECT_EQ(common_folder({files[0]}), from() / "a/src");
  copy_files(common_folder(files), files, to());
  EXPECT_THAT(copied(), ElementsAre("include/k.h", "src/k.cu"));
}

}  // namespace
}  // namespace swizzleperf::measure
