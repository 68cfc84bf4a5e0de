// A study file says what will be run, or why it cannot be.
#include "study/file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "study/study.h"

namespace swizzleperf::study {
namespace {

using testing::HasSubstr;

struct Folder {
  ScratchDirectory scratch;
  Folder() {
    write_file(path("a.hip"), "int main() {}\n");
    write_file(path("script.py"), "\n");
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return scratch.path() / name;
  }
  [[nodiscard]] StudyFile read(const std::string& text) const {
    write_file(path("s.toml"), text);
    return read_study(path("s.toml"));
  }
  [[nodiscard]] std::string fault(const std::string& text) const {
    try {
      (void)read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

constexpr const char* kGood = R"(machines = ["mi300x", "h200"]
contexts = ["unaware", "aware"]
trials = 3
attempts = 4
objective = "l2"
seed = 7
[[programs]]
program = "a.hip"
sizes = ["1 2", "3 4"]
kernel = "k"
[[proposers]]
ask = ["search"]
[[proposers]]
name = "mine"
ask = ["search", "command"]
command = "python3 script.py 'two words'"
samples = 2
max_calls = 9
)";

TEST(StudyFile, SaysWhatIsRun) {
  const Folder folder;
  const StudyFile s = folder.read(kGood);
  EXPECT_EQ(s.trials, 3U);
  EXPECT_EQ(s.seed, 7U);
  EXPECT_EQ(s.objective, Objective::kL2);
  ASSERT_EQ(s.programs.size(), 1U);
  EXPECT_EQ(s.programs[0].name, "a");
  EXPECT_EQ(s.programs[0].kernel, "k");
  ASSERT_EQ(s.proposers.size(), 2U);
  EXPECT_EQ(s.proposers[0].name, "search");
  EXPECT_FALSE(s.proposers[0].reads_context());
  const ProposerSettings& mine = s.proposers[1].settings;
  EXPECT_EQ(mine.attempts, 4U);
  EXPECT_EQ(mine.samples, 2U);
  EXPECT_EQ(mine.limits.calls, 9U);
  // A file beside the study's is found wherever the study is run.
  EXPECT_EQ(mine.command.argv,
            (std::vector<std::string>{"python3", folder.path("script.py").string(), "two words"}));
}

/// Sizes x machines x (search without contexts + mine with two) x trials, each once.
TEST(StudyFile, PlansEveryConfigurationOnce) {
  const Folder folder;
  const StudyFile s = folder.read(kGood);
  const std::vector<Configuration> all = plan(s);
  EXPECT_EQ(all.size(), 2U * 2 * (1 + 2) * 3);
  std::set<std::string> seen;
  for (const Configuration& c : all) {
    EXPECT_EQ(c.context.has_value(), c.proposer == 1);
    seen.insert(fmt::format("{}|{}|{}|{}|{}", c.size, c.machine, c.proposer,
                            c.context ? context_name(*c.context) : "-", c.trial));
  }
  EXPECT_EQ(seen.size(), all.size());
}

TEST(StudyFile, EachModelIsAskedOnItsOwn) {
  const Folder folder;
  const StudyFile s = folder.read(R"(machines = ["mi300x"]
contexts = ["aware"]
[[programs]]
program = "a.hip"
[[proposers]]
ask = ["llm"]
base = "http://127.0.0.1:1/v1"
models = ["one", "two"]
)");
  const std::vector<Configuration> all = plan(s);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].model, "one");
  EXPECT_EQ(all[1].model, "two");
}

TEST(StudyFile, SaysWhatIsWrongAndWhere) {
  const Folder folder;
  const std::string good = kGood;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return folder.fault(text);
  };
  ASSERT_EQ(folder.fault(good), "");
  EXPECT_THAT(changed("trials", "trails"), HasSubstr("s.toml:3: unknown key 'trails'"));
  EXPECT_THAT(changed("\"a.hip\"", "\"b.hip\""), HasSubstr("s.toml:8: "));
  EXPECT_THAT(changed("\"unaware\"", "\"blind\""), HasSubstr("s.toml:2: 'blind' is no context"));
  EXPECT_THAT(changed("\"l2\"", "\"l3\""), HasSubstr("s.toml:5: 'l3' is no objective"));
  EXPECT_THAT(changed("\"h200\"", "\"h2000\""), HasSubstr("h2000"));
  EXPECT_THAT(changed("[\"search\"]", "[\"manual\"]"), HasSubstr("waits for nobody"));
  EXPECT_THAT(changed("[\"search\"]", "[\"oracle\"]"), HasSubstr("no proposer 'oracle'"));
  EXPECT_THAT(changed("name = \"mine\"", "name = \"search\""), HasSubstr("two proposers"));
  EXPECT_THAT(changed("samples = 2", "edit = \"host\""), HasSubstr("formula or kernel"));
  EXPECT_THAT(changed("trials = 3", "trials = 0"), HasSubstr("whole number from 1"));
  EXPECT_THAT(changed("attempts = 4", "attempts = "), HasSubstr("s.toml:4"));
  EXPECT_THAT(folder.fault("machines = [\"mi300x\"]\ncontexts = [\"aware\"]\n"
                           "[[proposers]]\nask = [\"search\"]\n"),
              HasSubstr("no kernel to study"));
  EXPECT_THROW((void)read_study(folder.path("none.toml")), Error);
}

/// What `swizzleperf study` runs without a file.
/// Else a typing error fills the memory with configurations, or a time limit never comes.
TEST(StudyFile, NumbersHaveTheBoundsOfTheOptions) {
  const Folder folder;
  const std::string good = kGood;
  ASSERT_EQ(folder.fault(good), "");
  const auto refused = [&](const std::string& text, const std::string& key) {
    EXPECT_THAT(folder.fault(text), HasSubstr("'" + key + "' is")) << text;
  };
  std::string many = good;
  refused(many.replace(many.find("trials = 3"), 10, "trials = 1000000000000"), "trials");
  std::string often = good;
  refused(often.replace(often.find("attempts = 4"), 12, "attempts = 10001"), "attempts");
  std::string which = good;
  refused(which.replace(which.find("kernel = "), 12, "launch = 1e300"), "launch");
  for (const char* value : {"nan", "inf", "-1.0", "0"}) {
    for (const std::string key : {"command_time_limit_s", "max_seconds"})
      refused(good + key + " = " + value + "\n", key);
  }
  refused(good + "temperature = nan\n", "temperature");
  refused(good + "max_output_tokens = 4294967297\n", "max_output_tokens");
  EXPECT_THAT(folder.fault("proposers = []\n" + good.substr(0, good.find("[[proposers]]"))),
              HasSubstr("nobody to ask"));
}

TEST(StudyFile, TheSuitesStudyHasEveryKernel) {
  const StudyFile s = read_study(default_study());
  std::set<std::string> names;
  for (const Program& p : s.programs) {
    names.insert(p.name);
    EXPECT_TRUE(std::filesystem::is_regular_file(p.program)) << p.program;
    EXPECT_FALSE(p.sizes.empty());
  }
  const auto suite = nlohmann::json::parse(read_file(default_study().parent_path() / "suite.json"));
  EXPECT_EQ(names.size(), suite.size());
  EXPECT_EQ(s.contexts.size(), 3U);
}

}  // namespace
}  // namespace swizzleperf::study
