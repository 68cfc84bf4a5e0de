// See modules.h.
#include "vgpu/runtime/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace swizzleperf::vgpu::runtime {
namespace {

const KernelInfo* kernel_named(const Module& module, const std::string& symbol) {
  for (const KernelInfo& kernel : module.kernels()) {
    if (kernel.symbol == symbol) return &kernel;
  }
  return nullptr;
}

}  // namespace

Modules::Unit* Modules::add(std::span<const std::byte> bitcode, bool linked,
                            const std::string& name) {
  if (linked) {
    for (Unit& unit : units_) {
      if (!unit.linked || unit.module) continue;
      unit.parts.push_back(bitcode);
      return &unit;
    }
  }
  Unit& unit = units_.emplace_back();
  unit.linked = linked;
  unit.parts = {bitcode};
  if (!linked) {
    unit.bitcode = bitcode;
    unit.loading =
        std::async(std::launch::async, [bitcode, name] { return Module::load(bitcode, name); });
  }
  return &unit;
}

std::unique_ptr<Module> Modules::load(Unit& unit) {
  if (unit.loading.valid()) return unit.loading.get();
  unit.together = link_bitcode(unit.parts, OnConflict::kRefuse);
  unit.bitcode = unit.together;
  return Module::load(unit.bitcode, "the program");
}

void Modules::add_kernel(Unit* unit, const void* host_function, std::string symbol) {
  functions_[host_function] = {unit, std::move(symbol), {}};
}

void Modules::load_all(Heap& heap) {
  for (Unit& unit : units_) {
    if (unit.module) continue;
    unit.module = load(unit);
    place_variables(unit, heap);
    for (auto& [host, registered] : functions_) {
      if (registered.unit != &unit) continue;
      const KernelInfo* const info = kernel_named(*unit.module, registered.symbol);
      if (info) registered.kernel = {unit.module.get(), info, unit.bitcode, unit.linked};
    }
  }
}

/// A managed variable `x` is two device variables: `x.managed` is the storage, placed when it was
/// registered so that the host can use it before any launch, and `x` points to it.
void Modules::place_variables(Unit& unit, Heap& heap) {
  for (const DeviceVariable& variable : unit.module->variables()) {
    if (variable.symbol.starts_with("__hip_cuid_")) continue;  // clang's mark of the source file
    Symbol& symbol = unit.variables[variable.symbol];
    if (!symbol.address) {
      symbol = {heap.allocate(std::max<std::uint64_t>(variable.bytes, 1), MemoryKind::kVariable),
                variable.bytes};
      if (!symbol.address) {
        throw input_error(fmt::format("no memory for device variable '{}' of {} bytes",
                                      variable.symbol, variable.bytes));
      }
      heap.rename(symbol.address, fmt::format("device variable '{}'", variable.symbol));
      std::memcpy(symbol.address, variable.initial.data(), variable.initial.size());
    }
    unit.module->place_variable(variable.symbol, reinterpret_cast<std::uint64_t>(symbol.address));
  }
  unit.module->link_variables();
  for (const auto& [name, symbol] : unit.variables) {
    const auto storage = unit.variables.find(name + kManagedSuffix);
    if (storage == unit.variables.end()) continue;
    void* const target = storage->second.address;
    std::memcpy(symbol.address, static_cast<const void*>(&target), sizeof target);
  }
}

const Kernel* Modules::find(const void* host_function) {
  const auto at = functions_.find(host_function);
  return at != functions_.end() && at->second.kernel.info ? &at->second.kernel : nullptr;
}

std::vector<Kernel> Modules::kernels() const {
  std::vector<Kernel> all;
  for (const Unit& unit : units_) {
    for (const KernelInfo& info : unit.module->kernels()) {
      all.push_back({unit.module.get(), &info, unit.bitcode, unit.linked});
    }
  }
  return all;
}

Symbol Modules::symbol(const void* shadow) const {
  for (const Unit& unit : units_) {
    const auto named = unit.shadows.find(shadow);
    if (named == unit.shadows.end()) continue;
    const auto variable = unit.variables.find(named->second);
    return variable == unit.variables.end() ? Symbol{} : variable->second;
  }
  return {};
}

Symbol Modules::symbol(const Module& module, const std::string& name) const {
  for (const Unit& unit : units_) {
    if (unit.module.get() != &module) continue;
    if (const auto at = unit.variables.find(name); at != unit.variables.end()) return at->second;
  }
  return {};
}

}  // namespace swizzleperf::vgpu::runtime
