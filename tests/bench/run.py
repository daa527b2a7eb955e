#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures the cost of faultscope and of similar tools. Needs root, and `make workloads`.

The workload is pinned to a CPU, and its runs alternate: without a tool, with tool A, without a
tool, with tool B, and so on. A value is the time that a tool adds: the time of a run with the tool,
minus the mean time of the runs without a tool before and after this run. A table gives the median
and the spread of the rounds. No time is checked: the exit status says only whether everything could
run. A missing tool is skipped, with the reason.
"""
import argparse
import json
import os
import platform
import signal
import subprocess
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


def build_empty(setup):
    """Builds an empty BPF program and its loader. If the build fails, the table has no row for the
    empty program."""
    target = os.path.join(setup.build, "bench")
    os.makedirs(target, exist_ok=True)
    include = f"/usr/include/{platform.machine()}-linux-gnu"
    compile_bpf = [os.environ.get("CLANG", "clang"), "-O2", "-g", "-target", "bpf", "-I", include,
                   "-c", os.path.join(HERE, "empty.bpf.c"), "-o",
                   os.path.join(setup.tmp, "empty.bpf.o")]
    compile_loader = [os.environ.get("CC", "cc"), "-O2", os.path.join(HERE, "empty.c"), "-o",
                      os.path.join(target, "empty"), "-lbpf"]
    for command in compile_bpf, compile_loader:
        try:
            subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError) as reason:
            say(f"the empty program is not built: {reason}")


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
        build_empty(setup)
        for name in options.only or MEASURES:
            try:
                groups += MEASURES[name](setup, scale, say)
            except CannotRun as reason:
                failed = True
                print(f"\n{name} could not run: {reason}")
    except CannotRun as reason:
        failed = True
        print(f"run.py: {reason}", file=sys.stderr)
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
