// See deals.h.
#include "study/deals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace swizzleperf::study {
namespace {

constexpr std::uint32_t kMostBlocks = 64;
constexpr std::uint64_t kTooMany = Deals::kTooMany;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kTooMany : product;
}

/// n over k, kTooMany where it does not fit.
std::uint64_t choose(std::uint32_t n, std::uint32_t k) {
  struct Pascal {
    std::array<std::array<std::uint64_t, kMostBlocks + 1>, kMostBlocks + 1> rows{};
    Pascal() {
      for (std::size_t i = 0; i <= kMostBlocks; ++i) {
        rows[i][0] = 1;
        for (std::size_t j = 1; j <= i; ++j) {
          if (__builtin_add_overflow(rows[i - 1][j - 1], rows[i - 1][j], &rows[i][j]))
            rows[i][j] = kTooMany;
        }
      }
    }
  };
  static const Pascal pascal;
  return pascal.rows[n][k];
}

/// The `number`-th choice of `k` out of `pool`, in lexicographic order; takes them out of it.
std::vector<std::uint32_t> take_combination(std::vector<std::uint32_t>& pool, std::uint32_t k,
                                            std::uint64_t number) {
  std::vector<std::uint32_t> taken;
  std::vector<std::uint32_t> rest;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto behind = static_cast<std::uint32_t>(pool.size() - i - 1);
    const std::uint64_t with = k == 0 ? 0 : choose(behind, k - 1);
    if (number < with) {
      taken.push_back(pool[i]);
      --k;
    } else {
      number -= with;
      rest.push_back(pool[i]);
    }
  }
  pool = std::move(rest);
  return taken;
}

}  // namespace

Deals::Deals(std::vector<std::uint32_t> blocks_of_die) {
  for (std::uint32_t die = 0; die < blocks_of_die.size(); ++die) {
    const std::uint32_t size = blocks_of_die[die];
    if (size == 0) continue;
    num_blocks_ += size;
    auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                             [size](const Kind& k) { return k.size == size; });
    if (kind == kinds_.end()) kind = kinds_.insert(kinds_.end(), Kind{size, {}});
    kind->dies.push_back(die);
  }
  open_dies_.resize(kinds_.size());
  for (std::size_t k = 0; k < kinds_.size(); ++k)
    open_dies_[k] = static_cast<std::uint32_t>(kinds_[k].dies.size());
  if (num_blocks_ <= kMostBlocks) count_ = ways(num_blocks_, open_dies_);
}

/// Deals of so many blocks to so many dies of each kind: first which blocks go to a kind, then the
/// dies of the kind one after the other, each opened by the least block left.
std::uint64_t Deals::ways(std::uint32_t blocks, std::span<const std::uint32_t> open_dies) const {
  std::uint64_t product = 1;
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    std::uint32_t of_kind = open_dies[k] * kinds_[k].size;
    product = times(product, choose(blocks, of_kind));
    blocks -= of_kind;
    for (; of_kind > 0; of_kind -= kinds_[k].size)
      product = times(product, choose(of_kind - 1, kinds_[k].size - 1));
  }
  return product;
}

double Deals::approximate_count() const {
  double log = std::lgamma(num_blocks_ + 1.0);
  for (const Kind& kind : kinds_) {
    const auto dies = static_cast<double>(kind.dies.size());
    log -= dies * std::lgamma(kind.size + 1.0) + std::lgamma(dies + 1);
  }
  return std::exp(log);
}

std::vector<std::uint32_t> Deals::die_of_block(std::uint64_t number) const {
  std::vector<std::uint32_t> die_of(num_blocks_);
  std::vector<std::uint32_t> left(num_blocks_);
  std::iota(left.begin(), left.end(), 0U);
  std::vector<std::uint32_t> open = open_dies_;
  while (!left.empty()) {
    const auto behind = static_cast<std::uint32_t>(left.size() - 1);
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      if (open[k] == 0) continue;
      const Kind& kind = kinds_[k];
      --open[k];
      const std::uint64_t after = ways(behind + 1 - kind.size, open);
      const std::uint64_t here = times(choose(behind, kind.size - 1), after);
      if (number >= here) {
        number -= here;
        ++open[k];
        continue;
      }
      const std::uint32_t die = kind.dies[kind.dies.size() - 1 - open[k]];
      die_of[left.front()] = die;
      left.erase(left.begin());
      for (const std::uint32_t block : take_combination(left, kind.size - 1, number / after))
        die_of[block] = die;
      number %= after;
      break;
    }
  }
  return die_of;
}

}  // namespace swizzleperf::study
