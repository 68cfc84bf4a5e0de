#!/usr/bin/env python3
"""Plans: two bundles for each launch of plan.toml, with the model's best orders (NAME) and with those
that everybody knows (NAME.known; not where the plan says known = false).

    validation/confirm/bundle.py SWIZZLEPERF OUT_DIR [NAME ...]

SWIZZLEPERF is the built program; no GPU is needed. A bundle that is already there is kept; what
fails is said and the others go on.
"""
import pathlib
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent.parent / "kernels"


def commands(swizzleperf: pathlib.Path, out: pathlib.Path, plan: dict, launch: dict) -> dict[str, list[str]]:
    """Name of a bundle -> what makes it."""
    own = launch.get("source")
    program = launch["program"]
    source = HERE / own if own else KERNELS / program / f"{program}.hip"
    name = launch["name"]
    options = ["-m", plan["machine"], "-q", *plan["options"]]
    if "launch" in launch:
        options += ["--launch", str(launch["launch"])]
    arguments = ["--", *launch["arguments"]]
    made = {name: [str(swizzleperf), "optimize", str(source), *options, "--top", str(plan["top"]),
                   "--bundle", str(out / name), "--run-dir", str(out / "runs" / name), *arguments]}
    if launch.get("known", True):
        known = [part for spec in plan["known"] for part in ("-s", spec)]
        made[name + ".known"] = [str(swizzleperf), "measure", str(source), *options, *known,
                                 "--bundle", str(out / f"{name}.known"), *arguments]
    return made


def main() -> None:
    swizzleperf, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    wanted = sys.argv[3:]
    out.mkdir(parents=True, exist_ok=True)
    plan = tomllib.loads((HERE / "plan.toml").read_text())
    failed = 0
    for launch in plan["launches"]:
        for name, command in commands(swizzleperf, out, plan, launch).items():
            if (wanted and name not in wanted) or (out / name / "bundle.json").exists():
                continue
            start = time.time()
            subprocess.run(command, stdout=subprocess.DEVNULL)  # measure: 3, there is no GPU here
            made = (out / name / "bundle.json").exists()
            failed += not made
            print(f"{name}: {time.time() - start:.0f} s{'' if made else ', FAILED'}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
