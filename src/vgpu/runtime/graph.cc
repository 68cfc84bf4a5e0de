// Graphs. A node is an action with its parameters; a launch does the actions one after the other,
// in an order that respects the edges, because here everything happens in order anyway. Capture
// adds a node for each asynchronous call in the order of the calls, which is such an order.
//
// Instantiation copies the graph, so what changes the one does not change the other; the nodes of
// the copy keep the handles of the originals, by which the Exec functions name them. Nodes that
// allocate memory, and attributes, do not exist in this version of HIP; edges of captured graphs
// are those of one stream after the other.
#include "vgpu/runtime/graph.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "vgpu/runtime/launch.h"
#include "vgpu/runtime/state.h"

using swizzleperf::vgpu::runtime::Action;
using swizzleperf::vgpu::runtime::PreparedLaunch;

// HIP leaves these three types to the implementation.
struct hipGraphNode {
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  Action action;
  std::vector<hipGraphNode_t> dependencies;
  std::optional<hipKernelNodeParams> kernel;
  std::optional<hipMemcpy3DParms> copy;
  std::optional<hipMemsetParams> fill;
  std::optional<hipHostNodeParams> host;
  hipEvent_t event = nullptr;
  hipGraph_t child = nullptr;
};
struct ihipGraph {
  std::vector<std::unique_ptr<hipGraphNode>> nodes;
};
struct hipGraphExec {
  std::vector<std::pair<hipGraphNode_t, hipGraphNode>> nodes;  // original, copy; in order
};

namespace swizzleperf::vgpu::runtime {
namespace {

struct Graphs {
  std::map<hipGraph_t, std::unique_ptr<ihipGraph>> graphs;
  std::map<hipGraphExec_t, std::unique_ptr<hipGraphExec>> execs;
  std::map<hipStream_t, hipGraph_t> capturing;
  std::map<hipEvent_t, hipGraph_t> carried;  // events that were recorded during a capture
};

Graphs& all() {
  static auto* const graphs = new Graphs;
  return *graphs;
}

hipGraph_t new_graph() {
  auto graph = std::make_unique<ihipGraph>();
  ihipGraph* const handle = graph.get();
  all().graphs[handle] = std::move(graph);
  return handle;
}

bool known(hipGraph_t graph) { return all().graphs.contains(graph); }

hipGraphNode* find(hipGraphNode_t node) {
  for (const auto& [handle, graph] : all().graphs)
    for (const auto& n : graph->nodes)
      if (n.get() == node) return n.get();
  return nullptr;
}

/// Adds a node that `fill_in` completes; its dependencies must be nodes of the graph.
template <class FillIn>
hipError_t add(hipGraphNode_t* result, hipGraph_t graph, const hipGraphNode_t* dependencies,
               std::size_t count, hipGraphNodeType type, FillIn fill_in) {
  return entry([&] {
    if (!result || !known(graph) || (count > 0 && !dependencies)) return hipErrorInvalidValue;
    auto node = std::make_unique<hipGraphNode>();
    node->type = type;
    node->dependencies.assign(dependencies, dependencies + count);
    if (const hipError_t fault = fill_in(*node)) return fault;
    *result = node.get();
    graph->nodes.push_back(std::move(node));
    return hipSuccess;
  });
}

/// Nodes such that each comes after those it depends on; empty if they depend on each other.
std::vector<hipGraphNode*> in_order(const ihipGraph& graph) {
  std::vector<hipGraphNode*> order;
  std::set<hipGraphNode_t> placed;
  for (bool progress = true; progress && order.size() < graph.nodes.size();) {
    progress = false;
    for (const auto& node : graph.nodes) {
      if (placed.contains(node.get())) continue;
      const auto& needs = node->dependencies;
      if (!std::all_of(needs.begin(), needs.end(),
                       [&](hipGraphNode_t n) { return placed.contains(n); }))
        continue;
      order.push_back(node.get());
      placed.insert(node.get());
      progress = true;
    }
  }
  if (order.size() < graph.nodes.size()) order.clear();
  return order;
}

hipError_t run(const std::vector<Action>& actions) {
  for (const Action& action : actions) {
    if (!action) continue;
    if (const hipError_t fault = action()) return fault;
  }
  return hipSuccess;
}

Action action_of_graph(const ihipGraph& graph) {
  std::vector<Action> actions;
  for (const hipGraphNode* node : in_order(graph)) actions.push_back(node->action);
  return [actions] { return run(actions); };
}

// ---- what nodes do
// -------------------------------------------------------------------------------

/// The arguments' values are taken now, as HIP does.
hipError_t set_kernel(hipGraphNode& node, const hipKernelNodeParams* p) {
  if (!p) return hipErrorInvalidValue;
  const auto launch = std::make_shared<PreparedLaunch>();
  if (const hipError_t fault = prepare(p->func, p->gridDim, p->blockDim, p->kernelParams, p->extra,
                                       p->sharedMemBytes, *launch))
    return fault;
  node.kernel = *p;
  node.action = [launch] { return run_prepared(*launch); };
  return hipSuccess;
}

hipError_t set_copy(hipGraphNode& node, const hipMemcpy3DParms* p) {
  if (!p) return hipErrorInvalidValue;
  node.copy = *p;
  node.action = [copy = *p] { return hipMemcpy3D(&copy); };
  return hipSuccess;
}

hipError_t set_linear_copy(hipGraphNode& node, void* to, const void* from, std::size_t bytes,
                           hipMemcpyKind kind) {
  node.action = [=] { return hipMemcpy(to, from, bytes, kind); };
  return hipSuccess;
}

hipError_t fill_rows(const hipMemsetParams& p) {
  const std::size_t rows = std::max<std::size_t>(p.height, 1);
  for (std::size_t row = 0; row < rows; ++row) {
    char* const to = static_cast<char*>(p.dst) + row * p.pitch;
    const hipError_t fault =
        p.elementSize == 4   ? hipMemsetD32(to, static_cast<int>(p.value), p.width)
        : p.elementSize == 2 ? hipMemsetD16(to, static_cast<unsigned short>(p.value), p.width)
                             : hipMemset(to, static_cast<int>(p.value), p.width);
    if (fault != hipSuccess) return fault;
  }
  return hipSuccess;
}

hipError_t set_fill(hipGraphNode& node, const hipMemsetParams* p) {
  if (!p) return hipErrorInvalidValue;
  node.fill = *p;
  node.action = [fill = *p] { return fill_rows(fill); };
  return hipSuccess;
}

hipError_t set_host(hipGraphNode& node, const hipHostNodeParams* p) {
  if (!p || !p->fn) return hipErrorInvalidValue;
  node.host = *p;
  node.action = [host = *p] {
    host.fn(host.userData);
    return hipSuccess;
  };
  return hipSuccess;
}

/// Changes a node of the type, in its graph or in an executable copy.
template <class Change>
hipError_t change(hipGraphNode_t handle, hipGraphNodeType type, Change body) {
  return entry([&] {
    hipGraphNode* const node = find(handle);
    return node && node->type == type ? body(*node) : hipErrorInvalidValue;
  });
}
template <class Change>
hipError_t change(hipGraphExec_t exec, hipGraphNode_t handle, Change body) {
  return entry([&] {
    if (!all().execs.contains(exec)) return hipErrorInvalidValue;
    for (auto& [original, copy] : exec->nodes)
      if (original == handle) return body(copy);
    return hipErrorInvalidValue;
  });
}

template <class T>
hipError_t get(hipGraphNode_t handle, std::optional<T> hipGraphNode::* member, T* result) {
  return entry([&] {
    const hipGraphNode* const node = find(handle);
    if (!node || !result || !(node->*member)) return hipErrorInvalidValue;
    *result = *(node->*member);
    return hipSuccess;
  });
}

/// HIP's way to hand out lists: without an array, only the count.
hipError_t list(const std::vector<hipGraphNode_t>& found, hipGraphNode_t* nodes,
                std::size_t* count) {
  if (!count) return hipErrorInvalidValue;
  if (nodes) std::copy_n(found.begin(), std::min(*count, found.size()), nodes);
  *count = found.size();
  return hipSuccess;
}

hipError_t instantiate(hipGraphExec_t* result, hipGraph_t graph) {
  return entry([&] {
    if (!result || !known(graph)) return hipErrorInvalidValue;
    auto exec = std::make_unique<hipGraphExec>();
    const std::vector<hipGraphNode*> order = in_order(*graph);
    if (order.empty() && !graph->nodes.empty()) return hipErrorInvalidValue;
    for (hipGraphNode* node : order) exec->nodes.emplace_back(node, *node);
    *result = exec.get();
    all().execs[exec.get()] = std::move(exec);
    return hipSuccess;
  });
}

}  // namespace

bool captured(hipStream_t stream, hipGraphNodeType type, const Action& action) {
  const std::lock_guard lock(state().mutex);
  const auto capture = all().capturing.find(stream);
  if (capture == all().capturing.end()) return false;
  auto node = std::make_unique<hipGraphNode>();
  node->type = type;
  node->action = action;
  auto& nodes = capture->second->nodes;
  if (!nodes.empty()) node->dependencies.push_back(nodes.back().get());
  nodes.push_back(std::move(node));
  return true;
}

void event_recorded(hipEvent_t event, hipStream_t stream) {
  const std::lock_guard lock(state().mutex);
  const auto capture = all().capturing.find(stream);
  if (capture == all().capturing.end())
    all().carried.erase(event);
  else
    all().carried[event] = capture->second;
}

void event_awaited(hipEvent_t event, hipStream_t stream) {
  const std::lock_guard lock(state().mutex);
  const auto carried = all().carried.find(event);
  if (carried != all().carried.end() && stream != nullptr)
    all().capturing.try_emplace(stream, carried->second);
}

}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode /*mode*/) {
  return entry([&] {
    if (stream == nullptr) return hipErrorStreamCaptureUnsupported;
    if (all().capturing.contains(stream)) return hipErrorIllegalState;
    all().capturing[stream] = new_graph();
    return hipSuccess;
  });
}

/// Ends the capture on every stream that joined it.
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return entry([&] {
    const auto capture = all().capturing.find(stream);
    if (!graph || capture == all().capturing.end()) return hipErrorIllegalState;
    *graph = capture->second;
    std::erase_if(all().capturing, [&](const auto& entry) { return entry.second == *graph; });
    std::erase_if(all().carried, [&](const auto& entry) { return entry.second == *graph; });
    return hipSuccess;
  });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return entry([&] {
    if (!status) return hipErrorInvalidValue;
    *status = all().capturing.contains(stream) ? hipStreamCaptureStatusActive
                                               : hipStreamCaptureStatusNone;
    return hipSuccess;
  });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                   unsigned long long* id) {
  if (id) *id = 1;
  return hipStreamIsCapturing(stream, status);
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return mode ? hipSuccess : note(hipErrorInvalidValue);
}

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned int /*flags*/) {
  return entry([&] {
    if (!graph) return hipErrorInvalidValue;
    *graph = new_graph();
    return hipSuccess;
  });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return entry([&] { return all().graphs.erase(graph) ? hipSuccess : hipErrorInvalidValue; });
}

hipError_t hipGraphClone(hipGraph_t* result, hipGraph_t original) {
  return entry([&] {
    if (!result || !known(original)) return hipErrorInvalidValue;
    *result = new_graph();
    std::map<hipGraphNode_t, hipGraphNode_t> copy_of;
    for (const auto& node : original->nodes) {
      (*result)->nodes.push_back(std::make_unique<hipGraphNode>(*node));
      copy_of[node.get()] = (*result)->nodes.back().get();
    }
    for (const auto& node : (*result)->nodes)
      for (hipGraphNode_t& needed : node->dependencies) needed = copy_of[needed];
    return hipSuccess;
  });
}

hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* /*error*/,
                               char* /*log*/, size_t /*log_bytes*/) {
  return instantiate(exec, graph);
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph,
                                        unsigned long long /*flags*/) {
  return instantiate(exec, graph);
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  return entry([&] { return all().execs.erase(exec) ? hipSuccess : hipErrorInvalidValue; });
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  std::vector<Action> actions;
  const hipError_t found = entry([&] {
    if (!all().execs.contains(exec)) return hipErrorInvalidValue;
    for (const auto& [original, node] : exec->nodes) actions.push_back(node.action);
    return hipSuccess;
  });
  if (found != hipSuccess) return found;
  const Action action = [actions] { return run(actions); };
  return captured(stream, hipGraphNodeTypeGraph, action) ? hipSuccess : action();
}

hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error,
                              hipGraphExecUpdateResult* result) {
  return entry([&] {
    if (!result || !known(graph) || !all().execs.contains(exec)) return hipErrorInvalidValue;
    if (error) *error = nullptr;
    const std::vector<hipGraphNode*> order = in_order(*graph);
    const auto same = [&](std::size_t k) { return order[k]->type == exec->nodes[k].second.type; };
    bool fits = order.size() == exec->nodes.size();
    for (std::size_t k = 0; fits && k < order.size(); ++k) fits = same(k);
    *result = fits ? hipGraphExecUpdateSuccess : hipGraphExecUpdateErrorTopologyChanged;
    if (!fits) return hipErrorGraphExecUpdateFailure;
    for (std::size_t k = 0; k < order.size(); ++k) exec->nodes[k].second = *order[k];
    return hipSuccess;
  });
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph,
                                const hipGraphNode_t* dependencies, size_t count) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeEmpty,
             [](hipGraphNode&) { return hipSuccess; });
}
hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph,
                                 const hipGraphNode_t* dependencies, size_t count,
                                 const hipKernelNodeParams* parameters) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeKernel,
             [&](hipGraphNode& n) { return set_kernel(n, parameters); });
}
hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph,
                                 const hipGraphNode_t* dependencies, size_t count,
                                 const hipMemcpy3DParms* parameters) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeMemcpy,
             [&](hipGraphNode& n) { return set_copy(n, parameters); });
}
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph,
                                   const hipGraphNode_t* dependencies, size_t count, void* to,
                                   const void* from, size_t bytes, hipMemcpyKind kind) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeMemcpy1D,
             [&](hipGraphNode& n) { return set_linear_copy(n, to, from, bytes, kind); });
}
hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                         const hipGraphNode_t* dependencies, size_t count,
                                         const void* symbol, const void* from, size_t bytes,
                                         size_t offset, hipMemcpyKind kind) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeMemcpyToSymbol,
             [&](hipGraphNode& n) {
               n.action = [=] { return hipMemcpyToSymbol(symbol, from, bytes, offset, kind); };
               return hipSuccess;
             });
}
hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                           const hipGraphNode_t* dependencies, size_t count,
                                           void* to, const void* symbol, size_t bytes,
                                           size_t offset, hipMemcpyKind kind) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeMemcpyFromSymbol,
             [&](hipGraphNode& n) {
               n.action = [=] { return hipMemcpyFromSymbol(to, symbol, bytes, offset, kind); };
               return hipSuccess;
             });
}
hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph,
                                 const hipGraphNode_t* dependencies, size_t count,
                                 const hipMemsetParams* parameters) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeMemset,
             [&](hipGraphNode& n) { return set_fill(n, parameters); });
}
hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph,
                               const hipGraphNode_t* dependencies, size_t count,
                               const hipHostNodeParams* parameters) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeHost,
             [&](hipGraphNode& n) { return set_host(n, parameters); });
}
hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph,
                                      const hipGraphNode_t* dependencies, size_t count,
                                      hipEvent_t event) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeEventRecord, [&](hipGraphNode& n) {
    n.event = event;
    n.action = [event] { return hipEventRecord(event, nullptr); };
    return hipSuccess;
  });
}
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, size_t count,
                                    hipEvent_t event) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeWaitEvent, [&](hipGraphNode& n) {
    n.event = event;
    return hipSuccess;
  });
}
hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph,
                                     const hipGraphNode_t* dependencies, size_t count,
                                     hipGraph_t child) {
  return add(node, graph, dependencies, count, hipGraphNodeTypeGraph, [&](hipGraphNode& n) {
    if (!known(child)) return hipErrorInvalidValue;
    n.child = child;
    n.action = action_of_graph(*child);
    return hipSuccess;
  });
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from,
                                   const hipGraphNode_t* to, size_t count) {
  return entry([&] {
    if (!known(graph) || (count > 0 && (!from || !to))) return hipErrorInvalidValue;
    for (std::size_t k = 0; k < count; ++k) to[k]->dependencies.push_back(from[k]);
    return hipSuccess;
  });
}
hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from,
                                      const hipGraphNode_t* to, size_t count) {
  return entry([&] {
    if (!known(graph) || (count > 0 && (!from || !to))) return hipErrorInvalidValue;
    for (std::size_t k = 0; k < count; ++k) std::erase(to[k]->dependencies, from[k]);
    return hipSuccess;
  });
}
hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  return entry([&] {
    for (const auto& [handle, graph] : all().graphs) {
      for (const auto& n : graph->nodes) std::erase(n->dependencies, node);
      if (std::erase_if(graph->nodes, [&](const auto& n) { return n.get() == node; }) != 0)
        return hipSuccess;
    }
    return hipErrorInvalidValue;
  });
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  return entry([&] {
    if (!known(graph)) return hipErrorInvalidValue;
    std::vector<hipGraphNode_t> found(graph->nodes.size());
    std::transform(graph->nodes.begin(), graph->nodes.end(), found.begin(),
                   [](const auto& n) { return n.get(); });
    return list(found, nodes, count);
  });
}
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  return entry([&] {
    if (!known(graph)) return hipErrorInvalidValue;
    std::vector<hipGraphNode_t> found;
    for (const auto& n : graph->nodes)
      if (n->dependencies.empty()) found.push_back(n.get());
    return list(found, nodes, count);
  });
}
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* nodes, size_t* count) {
  return entry([&] {
    const hipGraphNode* const found = find(node);
    return found ? list(found->dependencies, nodes, count) : hipErrorInvalidValue;
  });
}
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  return entry([&] {
    const hipGraphNode* const found = find(node);
    if (!found || !type) return hipErrorInvalidValue;
    *type = found->type;
    return hipSuccess;
  });
}
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) {
  return entry([&] {
    const hipGraphNode* const found = find(node);
    if (!found || !graph || !found->child) return hipErrorInvalidValue;
    *graph = found->child;
    return hipSuccess;
  });
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* parameters) {
  return get(node, &hipGraphNode::kernel, parameters);
}
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* parameters) {
  return change(node, hipGraphNodeTypeKernel,
                [&](hipGraphNode& n) { return set_kernel(n, parameters); });
}
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams* parameters) {
  return change(exec, node, [&](hipGraphNode& n) { return set_kernel(n, parameters); });
}
hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* parameters) {
  return get(node, &hipGraphNode::copy, parameters);
}
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* parameters) {
  return change(node, hipGraphNodeTypeMemcpy,
                [&](hipGraphNode& n) { return set_copy(n, parameters); });
}
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           hipMemcpy3DParms* parameters) {
  return change(exec, node, [&](hipGraphNode& n) { return set_copy(n, parameters); });
}
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* to, const void* from,
                                         size_t bytes, hipMemcpyKind kind) {
  return change(node, hipGraphNodeTypeMemcpy1D,
                [&](hipGraphNode& n) { return set_linear_copy(n, to, from, bytes, kind); });
}
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* to,
                                             const void* from, size_t bytes, hipMemcpyKind kind) {
  return change(exec, node,
                [&](hipGraphNode& n) { return set_linear_copy(n, to, from, bytes, kind); });
}
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* parameters) {
  return get(node, &hipGraphNode::fill, parameters);
}
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* parameters) {
  return change(node, hipGraphNodeTypeMemset,
                [&](hipGraphNode& n) { return set_fill(n, parameters); });
}
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipMemsetParams* parameters) {
  return change(exec, node, [&](hipGraphNode& n) { return set_fill(n, parameters); });
}
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* parameters) {
  return get(node, &hipGraphNode::host, parameters);
}
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* parameters) {
  return change(node, hipGraphNodeTypeHost,
                [&](hipGraphNode& n) { return set_host(n, parameters); });
}
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                         const hipHostNodeParams* parameters) {
  return change(exec, node, [&](hipGraphNode& n) { return set_host(n, parameters); });
}

}  // extern "C"
