// Sparse matrices and graphs: SpMV in two forms, breadth-first search by levels and by a work queue,
// connected components, Floyd-Warshall.
#include <queue>

#include "check.h"

__global__ void spmv_scalar(const int* rows, const int* cols, const float* values, const float* x, float* y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int e = rows[row]; e < rows[row + 1]; ++e) sum += values[e] * x[cols[e]];
  y[row] = sum;
}
__global__ void spmv_wave(const int* rows, const int* cols, const float* values, const float* x, float* y, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 64;
  const int lane = threadIdx.x % 64;
  if (row >= n) return;
  float sum = 0;
  for (int e = rows[row] + lane; e < rows[row + 1]; e += 64) sum += values[e] * x[cols[e]];
  for (int step = 32; step > 0; step /= 2) sum += __shfl_down(sum, step);
  if (lane == 0) y[row] = sum;
}

__global__ void bfs_level(const int* rows, const int* cols, int* distance, int level, int n, int* changed) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || distance[v] != level) return;
  for (int e = rows[v]; e < rows[v + 1]; ++e)
    if (distance[cols[e]] < 0) {
      distance[cols[e]] = level + 1;
      *changed = 1;
    }
}
__global__ void bfs_queue(const int* rows, const int* cols, int* distance, const int* frontier, int size, int* next, int* next_size, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const int v = frontier[i];
  for (int e = rows[v]; e < rows[v + 1]; ++e)
    if (atomicCAS(&distance[cols[e]], -1, level + 1) == -1) next[atomicAdd(next_size, 1)] = cols[e];
}

__device__ int find_root(int* parent, int v) {
  int root = parent[v];
  while (root != parent[root]) root = parent[root];
  return root;
}
__global__ void hook(const int* rows, const int* cols, int* parent, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  for (int e = rows[v]; e < rows[v + 1]; ++e) {
    int a = find_root(parent, v);
    int b = find_root(parent, cols[e]);
    while (a != b) {
      const int high = max(a, b);
      const int low = min(a, b);
      const int old = atomicMin(&parent[high], low);
      if (old == high) break;
      a = find_root(parent, old);
      b = find_root(parent, low);
    }
  }
}
__global__ void flatten(int* parent, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) parent[v] = find_root(parent, v);
}

__global__ void floyd(int* d, int n, int k) {
  const int i = blockIdx.y;
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < n) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

int main() {
  const int n = 500;
  Numbers numbers(19);
  std::vector<std::vector<int>> edges(n);
  for (int v = 0; v < n; ++v)
    for (unsigned k = 0; k < 1 + numbers.next() % 3; ++k) {
      const int u = static_cast<int>(numbers.next() % n);
      if (v % 50 == 49 || u % 50 == 49) continue;  // some stay alone
      edges[v].push_back(u);
      edges[u].push_back(v);
    }
  std::vector<int> row{0};
  std::vector<int> col;
  for (const auto& e : edges) {
    col.insert(col.end(), e.begin(), e.end());
    row.push_back(static_cast<int>(col.size()));
  }
  std::vector<float> value(col.size());
  std::vector<float> vector(n);
  for (float& v : value) v = numbers.real();
  for (float& v : vector) v = numbers.real();
  Array<int> rows(row);
  Array<int> cols(col);
  Array<float> values(value);
  Array<float> x(vector);
  Array<float> y(n);
  for (int form = 0; form < 2; ++form) {
    if (form == 0) spmv_scalar<<<(n + 127) / 128, 128>>>(rows, cols, values, x, y, n);
    else spmv_wave<<<(n + 3) / 4, 256>>>(rows, cols, values, x, y, n);
    y.download();
    for (int v = 0; v < n; ++v) {
      double sum = 0;
      for (int e = row[v]; e < row[v + 1]; ++e) sum += static_cast<double>(value[e]) * vector[col[e]];
      check_close("spmv", v, y.host[v], sum, 1e-5);
    }
  }

  std::vector<int> wanted(n, -1);
  std::queue<int> queue;
  wanted[0] = 0;
  queue.push(0);
  while (!queue.empty()) {
    const int v = queue.front();
    queue.pop();
    for (int u : edges[v])
      if (wanted[u] < 0) wanted[u] = wanted[v] + 1, queue.push(u);
  }
  std::vector<int> start(n, -1);
  start[0] = 0;
  Array<int> distance(start);
  Array<int> changed(1);
  int level = 0;
  do {
    OK(hipMemset(changed, 0, 4));
    bfs_level<<<(n + 63) / 64, 64>>>(rows, cols, distance, level++, n, changed);
  } while (changed.download()[0] != 0);
  CHECK(distance.download() == wanted);

  Array<int> again(start);
  Array<int> frontier(n);
  Array<int> next(n);
  Array<int> next_size(1);
  int size = 1;
  int* from = frontier;
  int* to = next;
  for (level = 0; size > 0; ++level) {
    OK(hipMemset(next_size, 0, 4));
    bfs_queue<<<(size + 63) / 64, 64>>>(rows, cols, again, from, size, to, next_size, level);
    size = next_size.download()[0];
    std::swap(from, to);
  }
  CHECK(again.download() == wanted);

  std::vector<int> self(n);
  for (int v = 0; v < n; ++v) self[v] = v;
  Array<int> parent(self);
  hook<<<(n + 63) / 64, 64>>>(rows, cols, parent, n);
  flatten<<<(n + 63) / 64, 64>>>(parent, n);
  parent.download();
  for (int v = 0; v < n; ++v)
    for (int u : edges[v]) CHECK(parent.host[u] == parent.host[v]);
  CHECK(parent.host[49] == 49 && parent.host[99] == 99);

  const int m = 60;
  std::vector<int> d(m * m);
  for (int i = 0; i < m * m; ++i) d[i] = i / m == i % m ? 0 : static_cast<int>(numbers.next() % 100) + 1;
  Array<int> paths(d);
  for (int k = 0; k < m; ++k) floyd<<<dim3(1, m), 64>>>(paths, m, k);
  for (int k = 0; k < m; ++k)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) d[i * m + j] = std::min(d[i * m + j], d[i * m + k] + d[k * m + j]);
  CHECK(paths.download() == d);
  return report();
}
