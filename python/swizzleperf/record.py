"""`python3 -m swizzleperf.record [-o FOLDER] [--run] SCRIPT.py [ARGUMENTS]`: runs a script that launches
Triton kernels itself, without a GPU, and writes each launch as a launch spec.

The script's arrays must be CPU tensors (or numpy arrays): where it asks Triton for the active device,
the answer is "cpu". A launch computes nothing, so what the script does with results is meaningless,
unless --run is given: then each launch runs on the virtual GPU and writes its results. Of kernels
under @triton.autotune the first configuration is taken, since nothing can be timed."""

import argparse
import os
import runpy
import sys

from .errors import SwizzlePerfError
from .spec import Launch
from .target import choose_config, use_target

MOST_LAUNCHES = 1000  # of one script; a training loop makes any number


class Recorder:
    def __init__(self, folder, run):
        self.folder = folder
        self.runs = run
        self.written = {}  # launch, in words -> spec
        self.count = 0

    def launch(self, kernel, args, grid, kwargs):
        """Called in place of a real launch."""
        kwargs = {k: v for k, v in kwargs.items() if k not in ("warmup", "stream")}
        launch = Launch(kernel, grid, args, kwargs)
        self.count += 1
        if self.count > MOST_LAUNCHES:
            raise SwizzlePerfError(f"the script makes more than {MOST_LAUNCHES} launches: give it a smaller problem")
        words = describe(launch)
        if words not in self.written:
            name = f"{launch.function}-{sum(w.startswith(launch.function + ' ') for w in self.written)}.toml"
            file = os.path.join(self.folder, name)
            launch.write(file, keep_all=False)
            self.written[words] = file
            print(f"swizzleperf: {file}: {words}", file=sys.stderr)
        if self.runs:
            from .api import run

            run(kernel, tuple(launch.grid), *args, **kwargs)


def describe(launch):
    """Launches that are described alike are one spec."""
    parts = [f"{n}={launch.arrays[n].dtype}{list(launch.arrays[n].shape)}" if n in launch.arrays else f"{n}={v}"
             for n, v in launch.values.items()]
    return f"{launch.function} grid {launch.grid}, {', '.join(parts)}"


def intercept(recorder):
    """Puts the recorder where Triton's launches pass through."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    def run(self, *args, grid, warmup=False, **kwargs):
        if not warmup:
            recorder.launch(self, args, grid, kwargs)

    tuned_run = Autotuner.run

    def run_tuned(self, *args, **kwargs):
        note = choose_config(self, 0) if len(self.configs) > 1 else None
        if note:
            print(f"swizzleperf: {note}", file=sys.stderr)
        return tuned_run(self, *args, **kwargs)

    JITFunction.run = run
    Autotuner.run = run_tuned


def main():
    parser = argparse.ArgumentParser(prog="python3 -m swizzleperf.record", description=__doc__.split("\n\n")[1])
    parser.add_argument("-o", "--output", default="swizzleperf-specs", help="folder for the specs (%(default)s)")
    parser.add_argument("--run", action="store_true", help="run each launch on the virtual GPU")
    parser.add_argument("--arch", default="gfx942", help="architecture that Triton sees (%(default)s)")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    try:
        if not os.path.isfile(options.script):
            raise SwizzlePerfError(f"{options.script}: no such file")
        use_target(options.arch)
        os.makedirs(options.output, exist_ok=True)
        recorder = Recorder(options.output, options.run)
        intercept(recorder)
        sys.argv = [options.script, *options.arguments]
        sys.path.insert(0, os.path.dirname(os.path.abspath(options.script)))
        runpy.run_path(options.script, run_name="__main__")
        if recorder.count == 0:
            raise SwizzlePerfError(f"{options.script} launched no Triton kernel")
    except SwizzlePerfError as error:
        print(f"swizzleperf: {error}", file=sys.stderr)
        return 3
    print(f"swizzleperf: {recorder.count} launches, {len(recorder.written)} specs in {options.output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
