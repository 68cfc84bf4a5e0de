// Three arrays in, one out, element by element: out = gelu(x + bias) + residual, in half precision.
//
// A block of 128 threads computes 1024 neighbouring elements, eight a thread: each wave reads and
// writes whole lines in 16-byte accesses, and arithmetic is done in single precision.
//
//     block b:  x, bias, residual [1024 b, 1024 b + 1024)  ->  out [1024 b, 1024 b + 1024)
//
// No two blocks touch a common line, so there is nothing that an order of blocks could reuse: the
// kernel is here because a tool that finds a swizzle for it is wrong.
//
// Usage: elementwise [COUNT] [--check] [--time N]      (2^24)
#include "../common/program.h"

namespace {

constexpr int kThreads = 128;
constexpr int kChunk = 8;  // halves in a 16-byte access

__device__ float gelu(float x) { return 0.5F * x * (1 + erff(x * 0.70710678F)); }

__device__ half fused(half x, half bias, half residual) {
  const float sum = static_cast<float>(x) + static_cast<float>(bias);
  return static_cast<half>(gelu(sum) + static_cast<float>(residual));
}

}  // namespace

__global__ __launch_bounds__(kThreads) void elementwise(const half* __restrict__ x,
                                                        const half* __restrict__ bias,
                                                        const half* __restrict__ residual,
                                                        half* __restrict__ out, int count) {
  const int first = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) * kChunk;
  if (first + kChunk <= count) {
    const auto xs = load<kChunk>(x + first);
    const auto biases = load<kChunk>(bias + first);
    const auto residuals = load<kChunk>(residual + first);
    Pack<half, kChunk> results;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) results[i] = fused(xs[i], biases[i], residuals[i]);
    store<kChunk>(out + first, results);
  } else {
    for (int i = first; i < count; ++i) out[i] = fused(x[i], bias[i], residual[i]);
  }
}

int main(int argc, char** argv) {
  int count = 1 << 24;
  suite::CommandLine line("elementwise", "[COUNT]", "out = gelu(x + bias) + residual in halves");
  line.size("COUNT", count, 1 << 30);
  line.parse(argc, argv);

  suite::DeviceArray<half> x(count);
  suite::DeviceArray<half> bias(count);
  suite::DeviceArray<half> residual(count);
  suite::DeviceArray<half> out(count);
  const suite::Values<half> x_values(1, -4, 4, count);
  const suite::Values<half> bias_values(2, -1, 1, count);
  const suite::Values<half> residual_values(3, -2, 2, count);
  x_values.fill(x);
  bias_values.fill(bias);
  residual_values.fill(residual);

  const auto launch = [&] {
    elementwise<<<suite::ceil_div(count, kThreads * kChunk), kThreads>>>(
        x.data(), bias.data(), residual.data(), out.data(), count);
  };
  launch();
  suite::finish();

  bool right = true;
  if (line.check) {
    suite::Comparison comparison(1.01 * suite::kHalfRounding);
    const std::vector<half> got = out.download();
    for (int i = 0; i < count; ++i) {
      const double sum = static_cast<double>(x_values[i]) + bias_values[i];
      const double expected = 0.5 * sum * (1 + std::erf(sum * std::sqrt(0.5))) + residual_values[i];
      comparison.add(i, static_cast<float>(got[i]), expected);
    }
    right = comparison.report("out");
  }
  if (line.repetitions > 0) suite::measure("elementwise", line.repetitions, launch);
  return right ? 0 : 1;
}
