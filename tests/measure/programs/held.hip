// The program that probe_test holds: what it does before, in and after the launch of `work` is its
// first argument. A second one only marks the process. It is compiled as HIP and as CUDA.
#if defined(__HIP__)
#include <hip/hip_runtime.h>
#else
#include <cuda_runtime.h>
#define hipError_t cudaError_t
#define hipFree cudaFree
#define hipGetErrorName cudaGetErrorName
#define hipGraphExec_t cudaGraphExec_t
#define hipGraphInstantiate(run, graph, node, log, bytes) cudaGraphInstantiate(run, graph, 0)
#define hipGraphLaunch cudaGraphLaunch
#define hipGraph_t cudaGraph_t
#define hipMalloc cudaMalloc
#define hipMallocAsync cudaMallocAsync
#define hipMallocManaged cudaMallocManaged
#define hipMemcpy cudaMemcpy
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemset cudaMemset
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamCaptureModeGlobal cudaStreamCaptureModeGlobal
#define hipStreamCreate cudaStreamCreate
#define hipStreamEndCapture cudaStreamEndCapture
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

constexpr int kElements = 1000;
constexpr int kTile = 64;
constexpr int kTiles = (kElements + kTile - 1) / kTile;

enum Variant {
  kRight,
  kLosesTile,
  kFirstInputOnly,
  kSpins,
  kOutside,
  kAccumulates,
  kOtherwiseRight
};

__global__ void work(float* y, const float* x, int n, int variant) {
  const int i = static_cast<int>(blockIdx.x * kTile + threadIdx.x);
  if (i >= n) return;
  if (variant == kLosesTile && blockIdx.x + 1 == gridDim.x) return;
  if (variant == kSpins) {
    volatile float* never_done = y;
    for (;;) never_done[i] = never_done[i] + 1;
  }
  if (variant == kOutside) y[i + (1 << 28)] = 1;
  if (variant == kAccumulates) y[i] += x[i];
  if (variant == kFirstInputOnly && x[0] != 1) return;
  if (variant != kAccumulates) y[i] = variant == kOtherwiseRight ? 1 + 2 * x[i] : 2 * x[i] + 1;
}

__global__ void scale(float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * kTile + threadIdx.x);
  if (i < n) y[i] *= 0.5F;
}

__global__ void add(float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * kTile + threadIdx.x);
  if (i < n) y[i] += 1;
}

__device__ int drawn = 0;

__global__ void draw(float* y) { y[threadIdx.x] = static_cast<float>(atomicAdd(&drawn, 1)); }

static std::string mode;
static float* x;
static float* y;

static void ok(hipError_t error) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "HIP said %s\n", hipGetErrorName(error));
  std::exit(7);
}

static void launch(int variant) { work<<<kTiles, kTile>>>(y, x, kElements, variant); }

static void prepare() {
  std::vector<float> host(kElements);
  for (int i = 0; i < kElements; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i + 1);
  const std::size_t bytes = host.size() * sizeof host[0];
  if (mode == "managed") {
    ok(hipMallocManaged(reinterpret_cast<void**>(&x), bytes));
    ok(hipMallocManaged(reinterpret_cast<void**>(&y), bytes));
    std::copy(host.begin(), host.end(), x);
    std::fill(y, y + kElements, 0.0F);
    return;
  }
  if (mode == "frees") {
    float* early;
    float* kept;
    ok(hipMalloc(reinterpret_cast<void**>(&early), 4096));
    ok(hipMalloc(reinterpret_cast<void**>(&kept), 256));
    ok(hipMemset(kept, 3, 256));
    ok(hipFree(early));
  }
  ok(hipMalloc(reinterpret_cast<void**>(&x), bytes));
  ok(hipMallocAsync(reinterpret_cast<void**>(&y), bytes, nullptr));
  ok(hipMemcpy(x, host.data(), bytes, hipMemcpyHostToDevice));
  ok(hipMemset(y, 0, bytes));
}

static void print() {
  std::vector<float> host(kElements);
  ok(hipMemcpy(host.data(), y, host.size() * sizeof host[0], hipMemcpyDeviceToHost));
  double sum = 0;
  for (const float value : host) sum += value;
  std::printf("%.1f %.1f %.1f\n", sum, host[0], host[kElements - 1]);
}

#if defined(__HIP__)
static const char* const kModule = R"(
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @from_module(ptr addrspace(1) %out, float %value) #0 {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %where = getelementptr float, ptr addrspace(1) %out, i32 %id
  store float %value, ptr addrspace(1) %where, align 4
  ret void
}
attributes #0 = { "target-cpu"="gfx942" }
)";

static void launch_from_module() {
  hipModule_t module;
  hipFunction_t function;
  ok(hipModuleLoadData(&module, kModule));
  ok(hipModuleGetFunction(&function, module, "from_module"));
  float value = 4;
  void* arguments[] = {&y, &value};
  ok(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
}

#else
static void launch_from_module() {}
#endif

static void launch_in_graph() {
  hipStream_t stream;
  ok(hipStreamCreate(&stream));
  ok(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  work<<<kTiles, kTile, 0, stream>>>(y, x, kElements, kRight);
  hipGraph_t graph;
  hipGraphExec_t run;
  ok(hipStreamEndCapture(stream, &graph));
  ok(hipGraphInstantiate(&run, graph, nullptr, nullptr, 0));
  ok(hipGraphLaunch(run, stream));
}

int main(int argc, char** argv) {
  mode = argc > 1 ? argv[1] : "right";
  if (mode == "nothing") return 0;
  prepare();
  scale<<<kTiles, kTile>>>(y, kElements);
  add<<<kTiles, kTile>>>(y, kElements);
  scale<<<kTiles, kTile>>>(y, kElements);
  if (mode == "never") return 0;
  if (mode == "exits") {
    std::fprintf(stderr, "first\nno input file\n");
    return 3;
  }
  if (mode == "aborts") std::abort();
  if (mode == "crashes") *static_cast<volatile int*>(nullptr) = 1;
  for (volatile bool forever = mode == "hangs"; forever;) {
  }
  if (mode == "module") {
    launch_from_module();
  } else if (mode == "graph") {
    launch_in_graph();
  } else if (mode == "draws") {
    draw<<<1, kTile>>>(y);
  } else {
    launch(mode == "loses"         ? kLosesTile
           : mode == "first"       ? kFirstInputOnly
           : mode == "spins"       ? kSpins
           : mode == "outside"     ? kOutside
           : mode == "accumulates" ? kAccumulates
           : mode == "otherwise"   ? kOtherwiseRight
                                   : kRight);
  }
  add<<<kTiles, kTile>>>(y, kElements);
  if (mode == "twice") launch(kAccumulates);
  print();
}
