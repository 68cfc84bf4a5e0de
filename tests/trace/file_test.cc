// Trace files: what was written is read, and whatever else a file may hold is one clear error.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "base/files.h"
#include "base/random.h"
#include "support/random_launch.h"
#include "support/synthetic.h"
#include "swizzleperf/error.h"
#include "swizzleperf/trace.h"
#include "trace/lines.h"

namespace swizzleperf {
namespace {

constexpr std::string_view kMagic = "swizzleperf trace\n";
constexpr std::size_t kVersionAt = kMagic.size();
constexpr std::size_t kRawAt = kVersionAt + 4;
constexpr std::size_t kFrameAt = kRawAt + 8;

Trace filled(Trace t) {
  t.program = "program";
  t.kernel = "void kernel<int>(float const*)";
  t.arch = "gfx942";
  t.lds_bytes = 65536;
  t.vgprs = 128;
  t.sgprs = 96;
  t.method.seconds = 1.5;
  return t;
}

void expect_same(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.program, b.program);
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.arch, b.arch);
  EXPECT_EQ(a.grid, b.grid);
  EXPECT_EQ(a.block, b.block);
  EXPECT_EQ(a.lds_bytes, b.lds_bytes);
  EXPECT_EQ(a.vgprs, b.vgprs);
  EXPECT_EQ(a.sgprs, b.sgprs);
  ASSERT_EQ(a.buffers.size(), b.buffers.size());
  for (std::size_t i = 0; i < a.buffers.size(); ++i) {
    EXPECT_EQ(a.buffers[i].name, b.buffers[i].name);
    EXPECT_EQ(a.buffers[i].base, b.buffers[i].base);
    EXPECT_EQ(a.buffers[i].bytes, b.buffers[i].bytes);
  }
  EXPECT_EQ(a.patterns, b.patterns);
  EXPECT_EQ(a.templates, b.templates);
  EXPECT_EQ(a.anchors, b.anchors);
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (std::size_t i = 0; i < a.blocks.size(); ++i) {
    EXPECT_EQ(a.blocks[i].template_index, b.blocks[i].template_index);
    EXPECT_EQ(a.blocks[i].first_anchor, b.blocks[i].first_anchor);
  }
  EXPECT_EQ(a.method.blocks_run, b.method.blocks_run);
  EXPECT_EQ(a.method.blocks_checked, b.method.blocks_checked);
  EXPECT_EQ(a.method.blocks_extrapolated, b.method.blocks_extrapolated);
  EXPECT_EQ(a.method.seconds, b.method.seconds);
}

/// Without the waiting for the disk that write_file() does.
void put(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

class TraceFile : public testing::Test {
 protected:
  /// The bytes of a small trace.
  std::string written() {
    write_trace(filled(synthetic::build(synthetic::Transpose{128})), file_);
    return read_file(file_);
  }

  /// Reading `bytes` is Error(kInput) in one sentence that names the file.
  void expect_refused(const std::string& bytes) {
    put(file_, bytes);
    try {
      (void)read_trace(file_);
      ADD_FAILURE() << "was read";
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::kInput);
      EXPECT_NE(std::string(e.what()).find(file_.string()), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
  }

  ScratchDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "launch.trace";
};

std::string header(std::uint64_t raw, std::uint32_t version = 1) {
  std::string out(kMagic);
  out.append(reinterpret_cast<const char*>(&version), sizeof version);
  out.append(reinterpret_cast<const char*>(&raw), sizeof raw);
  return out;
}

/// A well-formed file around any content.
std::string packed(const std::string& content) {
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 1));
  return header(content.size()) + frame;
}

std::string unpacked(const std::string& file) {
  std::uint64_t raw = 0;
  std::memcpy(&raw, file.data() + kRawAt, sizeof raw);
  std::string content(raw, '\0');
  EXPECT_EQ(ZSTD_decompress(content.data(), raw, file.data() + kFrameAt, file.size() - kFrameAt),
            raw);
  return content;
}

TEST_F(TraceFile, RoundTrip) {
  expect_same(filled({}), [&] {
    Trace empty = filled({});
    empty.grid = {0, 1, 1};
    write_trace(empty, file_);
    Trace t = read_trace(file_);
    t.grid = {1, 1, 1};
    return t;
  }());
  for (const Trace& t : {filled(synthetic::build(synthetic::Gemm{1024, 512, 256})),
                         filled(synthetic::build(synthetic::Transpose{256}))}) {
    write_trace(t, file_);
    EXPECT_TRUE(is_trace_file(file_));
    expect_same(read_trace(file_), t);
  }
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Trace t = synthetic::random_trace(random);
    write_trace(t, file_);
    expect_same(read_trace(file_), t);
  }
}

TEST_F(TraceFile, Truncated) {
  const std::string whole = written();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    expect_refused(whole.substr(0, size));
  }
  expect_refused(whole + "x");
  expect_refused(whole + whole.substr(kFrameAt));
}

TEST_F(TraceFile, FlippedBytes) {
  const std::string whole = written();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
    put(file_, bad);
    try {
      // A frame has a few bits that say nothing; all others must be noticed.
      const Trace t = read_trace(file_);
      EXPECT_EQ(unpacked(bad), unpacked(whole));
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::kInput);
    }
  }
}

TEST_F(TraceFile, NotATrace) {
  expect_refused("");
  expect_refused("int main() {}");
  expect_refused(std::string(100000, '\0'));
  EXPECT_FALSE(is_trace_file(file_));
  EXPECT_FALSE(is_trace_file(directory_.path() / "absent"));
  EXPECT_FALSE(is_trace_file(directory_.path()));
  EXPECT_THROW((void)read_trace(directory_.path() / "absent"), Error);
  EXPECT_THROW((void)read_trace(directory_.path()), Error);
}

TEST_F(TraceFile, AnotherVersion) {
  std::string bytes = written();
  const char other = static_cast<char>(bytes[kVersionAt] + 1);
  bytes[kVersionAt] = other;
  expect_refused(bytes);
  try {
    (void)read_trace(file_);
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(fmt::format("version {}", int{other})), std::string::npos)
        << e.what();
  }
}

/// A frame that claims to be huge must not be given the room it asks for.
TEST_F(TraceFile, HostileFrameSizes) {
  for (const std::uint64_t size :
       {1ULL << 33, 1ULL << 40, 1ULL << 50, (1ULL << 63) - 1, ~0ULL - 2}) {
    SCOPED_TRACE(size);
    // Frame header by hand: magic, 8-byte content size with checksum and a window of 1 KiB, then
    // one raw block of three bytes, marked as the last.
    std::string frame("\x28\xb5\x2f\xfd\xc0\x00", 6);
    frame.append(reinterpret_cast<const char*>(&size), sizeof size);
    frame += std::string("\x19\x00\x00", 3) + "abc";
    expect_refused(header(size) + frame);
    expect_refused(header(size) + frame.substr(0, 14));
  }
  const std::string whole = written();
  for (const std::uint64_t raw : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    expect_refused(header(raw) + whole.substr(kFrameAt));
  }
}

/// Every 8 aligned or unaligned bytes of the content replaced by sizes and indices that lie: what
/// is accepted must be harmless to those who read traces.
TEST_F(TraceFile, HostileContent) {
  const std::string content = unpacked(written());
  const Machine machine = synthetic::mi300x();
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (std::size_t at = 0; at < content.size(); at += at < 250 ? 1 : 101) {
    for (const std::uint64_t lie : {~0ULL, 1ULL << 62, 0x7ff8000000000000ULL, 0ULL}) {
      SCOPED_TRACE(at);
      std::string bad = content;
      std::memcpy(bad.data() + at, &lie, std::min(sizeof lie, bad.size() - at));
      if (bad == content) continue;
      put(file_, packed(bad));
      ++tried;
      try {
        (void)make_lines(read_trace(file_), machine, 1);
      } catch (const Error& e) {
        EXPECT_EQ(e.exit(), Exit::kInput);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, tried / 2);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    std::string bad = content.substr(0, random.below(content.size()));
    expect_refused(packed(bad));
  }
}

/// A flag that is neither true nor false, an amount of work that is none, ranges out of order.
TEST_F(TraceFile, ValuesThatCannotBe) {
  const auto content_of = [&](const Trace& t) {
    write_trace(t, file_);
    return unpacked(read_file(file_));
  };
  Trace t = filled(synthetic::build(synthetic::Transpose{64}));
  std::string bad = content_of(t);
  bool& flag = t.templates[0].intervals[0].barrier;
  flag = !flag;
  const std::string flipped = content_of(t);
  const auto at = std::mismatch(bad.begin(), bad.end(), flipped.begin()).first;
  ASSERT_NE(at, bad.end());
  *at = 2;
  expect_refused(packed(bad));
  for (const double cost : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    Trace odd = t;
    odd.templates[0].intervals[0].cost.matrix_flops = cost;
    expect_refused(packed(content_of(odd)));
  }
  for (const Pattern& p : {Pattern{}, Pattern{{4, 4}}, Pattern{{0, 0}}, Pattern{{0, 8}, {8, 8}},
                           Pattern{{0, 8}, {4, 8}}, Pattern{{0, 8}, {0xfffffff0, 0xffff}}}) {
    Trace odd = t;
    odd.patterns[0] = p;
    expect_refused(packed(content_of(odd)));
  }
}

}  // namespace
}  // namespace swizzleperf
