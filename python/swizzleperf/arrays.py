"""Arrays as a launch spec knows them: a type, a shape, and bytes or a way to make them.

numpy and torch are looked at through what their arrays offer, never imported: one need not have
both, or either."""

import ctypes

from .errors import SwizzlePerfError


class Tensor:
    """An array that is only described: Tensor((4096, 4096), "float16", init="normal").

    `init` is what docs/launch-spec.md allows: "zeros", "ones", "arange", a number, or a dict such as
    {"kind": "integers", "high": 100}."""

    def __init__(self, shape, dtype, init="zeros"):
        self.shape = tuple(int(extent) for extent in shape)
        self.dtype = str(dtype).rsplit(".", 1)[-1]
        self.init = init


class Memory:
    """The memory behind a contiguous numpy array or CPU tensor."""

    def __init__(self, array, name):
        self.shape = tuple(int(extent) for extent in array.shape)
        self.dtype = str(array.dtype).rsplit(".", 1)[-1]
        if hasattr(array, "data_ptr"):  # torch, or what looks like it
            if str(getattr(array, "device", "cpu")) != "cpu":
                raise SwizzlePerfError(f"argument '{name}' lies on {array.device}: the virtual GPU takes CPU tensors")
            contiguous = array.is_contiguous()
            self.address = array.data_ptr()
            self.bytes = array.numel() * array.element_size()
        else:
            contiguous = array.flags["C_CONTIGUOUS"]
            self.address = array.ctypes.data
            self.bytes = array.nbytes
        if not contiguous:
            raise SwizzlePerfError(f"argument '{name}' is not contiguous: pass a contiguous copy")
        self.keep = array

    def read(self):
        return ctypes.string_at(self.address, self.bytes)

    def write(self, contents):
        if len(contents) != self.bytes:
            raise SwizzlePerfError(f"an array of {self.bytes} bytes came back with {len(contents)}")
        ctypes.memmove(self.address, contents, self.bytes)


def is_array(value):
    return isinstance(value, Tensor) or (hasattr(value, "dtype") and hasattr(value, "shape") and len(value.shape) > 0)


def described(value, name):
    """A Tensor or Memory."""
    return value if isinstance(value, Tensor) else Memory(value, name)

