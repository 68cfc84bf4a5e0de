"""Writing a launch as a launch spec (docs/launch-spec.md), with its arrays beside it."""

import json
import os

from .arrays import Tensor, described, is_array
from .dtypes import SPEC_NAME
from .errors import SwizzlePerfError
from .target import autotuner, jit_function

# Floating-point contents hardly ever decide an address; above this size they are not kept.
KEPT_FLOAT_BYTES = 16 << 20


class Launch:
    """A kernel with everything a launch needs, taken apart by the kernel's parameters."""

    def __init__(self, kernel, grid, args, kwargs, config=0):
        function = jit_function(kernel)
        if type(function).__name__ != "JITFunction":
            raise SwizzlePerfError(f"{kernel!r} is not a @triton.jit function")
        self.kernel = kernel
        self.file = os.path.abspath(function.fn.__code__.co_filename)
        if not os.path.exists(self.file):
            raise SwizzlePerfError(f"the source of {function.__name__} is not in a file ({self.file})")
        self.function = function.fn.__name__
        self.config = config
        self.options = {k: v for k, v in kwargs.items() if k not in function.arg_names}
        self.values = self.bind(function, args, kwargs)
        self.arrays = {n: described(v, n) for n, v in self.values.items() if is_array(v)}
        self.constexprs = {p.name for p in function.params if p.is_constexpr}
        self.grid = self.resolve(grid)

    def bind(self, function, args, kwargs):
        names = function.arg_names
        if len(args) > len(names):
            raise SwizzlePerfError(f"{self.function} takes {len(names)} arguments, but {len(args)} were given")
        values = dict(zip(names, args))
        values.update((k, v) for k, v in kwargs.items() if k in names)
        return values

    def resolve(self, grid):
        """A grid may be a function of the arguments and of what tuning adds to them."""
        if callable(grid):
            known = {p.name: p.default for p in jit_function(self.kernel).params if p.has_default}
            known.update(self.values)
            layer = self.kernel
            tuner = autotuner(self.kernel)
            if tuner is not None:
                known.update(tuner.configs[min(self.config, len(tuner.configs) - 1)].all_kwargs())
            while layer is not jit_function(self.kernel):
                for name, value in getattr(layer, "values", {}).items():
                    known[name] = value(known)
                layer = layer.fn
            grid = grid(known)
        grid = [grid] if isinstance(grid, int) else list(grid)
        if not 1 <= len(grid) <= 3:
            raise SwizzlePerfError(f"a grid has one to three extents, not {len(grid)}")
        return [int(extent) for extent in grid]

    def write(self, file, keep_all=True):
        """Writes the spec, and the arrays' bytes beside it. Unless `keep_all`, large floating-point
        arrays are replaced by random numbers."""
        folder = os.path.dirname(os.path.abspath(file))
        stem = os.path.splitext(os.path.basename(file))[0]
        lines = [f"kernel = {quoted(os.path.relpath(self.file, folder))}", f"function = {quoted(self.function)}",
                 f"grid = {self.grid}"]
        if autotuner(self.kernel) is not None:
            lines.append(f"config = {self.config}")
        if self.options:
            lines += ["", "[options]"] + [f"{k} = {plain(v)}" for k, v in self.options.items() if v is not None]
        constexprs = [f"{n} = {constexpr(v, n)}" for n, v in self.values.items() if n in self.constexprs]
        if constexprs:
            lines += ["", "[constexprs]"] + constexprs
        for name, value in self.values.items():
            if name in self.constexprs:
                continue
            lines += ["", "[[arguments]]", f"name = {quoted(name)}"]
            if name in self.arrays:
                lines += self.array_lines(name, folder, stem, keep_all)
            else:
                lines.append(f"value = {scalar(value, name)}")
        with open(file, "w") as out:
            out.write("\n".join(lines) + "\n")

    def array_lines(self, name, folder, stem, keep_all):
        array = self.arrays[name]
        lines = [f"dtype = {quoted(array.dtype)}", f"shape = {list(array.shape)}"]
        if isinstance(array, Tensor):
            lines.append(f"init = {init(array.init)}")
        elif keep_all or "float" not in array.dtype or array.bytes <= KEPT_FLOAT_BYTES:
            data = f"{stem}.{name}.bin"
            with open(os.path.join(folder, data), "wb") as out:
                out.write(array.read())
            lines.append(f"init = {{ kind = \"file\", path = {quoted(data)} }}")
        else:
            lines.append('init = "normal"')
        return lines


def quoted(text):
    return json.dumps(str(text))


def plain(value):
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return quoted(value)


def init(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {plain(v)}" for k, v in value.items()) + " }"
    return plain(value)


def constexpr(value, name):
    value = getattr(value, "value", value)
    if isinstance(value, str):
        return f"{{ text = {quoted(value)} }}"
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if type(value).__name__ == "dtype" and str(value) in SPEC_NAME:  # tl.float16 prints as fp16
        return f"{{ dtype = {quoted(SPEC_NAME[str(value)])} }}"
    raise SwizzlePerfError(f"constexpr '{name}' is a {type(value).__name__}, which a launch spec cannot hold")


def scalar(value, name):
    if value is None:
        return '"none"'
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise SwizzlePerfError(f"argument '{name}' is a {type(value).__name__}; arrays, numbers and None can be passed")
