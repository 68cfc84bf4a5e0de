// Element i is a function of the seed and of i alone.
//
// A trace at full size touches arrays of gigabytes, whose contents hardly ever matter to the
// addresses, and writing gigabytes takes seconds and as much memory. So the random kinds repeat:
// one period is made, in an anonymous file, and mapped privately again and again. A page is copied
// when a kernel writes it, as if it had been there from the start. The period is a prime number of
// pages, so that no stride of a power of two sees the same values over and over.
#include "vgpu/launcher/fill.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/fd.h"
#include "base/files.h"
#include "base/random.h"
#include "swizzleperf/error.h"

namespace swizzleperf::vgpu {
namespace {

constexpr std::size_t kPeriod = std::size_t{4096} * 8191;

using Element = std::function<void(std::uint64_t index, std::byte* out)>;

/// In [0, 1), from 53 bits.
double unit(std::uint64_t seed, std::uint64_t index) {
  return std::ldexp(static_cast<double>(mix64(mix64(seed) ^ index) >> 11), -53);
}

void fill_plainly(std::span<std::byte> memory, std::uint32_t step, const Element& element) {
  for (std::uint64_t i = 0; i < memory.size() / step; ++i) element(i, &memory[i * step]);
}

void fill_periodically(std::span<std::byte> memory, std::uint32_t step, const Element& element) {
  if (memory.size() <= kPeriod) return fill_plainly(memory, step, element);
  const Fd file(memfd_create("swizzleperf-fill", MFD_CLOEXEC));
  const bool sized = file.valid() && ftruncate(file.get(), kPeriod) == 0;
  void* const period =
      sized ? mmap(nullptr, kPeriod, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0)
            : MAP_FAILED;
  if (period == MAP_FAILED) throw input_error("no memory to make an array's initial values");
  fill_plainly({static_cast<std::byte*>(period), kPeriod}, step, element);
  munmap(period, kPeriod);
  for (std::size_t at = 0; at < memory.size(); at += kPeriod) {
    const std::size_t bytes = std::min(kPeriod, memory.size() - at);
    if (mmap(&memory[at], bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file.get(), 0) ==
        MAP_FAILED) {
      throw input_error("no memory for an array's initial values");
    }
  }
}

Element constant(const ElementType& type, double value) {
  return [&type, value](std::uint64_t, std::byte* out) { encode(type, value, out); };
}

Element uniform(const ElementType& type, const nlohmann::json& fill) {
  const double low = fill.at("low");
  const double high = fill.at("high");
  const std::uint64_t seed = fill.at("seed");
  return [=, &type](std::uint64_t i, std::byte* out) {
    encode(type, low + (high - low) * unit(seed, i), out);
  };
}

/// Box and Muller's: one of the two numbers that a pair gives.
Element normal(const ElementType& type, const nlohmann::json& fill) {
  const double mean = fill.at("mean");
  const double deviation = fill.at("deviation");
  const std::uint64_t seed = fill.at("seed");
  return [=, &type](std::uint64_t i, std::byte* out) {
    const double radius = std::sqrt(-2 * std::log(1 - unit(seed, 2 * i)));
    const double angle = 2 * std::numbers::pi * unit(seed, 2 * i + 1);
    encode(type, mean + deviation * radius * std::cos(angle), out);
  };
}

/// Whole numbers of [low, high).
Element integers(const ElementType& type, const nlohmann::json& fill) {
  const std::int64_t low = fill.at("low");
  const auto width = static_cast<std::uint64_t>(fill.at("high").get<std::int64_t>() - low);
  const std::uint64_t seed = fill.at("seed");
  return [=, &type](std::uint64_t i, std::byte* out) {
    encode(type, low + static_cast<std::int64_t>(Random(mix64(seed) ^ i).below(width)), out);
  };
}

/// Where each row of a sparse matrix begins, and at last where the last one ends: from 0 to
/// `total`, rows between none and twice the average long.
Element row_starts(const ElementType& type, const nlohmann::json& fill, std::uint64_t count) {
  const std::uint64_t total = fill.at("total");
  const std::uint64_t seed = fill.at("seed");
  const std::uint64_t rows = count - 1;
  const std::uint64_t average = rows == 0 ? 0 : total / rows;
  return [=, &type](std::uint64_t i, std::byte* out) {
    const auto even =
        static_cast<std::uint64_t>(static_cast<Wide>(total) * i / std::max<std::uint64_t>(rows, 1));
    const bool end = i == 0 || i == rows || average == 0;
    const std::uint64_t shift = end ? 0 : Random(mix64(seed) ^ i).below(average);
    encode(type, static_cast<std::int64_t>(i == rows ? total : even + shift), out);
  };
}

void from_file(std::span<std::byte> memory, const std::string& name) {
  const std::string contents = read_file(name);
  if (contents.size() != memory.size()) {
    throw input_error(fmt::format("{} holds {} bytes, but the array that it fills has {}", name,
                                  contents.size(), memory.size()));
  }
  std::memcpy(memory.data(), contents.data(), memory.size());
}

}  // namespace

void fill_array(std::span<std::byte> memory, const ElementType& type, const nlohmann::json& fill) {
  const std::string kind = fill.at("kind");
  const std::uint32_t step = type.bytes;
  if (kind == "constant") {
    const double value = fill.at("value");
    if (value != 0) fill_periodically(memory, step, constant(type, value));
  } else if (kind == "arange") {
    fill_plainly(memory, step, [&](std::uint64_t i, std::byte* out) {
      encode(type, static_cast<std::int64_t>(i), out);
    });
  } else if (kind == "uniform") {
    fill_periodically(memory, step, uniform(type, fill));
  } else if (kind == "normal") {
    fill_periodically(memory, step, normal(type, fill));
  } else if (kind == "integers") {
    fill_periodically(memory, step, integers(type, fill));
  } else if (kind == "row_starts") {
    fill_plainly(memory, step, row_starts(type, fill, memory.size() / step));
  } else {
    from_file(memory, fill.at("path"));
  }
}

}  // namespace swizzleperf::vgpu
