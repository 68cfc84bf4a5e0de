// What HIP gained after 5.2: votes and shuffles by masks of 64 lanes, and groups that can be voted
// in, matched, reduced and ranked.
#include <hip/hip_cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;
using Mask = unsigned long long;

struct Seen {
  int shuffled[4], sum, all, any;
  Mask ballot, match, active;
  int tile_rank, tile_of, tiles, tile_any, tile_all, tile_sum, tile_scan;
  Mask tile_ballot, tile_match;
  int odd_rank, odd_size, odd_next, odd_sum;
  Mask odd_ballot;
  int threads, dimensions;
};

template <int size>
__global__ void look(Seen* out) {
  const int t = threadIdx.x, lane = t % 64;
  Seen s{};
  const Mask all = ~0ull;
  s.shuffled[0] = __shfl_sync(all, t, 40);
  s.shuffled[1] = __shfl_up_sync(all, t, 3);
  s.shuffled[2] = __shfl_down_sync(all, t, 3, 32);
  s.shuffled[3] = (int)__shfl_xor_sync(all, (double)t, 33);
  s.sum = __reduce_add_sync(all, lane);
  s.all = __all_sync(all, lane < 64);
  s.any = __any_sync(0xffull, lane == 20);
  s.ballot = __ballot_sync(all, lane % 3 == 0);
  s.match = __match_any_sync(all, lane % 5);
  s.active = __activemask();
  __syncwarp();

  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<size>(block);
  s.tile_rank = tile.thread_rank();
  s.tile_of = tile.meta_group_rank();
  s.tiles = tile.meta_group_size();
  s.tile_any = tile.any(t == 70);
  s.tile_all = tile.all(t < 64);
  s.tile_ballot = tile.ballot(tile.thread_rank() % 2 == 1);
  s.tile_match = tile.match_any(tile.thread_rank() / 2);
  s.tile_sum = cg::reduce(tile, t, cg::plus<int>());
  s.tile_scan = cg::inclusive_scan(tile, 1, cg::plus<int>());
  if (t % 2 == 1) {
    const auto odd = cg::coalesced_threads();
    s.odd_rank = odd.thread_rank();
    s.odd_size = odd.num_threads();
    s.odd_next = odd.shfl_down(t, 1);
    s.odd_sum = cg::reduce(odd, t, cg::plus<int>());
    s.odd_ballot = odd.ballot(lane > 32);
  }
  s.threads = block.num_threads();
  s.dimensions = block.dim_threads().x + block.group_index().x + block.thread_index().x;
  out[t] = s;
}

template <int size>
void test() {
  constexpr int kThreads = 128;
  Array<Seen> out(kThreads);
  look<size><<<1, kThreads>>>(out);
  out.download();
  Mask thirds = 0;
  for (int lane = 0; lane < 64; lane += 3) thirds |= 1ull << lane;
  for (int t = 0; t < kThreads; ++t) {
    const Seen& s = out.host[t];
    const int lane = t % 64, wave = t - lane, rank = t % size, first = t - rank;
    CHECK(s.shuffled[0] == wave + 40);
    CHECK(s.shuffled[1] == (lane < 3 ? t : t - 3));
    CHECK(s.shuffled[2] == (lane % 32 + 3 < 32 ? t + 3 : t));
    CHECK(s.shuffled[3] == wave + (lane ^ 33));
    CHECK(s.sum == 63 * 32 && s.all == 1 && s.any == 0);
    CHECK(s.ballot == thirds && s.active == ~0ull);
    Mask match = 0;
    for (int other = lane % 5; other < 64; other += 5) match |= 1ull << other;
    CHECK(s.match == match);
    CHECK(s.tile_rank == rank && s.tile_of == t / size && s.tiles == kThreads / size);
    CHECK(s.tile_any == (t / size == 70 / size));
    CHECK(s.tile_all == (first + size <= 64));
    Mask odd = 0;
    for (int i = 1; i < size; i += 2) odd |= 1ull << i;
    CHECK(s.tile_ballot == odd);
    CHECK(s.tile_match == 3ull << rank / 2 * 2);
    CHECK(s.tile_sum == size * first + size * (size - 1) / 2);
    CHECK(s.tile_scan == rank + 1);
    if (t % 2 == 1) {
      CHECK(s.odd_rank == lane / 2 && s.odd_size == 32);
      CHECK(s.odd_next == (lane == 63 ? t : t + 2));
      CHECK(s.odd_sum == 32 * wave + 32 * 32);
      CHECK(s.odd_ballot == 0xffff0000ull);
    }
    CHECK(s.threads == kThreads && s.dimensions == kThreads + t);
  }
}

int main() {
  test<64>();
  test<32>();
  test<16>();
  test<2>();
  return report();
}
