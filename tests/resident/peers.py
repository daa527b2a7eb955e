#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares `faultscope memory` with heaptrack, tracemalloc and memray, on programs that they can see:
which functions hold most memory, and what the measurement costs. Prints a table; never fails.

usage: peers.py [--rounds N] [--only REGEX] [--memray ROOT]

ROOT is a directory with a Debian 13 or later that has the package python3-memray, for example one of
debootstrap. Its Python runs there by chroot. Debian 12 does not have this package.

The rounds of all ways alternate, so that a busy machine slows all of them. The cost is the CPU time
of the program and of the measuring processes, until the program holds all its memory.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import run as exact  # noqa: E402

UNITS = {"B": 1, "K": 1e3, "M": 1e6, "G": 1e9}
TOP = 5
PYTHON = "/usr/bin/python3"
# Runs a program with tracemalloc. Instead of waiting for its input, the program prints what each
# line of its own code holds.
TRACED = """
import json, runpy, sys, tracemalloc
class Input:
    def read(self):
        traces = tracemalloc.take_snapshot().traces
        held = {}
        for trace in traces:
            for frame in reversed(trace.traceback):
                if frame.filename == sys.argv[1]:
                    held[frame.lineno] = held.get(frame.lineno, 0) + trace.size
                    break
        print(json.dumps(held), flush=True)
sys.stdin = Input()
tracemalloc.start(2)
runpy.run_path(sys.argv[1], run_name="__main__")
"""
# The same with memray. The CPU time is that until the program holds all its memory. An allocator of
# CPython is not followed, as by default: memray sees how it allocates memory.
MEMRAY = """
import json, memray, os, runpy, sys, time
if os.path.exists(sys.argv[2]):
    os.unlink(sys.argv[2])
tracker = memray.Tracker(sys.argv[2])
class Input:
    def read(self):
        tracker.__exit__(None, None, None)
        cpu, held = time.process_time(), {}
        for record in memray.FileReader(sys.argv[2]).get_leaked_allocation_records():
            for function, file, line in record.stack_trace():
                if file == sys.argv[1]:
                    held[function] = held.get(function, 0) + record.size
                    break
        os.unlink(sys.argv[2])
        print(json.dumps([cpu, held]), flush=True)
sys.stdin = Input()
tracker.__enter__()
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def cpu_of(argv, **how):
    """Runs a program that ends by itself. Returns (CPU seconds of it and its children, output)."""
    before = os.times()
    ran = subprocess.run(list(map(str, argv)), stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, check=True, **how)
    after = os.times()
    return (after.children_user + after.children_system - before.children_user
            - before.children_system), ran.stdout


def cpu_now(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def by_memory(argv, env, folder):
    """Returns (CPU seconds, bytes of each function) as `faultscope memory` sees them."""
    watched = exact.Watched(argv, env, folder)
    start = cpu_now(watched.watch.pid)
    try:
        names = watched.truth()
        cpu = cpu_now(watched.program.pid)
        line = watched.last()
        # readings before the last are part of the cost
        cpu += cpu_now(watched.watch.pid) - start
        held = {name: exact.sum_of(line, name)[0] for name in names}
    finally:
        watched.end()
    return cpu, held


def by_heaptrack(argv, _env, folder):
    for old in folder.glob("heaptrack.*"):
        old.unlink()
    cpu, _ = cpu_of(["heaptrack", "-o", folder / "heaptrack", *argv], cwd=folder)
    file = next(folder.glob("heaptrack.*"))
    # the program frees its memory at the end, so what it held is its peak
    text = cpu_of(["heaptrack_print", "-f", file, "-l", "0", "-p", "1", "-a", "0", "-T", "0",
                   "-n", "40", "-s", "40"])[1]
    held = {}
    for block in re.split(r"\n(?=[\d.]+[BKMG] peak memory)", text)[1:]:
        size = re.match(r"([\d.]+)([BKMG])", block)
        name = re.search(r"\b(hold_\w+)\(", block)
        if name:
            held[name[1]] = held.get(name[1], 0) + float(size[1]) * UNITS[size[2]]
    return cpu, held


def by_tracemalloc(argv, _env, folder):
    script = str(argv[1])
    cpu, out = cpu_of([PYTHON, "-c", TRACED, script], cwd=folder)
    lines = Path(script).read_text(encoding="utf-8").splitlines()
    held = {}
    for number, size in json.loads(out.splitlines()[-1]).items():
        before = lines[:int(number)]
        name = next((found[1] for line in reversed(before)
                     if (found := re.search(r"def (\w+)\(", line))), "")
        held[name] = held.get(name, 0) + size
    return cpu, held


def by_memray(argv, _env, folder):
    argv, script = argv[:-1], argv[-1]
    out = cpu_of([*argv, "-c", MEMRAY, script, "/memray.bin"], cwd=folder)[1]
    return json.loads(out.splitlines()[-1])


def in_root(root):
    """Returns the Python program, to be run in another system."""
    shutil.copy(HERE / "hold.py", Path(root) / "hold.py")
    (Path(root) / "proc").mkdir(exist_ok=True)  # memray reads /proc/self
    return exact.Program(["unshare", "--mount", "sh", "-c",
                          'mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/python3 "$@"',
                          root, "/hold.py"])


def alone(argv, env, folder):
    return cpu_of(argv, cwd=folder, env={**os.environ, **env})[0], {}


def top(held):
    best = sorted(held, key=held.get, reverse=True)[:TOP]
    return ", ".join(f"{name} {held[name] / exact.MIB:.1f}" for name in best
                     if held[name] >= exact.MIB)


def compare(program, made, peer, peer_name, rounds, folder):
    argv, env = made.argv, made.env
    ways = {"alone": alone, "faultscope memory": by_memory, peer_name: peer}
    costs, held = {name: [] for name in ways}, {}
    for _ in range(rounds):
        for name, way in ways.items():
            cpu, held[name] = way(argv, env, folder)
            costs[name].append(cpu)
    base = statistics.median(costs["alone"])
    for name, values in costs.items():
        middle = statistics.median(values)
        print(f"| {program} | {name} | {middle:.2f} s | {100 * (middle - base) / base:+.0f} % | "
              f"{top(held[name])} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--memray", metavar="ROOT")
    options = parser.parse_args()
    print("| program | measured by | CPU time, median | added | functions that hold most, MiB |\n"
          "| --- | --- | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        if shutil.which("heaptrack"):
            rows.append(("C++, glibc", exact.PROGRAMS["C++, glibc"], by_heaptrack, "heaptrack"))
        rows.append(("CPython, numpy", exact.PROGRAMS["CPython, numpy"], by_tracemalloc,
                     "tracemalloc"))
        if options.memray:
            rows.append(("CPython of ROOT", lambda _: in_root(options.memray), by_memray, "memray"))
        for program, make, peer, name in rows:
            if re.search(options.only, name):
                compare(program, make(Path(folder)), peer, name, options.rounds, Path(folder))


if __name__ == "__main__":
    main()
