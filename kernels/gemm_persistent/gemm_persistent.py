"""C = A * B^T in half precision with float accumulation, by programs that stay.

  A is M x K, B is N x K (as the weights of a linear layer are stored), C is M x N, all row-major.

As many programs are launched as the GPU has compute units (304 on MI300X), and each goes through tiles
of C: program p computes tiles p, p + 304, p + 608, ... of 256 x 256, numbered in groups of 8 tile rows.
There are two indices that an order could change: which program is which, and in which order tiles are
numbered. A swizzle changes the first; see gemm_persistent.hip.

    python3 kernels/gemm_persistent/gemm_persistent.py      checks it on the virtual GPU against numpy"""

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
def gemm_persistent(a_ptr, b_ptr, c_ptr, M, N, K,
                    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, GROUP: tl.constexpr):
    tiles_m = tl.cdiv(M, TILE_M)
    tiles_n = tl.cdiv(N, TILE_N)
    for tile in range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
        tile_m, tile_n = tile_of(tile, tiles_m, tiles_n, GROUP)
        row = tile_m * TILE_M + tl.arange(0, TILE_M)
        column = tile_n * TILE_N + tl.arange(0, TILE_N)
        sums = tl.zeros((TILE_M, TILE_N), tl.float32)
        for first in range(0, K, TILE_K):
            k = first + tl.arange(0, TILE_K)
            a = tl.load(a_ptr + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0)
            b = tl.load(b_ptr + column[None, :] * K + k[:, None], mask=(k[:, None] < K) & (column[None, :] < N), other=0)
            sums = tl.dot(a, b, sums)
        inside = (row[:, None] < M) & (column[None, :] < N)
        tl.store(c_ptr + row[:, None] * N + column[None, :], sums.to(tl.float16), mask=inside)


def check(M, N, K):
    import numpy

    before, after = suite.run(__file__, M=M, N=N, K=K, programs=3)
    expected = before["a_ptr"].astype(numpy.float64) @ before["b_ptr"].astype(numpy.float64).T
    return suite.difference(after["c_ptr"], expected, relative=True)


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    sizes = [{"M": 700, "N": 600, "K": 72}, {"M": 300, "N": 257, "K": 130}]
    suite.main("gemm_persistent", check, sizes, allowed=2e-3)
