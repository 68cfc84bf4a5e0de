"""The Python interface: a kernel as one would launch it, and what to find out about it.

Each function writes the launch as a spec into a scratch folder and asks the swizzleperf executable:
there is one way from a launch to an answer, whether it begins in Python or on the command line."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from .arrays import Memory, Tensor
from .errors import SwizzlePerfError, importing
from .spec import Launch

__all__ = ["Tensor", "optimize", "run", "run_spec", "simulate", "write_spec"]


def optimize(kernel, grid, *args, machine="mi300x", objective="time", run_dir=None, config=0, in_place=False,
             swizzleperf_options=(), **kwargs):
    """Finds, proves and patches in the best swizzle of kernel[grid](*args, **kwargs).

    Arguments are numpy arrays, torch CPU tensors or descriptions (Tensor); nothing is written to them.
    Returns the content of result.json, with `run_dir` (where best.patch lies) added. `in_place` writes
    the patch into the kernel's file."""
    run_dir = os.path.abspath(run_dir or fresh_directory(Launch(kernel, grid, args, kwargs, config).function))
    with tempfile.TemporaryDirectory(prefix="swizzleperf-") as scratch:
        spec = write_spec(os.path.join(scratch, "launch.toml"), kernel, grid, *args, config=config, **kwargs)
        options = ["--machine", machine, "--objective", objective, "--run-dir", run_dir, *swizzleperf_options]
        result = ask("optimize", spec, options + (["--in-place"] if in_place else []))
    result["run_dir"] = run_dir
    return result


def simulate(kernel, grid, *args, swizzles=(), machine="mi300x", config=0, swizzleperf_options=(), **kwargs):
    """Cache hits, bytes and time under given swizzles; the identity is the first result."""
    with tempfile.TemporaryDirectory(prefix="swizzleperf-") as scratch:
        spec = write_spec(os.path.join(scratch, "launch.toml"), kernel, grid, *args, config=config, **kwargs)
        options = ["--machine", machine, *swizzleperf_options]
        for swizzle in swizzles:
            options += ["-s", swizzle]
        return ask("simulate", spec, options)


def run(kernel, grid, *args, machine="mi300x", config=0, **kwargs):
    """Runs kernel[grid](*args, **kwargs) on the virtual GPU, arithmetic and all. Arrays and CPU tensors
    are written back, as a GPU would have written them."""
    launch = Launch(kernel, grid, args, kwargs, config)
    with tempfile.TemporaryDirectory(prefix="swizzleperf-") as scratch:
        spec = os.path.join(scratch, "launch.toml")
        launch.write(spec)
        run_to_end(spec, scratch, machine, [])
        for name, array in launch.arrays.items():
            if isinstance(array, Memory):
                array.write(contents(scratch, name, "after"))


def run_spec(file, machine="mi300x", **settings):
    """Runs a launch spec on the virtual GPU; `settings` replace values and constexprs of it. Returns
    two dicts of numpy arrays by name: what was in them before and after the launch."""
    import numpy

    with tempfile.TemporaryDirectory(prefix="swizzleperf-") as scratch:
        run_to_end(file, scratch, machine, [f"{name}={json.dumps(value)}" for name, value in settings.items()])
        with open(os.path.join(scratch, "launch.json")) as text:
            arguments = [a for a in json.load(text)["arguments"] if "shape" in a]

        def arrays(when):
            # numpy has no bfloat16 and no fp8: their bits.
            kinds = {a["name"]: a["dtype"] if hasattr(numpy, a["dtype"]) else
                     "uint16" if a["dtype"] == "bfloat16" else "uint8" for a in arguments}
            return {a["name"]: numpy.frombuffer(contents(scratch, a["name"], when), kinds[a["name"]])
                    .reshape(a["shape"]).copy() for a in arguments}

        return arrays("before"), arrays("after")


def run_to_end(spec, folder, machine, settings):
    ended = ask("trace", spec, ["--run-to-end", "--save", folder, "--machine", machine, "--", *settings])
    if ended["exit_status"] != 0:
        raise SwizzlePerfError(ended["stderr"].strip() or f"the launch ended with {ended['exit_status']}")


def contents(folder, name, when):
    with open(os.path.join(folder, f"{name}.{when}"), "rb") as file:
        return file.read()


def write_spec(file, kernel, grid, *args, config=0, **kwargs):
    """Writes kernel[grid](*args, **kwargs) as a launch spec, its arrays beside it; returns the file's name."""
    Launch(kernel, grid, args, kwargs, config).write(file)
    return file


def fresh_directory(name):
    base = os.path.join("swizzleperf-runs", name)
    directory, count = base, 1
    while os.path.exists(directory):
        count += 1
        directory = f"{base}-{count}"
    return directory


def executable():
    """$SWIZZLEPERF, else the checkout's build, else PATH."""
    named = os.environ.get("SWIZZLEPERF")
    if named:
        return named
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "swizzleperf")
    if os.path.exists(built):
        return os.path.normpath(built)
    found = shutil.which("swizzleperf")
    if found:
        return found
    raise SwizzlePerfError("the executable swizzleperf is not on PATH: build it (./demo), or name it in SWIZZLEPERF")


def ask(verb, spec, options):
    """Runs the executable; its error is ours. Exit code 1 is an answer too: a check that failed."""
    importing.check()  # else a script that calls us at its top level would start itself again and again
    environment = {**os.environ, "SWIZZLEPERF_PYTHON": sys.executable}
    done = subprocess.run([executable(), verb, spec, "--format", "json", "-q", *options], env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SwizzlePerfError(done.stderr.strip().removeprefix("swizzleperf: "))
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise SwizzlePerfError(done.stderr.strip() or f"swizzleperf {verb} gave no answer") from None
