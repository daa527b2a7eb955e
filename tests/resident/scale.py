#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures `faultscope memory` on large programs: how long a reading takes, and how long the
program's own mmap() and munmap() calls take meanwhile. Prints a table; never fails, except if memory
is short.

usage: scale.py [--gib N]... [--threads N] [--only REGEX]

The row "shared" maps shared memory several times, so that the process has more resident memory than
the machine, and about 98,000 chosen pages: faultscope halves the number of chosen pages above that.
"""
import argparse
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import run as exact  # noqa: E402

SECONDS = 10
SPARE_MIB = 4 << 10  # memory to leave to other programs


def calls(program):
    """Returns the longest and the 99.9th percentile of the program's calls since the last call of
    calls(), in microseconds, and the number of its forks."""
    program.stdin.write("\n")
    program.stdin.flush()
    longest, late, _, forks = map(int, program.stdout.readline().split())
    return longest / 1e3, late / 1e3, forks


def available_mib():
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    return int(re.search(r"MemAvailable:\s+(\d+)", text)[1]) >> 10


def measure(what, argv, folder):
    needed = argv[1]
    if needed + SPARE_MIB > available_mib():
        print(f"| {what} | not measured: {available_mib()} MiB are available, {needed} needed |")
        return
    watched = exact.Watched(argv, {}, folder)
    try:
        truth = watched.truth()["hold_pages"]
        watched.last()
        calls(watched.program)
        end, costs, line = time.monotonic() + SECONDS, [], None
        while time.monotonic() < end:
            line = next(watched.lines)
            costs.append(line["cost_ns"] / 1e6)
        longest, late, forks = calls(watched.program)
        held, low, high = exact.sum_of(line, "hold_pages")
        pages = sum(row["sampled_pages"] for row in line["holders"])
        watched.watch.terminate()
        watched.watch.wait()
        calls(watched.program)
        time.sleep(SECONDS)
        longest_alone, late_alone, forks_alone = calls(watched.program)
    finally:
        watched.end()
    print(f"| {what} | {held / exact.MIB:.0f} ({low / exact.MIB:.0f} to {high / exact.MIB:.0f}) of "
          f"{truth / exact.MIB:.0f} MiB | {pages} | {min(costs):.0f}, {statistics.median(costs):.0f} ms | "
          f"{late:.0f}, {longest:.0f} us | {late_alone:.0f}, {longest_alone:.0f} us |"
          f" {forks / SECONDS:.0f}, {forks_alone / SECONDS:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--gib", type=int, action="append")
    parser.add_argument("--threads", type=int, default=10000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print("| program | held | chosen pages | CPU time of a reading: least, median | mmap and munmap: "
          "99.9 %, longest | the same without faultscope | forks per second, with and without |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exact.compiled(folder, "g++", "-O2", "-g", "-pthread", "-o", folder / "scale",
                       HERE / "scale.cc")
        rows = {f"{gib} GiB": [gib << 10, 0] for gib in options.gib or [1, 4, 16]}
        rows["24 GiB, shared"] = [2 << 10, 0, 12]
        rows[f"{options.threads} threads"] = [1 << 10, options.threads]
        rows["256 MiB, and forks"] = [256, 0, 1, 1]
        for name, words in rows.items():
            if re.search(options.only, name):
                measure(name, [folder / "scale", *words], folder)


if __name__ == "__main__":
    main()
