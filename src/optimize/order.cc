// See order.h.
#include "optimize/order.h"

#include <fmt/format.h>

namespace swizzleperf {
namespace {

std::string where_words(const Stretch& s) {
  return fmt::format("{} bytes of {}", s.bytes, s.buffer);
}

}  // namespace

std::vector<std::string> order_warnings(const LaunchFindings& blocks) {
  std::vector<std::string> warnings;
  const auto first = [](const auto& found) { return found.examples.front(); };
  if (const Overlaps& repeated = blocks.repeated; repeated.blocks > 0) {
    const Overlap o = first(repeated);
    warnings.push_back(fmt::format(
        "as it stands, the kernel already loses blocks: {} of {} make exactly the accesses of "
        "another (blocks {} and {} write the same {}), so its own remap is no permutation on this "
        "grid; 'swizzleperf check' shows what is missing",
        repeated.blocks, blocks.grid.count(), o.first, o.second, where_words(o.where)));
  }
  if (const Meetings& meetings = blocks.communication; meetings.blocks > 0) {
    const Meeting m = first(meetings);
    warnings.push_back(fmt::format(
        "blocks read what other blocks write in the same launch (block {} reads {} that block {} "
        "writes), so the order of blocks may decide what they compute or whether they end, and "
        "comparing them one by one does not show it; 'swizzleperf check' does",
        m.reader, where_words(m.where), m.writer));
  }
  if (const Overlaps& same = blocks.same; same.blocks > 0) {
    const Overlap o = first(same);
    warnings.push_back(fmt::format(
        "{} blocks store to bytes that another block stores to as well (blocks {} and {}: {}); "
        "comparing them one by one does not cover which value stays; 'swizzleperf check' tells "
        "whether the values are equal",
        same.blocks, o.first, o.second, where_words(o.where)));
  }
  return warnings;
}

}  // namespace swizzleperf
