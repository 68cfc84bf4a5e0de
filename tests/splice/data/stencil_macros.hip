// A seven-point stencil in three dimensions, written the old way: macros for the indices, a tile with
// a rim in shared memory, and a second kernel beside it that must stay as it is.
#include <hip/hip_runtime.h>

#define RADIUS 1
#define TILE_X 4
#define TILE_Y 2
#define TILE_Z 3
#define RIM_X (TILE_X + 2 * RADIUS)
#define RIM_Y (TILE_Y + 2 * RADIUS)

#define BLOCK_X (hipBlockIdx_x * TILE_X)
#define BLOCK_Y (blockIdx.y * TILE_Y)
#define GLOBAL_X ((int)(BLOCK_X + threadIdx.x))
#define GLOBAL_Y ((int)(BLOCK_Y + threadIdx.y))
#define FIRST_Z ((int)(blockIdx.z * TILE_Z))
#define AT(x, y, z) (((z) * ny + (y)) * nx + (x))
#define CLAMP(v, high) ((v) < 0 ? 0 : ((v) >= (high) ? (high)-1 : (v)))
#define FOR_EACH_LAYER(z) for (int z = FIRST_Z; z < FIRST_Z + TILE_Z && z < nz; ++z)

namespace stencil {
namespace detail {

struct Weights {
  float center;
  float side;
};

// One layer's tile with its rim; the threads share the work in rows.
__device__ inline void load_layer(float (*tile)[RIM_X], const float* in, int nx, int ny, int nz,
                                  int z) {
  const int layer = CLAMP(z, nz);
  for (int j = threadIdx.y; j < RIM_Y; j += TILE_Y)
    for (int i = threadIdx.x; i < RIM_X; i += TILE_X) {
      const int x = CLAMP((int)BLOCK_X + i - RADIUS, nx);
      const int y = CLAMP((int)BLOCK_Y + j - RADIUS, ny);
      tile[j][i] = in[AT(x, y, layer)];
    }
}

#ifdef STENCIL_CHECKED
__device__ inline bool inside(int nx, int ny) { return BLOCK_X < nx && BLOCK_Y < ny; }
#endif

}  // namespace detail

// out = center * in + side * (the six neighbours), the edge repeated outside.
__global__ void step(const float* in, float* out, int nx, int ny, int nz,
                     detail::Weights weights) {
  __shared__ float tile[RIM_Y][RIM_X];

  FOR_EACH_LAYER(z) {
    detail::load_layer(tile, in, nx, ny, nz, z);
    __syncthreads();
    if (GLOBAL_X < nx && GLOBAL_Y < ny) {
      const int i = threadIdx.x + RADIUS;
      const int j = threadIdx.y + RADIUS;
      const float below = in[AT(GLOBAL_X, GLOBAL_Y, CLAMP(z - 1, nz))];
      const float above = in[AT(GLOBAL_X, GLOBAL_Y, CLAMP(z + 1, nz))];
      const float sides =
          tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i] + below + above;
      out[AT(GLOBAL_X, GLOBAL_Y, z)] = weights.center * tile[j][i] + weights.side * sides;
    }
    __syncthreads();
  }
}

// Not the one that is patched.
__global__ void fill(float* out, int n, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

}  // namespace stencil

#ifdef __HIP__
void run_stencil(float* a, float* b, int nx, int ny, int nz, int steps) {
  const dim3 block(TILE_X, TILE_Y);
  const dim3 grid((nx + TILE_X - 1) / TILE_X, (ny + TILE_Y - 1) / TILE_Y,
                  (nz + TILE_Z - 1) / TILE_Z);
  const int n = nx * ny * nz;
  stencil::fill<<<(n + 255) / 256, 256>>>(b, n, 0.0f);
  for (int i = 0; i < steps; ++i) {
    stencil::step<<<grid, block>>>(a, b, nx, ny, nz, {0.4f, 0.1f});
    float* swap = a;
    a = b;
    b = swap;
  }
}
#endif
