// See compare.h.
#include "measure/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace swizzleperf::measure {
namespace {

double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

template <typename T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::size_t size_of(Element element) {
  switch (element) {
    case Element::kF64:
      return 8;
    case Element::kF32:
      return 4;
    case Element::kF16:
    case Element::kBf16:
      break;
  }
  return 2;
}

double value_at(const char* bytes, Element element) {
  switch (element) {
    case Element::kF64:
      return load<double>(bytes);
    case Element::kF32:
      return load<float>(bytes);
    case Element::kF16:
      return half_value(load<std::uint16_t>(bytes));
    case Element::kBf16:
      break;
  }
  const std::uint32_t bits = std::uint32_t{load<std::uint16_t>(bytes)} << 16;
  return load<float>(reinterpret_cast<const char*>(&bits));
}

bool agree(double a, double b, double relative) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

/// One chunk whose hashes differ.
struct Chunk {
  std::uint32_t allocation;
  std::uint64_t offset;
  std::uint64_t bytes;
};

std::vector<Chunk> differing_chunks(const MemoryHash& a, const MemoryHash& b,
                                    const std::vector<Allocation>& allocations) {
  std::vector<Chunk> chunks;
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    for (std::uint64_t c = 0; c < a[i].size(); ++c) {
      if (a[i][c] == b[i][c]) continue;
      const std::uint64_t offset = c * kChunkBytes;
      chunks.push_back({i, offset, std::min(kChunkBytes, allocations[i].bytes - offset)});
    }
  }
  return chunks;
}

/// The first difference that counts, over chunks that both sessions hold as their last launch left
/// them; "" if there is none.
std::string first_difference(Session& own, Session& original, const std::vector<Chunk>& chunks,
                             const std::optional<Tolerance>& tolerance) {
  constexpr std::size_t kShown = 8;
  for (const Chunk& c : chunks) {
    const std::string theirs = original.read(c.allocation, c.offset, c.bytes);
    const std::string ours = own.read(c.allocation, c.offset, c.bytes);
    const auto exact = [&]() -> std::optional<std::size_t> {
      const auto at = std::mismatch(theirs.begin(), theirs.end(), ours.begin(), ours.end()).first;
      if (at == theirs.end()) return std::nullopt;
      return static_cast<std::size_t>(at - theirs.begin());
    };
    const auto at = tolerance ? first_beyond(theirs, ours, *tolerance) : exact();
    if (!at) continue;
    return fmt::format("first at byte {} of allocation {} ({} bytes): {} instead of {}",
                       c.offset + *at, c.allocation, own.held().allocations[c.allocation].bytes,
                       hex(std::string_view(ours).substr(*at, kShown)),
                       hex(std::string_view(theirs).substr(*at, kShown)));
  }
  return "";
}

}  // namespace

std::optional<std::size_t> first_beyond(std::string_view a, std::string_view b,
                                        const Tolerance& tolerance) {
  const std::size_t size = size_of(tolerance.element);
  const std::size_t whole = a.size() / size * size;
  for (std::size_t i = 0; i < whole; i += size) {
    const double x = value_at(a.data() + i, tolerance.element);
    const double y = value_at(b.data() + i, tolerance.element);
    if (!agree(x, y, tolerance.relative)) return i;
  }
  for (std::size_t i = whole; i < a.size(); ++i) {
    if (a[i] != b[i]) return i;
  }
  return std::nullopt;
}

std::string_view state_name(Start start) {
  switch (start) {
    case Start::kPoisoned:
      return "outputs poisoned";
    case Start::kFresh:
      return "fresh inputs";
    case Start::kAsLeft:
    case Start::kAsIs:
      break;
  }
  return "memory as it is";
}

namespace {

Written united(const Written& a, const Written& b) {
  Written all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

/// What the launch does from one more state; where that kills the original, it is started again.
void learn_state(Start state, Session& original, const StartProgram& start, std::uint64_t seed,
                 Reference& r) {
  try {
    if (state == Start::kFresh) {
      const MemoryHash found = original.state(state, r.written, seed);
      r.written = united(r.written, differing(found, original.launch(state, r.written, seed)));
    }
    r.after[state] = original.launch(state, r.written, seed);
  } catch (const Refusal& refusal) {
    r.notes.push_back(fmt::format("not compared with {}: there the original itself fails ({})",
                                  state_name(state), refusal.what()));
    original = start();
  }
}

}  // namespace

Reference learn(Session& original, const StartProgram& start, std::uint64_t seed) {
  Reference r;
  r.before = original.before();
  const MemoryHash after = original.launch(Start::kAsIs, {}, seed);
  r.written = differing(r.before, after);
  r.repeatable = original.launch(Start::kAsIs, r.written, seed) == after;
  r.idempotent = original.launch(Start::kAsLeft, r.written, seed) == after;
  r.after[Start::kAsIs] = after;
  learn_state(Start::kFresh, original, start, seed, r);
  learn_state(Start::kPoisoned, original, start, seed, r);
  if (r.written.empty()) {
    r.notes.emplace_back("the launch changes nothing in device memory: equality says little");
  }
  return r;
}

std::string difference(Session& own, Session& original, const Reference& reference, Start start,
                       const std::optional<Tolerance>& tolerance, std::uint64_t seed) {
  const MemoryHash ours = own.launch(start, reference.written, seed);
  if (ours == reference.after.at(start)) return "";
  const MemoryHash theirs = original.launch(start, reference.written, seed);
  const std::vector<Chunk> chunks = differing_chunks(theirs, ours, own.held().allocations);
  const std::string first = first_difference(own, original, chunks, tolerance);
  if (first.empty()) return "";
  return fmt::format("with {} it leaves other bytes than the original, {}", state_name(start),
                     first);
}

}  // namespace swizzleperf::measure
