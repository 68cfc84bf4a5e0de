#!/usr/bin/env python3
"""Measures bundles on the GPU of this machine.

    validation/confirm/measure.py SWIZZLEPERF BUNDLES_DIR OUT_DIR [OPTION ...] [-- NAME ...]

SWIZZLEPERF may be the small build (docs/measure.md); options go to `swizzleperf measure`. Of orders
that everybody knows (NAME.known) only the time is measured. OUT_DIR
receives NAME.json and NAME.csv (every round) for each bundle, and log.txt. What fails is said and
the others go on.
"""
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def main() -> None:
    swizzleperf, bundles, out = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    options = sys.argv[4:]
    names = []
    if "--" in options:
        at = options.index("--")
        options, names = options[:at], options[at + 1:]
    out.mkdir(parents=True, exist_ok=True)
    failed = 0
    with (out / "log.txt").open("w") as log:
        for bundle in sorted(p.parent for p in bundles.glob("*/bundle.json")):
            if names and bundle.name not in names:
                continue
            start = time.time()
            brief = ["--no-counters", "--energy", "0", "--timing", "3"] if bundle.suffix == ".known" else []
            run = subprocess.run([str(swizzleperf), "measure", str(bundle), "-q", *brief, *options],
                                 capture_output=True, text=True)
            text = f"== {bundle.name}, {time.time() - start:.1f} s, exit {run.returncode}\n"
            text += run.stdout + run.stderr
            print(text, flush=True)
            print(text, file=log, flush=True)
            if run.returncode != 0:
                failed += 1
            if (bundle / "results" / "result.json").exists():
                shutil.copy(bundle / "results" / "result.json", out / f"{bundle.name}.json")
                shutil.copy(bundle / "results" / "rounds.csv", out / f"{bundle.name}.csv")
    print(f"{failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
