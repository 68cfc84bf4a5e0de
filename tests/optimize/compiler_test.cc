// No compiler is started on what was replied: a compiler that counts stands first on the PATH.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/subprocess.h"
#include "optimize/run_support.h"
#include "support/hostile.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class CountedCompiler : public testing::Test {
 protected:
  CountedCompiler() {
    fs::create_directory(bin());
    write_script(bin() / "clang++-22", "#!/bin/sh\necho \"$@\" >> " + log().string() + "\nexec " +
                                           find_program("clang++-22").value().string() +
                                           " \"$@\"\n");
    write_script(agent(),
                 "#!/bin/sh\n"
                 "n=$(sed -n 's/.*\"attempt\":\\([0-9]*\\),\"attempts_left\".*/\\1/p')\n"
                 "exec cat " +
                     path().string() + "/reply-$n\n");
  }

  [[nodiscard]] const fs::path& path() const { return scratch_.path(); }
  [[nodiscard]] fs::path bin() const { return path() / "bin"; }
  [[nodiscard]] fs::path log() const { return path() / "compiled"; }
  [[nodiscard]] fs::path agent() const { return path() / "agent"; }

  static void write_script(const fs::path& file, const std::string& text) {
    write_file(file, text);
    fs::permissions(file, fs::perms::owner_all);
  }

  /// Runs optimize on a small kernel; how often the compiler was started.
  std::ptrdiff_t compilations(const std::vector<std::string>& proposer, const fs::path& run,
                              int expected_exit) {
    write_file(log(), "");
    ChildSpec spec;
    spec.argv = {
        executable(), "optimize",  fs::path(SWIZZLEPERF_SOURCE) / "kernels/transpose/transpose.hip",
        "-q",         "--run-dir", run};
    spec.argv.insert(spec.argv.end(), proposer.begin(), proposer.end());
    spec.argv.insert(spec.argv.end(), {"--", "1024", "1024"});
    spec.environment["PATH"] = bin().string() + ":" + std::getenv("PATH");
    spec.time_limit_s = 250;
    const ChildResult child = run_child(spec);
    EXPECT_EQ(child.exit_status, expected_exit) << child.err << child.out;
    const std::string lines = read_file(log());
    return std::count(lines.begin(), lines.end(), '\n');
  }

 private:
  ScratchDirectory scratch_;
};

TEST_F(CountedCompiler, IsNotStartedOnRefusedReplies) {
  const std::ptrdiff_t without =
      compilations({"--proposer", "manual"}, path() / "manual", 0);  // asked, not answered
  EXPECT_GT(without, 0);
  int n = 0;
  for (const std::string& attack : hostile::attacks()) {
    if (attack.find("num_blocks - 1 - pid") != attack.npos ||
        attack.find("pid ^ 1") != attack.npos) {
      continue;  // an attack with an order in it
    }
    write_file(path() / ("reply-" + std::to_string(++n)), attack);
  }
  EXPECT_EQ(
      compilations({"--proposer", "command", "--command", agent(), "--attempts", std::to_string(n)},
                   path() / "hostile", 1),
      without);
  const json result = json::parse(read_file(path() / "hostile/result.json"));
  EXPECT_EQ(result["attempts"].size(), static_cast<std::size_t>(n));
  EXPECT_TRUE(result["best"].is_null());
  write_file(path() / "reply-1", "pid = num_blocks - 1 - pid;");
  EXPECT_GT(compilations({"--proposer", "command", "--command", agent(), "--attempts", "1"},
                         path() / "good", 0),
            without);
}

}  // namespace
}  // namespace swizzleperf
