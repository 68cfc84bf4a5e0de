// What rocprofv3 and its predecessors write, read from samples and from made-up tables.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/files.h"
#include "base/random.h"
#include "measure/profile.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

const fs::path kData = MEASURE_DATA;
constexpr const char* kSymbol = "_Z4gemmILb1EEvPKfPfi";
constexpr const char* kPretty = "void gemm<true>(float const*, float*, int)";

Target gemm(std::int64_t index) {
  Target target;
  target.symbol = kSymbol;
  target.kernel = kPretty;
  target.index = index;
  return target;
}

Counters counters_of(const std::vector<fs::path>& files, std::int64_t index = 1) {
  const Profile profile = parse_rocprofv3(files, gemm(index));
  EXPECT_TRUE(profile.counters) << profile.missing;
  return profile.counters.value_or(Counters{});
}

void make_database(const fs::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  char* fault = nullptr;
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &fault), SQLITE_OK) << fault;
  sqlite3_close(database);
}

// --- Samples ------------------------------------------------------------------------------------

void expect_second_launch(const Counters& counters) {
  EXPECT_EQ(counters.l2_hits, 600'000);
  EXPECT_EQ(counters.l2_requests, 800'000);
  EXPECT_EQ(counters.l2_hit_rate, 0.75);
}

TEST(Rocprofv3, SeveralFilesOfRocm7AreMerged) {
  const Counters c = counters_of({kData / "rocm7/pass_1/310_counter_collection.csv",
                                  kData / "rocm7/pass_2/352_counter_collection.csv"});
  expect_second_launch(c);
  // 10,000 of 32 bytes, 100,000 of 128, the other 40,000 of 64.
  EXPECT_EQ(c.dram_read_bytes, 320'000 + 12'800'000 + 2'560'000);
  EXPECT_EQ(c.dram_write_bytes, 40'000 * 64 + 10'000 * 32);
  EXPECT_EQ(c.milliseconds, 2);
}

TEST(Rocprofv3, EarlierTablesLackColumns) {
  const Counters c = counters_of({kData / "rocm62.csv"});
  expect_second_launch(c);
  EXPECT_EQ(c.milliseconds, std::nullopt);
  EXPECT_EQ(c.dram_read_bytes, std::nullopt);
}

TEST(Rocprofv3, PredecessorsWroteAColumnACounter) {
  const Counters first = counters_of({kData / "rocprof_v1.csv"});
  expect_second_launch(first);
  EXPECT_EQ(first.dram_read_bytes, 10'000 * 32 + 140'000 * 64);  // MI200: no 128-byte reads
  EXPECT_EQ(first.milliseconds, 2);
  expect_second_launch(counters_of({kData / "rocprofv2.csv"}));  // a column a channel
}

TEST(Rocprofv3, Json) {
  const Counters c = counters_of({kData / "rocm7_results.json"});
  expect_second_launch(c);
  EXPECT_EQ(c.dram_write_bytes, 40'000 * 64 + 10'000 * 32);
  EXPECT_EQ(c.milliseconds, 2);
}

TEST(Rocprofv3, RocpdByItsViewOrItsTables) {
  const ScratchDirectory scratch;
  const std::string sql = read_file(kData / "rocpd_7.0.sql");
  make_database(scratch.path() / "310_results.db", sql);
  make_database(scratch.path() / "tables.db", sql.substr(0, sql.find("CREATE VIEW")));
  for (const char* name : {"310_results.db", "tables.db"}) {
    const Counters c = counters_of({scratch.path() / name});
    expect_second_launch(c);
    EXPECT_EQ(c.milliseconds, 2) << name;
  }
}

TEST(Rocprofv3, NamesTheKernelsThatAreThere) {
  const std::vector<fs::path> files = {kData / "rocm7/pass_1/310_counter_collection.csv"};
  Target softmax;
  softmax.symbol = softmax.kernel = "softmax";
  const Profile none = parse_rocprofv3(files, softmax);
  EXPECT_FALSE(none.counters);
  EXPECT_THAT(none.missing, AllOf(HasSubstr("no launch of softmax"), HasSubstr("fill(float*, int)"),
                                  HasSubstr("gemm<true>")));
  EXPECT_THAT(parse_rocprofv3(files, gemm(2)).missing, HasSubstr("2 launches of"));
}

// --- Made-up tables -----------------------------------------------------------------------------

/// Values of counters for launches 0, 1, ...; launches of our kernel and of another take turns.
struct Made {
  std::vector<std::map<std::string, double>> launches;
  static constexpr std::int64_t begin(std::size_t i) { return 1'000'000 * (1 + 3 * i); }
  static constexpr std::int64_t end(std::size_t i) { return begin(i) + 1'000'000 + 1000 * i; }
  static std::string name(std::size_t i) { return i % 2 ? "_Z4fillPfi" : kSymbol; }
  static std::string pretty(std::size_t i) { return i % 2 ? "fill(float*, int)" : kPretty; }
};

Made random_table(Random& random) {
  Made made;
  for (std::size_t i = 2 + random.below(5); i-- > 0;) {
    const auto n = [&](std::uint64_t most) { return static_cast<double>(random.below(most)); };
    const double small = n(1000);
    const double large = n(1000);
    const double write64 = n(1000);
    made.launches.push_back({{"TCC_HIT_sum", n(1 << 20)},
                             {"TCC_MISS_sum", n(1 << 20)},
                             {"TCC_EA0_RDREQ_sum", small + large + n(1000)},
                             {"TCC_EA0_RDREQ_32B_sum", small},
                             {"TCC_BUBBLE_sum", large},
                             {"TCC_EA0_WRREQ_sum", write64 + n(1000)},
                             {"TCC_EA0_WRREQ_64B_sum", write64}});
  }
  return made;
}

std::string quoted(const std::string& text) { return '"' + text + '"'; }

void write_long(const fs::path& file, const Made& made) {
  std::string text =
      "\"Dispatch_Id\",\"Agent_Id\",\"Process_Id\",\"Kernel_Name\",\"Counter_Name\","
      "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";
  for (std::size_t i = 0; i < made.launches.size(); ++i)
    for (const auto& [counter, value] : made.launches[i])
      text += fmt::format("{},\"Agent 4\",310,{},{},{:.6f},{},{}\n", i + 1,
                          quoted(Made::name(i) + ".kd"), quoted(counter), value, Made::begin(i),
                          Made::end(i));
  write_file(file, text);
}

/// A row for each die, an agent without a word, and demangled names.
void write_long_in_parts(const fs::path& file, const Made& made) {
  std::string text =
      "Kernel_Name,Counter_Name,Counter_Value,Dispatch_Id,Agent_Id,Start_Timestamp,"
      "End_Timestamp\r\n";
  for (std::size_t i = 0; i < made.launches.size(); ++i)
    for (const auto& [counter, value] : made.launches[i])
      for (const double part : {std::floor(value / 3), value - std::floor(value / 3)})
        text += fmt::format("{},{},{},{},4,{},{}\r\n", quoted(Made::pretty(i)), counter, part,
                            i + 1, Made::begin(i), Made::end(i));
  write_file(file, text);
}

void write_wide(const fs::path& file, const Made& made) {
  std::string text = "Index,KernelName,gpu-id,pid";
  for (const auto& [counter, value] : made.launches[0]) text += "," + counter;
  text += ",DispatchNs,BeginNs,EndNs,CompleteNs\n";
  for (std::size_t i = 0; i < made.launches.size(); ++i) {
    text += fmt::format("{},{},2,77", i, quoted(Made::pretty(i) + " [clone .kd]"));
    for (const auto& [counter, value] : made.launches[i]) text += fmt::format(",{:.10f}", value);
    text += fmt::format(",1,{},{},1\n", Made::begin(i), Made::end(i));
  }
  write_file(file, text);
}

void write_json(const fs::path& file, const Made& made) {
  json process = {{"metadata", {{"pid", 310}}},
                  {"counters", json::array()},
                  {"kernel_symbols", json::array()},
                  {"callback_records", {{"counter_collection", json::array()}}}};
  std::map<std::string, int> handles;
  for (const auto& [counter, value] : made.launches[0]) {
    handles[counter] = 500 + static_cast<int>(handles.size());
    process["counters"].push_back({{"id", {{"handle", handles[counter]}}}, {"name", counter}});
  }
  for (std::size_t i : {0, 1})
    process["kernel_symbols"].push_back(
        {{"kernel_id", 7 + i}, {"kernel_name", Made::name(i) + ".kd"}});
  for (std::size_t i = made.launches.size(); i-- > 0;) {  // not in order
    json records = json::array();
    for (const auto& [counter, value] : made.launches[i])
      records.push_back({{"counter_id", {{"handle", handles[counter]}}}, {"value", value}});
    process["callback_records"]["counter_collection"].push_back(
        {{"dispatch_data",
          {{"start_timestamp", Made::begin(i)},
           {"end_timestamp", Made::end(i)},
           {"dispatch_info", {{"kernel_id", 7 + i % 2}, {"dispatch_id", i + 1}}}}},
         {"records", records}});
  }
  write_file(file, json({{"rocprofiler-sdk-tool", json::array({process})}}).dump());
}

/// Later rocpd: times are references, the view that adds up is gone. Small pages, so that cutting
/// the file at every byte is quick.
std::string rocpd_tables(const Made& made, bool with_view) {
  std::string sql =
      "PRAGMA page_size = 512; BEGIN;"
      "CREATE TABLE \"rocpd_pmc_event_f0\" (id INTEGER PRIMARY KEY, event_id, pmc_id, value REAL);"
      "CREATE TABLE \"rocpd_info_pmc_f0\" (id INTEGER PRIMARY KEY, name TEXT);"
      "CREATE TABLE \"rocpd_timestamp_f0\" (id INTEGER PRIMARY KEY, value BIGINT);"
      "CREATE TABLE \"rocpd_info_kernel_symbol_f0\" (id INTEGER PRIMARY KEY, kernel_name TEXT);"
      "CREATE TABLE \"rocpd_kernel_dispatch_f0\" (id INTEGER PRIMARY KEY, kernel_id, dispatch_id, "
      "start_id, end_id, event_id);";
  std::map<std::string, std::size_t> ids;
  for (const auto& [counter, value] : made.launches[0]) {
    ids[counter] = ids.size() + 1;
    sql += fmt::format("INSERT INTO rocpd_info_pmc_f0 VALUES ({}, '{}');", ids[counter], counter);
  }
  for (std::size_t i : {0, 1})
    sql += fmt::format("INSERT INTO rocpd_info_kernel_symbol_f0 VALUES ({}, '{}.kd');", 7 + i,
                       Made::name(i));
  for (std::size_t i = 0; i < made.launches.size(); ++i) {
    sql += fmt::format("INSERT INTO rocpd_timestamp_f0 VALUES ({}, {}), ({}, {});", 2 * i + 1,
                       Made::begin(i), 2 * i + 2, Made::end(i));
    sql +=
        fmt::format("INSERT INTO rocpd_kernel_dispatch_f0 VALUES ({0}, {1}, {0}, {2}, {3}, {4});",
                    i + 1, 7 + i % 2, 2 * i + 1, 2 * i + 2, 90 + i);
    for (const auto& [counter, value] : made.launches[i])
      sql += fmt::format(
          "INSERT INTO rocpd_pmc_event_f0 (event_id, pmc_id, value) VALUES ({}, {}, {});", 90 + i,
          ids[counter], value);
  }
  if (with_view)
    sql +=
        "CREATE VIEW kernel_pmc_events AS SELECT d.dispatch_id AS dispatch_id, s.kernel_name AS "
        "name, i.name AS pmc_name, e.value AS pmc_value, a.value AS start, b.value AS \"end\" FROM "
        "rocpd_pmc_event_f0 e JOIN rocpd_info_pmc_f0 i ON i.id = e.pmc_id JOIN "
        "rocpd_kernel_dispatch_f0 d ON d.event_id = e.event_id JOIN rocpd_info_kernel_symbol_f0 s "
        "ON s.id = d.kernel_id JOIN rocpd_timestamp_f0 a ON a.id = d.start_id JOIN "
        "rocpd_timestamp_f0 b ON b.id = d.end_id;";
  return sql + "COMMIT;";
}

void write_rocpd(const fs::path& file, const Made& made, bool with_view) {
  fs::remove(file);
  make_database(file, rocpd_tables(made, with_view));
}

using Writer = std::function<void(const fs::path&, const Made&)>;

const std::map<std::string, Writer>& writers() {
  static const std::map<std::string, Writer> all = {
      {"long.csv", write_long},
      {"parts.csv", write_long_in_parts},
      {"wide.csv", write_wide},
      {"results.json", write_json},
      {"tables.db", [](const auto& file, const auto& made) { write_rocpd(file, made, false); }},
      {"view.db", [](const auto& file, const auto& made) { write_rocpd(file, made, true); }}};
  return all;
}

auto values(const Counters& c) {
  return std::tuple(c.l2_requests, c.l2_hits, c.l2_hit_rate, c.dram_read_bytes, c.dram_write_bytes,
                    c.milliseconds, c.notes);
}

TEST(Rocprofv3, AnyTableIsReadAlikeFromEveryForm) {
  const ScratchDirectory scratch;
  Random random(7);
  for (int round = 0; round < 15; ++round) {
    const Made made = random_table(random);
    const std::size_t ours = (made.launches.size() + 1) / 2;
    const auto index = static_cast<std::int64_t>(random.below(ours));
    const auto& launch = made.launches[static_cast<std::size_t>(2 * index)];
    for (const auto& [name, write] : writers()) {
      const fs::path file = scratch.path() / name;
      write(file, made);
      const Counters c = counters_of({file}, index);
      EXPECT_EQ(c.l2_hits, launch.at("TCC_HIT_sum")) << name;
      const Counters first = counters_of({scratch.path() / "long.csv"}, index);
      EXPECT_EQ(values(c), values(first)) << name << " in round " << round;
    }
    // Halves of a table in files of their own are the whole.
    Made left = made;
    Made right = made;
    for (std::size_t i = 0; i < made.launches.size(); ++i)
      for (const auto& [counter, value] : made.launches[i])
        (counter < "TCC_EA0_W" ? right : left).launches[i].erase(counter);
    write_long(scratch.path() / "left.csv", left);
    write_long_in_parts(scratch.path() / "right.csv", right);
    EXPECT_EQ(
        values(counters_of({scratch.path() / "left.csv", scratch.path() / "right.csv"}, index)),
        values(counters_of({scratch.path() / "long.csv"}, index)));
  }
}

TEST(Rocprofv3, TakesFilesCutAnywhere) {
  const ScratchDirectory scratch;
  Random random(3);
  Made made = random_table(random);
  made.launches.resize(2);
  for (const auto& [name, write] : writers()) {
    const fs::path file = scratch.path() / name;
    write(file, made);
    int refused = 0;
    for (std::uintmax_t bytes = fs::file_size(file); bytes-- > 0;) {
      fs::resize_file(file, bytes);
      try {
        const Profile profile = parse_rocprofv3({file}, gemm(0));
        EXPECT_NE(profile.counters.has_value(), !profile.missing.empty()) << name << bytes;
      } catch (const Error& error) {
        ++refused;
        EXPECT_THAT(error.what(), HasSubstr(file.string())) << bytes;
      }
    }
    EXPECT_GT(refused, 100) << name;
  }
}

TEST(Rocprofv3, TakesFilesWithBytesChanged) {
  const ScratchDirectory scratch;
  Random random(5);
  const Made made = random_table(random);
  for (const auto& [name, write] : writers()) {
    const fs::path file = scratch.path() / name;
    write(file, made);
    const std::string whole = read_file(file);
    for (int round = 0; round < 300; ++round) {
      std::string text = whole;
      for (std::size_t changes = 1 + random.below(8); changes-- > 0;)
        text[random.below(text.size())] = static_cast<char>(random.below(256));
      std::ofstream(file, std::ios::binary) << text;
      try {
        const Profile profile = parse_rocprofv3({file}, gemm(0));
        EXPECT_NE(profile.counters.has_value(), !profile.missing.empty()) << name;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(file.string()));
      }
    }
  }
}

// --- What cannot be -----------------------------------------------------------------------------

/// One launch with these counters, lasting a millisecond.
Counters judged(const std::map<std::string, double>& counters, double bandwidth = 5000) {
  const ScratchDirectory scratch;
  write_long(scratch.path() / "x.csv", {{counters}});
  const Profile profile = parse_rocprofv3({scratch.path() / "x.csv"}, gemm(0), bandwidth);
  EXPECT_TRUE(profile.counters) << profile.missing;
  return profile.counters.value_or(Counters{});
}

TEST(Rocprofv3, ZerosAreNotMeasured) {
  const Counters c = judged({{"TCC_HIT_sum", 0},
                             {"TCC_MISS_sum", 0},
                             {"TCC_EA0_RDREQ_sum", 0},
                             {"TCC_EA0_RDREQ_32B_sum", 0},
                             {"TCC_BUBBLE_sum", 0}});
  EXPECT_EQ(c.l2_requests, std::nullopt);
  EXPECT_EQ(c.l2_hit_rate, std::nullopt);
  EXPECT_EQ(c.dram_read_bytes, std::nullopt);
  EXPECT_THAT(c.notes, Contains(HasSubstr("all counters are zero")));
  const Counters half = judged({{"TCC_HIT_sum", 10},
                                {"TCC_MISS_sum", 5},
                                {"TCC_EA_RDREQ_sum", 0},
                                {"TCC_EA_RDREQ_32B_sum", 0},
                                {"TCC_EA_WRREQ_sum", 0},
                                {"TCC_EA_WRREQ_64B_sum", 0}});
  EXPECT_EQ(half.l2_requests, 15);
  EXPECT_EQ(half.dram_read_bytes, std::nullopt);
  EXPECT_THAT(half.notes, Contains(HasSubstr("though it missed 5 times")));
}

TEST(Rocprofv3, ImpossibleValuesAreRefusedByName) {
  const Counters hits = judged({{"TCC_HIT_sum", 500}, {"TCC_REQ_sum", 400}, {"TCC_MISS_sum", 1}});
  EXPECT_EQ(hits.l2_hit_rate, std::nullopt);
  EXPECT_THAT(hits.notes, Contains(HasSubstr("L2 hits (500) exceed L2 requests (400)")));

  // 236.7 million reads of 64 bytes in 1 ms: 303 % of 5 TB/s.
  const Counters fast = judged({{"TCC_HIT_sum", 9},
                                {"TCC_MISS_sum", 9},
                                {"TCC_EA_RDREQ_sum", 236'718'750},
                                {"TCC_EA_RDREQ_32B_sum", 0}});
  EXPECT_EQ(fast.dram_read_bytes, std::nullopt);
  EXPECT_THAT(fast.notes, Contains(HasSubstr("303 %")));
  EXPECT_EQ(fast.l2_hit_rate, 0.5);

  const Counters parts =
      judged({{"TCC_EA0_RDREQ_sum", 10}, {"TCC_EA0_RDREQ_32B_sum", 8}, {"TCC_BUBBLE_sum", 3}});
  EXPECT_EQ(parts.dram_read_bytes, std::nullopt);
  EXPECT_THAT(parts.notes, Contains(HasSubstr("of 10 reads 8 were of 32 and 3 of 128")));

  const Counters writes = judged({{"TCC_EA_WRREQ_sum", 10}, {"TCC_EA_WRREQ_64B_sum", 11}});
  EXPECT_EQ(writes.dram_write_bytes, std::nullopt);

  const Counters negative = judged({{"TCC_HIT_sum", -4}, {"TCC_MISS_sum", 5}});
  EXPECT_EQ(negative.l2_hits, std::nullopt);
  EXPECT_THAT(negative.notes, Contains(HasSubstr("-4")));
}

TEST(Rocprofv3, SizesOfReadsAreToldApartOrTheBytesAreUnknown) {
  const Counters untold = judged({{"TCC_EA0_RDREQ_sum", 10}, {"TCC_EA0_RDREQ_32B_sum", 8}});
  EXPECT_EQ(untold.dram_read_bytes, std::nullopt);
  EXPECT_THAT(untold.notes, Contains(HasSubstr("128 bytes were not counted")));

  const std::map<std::string, double> mi350 = {
      {"TCC_EA0_RDREQ_32B_sum", 1}, {"TCC_EA0_RDREQ_64B_sum", 2}, {"TCC_EA0_RDREQ_128B_sum", 3}};
  EXPECT_EQ(judged(mi350).dram_read_bytes, 32 + 128 + 384);

  const Counters doubtful =
      judged({{"TCC_EA0_RDREQ_sum", 10}, {"TCC_EA0_RDREQ_32B_sum", 0}, {"TCC_BUBBLE_sum", 0}});
  EXPECT_EQ(doubtful.dram_read_bytes, 640);
  EXPECT_THAT(doubtful.notes, Contains(HasSubstr("gfx950")));
}

TEST(Rocprofv3, WrongFilesAreNamedWithTheirLine) {
  const ScratchDirectory scratch;
  const fs::path file = scratch.path() / "x.csv";
  const auto fault = [&](const std::string& text) -> std::string {
    write_file(file, text);
    try {
      (void)parse_rocprofv3({file}, gemm(0));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string head = "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n";
  EXPECT_THAT(fault(""), HasSubstr("no header row"));
  EXPECT_THAT(fault("Kind,Agent_Id\n"), HasSubstr("x.csv:1: no columns for the dispatch"));
  EXPECT_THAT(fault("Dispatch_Id,Kernel_Name,SQ_WAVES\n"), HasSubstr("no counters of L2"));
  EXPECT_THAT(fault(head + "1,k,TCC_HIT_sum\n"), HasSubstr("x.csv:2: 3 fields"));
  EXPECT_THAT(fault(head + "1,k,TCC_HIT_sum,many\n"), HasSubstr("'many' is no number"));
  EXPECT_THAT(fault(head + "1,k,TCC_HIT_sum,12"), HasSubstr("x.csv:2: the file ends within a row"));
  EXPECT_THAT(fault("{\"rocprofiler-sdk-tool\": [{}]}"), HasSubstr("not what rocprofv3 writes"));
  EXPECT_THAT(fault(std::string("SQLite format 3\0garbage", 23)), HasSubstr("SQLite"));
  EXPECT_EQ(fault(head), "");
  EXPECT_THROW((void)parse_rocprofv3({scratch.path() / "absent.csv"}, gemm(0)), Error);
}

}  // namespace
}  // namespace swizzleperf::measure
