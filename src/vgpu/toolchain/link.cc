// clang links, with lld; what we add is our runtime library, found again when the program runs, and
// the archive members with device functions for other objects: perhaps no symbol of the host half
// leads the linker to them, so it is told to want them.
#include "vgpu/toolchain/link.h"

#include <string_view>

#include "base/files.h"
#include "vgpu/toolchain/record.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;

/// The symbols of such objects in an archive: its index lists them among all others, each
/// ended by a zero byte.
std::set<std::string> linked_symbols(const fs::path& archive) {
  std::set<std::string> symbols;
  const std::string text = read_file(archive);
  for (std::size_t at = 0; (at = text.find(kLinkedSymbol, at)) != std::string::npos; ++at) {
    symbols.emplace(text.c_str() + at);
  }
  return symbols;
}

std::vector<fs::path> archives_of(const std::vector<std::string>& items) {
  std::vector<fs::path> archives;
  std::vector<fs::path> directories;
  for (const std::string& item : items) {
    if (item.starts_with("-L")) directories.emplace_back(item.substr(2));
  }
  for (const std::string& item : items) {
    if (item.starts_with("-l")) {
      for (const fs::path& directory : directories) {
        const fs::path candidate = directory / ("lib" + item.substr(2) + ".a");
        if (fs::exists(candidate)) archives.push_back(candidate);
      }
    } else if (item.ends_with(".a") && fs::exists(item)) {
      archives.emplace_back(item);
    }
  }
  return archives;
}

}  // namespace

std::set<std::string> wanted_symbols(const std::vector<std::string>& items) {
  std::set<std::string> symbols;
  for (const fs::path& archive : archives_of(items)) symbols.merge(linked_symbols(archive));
  return symbols;
}

std::vector<std::string> linked_items(const CompilerCall& call,
                                      const std::vector<std::vector<fs::path>>& objects) {
  std::vector<std::string> items;
  for (const std::string& item : call.link) {
    if (item.front() != kSourceMark) {
      items.push_back(item);
      continue;
    }
    for (const fs::path& object : objects.at(std::stoul(item.substr(1)))) {
      items.push_back(object.string());
    }
  }
  return items;
}

Command link_command(const Pieces& pieces, const std::vector<std::string>& items,
                     const std::vector<std::string>& options, const fs::path& output) {
  const std::string library_directory = pieces.runtime_library.parent_path().string();
  Command command = {find_compiler(), "-fuse-ld=lld", "-Wno-unused-command-line-argument"};
  command.insert(command.end(), options.begin(), options.end());
  for (const std::string& symbol : wanted_symbols(items)) {
    command.push_back("-Wl,--undefined=" + symbol);
  }
  command.insert(command.end(), items.begin(), items.end());
  command.insert(command.end(), {"-L" + library_directory, "-Wl,-rpath," + library_directory,
                                 "-Wl,--push-state,--as-needed", "-lswizzleperf_hip",
                                 "-Wl,--pop-state", "-lm", "-ldl", "-lpthread", "-lrt"});
#ifdef SWIZZLEPERF_LINK_OPTION
  command.emplace_back(SWIZZLEPERF_LINK_OPTION);
#endif
  command.insert(command.end(), {"-o", output.string()});
  return command;
}

}  // namespace swizzleperf::vgpu
