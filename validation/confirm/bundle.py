#!/usr/bin/env python3
"""Plans: a bundle for each launch of plan.toml, with the model's best orders in it.

    validation/confirm/bundle.py SWIZZLEPERF OUT_DIR [NAME ...]

SWIZZLEPERF is the built program; no GPU is needed. A bundle that is already there is kept; what
fails is said and the others go on.
"""
import pathlib
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent.parent / "kernels"


def main() -> None:
    swizzleperf, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    wanted = sys.argv[3:]
    out.mkdir(parents=True, exist_ok=True)
    plan = tomllib.loads((HERE / "plan.toml").read_text())
    failed = 0
    for launch in plan["launches"]:
        bundle = out / launch["name"]
        if (wanted and launch["name"] not in wanted) or (bundle / "bundle.json").exists():
            continue
        program = launch["program"]
        own = launch.get("source")
        source = HERE / own if own else KERNELS / program / f"{program}.hip"
        command = [str(swizzleperf), "optimize", str(source),
                   "-m", plan["machine"], "--top", str(plan["top"]), "--bundle", str(bundle),
                   "--run-dir", str(out / "runs" / launch["name"]), "-q", *plan["options"]]
        if "launch" in launch:
            command += ["--launch", str(launch["launch"])]
        print(launch["name"], flush=True)
        run = subprocess.run(command + ["--", *launch["arguments"]], stdout=subprocess.DEVNULL)
        failed += run.returncode != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
