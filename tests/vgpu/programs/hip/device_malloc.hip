// malloc, free, new and delete in kernels: lists that live from launch to launch.
#include "check.h"

struct Node {
  int value;
  Node* next;
};
__device__ Node* heads[64];

__global__ void push(int rounds) {
  for (int k = 0; k < rounds; ++k) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = threadIdx.x * 10 + k;
    node->next = heads[threadIdx.x];
    heads[threadIdx.x] = node;
  }
}

__global__ void sum_and_free(int* out) {
  int sum = 0;
  while (heads[threadIdx.x] != nullptr) {
    Node* node = heads[threadIdx.x];
    sum += node->value;
    heads[threadIdx.x] = node->next;
    free(node);
  }
  out[threadIdx.x] = sum;
}

__global__ void scratch(int* out, int n) {
  int* mine = static_cast<int*>(malloc(n * sizeof(int)));
  if (mine == nullptr) return;
  for (int k = 0; k < n; ++k) mine[k] = k * threadIdx.x;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += mine[n - 1 - k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  free(mine);
}

__global__ void too_much(int* out) { out[0] = malloc(size_t{1} << 40) == nullptr; }

int main() {
  push<<<1, 64>>>(5);
  Array<int> out(256);
  sum_and_free<<<1, 64>>>(out);
  out.download();
  for (int i = 0; i < 64; ++i) check_equal("list", i, out.host[i], i * 50 + 10);
  scratch<<<4, 64>>>(out, 100);
  out.download();
  for (int i = 0; i < 256; ++i) check_equal("scratch", i, out.host[i], 4950 * (i % 64));
  too_much<<<1, 1>>>(out);
  out.download();
  CHECK(out.host[0] == 1);
  return report();
}
