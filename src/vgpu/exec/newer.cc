// Triton carries an LLVM of its own, some months ahead of any release, and hands its IR over as
// text, which has no promise of compatibility. These are the differences seen with Triton 3.9; any
// other ends as a parser's error with its line, never as a wrong constant.
//
//   floating-point bits   f0x3F3504F3 for every type          ours: by type, and float as a
//   double's the CPU               in the triple: amdgpu9.42-amd-...   ours: an attribute of each
//   function
#include "vgpu/exec/newer.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/TargetParser/Triple.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace swizzleperf::vgpu {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The last floating-point type that is named before `at` on its line: the constant's.
std::string_view type_before(std::string_view ir, std::size_t at) {
  constexpr std::array<std::string_view, 4> kTypes = {"float", "half", "double", "bfloat"};
  const std::size_t begin = ir.rfind('\n', at) + 1;  // npos + 1 is 0
  for (std::size_t end = at; end > begin; --end) {
    for (const std::string_view type : kTypes) {
      if (end - begin < type.size() || is_word(ir[end])) continue;
      const std::size_t from = end - type.size();
      if (ir.substr(from, type.size()) == type && (from == begin || !is_word(ir[from - 1])))
        return type;
    }
  }
  return {};
}

/// A float's bits as those of the double of the same value, NaNs with their payload.
std::uint64_t widened(std::uint32_t bits) {
  const std::uint64_t sign = std::uint64_t{bits >> 31} << 63;
  const std::uint32_t exponent = bits >> 23 & 0xff;
  const std::uint64_t mantissa = bits & 0x7fffff;
  if (exponent == 0xff) return sign | std::uint64_t{0x7ff} << 52 | mantissa << 29;
  const auto value = static_cast<double>(llvm::bit_cast<float>(bits));
  return llvm::bit_cast<std::uint64_t>(value);
}

std::string respelt(std::string_view type, std::string_view digits) {
  std::uint64_t bits = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (type == "half") return "0xH" + std::string(digits);
  if (type == "bfloat") return "0xR" + std::string(digits);
  if (type == "float") bits = widened(static_cast<std::uint32_t>(bits));
  return "0x" + llvm::utohexstr(bits, /*LowerCase=*/false, 16);
}

}  // namespace

std::string older_text(std::string_view ir) {
  constexpr std::string_view kPrefix = "f0x";
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = ir.find(kPrefix); at != std::string_view::npos;
       at = ir.find(kPrefix, at + kPrefix.size())) {
    std::size_t end = at + kPrefix.size();
    while (end < ir.size() && std::isxdigit(static_cast<unsigned char>(ir[end])) != 0) ++end;
    const std::string_view digits = ir.substr(at + kPrefix.size(), end - at - kPrefix.size());
    const std::string_view type = type_before(ir, at);
    if (type.empty() || digits.empty() || (at > 0 && is_word(ir[at - 1]))) continue;
    out += ir.substr(done, at - done);
    out += respelt(type, digits);
    done = end;
  }
  out += ir.substr(done);
  return out;
}

/// amdgpu9.42-amd-amdhsa is gfx942.
void take_cpu_from_triple(llvm::Module& module) {
  llvm::StringRef arch = module.getTargetTriple().getArchName();
  if (!arch.consume_front("amdgpu") || arch.empty()) return;
  std::string cpu = "gfx" + arch.str();
  std::erase(cpu, '.');
  module.setTargetTriple(llvm::Triple("amdgcn-amd-amdhsa"));
  for (llvm::Function& f : module)
    if (!f.isDeclaration() && !f.hasFnAttribute("target-cpu")) f.addFnAttr("target-cpu", cpu);
}

}  // namespace swizzleperf::vgpu
