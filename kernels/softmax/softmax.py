"""Softmax of each row: y = exp(x - greatest) / sum of exp(x - greatest), in half precision.

One program has one row and keeps all of it in registers: BLOCK is the row's length, rounded up to a
power of two. Programs share nothing: a swizzle has nothing to win here.

    python3 kernels/softmax/softmax.py      checks it on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row + column, mask=inside, other=-float("inf")).to(tl.float32)
    power = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row + column, (power / tl.sum(power, axis=0)).to(tl.float16), mask=inside)


def check(rows, columns):
    import numpy

    before, after = suite.run(__file__, rows=rows, columns=columns)
    x = before["x_ptr"].astype(numpy.float64)
    power = numpy.exp(x - x.max(axis=1, keepdims=True))
    return suite.difference(after["y_ptr"], power / power.sum(axis=1, keepdims=True))


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    suite.main("softmax", check, [{"rows": 5, "columns": 1000}, {"rows": 3, "columns": 77}], allowed=1e-3)
