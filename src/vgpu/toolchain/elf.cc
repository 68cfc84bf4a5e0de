// Reading a file that somebody else may have made: every offset is checked against the file before
// it is followed, and what does not add up reads as "nothing there". Structures are copied out,
// since nothing promises their alignment in a byte string.
#include "vgpu/toolchain/elf.h"

#include <elf.h>

#include <cstring>
#include <optional>

namespace swizzleperf::vgpu {
namespace {

template <class T>
std::optional<T> read_at(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(std::string_view strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  return strings.substr(offset, strings.find('\0', offset) - offset);
}

std::vector<Elf64_Shdr> sections_of(std::string_view file) {
  std::vector<Elf64_Shdr> sections;
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return sections;
  }
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) break;
    sections.push_back(*section);
  }
  return sections;
}

std::string_view contents(std::string_view file, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > file.size()) return {};
  return file.substr(section.sh_offset, section.sh_size);
}

}  // namespace

std::vector<ElfSymbol> elf_symbols(std::string_view file) {
  std::vector<ElfSymbol> symbols;
  const std::vector<Elf64_Shdr> sections = sections_of(file);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const std::string_view table = contents(file, section);
    const std::string_view names = contents(file, sections[section.sh_link]);
    for (std::uint64_t at = 0; at < table.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(table, at);
      if (!symbol) break;
      symbols.push_back(
          {std::string(text_at(names, symbol->st_name)), symbol->st_shndx != SHN_UNDEF});
    }
  }
  return symbols;
}

std::string_view elf_section(std::string_view file, std::string_view name) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  const std::vector<Elf64_Shdr> sections = sections_of(file);
  if (!header || header->e_shstrndx >= sections.size()) return {};
  const std::string_view names = contents(file, sections[header->e_shstrndx]);
  for (const Elf64_Shdr& section : sections) {
    if (text_at(names, section.sh_name) == name) return contents(file, section);
  }
  return {};
}

}  // namespace swizzleperf::vgpu
