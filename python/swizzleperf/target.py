"""Triton, compiling for an AMD GPU that is not there.

Triton asks its "driver" which GPU is active. Ours says: the one whose architecture was asked for.
All the rest is Triton's own launch path in warm-up mode, so arguments are specialised (16-alignment,
values of 1) and heuristics are evaluated exactly as in a real launch.

The hip target is taken for every machine: its IR says with plain loads and stores what the CUDA
target hides in inline assembly. Two features that would hide accesses too are switched off: buffer
instructions (bounds checks in a descriptor instead of branches) and asynchronous copies to LDS. Both
change how a line is fetched, not which."""

import os

from .errors import SwizzlePerfError

PINNED = "3.9.0"


class _Driver:
    def __init__(self, target):
        self._target = target

    def get_current_target(self):
        return self._target

    def get_current_device(self):
        return 0

    def get_current_stream(self, _device):
        return 0

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")


def use_target(arch):
    """Imports Triton and makes `arch` (gfx942, gfx950; sm_90 to see that NVIDIA's compiler takes a
    patched kernel too) its active GPU."""
    # Triton 3.9's own default; it warns unless somebody says so.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    try:
        import triton
        from triton import knobs
        from triton.backends.compiler import GPUTarget
        from triton.runtime.driver import driver
    except ImportError as error:
        import sys

        raise SwizzlePerfError(
            f"Triton is not installed for {sys.executable} ({error}): run ./setup triton in the checkout, "
            f"or install triton=={PINNED} and name that interpreter in SWIZZLEPERF_PYTHON"
        ) from None
    knobs.amd.use_buffer_ops = False
    knobs.amd.use_async_copy = False
    nvidia = arch.startswith("sm_")
    target = GPUTarget("cuda", int(arch[3:]), 32) if nvidia else GPUTarget("hip", arch, 64)
    driver.set_active(_Driver(target))
    return triton


class Array:
    """What Triton looks at in a tensor: its type and its alignment; heuristics may ask for more."""

    def __init__(self, dtype, shape):
        self.dtype = dtype
        self.shape = tuple(shape)

    def data_ptr(self):
        return 0  # device allocations are aligned

    def numel(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def stride(self, axis=None):
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * extent)
        return tuple(strides) if axis is None else strides[axis]

    def element_size(self):
        bits = "".join(c for c in self.dtype.split("e")[0] if c.isdigit())
        return max(1, int(bits or 8) // 8)


def jit_function(kernel):
    """The @triton.jit function under @autotune and @heuristics."""
    while type(kernel).__name__ != "JITFunction" and hasattr(kernel, "fn"):
        kernel = kernel.fn
    return kernel


def autotuner(kernel):
    """The @triton.autotune layer of a kernel, or None."""
    while type(kernel).__name__ != "JITFunction" and hasattr(kernel, "fn"):
        if hasattr(kernel, "configs"):
            return kernel
        kernel = kernel.fn
    return None


def config_words(config):
    settings = {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}
    return ", ".join(f"{k}={v}" for k, v in settings.items())


def choose_config(kernel, index):
    """Leaves only configuration `index` to @triton.autotune, since without a GPU nothing can be timed;
    returns the sentence that says so, or None."""
    tuner = autotuner(kernel)
    if tuner is None:
        return None
    count = len(tuner.configs)
    if index >= count:
        raise SwizzlePerfError(f"there is no autotune configuration {index}: the kernel has {count} (from 0)")
    config = tuner.configs[index]
    tuner.configs = [config]
    note = f"Autotuning needs a GPU: configuration {index} of {count} was taken ({config_words(config)})"
    if config.pre_hook is not None:
        config.pre_hook = None
        note += "; its pre_hook was not run"
    return note + "."


def compile_for_target(kernel, arguments, options):
    """Triton's own path up to the compiled kernel. `arguments` by name."""
    return kernel.run(grid=(1, 1, 1), warmup=True, **arguments, **options)
