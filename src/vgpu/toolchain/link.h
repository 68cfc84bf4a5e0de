// Objects to a program that runs on the virtual GPU.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "vgpu/toolchain/compile.h"

namespace swizzleperf::vgpu {

/// What a call links, with the objects made of its sources in their places.
std::vector<std::string> linked_items(
    const CompilerCall& call, const std::vector<std::vector<std::filesystem::path>>& objects);

/// By which the archives among the items are asked for their device functions.
std::set<std::string> wanted_symbols(const std::vector<std::string>& items);

/// The linker's command. `items` are objects, libraries and options in their order; `options` are
/// the host half's, of which some (-fopenmp, -fsanitize=) concern the linker too.
Command link_command(const Pieces& pieces, const std::vector<std::string>& items,
                     const std::vector<std::string>& options, const std::filesystem::path& output);

}  // namespace swizzleperf::vgpu
