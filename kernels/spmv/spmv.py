"""Sparse matrix times vector, y = A x, with A in compressed rows (CSR) of half precision.

One program has one row, BLOCK entries at a time: the row's bounds, then its values and column numbers,
neighbours in memory, and x wherever those numbers point. All rows share x; while it fits in every L2
the order decides next to nothing. The addresses depend on data, so the virtual GPU runs every block.

    python3 kernels/spmv/spmv.py      checks it on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def spmv(starts_ptr, columns_ptr, values_ptr, x_ptr, y_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(starts_ptr + row)
    end = tl.load(starts_ptr + row + 1)
    sums = tl.zeros((BLOCK,), tl.float32)
    for first in range(begin, end, BLOCK):
        entry = first + tl.arange(0, BLOCK)
        inside = entry < end
        column = tl.load(columns_ptr + entry, mask=inside, other=0)
        value = tl.load(values_ptr + entry, mask=inside, other=0).to(tl.float32)
        sums += value * tl.load(x_ptr + column, mask=inside, other=0).to(tl.float32)
    tl.store(y_ptr + row, tl.sum(sums, axis=0).to(tl.float16))


def check(rows, columns, per_row):
    import numpy

    before, after = suite.run(__file__, rows=rows, columns=columns, per_row=per_row)
    starts = before["starts_ptr"]
    products = before["values_ptr"].astype(numpy.float64) * before["x_ptr"][before["columns_ptr"]]
    expected = numpy.array([products[starts[r] : starts[r + 1]].sum() for r in range(rows)])
    return suite.difference(after["y_ptr"], expected, relative=True)


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    sizes = [{"rows": 37, "columns": 1000, "per_row": 61}, {"rows": 5, "columns": 77, "per_row": 300}]
    suite.main("spmv", check, sizes, allowed=2e-3)
