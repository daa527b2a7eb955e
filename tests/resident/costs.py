#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures what `faultscope memory` adds to the CPU time of page faults and forks, of the watched
process and of others. Each round measures all ways one after the other, so that the differences are
paired. Prints a table; never fails.

usage: costs.py [--rounds N]
"""
import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import run as exact  # noqa: E402

WORK = ("faults", "forks")


class Program:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.process.stdout.readline()

    def measure(self, work):
        """Returns the CPU time of one fault or fork, in nanoseconds."""
        self.process.stdin.write(work + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Watch:
    """A `faultscope memory` that has read the process once."""

    def __init__(self, pid, folder):
        self.out = Path(folder) / "readings"
        self.out.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [exact.FAULTSCOPE, "memory", "--json", "-o", self.out, "-p", str(pid), "-d",
             str(exact.PATIENCE)], stderr=subprocess.DEVNULL)
        while not (self.out.exists() and '"memory"' in self.out.read_text(encoding="utf-8")):
            assert self.process.poll() is None, "faultscope ended"

    def end(self):
        self.process.terminate()
        self.process.wait()


def one_round(program, other, folder):
    """Returns {(way, work): ns}."""
    found = {}
    for way, pid in (("alone", None), ("another is watched", other.process.pid),
                     ("watched", program.process.pid)):
        watch = Watch(pid, folder) if pid else None
        for work in WORK:
            found[way, work] = program.measure(work)
        if watch:
            watch.end()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        exact.compiled(Path(folder), "g++", "-O2", "-o", Path(folder) / "costs", HERE / "costs.cc")
        program, other = (Program(Path(folder) / "costs") for _ in range(2))
        rounds = [one_round(program, other, folder) for _ in range(options.rounds)]
        program.end()
        other.end()
    print("| work | alone | added if another process is watched | added if it is watched |\n"
          "| --- | ---: | ---: | ---: |")
    for work in WORK:
        cells = [f"{statistics.median(one['alone', work] for one in rounds):,.0f} ns"]
        for way in ("another is watched", "watched"):
            added = sorted(one[way, work] - one["alone", work] for one in rounds)
            quarter = len(added) // 4
            cells.append(f"{statistics.median(added):+,.0f} ns ({added[quarter]:+,.0f} to "
                         f"{added[-1 - quarter]:+,.0f})")
        print(f"| {work[:-1]} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
