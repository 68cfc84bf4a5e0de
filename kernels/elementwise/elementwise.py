"""Three arrays in, one out, element by element: out = gelu(x + bias) + residual, in half precision.

A program computes 1024 neighbouring elements, as a block of elementwise.hip does, and touches the
same lines. No two programs touch a common line: there is nothing that an order could reuse.

    python3 kernels/elementwise/elementwise.py      checks it on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def elementwise(x_ptr, bias_ptr, residual_ptr, out_ptr, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    x = tl.load(x_ptr + place, mask=inside).to(tl.float32)
    bias = tl.load(bias_ptr + place, mask=inside).to(tl.float32)
    residual = tl.load(residual_ptr + place, mask=inside).to(tl.float32)
    total = x + bias
    gelu = 0.5 * total * (1 + tl.erf(total * 0.70710678))
    tl.store(out_ptr + place, (gelu + residual).to(tl.float16), mask=inside)


def check(count):
    import math

    import numpy

    before, after = suite.run(__file__, count=count)
    total = before["x_ptr"].astype(numpy.float64) + before["bias_ptr"]
    erf = numpy.vectorize(math.erf)
    expected = 0.5 * total * (1 + erf(total * math.sqrt(0.5))) + before["residual_ptr"]
    return suite.difference(after["out_ptr"], expected, relative=True)


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    suite.main("elementwise", check, [{"count": 5000}, {"count": 1023}], allowed=1e-3)
