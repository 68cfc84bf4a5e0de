"""What the Triton programs of the suite share: a command line for their checks.

A kernel's check runs its launch spec on the virtual GPU at small sizes and compares with numpy. It
prints one line a size and ends with status 1 when a difference is larger than allowed."""

import os
import sys

try:
    import swizzleperf
except ImportError:  # in the checkout, not installed
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))
    import swizzleperf


def run(kernel_file, **settings):
    """The launch spec beside a kernel's file, run on the virtual GPU; arrays before and after."""
    return swizzleperf.run_spec(kernel_file[: -len(".py")] + ".toml", **settings)


def difference(got, expected, relative=False):
    """The largest difference, absolute or relative to the expected value's size."""
    import numpy

    got, expected = got.astype(numpy.float64), expected.astype(numpy.float64)
    distance = numpy.abs(got - expected)
    if relative:
        distance = distance / numpy.maximum(numpy.abs(expected), 1)
    return float(distance.max())


def main(name, check, sizes, allowed):
    """`check(size)` returns the largest difference; sizes are dicts of settings."""
    wrong = 0
    for size in sizes:
        words = ", ".join(f"{k}={v}" for k, v in size.items())
        largest = check(**size)
        verdict = "right" if largest <= allowed else "WRONG"
        wrong += largest > allowed
        print(f"{name} {words}: {verdict}, largest difference {largest:.3g} (allowed {allowed:.3g})", flush=True)
    sys.exit(1 if wrong else 0)
