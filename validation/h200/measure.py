#!/usr/bin/env python3
"""Builds the suite with all orders in one program each, and measures them on the GPU of this machine.

    validation/h200/measure.py SWIZZLES_DIR OUT_DIR [NAME ...]

SWIZZLES_DIR holds generate.py's swizzles.cuh. For each launch of launches.toml (or those whose name
begins with one of NAME): wrong results stop it (--check at a small size, on the device); then event
timings, every order in turn, 15 rounds; then one launch an order under Nsight Compute, caches flushed
before each (its default), clocks left alone. OUT_DIR receives times.csv (every repetition) and
counters.csv (one row a launch and order), and log.txt. Needs nvcc and ncu; nothing of SwizzlePerf.
"""
import concurrent.futures
import csv
import io
import os
import pathlib
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent.parent / "kernels"  # for includes
ROUNDS = 15
METRICS = """
gpu__time_duration.sum
dram__bytes_read.sum
dram__bytes_write.sum
lts__t_sectors_op_read.sum
lts__t_sectors_op_read_lookup_hit.sum
lts__t_sectors_op_write.sum
lts__t_sectors_srcunit_tex.sum
lts__t_sectors_srcunit_tex_lookup_hit.sum
lts__t_sectors_srcunit_tex_op_read.sum
lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum
lts__t_requests_srcunit_tex.sum
lts__t_sectors_srcunit_ltcfabric.sum
lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
l1tex__m_xbar2l1tex_read_sectors.sum
launch__registers_per_thread
launch__grid_size
launch__block_size
launch__occupancy_limit_blocks
launch__occupancy_limit_registers
launch__occupancy_limit_shared_mem
launch__occupancy_limit_warps
sm__warps_active.avg.pct_of_peak_sustained_active
sm__throughput.avg.pct_of_peak_sustained_elapsed
lts__throughput.avg.pct_of_peak_sustained_elapsed
dram__throughput.avg.pct_of_peak_sustained_elapsed
""".split()


def build(program: pathlib.Path, swizzles: pathlib.Path, out: pathlib.Path, orders: bool) -> pathlib.Path:
    binary = out / (program.stem + ("_orders" if orders else ""))
    command = ["nvcc", "-O3", "-std=c++20", "-arch=sm_90", "-x", "cu", f"-I{KERNELS}"]
    if orders:
        command += ["-include", str(HERE / "variants.cuh"), f"-I{swizzles}"]
    command += [str(program), "-o", str(binary)]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return binary


def run(command: list[str], **environment: str) -> str:
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )
    if result.returncode:
        raise RuntimeError(f"{' '.join(command)}: {result.stdout[-800:]}{result.stderr[-800:]}")
    return result.stdout


def times(binary: pathlib.Path, launch: dict, swizzles: list[str]) -> list[list]:
    text = run([str(binary), *launch["arguments"], "--time", str(ROUNDS)])
    rows = []
    for line in text.splitlines():
        if line.startswith("variant,"):
            _, *what, variant, repetition, milliseconds = line.split(",")
            rows.append([launch["name"], ",".join(what), swizzles[int(variant)], repetition, milliseconds])
    return rows


def counters(binary: pathlib.Path, launch: dict, swizzles: list[str]) -> tuple[list, list[list]]:
    text = run(
        ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
         "--metrics", ",".join(METRICS), "-k", "regex:" + "|".join(launch.get("kernels", ["."])),
         str(binary), *launch["arguments"], "--time", "1"],
        SUITE_PROFILE="1",
    )
    table = "\n".join(line for line in text.splitlines() if line.startswith('"'))
    rows = list(csv.DictReader(io.StringIO(table)))
    rows = [r for r in rows if r["ID"]]  # the row of units has none
    # The program's own launches come first. Then, for each order, one launch that fills the table
    # and one that counts; a launch may be several kernels.
    each = len(launch.get("kernels", ["."]))
    rows = rows[-2 * each * len(swizzles):]
    rows = [row for i, row in enumerate(rows) if i // each % 2 == 1]
    columns = [m for m in METRICS if rows and m in rows[0]]
    out = []
    for i, row in enumerate(rows):
        values = [row[m].replace(",", "") for m in columns]
        out.append([launch["name"], row["Kernel Name"], swizzles[i // each], *values])
    return columns, out


def main() -> None:
    swizzle_dir, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    wanted = sys.argv[3:]
    out.mkdir(parents=True, exist_ok=True)
    plan = tomllib.loads((HERE / "launches.toml").read_text())
    swizzles = [order["name"] for order in plan["orders"]]
    launches = [
        l for l in plan["launches"] if not wanted or any(l["name"].startswith(w) for w in wanted)
    ]
    log = (out / "log.txt").open("w")

    def say(text: str) -> None:
        print(text, flush=True)
        print(text, file=log, flush=True)

    say(run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.mem", "--format=csv"]))
    binaries = pathlib.Path("/tmp/h200-build")
    binaries.mkdir(exist_ok=True)
    programs = sorted({HERE / l["program"] for l in launches})
    built = {}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        jobs = {
            (p, orders): pool.submit(build, p, swizzle_dir, binaries, orders)
            for p in programs
            for orders in (False, True)
        }
        for key, job in jobs.items():
            try:
                built[key] = job.result()
            except subprocess.CalledProcessError as error:
                say(f"{key}: {error.stderr[-1500:]}")
    with (out / "times.csv").open("w") as t, (out / "counters.csv").open("w") as c:
        t_csv, c_csv = csv.writer(t), csv.writer(c)
        t_csv.writerow(["launch", "what", "swizzle", "round", "ms"])
        header = False
        for launch in launches:
            start = time.time()
            program = HERE / launch["program"]
            plain, orders = built.get((program, False)), built.get((program, True))
            if plain is None or orders is None:
                continue
            try:
                checked = run([str(plain), *launch.get("check", []), "--check"])
                t_csv.writerows(times(orders, launch, swizzles))
                t.flush()
                timed = time.time()
                columns, rows = counters(orders, launch, swizzles)
                if not header:
                    c_csv.writerow(["launch", "kernel", "swizzle", *columns])
                    header = True
                c_csv.writerows(rows)
                c.flush()
                say(f"{launch['name']}: {timed - start:.0f} + {time.time() - timed:.0f} s, "
                    f"{len(rows)} profiled; {checked.strip().splitlines()[-1]}")
            except (RuntimeError, subprocess.TimeoutExpired, KeyError, IndexError) as error:
                say(f"{launch['name']}: FAILED: {error}")


main()
