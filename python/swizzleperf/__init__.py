"""SwizzlePerf for Triton: find, prove and apply a block swizzle, on a laptop with no GPU.

    import swizzleperf
    result = swizzleperf.optimize(kernel, grid, x, y, n, BLOCK=1024)     # a dict; see docs/json.md
    swizzleperf.run(kernel, grid, x, y, n, BLOCK=1024)                   # on the virtual GPU

Importing this package imports neither Triton nor numpy."""

from .api import Tensor, optimize, run, run_spec, simulate, write_spec
from .errors import SwizzlePerfError

__all__ = ["SwizzlePerfError", "Tensor", "optimize", "run", "run_spec", "simulate", "write_spec"]
