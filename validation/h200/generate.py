#!/usr/bin/env python3
"""Prints the orders of launches.toml as CUDA, for variants.cuh.

    validation/h200/generate.py build/swizzleperf build/h200
"""
import json
import pathlib
import re
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).parent


def printed(swizzleperf: str, order: dict) -> str:
    """The code of an order, as a user would paste it."""
    swizzle = order.get("swizzle", order["name"])
    command = [swizzleperf, "verify", swizzle, "--print", "cuda", "--format", "json"]
    if "dies" in order:
        command += ["--xcds", str(order["dies"])]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: {result.stderr}")
    return json.loads(result.stdout)["code"]


def main() -> None:
    swizzleperf, out = sys.argv[1], pathlib.Path(sys.argv[2])
    orders = tomllib.loads((HERE / "launches.toml").read_text())["orders"]
    text = [f"constexpr int kSuiteVariants = {len(orders)};"]
    cases = []
    for number, order in enumerate(orders):
        if order["name"] == "identity":
            continue
        text.append(f"namespace variant_{number} {{\n{printed(swizzleperf, order)}\n}}")
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
