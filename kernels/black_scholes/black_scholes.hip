// One explicit step in time of the Black-Scholes equation over a grid of prices.
//
// With i = price / spacing, the value of an option a time dt earlier is
//     new[i] = a value[i - 1] + b value[i] + c value[i + 1]
//     a = dt (sigma^2 i^2 - r i) / 2
//     b = 1 - dt (sigma^2 i^2 + r)
//     c = dt (sigma^2 i^2 + r i) / 2
// and the two ends keep their values. Prices are an array, so their grid may be of any kind.
//
// A block of 256 threads computes 1024 neighbouring values, four a thread in 16-byte accesses. A
// thread's own values come from one access; of its two neighbours' all but a block's first and last
// are in lines that the block reads anyway.
//
//     block b:  price and value [1024 b, 1024 b + 1024), value[1024 b - 1], value[1024 b + 1024]
//               ->  result [1024 b, 1024 b + 1024)
//
// Neighbouring blocks share two lines of value: 2 in 128. That is all that an order could reuse.
//
// Usage: black_scholes [COUNT] [--check] [--time N]      (2^28)
#include "../common/program.h"

namespace {

constexpr int kThreads = 256;
constexpr int kChunk = 4;  // floats in a 16-byte access

struct Market {
  float rate = 0.03F;
  float volatility = 0.25F;
  float step = 1e-6F;  // in years
};

__device__ float earlier(Market m, float price, float below, float value, float above) {
  const float diffusion = m.volatility * m.volatility * price * price;
  const float drift = m.rate * price;
  const float a = 0.5F * m.step * (diffusion - drift);
  const float b = 1 - m.step * (diffusion + m.rate);
  const float c = 0.5F * m.step * (diffusion + drift);
  return a * below + b * value + c * above;
}

}  // namespace

__global__ __launch_bounds__(kThreads) void black_scholes(const float* __restrict__ price,
                                                          const float* __restrict__ value,
                                                          float* __restrict__ result, int count,
                                                          Market market) {
  const int first = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) * kChunk;
  if (first > 0 && first + kChunk < count) {
    const auto prices = load<kChunk>(price + first);
    const auto values = load<kChunk>(value + first);
    const float below = value[first - 1];
    const float above = value[first + kChunk];
    Pack<float, kChunk> results;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      results[i] = earlier(market, prices[i], i > 0 ? values[i - 1] : below, values[i],
                           i + 1 < kChunk ? values[i + 1] : above);
    }
    store<kChunk>(result + first, results);
  } else {
    for (int i = first; i < min(first + kChunk, count); ++i) {
      const bool end = i == 0 || i + 1 == count;
      result[i] = end ? value[i] : earlier(market, price[i], value[i - 1], value[i], value[i + 1]);
    }
  }
}

int main(int argc, char** argv) {
  int count = 1 << 28;
  suite::CommandLine line("black_scholes", "[COUNT]",
                          "an explicit step of Black-Scholes in floats");
  line.size("COUNT", count, 1 << 30);
  line.parse(argc, argv);

  suite::DeviceArray<float> price(count);
  suite::DeviceArray<float> value(count);
  suite::DeviceArray<float> result(count);
  const suite::Values<float> prices(1, 0, 1000, count);
  const suite::Values<float> values(2, 0, 100, count);
  prices.fill(price);
  values.fill(value);

  const Market market;
  const auto launch = [&] {
    black_scholes<<<suite::ceil_div(count, kThreads * kChunk), kThreads>>>(
        price.data(), value.data(), result.data(), count, market);
  };
  launch();
  suite::finish();

  bool right = true;
  if (line.check) {
    suite::Comparison comparison(1e-5);
    const std::vector<float> got = result.download();
    for (int i = 0; i < count; ++i) {
      const double squared =
          static_cast<double>(market.volatility) * market.volatility * prices[i] * prices[i];
      const double drift = static_cast<double>(market.rate) * prices[i];
      double expected = values[i];
      if (i > 0 && i + 1 < count) {
        expected = 0.5 * market.step * (squared - drift) * values[i - 1] +
                   (1 - market.step * (squared + market.rate)) * values[i] +
                   0.5 * market.step * (squared + drift) * values[i + 1];
      }
      comparison.add(i, got[i], expected);
    }
    right = comparison.report("result");
  }
  if (line.repetitions > 0) suite::measure("black_scholes", line.repetitions, launch);
  return right ? 0 : 1;
}
