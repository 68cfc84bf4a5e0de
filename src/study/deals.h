// Every way of dealing a launch's blocks to dies, numbered.
//
// The dispatcher fixes how many blocks each die gets; a swizzle only chooses which. Dies of a
// machine are alike, so two deals that differ in the names of dies with equally many blocks are
// one. 16 blocks on 8 dies of two: 16! / (2!^8 8!) = 2,027,025 deals.
//
// A deal is made by recursion on the least block that no die has yet: it opens a die, and its
// companions are a combination of the others. So each deal comes exactly once, and because the
// number of deals of what remains is a product of binomials, the n-th deal can be written down
// without its predecessors: a range of numbers is a piece of work that can be handed out, killed
// and done again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace swizzleperf::study {

class Deals {
 public:
  /// How many blocks each die gets; up to 64 in all.
  explicit Deals(std::vector<std::uint32_t> blocks_of_die);

  static constexpr std::uint64_t kTooMany = ~std::uint64_t{0};
  /// kTooMany where 64 bits do not hold it.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double approximate_count() const;
  [[nodiscard]] std::uint32_t num_blocks() const { return num_blocks_; }

  /// The die of every block in deal `number` (less than count()).
  [[nodiscard]] std::vector<std::uint32_t> die_of_block(std::uint64_t number) const;

 private:
  /// Dies that get equally many blocks.
  struct Kind {
    std::uint32_t size = 0;
    std::vector<std::uint32_t> dies;
  };

  [[nodiscard]] std::uint64_t ways(std::uint32_t blocks,
                                   std::span<const std::uint32_t> open_dies) const;

  std::vector<Kind> kinds_;  ///< those that get any
  std::uint32_t num_blocks_ = 0;
  std::vector<std::uint32_t> open_dies_;  ///< of each kind, all of them
  std::uint64_t count_ = kTooMany;
};

}  // namespace swizzleperf::study
