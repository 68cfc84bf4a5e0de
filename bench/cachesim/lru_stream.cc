// One LRU cache and a stream of addresses, for comparing with an independent simulator.
//
//     lru_stream KERNEL FILE REQUESTS SETS WAYS LINE_BYTES
//
// Writes the stream to FILE (64-bit addresses, as many as asked for) and prints what our cache
// makes of it: hits, and the seconds of CPU time of the best of three passes. The stream is that of
// one die of an MI300X in GEMM 8192^3, blocks in flight taking turns at each barrier: real strides,
// real reuse. Sets are chosen by plain address bits, which is what others do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "cachesim/cache.h"
#include "cachesim/geometry.h"
#include "support/synthetic.h"
#include "trace/lines.h"

namespace swizzleperf {
namespace {

constexpr std::uint32_t kDies = 8;
constexpr std::size_t kInFlight = 38;

std::vector<std::uint32_t> lines_of_one_die(const Trace& launch, std::size_t requests,
                                            std::uint32_t line_bytes) {
  Machine machine = synthetic::mi300x();
  machine.l2.line_bytes = line_bytes;
  const LineTrace trace = make_lines(launch, machine, 1);
  std::vector<std::uint32_t> lines;
  for (std::size_t first = 0; first < trace.blocks.size(); first += kInFlight * kDies) {
    for (std::size_t step = 0; step < trace.templates[0].intervals.size(); ++step) {
      for (std::size_t b = first; b < std::min(first + kInFlight * kDies, trace.blocks.size());
           b += kDies) {
        const LineTemplate& t = trace.templates[trace.blocks[b].template_index];
        const std::uint32_t* anchors = trace.anchors.data() + trace.blocks[b].first_anchor;
        for (std::uint32_t i = step == 0 ? 0 : t.intervals[step - 1].request_end;
             i < t.intervals[step].request_end; ++i) {
          lines.push_back(anchors[t.requests[i].slot] + t.requests[i].line);
          if (lines.size() == requests) return lines;
        }
      }
    }
  }
  return lines;
}

/// Hits of all lines; sets and tags of a batch are worked out before they are looked up.
template <typename Tag>
std::uint64_t replay(std::span<const std::uint32_t> lines, const cachesim::SetMap& place,
                     std::uint32_t ways) {
  constexpr std::size_t kBatch = 64;
  cachesim::Cache<Tag> cache(place.sets(), ways);
  std::array<std::uint32_t, kBatch> set{};
  std::array<std::uint32_t, kBatch> tag{};
  std::uint64_t hits = 0;
  for (std::size_t first = 0; first < lines.size(); first += kBatch) {
    const std::size_t n = std::min(kBatch, lines.size() - first);
    place.map(lines.data() + first, set.data(), tag.data(), static_cast<std::uint32_t>(n));
    for (std::size_t i = 0; i < n; ++i) cache.prefetch(set[i]);
    for (std::size_t i = 0; i < n; ++i) {
      cachesim::Evicted evicted;
      hits += cache.access(set[i], tag[i], 1, false, evicted) != 0 ? 1 : 0;
    }
  }
  return hits;
}

int run(const std::string& kernel, const std::string& file, std::size_t requests,
        std::uint32_t sets, std::uint32_t ways, std::uint32_t line_bytes) {
  const Trace launch = kernel == "gemm" ? synthetic::build(synthetic::Gemm{8192, 8192, 8192}, 1)
                                        : synthetic::build(synthetic::Transpose{8192}, 1);
  const std::vector<std::uint32_t> lines = lines_of_one_die(launch, requests, line_bytes);
  std::vector<std::uint64_t> addresses;
  addresses.reserve(lines.size());
  for (const std::uint32_t line : lines) addresses.push_back(std::uint64_t{line} * line_bytes);
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(addresses.data()),
            static_cast<std::streamsize>(addresses.size() * sizeof(std::uint64_t)));
  if (!out.flush()) {
    fmt::print(stderr, "lru_stream: cannot write {}\n", file);
    return 1;
  }
  CacheModel model;
  model.bytes = std::uint64_t{sets} * ways * line_bytes;
  model.line_bytes = line_bytes;
  model.ways = ways;
  const cachesim::SetMap place(model);
  const std::uint32_t last = *std::max_element(lines.begin(), lines.end());
  const bool narrow = place.largest_tag(last) < cachesim::WayGroup<std::uint16_t>::kNone;
  std::uint64_t hits = 0;
  double best = 1e9;
  for (int pass = 0; pass < 3; ++pass) {
    const std::clock_t start = std::clock();
    hits = narrow ? replay<std::uint16_t>(lines, place, ways)
                  : replay<std::uint32_t>(lines, place, ways);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  fmt::print("{{\"requests\": {}, \"hits\": {}, \"seconds\": {}}}\n", lines.size(), hits, best);
  return 0;
}

}  // namespace
}  // namespace swizzleperf

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fputs("usage: lru_stream gemm|transpose FILE REQUESTS SETS WAYS LINE_BYTES\n", stderr);
    return 2;
  }
  const auto number = [&](int i) { return std::strtoul(argv[i], nullptr, 10); };
  return swizzleperf::run(argv[1], argv[2], number(3), static_cast<std::uint32_t>(number(4)),
                          static_cast<std::uint32_t>(number(5)),
                          static_cast<std::uint32_t>(number(6)));
}
