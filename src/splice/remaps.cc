#include "splice/remaps.h"

namespace swizzleperf::splice {
std::vector<Remap> find_remaps(const Unit&, CXCursor) { return {}; }
}  // namespace swizzleperf::splice
