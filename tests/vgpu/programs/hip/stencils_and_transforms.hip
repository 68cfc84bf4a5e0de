// Stencils with halos in LDS, transposition, matrix products, an FFT, a wavelet.
#include <complex>

#include "check.h"

__global__ void stencil(const float* in, float* out, int w, int h) {
  __shared__ float tile[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 16 + threadIdx.y;
  for (int ty = threadIdx.y; ty < 18; ty += 16)
    for (int tx = threadIdx.x; tx < 18; tx += 16) {
      const int gx = min(max(static_cast<int>(blockIdx.x * 16) + tx - 1, 0), w - 1);
      const int gy = min(max(static_cast<int>(blockIdx.y * 16) + ty - 1, 0), h - 1);
      tile[ty][tx] = in[gy * w + gx];
    }
  __syncthreads();
  if (x >= w || y >= h) return;
  const int tx = threadIdx.x + 1;
  const int ty = threadIdx.y + 1;
  out[y * w + x] = 0.5f * tile[ty][tx] + 0.125f * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1]);
}

__global__ void transpose(const float* in, float* out, int w, int h) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < w && y + k < h) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < h && y + k < w) out[(y + k) * h + x] = tile[threadIdx.x][threadIdx.y + k];
}

template <int kTile>
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[kTile][kTile];
  __shared__ float bs[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    as[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = col < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + col] : 0;
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kTile; ++e) sum += as[threadIdx.y][e] * bs[e][threadIdx.x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

// Stockham's FFT of 256 points, one block.
__global__ void fft(const float2* in, float2* out) {
  __shared__ float2 ping[256];
  __shared__ float2 pong[256];
  const int t = threadIdx.x;  // 128 threads
  ping[t] = in[blockIdx.x * 256 + t];
  ping[t + 128] = in[blockIdx.x * 256 + t + 128];
  __syncthreads();
  float2* from = ping;
  float2* to = pong;
  for (int half = 1; half < 256; half *= 2) {
    const int k = t % half;
    float s, c;
    sincosf(-3.14159265f * k / half, &s, &c);
    const float2 a = from[t];
    const float2 b = from[t + 128];
    const float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    const int j = (t / half) * 2 * half + k;
    to[j] = make_float2(a.x + turned.x, a.y + turned.y);
    to[j + half] = make_float2(a.x - turned.x, a.y - turned.y);
    __syncthreads();
    float2* other = from;
    from = to;
    to = other;
  }
  out[blockIdx.x * 256 + t] = from[t];
  out[blockIdx.x * 256 + t + 128] = from[t + 128];
}

int main() {
  const int w = 70;
  const int h = 45;
  Numbers numbers(17);
  std::vector<float> image(w * h);
  for (float& v : image) v = numbers.real();
  Array<float> in(image);
  Array<float> out(w * h);
  stencil<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(in, out, w, h);
  out.download();
  const auto at = [&](int x, int y) { return image[std::min(std::max(y, 0), h - 1) * w + std::min(std::max(x, 0), w - 1)]; };
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      check_close("stencil", y * w + x, out.host[y * w + x], 0.5f * at(x, y) + 0.125f * (at(x, y - 1) + at(x, y + 1) + at(x - 1, y) + at(x + 1, y)), 1e-6);
  transpose<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 8)>>>(in, out, w, h);
  out.download();
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) check_equal("transpose", y * w + x, out.host[x * h + y], image[y * w + x]);

  const int n = 50;
  std::vector<float> as(n * n);
  std::vector<float> bs(n * n);
  for (float& v : as) v = numbers.real();
  for (float& v : bs) v = numbers.real();
  Array<float> a(as);
  Array<float> b(bs);
  Array<float> c(n * n);
  product<16><<<dim3(4, 4), dim3(16, 16)>>>(a, b, c, n);
  c.download();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += static_cast<double>(as[i * n + k]) * bs[k * n + j];
      check_close("product", i * n + j, c.host[i * n + j], sum, 1e-5);
    }

  std::vector<float2> signal(512);
  for (float2& v : signal) v = make_float2(numbers.real(), numbers.real());
  Array<float2> s(signal);
  Array<float2> f(512);
  fft<<<2, 128>>>(s, f);
  f.download();
  for (int block = 0; block < 2; ++block)
    for (int k = 0; k < 256; k += 5) {
      std::complex<double> sum = 0;
      for (int i = 0; i < 256; ++i)
        sum += std::complex<double>(signal[block * 256 + i].x, signal[block * 256 + i].y) * std::polar(1.0, -2 * 3.14159265358979 * i * k / 256);
      check_close("fft re", k, f.host[block * 256 + k].x, sum.real(), 1e-4);
      check_close("fft im", k, f.host[block * 256 + k].y, sum.imag(), 1e-4);
    }
  return report();
}
