// The numbers of a model, as one table: key in the file, member of the struct, what is allowed.
//
// The loader, the completeness check and the list of known keys all walk these tables, so that a
// number cannot be read but not required, or required but not known.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "swizzleperf/machine.h"

namespace swizzleperf {

template <typename Owner>
struct Field {
  std::string_view key;
  std::variant<std::uint32_t Owner::*, std::uint64_t Owner::*, double Owner::*, Dispatch Owner::*,
               SetIndex Owner::*>
      member;
  double most = 0;  ///< far above any machine, and what the model still computes with; of numbers
  bool zero_allowed = false;  ///< negative never is
};

std::span<const Field<Machine>> machine_fields();
std::span<const Field<CacheModel>> cache_fields();  ///< below l1, l2 and llc
std::span<const Field<CacheModel>> l2_fields();     ///< below l2 alone

/// The words for a policy in a file; the position is the value of the enumeration.
std::span<const std::string_view> dispatch_words();
std::span<const std::string_view> set_index_words();

}  // namespace swizzleperf
