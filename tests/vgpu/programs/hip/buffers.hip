// Buffer resources: loads that read 0 beyond the end, stores that do nothing there, atomics, and loads
// that go straight to LDS.
#include "check.h"

typedef unsigned u4 __attribute__((ext_vector_type(4)));

__global__ void through_resources(int* in, int* out, int* sums, int n) {
  __amdgpu_buffer_rsrc_t from = __builtin_amdgcn_make_buffer_rsrc(in, 0, n * 4, 0x27000);
  __amdgpu_buffer_rsrc_t to = __builtin_amdgcn_make_buffer_rsrc(out, 0, n * 4, 0x27000);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = static_cast<int>(__builtin_amdgcn_raw_buffer_load_b32(from, i * 4, 0, 0));
  // A masked store, as compilers write it: beyond every size.
  const unsigned offset = value % 2 == 0 ? i * 4 : 0x80000000u;
  __builtin_amdgcn_raw_buffer_store_b32(static_cast<unsigned>(value + 1), to, static_cast<int>(offset), 0, 0);
  if (value == 0) atomicAdd(&sums[0], 1);
}

__global__ void wide(u4* in, u4* out, int n) {
  __amdgpu_buffer_rsrc_t from = __builtin_amdgcn_make_buffer_rsrc(in, 0, n * 16, 0x27000);
  const int i = threadIdx.x;
  out[i] = __builtin_amdgcn_raw_buffer_load_b128(from, i * 16, 16, 0);
}

__global__ void to_lds(const int* in, int* out) {
  __shared__ int shared[256];
  using global_int = __attribute__((address_space(1))) void;
  using lds_int = __attribute__((address_space(3))) void;
  const int wave = threadIdx.x / 64;
  __builtin_amdgcn_global_load_lds((global_int*)(in + threadIdx.x), (lds_int*)(shared + wave * 64), 4, 0, 0);
  __syncthreads();
  out[threadIdx.x] = shared[255 - threadIdx.x];
}

int main() {
  const int n = 100;
  std::vector<int> values(128);
  for (int i = 0; i < 128; ++i) values[i] = i + 5;
  Array<int> in(values);
  Array<int> out(128);
  Array<int> zeros(1);
  through_resources<<<2, 64>>>(in, out, zeros, n);
  out.download();
  zeros.download();
  for (int i = 0; i < 128; ++i)
    check_equal("out", i, out.host[i], i < n && (i + 5) % 2 == 0 ? i + 6 : 0);
  CHECK(zeros.host[0] == 28);

  std::vector<u4> vectors(64);
  for (unsigned i = 0; i < 64; ++i) vectors[i] = u4{i, 2 * i, 3 * i, 4 * i};
  Array<u4> source(vectors);
  Array<u4> target(64);
  wide<<<1, 64>>>(source, target, 50);
  target.download();
  for (unsigned i = 0; i < 50; ++i) check_equal("wide", i, target.host[i].w, 4 * (i + 1));
  for (unsigned i = 50; i < 64; ++i) check_equal("beyond", i, target.host[i].w, 0);

  std::vector<int> numbers(256);
  for (int i = 0; i < 256; ++i) numbers[i] = i * i;
  Array<int> from(numbers);
  Array<int> back(256);
  to_lds<<<1, 256>>>(from, back);
  back.download();
  for (int i = 0; i < 256; ++i) check_equal("lds", i, back.host[i], (255 - i) * (255 - i));
  return report();
}
