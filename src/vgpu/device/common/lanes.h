// Votes, shuffles, matches and reductions over the lanes of a warp (CUDA: 32) or wave (HIP: 64), by
// masks that name lanes.
//
// A lane reads another's register by ds_bpermute, whose answer is 0 from a lane that does not
// execute (CUDA leaves that undefined). Since lanes run in step, only what is asked of the named
// lanes matters. SWIZZLEPERF_LANES says how many there are.
#pragma once
#pragma clang system_header

#if !defined(SWIZZLEPERF_DEVICE)
#define SWIZZLEPERF_DEVICE static inline __attribute__((device, always_inline, unused))
#endif

#if SWIZZLEPERF_LANES == 32
typedef unsigned __swizzleperf_mask;
#else
typedef unsigned long long __swizzleperf_mask;
#endif

SWIZZLEPERF_DEVICE unsigned __swizzleperf_lane() {
  const unsigned low = __builtin_amdgcn_mbcnt_lo(~0u, 0u);
  return SWIZZLEPERF_LANES == 32 ? low : __builtin_amdgcn_mbcnt_hi(~0u, low);
}
SWIZZLEPERF_DEVICE int __swizzleperf_count(__swizzleperf_mask mask) {
  return __builtin_popcountll(mask);
}
SWIZZLEPERF_DEVICE int __swizzleperf_lowest(__swizzleperf_mask mask) {
  return __builtin_ctzll(mask);
}
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

SWIZZLEPERF_DEVICE __swizzleperf_mask __swizzleperf_vote(bool predicate) {
  return (__swizzleperf_mask)__builtin_amdgcn_ballot_w64(predicate);
}
SWIZZLEPERF_DEVICE __swizzleperf_mask __activemask() { return __swizzleperf_vote(true); }
SWIZZLEPERF_DEVICE __swizzleperf_mask __ballot_sync(__swizzleperf_mask mask, int predicate) {
  return __swizzleperf_vote(predicate != 0) & mask;
}
SWIZZLEPERF_DEVICE int __any_sync(__swizzleperf_mask mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
SWIZZLEPERF_DEVICE int __all_sync(__swizzleperf_mask mask, int predicate) {
  return (__swizzleperf_vote(predicate == 0) & mask) == 0;
}
SWIZZLEPERF_DEVICE int __uni_sync(__swizzleperf_mask mask, int predicate) {
  return __all_sync(mask, predicate) | __all_sync(mask, !predicate);
}
#if SWIZZLEPERF_LANES == 32  // HIP has these
SWIZZLEPERF_DEVICE unsigned __ballot(int predicate) { return __ballot_sync(~0u, predicate); }
SWIZZLEPERF_DEVICE int __any(int predicate) { return __any_sync(~0u, predicate); }
SWIZZLEPERF_DEVICE int __all(int predicate) { return __all_sync(~0u, predicate); }
#endif

#define SWIZZLEPERF_SYNC_SHUFFLES(T)                                                             \
  SWIZZLEPERF_DEVICE T __shfl_sync(__swizzleperf_mask, T value, int source,                      \
                                   int width = SWIZZLEPERF_LANES) {                              \
    const int lane = (int)__swizzleperf_lane();                                                  \
    return __swizzleperf_from(value, (lane & ~(width - 1)) | (source & (width - 1)));            \
  }                                                                                              \
  SWIZZLEPERF_DEVICE T __shfl_up_sync(__swizzleperf_mask, T value, unsigned delta,               \
                                      int width = SWIZZLEPERF_LANES) {                           \
    const int lane = (int)__swizzleperf_lane();                                                  \
    const int source = lane - (int)delta;                                                        \
    return __swizzleperf_from(value, source < (lane & ~(width - 1)) ? lane : source);            \
  }                                                                                              \
  SWIZZLEPERF_DEVICE T __shfl_down_sync(__swizzleperf_mask, T value, unsigned delta,             \
                                        int width = SWIZZLEPERF_LANES) {                         \
    const int lane = (int)__swizzleperf_lane();                                                  \
    const bool beyond = (lane & (width - 1)) + (int)delta >= width;                              \
    return __swizzleperf_from(value, beyond ? lane : lane + (int)delta);                         \
  }                                                                                              \
  SWIZZLEPERF_DEVICE T __shfl_xor_sync(__swizzleperf_mask, T value, int lanes,                   \
                                       int width = SWIZZLEPERF_LANES) {                          \
    const int lane = (int)__swizzleperf_lane();                                                  \
    const int source = lane ^ lanes;                                                             \
    return __swizzleperf_from(value, source >= ((lane + width) & ~(width - 1)) ? lane : source); \
  }
#if SWIZZLEPERF_LANES == 32
#define SWIZZLEPERF_SHUFFLES(T)                                               \
  SWIZZLEPERF_SYNC_SHUFFLES(T)                                                \
  SWIZZLEPERF_DEVICE T __shfl(T value, int source, int width = 32) {          \
    return __shfl_sync(~0u, value, source, width);                            \
  }                                                                           \
  SWIZZLEPERF_DEVICE T __shfl_up(T value, unsigned delta, int width = 32) {   \
    return __shfl_up_sync(~0u, value, delta, width);                          \
  }                                                                           \
  SWIZZLEPERF_DEVICE T __shfl_down(T value, unsigned delta, int width = 32) { \
    return __shfl_down_sync(~0u, value, delta, width);                        \
  }                                                                           \
  SWIZZLEPERF_DEVICE T __shfl_xor(T value, int lanes, int width = 32) {       \
    return __shfl_xor_sync(~0u, value, lanes, width);                         \
  }
#else
#define SWIZZLEPERF_SHUFFLES(T) SWIZZLEPERF_SYNC_SHUFFLES(T)
#endif
SWIZZLEPERF_SHUFFLES(int)
SWIZZLEPERF_SHUFFLES(unsigned)
SWIZZLEPERF_SHUFFLES(long)
SWIZZLEPERF_SHUFFLES(unsigned long)
SWIZZLEPERF_SHUFFLES(long long)
SWIZZLEPERF_SHUFFLES(unsigned long long)
SWIZZLEPERF_SHUFFLES(float)
SWIZZLEPERF_SHUFFLES(double)

template <class T>
SWIZZLEPERF_DEVICE __swizzleperf_mask __match_any_sync(__swizzleperf_mask mask, T value) {
  __swizzleperf_mask equal = 0;
  for (int lane = 0; lane < SWIZZLEPERF_LANES; ++lane) {
    equal |= (__swizzleperf_mask)(__swizzleperf_from(value, lane) == value) << lane;
  }
  return equal & mask & __activemask();
}
template <class T>
SWIZZLEPERF_DEVICE __swizzleperf_mask __match_all_sync(__swizzleperf_mask mask, T value, int* all) {
  const __swizzleperf_mask lanes = mask & __activemask();
  *all = __match_any_sync(mask, value) == lanes;
  return *all ? lanes : 0;
}

#define SWIZZLEPERF_REDUCTION(name, T, combine)                                        \
  SWIZZLEPERF_DEVICE T name(__swizzleperf_mask mask, T value) {                        \
    const __swizzleperf_mask lanes = mask & __activemask();                            \
    T a = __swizzleperf_from(value, __swizzleperf_lowest(lanes));                      \
    for (__swizzleperf_mask left = lanes & (lanes - 1); left != 0; left &= left - 1) { \
      const T b = __swizzleperf_from(value, __swizzleperf_lowest(left));               \
      a = combine;                                                                     \
    }                                                                                  \
    return a;                                                                          \
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
