// What is never written, against one flag a byte.
#include <gtest/gtest.h>

#include "base/random.h"
#include "swizzleperf/check.h"

namespace swizzleperf {
namespace {

/// Two arrays with a gap between them; the second is the kernel's argument 'c'.
LaunchFindings launch(std::uint64_t base) {
  LaunchFindings f;
  f.buffers = {{"a", base, 100}, {"arg 1 'c'", base + 4096, 200}};
  f.arguments = {{1, "c", base + 4096, 1}};
  return f;
}

/// Random runs of blocks within [begin, end).
void write_some(LaunchFindings& f, std::uint64_t begin, std::uint64_t end, Random& random) {
  for (std::uint64_t at = begin + random.below(9); at < end;) {
    const std::uint64_t to = std::min(end, at + 1 + random.below(9));
    f.written.push_back({at, to, random.below(6)});
    at = to + random.below(3) * random.below(9);
  }
}

TEST(Missing, HolesAreWhatNoRunCovers) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    LaunchFindings f = launch(1000);
    write_some(f, 5096, 5296, random);
    std::vector<bool> written(200);
    for (const WrittenRun& run : f.written)
      for (std::uint64_t a = run.begin; a < run.end; ++a) written[a - 5096] = true;
    const std::uint64_t from = random.below(200);
    const std::uint64_t to = from + random.below(200 - from) + 1;
    std::uint64_t bytes = 0;
    std::uint64_t runs = 0;
    for (std::uint64_t a = from; a < to; ++a) {
      bytes += written[a] ? 0 : 1;
      runs += !written[a] && (a == from || written[a - 1]) ? 1 : 0;
    }
    const Unwritten u = unwritten(f, 5096 + from, 5096 + to);
    EXPECT_EQ(u.bytes, bytes);
    EXPECT_EQ(u.runs, runs);
    if (f.written.empty()) continue;
    const std::vector<WrittenArray> arrays = written_arrays(f);
    ASSERT_EQ(arrays.size(), 1U);
    EXPECT_EQ(arrays[0].buffer, 1U);
    EXPECT_EQ(arrays[0].bytes,
              static_cast<std::uint64_t>(std::count(written.begin(), written.end(), true)));
    EXPECT_EQ(arrays[0].before + arrays[0].bytes + arrays[0].between.bytes + arrays[0].behind,
              200U);
  }
}

TEST(Missing, AReferenceIsMatchedByArgumentWhereverItLies) {
  LaunchFindings reference = launch(1000);
  for (std::uint64_t b = 0; b < 10; ++b)
    reference.written.push_back({5096 + 20 * b, 5096 + 20 * b + 20, b});
  LaunchFindings f = launch(70000);
  for (const std::uint64_t b : {0, 1, 2, 4, 5, 6, 7, 9})
    f.written.push_back({74096 + 20 * b, 74096 + 20 * b + 20, b});
  f.written.back().end -= 5;                               // block 9 in part
  f.written.insert(f.written.begin(), {70000, 70003, 0});  // the reference never touches 'a'
  const ReferenceVerdict v = compare_to_reference(f, reference);
  EXPECT_EQ(v.blocks, 10U);
  EXPECT_EQ(v.lost_blocks, 2U);
  EXPECT_EQ(v.partly_lost, 1U);
  EXPECT_EQ(v.lost_bytes, 45U);
  EXPECT_EQ(v.extra_bytes, 3U);
  ASSERT_EQ(v.examples.size(), 3U);
  EXPECT_EQ(v.examples[0].block, 3U);
  EXPECT_EQ(v.examples[0].where.offset, 60U);
  EXPECT_EQ(v.examples[2].where.bytes, 5U);
  EXPECT_TRUE(v.unmatched.empty());
}

TEST(Missing, WhatTheReferenceHasAloneIsNamed) {
  LaunchFindings reference = launch(1000);
  reference.buffers[0].name = "device variable 'x'";
  reference.written = {{1000, 1004, 0}};
  const ReferenceVerdict v = compare_to_reference(launch(1000), reference);
  EXPECT_EQ(v.unmatched, std::vector<std::string>{"device variable 'x'"});
}

}  // namespace
}  // namespace swizzleperf
