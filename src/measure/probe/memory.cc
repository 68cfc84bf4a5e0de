// See memory.h.
//
// Shuffling is an affine map of units, unit i from a i + b modulo their number n, a prime to n: a
// permutation by construction, computed by additions alone, in any order by any thread. b is not 0,
// so that the first element, which a kernel made for one input would recognise, is another.
#include "measure/probe/memory.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <system_error>
#include <thread>

#include "base/random.h"
#include "measure/probe/quietly.h"

namespace swizzleperf::measure::probe {
namespace {

constexpr std::uint64_t kUnit = 16;
constexpr std::uint64_t kAlignment = 256;     // of copies, so that they are copied at full speed
constexpr std::uint64_t kSlack = 1ULL << 30;  // left to the program's own launches and to timing
constexpr unsigned kMostThreads = 8;          // more than a bus can feed

/// Calls body(i) for all i < count on several threads. They take no signals of the program's, and
/// where the system grants none the caller works alone.
void over(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  const std::size_t wanted = std::min<std::size_t>(
      {count, kMostThreads, std::max(1U, std::thread::hardware_concurrency())});
  sigset_t all;
  sigset_t ours;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &ours);
  std::vector<std::thread> helpers;
  const auto hire = [&] {
    try {
      helpers.emplace_back(work);
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  };
  while (helpers.size() + 1 < wanted && hire()) {
  }
  ::pthread_sigmask(SIG_SETMASK, &ours, nullptr);
  work();
  for (std::thread& helper : helpers) helper.join();
}

std::vector<Chunk> chunks_of(std::span<const Region> regions, std::size_t first,
                             std::size_t count) {
  std::vector<Chunk> chunks;
  for (std::size_t r = first; r < first + count; ++r)
    for (std::uint64_t at = 0; at < regions[r].bytes; at += kChunk)
      chunks.push_back({r, at, std::min(kChunk, regions[r].bytes - at)});
  return chunks;
}

std::uint64_t host_memory_left() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    std::uint64_t kilobytes = 0;
    if (name == "MemAvailable:" && file >> kilobytes) return kilobytes << 10;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

/// Null when there is none. Pages are taken when they are written.
std::byte* map_host(std::uint64_t bytes) {
  if (bytes + kSlack > host_memory_left()) return nullptr;
  void* const place =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return place == MAP_FAILED ? nullptr : static_cast<std::byte*>(place);
}

/// Unmaps itself: the whole of one region, while it is shuffled.
class HostBuffer {
 public:
  explicit HostBuffer(std::uint64_t bytes) : data_(map_host(bytes)), bytes_(bytes) {
    if (!data_)
      throw std::runtime_error(
          fmt::format("the host has no {} bytes left to shuffle an input in", bytes));
  }
  ~HostBuffer() { ::munmap(data_, bytes_); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  std::uint64_t bytes_;
};

struct Affine {
  std::uint64_t factor;
  std::uint64_t shift;
  std::uint64_t units;

  [[nodiscard]] std::uint64_t operator()(std::uint64_t unit) const {
    return static_cast<std::uint64_t>((static_cast<Wide>(unit) * factor + shift) % units);
  }
};

Affine permutation(std::uint64_t units, std::size_t region, std::uint64_t seed) {
  if (units < 2) return {1, 0, std::max<std::uint64_t>(units, 1)};
  Random random(seed ^ mix64(region));
  std::uint64_t factor = 1 + random.below(units - 1);
  while (std::gcd(factor, units) != 1) ++factor;  // ends at units + 1 at the latest
  return {factor % units, 1 + random.below(units - 1), units};
}

/// A chunk of the shuffled region. A tail of less than a unit stays where it is.
void gather(const Affine& from, const std::byte* region, const Chunk& chunk, std::byte* to) {
  const std::uint64_t whole = chunk.bytes / kUnit;
  std::uint64_t unit = whole ? from(chunk.offset / kUnit) : 0;
  for (std::uint64_t i = 0; i < whole; ++i) {
    std::memcpy(to + i * kUnit, region + unit * kUnit, kUnit);
    unit += from.factor;
    if (unit >= from.units) unit -= from.units;
  }
  const std::uint64_t done = whole * kUnit;
  std::memcpy(to + done, region + chunk.offset + done, chunk.bytes - done);
}

/// Bytes that are a plain number of a moderate size as a float of 16 or 32 bits, and no NaN in any.
std::uint8_t poison_byte(std::uint64_t seed) {
  constexpr std::array<std::uint8_t, 8> kBytes = {0x5b, 0xa7, 0x39, 0xc6, 0x66, 0x93, 0x2d, 0xb4};
  return kBytes[seed % kBytes.size()];
}

}  // namespace

// --- Staging ------------------------------------------------------------------------------------

Staging::Staging(Device& device)
    : device_(device),
      buffers_(static_cast<std::byte*>(device.allocate_pinned(2 * kSlots * kChunk))) {
  if (buffers_) return;
  unpinned_ = std::make_unique<std::byte[]>(2 * kSlots * kChunk);
  buffers_ = unpinned_.get();
}

Staging::~Staging() {
  if (unpinned_) return;
  (void)fault_of([&] { device_.release_pinned(buffers_); });
}

void Staging::download(std::span<const Region> regions, std::span<const Chunk> chunks,
                       const Consume& consume) {
  const auto fetch = [&](std::size_t batch) {
    for (std::size_t i = batch * kSlots; i < std::min(chunks.size(), (batch + 1) * kSlots); ++i) {
      const Chunk& c = chunks[i];
      device_.copy_out(slot(batch % 2, i % kSlots), regions[c.region].base + c.offset, c.bytes);
    }
  };
  const std::size_t batches = (chunks.size() + kSlots - 1) / kSlots;
  if (batches) fetch(0);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    device_.synchronize();
    if (batch + 1 < batches) fetch(batch + 1);
    const std::size_t first = batch * kSlots;
    over(std::min(kSlots, chunks.size() - first),
         [&](std::size_t i) { consume(first + i, slot(batch % 2, i)); });
  }
}

void Staging::upload(std::span<const Region> regions, std::span<const Chunk> chunks,
                     const Produce& produce) {
  for (std::size_t first = 0; first < chunks.size(); first += kSlots) {
    const std::size_t buffer = first / kSlots % 2;
    const std::size_t count = std::min(kSlots, chunks.size() - first);
    over(count, [&](std::size_t i) { produce(first + i, slot(buffer, i)); });
    device_.synchronize();  // the other buffer is free again, and this one was before
    for (std::size_t i = 0; i < count; ++i) {
      const Chunk& c = chunks[first + i];
      device_.copy_in(regions[c.region].base + c.offset, slot(buffer, i), c.bytes);
    }
  }
  device_.synchronize();
}

// --- Snapshot -----------------------------------------------------------------------------------

Snapshot::Snapshot(Device& device, std::vector<Region> regions)
    : device_(device), staging_(device), regions_(std::move(regions)) {
  for (const Region& region : regions_) {
    offsets_.push_back(total_);
    total_ += (region.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (total_ == 0) return;
  const std::uint64_t free = device_.free_bytes();
  if (free >= total_ + kSlack) copy_ = static_cast<std::byte*>(device_.allocate(total_));
  if (copy_) {
    for (std::size_t r = 0; r < regions_.size(); ++r)
      device_.copy_within(copy_ + offsets_[r], regions_[r].base, regions_[r].bytes);
    device_.synchronize();
    return;
  }
  host_ = map_host(total_);
  if (!host_)
    throw std::runtime_error(
        fmt::format("there is no room for a copy of its {} bytes of device memory: {} are free on "
                    "the device and {} on the host, of which {} are left alone; give the program "
                    "a smaller problem",
                    total_, free, host_memory_left(), kSlack));
  copy_to_host();
}

Snapshot::~Snapshot() {
  if (host_) ::munmap(host_, total_);
  if (copy_) (void)fault_of([&] { device_.release(copy_); });
}

void Snapshot::copy_to_host() {
  const std::vector<Chunk> chunks = chunks_of(regions_, 0, regions_.size());
  staging_.download(regions_, chunks, [&](std::size_t i, const std::byte* bytes) {
    const Chunk& c = chunks[i];
    std::memcpy(host_ + offsets_[c.region] + c.offset, bytes, c.bytes);
  });
}

std::vector<Region> Snapshot::copies() const {
  std::vector<Region> result;
  result.reserve(regions_.size());
  for (std::size_t r = 0; r < regions_.size(); ++r)
    result.push_back({(host_ ? host_ : copy_) + offsets_[r], regions_[r].bytes});
  return result;
}

std::vector<std::uint64_t> Snapshot::hash_of_copy() {
  const std::vector<Region> from = copies();
  const std::vector<Chunk> chunks = chunks_of(from, 0, from.size());
  std::vector<std::uint64_t> hashes(chunks.size());
  const auto hash = [&](std::size_t i, const std::byte* bytes) {
    hashes[i] = XXH3_64bits(bytes, chunks[i].bytes);
  };
  if (!host_) {
    staging_.download(from, chunks, hash);
    return hashes;
  }
  over(chunks.size(),
       [&](std::size_t i) { hash(i, from[chunks[i].region].base + chunks[i].offset); });
  return hashes;
}

std::vector<std::uint64_t> Snapshot::hash_of_memory() {
  const std::vector<Chunk> chunks = chunks_of(regions_, 0, regions_.size());
  std::vector<std::uint64_t> hashes(chunks.size());
  staging_.download(regions_, chunks, [&](std::size_t i, const std::byte* bytes) {
    hashes[i] = XXH3_64bits(bytes, chunks[i].bytes);
  });
  return hashes;
}

void Snapshot::restore(std::size_t region) {
  const Region& r = regions_[region];
  if (!host_) return device_.copy_within(r.base, copy_ + offsets_[region], r.bytes);
  const std::vector<Chunk> chunks = chunks_of(regions_, region, 1);
  staging_.upload(regions_, chunks, [&](std::size_t i, std::byte* to) {
    std::memcpy(to, host_ + offsets_[region] + chunks[i].offset, chunks[i].bytes);
  });
}

void Snapshot::restore_all() {
  for (std::size_t r = 0; r < regions_.size(); ++r) restore(r);
}

void Snapshot::poison(std::size_t region, std::uint64_t seed) {
  device_.fill(regions_[region].base, poison_byte(seed), regions_[region].bytes);
}

void Snapshot::shuffle(std::size_t region, std::uint64_t seed) {
  const std::vector<Chunk> chunks = chunks_of(regions_, region, 1);
  const Affine from = permutation(regions_[region].bytes / kUnit, region, seed);
  const auto send = [&](const std::byte* bytes) {
    staging_.upload(regions_, chunks,
                    [&](std::size_t i, std::byte* to) { gather(from, bytes, chunks[i], to); });
  };
  if (host_) return send(host_ + offsets_[region]);
  const HostBuffer whole(regions_[region].bytes);
  staging_.download(copies(), chunks, [&](std::size_t i, const std::byte* bytes) {
    std::memcpy(whole.data() + chunks[i].offset, bytes, chunks[i].bytes);
  });
  send(whole.data());
}

std::string Snapshot::read(std::size_t region, std::uint64_t offset, std::uint64_t bytes) {
  if (region >= regions_.size() || bytes > kChunk || offset > regions_[region].bytes ||
      bytes > regions_[region].bytes - offset)
    throw std::runtime_error("there are no such bytes to read");
  std::string result(bytes, '\0');
  if (bytes == 0) return result;
  // One chunk of a region of its own.
  const Region wanted{regions_[region].base + offset, bytes};
  const Chunk all{0, 0, bytes};
  staging_.download({&wanted, 1}, {&all, 1}, [&](std::size_t, const std::byte* from) {
    std::memcpy(result.data(), from, bytes);
  });
  return result;
}

}  // namespace swizzleperf::measure::probe
