// Searching text, editing distances, a bilateral filter, a look-up table in constant memory, Mandelbrot.
#include "check.h"

__global__ void search(const char* text, int n, const char* pattern, int m, int* found, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + m > n) return;
  int k = 0;
  while (k < m && text[i + k] == pattern[k]) ++k;
  if (k == m) found[atomicAdd(count, 1)] = i;
}

// Anti-diagonals of the table of Levenshtein's distance, one block.
__global__ void distance(const char* a, int n, const char* b, int m, int* out) {
  __shared__ int rows[3][257];
  for (int d = 0; d <= n + m; ++d) {
    int* now = rows[d % 3];
    const int* before = rows[(d + 2) % 3];
    const int* earlier = rows[(d + 1) % 3];
    for (int i = threadIdx.x; i <= n; i += blockDim.x) {
      const int j = d - i;
      if (j < 0 || j > m) continue;
      if (i == 0 || j == 0) now[i] = i + j;
      else now[i] = min(min(before[i - 1], before[i]) + 1, earlier[i - 1] + (a[i - 1] != b[j - 1]));
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = rows[(n + m) % 3][n];
}

__constant__ float kernel_weights[25];
__global__ void bilateral(const uchar4* in, uchar4* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const uchar4 me = in[y * w + x];
  float r = 0, g = 0, b = 0, total = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      const uchar4 p = in[min(max(y + dy, 0), h - 1) * w + min(max(x + dx, 0), w - 1)];
      const float far = (p.x - me.x) * (p.x - me.x) + (p.y - me.y) * (p.y - me.y) + (p.z - me.z) * (p.z - me.z);
      const float weight = kernel_weights[(dy + 2) * 5 + dx + 2] * __expf(-far / 2000.0f);
      r += weight * p.x, g += weight * p.y, b += weight * p.z, total += weight;
    }
  out[y * w + x] = make_uchar4(r / total + 0.5f, g / total + 0.5f, b / total + 0.5f, 255);
}

__global__ void mandelbrot(int* out, int w, int h, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (x >= w) return;
  const double cr = -2.0 + 3.0 * x / w, ci = -1.0 + 2.0 * y / h;
  double zr = 0, zi = 0;
  int k = 0;
  for (; k < limit; ++k) {
    const double r = zr * zr, i = zi * zi;
    if (r + i > 4) break;
    zi = 2 * zr * zi + ci;
    zr = r - i + cr;
  }
  out[y * w + x] = k;
}

int main() {
  Numbers numbers(29);
  const int n = 5000;
  std::vector<char> text(n);
  for (char& c : text) c = static_cast<char>('a' + numbers.next() % 3);
  const char pattern[] = "abca";
  Array<char> t(text);
  Array<char> p(std::vector<char>(pattern, pattern + 4));
  Array<int> found(n);
  Array<int> count(1);
  search<<<(n + 255) / 256, 256>>>(t, n, p, 4, found, count);
  found.download();
  long long wanted = 0, got = 0;
  int times = 0;
  for (int i = 0; i + 4 <= n; ++i)
    if (std::memcmp(&text[i], pattern, 4) == 0) wanted += i, ++times;
  CHECK(count.download()[0] == times);
  for (int i = 0; i < times; ++i) got += found.host[i];
  CHECK(got == wanted);

  Array<int> edits(1);
  const int la = 200, lb = 150;
  distance<<<1, 64>>>(t, la, t.device + 1000, lb, edits);
  std::vector<int> table((la + 1) * (lb + 1));
  for (int i = 0; i <= la; ++i)
    for (int j = 0; j <= lb; ++j)
      table[i * (lb + 1) + j] = i == 0 || j == 0 ? i + j
          : std::min(std::min(table[(i - 1) * (lb + 1) + j], table[i * (lb + 1) + j - 1]) + 1,
                     table[(i - 1) * (lb + 1) + j - 1] + (text[i - 1] != text[1000 + j - 1]));
  CHECK(edits.download()[0] == table.back());

  const int w = 40, h = 30;
  std::vector<uchar4> image(w * h);
  for (uchar4& c : image) c = make_uchar4(numbers.next() % 256, numbers.next() % 256, numbers.next() % 256, 255);
  float weights[25];
  for (int k = 0; k < 25; ++k) weights[k] = std::exp(-((k / 5 - 2) * (k / 5 - 2) + (k % 5 - 2) * (k % 5 - 2)) / 4.0f);
  OK(hipMemcpyToSymbol(HIP_SYMBOL(kernel_weights), weights, sizeof weights));
  Array<uchar4> in(image);
  Array<uchar4> out(w * h);
  bilateral<<<dim3(3, 4), dim3(16, 8)>>>(in, out, w, h);
  out.download();
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const uchar4 me = image[y * w + x];
      double r = 0, total = 0;
      for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) {
          const uchar4 q = image[std::min(std::max(y + dy, 0), h - 1) * w + std::min(std::max(x + dx, 0), w - 1)];
          const double far = (q.x - me.x) * (q.x - me.x) + (q.y - me.y) * (q.y - me.y) + (q.z - me.z) * (q.z - me.z);
          const double weight = weights[(dy + 2) * 5 + dx + 2] * std::exp(-far / 2000);
          r += weight * q.x, total += weight;
        }
      CHECK(std::fabs(out.host[y * w + x].x - r / total) <= 0.51);
    }

  Array<int> set(60 * 40);
  mandelbrot<<<dim3(1, 40), 64>>>(set, 60, 40, 200);
  set.download();
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x) {
      const double cr = -2.0 + 3.0 * x / 60, ci = -1.0 + 2.0 * y / 40;
      double zr = 0, zi = 0;
      int k = 0;
      for (; k < 200; ++k) {
        const double r = zr * zr, i = zi * zi;
        if (r + i > 4) break;
        zi = 2 * zr * zi + ci;
        zr = r - i + cr;
      }
      check_equal("mandelbrot", y * 60 + x, set.host[y * 60 + x], k);
    }
  return report();
}
