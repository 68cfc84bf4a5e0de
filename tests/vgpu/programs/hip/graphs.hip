// Graphs: captured from streams, built by hand, changed and launched again.
#include "check.h"

__global__ void add(int* data, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += value;
}
__global__ void scale(int* data, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}

static void count_up(void* data) { ++*static_cast<int*>(data); }

int main() {
  const int n = 1000;
  std::vector<int> start(n, 1);
  std::vector<int> back(n);
  Array<int> data(n);
  hipStream_t stream;
  hipStream_t side;
  OK(hipStreamCreate(&stream));
  OK(hipStreamCreate(&side));

  // Captured: nothing runs until the launch; another stream joins and comes back by events.
  hipGraph_t graph;
  hipGraphExec_t exec;
  hipEvent_t fork;
  hipEvent_t join;
  OK(hipEventCreate(&fork));
  OK(hipEventCreate(&join));
  int calls = 0;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  hipStreamCaptureStatus status;
  OK(hipStreamIsCapturing(stream, &status));
  CHECK(status == hipStreamCaptureStatusActive);
  OK(hipMemcpyAsync(data, start.data(), n * sizeof(int), hipMemcpyHostToDevice, stream));
  OK(hipEventRecord(fork, stream));
  OK(hipStreamWaitEvent(side, fork, 0));
  add<<<4, 256, 0, side>>>(data, n, 4);
  OK(hipEventRecord(join, side));
  OK(hipStreamWaitEvent(stream, join, 0));
  scale<<<4, 256, 0, stream>>>(data, n, 10);
  OK(hipLaunchHostFunc(stream, count_up, &calls));
  OK(hipMemcpyAsync(back.data(), data, n * sizeof(int), hipMemcpyDeviceToHost, stream));
  OK(hipStreamEndCapture(stream, &graph));
  CHECK(calls == 0 && back[5] == 0);
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  size_t count = 0;
  OK(hipGraphGetNodes(graph, nullptr, &count));
  CHECK(count == 5);
  for (int k = 0; k < 3; ++k) OK(hipGraphLaunch(exec, stream));
  OK(hipStreamSynchronize(stream));
  CHECK(calls == 3);
  for (int i = 0; i < n; ++i) check_equal("captured", i, back[i], 50);
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));

  // By hand, with the edges added in an order that is not that of execution.
  hipGraphNode_t set;
  hipGraphNode_t adds;
  hipGraphNode_t scales;
  hipGraphNode_t out;
  OK(hipGraphCreate(&graph, 0));
  int* pointer = data;
  int length = n;
  int value = 7;
  int by = 3;
  void* add_arguments[] = {&pointer, &length, &value};
  void* scale_arguments[] = {&pointer, &length, &by};
  hipKernelNodeParams add_params{dim3(256), nullptr, reinterpret_cast<void*>(add), dim3(4), add_arguments, 0};
  hipKernelNodeParams scale_params{dim3(256), nullptr, reinterpret_cast<void*>(scale), dim3(4), scale_arguments, 0};
  hipMemsetParams fill{data.device, 4, 1, static_cast<size_t>(n) * 4, 2, static_cast<size_t>(n)};
  OK(hipGraphAddKernelNode(&scales, graph, nullptr, 0, &scale_params));
  OK(hipGraphAddKernelNode(&adds, graph, nullptr, 0, &add_params));
  OK(hipGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
  OK(hipGraphAddMemcpyNode1D(&out, graph, &scales, 1, back.data(), data, n * sizeof(int), hipMemcpyDeviceToHost));
  OK(hipGraphAddDependencies(graph, &set, &adds, 1));
  OK(hipGraphAddDependencies(graph, &adds, &scales, 1));
  value = 1000;  // the node took its value when it was made
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(exec, stream));
  for (int i = 0; i < n; ++i) check_equal("by hand", i, back[i], 27);

  by = 5;
  OK(hipGraphExecKernelNodeSetParams(exec, scales, &scale_params));
  OK(hipGraphLaunch(exec, nullptr));
  for (int i = 0; i < n; ++i) check_equal("changed", i, back[i], 45);
  hipGraphNodeType type;
  OK(hipGraphNodeGetType(out, &type));
  CHECK(type == hipGraphNodeTypeMemcpy1D);
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
  return report();
}
