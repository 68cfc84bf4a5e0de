// Bits, bytes, products and sums of absolute differences; integers of 128 bits.
#include "check.h"

enum { kPop, kClz, kFfs, kBrev, kPerm, kMulHi, kUMulHi, kMul24, kSad, kUSad, kHAdd, kFunnel, kFunnelR,
       kClzLL, kPopLL, kBrevLL, kFfsLL, kBytes, kDot, kBfe, kAlign, kRound, kCount };

__global__ void bits(const unsigned* x, const unsigned* y, unsigned* out, int n) {
  const int i = threadIdx.x;
  const unsigned a = x[i];
  const unsigned b = y[i];
  const unsigned long long wide = static_cast<unsigned long long>(a) << 32 | b;
  unsigned* row = out + i;
  row[kPop * n] = __popc(a);
  row[kClz * n] = __clz(a);
  row[kFfs * n] = __ffs(a);
  row[kBrev * n] = __brev(a);
  row[kPerm * n] = __byte_perm(a, b, 0x5173);
  row[kMulHi * n] = __mulhi(static_cast<int>(a), static_cast<int>(b));
  row[kUMulHi * n] = __umulhi(a, b);
  row[kMul24 * n] = __umul24(a, b) + __mul24(static_cast<int>(a), static_cast<int>(b));
  row[kSad * n] = __sad(static_cast<int>(a % 1000), static_cast<int>(b % 1000), 7);
  row[kUSad * n] = __usad(a, b, 3);
  row[kHAdd * n] = __uhadd(a, b) + __urhadd(a, b);
  row[kFunnel * n] = __funnelshift_l(b, a, 11);
  row[kFunnelR * n] = __funnelshift_r(b, a, 5);
  row[kClzLL * n] = __clzll(wide);
  row[kPopLL * n] = __popcll(wide);
  row[kBrevLL * n] = static_cast<unsigned>(__brevll(wide) >> 16);
  row[kFfsLL * n] = __ffsll(wide << 7);
  row[kBytes * n] = __builtin_amdgcn_sad_u8(a, b, 9);
  row[kDot * n] = __builtin_amdgcn_sdot4(static_cast<int>(a), static_cast<int>(b), 0, false);
  row[kBfe * n] = __builtin_amdgcn_ubfe(a, 5, 9) + __builtin_amdgcn_sbfe(b, 3, 6);
  row[kAlign * n] = __builtin_amdgcn_alignbyte(a, b, 3) ^ __builtin_amdgcn_alignbit(a, b, 13);
  row[kRound * n] = __float2int_rn(static_cast<float>(a % 1000) / 8) + __float2uint_ru(2.25f) +
                    __double2int_rd(-2.5) + __float_as_uint(1.0f);
}

typedef __int128 i128;
typedef unsigned __int128 u128;

__global__ void wide(const unsigned long long* x, unsigned long long* out, int n) {
  const int i = threadIdx.x;
  const u128 a = static_cast<u128>(x[i]) << 64 | x[(i + 1) % n];
  const u128 b = static_cast<u128>(x[(i + 2) % n] >> 20) << (i % 64) | 1;
  const i128 c = static_cast<i128>(a);
  const i128 d = -static_cast<i128>(b);
  u128 results[] = {a + b, a - b, a * b, a / b, a % b, a << (i * 2), a >> (i * 2),
                    static_cast<u128>(c >> (i * 2)), static_cast<u128>(c / d), static_cast<u128>(c % d),
                    static_cast<u128>(a < b) + 2 * (c < d) + 4 * (a == b) + 8 * (c >= d), ~a ^ (b | 3)};
  for (int k = 0; k < 12; ++k) {
    out[(2 * k) * n + i] = static_cast<unsigned long long>(results[k]);
    out[(2 * k + 1) * n + i] = static_cast<unsigned long long>(results[k] >> 64);
  }
}

int main() {
  const int n = 64;
  Numbers numbers(11);
  std::vector<unsigned> xs(n);
  std::vector<unsigned> ys(n);
  for (int i = 0; i < n; ++i) {
    xs[i] = numbers.next() * 2 + numbers.next() % 2;
    ys[i] = numbers.next() ^ numbers.next() << 9;
  }
  Array<unsigned> x(xs);
  Array<unsigned> y(ys);
  Array<unsigned> out(kCount * n);
  bits<<<1, n>>>(x, y, out, n);
  out.download();
  for (int i = 0; i < n; ++i) {
    const unsigned a = xs[i];
    const unsigned b = ys[i];
    const unsigned long long w = static_cast<unsigned long long>(a) << 32 | b;
    const auto got = [&](int row) { return out.host[row * n + i]; };
    const auto reversed = [](unsigned v) {
      unsigned r = 0;
      for (int k = 0; k < 32; ++k) r |= (v >> k & 1) << (31 - k);
      return r;
    };
    const auto byte = [&](int k) { return static_cast<unsigned>((static_cast<unsigned long long>(b) << 32 | a) >> (8 * k) & 0xff); };
    check_equal("pop", i, got(kPop), __builtin_popcount(a));
    check_equal("clz", i, got(kClz), __builtin_clz(a));
    check_equal("ffs", i, got(kFfs), __builtin_ffs(a));
    check_equal("brev", i, got(kBrev), reversed(a));
    check_equal("perm", i, got(kPerm), byte(3) | byte(7) << 8 | byte(1) << 16 | byte(5) << 24);
    check_equal("mulhi", i, got(kMulHi), static_cast<unsigned>(static_cast<long long>(static_cast<int>(a)) * static_cast<int>(b) >> 32));
    check_equal("umulhi", i, got(kUMulHi), static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32));
    const int sa = static_cast<int>(a << 8) >> 8;
    const int sb = static_cast<int>(b << 8) >> 8;
    check_equal("mul24", i, got(kMul24), (a & 0xffffff) * (b & 0xffffff) + static_cast<unsigned>(sa) * static_cast<unsigned>(sb));
    check_equal("sad", i, got(kSad), static_cast<unsigned>(std::abs(static_cast<int>(a % 1000) - static_cast<int>(b % 1000)) + 7));
    check_equal("usad", i, got(kUSad), (a > b ? a - b : b - a) + 3);
    const unsigned long long sum = static_cast<unsigned long long>(a) + b;
    check_equal("hadd", i, got(kHAdd), static_cast<unsigned>(sum >> 1) + static_cast<unsigned>((sum + 1) >> 1));
    check_equal("funnel", i, got(kFunnel), a << 11 | b >> 21);
    check_equal("funnel r", i, got(kFunnelR), b >> 5 | a << 27);
    check_equal("clzll", i, got(kClzLL), __builtin_clzll(w));
    check_equal("popcll", i, got(kPopLL), __builtin_popcountll(w));
    check_equal("brevll", i, got(kBrevLL), static_cast<unsigned>((static_cast<unsigned long long>(reversed(b)) << 32 | reversed(a)) >> 16));
    check_equal("ffsll", i, got(kFfsLL), __builtin_ffsll(static_cast<long long>(w << 7)));
    unsigned sad = 9;
    int dot = 0;
    for (int k = 0; k < 4; ++k) {
      const int p = a >> (8 * k) & 0xff;
      const int q = b >> (8 * k) & 0xff;
      sad += std::abs(p - q);
      dot += static_cast<signed char>(p) * static_cast<signed char>(q);
    }
    check_equal("bytes", i, got(kBytes), sad);
    check_equal("dot", i, got(kDot), static_cast<unsigned>(dot));
    check_equal("bfe", i, got(kBfe), (a >> 5 & 0x1ff) + static_cast<unsigned>(static_cast<int>(b << 23) >> 26));
    const unsigned long long both = static_cast<unsigned long long>(a) << 32 | b;
    check_equal("align", i, got(kAlign), static_cast<unsigned>(both >> 24) ^ static_cast<unsigned>(both >> 13));
    check_equal("round", i, got(kRound), static_cast<unsigned>(std::nearbyint((a % 1000) / 8.0f)) + 3 - 3 + 0x3f800000u);
  }

  std::vector<unsigned long long> zs(n);
  for (auto& z : zs) z = static_cast<unsigned long long>(numbers.next()) << 33 ^ static_cast<unsigned long long>(numbers.next()) << 11 ^ numbers.next();
  Array<unsigned long long> z(zs);
  Array<unsigned long long> w(24 * n);
  wide<<<1, n>>>(z, w, n);
  w.download();
  for (int i = 0; i < n; ++i) {
    const u128 a = static_cast<u128>(zs[i]) << 64 | zs[(i + 1) % n];
    const u128 b = static_cast<u128>(zs[(i + 2) % n] >> 20) << (i % 64) | 1;
    const i128 c = static_cast<i128>(a);
    const i128 d = -static_cast<i128>(b);
    const u128 wanted[] = {a + b, a - b, a * b, a / b, a % b, a << (i * 2), a >> (i * 2),
                           static_cast<u128>(c >> (i * 2)), static_cast<u128>(c / d), static_cast<u128>(c % d),
                           static_cast<u128>(a < b) + 2 * (c < d) + 4 * (a == b) + 8 * (c >= d), ~a ^ (b | 3)};
    for (int k = 0; k < 12; ++k) {
      CHECK(w.host[2 * k * n + i] == static_cast<unsigned long long>(wanted[k]));
      CHECK(w.host[(2 * k + 1) * n + i] == static_cast<unsigned long long>(wanted[k] >> 64));
    }
  }
  return report();
}
