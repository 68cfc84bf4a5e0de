#!/usr/bin/env python3
"""clang-tidy over every source of the build, in parallel, each at most once.

clang-tidy takes some ten seconds a file, so its verdict is remembered: a file that passed is not
checked again while it, the project's headers that it includes, its flags, .clang-tidy and the tool's
version stay the same. The memory lies outside the build (a fresh clone on the same machine profits)
and holds nothing but the hashes of what passed.

    .ci/tidy.py BUILD_DIRECTORY [SECONDS]

With a time limit, what could not be checked in time is counted and said, and is no failure.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-22"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "swizzleperf-tidy"


def headers_by_object(build):
    """Object file -> the files of this project that it was compiled from, by ninja's own record."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True,
                          check=True).stdout
    result = {}
    for line in text.splitlines():
        if line.startswith("    "):
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT) and not path.is_relative_to(build):
                result[current].append(path)
        elif ": #deps" in line:
            current = line.split(":")[0]
            result[current] = []
    return result


def key_of(entry, headers, common):
    digest = hashlib.sha256(common)
    # Where the clone lies does not change the verdict.
    digest.update(entry["command"].replace(str(ROOT), "").encode())
    for path in sorted(set(headers)):
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()


def check(build, entry, key, deadline):
    """"" if it passed, what clang-tidy says if not, None if there was no time."""
    if time.monotonic() > deadline:
        return None
    run = subprocess.run([TIDY, "-p", str(build), "--quiet", entry["file"]], capture_output=True,
                         text=True)
    if run.returncode == 0:
        (CACHE / key).touch()
        return ""
    return run.stdout + run.stderr


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    deadline = time.monotonic() + float(sys.argv[2] if len(sys.argv) > 2 else "inf")
    CACHE.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes()
    headers = headers_by_object(build)

    todo = []
    entries = [e for e in json.loads((build / "compile_commands.json").read_text())
               if not pathlib.Path(e["file"]).is_relative_to(build)]  # what CMake wrote
    for entry in entries:
        output = re.search(r" -o (\S+)", entry["command"]).group(1)
        key = key_of(entry, headers.get(output, [pathlib.Path(entry["file"])]), common)
        if not (CACHE / key).exists():
            todo.append((entry, key))

    failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(check, build, entry, key, deadline) for entry, key in todo]
        for job in concurrent.futures.as_completed(jobs):
            if job.result() is None:
                skipped += 1
            elif job.result():
                failed += 1
                print(job.result(), flush=True)
    print(f"clang-tidy: {len(entries)} files, {len(todo) - skipped} checked now, {failed} failed"
          + (f", {skipped} not checked for lack of time" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
