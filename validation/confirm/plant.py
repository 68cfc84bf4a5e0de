#!/usr/bin/env python3
"""Makes of a bundle of kernels/gemm one whose candidates are broken, each in its own way.

    validation/confirm/plant.py BUNDLE OUT

What `swizzleperf measure OUT` must say is in the names: all but the first and the last are to be
refused, and the run is to go on.
"""
import json
import pathlib
import shutil
import sys

SOURCE = "gemm/gemm.hip"
ENTRY = "  alignas(16) __shared__ half lds"  # where the kernel's body begins
MAIN = "  line.parse(argc, argv);\n"
FIRST = "  const int id = blockIdx.y * gridDim.x + blockIdx.x;\n"

# name, where, what is put there
PLANTED = [
    ("loses a tile", ENTRY, "  if (blockIdx.x == 5 && blockIdx.y == 3) return;\n"),
    ("right for the first input only", ENTRY,
     "  if (static_cast<float>(a[3]) != FIRST_A3) return;\n"),
    ("writes far outside", ENTRY, "  if (threadIdx.x == 0) c[1L << 40] = a[0];\n"),
    ("never ends in the kernel", ENTRY,
     "  if (blockIdx.x == 0) { volatile int i = 1; while (i) i = 1; }\n"),
    ("never ends on the host", MAIN, "  for (volatile int i = 1; i;) i = 1;\n"),
    ("crashes on the host", MAIN, "  *static_cast<volatile int*>(nullptr) = 1;\n"),
    ("takes all of the host's memory", MAIN,
     "  for (std::vector<char*> all;;) { char* p = new char[1 << 26];\n"
     "    for (int i = 0; i < 1 << 26; i += 4096) p[i] = 1;\n    all.push_back(p); }\n"),
    ("takes all of the device's memory", MAIN,
     "  for (void* p = nullptr; hipMalloc(&p, 1L << 30) == hipSuccess;) continue;\n"),
    ("ends early", MAIN, '  std::fprintf(stderr, "no luck\\n");\n  return 5;\n'),
    ("does not build", MAIN, "  this is no C++;\n"),
]


def mix(x: int) -> int:
    x = ((x ^ (x >> 16)) * 0x7FEB352D) % 2**32
    x = ((x ^ (x >> 15)) * 0x846CA68B) % 2**32
    return x ^ (x >> 16)


def first_a3() -> str:
    """The fourth element of A as the program fills it (kernels/common/matrix_data.h)."""
    bits = mix(1 + mix(1 ^ 0x9E3779B9) % (1 << 16) + 3)
    magnitude = (1 + bits % 16) / 16
    return f"{-magnitude if bits & 0x100 else magnitude}f"


def changed(text: str, where: str, what: str) -> str:
    at = text.index(where)
    return text[:at] + what + text[at:] if where == ENTRY else text.replace(where, where + what, 1)


def main() -> None:
    bundle, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    plan = json.loads((bundle / "bundle.json").read_text())
    shutil.copytree(bundle / "project", out / "project")
    right = plan["candidates"][0]
    text = (out / "project" / SOURCE).read_text()
    text_of = {name: changed(text, where, what) for name, where, what in PLANTED}
    candidates = []

    def add(name: str, source: str | None, foreign: bool) -> None:
        number = len(candidates) + 1
        target = out / "candidates" / str(number) / SOURCE
        target.parent.mkdir(parents=True)
        if source is None:
            shutil.copy(bundle / "candidates" / "1" / SOURCE, target)
        else:
            target.write_text(source.replace("FIRST_A3", first_a3()))
        candidates.append({**right, "number": number, "spec": name, "from_model_text": foreign})

    add("right", None, False)
    for name, *_ in PLANTED:
        add(name, text_of[name], True)
    add("right, and confined", None, True)
    plan["candidates"] = candidates
    (out / "bundle.json").write_text(json.dumps(plan, indent=1) + "\n")


if __name__ == "__main__":
    main()
