"""Finite differences in the time domain: Maxwell's equations in two dimensions on a staggered grid.

A step is two launches, since the magnetic field needs its neighbours' finished electric field:
    update_e:  ex[i, j] -= (hz[i, j] - hz[i, j - 1]) / 2     j > 0
               ey[i, j] += (hz[i, j] - hz[i - 1, j]) / 2     i > 0
    update_h:  hz[i, j] -= (ey[i + 1, j] - ey[i, j] - ex[i, j + 1] + ex[i, j]) / 2
with the last row and column of hz left as they are (a wall).

A program updates a tile of 32 x 32 floats; all that programs share is the rim of their tiles, as
fdtd2d.hip says in its opening. fdtd2d.toml launches update_e, fdtd2d_h.toml update_h.

    python3 kernels/fdtd2d/fdtd2d.py      checks both on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def update_e(ex_ptr, ey_ptr, hz_ptr, rows, columns, TILE: tl.constexpr):
    row = (tl.program_id(0) * TILE + tl.arange(0, TILE))[:, None]
    column = (tl.program_id(1) * TILE + tl.arange(0, TILE))[None, :]
    inside = (row < rows) & (column < columns)
    place = row.to(tl.int64) * columns + column
    h = tl.load(hz_ptr + place, mask=inside)
    beside = tl.load(hz_ptr + place - 1, mask=inside & (column > 0))
    above = tl.load(hz_ptr + place - columns, mask=inside & (row > 0))
    ex = tl.load(ex_ptr + place, mask=inside & (column > 0))
    ey = tl.load(ey_ptr + place, mask=inside & (row > 0))
    tl.store(ex_ptr + place, ex - 0.5 * (h - beside), mask=inside & (column > 0))
    tl.store(ey_ptr + place, ey + 0.5 * (h - above), mask=inside & (row > 0))


@triton.jit
def update_h(ex_ptr, ey_ptr, hz_ptr, rows, columns, TILE: tl.constexpr):
    row = (tl.program_id(0) * TILE + tl.arange(0, TILE))[:, None]
    column = (tl.program_id(1) * TILE + tl.arange(0, TILE))[None, :]
    inner = (row < rows - 1) & (column < columns - 1)
    place = row.to(tl.int64) * columns + column
    x = tl.load(ex_ptr + place, mask=inner)
    y = tl.load(ey_ptr + place, mask=inner)
    right = tl.load(ex_ptr + place + 1, mask=inner)
    below = tl.load(ey_ptr + place + columns, mask=inner)
    h = tl.load(hz_ptr + place, mask=inner)
    tl.store(hz_ptr + place, h - 0.5 * (below - y - right + x), mask=inner)


def check(rows, columns):
    import numpy

    before, after = suite.run(__file__, rows=rows, columns=columns)
    ex, ey, hz = (before[k].astype(numpy.float64) for k in ("ex_ptr", "ey_ptr", "hz_ptr"))
    ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
    ey[1:] += 0.5 * (hz[1:] - hz[:-1])
    worst = max(suite.difference(after["ex_ptr"], ex), suite.difference(after["ey_ptr"], ey))
    before, after = suite.run(__file__[:-3] + "_h.py", rows=rows, columns=columns)
    ex, ey, hz = (before[k].astype(numpy.float64) for k in ("ex_ptr", "ey_ptr", "hz_ptr"))
    hz[:-1, :-1] -= 0.5 * (ey[1:, :-1] - ey[:-1, :-1] - ex[:-1, 1:] + ex[:-1, :-1])
    return max(worst, suite.difference(after["hz_ptr"], hz))


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    suite.main("fdtd2d", check, [{"rows": 100, "columns": 72}, {"rows": 33, "columns": 129}], allowed=1e-6)
