"""From a kernel's source and the arguments of a launch to LLVM IR.

The question (from src/vgpu/toolchain/build_spec.cc) holds what a launch spec says; the IR goes to a
file, the answer says how to launch it. Every way in which the user's file can be wrong ends in a
sentence that begins with file and line."""

import contextlib
import importlib.util
import os
import re
import sys
import traceback

from .dtypes import LANGUAGE_NAME
from .errors import ImportEnds, SwizzlePerfError, importing
from .target import Array, choose_config, compile_for_target, jit_function, use_target


def load_module(path, beside):
    """Imports the file under a name of its own; what lies beside the original can be imported."""
    sys.path.insert(0, beside)
    name = "swizzleperf_kernel_" + re.sub(r"\W", "_", os.path.basename(path)[:-3])
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    arguments, sys.argv = sys.argv, [path]
    try:
        with ending_at_launches():
            spec.loader.exec_module(module)
    except ImportEnds as end:
        module.import_ended_at = f"{place_of(end, path)}, where it launches a kernel"
    except SystemExit as end:  # a script that wants arguments; its kernels mostly stand before that
        module.import_ended_at = f"{place_of(end, path)}, where it exits"
    except SyntaxError as error:
        raise SwizzlePerfError(f"{error.filename}:{error.lineno}: {error.msg}") from None
    except ModuleNotFoundError as error:
        raise SwizzlePerfError(f"{place_of(error, path)}: {error}: install it for {sys.executable}") from None
    except Exception as error:
        raise SwizzlePerfError(f"{place_of(error, path)}: {type(error).__name__}: {error}") from None
    finally:
        sys.argv = arguments
    return module


@contextlib.contextmanager
def ending_at_launches():
    """A script may launch its kernels at the top level; we are after the kernel alone."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    before = JITFunction.run, Autotuner.run
    JITFunction.run = Autotuner.run = lambda self, *args, **kwargs: importing.check()
    try:
        with importing():
            yield
    finally:
        JITFunction.run, Autotuner.run = before


def place_of(error, path):
    """The last place in `path` that an exception came through."""
    places = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return f"{path}:{places[-1]}" if places else path


def is_kernel(value):
    return type(jit_function(value)).__name__ == "JITFunction"


def ended_early(module):
    place = getattr(module, "import_ended_at", None)
    return f" (its import ended at {place})" if place else ""


def find_kernel(module, question):
    name = question["function"]
    kernel = getattr(module, name, None)
    if kernel is not None and is_kernel(kernel):
        return kernel
    known = sorted(k for k, v in vars(module).items() if is_kernel(v))
    raise SwizzlePerfError(
        f"{question['spec']}:{question['function_line']}: {question['shown']} has no @triton.jit function "
        f"'{name}'; it has: {', '.join(known) or 'none'}{ended_early(module)}"
    )


def value_of(constexpr, triton):
    if isinstance(constexpr, dict):
        return constexpr["text"] if "text" in constexpr else getattr(triton.language, LANGUAGE_NAME[constexpr["dtype"]])
    return constexpr


def bind(kernel, question, triton):
    """The arguments by name, checked against the kernel's parameters."""
    function = jit_function(kernel)
    spec = question["spec"]
    known = function.arg_names
    constexpr_names = {p.name for p in function.params if p.is_constexpr}
    bound = {}
    for name, argument in question["arguments"].items():
        if name not in known:
            raise SwizzlePerfError(f"{spec}:{argument['line']}: {question['function']} has no parameter '{name}'; "
                                   f"it has: {', '.join(known)}")
        if name in constexpr_names:
            raise SwizzlePerfError(f"{spec}:{argument['line']}: parameter '{name}' is a tl.constexpr: "
                                   f"give it under [constexprs]")
        bound[name] = Array(argument["dtype"], argument["shape"]) if "shape" in argument else argument["value"]
    for name, constexpr in question["constexprs"].items():
        if name not in known:
            raise SwizzlePerfError(f"{spec}:{constexpr['line']}: {question['function']} has no parameter '{name}'; "
                                   f"it has: {', '.join(known)}")
        bound[name] = value_of(constexpr["value"], triton)
    return bound


def check_complete(kernel, bound, question):
    given = set(bound)
    layer = kernel
    while layer is not jit_function(kernel):
        given |= set(getattr(layer, "values", {}))  # @heuristics
        for config in getattr(layer, "configs", []):
            given |= set(config.kwargs)
        layer = layer.fn
    for parameter in jit_function(kernel).params:
        if parameter.name in given or parameter.has_default:
            continue
        where = "constexprs" if parameter.is_constexpr else "arguments"
        raise SwizzlePerfError(f"{question['spec']}: parameter '{parameter.name}' of {question['function']} is missing: "
                               f"give it under {where}")


def sentence_of(error, kernel, path):
    """What Triton's compiler says, with file and line. A fault in a function that the kernel calls
    comes wrapped in one at the call: the innermost that lies in the file has the line, the innermost
    of all the reason."""
    from triton.compiler.errors import CompilationError

    with open(path) as file:
        text = file.read()
    line, inner = None, error
    while inner is not None:
        if isinstance(inner, CompilationError):
            line = line_of_source(text, inner) or line
            error = inner
        inner = inner.__cause__
    reason = error.error_message or repr(error.__cause__)
    line = line or jit_function(kernel).def_file_line_number
    return f"{path}:{line}: {' '.join(reason.split())} (Triton, compiling {jit_function(kernel).__name__})"


def line_of_source(text, error):
    """Triton counts lines from the function's `def`; that is found in the file. None: it lies elsewhere."""
    at = text.find(error.src) if error.src else -1
    return text.count("\n", 0, at) + getattr(error.node, "lineno", 1) if at >= 0 else None


def name_arguments(ir, function, names):
    """Triton leaves a kernel's parameters unnamed (%0, %1, ...); with their names, arrays are called
    in traces as they are in the source. LLVM lets numbers be skipped; the entry block, whose number
    followed theirs, must then say it."""
    begin = re.search(rf"^define [^\n]*@{re.escape(function)}\(", ir, re.M).start()
    end = ir.index("\n}\n", begin)
    body = re.sub(r"%(\d+)\b", lambda m: f"%{names[int(m[1])]}" if int(m[1]) < len(names) else m[0], ir[begin:end])
    first, rest = body.split("\n", 1)
    return f"{ir[:begin]}{first}\n{len(names)}:\n{rest}{ir[end:]}"


def compile_question(question):
    triton = use_target(question["arch"])
    path = question["kernel"]
    module = load_module(path, question["beside"])
    kernel = find_kernel(module, question)
    bound = bind(kernel, question, triton)
    check_complete(kernel, bound, question)
    if all(p.name in bound for p in jit_function(kernel).params if p.is_constexpr):
        kernel = jit_function(kernel)  # nothing is left to tune or to guess
    note = choose_config(kernel, question["config"])
    compiled = compiled_kernel(kernel, bound, question["options"], path)
    answer = describe(compiled)
    with open(question["ir_file"], "w") as out:
        out.write(answer.pop("ir"))
    answer["notes"] = [note] if note else []
    return answer


def compiled_kernel(kernel, bound, options, path):
    from triton.compiler.errors import CompilationError

    try:
        return compile_for_target(kernel, bound, options)
    except CompilationError as error:
        raise SwizzlePerfError(sentence_of(error, kernel, path)) from None
    except Exception as error:
        name = jit_function(kernel).__name__
        raise SwizzlePerfError(f"{path}: Triton cannot compile {name}: {type(error).__name__}: {error}") from None


def describe(compiled):
    """What a launch needs to know of a compiled kernel, and its IR."""
    metadata = compiled.metadata
    signature = compiled.src.signature
    parameters = []
    for name, kind in signature.items():
        if kind == "constexpr":
            continue
        if not isinstance(kind, str) or kind.startswith("tensordesc"):
            raise SwizzlePerfError(f"parameter '{name}' of {metadata.name} is a {kind}: tuples and tensor descriptors "
                                   "cannot be given in a launch spec; pass pointers and numbers")
        parameters.append({"name": name, "type": kind})
    if metadata.global_scratch_size or metadata.profile_scratch_size:
        raise SwizzlePerfError(f"{metadata.name} needs scratch memory in global memory, which is not supported")
    parameters += [{"name": "global_scratch", "type": "none"}, {"name": "profile_scratch", "type": "none"}]
    names = list(signature)
    constants = {names[path[0]]: value for path, value in compiled.src.constants.items()
                 if len(path) == 1 and isinstance(value, int)}
    return {
        "function": metadata.name,
        "ir": name_arguments(compiled.asm["llir"], metadata.name, [p["name"] for p in parameters]),
        "threads": metadata.num_warps * metadata.warp_size,
        "shared_bytes": metadata.shared,
        "parameters": parameters,
        "constants": {k: int(v) for k, v in constants.items()},
    }
