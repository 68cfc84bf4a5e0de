// A loaded module: what its kernels are called and take, and their translations, made when first
// needed.
#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "swizzleperf/error.h"
#include "vgpu/exec.h"
#include "vgpu/exec/run.h"
#include "vgpu/exec/slice.h"
#include "vgpu/exec/translate.h"

namespace swizzleperf::vgpu {
namespace {

/// Writes a constant as memory holds it. False if it contains an address, which is not known yet.
bool write_bytes(const llvm::Constant* c, const llvm::DataLayout& layout, std::byte* out) {
  llvm::Type* type = c->getType();
  if (llvm::isa<llvm::UndefValue>(c) || c->isNullValue()) return true;
  const auto write = [&](const llvm::APInt& bits) {
    const std::size_t bytes = layout.getTypeStoreSize(type).getFixedValue();
    for (std::size_t k = 0; k < bytes; ++k) {
      const unsigned width =
          std::min<unsigned>(8, bits.getBitWidth() - static_cast<unsigned>(8 * k));
      out[k] =
          static_cast<std::byte>(bits.extractBitsAsZExtValue(width, static_cast<unsigned>(8 * k)));
    }
  };
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(c)) {
    write(integer->getValue());
    return true;
  }
  if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(c)) {
    write(number->getValueAPF().bitcastToAPInt());
    return true;
  }
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* fields = layout.getStructLayout(structure);
    bool complete = true;
    for (unsigned k = 0; k < structure->getNumElements(); ++k)
      complete &= write_bytes(c->getAggregateElement(k), layout,
                              out + fields->getElementOffset(k).getFixedValue());
    return complete;
  }
  if (!type->isArrayTy() && !type->isVectorTy()) return false;
  const bool is_array = type->isArrayTy();
  llvm::Type* element = is_array ? type->getArrayElementType()
                                 : llvm::cast<llvm::FixedVectorType>(type)->getElementType();
  const std::uint64_t n = is_array ? type->getArrayNumElements()
                                   : llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
  const std::uint64_t step = is_array ? layout.getTypeAllocSize(element).getFixedValue()
                                      : layout.getTypeStoreSize(element).getFixedValue();
  bool complete = true;
  for (std::uint64_t k = 0; k < n; ++k)
    complete &=
        write_bytes(c->getAggregateElement(static_cast<unsigned>(k)), layout, out + k * step);
  return complete;
}

std::vector<std::string> argument_names(const llvm::Function& f) {
  std::vector<std::string> names;
  for (const llvm::Argument& a : f.args()) names.push_back(a.getName().str());
  if (const llvm::DISubprogram* subprogram = f.getSubprogram())
    for (const llvm::DINode* node : subprogram->getRetainedNodes())
      if (const auto* variable = llvm::dyn_cast<llvm::DILocalVariable>(node))
        if (variable->getArg() != 0 && variable->getArg() <= names.size())
          names[variable->getArg() - 1] = variable->getName().str();
  return names;
}

KernelInfo describe(const llvm::Function& f) {
  const llvm::DataLayout& layout = f.getParent()->getDataLayout();
  KernelInfo info;
  info.symbol = f.getName().str();
  info.name = llvm::demangle(info.symbol);
  info.arg_name = argument_names(f);
  std::uint64_t end = 0;
  for (const llvm::Argument& a : f.args()) {
    llvm::Type* type = a.hasByRefAttr() ? a.getParamByRefType() : a.getType();
    const llvm::Align align = a.hasByRefAttr()
                                  ? a.getParamAlign().value_or(layout.getABITypeAlign(type))
                                  : layout.getABITypeAlign(type);
    const std::uint64_t bytes = layout.getTypeAllocSize(type).getFixedValue();
    end = llvm::alignTo(end, align);
    info.arg_offset.push_back(static_cast<std::uint32_t>(end));
    info.arg_bytes.push_back(static_cast<std::uint32_t>(bytes));
    info.arg_is_pointer.push_back(type->isPointerTy());
    end += bytes;
  }
  info.kernarg_bytes = static_cast<std::uint32_t>(end);
  info.static_lds_bytes = lay_out_lds(f).bytes;
  return info;
}

std::string cpu_of(const llvm::Function& f, const char* attribute) {
  return f.hasFnAttribute(attribute) ? f.getFnAttribute(attribute).getValueAsString().str() : "";
}

class LoadedModule final : public Module {
 public:
  LoadedModule(std::span<const std::byte> bitcode, const std::string& name) {
    module_ = parse_module(context_, bitcode, name);
    target_ = amdgpu_target(target_cpu(*module_), "");
    prepare_module(*module_, *target_);
    for (const llvm::Function& f : *module_)
      if (f.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL && !f.isDeclaration())
        kernels_.push_back(describe(f));
    for (const llvm::GlobalVariable& v : module_->globals()) add_variable(v);
  }

  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  const std::vector<DeviceVariable>& variables() const override { return variables_; }

  void place_variable(const std::string& symbol, std::uint64_t address) override {
    const std::scoped_lock lock(mutex_);
    addresses_[symbol] = address;
  }

  void run_block(const KernelInfo& kernel, const Launch& launch, const Dim3& block_index, Mode mode,
                 const DeviceMemory& memory, BlockRecorder* recorder) override {
    static thread_local BlockRun run;
    check(kernel, launch);
    attach(run, program(kernel, launch, mode, memory), launch, memory, own_memory_);
    vgpu::run_block(run, block_index, recorder);
  }

  void watch_grid(const KernelInfo& kernel, const Launch& launch, const DeviceMemory& memory,
                  GridObserver& observer) override {
    for (std::uint64_t block = 0; block < launch.grid.count(); ++block) {
      observer.turn(block);
      watch_block(kernel, launch, unlinear(block, launch.grid), memory, observer);
      observer.ended();
    }
  }

  void watch_block(const KernelInfo& kernel, const Launch& launch, const Dim3& block_index,
                   const DeviceMemory& memory, AccessObserver& observer) override {
    static thread_local BlockRun run;
    check(kernel, launch);
    attach(run, program(kernel, launch, Mode::kFunctional, memory), launch, memory, own_memory_);
    vgpu::run_block(run, block_index, nullptr, &observer);
  }

  void run_grid(const KernelInfo& kernel, const Launch& launch, const DeviceMemory& memory,
                unsigned threads) override {
    check(kernel, launch);
    const Program& code = program(kernel, launch, Mode::kFunctional, memory);
    const std::uint64_t blocks = launch.grid.count();
    std::atomic<std::uint64_t> next{0};
    std::mutex failure_mutex;
    std::uint64_t failed_block = ~std::uint64_t{0};
    std::exception_ptr failure;
    const auto work = [&] {
      BlockRun run;
      attach(run, code, launch, memory, own_memory_);
      for (std::uint64_t b = next++; b < blocks; b = next++) {
        try {
          vgpu::run_block(run, unlinear(b, launch.grid), nullptr);
        } catch (...) {
          const std::scoped_lock lock(failure_mutex);
          if (b < failed_block) {
            failed_block = b;
            failure = std::current_exception();
          }
          next = blocks;
        }
      }
    };
    // Blocks are handed out in dispatch order, so that one that waits for an earlier one finds it
    // done or running.
    std::vector<std::thread> helpers;
    const std::uint64_t wanted = std::min<std::uint64_t>(std::max(threads, 1U), blocks);
    for (std::uint64_t k = 1; k < wanted; ++k) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
  }

 private:
  struct Kernel {
    const llvm::Function* function = nullptr;
    std::unique_ptr<FunctionFacts> facts;
    std::unique_ptr<Program> functional;
    std::unique_ptr<Program> addresses;
    std::unique_ptr<Program> addresses_and_stores;
    std::vector<PointerRoot> needed_loads;  // of the address slice
    std::vector<PointerRoot> stores;
  };

  void add_variable(const llvm::GlobalVariable& v) {
    const unsigned space = v.getAddressSpace();
    const bool in_memory = space == kGlobalSpace || space == kConstantSpace || space == kFlatSpace;
    if (!in_memory || v.isDeclaration() || v.getName().starts_with("llvm.")) return;
    const llvm::DataLayout& layout = module_->getDataLayout();
    DeviceVariable variable;
    variable.symbol = v.getName().str();
    variable.bytes = layout.getTypeAllocSize(v.getValueType()).getFixedValue();
    variable.align = layout.getPreferredAlign(&v).value();
    variable.initial.resize(variable.bytes);
    if (!write_bytes(v.getInitializer(), layout, variable.initial.data()))
      holds_addresses_.insert(variable.symbol);
    variables_.push_back(std::move(variable));
  }

  /// Of a variable that a kernel uses. What the runtime did not place (it may know only those that
  /// the host can name) lives here. Called under the lock.
  std::uint64_t variable_address(const llvm::GlobalVariable& v) {
    const std::string symbol = v.getName().str();
    if (v.isDeclaration())
      throw input_error(
          fmt::format("device variable '{}' is declared but defined nowhere", symbol));
    if (holds_addresses_.contains(symbol))
      throw input_error(fmt::format(
          "device variable '{}' is initialised with an address, which is not supported by the "
          "virtual GPU",
          symbol));
    const auto placed = addresses_.find(symbol);
    if (placed != addresses_.end()) return placed->second;
    const auto variable = std::find_if(variables_.begin(), variables_.end(),
                                       [&](const DeviceVariable& d) { return d.symbol == symbol; });
    // Room for any alignment a variable asks for.
    auto& storage = storage_.emplace_back(variable->bytes + variable->align);
    const auto start = reinterpret_cast<std::uint64_t>(storage.data());
    const std::uint64_t pad = (variable->align - start % variable->align) % variable->align;
    std::memcpy(storage.data() + pad, variable->initial.data(), variable->bytes);
    const std::uint64_t base = start + pad;
    own_memory_.push_back({base, variable->bytes, "device variable '" + symbol + "'"});
    std::sort(own_memory_.begin(), own_memory_.end(),
              [](const Allocation& a, const Allocation& b) { return a.base < b.base; });
    addresses_[symbol] = base;
    return base;
  }

  static void check(const KernelInfo& kernel, const Launch& launch) {
    if (launch.block.count() == 0 || launch.block.count() > 1024)
      throw input_error(
          fmt::format("kernel {}: a block of {} x {} x {} threads cannot run (1 to 1024)",
                      kernel.name, launch.block.x, launch.block.y, launch.block.z));
    if (launch.kernargs.size() < kernel.kernarg_bytes)
      throw input_error(fmt::format("kernel {}: launched with {} bytes of arguments instead of {}",
                                    kernel.name, launch.kernargs.size(), kernel.kernarg_bytes));
  }

  std::unique_ptr<Program> make(const KernelInfo& info, Kernel& kernel, SliceKind kind) {
    KernelIr ir;
    ir.function = kernel.function;
    ir.facts = kernel.facts.get();
    ir.name = info.name;
    ir.argument_offsets = info.arg_offset;
    ir.variable_address = [this](const llvm::GlobalVariable& v) { return variable_address(v); };
    ir.wave_lanes = wave_lanes(*kernel.function);
    const Slice slice = slice_kernel(*kernel.function, kind, info.arg_offset);
    if (kind == SliceKind::kAddresses) {
      kernel.needed_loads = slice.needed_loads;
      kernel.stores = slice.stores;
    }
    return translate(ir, slice);
  }

  static std::uint32_t wave_lanes(const llvm::Function& f) {
    return cpu_of(f, "target-features").find("+wavefrontsize32") != std::string::npos ? 32 : 64;
  }

  const Program& program(const KernelInfo& info, const Launch& launch, Mode mode,
                         const DeviceMemory& memory) {
    const std::scoped_lock lock(mutex_);
    Kernel& kernel = compiled_[info.symbol];
    if (kernel.facts == nullptr) {
      llvm::Function* f = module_->getFunction(info.symbol);
      if (f == nullptr) throw input_error(fmt::format("no kernel named {} here", info.symbol));
      kernel.function = f;
      kernel.facts = std::make_unique<FunctionFacts>(*f, *target_);
    }
    const auto get = [&](std::unique_ptr<Program>& slot, SliceKind kind) -> const Program& {
      if (slot == nullptr) slot = make(info, kernel, kind);
      return *slot;
    };
    if (mode == Mode::kFunctional) return get(kernel.functional, SliceKind::kEverything);
    const Program& light = get(kernel.addresses, SliceKind::kAddresses);
    if (!roots_may_meet(kernel, launch, memory)) return light;
    return get(kernel.addresses_and_stores, SliceKind::kAddressesAndStores);
  }

  /// May a store of this launch write what a needed load reads?
  bool roots_may_meet(const Kernel& kernel, const Launch& launch, const DeviceMemory& memory) {
    if (kernel.needed_loads.empty() || kernel.stores.empty()) return false;
    const auto target = [&](const PointerRoot& root) -> std::uint64_t {
      std::uint64_t address = 0;
      if (root.kind == PointerRoot::Kind::kArgument)
        std::memcpy(&address, launch.kernargs.data() + root.argument_offset, sizeof address);
      else if (root.kind == PointerRoot::Kind::kVariable)
        address = variable_address(*root.variable);
      const Allocation* a = memory.find(address);
      return a == nullptr ? address : a->base;
    };
    std::set<std::uint64_t> written;
    for (const PointerRoot& root : kernel.stores) {
      if (root.kind == PointerRoot::Kind::kUnknown) return true;
      written.insert(target(root));
    }
    return std::any_of(
        kernel.needed_loads.begin(), kernel.needed_loads.end(), [&](const PointerRoot& root) {
          return root.kind == PointerRoot::Kind::kUnknown || written.contains(target(root));
        });
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<llvm::TargetMachine> target_;
  std::vector<KernelInfo> kernels_;
  std::vector<DeviceVariable> variables_;
  std::set<std::string> holds_addresses_;
  std::mutex mutex_;  // over everything below
  std::map<std::string, std::uint64_t> addresses_;
  std::map<std::string, Kernel> compiled_;
  std::vector<std::vector<std::byte>> storage_;
  std::vector<Allocation> own_memory_;
};

}  // namespace

std::unique_ptr<Module> Module::load(std::span<const std::byte> bitcode, const std::string& name) {
  return std::make_unique<LoadedModule>(bitcode, name);
}

}  // namespace swizzleperf::vgpu
