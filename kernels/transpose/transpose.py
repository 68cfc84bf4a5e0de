"""Transposition of a matrix of halves, a tile of 32 x 32 a program: out[n, m] = in[m, n].

The tile, the grid and the lines that a block touches are those of transpose.hip, whose opening says
which reuse an order of blocks can win. The transposition itself goes through LDS: Triton arranges
that when a tile is read along one axis and written along the other.

    python3 kernels/transpose/transpose.py      checks it on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def transpose(in_ptr, out_ptr, rows, columns, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    tile = tl.load(in_ptr + row.to(tl.int64)[:, None] * columns + column[None, :], mask=inside)
    tl.store(out_ptr + column.to(tl.int64)[:, None] * rows + row[None, :], tile.T, mask=inside.T)


def check(rows, columns):
    before, after = suite.run(__file__, rows=rows, columns=columns)
    return suite.difference(after["out_ptr"], before["in_ptr"].T)


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    suite.main("transpose", check, [{"rows": 100, "columns": 72}, {"rows": 33, "columns": 129}], allowed=0)
