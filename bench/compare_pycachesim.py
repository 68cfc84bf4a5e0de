#!/usr/bin/env python3
"""Our LRU cache beside pycachesim's, in one run on the same stream of addresses and geometry.

    ninja -C build lru_stream && bench/compare_pycachesim.py [--build build]

pycachesim (PyPI, AGPL, its cache is C) is installed into a virtual environment inside the build
folder and asked in two ways: by one call for the whole list of addresses, its fastest, and by a
call an address, as its examples do. All count hits; different counts fail. Times are CPU time, the best of three, and neither includes making the stream.
"""

import argparse
import array
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import venv

VERSION = "0.3.1"


def inside_environment(build: pathlib.Path) -> pathlib.Path:
    """The Python of the virtual environment, which has pycachesim."""
    folder = build / "pycachesim"
    python = folder / "bin" / "python3"
    if not python.exists():
        venv.create(folder, with_pip=True)
    have = subprocess.run([python, "-c", "import cachesim"], capture_output=True, check=False)
    if have.returncode != 0:
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"pycachesim=={VERSION}"], check=True)
    return python


def one_call(simulator, addresses: list) -> None:
    simulator.load(addresses, length=1)


def call_by_call(simulator, addresses: list) -> None:
    for address in addresses:
        simulator.load(address)


def theirs(ask, addresses: list, shape: tuple) -> tuple:
    """Hits and seconds of pycachesim."""
    from cachesim import Cache, CacheSimulator, MainMemory

    best = None
    for _ in range(3):
        memory = MainMemory()
        cache = Cache("L2", *shape, "LRU")
        memory.load_to(cache)
        memory.store_from(cache)
        simulator = CacheSimulator(cache, memory)
        start = time.process_time()
        ask(simulator, addresses)
        seconds = time.process_time() - start
        best = seconds if best is None else min(best, seconds)
        hits = next(iter(simulator.stats()))["HIT_count"]
    return hits, best


def compare(kernel: str, arguments: argparse.Namespace) -> bool:
    """Prints one stream's table; whether all hit counts are equal."""
    shape = (arguments.sets, arguments.ways, arguments.line)
    with tempfile.TemporaryDirectory() as folder:
        stream = pathlib.Path(folder) / "stream"
        command = [arguments.build / "lru_stream", kernel, stream, arguments.requests, *shape]
        ours = json.loads(subprocess.run([str(word) for word in command], check=True, capture_output=True).stdout)
        addresses = array.array("Q")
        with stream.open("rb") as file:
            addresses.fromfile(file, ours["requests"])
    requests = ours["requests"]
    print(f"{kernel}: {requests} loads, {shape[0]} sets x {shape[1]} ways x {shape[2]} bytes, LRU")
    print(f"  swizzleperf               {requests / ours['seconds'] / 1e6:6.1f} M/s  {ours['hits']} hits")
    equal = True
    for name, ask in (("one call", one_call), ("a call an address", call_by_call)):
        hits, seconds = theirs(ask, addresses.tolist(), shape)
        equal = equal and hits == ours["hits"]
        ratio = seconds / ours["seconds"]
        print(f"  pycachesim, {name:17} {requests / seconds / 1e6:5.1f} M/s  {hits} hits  {ratio:.1f} times slower")
    return equal


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--requests", type=int, default=4_000_000)
    parser.add_argument("--sets", type=int, default=2048)
    parser.add_argument("--ways", type=int, default=16)
    parser.add_argument("--line", type=int, default=128)
    arguments = parser.parse_args()
    python = inside_environment(arguments.build)
    if pathlib.Path(sys.prefix).resolve() != (arguments.build / "pycachesim").resolve():
        return subprocess.run([python, __file__, *sys.argv[1:]], check=False).returncode
    if not all([compare(kernel, arguments) for kernel in ("gemm", "transpose")]):
        print("compare_pycachesim: the hit counts differ", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
