"""C = A * B in half precision with float accumulation, for matrix cores.

  A is M x K, B is K x N, C is M x N, all row-major; any M, N, K.

A program computes a tile of 128 x 128 of C in steps of 64 along K; its tile is chosen as in gemm.hip,
whose opening says what tiles share and why neighbours in dispatch order should share an L2.

    python3 kernels/gemm/gemm.py      checks it on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def tile_of(number, tiles_m, tiles_n, GROUP: tl.constexpr):
    """The tile of C that comes `number`-th: in bands of GROUP tile rows, down each of a band's columns in
    turn. The last band may be lower."""
    band = GROUP * tiles_n
    first = number // band * GROUP
    height = min(tiles_m - first, GROUP)
    return first + number % band % height, number % band // height


@triton.jit
def gemm(a_ptr, b_ptr, c_ptr, M, N, K,
         TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tile_m, tile_n = tile_of(pid, tl.cdiv(M, TILE_M), tl.cdiv(N, TILE_N), GROUP)
    row = (tile_m * TILE_M + tl.arange(0, TILE_M))[:, None]
    column = (tile_n * TILE_N + tl.arange(0, TILE_N))[None, :]
    sums = tl.zeros((TILE_M, TILE_N), tl.float32)
    for first in range(0, K, TILE_K):
        k = first + tl.arange(0, TILE_K)
        a = tl.load(a_ptr + row * K + k[None, :], mask=(row < M) & (k[None, :] < K), other=0)
        b = tl.load(b_ptr + k[:, None] * N + column, mask=(k[:, None] < K) & (column < N), other=0)
        sums = tl.dot(a, b, sums)
    tl.store(c_ptr + row * N + column, sums.to(tl.float16), mask=(row < M) & (column < N))


def check(M, N, K):
    import numpy

    before, after = suite.run(__file__, M=M, N=N, K=K)
    expected = before["a_ptr"].astype(numpy.float64) @ before["b_ptr"].astype(numpy.float64)
    return suite.difference(after["c_ptr"], expected, relative=True)


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    sizes = [{"M": 300, "N": 200, "K": 72}, {"M": 129, "N": 77, "K": 130}]
    suite.main("gemm", check, sizes, allowed=2e-3)
