// Shuffles, votes and ballots over waves and parts of waves, of every type.
#include "check.h"

template <class T>
__global__ void shuffle(T* out, int width) {
  const int lane = threadIdx.x;
  const T mine = static_cast<T>(lane * 3 + 1);
  out[lane] = __shfl(mine, (lane + 1) % width, width);
  out[64 + lane] = __shfl_up(mine, 2, width);
  out[128 + lane] = __shfl_down(mine, 3, width);
  out[192 + lane] = __shfl_xor(mine, 5, width);
}

template <class T>
void check_shuffle(int width) {
  Array<T> out(256);
  shuffle<T><<<1, 64>>>(out, width);
  out.download();
  for (int lane = 0; lane < 64; ++lane) {
    const auto value = [&](int from) { return static_cast<T>(from * 3 + 1); };
    const int base = lane / width * width;
    const int in = lane - base;
    check_equal("shfl", lane, out.host[lane], value(base + (lane + 1) % width));
    check_equal("up", lane, out.host[64 + lane], value(in >= 2 ? lane - 2 : lane));
    check_equal("down", lane, out.host[128 + lane], value(in + 3 < width ? lane + 3 : lane));
    const int other = lane ^ 5;
    check_equal("xor", lane, out.host[192 + lane], value(other < base + width ? other : lane));
  }
}

__global__ void vote(unsigned long long* masks, int* counts) {
  const int lane = threadIdx.x;
  const unsigned long long odd = __ballot(lane % 2);
  const int any = __any(lane == 63);
  const int all = __all(lane < 64);
  const int none = __any(lane > 64);
  if (lane < 40) {
    const unsigned long long active = __ballot(1);
    if (lane == 7) masks[1] = active;
    const int some = __all(lane < 40);
    if (lane == 8) counts[3] = some;
  }
  if (lane == 0) {
    masks[0] = odd;
    counts[0] = any;
    counts[1] = all;
    counts[2] = none;
  }
}

// A sum over the wave, as reductions write it.
__global__ void wave_sums(const float* in, float* out) {
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = warpSize / 2; step > 0; step /= 2) v += __shfl_down(v, step);
  if (threadIdx.x % warpSize == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / warpSize] = v;
}

int main() {
  for (int width : {64, 32, 16, 8}) {
    check_shuffle<int>(width);
    check_shuffle<unsigned>(width);
    check_shuffle<float>(width);
    check_shuffle<double>(width);
    check_shuffle<long long>(width);
    check_shuffle<unsigned long long>(width);
  }
  Array<unsigned long long> masks(2);
  Array<int> counts(4);
  vote<<<1, 64>>>(masks, counts);
  masks.download();
  counts.download();
  CHECK(masks.host[0] == 0xaaaaaaaaaaaaaaaaull);
  CHECK(masks.host[1] == 0xffffffffffull);
  CHECK(counts.host[0] == 1 && counts.host[1] == 1 && counts.host[2] == 0 && counts.host[3] == 1);

  std::vector<float> values(1024);
  for (int i = 0; i < 1024; ++i) values[i] = static_cast<float>(i % 17);
  Array<float> in(values);
  Array<float> sums(16);
  wave_sums<<<4, 256>>>(in, sums);
  sums.download();
  for (int w = 0; w < 16; ++w) {
    float wanted = 0;
    for (int i = 0; i < 64; ++i) wanted += values[w * 64 + i];
    check_equal("sum", w, sums.host[w], wanted);
  }
  return report();
}
