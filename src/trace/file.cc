// Traces on disk: a magic line, a version, and one zstd frame (with its checksum) of the fields in
// order. Plain arrays compress well here because templates make everything repetitive; a
// self-describing format would cost more than it gives to a file that only this program reads.
//
// A file may be damaged or made to do harm. So no size in it is believed: the frame is unpacked as
// it comes rather than into the space it asks for, counts are held against the bytes that are left,
// and every index and number is checked before anybody uses it.
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include "base/files.h"
#include "fmt/format.h"
#include "swizzleperf/error.h"
#include "swizzleperf/trace.h"

namespace swizzleperf {
namespace {

constexpr std::string_view kMagic = "swizzleperf trace\n";
constexpr std::uint32_t kVersion = 2;
constexpr int kCompression = 3;
constexpr std::uint64_t kMaxBytes = 16ULL << 30;  // unpacked; a thousand times what we have seen

class Writer {
 public:
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(const std::string& text) {
    put<std::uint64_t>(text.size());
    bytes.append(text);
  }
  template <typename T>
  void put_all(const std::vector<T>& values) {
    put<std::uint64_t>(values.size());
    for (const T& v : values) put(v);
  }
  std::string bytes;
};

class Reader {
 public:
  Reader(std::span<const char> bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void get(T& value) {
    std::memcpy(&value, take(sizeof value), sizeof value);
  }
  void get(bool& value) {
    std::uint8_t byte = 0;
    get(byte);
    if (byte > 1) fail();
    value = byte == 1;
  }
  void get(std::string& text) {
    const std::uint64_t size = length(1);
    text.assign(take(size), size);
  }
  template <typename T>
  void get_all(std::vector<T>& values) {
    values.resize(length(sizeof(T)));
    for (T& v : values) get(v);
  }
  /// A count of items of at least `unit` bytes each, checked against what is left.
  std::uint64_t length(std::size_t unit) {
    std::uint64_t n = 0;
    get(n);
    if (n > (bytes_.size() - at_) / unit) fail();
    return n;
  }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
  [[noreturn]] void fail() const {
    throw input_error(
        fmt::format("{}: the trace is inconsistent; write it anew with `swizzleperf "
                    "trace`",
                    file_));
  }

 private:
  const char* take(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail();
    const char* p = bytes_.data() + at_;
    at_ += size;
    return p;
  }
  std::span<const char> bytes_;
  std::string file_;
  std::size_t at_ = 0;
};

// Field by field, so that no padding is written and both directions stay side by side.
void put_trace(Writer& w, const Trace& t) {
  w.put(t.program);
  w.put(t.kernel);
  w.put(t.symbol);
  w.put(t.arch);
  w.put(t.grid);
  w.put(t.block);
  w.put(t.lds_bytes);
  w.put(t.vgprs);
  w.put(t.sgprs);
  w.put<std::uint64_t>(t.buffers.size());
  for (const Buffer& b : t.buffers) {
    w.put(b.name);
    w.put(b.base);
    w.put(b.bytes);
  }
  w.put<std::uint64_t>(t.patterns.size());
  for (const Pattern& p : t.patterns) w.put_all(p);
  w.put<std::uint64_t>(t.templates.size());
  for (const Template& x : t.templates) {
    w.put<std::uint64_t>(x.events.size());
    for (const Event& e : x.events) {
      w.put(e.offset);
      w.put(e.pattern);
      w.put(e.slot);
      w.put(e.kind);
      w.put(e.wave);
    }
    w.put<std::uint64_t>(x.intervals.size());
    for (const Interval& i : x.intervals) {
      w.put(i.event_end);
      w.put(i.barrier);
      w.put(i.cost);
    }
    w.put_all(x.slot_buffer);
  }
  w.put_all(t.anchors);
  w.put<std::uint64_t>(t.blocks.size());
  for (const BlockTrace& b : t.blocks) {
    w.put(b.template_index);
    w.put(b.first_anchor);
  }
  w.put(t.method);
}

void get_trace(Reader& r, Trace& t) {
  r.get(t.program);
  r.get(t.kernel);
  r.get(t.symbol);
  r.get(t.arch);
  r.get(t.grid);
  r.get(t.block);
  r.get(t.lds_bytes);
  r.get(t.vgprs);
  r.get(t.sgprs);
  t.buffers.resize(r.length(24));
  for (Buffer& b : t.buffers) {
    r.get(b.name);
    r.get(b.base);
    r.get(b.bytes);
  }
  t.patterns.resize(r.length(8));
  for (Pattern& p : t.patterns) r.get_all(p);
  t.templates.resize(r.length(24));
  for (Template& x : t.templates) {
    x.events.resize(r.length(16));
    for (Event& e : x.events) {
      r.get(e.offset);
      r.get(e.pattern);
      r.get(e.slot);
      r.get(e.kind);
      r.get(e.wave);
    }
    x.intervals.resize(r.length(37));
    for (Interval& i : x.intervals) {
      r.get(i.event_end);
      r.get(i.barrier);
      r.get(i.cost);
    }
    r.get_all(x.slot_buffer);
  }
  r.get_all(t.anchors);
  t.blocks.resize(r.length(12));
  for (BlockTrace& b : t.blocks) {
    r.get(b.template_index);
    r.get(b.first_anchor);
  }
  r.get(t.method);
}

/// Sorted, disjoint, not touching, the first at 0, within 4 GiB.
bool consistent(const Pattern& pattern) {
  std::uint64_t end = 0;
  for (const ByteRange& r : pattern) {
    const bool first = &r == pattern.data();
    if (r.size == 0 || (first ? r.begin != 0 : r.begin <= end)) return false;
    end = std::uint64_t{r.begin} + r.size;
  }
  return end > 0 && end <= std::numeric_limits<std::uint32_t>::max();
}

bool consistent(const Cost& cost) {
  const auto amount = [](double x) { return std::isfinite(x) && x >= 0; };
  return amount(cost.instructions) && amount(cost.vector_ops) && amount(cost.matrix_flops) &&
         amount(cost.lds_bytes);
}

bool consistent(const Trace& t) {
  if (t.blocks.size() != t.grid.count()) return false;
  for (const Pattern& p : t.patterns) {
    if (!consistent(p)) return false;
  }
  for (const Template& x : t.templates) {
    for (const std::uint16_t b : x.slot_buffer) {
      if (b >= t.buffers.size()) return false;
    }
    for (const Event& e : x.events) {
      if (e.pattern >= t.patterns.size() || e.slot >= x.slot_buffer.size() ||
          e.kind > AccessKind::kAtomic) {
        return false;
      }
    }
    std::uint32_t end = 0;
    for (const Interval& i : x.intervals) {
      if (i.event_end < end || i.event_end > x.events.size() || !consistent(i.cost)) return false;
      end = i.event_end;
    }
    if (end != x.events.size()) return false;
  }
  for (const BlockTrace& b : t.blocks) {
    if (b.template_index >= t.templates.size()) return false;
    const std::size_t slots = t.templates[b.template_index].slot_buffer.size();
    if (b.first_anchor > t.anchors.size() || slots > t.anchors.size() - b.first_anchor)
      return false;
  }
  return true;
}

/// Unpacks the one frame of exactly `raw` bytes; nothing when it is anything else.
std::string unpack(std::span<const char> frame, std::uint64_t raw) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  constexpr std::uint64_t kPiece = 1 << 20;
  ZSTD_inBuffer in = {frame.data(), frame.size(), 0};
  std::string text;
  std::size_t more = 1;  // 0 = the frame ended
  while (more != 0 && raw <= kMaxBytes) {
    const std::size_t had = text.size();
    text.resize(std::min(raw, std::max(2 * had, kPiece)));
    ZSTD_outBuffer out = {text.data(), text.size(), had};
    const std::size_t read = in.pos;
    more = ZSTD_decompressStream(context.get(), &out, &in);
    text.resize(out.pos);
    if (ZSTD_isError(more) != 0U) return {};
    if (more != 0 && out.pos == had && in.pos == read) return {};  // no progress: it is cut short
  }
  return more == 0 && in.pos == in.size && text.size() == raw ? text : std::string();
}

}  // namespace

void write_trace(const Trace& trace, const std::filesystem::path& file) {
  Writer w;
  put_trace(w, trace);
  std::string out(kMagic);
  const std::uint64_t raw = w.bytes.size();
  out.append(reinterpret_cast<const char*>(&kVersion), sizeof kVersion);
  out.append(reinterpret_cast<const char*>(&raw), sizeof raw);
  const std::size_t head = out.size();
  out.resize(head + ZSTD_compressBound(raw));
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kCompression);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  const std::size_t size =
      ZSTD_compress2(context, out.data() + head, out.size() - head, w.bytes.data(), w.bytes.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size) != 0U) {
    throw input_error(fmt::format("{}: the trace could not be compressed: {}", file.string(),
                                  ZSTD_getErrorName(size)));
  }
  out.resize(head + size);
  write_file(file, out);
}

bool is_trace_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string head(kMagic.size(), '\0');
  return in.read(head.data(), static_cast<std::streamsize>(head.size())) && head == kMagic;
}

Trace read_trace(const std::filesystem::path& file) {
  const std::string name = file.string();
  const std::string bytes = read_file(file);
  const std::size_t head = kMagic.size() + sizeof(std::uint32_t) + sizeof(std::uint64_t);
  if (bytes.size() < head || bytes.compare(0, kMagic.size(), kMagic) != 0) {
    throw input_error(name + ": not a swizzleperf trace");
  }
  std::uint32_t version = 0;
  std::uint64_t raw = 0;
  std::memcpy(&version, bytes.data() + kMagic.size(), sizeof version);
  std::memcpy(&raw, bytes.data() + kMagic.size() + sizeof version, sizeof raw);
  if (version != kVersion) {
    throw input_error(
        fmt::format("{}: trace version {} (this program reads {}); write it anew with "
                    "`swizzleperf trace`",
                    name, version, kVersion));
  }
  const std::string text = unpack(std::span(bytes).subspan(head), raw);
  if (text.empty()) {
    throw input_error(name +
                      ": the trace is truncated or damaged; write it anew with `swizzleperf "
                      "trace`");
  }
  Trace trace;
  Reader reader(text, name);
  get_trace(reader, trace);
  if (!reader.at_end() || !consistent(trace)) reader.fail();
  return trace;
}

}  // namespace swizzleperf
