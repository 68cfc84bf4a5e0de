"""One explicit step in time of the Black-Scholes equation over a grid of prices.

With i = price / spacing, the value of an option a time dt earlier is
    new[i] = a value[i - 1] + b value[i] + c value[i + 1]
    a = dt (sigma^2 i^2 - r i) / 2,  b = 1 - dt (sigma^2 i^2 + r),  c = dt (sigma^2 i^2 + r i) / 2
and the two ends keep their values.

A program computes 1024 neighbouring values; with its neighbours it shares the two values beside its
own. That is all that an order could reuse.

    python3 kernels/black_scholes/black_scholes.py      checks it on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def black_scholes(price_ptr, value_ptr, result_ptr, count, rate, volatility, step, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    inner = (place > 0) & (place < count - 1)
    price = tl.load(price_ptr + place, mask=inside)
    value = tl.load(value_ptr + place, mask=inside)
    below = tl.load(value_ptr + place - 1, mask=inner)
    above = tl.load(value_ptr + place + 1, mask=inner)
    diffusion = volatility * volatility * price * price
    drift = rate * price
    a = 0.5 * step * (diffusion - drift)
    b = 1 - step * (diffusion + rate)
    c = 0.5 * step * (diffusion + drift)
    result = tl.where(inner, a * below + b * value + c * above, value)
    tl.store(result_ptr + place, result, mask=inside)


def check(count):
    import numpy

    before, after = suite.run(__file__, count=count)
    price, value = (before[k].astype(numpy.float64) for k in ("price_ptr", "value_ptr"))
    rate, volatility, step = 0.03, 0.25, 1e-6
    diffusion, drift = volatility**2 * price**2, rate * price
    expected = value.copy()
    expected[1:-1] = (0.5 * step * (diffusion - drift)[1:-1] * value[:-2] + (1 - step * (diffusion + rate))[1:-1]
                      * value[1:-1] + 0.5 * step * (diffusion + drift)[1:-1] * value[2:])
    return suite.difference(after["result_ptr"], expected, relative=True)


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    suite.main("black_scholes", check, [{"count": 5000}, {"count": 1027}], allowed=1e-5)
