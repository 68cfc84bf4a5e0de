#!/usr/bin/env python3
"""What the measurements in data/ say, as the tables of docs/measure.md.

    validation/confirm/summary.py

For each launch: the program as it is, what was taken of the model's five orders, and whether those
hold the fastest of all that were measured: the five, the ten that everybody knows (plan.toml) and
the launch as it is. Ratios are to the launch as it is, of the same run. Standard library only.
"""
import json
import pathlib
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
WITHIN = 0.01  # of the fastest counts as the fastest


def results(name: str) -> dict | None:
    file = HERE / "data" / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else None


def timed(r: dict | None) -> list[dict]:
    return [c for c in r["candidates"] if c["status"] == "measured"] if r else []


def best_ratio(r: dict | None) -> float:
    """To the launch as it is, which is one of the orders."""
    return max([1.0] + [c["speedup"]["median"] for c in timed(r)])


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def gigabytes(value: float | None) -> str:
    return "-" if value is None else f"{value / 1e9:.2f}"


def counters(row: dict) -> tuple:
    c = row["counters"]
    if c["missing"] is not None:
        return None, None
    return c["l2"]["hit_rate"], c["hbm"]["read_bytes"]


def joules(row: dict) -> str:
    return "-" if row["joules"] is None else f"{row['joules']:.2f}"


def main() -> None:
    plan = tomllib.loads((HERE / "plan.toml").read_text())
    print("| launch | ms as it is | best of the five | ms | gain (interval) | L2 hit % | DRAM read GB | J | "
          "fastest of all | in the five |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    held: dict[str, bool] = {}
    for launch in plan["launches"]:
        r, known = results(launch["name"]), results(launch["name"] + ".known")
        if not r or (not known and launch.get("known", True)):
            continue
        own = r["original"]
        taken = next((c for c in timed(r) if c["number"] == r["best"]), None)
        fastest = max(best_ratio(r), best_ratio(known))
        is_held = best_ratio(r) >= fastest * (1 - WITHIN)
        if known:
            held[launch["program"]] = held.get(launch["program"], True) and is_held
        hits, read = counters(own)
        if taken:
            s = taken["speedup"]
            hits2, read2 = counters(taken)
            what = [f"`{taken['swizzle']}`", f"{taken['time_ms']['median']:.3f}",
                    f"{s['median']:.3f} ({s['low']:.3f} to {s['high']:.3f})",
                    f"{percent(hits)} -> {percent(hits2)}", f"{gigabytes(read)} -> {gigabytes(read2)}",
                    f"{joules(own)} -> {joules(taken)}"]
        else:
            what = ["as it is", "", "", percent(hits), gigabytes(read), joules(own)]
        where = max(timed(known), key=lambda c: c["speedup"]["median"], default=None)
        of_all = f"{fastest:.3f}" if known else "-"
        verdict = "-" if not known else "yes" if is_held else "no"
        name = f" by `{where['swizzle']}`" if where and not is_held else ""
        print(f"| {launch['name']} | {own['time_ms']['median']:.3f} | " + " | ".join(what) +
              f" | {of_all}{name} | {verdict} |")
    print(f"\nThe model's five hold the fastest of all orders measured, or one within {100 * WITHIN:.0f} % "
          f"of it, for {sum(held.values())} of {len(held)} kernels.")


if __name__ == "__main__":
    main()
