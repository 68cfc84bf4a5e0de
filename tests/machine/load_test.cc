// The loader's sentences: what is wrong, where, and what was expected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "swizzleperf/error.h"
#include "swizzleperf/machine.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// A file that says base = "mi300x" and then `text`, which begins on line 2.
class UserFile : public testing::Test {
 protected:
  fs::path write(const std::string& text) {
    const fs::path file = scratch_.path() / "mine.toml";
    write_file(file, "base = \"mi300x\"\n" + text);
    return file;
  }

  std::string sentence(const std::string& text, Exit exit = Exit::kInput) {
    return sentence_of(write(text).string(), exit);
  }

  static std::string sentence_of(const std::string& name, Exit exit) {
    try {
      load_machine(name);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), exit) << error.what();
      return error.what();
    }
    return "no error";
  }

  ScratchDirectory scratch_;
};

std::string fact(const std::string& value) {
  return "{ value = " + value + ", kind = \"measured\", source = \"my bench\" }\n";
}

TEST_F(UserFile, OverridesAndKeepsTheRest) {
  const Machine m =
      load_machine(write("dies = " + fact("2") + "[l2]\nbytes = " + fact("8388608")).string());
  EXPECT_EQ(m.name, "mine");
  EXPECT_EQ(m.title, "AMD Instinct MI300X");
  EXPECT_EQ(m.dies, 2U);
  EXPECT_EQ(m.cus_per_die, 38U);
  EXPECT_EQ(m.l2.bytes, 8388608U);
  EXPECT_EQ(m.l2.ways, 16U);
  int found = 0;
  for (const Provenance& entry : m.provenance)
    if (entry.key == "l2.bytes") {
      ++found;
      EXPECT_EQ(entry.kind, "measured");
      EXPECT_EQ(entry.source, "my bench");
    }
  EXPECT_EQ(found, 1);
}

TEST_F(UserFile, UnknownKeysNameTheNearest) {
  EXPECT_THAT(sentence("diess = " + fact("2")),
              AllOf(HasSubstr("mine.toml:2: unknown key 'diess'"), HasSubstr("'dies'")));
  EXPECT_THAT(sentence("\n[l2]\nbites = " + fact("2")),
              AllOf(HasSubstr(":4: unknown key 'l2.bites'"), HasSubstr("'bytes'")));
  EXPECT_THAT(sentence("dies = { valeu = 2, kind = \"memory\", source = \"x\" }"),
              AllOf(HasSubstr(":2: unknown key 'dies.valeu'"), HasSubstr("'value'")));
}

TEST_F(UserFile, WrongTypes) {
  EXPECT_THAT(sentence("dies = " + fact("2.5")), HasSubstr(":2: 'dies' must be a whole number"));
  EXPECT_THAT(sentence("dies = " + fact("\"two\"")), HasSubstr("must be a whole number"));
  EXPECT_THAT(sentence("clock_ghz = " + fact("true")), HasSubstr("'clock_ghz' must be a number"));
  EXPECT_THAT(sentence("title = 3"), HasSubstr("'title' must be a text"));
  EXPECT_THAT(sentence("l2 = 3"), HasSubstr("'l2' must be a table"));
  EXPECT_THAT(sentence("dispatch = " + fact("\"random\"")),
              HasSubstr("must be one of round-robin-per-die, single-queue"));
  EXPECT_THAT(sentence("[l2]\nindex = " + fact("7")), HasSubstr("must be one of bits, hashed"));
}

TEST_F(UserFile, ImpossibleValues) {
  EXPECT_THAT(sentence("dies = " + fact("0")), HasSubstr("'dies' is 0; it must be more than 0"));
  EXPECT_THAT(sentence("dies = " + fact("-1")), HasSubstr("'dies' is -1"));
  EXPECT_THAT(sentence("dies = " + fact("5000000000")), HasSubstr("at most 64"));
  EXPECT_THAT(sentence("clock_ghz = " + fact("nan")), HasSubstr("'clock_ghz' is nan"));
  EXPECT_THAT(sentence("clock_ghz = " + fact("inf")), HasSubstr("'clock_ghz' is inf"));
  EXPECT_THAT(sentence("jitter = " + fact("-0.1")), HasSubstr("it must be 0 or more"));
  EXPECT_THAT(sentence("[l2]\nline_bytes = " + fact("96")),
              HasSubstr(":3: 'l2.line_bytes' is 96; it must be a power of two"));
  EXPECT_THAT(sentence("[l2]\nbytes = " + fact("4194305")), HasSubstr("no whole number of sets"));
  EXPECT_THAT(sentence("[l2]\nchannels = " + fact("12")),
              HasSubstr("does not divide the 2048 sets"));
  EXPECT_THAT(sentence("[l2]\ninterleave_bytes = " + fact("64")), HasSubstr("less than a line"));
  EXPECT_THAT(sentence("vendor = \"intel\""), HasSubstr("must be 'amd' or 'nvidia'"));
}

/// Nothing that a file says may overflow the model's arithmetic or exhaust memory.
TEST_F(UserFile, EveryNumberHasALargestValue) {
  for (const std::string& prefix :
       {std::string(), std::string("[l1]\n"), std::string("[l2]\n"), std::string("[llc]\n")}) {
    std::vector<std::string> keys;
    for (const Provenance& number : load_machine("mi300x").provenance) {
      const std::string table = prefix.empty() ? "" : prefix.substr(1, prefix.find(']') - 1) + ".";
      const bool here =
          table.empty() ? number.key.find('.') == std::string::npos : number.key.starts_with(table);
      if (here) keys.push_back(number.key.substr(table.size()));
    }
    EXPECT_GE(keys.size(), 8U);
    for (const std::string& key : keys) {
      if (key == "dispatch" || key == "index") continue;
      const std::string line = prefix.empty() ? ":2: " : ":3: ";
      EXPECT_THAT(sentence(prefix + key + " = " + fact("9000000000000000000")),
                  AllOf(HasSubstr(line), HasSubstr(key), HasSubstr("at most ")));
      if (key.ends_with("_ns") || key.ends_with("_clk") || key == "jitter" ||
          key.starts_with("error_") || key == "clock_ghz")
        EXPECT_THAT(sentence(prefix + key + " = " + fact("1e308")), HasSubstr("at most "));
    }
  }
  EXPECT_THAT(sentence("[l2]\nbytes = " + fact("4294967296")), HasSubstr("at most 1073741824"));
  EXPECT_THAT(sentence("[l2]\nways = " + fact("0")), HasSubstr("'l2.ways' is 0"));
  EXPECT_THAT(sentence("[l2]\nways = " + fact("128")), HasSubstr("at most 64"));
  EXPECT_THAT(sentence("[l2]\nline_bytes = " + fact("16")), HasSubstr("less than a sector"));
}

TEST_F(UserFile, ANumberNeedsItsSource) {
  EXPECT_THAT(sentence("dies = 2"),
              AllOf(HasSubstr("a number without its source is not accepted"),
                    HasSubstr("a kind of documented, measured, memory, calibrated")));
  EXPECT_THAT(sentence("dies = { value = 2, kind = \"memory\" }"),
              HasSubstr("'dies' has no source"));
  EXPECT_THAT(sentence("dies = { value = 2, kind = \"guess\", source = \"x\" }"),
              HasSubstr("the kind of 'dies' must be one of documented, measured"));
  EXPECT_THAT(sentence("dies = { kind = \"memory\", source = \"x\" }"), HasSubstr("has no value"));
}

TEST_F(UserFile, BrokenFiles) {
  EXPECT_THAT(sentence("dies = = 3"), HasSubstr("mine.toml:2: not valid TOML"));
  EXPECT_THAT(sentence_of("/no/such.toml", Exit::kInput), HasSubstr("cannot read /no/such.toml"));
  const fs::path alone = scratch_.path() / "alone.toml";
  write_file(alone, "title = \"x\"\n");
  EXPECT_THAT(sentence_of(alone.string(), Exit::kInput), HasSubstr("'vendor' is missing"));
  write_file(alone, "title=\"x\"\nvendor=\"amd\"\narch=\"gfx1\"\ndie_word=\"die\"\n");
  EXPECT_THAT(sentence_of(alone.string(), Exit::kInput), HasSubstr("'wave' is missing"));
}

TEST_F(UserFile, UnknownNamesAndBases) {
  EXPECT_THAT(sentence_of("mi300", Exit::kUsage),
              AllOf(HasSubstr("unknown machine 'mi300'; did you mean 'mi300"), HasSubstr("h200")));
  EXPECT_THAT(sentence_of("mi300x-zpx", Exit::kUsage), HasSubstr("unknown machine 'mi300x-zpx'"));
  const fs::path file = scratch_.path() / "other.toml";
  write_file(file, "base = \"mi999x\"\n");
  EXPECT_THAT(sentence_of(file.string(), Exit::kUsage), HasSubstr("unknown machine 'mi999x'"));
}

TEST_F(UserFile, ADirectoryOfOnesOwn) {
  write_file(scratch_.path() / "loop.toml", "base = \"loop\"\n");
  ::setenv("SWIZZLEPERF_MACHINES", scratch_.path().c_str(), 1);
  const std::string circle = sentence_of("loop", Exit::kInput);
  ::setenv("SWIZZLEPERF_MACHINES", "/no/such/directory", 1);
  const std::string missing = sentence_of("mi300x", Exit::kInput);
  ::unsetenv("SWIZZLEPERF_MACHINES");
  EXPECT_THAT(circle, HasSubstr("circle"));
  EXPECT_THAT(missing, HasSubstr("which SWIZZLEPERF_MACHINES names"));
}

}  // namespace
}  // namespace swizzleperf
