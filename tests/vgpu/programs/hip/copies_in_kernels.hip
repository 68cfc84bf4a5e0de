// memcpy, memset and memmove in kernels, of constant and run-time lengths; structs by value; local
// arrays with run-time indices.
#include "check.h"

struct Big {
  int values[300];
};

__global__ void fixed(const Big* in, Big* out) {
  Big copy = in[threadIdx.x];
  copy.values[threadIdx.x * 3] += 1000;
  out[threadIdx.x] = copy;
}

__global__ void run_time(const char* in, char* out, int n, int stride) {
  const int i = threadIdx.x;
  const int length = (i * 13) % n;
  memset(out + i * stride, 'x', n);
  __builtin_memcpy(out + i * stride, in + i, length);
  memcpy(out + i * stride + length, in, n - length);
}

__global__ void overlapping(char* data, int stride, int length) {
  char* mine = data + threadIdx.x * stride;
  __builtin_memmove(mine + 3, mine, length);
  __builtin_memmove(mine, mine + 5, length);
}

__global__ void local_arrays(const int* in, int* out, int n) {
  int counts[16];
  for (int& c : counts) c = 0;
  for (int k = 0; k < n; ++k) ++counts[in[k] % 16];
  int order[16];
  for (int k = 0; k < 16; ++k) order[k] = k;
  // Sorted by count, by insertion.
  for (int k = 1; k < 16; ++k)
    for (int j = k; j > 0 && counts[order[j - 1]] < counts[order[j]]; --j) {
      const int t = order[j];
      order[j] = order[j - 1];
      order[j - 1] = t;
    }
  out[threadIdx.x] = order[threadIdx.x % 16] * 100 + counts[order[threadIdx.x % 16]];
}

struct Arguments {
  float* out;
  const float* in[2];
  int n;
  struct {
    float a, b;
  } weights;
  char tag[5];
};
__global__ void by_value(Arguments p) {
  const int i = threadIdx.x;
  if (i < p.n) p.out[i] = p.in[0][i] * p.weights.a + p.in[1][i] * p.weights.b + p.tag[i % 5];
}

int main() {
  std::vector<Big> bigs(64);
  for (int i = 0; i < 64; ++i)
    for (int k = 0; k < 300; ++k) bigs[i].values[k] = i * 300 + k;
  Array<Big> big(bigs);
  Array<Big> copied(64);
  fixed<<<1, 64>>>(big, copied);
  copied.download();
  for (int i = 0; i < 64; ++i)
    for (int k = 0; k < 300; ++k)
      check_equal("big", i * 300 + k, copied.host[i].values[k], i * 300 + k + (k == i * 3 ? 1000 : 0));

  const int n = 77;
  std::vector<char> text(200);
  for (int i = 0; i < 200; ++i) text[i] = static_cast<char>('A' + i % 26);
  Array<char> in(text);
  Array<char> out(64 * 100);
  run_time<<<1, 64>>>(in, out, n, 100);
  out.download();
  for (int i = 0; i < 64; ++i) {
    const int length = i * 13 % n;
    for (int k = 0; k < n; ++k)
      check_equal("copied", i * 100 + k, out.host[i * 100 + k], k < length ? text[i + k] : text[k - length]);
  }

  std::vector<char> moved(64 * 120);
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = static_cast<char>(i % 101);
  Array<char> data(moved);
  overlapping<<<1, 64>>>(data, 120, 90);
  data.download();
  for (int i = 0; i < 64; ++i) {
    std::memmove(&moved[i * 120 + 3], &moved[i * 120], 90);
    std::memmove(&moved[i * 120], &moved[i * 120 + 5], 90);
  }
  CHECK(std::memcmp(moved.data(), data.host.data(), moved.size()) == 0);

  std::vector<int> numbers(100);
  for (int i = 0; i < 100; ++i) numbers[i] = i * i % 37;
  Array<int> values(numbers);
  Array<int> sorted(64);
  local_arrays<<<1, 64>>>(values, sorted, 100);
  sorted.download();
  int counts[16] = {};
  for (int v : numbers) ++counts[v % 16];
  for (int i = 1; i < 16; ++i) CHECK(sorted.host[i] % 100 <= sorted.host[i - 1] % 100);
  for (int i = 0; i < 64; ++i) CHECK(counts[sorted.host[i] / 100] == sorted.host[i] % 100);

  Array<float> a(std::vector<float>(64, 2.0f));
  Array<float> b(std::vector<float>(64, 3.0f));
  Array<float> c(64);
  Arguments arguments{c, {a, b}, 60, {10, 100}, {1, 2, 3, 4, 5}};
  by_value<<<1, 64>>>(arguments);
  c.download();
  for (int i = 0; i < 64; ++i) check_equal("by value", i, c.host[i], i < 60 ? 321.0f + i % 5 : 0);
  return report();
}
