// A range of bytes of the source file.
#pragma once

namespace swizzleperf::splice {

/// Half open.
struct Span {
  unsigned begin = 0;
  unsigned end = 0;
  [[nodiscard]] bool holds(unsigned offset) const { return begin <= offset && offset < end; }
};

}  // namespace swizzleperf::splice
