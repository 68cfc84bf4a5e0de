#!/usr/bin/env python3
"""A proposer for `optimize --proposer command` and for studies: what an expert tries, in the order in
which an expert tries it, from the request alone.

    swizzleperf optimize kernels/gemm/gemm.hip --proposer command --command "python3 kernels/expert.py"

It reads the request (docs/proposers.md) on stdin and answers on stdout. Where it is told how many dies
the machine has, it first gives every die a stretch of blocks of its own, then walks that stretch in
bands, columns or serpentines; where it is told nothing of hardware, it can only change the walk. What
was refused or tried before it does not try again."""

import json
import sys

STRETCHES = """die = pid % num_xcds;
turn = pid / num_xcds;
place = die * (num_blocks / num_xcds) + min(die, num_blocks % num_xcds) + turn;
"""
WHOLE = "place = pid;\n"
STRAIGHT = "pid = place;"
COLUMNS = """rows = num_blocks / num_pid_x;
pid = place % rows * num_pid_x + place / rows;"""
SERPENTINE = """row = place / num_pid_x;
column = place % num_pid_x;
if (row % 2 == 1) column = num_pid_x - 1 - column;
pid = row * num_pid_x + column;"""


def bands(height):
    return f"""rows = num_blocks / num_pid_x;
first = place / ({height} * num_pid_x) * {height};
height = min({height}, rows - first);
inside = place - first * num_pid_x;
pid = (first + inside % height) * num_pid_x + inside / height;"""


def chunks(size):
    return f"""round = num_xcds * {size};
if (pid < num_blocks / round * round) {{
  die = pid % num_xcds;
  turn = pid / num_xcds;
  pid = turn / {size} * round + die * {size} + turn % {size};
}}"""


def strides(step):
    return f"""turns = num_blocks / {step};
if (pid < turns * {step}) pid = pid % turns * {step} + pid / turns;"""


def ideas(request):
    x, y, z = request["grid"]
    dies = (request.get("machine") or {}).get("dies", 1)
    dealt = [(STRETCHES, "each die computes one stretch of blocks")] if dies > 1 else []
    walks = [(bands(h), f"in bands of {h} rows, down each of a band's columns in turn") for h in (8, 4, 16, 2)]
    walks += [(COLUMNS, "column by column"), (SERPENTINE, "row by row, every second one backwards")]
    if x == 1 or y * z == 1:  # nothing is known of rows and columns
        walks = []
    for deal, what in dealt:
        yield deal + STRAIGHT, what
    for deal, what in dealt + [(WHOLE, "all dies share one walk" if dies > 1 else "one walk")]:
        for walk, how in walks:
            yield deal + walk, f"{what}, {how}"
    if dealt:
        for size in (4, 16, 64):
            yield chunks(size), f"each die computes {size} blocks that follow each other, then skips the others'"
    for step in (2, 8, 32, 128):
        if 1 < step < x * y * z:
            yield strides(step), f"every {step}th block, then the ones after them"
    yield "pid = num_blocks - 1 - pid;", "the last block first"


def main():
    request = json.load(sys.stdin)
    tried = {attempt["formula"] for attempt in request["history"]}
    critiques = [{"attempt": attempt["attempt"], "why": attempt["report"]} for attempt in request["history"][-3:]]
    for formula, what in ideas(request):
        if formula not in tried:
            break
    else:
        sys.exit("expert.py: nothing is left to try")
    json.dump({"critiques": critiques, "summary": what, "formula": formula,
               "reason": "Blocks that share rows or columns come closer, in time and on one die."}, sys.stdout)


if __name__ == "__main__":
    main()
