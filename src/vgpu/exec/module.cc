// A loaded module: what its kernels are called and take, and their translations, made when first
// needed.
#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "swizzleperf/error.h"
#include "vgpu/exec.h"
#include "vgpu/exec/grid.h"
#include "vgpu/exec/run.h"
#include "vgpu/exec/slice.h"
#include "vgpu/exec/translate.h"
#include "vgpu/exec/waiting.h"
#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {
namespace {

/// A place in a variable that holds the address of another, or of a function.
struct AddressInside {
  std::uint64_t offset;  // in the variable
  std::uint32_t bytes;
  const llvm::GlobalValue* target;
  std::uint64_t plus;
};

/// Writes a constant as memory holds it; addresses, which are not known yet, go into `addresses`.
class ConstantWriter {
 public:
  ConstantWriter(const llvm::DataLayout& layout, std::vector<std::byte>& out,
                 std::vector<AddressInside>& addresses)
      : layout_(layout), out_(out), addresses_(addresses) {}

  /// False if the constant is an expression beyond "address plus offset".
  bool write(const llvm::Constant* c, std::uint64_t at) {
    llvm::Type* type = c->getType();
    if (llvm::isa<llvm::UndefValue>(c) || c->isNullValue()) return true;
    if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(c)) {
      write_bits(integer->getValue(), type, at);
      return true;
    }
    if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(c)) {
      write_bits(number->getValueAPF().bitcastToAPInt(), type, at);
      return true;
    }
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      const llvm::StructLayout* fields = layout_.getStructLayout(structure);
      bool complete = true;
      for (unsigned k = 0; k < structure->getNumElements(); ++k)
        complete &=
            write(c->getAggregateElement(k), at + fields->getElementOffset(k).getFixedValue());
      return complete;
    }
    return type->isArrayTy() || type->isVectorTy() ? write_elements(c, at) : write_address(c, at);
  }

 private:
  void write_bits(const llvm::APInt& bits, llvm::Type* type, std::uint64_t at) {
    const std::size_t bytes = layout_.getTypeStoreSize(type).getFixedValue();
    for (std::size_t k = 0; k < bytes; ++k) {
      const unsigned width =
          std::min<unsigned>(8, bits.getBitWidth() - static_cast<unsigned>(8 * k));
      out_[at + k] =
          static_cast<std::byte>(bits.extractBitsAsZExtValue(width, static_cast<unsigned>(8 * k)));
    }
  }

  bool write_elements(const llvm::Constant* c, std::uint64_t at) {
    llvm::Type* type = c->getType();
    const bool is_array = type->isArrayTy();
    llvm::Type* element = is_array ? type->getArrayElementType()
                                   : llvm::cast<llvm::FixedVectorType>(type)->getElementType();
    const std::uint64_t n = is_array ? type->getArrayNumElements()
                                     : llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
    const std::uint64_t step = is_array ? layout_.getTypeAllocSize(element).getFixedValue()
                                        : layout_.getTypeStoreSize(element).getFixedValue();
    bool complete = true;
    for (std::uint64_t k = 0; k < n; ++k)
      complete &= write(c->getAggregateElement(static_cast<unsigned>(k)), at + k * step);
    return complete;
  }

  bool write_address(const llvm::Constant* c, std::uint64_t at) {
    const auto bytes =
        static_cast<std::uint32_t>(layout_.getTypeStoreSize(c->getType()).getFixedValue());
    if (const auto* e = llvm::dyn_cast<llvm::ConstantExpr>(c))
      if (e->getOpcode() == llvm::Instruction::PtrToInt) c = e->getOperand(0);
    if (!c->getType()->isPointerTy() || bytes != 8) return false;
    llvm::APInt plus(layout_.getIndexTypeSizeInBits(c->getType()), 0);
    const llvm::Value* target =
        c->stripAndAccumulateConstantOffsets(layout_, plus, /*AllowNonInbounds=*/true);
    const auto* global = llvm::dyn_cast<llvm::GlobalValue>(target);
    if (global == nullptr) return false;
    addresses_.push_back({at, bytes, global, plus.getZExtValue()});
    return true;
  }

  const llvm::DataLayout& layout_;
  std::vector<std::byte>& out_;
  std::vector<AddressInside>& addresses_;
};

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

bool calls(const llvm::Function& f, const char* name) {
  const llvm::Function* callee = f.getParent()->getFunction(name);
  return callee != nullptr &&
         std::any_of(callee->user_begin(), callee->user_end(), [&](const llvm::User* user) {
           const auto* call = llvm::dyn_cast<llvm::Instruction>(user);
           return call != nullptr && call->getFunction() == &f;
         });
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
  info.allocates = calls(f, "__ockl_dm_alloc") || calls(f, "__ockl_dm_dealloc");
  info.repeatable = !info.allocates && !calls(f, "__ockl_printf_begin") &&
                    !calls(f, "__ockl_fprintf_stderr_begin");
  return info;
}

/// Defined in every module of CUDA code (device/cuda/swizzleperf_cuda.h).
constexpr const char* kWarpMark = "__swizzleperf_warp_lanes";

std::string cpu_of(const llvm::Function& f, const char* attribute) {
  return f.hasFnAttribute(attribute) ? f.getFnAttribute(attribute).getValueAsString().str() : "";
}

class LoadedModule final : public Module {
 public:
  LoadedModule(std::span<const std::byte> bitcode, const std::string& name) {
    module_ = parse_module(context_, bitcode, name);
    target_ = amdgpu_target(target_cpu(*module_), "");
    warps_ = module_->getNamedGlobal(kWarpMark) != nullptr;
    prepare_module(*module_, *target_);
    for (const llvm::Function& f : *module_) {
      if (f.getCallingConv() != llvm::CallingConv::AMDGPU_KERNEL || f.isDeclaration()) continue;
      kernels_.push_back(describe(f));
      kernels_.back().wave_lanes = wave_lanes(f);
    }
    for (const llvm::GlobalVariable& v : module_->globals()) add_variable(v);
  }

  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  const std::vector<DeviceVariable>& variables() const override { return variables_; }

  void place_variable(const std::string& symbol, std::uint64_t address) override {
    const std::scoped_lock lock(mutex_);
    addresses_[symbol] = address;
  }

  void link_variables() override {
    const std::scoped_lock lock(mutex_);
    for (const auto& [symbol, inside] : addresses_inside_)
      if (addresses_.contains(symbol)) write_addresses(symbol);
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
    check(kernel, launch);
    const Program& code = program(kernel, launch, Mode::kFunctional, memory);
    vgpu::run_grid(code, launch, memory, own_memory_, {1, {}, {}, &observer});
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
    vgpu::run_grid(code, launch, memory, own_memory_, {threads, {}, {}, nullptr});
  }

  bool needs_order(const KernelInfo& kernel, const Launch& launch,
                   const DeviceMemory& memory) override {
    check(kernel, launch);
    const std::scoped_lock lock(mutex_);
    Kernel& known = facts(kernel);
    if (!known.sliced) slice(kernel, known);
    return known.takes_work_from_atomics ||
           (known.waits_on_memory && roots_may_meet(known, launch, memory));
  }

  void record_grid(const KernelInfo& kernel, const Launch& launch, const DeviceMemory& memory,
                   PatternTable& patterns, std::vector<RawBlock>& blocks) override {
    check(kernel, launch);
    const Program& code = program(kernel, launch, Mode::kFunctional, memory);
    const auto waves =
        static_cast<std::uint32_t>((launch.block.count() + code.wave_lanes - 1) / code.wave_lanes);
    blocks.resize(launch.grid.count());
    std::map<std::uint64_t, BlockRecorder> recorders;  // of the blocks that have begun
    GridOptions options;
    options.recorder = [&](std::uint64_t block) {
      BlockRecorder& recorder = recorders.try_emplace(block, patterns).first->second;
      recorder.begin(waves);
      return &recorder;
    };
    options.finished = [&](std::uint64_t block) {
      blocks[block] = recorders.at(block).finish();
      recorders.erase(block);
    };
    vgpu::run_grid(code, launch, memory, own_memory_, options);
  }

 private:
  struct Kernel {
    const llvm::Function* function = nullptr;
    std::unique_ptr<FunctionFacts> facts;
    std::unique_ptr<Program> functional;
    std::unique_ptr<Program> addresses;
    std::unique_ptr<Program> addresses_and_stores;
    bool sliced = false;  // the rest is known
    bool takes_work_from_atomics = false;
    bool waits_on_memory = false;
    std::vector<PointerRoot> needed_loads;  // of the address slice
    std::vector<PointerRoot> stores;
  };

  void add_variable(const llvm::GlobalVariable& v) {
    const unsigned space = v.getAddressSpace();
    const bool in_memory = space == kGlobalSpace || space == kConstantSpace || space == kFlatSpace;
    if (!in_memory || v.isDeclaration() || v.getName().starts_with("llvm.") ||
        v.getName().starts_with(kWarpMark))
      return;
    const llvm::DataLayout& layout = module_->getDataLayout();
    DeviceVariable variable;
    variable.symbol = v.getName().str();
    variable.bytes = layout.getTypeAllocSize(v.getValueType()).getFixedValue();
    variable.align = layout.getPreferredAlign(&v).value();
    variable.initial.resize(variable.bytes);
    if (!ConstantWriter(layout, variable.initial, addresses_inside_[variable.symbol])
             .write(v.getInitializer(), 0))
      too_complex_.insert(variable.symbol);
    variables_.push_back(std::move(variable));
  }

  /// Of a variable that a kernel uses. What the runtime did not place (it may know only those that
  /// the host can name) lives here. Called under the lock.
  std::uint64_t variable_address(const llvm::GlobalVariable& v) {
    const std::string symbol = v.getName().str();
    if (v.isDeclaration())
      throw input_error(
          fmt::format("device variable '{}' is declared but defined nowhere", symbol));
    if (too_complex_.contains(symbol))
      throw input_error(fmt::format(
          "device variable '{}' is initialised with an expression of addresses that is not "
          "supported by the virtual GPU",
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
    write_addresses(symbol);
    return base;
  }

  /// A number for each function whose address is taken: nobody calls through it (lower.h), but
  /// pointers to functions are compared.
  std::uint64_t function_address(const llvm::Function& f) {
    const auto [it, is_new] = functions_.try_emplace(&f, functions_.size() + 1);
    return kFunctionAperture + 16 * it->second;
  }

  /// Completes the initial value of a placed variable. Called under the lock.
  void write_addresses(const std::string& symbol) {
    for (const AddressInside& inside : addresses_inside_[symbol]) {
      std::uint64_t address = inside.plus;
      if (const auto* f = llvm::dyn_cast<llvm::Function>(inside.target))
        address += function_address(*f);
      else if (const auto* v = llvm::dyn_cast<llvm::GlobalVariable>(inside.target))
        address += v->isDeclaration() ? 0 : variable_address(*v);
      // NOLINTNEXTLINE(performance-no-int-to-ptr): device addresses are host addresses
      std::memcpy(reinterpret_cast<void*>(addresses_.at(symbol) + inside.offset), &address,
                  sizeof address);
    }
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
    ir.function_address = [this](const llvm::Function& f) { return function_address(f); };
    ir.wave_lanes = info.wave_lanes;
    return translate(ir, slice_kernel(*kernel.function, kind, info.arg_offset));
  }

  /// What the address slice says of the kernel.
  static void slice(const KernelInfo& info, Kernel& kernel) {
    const Slice slice = slice_kernel(*kernel.function, SliceKind::kAddresses, info.arg_offset);
    kernel.needed_loads = slice.needed_loads;
    kernel.stores = slice.stores;
    kernel.takes_work_from_atomics = !slice.deciding_atomics.empty();
    kernel.waits_on_memory = std::any_of(kernel.facts->loops().begin(), kernel.facts->loops().end(),
                                         waits_in_or_below_for_global);
    kernel.sliced = true;
  }

  Kernel& facts(const KernelInfo& info) {
    Kernel& kernel = compiled_[info.symbol];
    if (kernel.facts != nullptr) return kernel;
    llvm::Function* f = module_->getFunction(info.symbol);
    if (f == nullptr) throw input_error(fmt::format("no kernel named {} here", info.symbol));
    kernel.function = f;
    kernel.facts = std::make_unique<FunctionFacts>(*f, *target_);
    return kernel;
  }

  [[nodiscard]] std::uint32_t wave_lanes(const llvm::Function& f) const {
    if (warps_) return 32;
    return cpu_of(f, "target-features").find("+wavefrontsize32") != std::string::npos ? 32 : 64;
  }

  const Program& program(const KernelInfo& info, const Launch& launch, Mode mode,
                         const DeviceMemory& memory) {
    const std::scoped_lock lock(mutex_);
    Kernel& kernel = facts(info);
    const auto get = [&](std::unique_ptr<Program>& slot, SliceKind kind) -> const Program& {
      if (slot == nullptr) slot = make(info, kernel, kind);
      return *slot;
    };
    if (mode == Mode::kFunctional) return get(kernel.functional, SliceKind::kEverything);
    if (!kernel.sliced) slice(info, kernel);
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
  bool warps_ = false;  ///< the module's waves have 32 lanes, whatever its architecture's have
  std::vector<KernelInfo> kernels_;
  std::vector<DeviceVariable> variables_;
  std::set<std::string> too_complex_;  // variables whose initial value we cannot write
  std::map<std::string, std::vector<AddressInside>> addresses_inside_;
  std::mutex mutex_;  // over everything below
  std::map<std::string, std::uint64_t> addresses_;
  std::map<const llvm::Function*, std::uint64_t> functions_;  // numbers
  std::map<std::string, Kernel> compiled_;
  std::vector<std::vector<std::byte>> storage_;
  std::vector<Allocation> own_memory_;
};

}  // namespace

std::unique_ptr<Module> Module::load(std::span<const std::byte> bitcode, const std::string& name) {
  return std::make_unique<LoadedModule>(bitcode, name);
}

}  // namespace swizzleperf::vgpu
