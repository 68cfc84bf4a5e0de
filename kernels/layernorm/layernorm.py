"""Layer normalisation of each row: y = (x - mean) / sqrt(variance + epsilon) * weight + bias.

One program has one row. It reads the row twice, BLOCK columns at a time: once for the sums, once to
normalise; the second reading is to come from L2. Programs share nothing but weight and bias, which
every L2 keeps: a swizzle has nothing to win here. Squares are summed of x minus the row's first value,
so that a large mean does not swallow the variance.

    python3 kernels/layernorm/layernorm.py      checks it on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def layernorm(x_ptr, weight_ptr, bias_ptr, y_ptr, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    shift = tl.load(x_ptr + row).to(tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, columns, BLOCK):
        column = first + tl.arange(0, BLOCK)
        inside = column < columns
        x = tl.load(x_ptr + row + column, mask=inside, other=0).to(tl.float32)
        centred = tl.where(inside, x - shift, 0)
        sums += centred
        squares += centred * centred
    mean = tl.sum(sums, axis=0) / columns  # of x - shift
    variance = tl.sum(squares, axis=0) / columns - mean * mean
    scale = 1 / tl.sqrt(tl.maximum(variance, 0) + epsilon)
    for first in range(0, columns, BLOCK):
        column = first + tl.arange(0, BLOCK)
        inside = column < columns
        x = tl.load(x_ptr + row + column, mask=inside).to(tl.float32)
        weight = tl.load(weight_ptr + column, mask=inside).to(tl.float32)
        bias = tl.load(bias_ptr + column, mask=inside).to(tl.float32)
        y = (x - shift - mean) * scale * weight + bias
        tl.store(y_ptr + row + column, y.to(tl.float16), mask=inside)


def check(rows, columns):
    import numpy

    before, after = suite.run(__file__, rows=rows, columns=columns)
    x = before["x_ptr"].astype(numpy.float64)
    mean = x.mean(axis=1, keepdims=True)
    normal = (x - mean) / numpy.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return suite.difference(after["y_ptr"], normal * before["weight_ptr"] + before["bias_ptr"], relative=True)


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    suite.main("layernorm", check, [{"rows": 3, "columns": 10000}, {"rows": 2, "columns": 333}], allowed=2e-3)
