// Every shipped model loads, accounts for each of its numbers, and adds up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "machine/fields.h"
#include "swizzleperf/machine.h"

namespace swizzleperf {
namespace {

const Provenance* find(const Machine& machine, const std::string& key) {
  for (const Provenance& entry : machine.provenance)
    if (entry.key == key) return &entry;
  return nullptr;
}

std::set<std::string> expected_keys(const Machine& machine) {
  std::set<std::string> keys;
  for (const auto& field : l2_fields()) keys.insert("l2." + std::string(field.key));
  for (const auto& field : machine_fields()) keys.insert(std::string(field.key));
  for (const auto& field : cache_fields()) {
    keys.insert("l1." + std::string(field.key));
    keys.insert("l2." + std::string(field.key));
    if (machine.llc) keys.insert("llc." + std::string(field.key));
  }
  return keys;
}

TEST(Models, AllAreThere) {
  std::set<std::string> names;
  for (const Machine& machine : all_machines()) names.insert(machine.name);
  EXPECT_EQ(names,
            (std::set<std::string>{
                "mi300x",     "mi300x-spx", "mi300x-dpx", "mi300x-qpx", "mi300x-cpx", "mi325x",
                "mi325x-spx", "mi325x-dpx", "mi325x-qpx", "mi325x-cpx", "mi300a",     "mi300a-spx",
                "mi300a-tpx", "mi300a-cpx", "mi355x",     "mi355x-spx", "mi355x-dpx", "mi355x-qpx",
                "mi355x-cpx", "mi250x",     "a100",       "h100",       "h200",       "b200"}));
}

TEST(Models, EveryNumberSaysWhereItComesFrom) {
  for (const Machine& machine : all_machines()) {
    std::set<std::string> keys;
    for (const Provenance& entry : machine.provenance) {
      SCOPED_TRACE(machine.name + " " + entry.key);
      EXPECT_TRUE(keys.insert(entry.key).second) << "twice";
      EXPECT_THAT(entry.kind, testing::AnyOf("documented", "measured", "memory", "calibrated"));
      EXPECT_THAT(entry.source, testing::HasSubstr(" ")) << "an id without its text in [sources]";
      EXPECT_FALSE(entry.value.empty());
    }
    EXPECT_EQ(keys, expected_keys(machine)) << machine.name;
  }
}

TEST(Models, NamesLoadWhatTheListShows) {
  for (const Machine& machine : all_machines()) {
    const Machine again = load_machine(machine.name);
    EXPECT_EQ(again.title, machine.title);
    EXPECT_EQ(again.dies, machine.dies);
  }
}

TEST(Models, ComputeUnitsAddUp) {
  const std::map<std::string, std::uint32_t> cus = {
      {"mi300x", 304}, {"mi325x", 304}, {"mi300a", 228}, {"mi355x", 256}, {"mi250x", 110},
      {"a100", 108},   {"h100", 132},   {"h200", 132},   {"b200", 148}};
  for (const auto& [name, count] : cus) {
    const Machine machine = load_machine(name);
    EXPECT_EQ(machine.dies * machine.cus_per_die, count) << name;
  }
}

TEST(Models, Mi300xIsAsDocumented) {
  const Machine m = load_machine("mi300x");
  EXPECT_EQ(m.l1.sets(), 4U);
  EXPECT_EQ(m.l2.sets() / m.l2.channels, 128U);  // 16 channels x 128 sets x 16 ways x 128 bytes
  EXPECT_EQ(m.l2.bytes, 4U << 20);
  ASSERT_TRUE(m.llc);
  EXPECT_EQ(m.llc->bytes, 256U << 20);
  EXPECT_EQ(m.dispatch, Dispatch::kRoundRobinPerDie);
  EXPECT_EQ(m.l2.index, SetIndex::kHashedChannels);
}

TEST(Models, L2AddsUpToWhatVendorsName) {
  const std::map<std::string, std::uint64_t> megabytes = {
      {"mi300x", 32}, {"mi300a", 24}, {"mi355x", 32}, {"mi250x", 8},
      {"a100", 40},   {"h100", 50},   {"h200", 60}};
  for (const auto& [name, size] : megabytes) {
    const Machine machine = load_machine(name);
    EXPECT_EQ(machine.dies * machine.l2.bytes, size << 20) << name;
  }
}

TEST(Models, EffectiveBandwidthsAreTheOnesNamed) {
  // What the notes say in TB/s, from the bytes a clock in the files.
  const auto l2 = [](const Machine& m) { return m.l2.bytes_per_clk * m.clock_ghz * m.dies / 1e3; };
  EXPECT_NEAR(l2(load_machine("mi300x")), 17, 0.05);
  EXPECT_NEAR(l2(load_machine("mi355x")), 17, 0.05);
  EXPECT_NEAR(l2(load_machine("mi250x")), 5.5, 0.05);
  const Machine m = load_machine("mi300x");
  EXPECT_NEAR(m.llc.value_or(CacheModel{}).bytes_per_clk * m.clock_ghz / 1e3, 7.31, 0.01);
}

TEST(Models, PartitionsSplitTheDevice) {
  for (const char* name : {"mi300x", "mi325x", "mi300a", "mi355x"}) {
    const Machine whole = load_machine(name);
    const CacheModel whole_llc = whole.llc.value_or(CacheModel{});
    for (const Machine& part : all_machines()) {
      if (!part.name.starts_with(std::string(name) + "-")) continue;
      SCOPED_TRACE(part.name);
      const double share = static_cast<double>(part.dies) / whole.dies;
      const CacheModel llc = part.llc.value_or(CacheModel{});
      EXPECT_EQ(whole.dies % part.dies, 0U);
      EXPECT_EQ(part.cus_per_die, whole.cus_per_die);
      EXPECT_EQ(part.l2.bytes, whole.l2.bytes);
      EXPECT_NEAR(static_cast<double>(llc.bytes), static_cast<double>(whole_llc.bytes) * share,
                  4096);
      EXPECT_NEAR(llc.bytes_per_clk, whole_llc.bytes_per_clk * share, 1);
      EXPECT_NEAR(part.hbm_bytes_per_ns, whole.hbm_bytes_per_ns * share, 1);
    }
  }
  EXPECT_EQ(load_machine("mi300x-cpx").dies, 1U);
  EXPECT_EQ(load_machine("mi300a-tpx").dies, 2U);
}

TEST(Models, WhatNobodyPublishesIsNotCalledDocumented) {
  for (const Machine& machine : all_machines())
    for (const char* key : {"jitter", "dispatch_interval_ns", "error_time", "error_l2_points"}) {
      ASSERT_NE(find(machine, key), nullptr);
      EXPECT_EQ(find(machine, key)->kind, "calibrated") << machine.name << " " << key;
    }
}

}  // namespace
}  // namespace swizzleperf
