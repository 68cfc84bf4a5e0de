// A journal survives what kills the process that writes it.
#include "optimize/journal.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

nlohmann::json record(std::size_t rung, const std::string& spec, double time) {
  return {{"rung", rung}, {"spec", spec}, {"time_ms", time}};
}

TEST(Journal, FindsWhatWasAppendedAlsoWhenOpenedAgain) {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "journal.jsonl";
  {
    Journal journal(file);
    journal.append(record(0, "a", 1));
    journal.append(record(1, "a", 2));
    EXPECT_EQ(journal.find(1, "a")->at("time_ms"), 2);
  }
  const Journal again(file);
  EXPECT_EQ(again.size(), 2U);
  EXPECT_EQ(again.find(0, "a")->at("time_ms"), 1);
  EXPECT_FALSE(again.find(0, "b").has_value());
}

TEST(Journal, CutsOffATornLineAtEveryLength) {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "journal.jsonl";
  const std::string whole = record(0, "a", 1).dump() + "\n";
  const std::string torn = record(0, "b", 2).dump();
  for (std::size_t length = 0; length <= torn.size(); ++length) {
    std::ofstream(file, std::ios::trunc) << whole << torn.substr(0, length);
    {
      Journal journal(file);
      EXPECT_EQ(journal.size(), 1U) << length;
      journal.append(record(0, "c", 3));
    }
    EXPECT_EQ(Journal(file).size(), 2U) << length;
  }
}

TEST(Journal, RefusesAFileThatIsNoJournal) {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "journal.jsonl";
  std::ofstream(file) << "my diary\nday two\n";
  EXPECT_THROW(Journal{file}, Error);
  EXPECT_EQ(read_file(file), "my diary\nday two\n");
}

}  // namespace
}  // namespace swizzleperf
