// The device code of the program, and the host addresses by which its host code names things.
//
// Compiled host code registers its modules before main; loading one takes tens of milliseconds, so
// it goes on in the background while the program prepares its data. Where a device variable lies is
// decided in program order on first need, never by that background thread: addresses stay the same
// from run to run.
#pragma once

#include <deque>
#include <future>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vgpu/exec.h"
#include "vgpu/runtime/heap.h"

namespace swizzleperf::vgpu::runtime {

/// clang calls the storage of `__managed__ x` this, after x.
inline constexpr const char* kManagedSuffix = ".managed";

/// A kernel that the program can name, with the module it lives in.
struct Kernel {
  Module* module = nullptr;
  const KernelInfo* info = nullptr;
  std::span<const std::byte> bitcode;
  bool linked = false;  ///< one of several objects' that refer to each other's device code
};

struct Symbol {
  void* address = nullptr;
  std::uint64_t bytes = 0;
};

class Modules {
 public:
  /// One module; the handle is what the registration functions get back. Objects compiled to be
  /// linked on the device (-rdc=true, -fgpu-rdc) share one: they are linked when they are loaded,
  /// since only then is it known which of an archive's the program has.
  struct Unit {
    bool linked = false;
    std::vector<std::span<const std::byte>> parts;  // until they are linked
    std::vector<std::byte> together;
    std::span<const std::byte> bitcode;
    std::future<std::unique_ptr<Module>> loading;
    std::unique_ptr<Module> module;
    std::map<std::string, Symbol> variables;     // by device symbol, once placed
    std::map<const void*, std::string> shadows;  // host address of a variable -> device symbol
  };

  /// `name` is what messages call it; `linked` code is joined with all other such code.
  Unit* add(std::span<const std::byte> bitcode, bool linked,
            const std::string& name = "the program");
  void add_kernel(Unit* unit, const void* host_function, std::string symbol);

  /// Waits for every module and places its variables. Throws Error(kInput) as Module::load does.
  void load_all(Heap& heap);

  /// The kernel behind a host function, or null. After load_all.
  [[nodiscard]] const Kernel* find(const void* host_function);
  /// Every kernel of the program, in registration order. After load_all.
  [[nodiscard]] std::vector<Kernel> kernels() const;
  /// The device variable that a host variable stands for. After load_all.
  [[nodiscard]] Symbol symbol(const void* shadow) const;
  /// A module's variable by its name in the device code.
  [[nodiscard]] Symbol symbol(const Module& module, const std::string& name) const;

 private:
  struct Registered {
    Unit* unit;
    std::string symbol;
    Kernel kernel;
  };

  static std::unique_ptr<Module> load(Unit& unit);
  static void place_variables(Unit& unit, Heap& heap);

  std::deque<Unit> units_;
  std::map<const void*, Registered> functions_;
};

}  // namespace swizzleperf::vgpu::runtime
