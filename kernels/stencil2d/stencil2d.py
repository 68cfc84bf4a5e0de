"""A five-point stencil over a matrix of halves: out = in / 2 + (above + below + left + right) / 8, with
zeros outside.

A program computes a tile of 32 x 32 and touches the lines that a block of stencil2d.hip does; its
opening says which of them neighbours share, and so which order of programs can win.

    python3 kernels/stencil2d/stencil2d.py      checks it on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def value_at(in_ptr, row, column, rows, columns):
    """Values of the matrix as floats, zero outside."""
    inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    return tl.load(in_ptr + row.to(tl.int64) * columns + column, mask=inside, other=0).to(tl.float32)


@triton.jit
def stencil2d(in_ptr, out_ptr, rows, columns, TILE: tl.constexpr):
    row = (tl.program_id(0) * TILE + tl.arange(0, TILE))[:, None]
    column = (tl.program_id(1) * TILE + tl.arange(0, TILE))[None, :]
    vertical = value_at(in_ptr, row - 1, column, rows, columns) + value_at(in_ptr, row + 1, column, rows, columns)
    beside = value_at(in_ptr, row, column - 1, rows, columns) + value_at(in_ptr, row, column + 1, rows, columns)
    result = 0.5 * value_at(in_ptr, row, column, rows, columns) + 0.125 * (vertical + beside)
    inside = (row < rows) & (column < columns)
    tl.store(out_ptr + row.to(tl.int64) * columns + column, result.to(tl.float16), mask=inside)


def check(rows, columns):
    import numpy

    before, after = suite.run(__file__, rows=rows, columns=columns)
    x = numpy.pad(before["in_ptr"].astype(numpy.float64), 1)
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return suite.difference(after["out_ptr"], 0.5 * x[1:-1, 1:-1] + 0.125 * around)


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    suite.main("stencil2d", check, [{"rows": 100, "columns": 72}, {"rows": 33, "columns": 129}], allowed=1e-3)
