// Cooperative groups: the block, the grid, tiles of a warp, the lanes that happen to be together.
//
// A group of lanes is a mask of its warp; what it does is written once for masks (coalesced_group)
// and once, cheaper, for tiles of 2^n lanes. Tiles larger than a warp are refused by name.
#pragma once
#pragma clang system_header

#include "lanes.h"

extern "C" __attribute__((device, convergent)) void __ockl_grid_sync();

namespace cooperative_groups {

#define SWIZZLEPERF_MEMBER inline __attribute__((device, always_inline))

namespace details {
SWIZZLEPERF_DEVICE unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
SWIZZLEPERF_DEVICE unsigned block_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
SWIZZLEPERF_DEVICE __swizzleperf_mask below(unsigned lane) {
  return ((__swizzleperf_mask)1 << lane) - 1;
}
/// The lane that holds the n-th bit of a mask.
SWIZZLEPERF_DEVICE int nth_lane(__swizzleperf_mask mask, unsigned n) {
  for (; n != 0; --n) mask &= mask - 1;
  return __swizzleperf_lowest(mask | (__swizzleperf_mask)1 << (SWIZZLEPERF_LANES - 1));
}
/// The `size` lanes from lane 0 on.
SWIZZLEPERF_DEVICE __swizzleperf_mask first_lanes(unsigned size) {
  return size >= SWIZZLEPERF_LANES ? ~(__swizzleperf_mask)0 : ((__swizzleperf_mask)1 << size) - 1;
}
}  // namespace details

/// Any of the groups, by value.
class thread_group {
 public:
  enum class Kind { kLanes, kBlock, kGrid };
  SWIZZLEPERF_MEMBER thread_group(Kind kind, __swizzleperf_mask mask) : kind_(kind), mask_(mask) {}

  SWIZZLEPERF_MEMBER void sync() const {
    if (kind_ == Kind::kLanes) {
      __syncwarp(mask_);
    } else if (kind_ == Kind::kBlock) {
      __syncthreads();
    } else {
      __ockl_grid_sync();
    }
  }
  SWIZZLEPERF_MEMBER unsigned long long size() const {
    if (kind_ == Kind::kLanes) return (unsigned)__swizzleperf_count(mask_);
    const unsigned long long blocks =
        kind_ == Kind::kBlock ? 1 : (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    return blocks * details::block_size();
  }
  SWIZZLEPERF_MEMBER unsigned long long num_threads() const { return size(); }
  SWIZZLEPERF_MEMBER unsigned long long thread_rank() const {
    if (kind_ == Kind::kLanes)
      return (unsigned)__swizzleperf_count(mask_ & details::below(__swizzleperf_lane()));
    const unsigned long long block =
        kind_ == Kind::kBlock
            ? 0
            : ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    return block * details::block_size() + details::block_rank();
  }
  SWIZZLEPERF_MEMBER bool is_valid() const { return true; }

 protected:
  Kind kind_;
  __swizzleperf_mask mask_;
};

class thread_block : public thread_group {
 public:
  SWIZZLEPERF_MEMBER thread_block() : thread_group(Kind::kBlock, 0) {}
  static SWIZZLEPERF_MEMBER void sync() { __syncthreads(); }
  static SWIZZLEPERF_MEMBER unsigned size() { return details::block_size(); }
  static SWIZZLEPERF_MEMBER unsigned num_threads() { return details::block_size(); }
  static SWIZZLEPERF_MEMBER unsigned thread_rank() { return details::block_rank(); }
  static SWIZZLEPERF_MEMBER dim3 group_index() { return blockIdx; }
  static SWIZZLEPERF_MEMBER dim3 thread_index() { return threadIdx; }
  static SWIZZLEPERF_MEMBER dim3 group_dim() { return blockDim; }
  static SWIZZLEPERF_MEMBER dim3 dim_threads() { return blockDim; }
};
SWIZZLEPERF_DEVICE thread_block this_thread_block() { return {}; }

class grid_group : public thread_group {
 public:
  SWIZZLEPERF_MEMBER grid_group() : thread_group(Kind::kGrid, 0) {}
  SWIZZLEPERF_MEMBER void sync() const { __ockl_grid_sync(); }
  static SWIZZLEPERF_MEMBER dim3 group_dim() { return gridDim; }
  static SWIZZLEPERF_MEMBER dim3 dim_blocks() { return gridDim; }
  static SWIZZLEPERF_MEMBER dim3 block_index() { return blockIdx; }
  static SWIZZLEPERF_MEMBER unsigned long long num_blocks() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  static SWIZZLEPERF_MEMBER unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
};
SWIZZLEPERF_DEVICE grid_group this_grid() { return {}; }

/// The lanes of a mask, ranked from the lowest up.
class coalesced_group : public thread_group {
 public:
  SWIZZLEPERF_MEMBER explicit coalesced_group(__swizzleperf_mask mask)
      : thread_group(Kind::kLanes, mask) {}
  SWIZZLEPERF_MEMBER unsigned size() const { return (unsigned)__swizzleperf_count(mask_); }
  SWIZZLEPERF_MEMBER unsigned num_threads() const { return size(); }
  SWIZZLEPERF_MEMBER unsigned thread_rank() const {
    return (unsigned)__swizzleperf_count(mask_ & details::below(__swizzleperf_lane()));
  }
  SWIZZLEPERF_MEMBER unsigned meta_group_rank() const { return 0; }
  SWIZZLEPERF_MEMBER unsigned meta_group_size() const { return 1; }
  template <class T>
  SWIZZLEPERF_MEMBER T shfl(T value, unsigned rank) const {
    return __swizzleperf_from(value, details::nth_lane(mask_, rank % size()));
  }
  template <class T>
  SWIZZLEPERF_MEMBER T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __swizzleperf_from(value, details::nth_lane(mask_, rank < delta ? rank : rank - delta));
  }
  template <class T>
  SWIZZLEPERF_MEMBER T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __swizzleperf_from(
        value, details::nth_lane(mask_, rank + delta >= size() ? rank : rank + delta));
  }
  SWIZZLEPERF_MEMBER int any(int predicate) const { return __any_sync(mask_, predicate); }
  SWIZZLEPERF_MEMBER int all(int predicate) const { return __all_sync(mask_, predicate); }
  SWIZZLEPERF_MEMBER __swizzleperf_mask ballot(int predicate) const {
    return packed(__ballot_sync(mask_, predicate));
  }
  template <class T>
  SWIZZLEPERF_MEMBER __swizzleperf_mask match_any(T value) const {
    return packed(__match_any_sync(mask_, value));
  }
  template <class T>
  SWIZZLEPERF_MEMBER __swizzleperf_mask match_all(T value, int& all) const {
    return packed(__match_all_sync(mask_, value, &all));
  }
  SWIZZLEPERF_MEMBER __swizzleperf_mask swizzleperf_lanes() const { return mask_; }

 private:
  /// A mask of lanes as a mask of ranks.
  SWIZZLEPERF_MEMBER __swizzleperf_mask packed(__swizzleperf_mask lanes) const {
    __swizzleperf_mask ranks = 0;
    unsigned rank = 0;
    for (__swizzleperf_mask left = mask_; left != 0; left &= left - 1, ++rank) {
      ranks |= (lanes >> __swizzleperf_lowest(left) & 1) << rank;
    }
    return ranks;
  }
};
SWIZZLEPERF_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/// `Size` neighbouring lanes.
template <unsigned Size, class Parent = void>
class thread_block_tile : public thread_group {
  static_assert(Size <= SWIZZLEPERF_LANES,
                "tiles larger than a warp are not supported by the virtual GPU");
  static_assert((Size & (Size - 1)) == 0 && Size > 0, "a tile's size is a power of two");

 public:
  SWIZZLEPERF_MEMBER thread_block_tile() : thread_group(Kind::kLanes, lanes()) {}
  template <class Other>
  SWIZZLEPERF_MEMBER thread_block_tile(const thread_block_tile<Size, Other>&)
      : thread_group(Kind::kLanes, lanes()) {}
  static SWIZZLEPERF_MEMBER void sync() { __syncwarp(); }
  static SWIZZLEPERF_MEMBER constexpr unsigned size() { return Size; }
  static SWIZZLEPERF_MEMBER constexpr unsigned num_threads() { return Size; }
  static SWIZZLEPERF_MEMBER unsigned thread_rank() { return __swizzleperf_lane() & (Size - 1); }
  static SWIZZLEPERF_MEMBER unsigned meta_group_rank() { return details::block_rank() / Size; }
  static SWIZZLEPERF_MEMBER unsigned meta_group_size() {
    return (details::block_size() + Size - 1) / Size;
  }
  template <class T>
  SWIZZLEPERF_MEMBER T shfl(T value, int rank) const {
    return __swizzleperf_from(value, (int)(first() | ((unsigned)rank & (Size - 1))));
  }
  template <class T>
  SWIZZLEPERF_MEMBER T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(value, (int)(rank < delta ? rank : rank - delta));
  }
  template <class T>
  SWIZZLEPERF_MEMBER T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(value, (int)(rank + delta >= Size ? rank : rank + delta));
  }
  template <class T>
  SWIZZLEPERF_MEMBER T shfl_xor(T value, unsigned mask) const {
    const unsigned rank = thread_rank();
    return shfl(value, (int)((rank ^ mask) >= Size ? rank : rank ^ mask));
  }
  SWIZZLEPERF_MEMBER int any(int predicate) const { return __any_sync(lanes(), predicate); }
  SWIZZLEPERF_MEMBER int all(int predicate) const { return __all_sync(lanes(), predicate); }
  SWIZZLEPERF_MEMBER __swizzleperf_mask ballot(int predicate) const {
    return __ballot_sync(lanes(), predicate) >> first();
  }
  template <class T>
  SWIZZLEPERF_MEMBER __swizzleperf_mask match_any(T value) const {
    return __match_any_sync(lanes(), value) >> first();
  }
  template <class T>
  SWIZZLEPERF_MEMBER __swizzleperf_mask match_all(T value, int& all) const {
    return __match_all_sync(lanes(), value, &all) >> first();
  }
  SWIZZLEPERF_MEMBER __swizzleperf_mask swizzleperf_lanes() const { return lanes(); }

 private:
  static SWIZZLEPERF_MEMBER unsigned first() { return __swizzleperf_lane() & ~(Size - 1); }
  static SWIZZLEPERF_MEMBER __swizzleperf_mask lanes() {
    return details::first_lanes(Size) << first();
  }
};

template <unsigned Size, class Parent>
SWIZZLEPERF_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}
SWIZZLEPERF_DEVICE thread_group tiled_partition(const thread_group&, unsigned size) {
  const unsigned first = __swizzleperf_lane() & ~(size - 1);
  return {thread_group::Kind::kLanes, details::first_lanes(size) << first};
}
template <class Group>
SWIZZLEPERF_DEVICE coalesced_group binary_partition(const Group& group, bool predicate) {
  const __swizzleperf_mask yes = __ballot_sync(group.swizzleperf_lanes(), predicate);
  return coalesced_group(predicate ? yes : group.swizzleperf_lanes() & __activemask() & ~yes);
}
template <class Group, class Label>
SWIZZLEPERF_DEVICE coalesced_group labeled_partition(const Group& group, Label label) {
  return coalesced_group(__match_any_sync(group.swizzleperf_lanes(), label));
}

template <class Group>
SWIZZLEPERF_DEVICE void sync(const Group& group) {
  group.sync();
}
template <class Group>
SWIZZLEPERF_DEVICE unsigned thread_rank(const Group& group) {
  return (unsigned)group.thread_rank();
}
template <class Group>
SWIZZLEPERF_DEVICE unsigned group_size(const Group& group) {
  return (unsigned)group.size();
}
template <class Group, class F, class... A>
SWIZZLEPERF_DEVICE void invoke_one(const Group& group, F&& function, A&&... arguments) {
  if (group.thread_rank() == 0) function(arguments...);
}

// ---- Reductions and scans
// ------------------------------------------------------------------------

#define SWIZZLEPERF_OPERATION(name, expression)                            \
  template <class T = void>                                                \
  struct name {                                                            \
    SWIZZLEPERF_MEMBER T operator()(T a, T b) const { return expression; } \
  };                                                                       \
  template <>                                                              \
  struct name<void> {                                                      \
    template <class T>                                                     \
    SWIZZLEPERF_MEMBER T operator()(T a, T b) const {                      \
      return expression;                                                   \
    }                                                                      \
  };
SWIZZLEPERF_OPERATION(plus, a + b)
SWIZZLEPERF_OPERATION(less, b < a ? b : a)
SWIZZLEPERF_OPERATION(greater, a < b ? b : a)
SWIZZLEPERF_OPERATION(bit_and, a& b)
SWIZZLEPERF_OPERATION(bit_or, a | b)
SWIZZLEPERF_OPERATION(bit_xor, a ^ b)
#undef SWIZZLEPERF_OPERATION

template <class Group, class T, class Operation>
SWIZZLEPERF_DEVICE T reduce(const Group& group, T value, Operation operation) {
  const __swizzleperf_mask lanes = group.swizzleperf_lanes() & __activemask();
  T sum = __swizzleperf_from(value, __swizzleperf_lowest(lanes));
  for (__swizzleperf_mask left = lanes & (lanes - 1); left != 0; left &= left - 1) {
    sum = operation(sum, __swizzleperf_from(value, __swizzleperf_lowest(left)));
  }
  return sum;
}
/// A tile's lanes meet in pairs, pairs in fours, ...
template <unsigned Size, class Parent, class T, class Operation>
SWIZZLEPERF_DEVICE T reduce(const thread_block_tile<Size, Parent>& group, T value,
                            Operation operation) {
  for (unsigned distance = Size / 2; distance != 0; distance /= 2) {
    value = operation(value, group.shfl_xor(value, distance));
  }
  return value;
}
template <class Group, class T, class Operation>
SWIZZLEPERF_DEVICE T inclusive_scan(const Group& group, T value, Operation operation) {
  for (unsigned distance = 1; distance < group.size(); distance *= 2) {
    const T before = group.shfl_up(value, distance);
    if (group.thread_rank() >= distance) value = operation(before, value);
  }
  return value;
}
template <class Group, class T>
SWIZZLEPERF_DEVICE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Operation>
SWIZZLEPERF_DEVICE T exclusive_scan(const Group& group, T value, Operation operation) {
  const T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? T{} : before;
}
template <class Group, class T>
SWIZZLEPERF_DEVICE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

// ---- Copies into shared memory: done when the call returns
// ---------------------------------------

template <class Group, class T>
SWIZZLEPERF_DEVICE void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  for (size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size()) to[i] = from[i];
}
template <class Group>
SWIZZLEPERF_DEVICE void wait(const Group& group) {
  group.sync();
}
template <unsigned, class Group>
SWIZZLEPERF_DEVICE void wait_prior(const Group& group) {
  group.sync();
}

#undef SWIZZLEPERF_MEMBER

}  // namespace cooperative_groups
