// What to write where: from the reads of a block index to edits of the text.
#pragma once

#include <string>
#include <vector>

#include "splice/diff.h"
#include "splice/reach.h"
#include "splice/unit.h"

namespace swizzleperf::splice {

struct Plan {
  std::vector<Edit> edits;           ///< sorted
  std::vector<std::string> changed;  ///< "file:line: what was read", one a rewritten use
  std::vector<std::string> notes;
};

/// Edits that let every use read the helper `function`, whose text is `helper_code`. Throws
/// Error(kInput) for a use whose text cannot be changed alone.
Plan plan_edits(const Unit& unit, const std::vector<Use>& uses, const std::string& function,
                const std::string& helper_code);

}  // namespace swizzleperf::splice
