// Watching against an oracle that remembers for each byte who wrote it last and who read it first.
#include "check/watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "base/random.h"

namespace swizzleperf {
namespace {

/// Device memory of a test: its own memory, so that values can be compared.
struct Memory {
  std::vector<unsigned char> bytes = std::vector<unsigned char>(512);
  [[nodiscard]] std::uint64_t base() const { return reinterpret_cast<std::uint64_t>(bytes.data()); }
};

/// Runs blocks and tells the watch, as the virtual GPU does.
class Launch {
 public:
  explicit Launch(Memory& memory) : memory_(memory) {}

  void block() {
    if (running_) watch_.end();
    running_ = true;
    watch_.turn(blocks_++);
  }
  void load(std::uint64_t at, std::uint64_t bytes = 4, std::uint32_t line = 1) {
    tell(AccessKind::kLoad, at, bytes, line);
  }
  void store(std::uint64_t at, unsigned char value, std::uint64_t bytes = 4,
             std::uint32_t line = 2) {
    tell(AccessKind::kStore, at, bytes, line);
    std::fill_n(memory_.bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes, value);
  }
  void update(std::uint64_t at, bool returns = false) {
    tell(AccessKind::kAtomic, at, 4, 3, true, returns);
    ++memory_.bytes[at];
  }
  void store_atomically(std::uint64_t at) { tell(AccessKind::kStore, at, 4, 4, true); }

  LaunchFindings findings() {
    if (running_) watch_.end();
    running_ = false;
    LaunchFindings f;
    f.buffers = {{"memory", memory_.base(), memory_.bytes.size()}};
    std::vector<SourceLine> lines = {{}};
    for (std::uint32_t line = 1; line < 6; ++line) lines.push_back({"k.hip", line});
    watch_.finish(lines, f);
    return f;
  }

 private:
  void tell(AccessKind kind, std::uint64_t at, std::uint64_t bytes, std::uint32_t line,
            bool atomic = false, bool returns = false) {
    const Range range = {memory_.base() + at, memory_.base() + at + bytes};
    watch_.access({kind, atomic, returns, line, {&range, 1}});
  }

  Memory& memory_;
  LaunchWatch watch_{true};
  std::uint64_t blocks_ = 0;
  bool running_ = false;
};

TEST(Watch, CountsLikeAnOracle) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    Memory memory;
    Launch launch(memory);
    std::vector<std::optional<int>> writer(memory.bytes.size());
    std::vector<std::optional<int>> reader(memory.bytes.size());
    std::uint64_t same = 0;
    std::uint64_t different = 0;
    std::uint64_t meetings = 0;
    const int blocks = 2 + static_cast<int>(random.below(5));
    for (int b = 0; b < blocks; ++b) {
      launch.block();
      std::vector<bool> met(memory.bytes.size());
      const std::vector<unsigned char> before = memory.bytes;
      const auto writer_before = writer;
      launch.load(500 + b, 1);  // so that no block repeats another
      for (int access = 0; access < 12; ++access) {
        const std::uint64_t at = random.below(440);
        const std::uint64_t bytes = 1 + random.below(50);
        if (random.below(2) == 0) {
          launch.load(at, bytes);
          for (std::uint64_t i = at; i < at + bytes; ++i) {
            met[i] = met[i] || (writer[i] && *writer[i] != b);
            if (!reader[i]) reader[i] = b;
          }
        } else {
          launch.store(at, static_cast<unsigned char>(1 + random.below(2)), bytes);
          for (std::uint64_t i = at; i < at + bytes; ++i) {
            meetings += !writer[i] && reader[i] && *reader[i] != b ? 1 : 0;
            writer[i] = b;
          }
        }
      }
      meetings += static_cast<std::uint64_t>(std::count(met.begin(), met.end(), true));
      for (std::size_t i = 0; i < memory.bytes.size(); ++i) {
        if (writer[i] != b || !writer_before[i]) continue;
        ++(before[i] == memory.bytes[i] ? same : different);
      }
    }
    const LaunchFindings f = launch.findings();
    EXPECT_EQ(f.repeated.blocks, 0U);
    EXPECT_EQ(f.communication.bytes, meetings);
    EXPECT_EQ(f.same.bytes + f.different.bytes, same + different);
    std::uint64_t written = 0;
    for (const WrittenRun& run : f.written) {
      for (std::uint64_t a = run.begin; a < run.end; ++a, ++written)
        EXPECT_EQ(writer[a - memory.base()], static_cast<int>(run.block));
    }
    EXPECT_EQ(written,
              static_cast<std::uint64_t>(std::count_if(
                  writer.begin(), writer.end(), [](const auto& w) { return w.has_value(); })));
  }
}

TEST(Watch, ABlockRepeatsAnotherOnlyIfItReadsTheSameToo) {
  for (const bool same_input : {true, false}) {
    Memory memory;
    Launch launch(memory);
    for (const std::uint64_t input : {100, same_input ? 100 : 104}) {
      launch.block();
      launch.load(input);
      launch.store(0, 7);
    }
    const LaunchFindings f = launch.findings();
    EXPECT_EQ(f.repeated.blocks, same_input ? 1U : 0U);
    EXPECT_EQ(f.same.blocks, same_input ? 0U : 1U);
    EXPECT_EQ(f.blocks_without_own_bytes, same_input ? 0U : 1U);
  }
}

TEST(Watch, TheValueThatABlockLeavesBehindCounts) {
  Memory memory;
  Launch launch(memory);
  launch.block();
  launch.store(0, 5);
  launch.block();
  launch.load(40);
  launch.store(0, 9);  // not yet
  launch.store(0, 5);
  const LaunchFindings f = launch.findings();
  EXPECT_EQ(f.different.bytes, 0U);
  EXPECT_EQ(f.same.bytes, 4U);
  EXPECT_EQ(f.same.examples.at(0).where.buffer, "memory");
  EXPECT_EQ(f.same.examples.at(0).first_line, (SourceLine{"k.hip", 2}));
}

TEST(Watch, ReadsThatBelongToAnAtomicUpdateAreNone) {
  Memory memory;
  Launch launch(memory);
  for (int b = 0; b < 3; ++b) {
    launch.block();
    launch.load(8, 12);
    for (const std::uint64_t at : {8, 12, 16}) launch.update(at, true);
  }
  launch.block();
  launch.load(8, 12);
  launch.update(12, true);  // what stands on both sides of it remains a read
  const LaunchFindings f = launch.findings();
  EXPECT_EQ(f.communication.bytes, 8U);
  EXPECT_EQ(f.communication.blocks, 1U);
  EXPECT_EQ(f.atomic_bytes, 12U);
}

TEST(Watch, TheLastToArriveMayReadWhatWasAnnounced) {
  for (const bool announced : {true, false}) {
    Memory memory;
    Launch launch(memory);
    for (std::uint64_t b = 0; b < 3; ++b) {
      launch.block();
      if (announced) launch.store(64 + 4 * b, 1);
      launch.update(0, true);
      if (!announced) launch.store(64 + 4 * b, 1);  // too late: a ticket, not an announcement
      if (b == 2) launch.load(64, 8);
    }
    const LaunchFindings f = launch.findings();
    EXPECT_EQ(f.ordered.bytes, announced ? 8U : 0U);
    EXPECT_EQ(f.communication.bytes, announced ? 0U : 8U);
    EXPECT_EQ(f.ticket_blocks, 2U);
  }
}

/// A block that waits is left and taken up again: accesses belong to the block whose turn it is.
TEST(Watch, BlocksMayTakeTurns) {
  Memory memory;
  LaunchWatch watch(true);
  const auto tell = [&](AccessKind kind, std::uint64_t at) {
    const Range range = {memory.base() + at, memory.base() + at + 4};
    watch.access({.kind = kind, .ranges = {&range, 1}});
  };
  watch.turn(0);
  tell(AccessKind::kStore, 0);
  tell(AccessKind::kLoad, 8);  // what block 1 has yet to write
  watch.turn(1);
  tell(AccessKind::kStore, 4);
  tell(AccessKind::kStore, 8);
  watch.end();
  watch.turn(0);
  tell(AccessKind::kLoad, 0);
  tell(AccessKind::kLoad, 8);
  watch.end();
  LaunchFindings f;
  watch.finish({SourceLine{}}, f);
  ASSERT_EQ(f.communication.examples.size(), 2U);
  EXPECT_EQ(f.communication.examples[0].reader, 0U);
  EXPECT_TRUE(f.communication.examples[0].overwritten);
  EXPECT_EQ(f.communication.examples[1].writer, 1U);
  EXPECT_FALSE(f.communication.examples[1].overwritten);
  EXPECT_EQ(f.same.bytes + f.different.bytes, 0U);
  EXPECT_EQ(f.written, (std::vector<WrittenRun>{{memory.base(), memory.base() + 4, 0},
                                                {memory.base() + 4, memory.base() + 12, 1}}));
}

TEST(Watch, AtomicStoresAreNoOverlapButMayBeRead) {
  Memory memory;
  Launch launch(memory);
  launch.block();
  launch.store_atomically(0);
  launch.block();
  launch.store_atomically(0);
  EXPECT_EQ(launch.findings().same.bytes + launch.findings().different.bytes, 0U);
  launch.block();
  launch.load(0);
  EXPECT_EQ(launch.findings().communication.bytes, 4U);
}

TEST(Watch, AtomicsOnWhatAnotherStoredAreCommunication) {
  Memory memory;
  Launch launch(memory);
  launch.block();
  launch.store(0, 0);  // an initialisation that the next block must not overtake
  launch.block();
  launch.update(0);
  EXPECT_EQ(launch.findings().communication.bytes, 4U);
}

}  // namespace
}  // namespace swizzleperf
