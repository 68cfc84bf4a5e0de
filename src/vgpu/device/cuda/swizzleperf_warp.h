// Votes, shuffles, matches and reductions over the 32 lanes of a warp.
//
// A lane reads another's register by ds_bpermute, whose answer is 0 from a lane that does not
// execute (CUDA leaves that undefined). Masks name lanes; since lanes run in step, only what is
// asked of the named lanes matters.
#pragma once

SWIZZLEPERF_DEVICE unsigned __swizzleperf_lane() { return __builtin_amdgcn_mbcnt_lo(~0u, 0u); }
SWIZZLEPERF_DEVICE int __swizzleperf_word(int value, int lane) {
  return __builtin_amdgcn_ds_bpermute(lane << 2, value);
}

/// `value` as the given lane holds it; any type of whole words, or smaller than one.
template <class T>
SWIZZLEPERF_DEVICE T __swizzleperf_from(T value, int lane) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  int words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof value);
  for (int k = 0; k < kWords; ++k) words[k] = __swizzleperf_word(words[k], lane);
  __builtin_memcpy(&value, words, sizeof value);
  return value;
}

SWIZZLEPERF_DEVICE unsigned __swizzleperf_vote(bool predicate) {
  return (unsigned)__builtin_amdgcn_ballot_w64(predicate);
}
SWIZZLEPERF_DEVICE unsigned __activemask() { return __swizzleperf_vote(true); }
SWIZZLEPERF_DEVICE unsigned __ballot_sync(unsigned mask, int predicate) {
  return __swizzleperf_vote(predicate != 0) & mask;
}
SWIZZLEPERF_DEVICE int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
SWIZZLEPERF_DEVICE int __all_sync(unsigned mask, int predicate) {
  return (__swizzleperf_vote(predicate == 0) & mask) == 0;
}
SWIZZLEPERF_DEVICE int __uni_sync(unsigned mask, int predicate) {
  return __all_sync(mask, predicate) | __all_sync(mask, !predicate);
}
SWIZZLEPERF_DEVICE unsigned __ballot(int predicate) { return __ballot_sync(~0u, predicate); }
SWIZZLEPERF_DEVICE int __any(int predicate) { return __any_sync(~0u, predicate); }
SWIZZLEPERF_DEVICE int __all(int predicate) { return __all_sync(~0u, predicate); }

#define SWIZZLEPERF_SHUFFLES(T)                                                                  \
  SWIZZLEPERF_DEVICE T __shfl_sync(unsigned, T value, int source, int width = 32) {              \
    const int lane = (int)__swizzleperf_lane();                                                  \
    return __swizzleperf_from(value, (lane & ~(width - 1)) | (source & (width - 1)));            \
  }                                                                                              \
  SWIZZLEPERF_DEVICE T __shfl_up_sync(unsigned, T value, unsigned delta, int width = 32) {       \
    const int lane = (int)__swizzleperf_lane();                                                  \
    const int source = lane - (int)delta;                                                        \
    return __swizzleperf_from(value, source < (lane & ~(width - 1)) ? lane : source);            \
  }                                                                                              \
  SWIZZLEPERF_DEVICE T __shfl_down_sync(unsigned, T value, unsigned delta, int width = 32) {     \
    const int lane = (int)__swizzleperf_lane();                                                  \
    const bool beyond = (lane & (width - 1)) + (int)delta >= width;                              \
    return __swizzleperf_from(value, beyond ? lane : lane + (int)delta);                         \
  }                                                                                              \
  SWIZZLEPERF_DEVICE T __shfl_xor_sync(unsigned, T value, int lanes, int width = 32) {           \
    const int lane = (int)__swizzleperf_lane();                                                  \
    const int source = lane ^ lanes;                                                             \
    return __swizzleperf_from(value, source >= ((lane + width) & ~(width - 1)) ? lane : source); \
  }                                                                                              \
  SWIZZLEPERF_DEVICE T __shfl(T value, int source, int width = 32) {                             \
    return __shfl_sync(~0u, value, source, width);                                               \
  }                                                                                              \
  SWIZZLEPERF_DEVICE T __shfl_up(T value, unsigned delta, int width = 32) {                      \
    return __shfl_up_sync(~0u, value, delta, width);                                             \
  }                                                                                              \
  SWIZZLEPERF_DEVICE T __shfl_down(T value, unsigned delta, int width = 32) {                    \
    return __shfl_down_sync(~0u, value, delta, width);                                           \
  }                                                                                              \
  SWIZZLEPERF_DEVICE T __shfl_xor(T value, int lanes, int width = 32) {                          \
    return __shfl_xor_sync(~0u, value, lanes, width);                                            \
  }
SWIZZLEPERF_SHUFFLES(int)
SWIZZLEPERF_SHUFFLES(unsigned)
SWIZZLEPERF_SHUFFLES(long)
SWIZZLEPERF_SHUFFLES(unsigned long)
SWIZZLEPERF_SHUFFLES(long long)
SWIZZLEPERF_SHUFFLES(unsigned long long)
SWIZZLEPERF_SHUFFLES(float)
SWIZZLEPERF_SHUFFLES(double)

template <class T>
SWIZZLEPERF_DEVICE unsigned __match_any_sync(unsigned mask, T value) {
  unsigned equal = 0;
  for (int lane = 0; lane < 32; ++lane) {
    equal |= (unsigned)(__swizzleperf_from(value, lane) == value) << lane;
  }
  return equal & mask & __activemask();
}
template <class T>
SWIZZLEPERF_DEVICE unsigned __match_all_sync(unsigned mask, T value, int* all) {
  const unsigned lanes = mask & __activemask();
  *all = __match_any_sync(mask, value) == lanes;
  return *all ? lanes : 0;
}

#define SWIZZLEPERF_REDUCTION(name, T, combine)                              \
  SWIZZLEPERF_DEVICE T name(unsigned mask, T value) {                        \
    const unsigned lanes = mask & __activemask();                            \
    T a = __swizzleperf_from(value, __builtin_ctz(lanes));                   \
    for (unsigned left = lanes & (lanes - 1); left != 0; left &= left - 1) { \
      const T b = __swizzleperf_from(value, __builtin_ctz(left));            \
      a = combine;                                                           \
    }                                                                        \
    return a;                                                                \
  }
SWIZZLEPERF_REDUCTION(__reduce_add_sync, unsigned, a + b)
SWIZZLEPERF_REDUCTION(__reduce_add_sync, int, a + b)
SWIZZLEPERF_REDUCTION(__reduce_min_sync, unsigned, a < b ? a : b)
SWIZZLEPERF_REDUCTION(__reduce_min_sync, int, a < b ? a : b)
SWIZZLEPERF_REDUCTION(__reduce_max_sync, unsigned, a > b ? a : b)
SWIZZLEPERF_REDUCTION(__reduce_max_sync, int, a > b ? a : b)
SWIZZLEPERF_REDUCTION(__reduce_and_sync, unsigned, a& b)
SWIZZLEPERF_REDUCTION(__reduce_or_sync, unsigned, a | b)
SWIZZLEPERF_REDUCTION(__reduce_xor_sync, unsigned, a ^ b)
#undef SWIZZLEPERF_REDUCTION
