"""Kernels that the tests of the Python interface launch; and a tensor that is like torch's."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, n, amount, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + amount, mask=i < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=1), triton.Config({"BLOCK": 256}, num_warps=2)], key=["n"])
@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % arguments["BLOCK"] == 0})
@triton.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.program_id(0) * 1000 + BLOCK + (1 if EVEN else 2)
    tl.store(x_ptr + i, value, mask=i < n)


@triton.jit
def kinds(x_ptr, other, flag, WORD: tl.constexpr, TYPE: tl.constexpr):
    value = tl.full((1,), 1.5, tl.float32).to(TYPE).to(tl.float32)
    if WORD == "twice":
        value *= 2
    if other is None:
        value += 10
    if flag:
        value += 100
    tl.store(x_ptr + tl.arange(0, 1), value)


class TorchLike:
    """A CPU tensor as far as this package looks at one, over a numpy array."""

    device = "cpu"

    def __init__(self, array):
        self.array = array
        self.dtype = f"torch.{array.dtype}"
        self.shape = array.shape

    def data_ptr(self):
        return self.array.ctypes.data

    def numel(self):
        return self.array.size

    def element_size(self):
        return self.array.itemsize

    def is_contiguous(self):
        return self.array.flags["C_CONTIGUOUS"]
