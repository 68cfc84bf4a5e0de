// The instructions behind shuffles: readlane, writelane, permutes, swizzle, DPP, bit counts below.
#include "check.h"

// clang has no builtin for this one.
extern "C" __device__ int write_lane(int value, int lane, int old) __asm("llvm.amdgcn.writelane.i32");

enum { kFirst, kRead, kWrite, kPermute, kBPermute, kSwizzle, kQuad, kShr, kMirror, kBcast, kMbcnt, kRows };

__global__ void moves(int* out) {
  const int lane = threadIdx.x;
  const int mine = lane * 10;
  int* row = out + lane;
  const auto put = [&](int which, int value) { row[which * 64] = value; };
  if (lane >= 5) put(kFirst, __builtin_amdgcn_readfirstlane(mine));
  put(kRead, __builtin_amdgcn_readlane(mine, 17));
  put(kWrite, write_lane(777, 9, mine));
  put(kPermute, __builtin_amdgcn_ds_permute(4 * ((lane + 3) % 64), mine));
  put(kBPermute, __builtin_amdgcn_ds_bpermute(4 * ((lane * 7) % 64), mine));
  put(kSwizzle, __builtin_amdgcn_ds_swizzle(mine, 0x041f));  // xor 1
  put(kQuad, __builtin_amdgcn_mov_dpp(mine, 0x1b, 0xf, 0xf, true));  // quads reversed
  put(kShr, __builtin_amdgcn_update_dpp(-1, mine, 0x111, 0xf, 0xf, false));  // row_shr 1
  put(kMirror, __builtin_amdgcn_update_dpp(-1, mine, 0x140, 0xf, 0xf, false));
  put(kBcast, __builtin_amdgcn_update_dpp(-1, mine, 0x142, 0xa, 0xf, false));  // rows 1 and 3
  put(kMbcnt, __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 100)));
}

// An inclusive scan as libraries write it with DPP.
__global__ void dpp_scan(int* data) {
  int v = data[threadIdx.x];
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x112, 0xf, 0xf, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x114, 0xf, 0xf, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x118, 0xf, 0xf, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x142, 0xa, 0xf, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x143, 0xc, 0xf, false);
  data[threadIdx.x] = v;
}

// The same by moving along with __shfl_up, and a rank among equal votes.
__global__ void compact(const int* in, int* out, int* count) {
  const int lane = threadIdx.x;
  const bool keep = in[lane] % 3 == 0;
  const unsigned long long votes = __ballot(keep);
  const int rank = __popcll(votes & ((1ull << lane) - 1));
  if (keep) out[rank] = in[lane];
  if (lane == 0) *count = __popcll(votes);
  if (lane == 1) count[1] = __ffsll(votes);
}

int main() {
  Array<int> out(kRows * 64);
  moves<<<1, 64>>>(out);
  out.download();
  for (int lane = 0; lane < 64; ++lane) {
    const auto got = [&](int which) { return out.host[which * 64 + lane]; };
    check_equal("first", lane, got(kFirst), lane >= 5 ? 50 : 0);
    check_equal("read", lane, got(kRead), 170);
    check_equal("write", lane, got(kWrite), lane == 9 ? 777 : lane * 10);
    check_equal("permute", lane, got(kPermute), (lane + 61) % 64 * 10);
    check_equal("bpermute", lane, got(kBPermute), lane * 7 % 64 * 10);
    check_equal("swizzle", lane, got(kSwizzle), (lane ^ 1) * 10);
    check_equal("quad", lane, got(kQuad), (lane ^ 3) * 10);
    check_equal("shr", lane, got(kShr), lane % 16 == 0 ? -1 : lane * 10 - 10);
    check_equal("mirror", lane, got(kMirror), (lane ^ 15) * 10);
    const int row = lane / 16;
    check_equal("bcast", lane, got(kBcast), row == 1 ? 150 : row == 3 ? 470 : -1);
    check_equal("mbcnt", lane, got(kMbcnt), 100 + lane);
  }
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i) values[i] = (i * 37) % 23;
  Array<int> data(values);
  dpp_scan<<<1, 64>>>(data);
  data.download();
  int sum = 0;
  for (int i = 0; i < 64; ++i) check_equal("scan", i, data.host[i], sum += values[i]);

  Array<int> in(values);
  Array<int> kept(64);
  Array<int> count(2);
  compact<<<1, 64>>>(in, kept, count);
  kept.download();
  count.download();
  int n = 0;
  int first = 0;
  for (int i = 0; i < 64; ++i) {
    if (values[i] % 3 != 0) continue;
    if (first == 0) first = i + 1;
    check_equal("kept", n, kept.host[n], values[i]);
    ++n;
  }
  CHECK(count.host[0] == n);
  CHECK(count.host[1] == first);
  return report();
}
