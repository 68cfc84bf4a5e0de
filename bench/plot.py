#!/usr/bin/env python3
"""What an exact replay costs, as a picture: docs/replay-cost.svg from docs/replay-cost.csv.

    ninja -C build cachesim_bench && bench/plot.py --measure    measures first (a minute)
    bench/plot.py                                               draws what was measured

The left half is CPU time against requests, the right half CPU time a request against the number of
dies that one machine is cut into. No plotting library is needed: the picture is a few lines of SVG.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
WIDTH, HEIGHT = 380, 300  # of one half
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 44, 48


def measure(build: pathlib.Path, table: pathlib.Path) -> None:
    command = [build / "cachesim_bench", "--benchmark_filter=^cost_of_", "--benchmark_format=csv",
               "--benchmark_repetitions=5", "--benchmark_enable_random_interleaving=true"]
    text = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout
    best = {}  # of five, since other work on the machine only ever adds
    for row in csv.DictReader(text[text.index("name,"):].splitlines()):
        name = row["name"]
        if name.endswith(("_mean", "_median", "_stddev", "_cv")):
            continue
        if name not in best or float(row["cpu_time"]) < float(best[name]["cpu_time"]):
            best[name] = row
    with table.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["benchmark", "requests", "dies", "l2_hit", "cpu_ms"])
        for name, row in sorted(best.items(), key=lambda item: (item[0].split("/")[0], float(item[1]["requests"]), float(item[1]["dies"]))):
            out.writerow([name.split("/")[0], int(float(row["requests"])), int(float(row["dies"])),
                          f"{float(row['l2_hit']):.4f}", f"{float(row['cpu_time']):.3f}"])


def text(x: float, y: float, words: str, anchor: str = "middle", size: int = 11) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


class Axes:
    """One half of the picture; x is logarithmic, y is when asked."""

    def __init__(self, origin: float, x_range: tuple, y_range: tuple, log_y: bool):
        self.origin, self.log_y = origin, log_y
        self.x_range = [math.log2(x) for x in x_range]
        self.y_range = [math.log2(y) for y in y_range] if log_y else y_range

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.origin + LEFT + (math.log2(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        low, high = self.y_range
        at = (math.log2(value) if self.log_y else value) - low
        return HEIGHT - BOTTOM - at / (high - low) * (HEIGHT - TOP - BOTTOM)

    def frame(self, title: str, x_title: str, y_title: str, x_ticks: list, y_ticks: list) -> list:
        left, right = self.origin + LEFT, self.origin + WIDTH - RIGHT
        out = [text((left + right) / 2, 20, title, size=13), text((left + right) / 2, HEIGHT - 12, x_title)]
        for value, label in y_ticks:
            out += [line(left, self.y(value), right, self.y(value), 'stroke="#ddd"'),
                    text(left - 6, self.y(value) + 4, label, "end")]
        out += [text(self.x(value), HEIGHT - BOTTOM + 16, label) for value, label in x_ticks]
        out.append(line(left, HEIGHT - BOTTOM, right, HEIGHT - BOTTOM, 'stroke="#444"'))
        out.append(text(left - LEFT + 4, 38, y_title, "start"))
        return out


def of_requests(rows: list) -> list:
    points = [(int(r["requests"]), float(r["cpu_ms"])) for r in rows]
    most = points[-1]
    y_low = min(ms for _, ms in points) * 0.7
    axes = Axes(0, (points[0][0] * 0.8, most[0] * 1.2), (y_low, most[1] * 1.4), True)
    out = axes.frame("GEMM 4096 x 4096 of growing depth, 8 dies", "line requests", "CPU ms",
                     [(n, f"{n / 1e6:.0f} M") for n, _ in points], [(ms, f"{ms:.3g}") for _, ms in points])
    slope = most[1] / most[0]
    first = max(points[0][0], y_low / slope)
    out.append(line(axes.x(first), axes.y(first * slope), axes.x(most[0]), axes.y(most[1]),
                    'stroke="#888" stroke-dasharray="5 4"'))
    out.append(text(axes.x(most[0]), axes.y(most[1]) + 40, "dashed: linear", "end"))
    return out + [f'<circle cx="{axes.x(n):.1f}" cy="{axes.y(ms):.1f}" r="4" fill="#1f5fa8"/>' for n, ms in points]


def of_dies(shared: list, alike: list) -> list:
    def points_of(rows: list) -> list:
        return [(int(r["dies"]), 1e6 * float(r["cpu_ms"]) / int(r["requests"]), float(r["l2_hit"])) for r in rows]

    series = [(points_of(alike), "#1f5fa8", 18), (points_of(shared), "#c4602a", -10)]
    top = max(ns for points, _, _ in series for _, ns, _ in points) * 1.4
    step = 10 ** math.floor(math.log10(top / 3))
    dies_of = [dies for dies, _, _ in series[0][0]]
    axes = Axes(WIDTH, (0.8, dies_of[-1] * 1.25), (0, top), False)
    ticks = [i * step for i in range(int(top / step) + 1)]
    out = axes.frame("One machine cut into dies", "dies (at the points: L2 hit rate)", "CPU ns a request",
                     [(dies, f"{dies}") for dies in dies_of], [(v, f"{v:.3g}") for v in ticks[:: max(1, len(ticks) // 6)]])
    for points, colour, label_y in series:
        for dies, ns, hit in points:
            out.append(f'<circle cx="{axes.x(dies):.1f}" cy="{axes.y(ns):.1f}" r="4" fill="{colour}"/>')
            out.append(text(axes.x(dies), axes.y(ns) + label_y, f"{100 * hit:.0f} %", size=10))
    out.append(text(WIDTH + LEFT + 8, 54, '<tspan fill="#1f5fa8">blue: dies hit alike</tspan>, '
                    '<tspan fill="#c4602a">orange: dies lose sharing</tspan>', "start"))
    return out


def draw(table: pathlib.Path, picture: pathlib.Path) -> None:
    with table.open() as file:
        rows = list(csv.DictReader(file))

    def named(name: str) -> list:
        return [row for row in rows if row["benchmark"] == name]

    halves = of_requests(named("cost_of_requests"))
    halves += of_dies(named("cost_of_dies"), named("cost_of_dies_alike"))
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{HEIGHT}" '
            'font-family="sans-serif" fill="#222">')
    background = '<rect width="100%" height="100%" fill="white"/>'
    picture.write_text("\n".join([head, background, *halves, "</svg>"]) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure first")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--csv", type=pathlib.Path, default=DOCS / "replay-cost.csv")
    parser.add_argument("--svg", type=pathlib.Path, default=DOCS / "replay-cost.svg")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.build, arguments.csv)
    draw(arguments.csv, arguments.svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
