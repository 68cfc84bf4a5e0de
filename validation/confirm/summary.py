#!/usr/bin/env python3
"""What the measurements in data/ say, as the tables of docs/measure.md.

    validation/confirm/summary.py

For each launch: the program as it is, what was taken, and whether the model's top five hold the
fastest order known: of those five and of the orders that validation/h200 measured of the same launch
(both as ratios to the launch's own order, which both measured). Standard library only.
"""
import csv
import json
import pathlib
import statistics
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
H200 = HERE.parent / "h200"
WITHIN = 0.01  # of the fastest counts as the fastest


def other_ratios() -> dict[tuple, float]:
    """(program, arguments) -> the best ratio to the identity among the orders of validation/h200."""
    plan = tomllib.loads((H200 / "launches.toml").read_text())
    times: dict[tuple, list[float]] = {}
    with (H200 / "data" / "times.csv").open() as file:
        for row in csv.DictReader(file):
            times.setdefault((row["launch"], row["swizzle"], row["round"]), []).append(float(row["ms"]))
    median: dict[tuple, list[float]] = {}
    for (launch, swizzle, _), parts in times.items():
        median.setdefault((launch, swizzle), []).append(sum(parts))
    of_launch = {l["name"]: (pathlib.Path(l["program"]).stem, tuple(l["arguments"]))
                 for l in plan["launches"] if len(l.get("kernels", [])) < 2}
    best: dict[tuple, float] = {}
    for (launch, swizzle), values in median.items():
        if launch in of_launch and (launch, "identity") in median:
            ratio = statistics.median(median[launch, "identity"]) / statistics.median(values)
            key = of_launch[launch]
            best[key] = max(best.get(key, 0), ratio)
    return best


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def gigabytes(value: float | None) -> str:
    return "-" if value is None else f"{value / 1e9:.2f}"


def counters(row: dict) -> tuple:
    c = row["counters"]
    if c["missing"] is not None:
        return None, None
    return c["l2"]["hit_rate"], c["hbm"]["read_bytes"]


def main() -> None:
    plan = tomllib.loads((HERE / "plan.toml").read_text())
    others = other_ratios()
    print("| launch | ms as it is | best order | ms | gain (interval) | L2 hit % | DRAM read GB | "
          "fastest known | in the top five |")
    print("|---|---|---|---|---|---|---|---|---|")
    held: dict[str, bool] = {}
    for launch in plan["launches"]:
        file = HERE / "data" / f"{launch['name']}.json"
        if not file.exists():
            continue
        r = json.loads(file.read_text())
        own = r["original"]
        timed = [c for c in r["candidates"] if c["status"] == "measured"]
        taken = next((c for c in timed if c["number"] == r["best"]), None)
        reached = max([1.0] + [c["speedup"]["median"] for c in timed])
        known = max(reached, others.get((launch["program"], tuple(launch["arguments"])), 1.0))
        is_held = reached >= known * (1 - WITHIN)
        held[launch["program"]] = held.get(launch["program"], True) and is_held
        hits, read = counters(own)
        if taken:
            s = taken["speedup"]
            hits2, read2 = counters(taken)
            what = [taken["swizzle"], f"{taken['time_ms']['median']:.3f}",
                    f"{s['median']:.3f} ({s['low']:.3f} to {s['high']:.3f})",
                    f"{percent(hits)} -> {percent(hits2)}", f"{gigabytes(read)} -> {gigabytes(read2)}"]
        else:
            what = ["as it is", "", "", percent(hits), gigabytes(read)]
        print(f"| {launch['name']} | {own['time_ms']['median']:.3f} | " + " | ".join(what) +
              f" | {known:.3f} | {'yes' if is_held else 'no'} |")
    print(f"\nThe top five hold the fastest order known, or one within {100 * WITHIN:.0f} % of it, for "
          f"{sum(held.values())} of {len(held)} kernels.")


if __name__ == "__main__":
    main()
