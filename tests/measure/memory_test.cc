// The memory of a held program against a device that does nothing of what is queued before it must:
// a missing wait shows as wrong bytes.
#include "measure/probe/memory.h"

#include <gmock/gmock.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <numeric>

#include "base/random.h"

namespace swizzleperf::measure::probe {
namespace {

using ::testing::HasSubstr;

class LazyDevice : public Device {
 public:
  explicit LazyDevice(std::uint64_t free) : free_(free) {}
  ~LazyDevice() override { EXPECT_EQ(held_, 0); }
  LazyDevice(const LazyDevice&) = delete;
  LazyDevice& operator=(const LazyDevice&) = delete;

  bool pinned = true;

  std::string name() override { return "lazy"; }
  std::uint64_t free_bytes() override { return free_; }
  std::uint64_t flush_bytes() override { return 1; }
  void* allocate(std::uint64_t bytes) override { return take(bytes); }
  void release(void* memory) override { give(memory); }
  void* allocate_pinned(std::uint64_t bytes) override { return pinned ? take(bytes) : nullptr; }
  void release_pinned(void* memory) override { give(memory); }
  void fill(void* to, std::uint8_t byte, std::uint64_t bytes) override {
    queue_.emplace_back([=] { std::memset(to, byte, bytes); });
  }
  void copy_within(void* to, const void* from, std::uint64_t bytes) override {
    copy(to, from, bytes);
  }
  void copy_in(void* to, const void* host, std::uint64_t bytes) override { copy(to, host, bytes); }
  void copy_out(void* host, const void* from, std::uint64_t bytes) override {
    copy(host, from, bytes);
  }
  void launch() override {}
  void synchronize() override {
    for (const auto& action : queue_) action();
    queue_.clear();
  }
  void* make_event() override { return nullptr; }
  void record(void*) override {}
  double milliseconds(void*, void*) override { return 0; }
  void release_event(void*) override {}

 private:
  void copy(void* to, const void* from, std::uint64_t bytes) {
    queue_.emplace_back([=] { std::memcpy(to, from, bytes); });
  }
  void* take(std::uint64_t bytes) {
    ++held_;
    return std::malloc(bytes);
  }
  void give(void* memory) {
    --held_;
    std::free(memory);
  }

  std::uint64_t free_;
  int held_ = 0;
  std::deque<std::function<void()>> queue_;
};

constexpr std::uint64_t kRoom = std::uint64_t{4} << 30;

/// Memory of several sizes, of one byte up to more than both buffers of staging. Each unit of 16
/// bytes says which one it is.
struct Memory {
  std::vector<std::vector<std::uint8_t>> data;
  std::vector<Region> regions;

  Memory() {
    for (const std::uint64_t bytes :
         {std::uint64_t{1}, std::uint64_t{15}, std::uint64_t{16}, std::uint64_t{32},
          std::uint64_t{4000}, kChunk - 16, kChunk, kChunk + 7, 3 * kChunk, 66 * kChunk + 24}) {
      std::vector<std::uint8_t>& one = data.emplace_back(bytes, std::uint8_t{0xee});
      for (std::uint64_t unit = 0; unit < bytes / 16; ++unit) {
        const std::uint64_t words[] = {unit, mix64(unit)};
        std::memcpy(one.data() + unit * 16, words, sizeof words);
      }
    }
    for (auto& one : data)
      regions.push_back({reinterpret_cast<std::byte*>(one.data()), one.size()});
  }

  [[nodiscard]] std::vector<std::uint64_t> hashes() const {
    std::vector<std::uint64_t> result;
    for (const auto& one : data)
      for (std::uint64_t at = 0; at < one.size(); at += kChunk)
        result.push_back(
            XXH3_64bits(one.data() + at, std::min<std::uint64_t>(kChunk, one.size() - at)));
    return result;
  }
};

/// Which unit stands at each place, and that each stands somewhere.
std::vector<std::uint64_t> units(const std::vector<std::uint8_t>& data) {
  std::vector<std::uint64_t> result(data.size() / 16);
  std::vector<bool> seen(result.size());
  for (std::size_t at = 0; at < result.size(); ++at) {
    std::uint64_t words[2];
    std::memcpy(words, data.data() + at * 16, sizeof words);
    const bool whole = words[0] < seen.size() && words[1] == mix64(words[0]);
    if (!whole || seen[words[0]]) {
      ADD_FAILURE() << "no unit, or one seen before, at " << at << " of " << data.size()
                    << " bytes";
      return result;
    }
    seen[words[0]] = true;
    result[at] = words[0];
  }
  return result;
}

/// On the device (with pinned memory and without) and on the host.
struct Place {
  std::uint64_t free;
  bool pinned;
  bool on_host;
};

class Snapshots : public ::testing::TestWithParam<Place> {
 protected:
  Snapshots() { device_.pinned = GetParam().pinned; }
  LazyDevice device_{GetParam().free};
  Memory memory_;
};

TEST_P(Snapshots, HashAndRestore) {
  const Memory original;
  Snapshot snapshot(device_, memory_.regions);
  EXPECT_EQ(snapshot.on_host(), GetParam().on_host);
  EXPECT_EQ(snapshot.hash_of_copy(), original.hashes());
  EXPECT_EQ(snapshot.hash_of_memory(), original.hashes());
  for (std::size_t r = 0; r < memory_.regions.size(); ++r) snapshot.poison(r, 1);
  device_.synchronize();
  for (const auto& one : memory_.data)
    EXPECT_TRUE(std::all_of(one.begin(), one.end(), [&](std::uint8_t b) { return b == one[0]; }));
  EXPECT_EQ(snapshot.hash_of_memory(), memory_.hashes());
  EXPECT_EQ(snapshot.hash_of_copy(), original.hashes());
  snapshot.restore_all();
  device_.synchronize();
  EXPECT_EQ(memory_.data, original.data);
}

TEST_P(Snapshots, ShuffleIsAPermutationThatMovesTheFirstUnit) {
  Snapshot snapshot(device_, memory_.regions);
  for (std::size_t r = 0; r < memory_.regions.size(); ++r) snapshot.shuffle(r, 3);
  device_.synchronize();
  for (const auto& one : memory_.data) {
    const std::vector<std::uint64_t> order = units(one);
    if (order.size() > 1) EXPECT_NE(order[0], 0);
    for (std::size_t tail = order.size() * 16; tail < one.size(); ++tail)
      EXPECT_EQ(one[tail], 0xee);
  }
}

TEST_P(Snapshots, ShuffleDependsOnSeedAndPlaceAlone) {
  Memory other;
  LazyDevice device(kRoom);
  Snapshot one(device_, memory_.regions);
  Snapshot two(device, other.regions);
  const std::size_t last = memory_.regions.size() - 1;
  one.poison(last, 2);  // what memory holds does not matter
  one.shuffle(last, 5);
  two.shuffle(last, 5);
  EXPECT_EQ(memory_.data[last], other.data[last]);
  two.shuffle(last, 6);
  EXPECT_NE(memory_.data[last], other.data[last]);
}

TEST_P(Snapshots, Read) {
  Snapshot snapshot(device_, memory_.regions);
  EXPECT_EQ(snapshot.read(4, 3990, 10),
            std::string(reinterpret_cast<const char*>(memory_.data[4].data()) + 3990, 10));
  EXPECT_EQ(snapshot.read(4, 4000, 0), "");
  EXPECT_THROW((void)snapshot.read(4, 3991, 10), std::runtime_error);
  EXPECT_THROW((void)snapshot.read(4, UINT64_MAX, 2), std::runtime_error);
  EXPECT_THROW((void)snapshot.read(memory_.regions.size(), 0, 1), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Places, Snapshots,
                         ::testing::Values(Place{kRoom, true, false}, Place{kRoom, false, false},
                                           Place{0, true, true}));

TEST(Snapshot, NoMemoryAtAll) {
  LazyDevice device(0);
  Snapshot snapshot(device, {});
  EXPECT_TRUE(snapshot.hash_of_copy().empty());
  EXPECT_TRUE(snapshot.hash_of_memory().empty());
}

TEST(Snapshot, NoRoomForACopy) {
  LazyDevice device(0);
  try {
    const Snapshot snapshot(device, {{nullptr, std::uint64_t{1} << 50}});
    FAIL();
  } catch (const std::runtime_error& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("no room for a copy of its 1125899906842624 bytes"));
  }
}

}  // namespace
}  // namespace swizzleperf::measure::probe
