// The little of ELF that the compilers need: which symbols an object has, what a section holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swizzleperf::vgpu {

struct ElfSymbol {
  std::string name;
  bool defined = false;
};

/// The symbols of a 64-bit object or executable; none for anything else.
std::vector<ElfSymbol> elf_symbols(std::string_view file);

/// The contents of a section; empty where there is none of that name.
std::string_view elf_section(std::string_view file, std::string_view name);

}  // namespace swizzleperf::vgpu
