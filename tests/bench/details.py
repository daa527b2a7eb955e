#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures parts of faultscope: stack walks, names of stacks, CPU time at intervals, program size.

Needs root, and `make workloads`. `make bench` measures the cost for other programs. If a tool is
measured beside a workload, the workload is pinned to a CPU, and its runs alternate: without a tool,
with tool A, without a tool, with tool B, and so on. A value is the time that a tool adds: the time of
a run with the tool, minus the mean time of the runs without a tool before and after this run. A table
gives the median and the spread of the rounds. No time is checked: the exit status says only whether
everything could run. A missing tool is skipped, with the reason.
"""
import argparse
import json
import os
import platform
import signal
import sys
import time
from collections import namedtuple

sys.dont_write_bytecode = True

from measures import MEASURES  # noqa: E402
from procs import CannotRun, Setup  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class Scale(namedtuple("Scale", "rounds fraction repeats window busy")):
    """How much to measure: `rounds` is the number of pairs of runs, `fraction` the share of the
    usual number of operations. `repeats` and `window` are the number and the seconds of CPU
    measurements. `busy` says whether loads that keep CPUs busy are included."""
    __slots__ = ()

    def operations(self, usual):
        return int(usual * self.fraction)


FULL = Scale(rounds=8, fraction=1, repeats=2, window=2, busy=True)
QUICK = Scale(rounds=1, fraction=0.3, repeats=1, window=1, busy=False)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true",
                        help="run one short round, which takes one minute instead of seven")
    parser.add_argument("--only", metavar="NAME", action="append", choices=MEASURES,
                        help="take only this measurement; may be repeated: " + " ".join(MEASURES))
    parser.add_argument("--rounds", type=int, help="number of rounds")
    parser.add_argument("--json", metavar="FILE", help="also write all values to FILE")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), metavar="DIR",
                        help="directory of the program and the workloads")
    return parser.parse_args()


BEGAN = time.monotonic()


def say(text):
    print(f"# {time.monotonic() - BEGAN:4.0f} s  {text}", file=sys.stderr, flush=True)


def must_exist(setup):
    for path in os.path.join(setup.build, "faultscope"), setup.workload("bench"), \
            setup.workload("lives"):
        if not os.access(path, os.X_OK):
            raise CannotRun(f"no {path}: run make all workloads")
    if os.geteuid():
        raise CannotRun("needs root")


def main():
    options = arguments()
    scale = QUICK if options.quick else FULL
    if options.rounds:
        scale = scale._replace(rounds=options.rounds)
    groups, failed = [], False
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    setup = Setup(ROOT, os.path.abspath(options.build))
    try:
        must_exist(setup)
        for name in options.only or MEASURES:
            try:
                groups += MEASURES[name](setup, scale, say)
            except CannotRun as reason:
                failed = True
                print(f"\n{name} could not run: {reason}")
    except CannotRun as reason:
        failed = True
        print(f"details: {reason}", file=sys.stderr)
    finally:
        setup.close()
    print(f"{platform.release()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, "
          f"{time.monotonic() - BEGAN:.0f} s")
    for group in groups:
        group.print()
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"kernel": platform.release(), "cpus": os.cpu_count(), "scale":
                       scale._asdict(), "groups": [group.as_json() for group in groups]}, file,
                      indent=1)
    return failed


if __name__ == "__main__":
    sys.exit(main())
