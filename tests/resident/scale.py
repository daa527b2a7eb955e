#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures `faultscope memory` on large programs: how long a reading takes, and how long the
program's own mmap() and munmap() calls take meanwhile. Prints a table; never fails.

usage: scale.py [--gib N]... [--threads N]
"""
import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import run as exact  # noqa: E402

SECONDS = 10


def calls(program):
    """Returns the longest and the 99.9th percentile of the program's calls since the last call of
    calls(), in microseconds."""
    program.stdin.write("\n")
    program.stdin.flush()
    longest, late, _ = map(int, program.stdout.readline().split())
    return longest / 1e3, late / 1e3


def measure(what, argv, folder):
    watched = exact.Watched(argv, {}, folder)
    try:
        truth = watched.truth()["hold_pages"]
        watched.last()
        calls(watched.program)
        end, costs, line = time.monotonic() + SECONDS, [], None
        while time.monotonic() < end:
            line = next(watched.lines)
            costs.append(line["cost_ns"] / 1e6)
        longest, late = calls(watched.program)
        held, low, high = exact.sum_of(line, "hold_pages")
        pages = sum(row["sampled_pages"] for row in line["holders"])
        watched.watch.terminate()
        watched.watch.wait()
        calls(watched.program)
        time.sleep(SECONDS)
        longest_alone, late_alone = calls(watched.program)
    finally:
        watched.end()
    print(f"| {what} | {held / exact.MIB:.0f} ({low / exact.MIB:.0f} to {high / exact.MIB:.0f}) of "
          f"{truth / exact.MIB:.0f} MiB | {pages} | {sum(costs) / len(costs):.0f} ms | "
          f"{late:.0f}, {longest:.0f} us | {late_alone:.0f}, {longest_alone:.0f} us |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--gib", type=int, action="append")
    parser.add_argument("--threads", type=int, default=10000)
    options = parser.parse_args()
    print("| program | held | chosen pages | CPU time of a reading | mmap and munmap: 99.9 %, longest "
          "| the same without faultscope |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exact.compiled(folder, "g++", "-O2", "-g", "-pthread", "-o", folder / "scale",
                       HERE / "scale.cc")
        for gib in options.gib or [1, 4, 16]:
            measure(f"{gib} GiB", [folder / "scale", gib << 10, 0], folder)
        measure(f"{options.threads} threads", [folder / "scale", 1 << 10, options.threads], folder)


if __name__ == "__main__":
    main()
