// One loop an operation, for lanes of 32 and of 64 bits, compiled for the baseline machine and for
// AVX2; a look at the CPU picks. See lanes.h for the idea.

#include "formula/lanes.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace swizzleperf {
namespace {

constexpr std::size_t kLanes = 512;

template <class T>
struct Lanes {
  T* to;
  const T* a;
  const T* b;
  const T* c;
};

#define SWIZZLEPERF_INLINE [[gnu::always_inline]] inline

template <class T, class F>
SWIZZLEPERF_INLINE void each(const Lanes<T>& lanes, std::size_t n, F f) {
  T* const to = lanes.to;
  const T* const a = lanes.a;
  const T* const b = lanes.b;
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<T>(f(a[i], b[i]));
}

template <class T>
SWIZZLEPERF_INLINE void select(const Lanes<T>& lanes, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const T b = lanes.b[i];
    const T c = lanes.c[i];
    lanes.to[i] = lanes.a[i] != 0 ? b : c;
  }
}

template <class T>
SWIZZLEPERF_INLINE bool all_positive(const T* a, std::size_t n) {
  unsigned others = 0;
  for (std::size_t i = 0; i < n; ++i) others |= a[i] <= 0 ? 1U : 0U;
  return others == 0;
}

/// Runs the body over the first n lanes, which hold the blocks from `base` on.
template <class T>
SWIZZLEPERF_INLINE bool run_batch(const LaneCode& code, T* registers, std::uint64_t base,
                                  std::size_t n) {
  const auto reg = [registers](std::uint16_t index) { return registers + index * kLanes; };
  for (const LaneInstr& instr : code.body) {
    const Lanes<T> lanes{reg(instr.to), reg(instr.a), reg(instr.b), reg(instr.c)};
    switch (instr.op) {
      case LaneOp::kPid:
        for (std::size_t i = 0; i < n; ++i) {
          lanes.to[i] = static_cast<T>(static_cast<T>(base) + static_cast<T>(i));
        }
        break;
      case LaneOp::kConstant:
        break;
      case LaneOp::kAdd:
        each(lanes, n, [](T a, T b) { return a + b; });
        break;
      case LaneOp::kSub:
        each(lanes, n, [](T a, T b) { return a - b; });
        break;
      case LaneOp::kMul:
        each(lanes, n, [](T a, T b) { return a * b; });
        break;
      case LaneOp::kDivFloat:
        each(lanes, n, [](T a, T b) {
          return static_cast<std::int32_t>(static_cast<float>(a) / static_cast<float>(b));
        });
        break;
      case LaneOp::kDivDouble:
        each(lanes, n, [](T a, T b) {
          return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
        });
        break;
      case LaneOp::kDivInt:
        each(lanes, n, [](T a, T b) { return a / b; });
        break;
      case LaneOp::kShl:
        each(lanes, n, [](T a, T b) { return a << b; });
        break;
      case LaneOp::kShr:
        each(lanes, n, [](T a, T b) { return a >> b; });
        break;
      case LaneOp::kAnd:
        each(lanes, n, [](T a, T b) { return a & b; });
        break;
      case LaneOp::kOr:
        each(lanes, n, [](T a, T b) { return a | b; });
        break;
      case LaneOp::kXor:
        each(lanes, n, [](T a, T b) { return a ^ b; });
        break;
      case LaneOp::kLess:
        each(lanes, n, [](T a, T b) { return a < b; });
        break;
      case LaneOp::kLessEqual:
        each(lanes, n, [](T a, T b) { return a <= b; });
        break;
      case LaneOp::kEqual:
        each(lanes, n, [](T a, T b) { return a == b; });
        break;
      case LaneOp::kMin:
        each(lanes, n, [](T a, T b) { return a < b ? a : b; });
        break;
      case LaneOp::kMax:
        each(lanes, n, [](T a, T b) { return a > b ? a : b; });
        break;
      case LaneOp::kIlog2:
        each(lanes, n, [](T a, T) { return 63 - std::countl_zero(static_cast<std::uint64_t>(a)); });
        break;
      case LaneOp::kSelect:
        select(lanes, n);
        break;
      case LaneOp::kCheckPositive:
        if (!all_positive(lanes.a, n)) return false;
        break;
    }
  }
  return true;
}

template <class T>
SWIZZLEPERF_INLINE bool run_all(const LaneCode& code, std::uint64_t count, std::int64_t* targets) {
  const std::unique_ptr<T[]> registers(new T[code.num_registers * kLanes]);
  const std::size_t used = std::min<std::uint64_t>(count, kLanes);
  for (const LaneInstr& constant : code.constants) {
    std::fill_n(registers.get() + constant.to * kLanes, used, static_cast<T>(constant.value));
  }
  const T* const result = registers.get() + code.result * kLanes;
  for (std::uint64_t base = 0; base < count; base += kLanes) {
    const std::size_t n = std::min<std::uint64_t>(count - base, kLanes);
    if (!run_batch(code, registers.get(), base, n)) return false;
    for (std::size_t i = 0; i < n; ++i) targets[base + i] = result[i];
  }
  return true;
}

#if defined(__x86_64__)
#define SWIZZLEPERF_AVX2 [[gnu::target("avx2")]]
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }
#else
#define SWIZZLEPERF_AVX2
bool has_avx2() { return false; }
#endif

// Everything above is inlined into each of these four and compiled for its machine.

SWIZZLEPERF_AVX2 bool run_narrow_avx2(const LaneCode& code, std::uint64_t n,
                                      std::int64_t* targets) {
  return run_all<std::int32_t>(code, n, targets);
}
SWIZZLEPERF_AVX2 bool run_wide_avx2(const LaneCode& code, std::uint64_t n, std::int64_t* targets) {
  return run_all<std::int64_t>(code, n, targets);
}
bool run_narrow(const LaneCode& code, std::uint64_t n, std::int64_t* targets) {
  return run_all<std::int32_t>(code, n, targets);
}
bool run_wide(const LaneCode& code, std::uint64_t n, std::int64_t* targets) {
  return run_all<std::int64_t>(code, n, targets);
}

}  // namespace

bool run_lanes(const LaneCode& code, std::uint64_t count, std::int64_t* targets) {
  static const bool avx2 = has_avx2();
  const auto run = avx2 ? (code.narrow ? run_narrow_avx2 : run_wide_avx2)
                        : (code.narrow ? run_narrow : run_wide);
  return run(code, count, targets);
}

}  // namespace swizzleperf
