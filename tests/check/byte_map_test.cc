// The map against one tag a byte.
#include "check/byte_map.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace swizzleperf {
namespace {

constexpr std::uint64_t kBase = 0x2000'0000'0000 + 65536 - 300;  // a page ends in the middle
constexpr std::uint64_t kBytes = 700;

using Tags = std::vector<std::uint32_t>;

template <class Walk>
Tags tags_of(Walk walk) {
  Tags tags(kBytes);
  std::uint64_t next = kBase;
  walk([&](std::uint64_t begin, std::uint64_t end, std::uint32_t tag) {
    EXPECT_LT(begin, end);
    EXPECT_LE(next, begin);
    next = end;
    for (std::uint64_t b = begin; b < end; ++b) tags.at(b - kBase) = tag;
  });
  return tags;
}

TEST(ByteMap, EveryByteKeepsItsOwnTag) {
  Random random(1);
  ByteMap map;
  Tags expected(kBytes);
  for (int step = 1; step < 3000; ++step) {
    const std::uint64_t begin = random.below(kBytes);
    // Whole lines and odd pieces alike.
    const std::uint64_t size = std::min(kBytes - begin, 1 + random.below(step % 3 == 0 ? 300 : 9));
    const auto tag = static_cast<std::uint32_t>(random.below(5));
    const Tags before = expected;
    Tags seen = expected;
    if (step % 2 == 0) {
      map.replace(kBase + begin, kBase + begin + size, tag,
                  [&](std::uint64_t from, std::uint64_t to, std::uint32_t old) {
                    for (std::uint64_t b = from; b < to; ++b) seen.at(b - kBase) = old;
                  });
      ASSERT_EQ(seen, before);
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(begin), size, tag);
    } else {
      map.fill(kBase + begin, kBase + begin + size, [&] { return tag; });
      for (std::uint64_t b = begin; b < begin + size; ++b)
        if (expected[b] == ByteMap::kNone) expected[b] = tag;
    }
    ASSERT_EQ(tags_of([&](auto visit) { map.visit(kBase, kBase + kBytes, visit); }), expected);
    ASSERT_EQ(tags_of([&](auto visit) { map.for_all(visit); }), expected);
  }
}

TEST(ByteMap, WholeLinesCostLittle) {
  ByteMap map;
  constexpr std::uint64_t kMega = 1 << 20;
  map.replace(0, kMega, 1, [](auto, auto, auto) {});
  EXPECT_LE(map.memory_bytes(), kMega / 16);
  // Lines that were shared and are whole again are used anew.
  for (std::uint32_t tag = 2; tag < 50; ++tag) {
    for (std::uint64_t at = 0; at < 6400; at += 32) {
      map.replace(at, at + 32, tag + at / 32 % 2, [](auto, auto, auto) {});
    }
    map.replace(0, 6400, tag, [](auto, auto, auto) {});
  }
  EXPECT_LE(map.memory_bytes(), kMega / 16 + 200 * 256);
}

}  // namespace
}  // namespace swizzleperf
