// Three-dimensional grids and blocks: every thread marks its own place exactly once.
#include <vector>

#include "check.h"

struct Shape {
  dim3 grid;
  dim3 block;
};

__global__ void mark(unsigned* marks, unsigned extra) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  const unsigned nx = gridDim.x * blockDim.x;
  const unsigned ny = gridDim.y * blockDim.y;
  atomicAdd(&marks[x + nx * (y + ny * z)], x + 7 * y + 31 * z + extra);
}

static void run(const Shape& s) {
  const unsigned nx = s.grid.x * s.block.x;
  const unsigned ny = s.grid.y * s.block.y;
  const unsigned nz = s.grid.z * s.block.z;
  unsigned* marks = nullptr;
  const std::size_t bytes = sizeof(unsigned) * nx * ny * nz;
  OK(hipMalloc(&marks, bytes));
  OK(hipMemset(marks, 0, bytes));
  hipLaunchKernelGGL(mark, s.grid, s.block, 0, nullptr, marks, 1U);
  OK(hipGetLastError());
  std::vector<unsigned> host(bytes / sizeof(unsigned));
  OK(hipMemcpy(host.data(), marks, bytes, hipMemcpyDeviceToHost));
  for (unsigned z = 0; z < nz; ++z) {
    for (unsigned y = 0; y < ny; ++y) {
      for (unsigned x = 0; x < nx; ++x) {
        CHECK(host[x + nx * (y + ny * z)] == x + 7 * y + 31 * z + 1);
      }
    }
  }
  OK(hipFree(marks));
}

int main() {
  run({dim3(1), dim3(1)});
  run({dim3(5, 3, 2), dim3(8, 4, 2)});
  run({dim3(1, 7), dim3(33)});
  run({dim3(2, 1, 9), dim3(1, 1, 5)});
  run({dim3(3, 2), dim3(64, 4)});
}
