// Everything LLVM's own passes can do before translation, done by them.
//
// Calls disappear (a wave-wide interpreter needs no call stack): every function is inlined, those
// called through pointers too, and what cannot be, recursion, is refused when the kernel is
// translated.
// The device code was optimised when it was compiled; only what inlining and our needs undo is
// repaired.
#include "vgpu/exec/prepare.h"

#include <fmt/format.h>
#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Vectorize/LoadStoreVectorizer.h>

#include <mutex>
#include <set>

#include "swizzleperf/error.h"
#include "vgpu/exec/lower.h"
#include "vgpu/exec/newer.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
}

namespace swizzleperf::vgpu {
namespace {

/// A module that fails to parse must not print to stderr; its message becomes ours.
std::string message_of(llvm::Error error) { return llvm::toString(std::move(error)); }

/// Functions that call themselves, directly or not: left as calls.
std::set<const llvm::Function*> recursive_functions(llvm::Module& module) {
  std::set<const llvm::Function*> recursive;
  llvm::CallGraph graph(module);
  for (auto scc = llvm::scc_begin(&graph); !scc.isAtEnd(); ++scc)
    if (scc.hasCycle())
      for (const llvm::CallGraphNode* node : *scc)
        if (node->getFunction() != nullptr) recursive.insert(node->getFunction());
  return recursive;
}

void mark_for_inlining(llvm::Module& module) {
  const auto recursive = recursive_functions(module);
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    f.removeFnAttr(llvm::Attribute::OptimizeNone);
    f.removeFnAttr(llvm::Attribute::NoInline);
    if (f.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL || recursive.contains(&f)) continue;
    f.addFnAttr(llvm::Attribute::AlwaysInline);
    f.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

/// The analysis managers of the new pass manager, wired together.
struct AnalysisManagers {
  llvm::LoopAnalysisManager loop;
  llvm::FunctionAnalysisManager function;
  llvm::CGSCCAnalysisManager scc;
  llvm::ModuleAnalysisManager module;
  llvm::PassBuilder builder;

  explicit AnalysisManagers(llvm::TargetMachine& target) : builder(&target) {
    builder.registerModuleAnalyses(module);
    builder.registerCGSCCAnalyses(scc);
    builder.registerFunctionAnalyses(function);
    builder.registerLoopAnalyses(loop);
    builder.crossRegisterProxies(loop, function, scc, module);
  }
};

/// Depth-first over the direct members of one loop (or of the function), with inner loops as single
/// nodes; edges back to the header and edges out are not followed.
class Orderer {
 public:
  explicit Orderer(const llvm::LoopInfo& loops) : loops_(loops) {}

  std::vector<llvm::BasicBlock*> region(const llvm::Loop* loop, llvm::BasicBlock* entry) {
    std::vector<llvm::BasicBlock*> postorder;  // of nodes, each by its header
    std::set<llvm::BasicBlock*> seen;
    visit(loop, entry, entry, seen, postorder);
    std::vector<llvm::BasicBlock*> order;
    for (auto node = postorder.rbegin(); node != postorder.rend(); ++node) {
      const llvm::Loop* inner = child_of(loop, *node);
      if (inner == nullptr) {
        order.push_back(*node);
        continue;
      }
      const auto inside = region(inner, *node);
      order.insert(order.end(), inside.begin(), inside.end());
    }
    return order;
  }

 private:
  /// The loop directly inside `loop` that holds the block; null if it is a direct member.
  const llvm::Loop* child_of(const llvm::Loop* loop, const llvm::BasicBlock* block) const {
    const llvm::Loop* inner = loops_.getLoopFor(block);
    if (inner == loop) return nullptr;
    while (inner != nullptr && inner->getParentLoop() != loop) inner = inner->getParentLoop();
    return inner;
  }

  void visit(const llvm::Loop* loop, llvm::BasicBlock* entry, llvm::BasicBlock* node,
             std::set<llvm::BasicBlock*>& seen, std::vector<llvm::BasicBlock*>& postorder) {
    // An explicit stack: unrolled kernels have chains of thousands of blocks.
    struct Frame {
      llvm::BasicBlock* node;
      std::vector<llvm::BasicBlock*> next;
    };
    std::vector<Frame> stack;
    const auto enter = [&](llvm::BasicBlock* block) {
      if (seen.insert(block).second) stack.push_back({block, successors_of(loop, entry, block)});
    };
    enter(node);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next.empty()) {
        postorder.push_back(top.node);
        stack.pop_back();
        continue;
      }
      llvm::BasicBlock* next = top.next.back();
      top.next.pop_back();
      enter(next);
    }
  }

  std::vector<llvm::BasicBlock*> successors_of(const llvm::Loop* loop, llvm::BasicBlock* entry,
                                               llvm::BasicBlock* node) const {
    std::vector<llvm::BasicBlock*> result;
    const auto add = [&](llvm::BasicBlock* block) {
      if (block == entry || (loop != nullptr && !loop->contains(block))) return;
      const llvm::Loop* inner = child_of(loop, block);
      result.push_back(inner == nullptr ? block : inner->getHeader());
    };
    const llvm::Loop* inner = child_of(loop, node);
    if (inner == nullptr) {
      for (llvm::BasicBlock* s : llvm::successors(node)) add(s);
      return result;
    }
    llvm::SmallVector<llvm::BasicBlock*, 8> exits;
    inner->getExitBlocks(exits);
    for (llvm::BasicBlock* s : exits) add(s);
    return result;
  }

  const llvm::LoopInfo& loops_;
};

}  // namespace

std::unique_ptr<llvm::Module> parse_module(llvm::LLVMContext& context,
                                           std::span<const std::byte> bitcode,
                                           const std::string& name) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(bitcode.data()), bitcode.size());
  const llvm::MemoryBufferRef buffer(bytes, name);
  if (llvm::isBitcode(reinterpret_cast<const unsigned char*>(bytes.begin()),
                      reinterpret_cast<const unsigned char*>(bytes.end()))) {
    auto module = llvm::parseBitcodeFile(buffer, context);
    if (!module)
      throw input_error(
          fmt::format("{}: cannot read device bitcode: {}", name, message_of(module.takeError())));
    take_cpu_from_triple(**module);
    return std::move(*module);
  }
  // Textual IR wants a terminated buffer.
  const auto copy = llvm::MemoryBuffer::getMemBufferCopy(older_text(bytes), name);
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIR(copy->getMemBufferRef(), diagnostic, context);
  if (!module)
    throw input_error(fmt::format("{}: not device code (LLVM IR): line {}: {}", name,
                                  diagnostic.getLineNo(), diagnostic.getMessage().str()));
  take_cpu_from_triple(*module);
  return module;
}

std::unique_ptr<llvm::TargetMachine> amdgpu_target(const std::string& cpu,
                                                   const std::string& features) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
  });
  std::string reason;
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (target == nullptr) throw input_error("this LLVM has no AMDGPU back end: " + reason);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, cpu, features, llvm::TargetOptions{}, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  return machine;
}

std::string target_cpu(const llvm::Module& module) {
  for (const llvm::Function& f : module)
    if (f.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL && f.hasFnAttribute("target-cpu"))
      return f.getFnAttribute("target-cpu").getValueAsString().str();
  return "gfx942";
}

namespace {

void run(llvm::Module& module, llvm::TargetMachine& target, llvm::ModulePassManager passes,
         llvm::FunctionPassManager f) {
  AnalysisManagers managers(target);
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(f)));
  passes.run(module, managers.module);
}

void inline_everything(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  llvm::FunctionPassManager f;
  f.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  f.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  f.addPass(llvm::InferAddressSpacesPass());
  f.addPass(llvm::SimplifyCFGPass());
  run(module, target, std::move(passes), std::move(f));
}

void bring_into_form(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::FunctionPassManager f;
  f.addPass(llvm::EarlyCSEPass());
  // The code generator merges neighbouring loads and stores (HIP's float4 is two halves in the IR);
  // what reaches memory is one access, so the trace must see one.
  f.addPass(llvm::LoadStoreVectorizerPass());
  f.addPass(llvm::LowerSwitchPass());
  f.addPass(llvm::FixIrreduciblePass());
  f.addPass(llvm::LoopSimplifyPass());
  f.addPass(llvm::LCSSAPass());
  run(module, target, llvm::ModulePassManager(), std::move(f));
}

}  // namespace

void prepare_module(llvm::Module& module, llvm::TargetMachine& target) {
  // IR written by hand may lack the layout, and with it the size of pointers into LDS.
  if (module.getDataLayoutStr().empty()) module.setDataLayout(target.createDataLayout());
  resolve_indirect_calls(module);
  mark_for_inlining(module);
  inline_everything(module, target);
  lower_instructions(module, target);
  bring_into_form(module, target);
}

struct FunctionFacts::Managers : AnalysisManagers {
  using AnalysisManagers::AnalysisManagers;
};

FunctionFacts::FunctionFacts(llvm::Function& function, llvm::TargetMachine& target)
    : managers_(std::make_unique<Managers>(target)),
      loops_(&managers_->function.getResult<llvm::LoopAnalysis>(function)),
      uniformity_(&managers_->function.getResult<llvm::UniformityInfoAnalysis>(function)) {}

FunctionFacts::~FunctionFacts() = default;

std::vector<llvm::BasicBlock*> execution_order(llvm::Function& function,
                                               const llvm::LoopInfo& loops) {
  return Orderer(loops).region(nullptr, &function.getEntryBlock());
}

}  // namespace swizzleperf::vgpu
