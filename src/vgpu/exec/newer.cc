// Triton carries an LLVM of its own, some months ahead of any release, and hands its IR over as
// text, which has no promise of compatibility. These are the differences seen with Triton 3.9; any
// other ends as a parser's error with its line, never as a wrong constant.
//
//   floating-point bits: f0x3F3504F3 for every type; ours go by type, a float as a double's
//   floating-point decimals: the shortest that rounds to the value; ours must be exact
//   the CPU: in the triple, amdgpu9.42-amd-...; ours is an attribute of each function
#include "vgpu/exec/newer.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>

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

struct Format {
  std::string_view type;
  unsigned exponent_bits;
  unsigned mantissa_bits;
  std::string_view prefix;  // of a constant's bits in our spelling
};

const Format* format_of(std::string_view type) {
  static constexpr std::array<Format, 4> kFormats = {{{"half", 5, 10, "0xH"},
                                                      {"bfloat", 8, 7, "0xR"},
                                                      {"float", 8, 23, "0x"},
                                                      {"double", 11, 52, "0x"}}};
  for (const Format& f : kFormats)
    if (f.type == type) return &f;
  return nullptr;
}

std::string respelt(const Format& f, std::uint64_t bits) {
  if (f.type == "float") bits = widened(static_cast<std::uint32_t>(bits));
  const unsigned digits = f.mantissa_bits < 23 ? 4 : 16;
  return std::string(f.prefix) + llvm::utohexstr(bits, /*LowerCase=*/false, digits);
}

/// Consumes hexadecimal digits from the front.
std::uint64_t hexadecimal(std::string_view& text) {
  std::uint64_t bits = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), bits, 16).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return bits;
}

bool consume(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// Bits of the constant that `text` begins with, in a spelling that ours does not read, and behind
/// it `text`; nothing if it is none.
std::optional<std::uint64_t> take_constant(std::string_view& text, const Format& f) {
  std::string_view rest = text;
  std::uint64_t bits = 0;
  if (consume(rest, "f0x")) {
    bits = hexadecimal(rest);
  } else {
    if (rest[0] != '-' && rest[0] != '+') return std::nullopt;
    const std::uint64_t sign = rest[0] == '-' ? 1 : 0;
    rest.remove_prefix(1);
    const std::uint64_t quiet = std::uint64_t{1} << (f.mantissa_bits - 1);
    bits = (sign << f.exponent_bits | ((std::uint64_t{1} << f.exponent_bits) - 1))
           << f.mantissa_bits;
    if (consume(rest, "qnan")) {
      bits |= quiet;
    } else if (const bool is_quiet = consume(rest, "nan(0x");
               is_quiet || consume(rest, "snan(0x")) {
      bits |= hexadecimal(rest) | (is_quiet ? quiet : 0);
      if (!consume(rest, ")")) return std::nullopt;
    } else if (!consume(rest, "inf")) {
      return std::nullopt;
    }
  }
  if (!rest.empty() && is_word(rest[0])) return std::nullopt;
  text = rest;
  return bits;
}

/// The same of a decimal, such as -1.0e-01. A double needs no help: all decimals are read as one.
std::optional<std::uint64_t> take_decimal(std::string_view& text, const Format& f) {
  constexpr std::string_view kDigits = "0123456789";
  const auto behind_digits = [&](std::size_t at) {
    return std::min(text.find_first_not_of(kDigits, at), text.size());
  };
  const std::size_t begin = text[0] == '-' || text[0] == '+' ? 1 : 0;
  std::size_t end = behind_digits(begin);
  if (f.type == "double" || end == begin || end == text.size() || text[end] != '.') return {};
  end = behind_digits(end + 1);
  if (end < text.size() && text[end] == 'e') {
    const std::size_t sign = end + 1;
    end = behind_digits(sign < text.size() && (text[sign] == '-' || text[sign] == '+') ? sign + 1
                                                                                       : sign);
  }
  if (end < text.size() && is_word(text[end])) return {};
  const llvm::fltSemantics& semantics = f.type == "half"     ? llvm::APFloat::IEEEhalf()
                                        : f.type == "bfloat" ? llvm::APFloat::BFloat()
                                                             : llvm::APFloat::IEEEsingle();
  const llvm::APFloat value(semantics, llvm::StringRef(text.substr(0, end)));
  text.remove_prefix(end);
  return value.bitcastToAPInt().getZExtValue();
}

/// Where the next constant of a later spelling may begin.
std::size_t next_candidate(std::string_view ir, std::size_t at) {
  for (; at + 3 < ir.size(); ++at) {
    const char c = ir[at];
    if (c == 'f' && ir.substr(at, 3) == "f0x") return at;
    const bool sign = c == '+' || c == '-';
    const char next = sign ? ir[at + 1] : c;
    const bool apart = at > 0 && (ir[at - 1] == ' ' || ir[at - 1] == '(' || ir[at - 1] == '<');
    if (apart && next >= '0' && next <= '9') return at;
    if (sign && (ir[at + 1] == 'i' || ir[at + 1] == 'q' || ir[at + 1] == 'n' || ir[at + 1] == 's'))
      return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::string older_text(std::string_view ir) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = next_candidate(ir, 0); at != std::string_view::npos;
       at = next_candidate(ir, at + 1)) {
    const Format* const format = format_of(type_before(ir, at));
    if (format == nullptr || is_word(ir[at - 1])) continue;
    std::string_view rest = ir.substr(at);
    auto bits = take_constant(rest, *format);
    if (!bits) bits = take_decimal(rest, *format);
    if (!bits) continue;
    out += ir.substr(done, at - done);
    out += respelt(*format, *bits);
    done = ir.size() - rest.size();
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
