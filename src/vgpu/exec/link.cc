// Device code of several objects to one module (-fgpu-rdc, -rdc=true). LLVM's own linker does it;
// what it complains about goes to a handler of the context, not to its return value, and must
// become our sentence instead of a line on stderr.
#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/raw_ostream.h>

#include "swizzleperf/error.h"
#include "vgpu/exec.h"
#include "vgpu/exec/prepare.h"

namespace swizzleperf::vgpu {
namespace {

/// Keeps the last error that LLVM reports.
struct Listener final : llvm::DiagnosticHandler {
  explicit Listener(std::string& text) : error(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    error.clear();
    llvm::raw_string_ostream out(error);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    return true;
  }
  std::string& error;
};

/// clang gives a static variable that the host also names a unique name (x.static.HASH), but what
/// it had emitted before it saw the host's use still refers to the plain one. One object, one
/// variable.
void join_static_variables(llvm::Module& module) {
  llvm::SmallVector<std::pair<llvm::GlobalVariable*, llvm::GlobalVariable*>> pairs;
  for (llvm::GlobalVariable& unique : module.globals()) {
    const auto [plain, hash] = unique.getName().split(".static.");
    llvm::GlobalVariable* const named = hash.empty() ? nullptr : module.getNamedGlobal(plain);
    if (named != nullptr && named->isDeclaration()) pairs.emplace_back(named, &unique);
  }
  for (const auto& [named, unique] : pairs) {
    named->replaceAllUsesWith(unique);
    named->eraseFromParent();
  }
}

/// A template's kernel is in a group of its own, of which the linker would keep the first.
void leave_groups(llvm::Module& module) {
  for (llvm::GlobalObject& object : module.global_objects()) object.setComdat(nullptr);
}

std::unique_ptr<llvm::Module> part(llvm::LLVMContext& context, std::span<const std::byte> bitcode) {
  auto module = parse_module(context, bitcode, "the program");
  join_static_variables(*module);
  leave_groups(*module);
  return module;
}

}  // namespace

std::vector<std::byte> link_bitcode(const std::vector<std::span<const std::byte>>& parts,
                                    OnConflict on_conflict) {
  std::string error;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Listener>(error));
  const auto all = part(context, parts.front());
  llvm::Linker linker(*all);
  const unsigned flags = on_conflict == OnConflict::kTakeLast ? llvm::Linker::OverrideFromSrc : 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (linker.linkInModule(part(context, parts[i]), flags)) {
      throw input_error(
          fmt::format("the device code of the program's objects does not link: {}", error));
    }
  }
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream out(buffer);
  llvm::WriteBitcodeToFile(*all, out);
  const auto* const bytes = reinterpret_cast<const std::byte*>(buffer.data());
  return {bytes, bytes + buffer.size()};
}

}  // namespace swizzleperf::vgpu
