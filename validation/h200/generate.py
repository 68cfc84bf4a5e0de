#!/usr/bin/env python3
"""Prints the swizzles of launches.json as CUDA, for variants.cuh.

    validation/h200/generate.py build/swizzleperf build/h200
"""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def printed(swizzleperf: str, spec: str) -> str:
    """The code of NAME:options@DIES, as a user would paste it."""
    name, _, dies = spec.partition("@")
    command = [swizzleperf, "verify", name, "--print", "cuda", "--format", "json"]
    if dies:
        command += ["--xcds", dies]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: {result.stderr}")
    return json.loads(result.stdout)["code"]


def main() -> None:
    swizzleperf, out = sys.argv[1], pathlib.Path(sys.argv[2])
    specs = json.loads((HERE / "launches.json").read_text())["swizzles"]
    text = [f"constexpr int kSuiteVariants = {len(specs)};"]
    cases = []
    for number, spec in enumerate(specs):
        if spec == "identity":
            continue
        text.append(f"namespace variant_{number} {{\n{printed(swizzleperf, spec)}\n}}")
        cases.append(
            f"    case {number}: {{\n"
            f"      const auto at = variant_{number}::swizzleperf_block("
            "blockIdx.x, blockIdx.y, blockIdx.z, gridDim.x, gridDim.y, gridDim.z);\n"
            "      return {at.x, at.y, at.z};\n    }"
        )
    text.append(
        "static __device__ __forceinline__ SuiteBlockIndex suite_formula() {\n"
        "  switch (suite_variant) {\n" + "\n".join(cases) + "\n  }\n"
        "  return {blockIdx.x, blockIdx.y, blockIdx.z};\n}\n"
    )
    out.mkdir(parents=True, exist_ok=True)
    (out / "swizzles.cuh").write_text("\n".join(text))


main()
