#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures `faultscope memory` on large programs: the CPU time of a reading, and how long the program's
own mmap() and munmap() calls wait for mmap_lock meanwhile. Prints a table; never fails, except if
memory is short.

usage: scale.py [--gib N]... [--threads N] [--rounds N] [--only REGEX]

Each round measures the program twice: while faultscope reads it without a pause between readings of a
second, and while faultscope is stopped (SIGSTOP), with its probes still attached. The wait for
mmap_lock contains no time in which the thread was ready to run, but had no CPU: scale.cc explains how
it is measured. The duration of the calls contains it, and depends on what else the machine does.

The CPU time "with all else" is that of the whole faultscope, for each reading: it also copies who
touched the pages, scans the process, looks up names, and writes JSON.

The rows "shared" map shared memory several times, so that the process has more resident memory than
the machine. With 23 GiB, about 96,000 pages are chosen: faultscope halves the number of chosen pages
above that.
"""
import argparse
import os
import re
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import run as exact  # noqa: E402

SECONDS = 3  # of each part of a round
LAST = 8  # readings whose CPU time is measured
SPARE_MIB = 4 << 10  # memory to leave to other programs


class Times:
    """Durations of pairs of calls, in several parts of rounds."""

    def __init__(self):
        self.pairs, self.late, self.longest, self.above = 0, [], 0, 0

    def add(self, pairs, late, longest, above):
        self.pairs += pairs
        self.late.append(late / 1e3)
        self.longest = max(self.longest, longest / 1e3)
        self.above += above

    def __str__(self):
        return (f"{statistics.median(self.late):.0f}, {self.longest:.0f} us, "
                f"{self.above} of {self.pairs}")


class Calls:
    """What the program's calls did while faultscope read it, or while it was stopped."""

    def __init__(self):
        self.waits, self.durations, self.forks = Times(), Times(), 0

    def add(self, numbers):
        self.waits.add(*numbers[:4])
        self.durations.add(*numbers[4:8])
        self.forks += numbers[8]


def numbers_of(program):
    """Returns what scale.cc printed about its calls since the last call of this function."""
    program.stdin.write("\n")
    program.stdin.flush()
    return [int(word) for word in program.stdout.readline().split()]


def cpu_ms(pid):
    """Returns the CPU time of a process."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def available_mib():
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    return int(re.search(r"MemAvailable:\s+(\d+)", text)[1]) >> 10


def measure(what, argv, folder, rounds):
    needed = argv[1]
    if needed + SPARE_MIB > available_mib():
        print(f"| {what} | not measured: {available_mib()} MiB are available, {needed} needed |")
        return
    watched = exact.Watched(argv, {}, folder)
    ways = {signal.SIGCONT: Calls(), signal.SIGSTOP: Calls()}
    costs = []
    try:
        truth = watched.truth()["hold_pages"]
        line = watched.last()
        for _ in range(rounds):
            for way, found in ways.items():
                watched.watch.send_signal(way)
                numbers_of(watched.program)
                time.sleep(SECONDS)
                found.add(numbers_of(watched.program))
        watched.watch.send_signal(signal.SIGCONT)
        end, began = exact.written(watched.last()) + 3 * LAST, cpu_ms(watched.watch.pid)
        for line in watched.lines:
            costs.append(line["cost_ns"] / 1e6)
            if len(costs) >= LAST or exact.written(line) > end:
                break
        whole = (cpu_ms(watched.watch.pid) - began) / len(costs)
        held, low, high = exact.sum_of(line, "hold_pages")
        pages = sum(row["sampled_pages"] for row in line["holders"])
    finally:
        watched.watch.send_signal(signal.SIGCONT)
        watched.end()
    read, alone = ways.values()
    print(f"| {what} | {held / exact.MIB:.0f} ({low / exact.MIB:.0f} to {high / exact.MIB:.0f}) of "
          f"{truth / exact.MIB:.0f} MiB | {pages} | {min(costs):.0f}, "
          f"{statistics.median(costs):.0f}, {whole:.0f} ms | {read.waits} | {alone.waits} | {read.durations} |"
          f" {alone.durations} | {read.forks / SECONDS / rounds:.0f},"
          f" {alone.forks / SECONDS / rounds:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--gib", type=int, action="append")
    parser.add_argument("--threads", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print("Times of calls: the 99.9th percentile (median of the rounds), the longest, and how many pairs "
          "of mmap() and munmap() took more than 1 ms.\n\n"
          "| program | held | chosen pages | CPU time of a reading: least, median, with all else | waits for mmap_lock "
          "| without readings | durations of the calls | without readings | forks per second, with "
          "and without |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exact.compiled(folder, "g++", "-O2", "-g", "-pthread", "-o", folder / "scale",
                       HERE / "scale.cc")
        rows = {f"{gib} GiB": [gib << 10, 0] for gib in options.gib or [1, 4, 16]}
        rows["23 GiB, shared"] = [2000, 0, 12]
        rows[f"{options.threads} threads"] = [1 << 10, options.threads]
        rows["256 MiB, and forks"] = [256, 0, 1, 1]
        rows["256 MiB, 60000 mappings"] = [256, 0, 1, 0, 60000]
        for name, words in rows.items():
            if re.search(options.only, name):
                measure(name, [folder / "scale", *words], folder, options.rounds)


if __name__ == "__main__":
    main()
