# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Defines the measurements of `make bench-details`."""
import contextlib
import glob
import json
import os
import subprocess
import time

import stacks
from procs import PIN, CannotRun, Running, Tool, Workload, bpftrace
from report import Group

LOOK_SECONDS = 0.1

COUNT_FAULTS = bpftrace("bpftrace count, tracepoint",
                        "tracepoint:exceptions:page_fault_user { @[pid] = count(); }")


@contextlib.contextmanager
def bench_forever(setup, kind):
    with Workload(setup, "bench", kind, 10 ** 12, "--pin", PIN) as work:
        work.go()
        yield f"a process in {kind}"


@contextlib.contextmanager
def many(setup, mode, count, times):
    """Starts `count` processes or threads in each of `times` rounds, or as many as the machine
    allows."""
    alive = 0
    with contextlib.ExitStack() as stack:
        while times:
            try:
                work = stack.enter_context(Workload(setup, "lives", mode, count))
                work.go()
                work.truth()
            except CannotRun:
                if count < 100:
                    break
                count //= 2
                continue
            alive += count
            times -= 1
        yield f"{alive:,} {mode}"


def loads(setup, busy):
    """Yields context managers. Each context starts a background load and yields the name of the
    load."""
    yield contextlib.nullcontext("at rest")
    if busy:
        yield bench_forever(setup, "fault")
        yield bench_forever(setup, "fork")
    yield many(setup, "procs", 1000, 1)
    yield many(setup, "threads", 10_000, 2)


def quiet(interval, *options):
    """Returns a Tool for faultscope. The tool counts as ready 1 s after its start, when its probes
    are attached and the first scan is done."""
    return Tool("", ["faultscope", *options, "-o", "/dev/null", str(interval)], settle=1)


def cpu_ms_per_second(setup, tool, seconds):
    with Running(setup, tool) as running:
        start, cpu = time.monotonic(), running.cpu_ns()
        time.sleep(seconds)
        return (running.cpu_ns() - cpu) / 1e6 / (time.monotonic() - start)


def cpu(setup, scale, say):
    """Measures the CPU time of each tool. The cost of a scan is computed from two runs of
    faultscope: one with a short interval between scans, and one with an interval of 1 s."""
    each = Group("cpu", "CPU of the tool, each second at an interval of 1 s", "ms")
    look = Group("look", f"CPU of one look, of intervals of {LOOK_SECONDS} and 1 s", "ms")
    peers = [Tool("bpftrace count", COUNT_FAULTS.argv, settle=2),
             Tool("pidstat -r", ["pidstat", "-r", "1"], settle=1)]
    for load in loads(setup, scale.busy):
        with load as name:
            say(f"cpu: {name}")
            for _ in range(scale.repeats):
                for form in [], ["--json"]:
                    row = f"{name}, {'json' if form else 'text'}"
                    slow = cpu_ms_per_second(setup, quiet(1, *form), scale.window)
                    each.add(row, slow)
                    if "fork" in name:
                        # Under the fork load, the exits of processes cause more work than the
                        # scans. So the cost of a scan is not computed for this load.
                        continue
                    fast = cpu_ms_per_second(setup, quiet(LOOK_SECONDS, *form), scale.window)
                    look.add(row, (fast - slow) / (1 / LOOK_SECONDS - 1))
            for peer in peers:
                row = f"{name}, {peer.name}"
                try:
                    each.add(row, cpu_ms_per_second(setup, peer, scale.window))
                except CannotRun as reason:
                    each.skip(row, reason)
    return [each, look]


def size_of(setup, scale, say):
    size = Group("size", "size of the program", "bytes")
    program = os.path.join(setup.build, "faultscope")
    stripped = os.path.join(setup.tmp, "stripped")
    size.add("as built", os.path.getsize(program))
    try:
        subprocess.run(["strip", "-o", stripped, program], check=True)
        size.add("stripped", os.path.getsize(stripped))
    except (OSError, subprocess.CalledProcessError) as reason:
        size.skip("stripped", reason)
    return [size]


# Installed libraries. They differ in size, in language (C or C++), and in their symbol table: some
# have only .dynsym, others have a full .symtab.
LIBRARIES = ("/lib/*/libc.so.6", "/lib/*/libstdc++.so.6", "/lib/*/libpython3.*.so.1.0",
             "/lib/*/libtorch_cpu.so.*", "/usr/lib/jvm/*/lib/server/libjvm.so")


def naming(setup, scale, say):
    """Measures how long faultscope needs to find the function names of 1,000 distinct user stacks.
    Each stack has 20 frames, all of them in installed libraries."""
    program = os.path.join(setup.build, "naming_bench")
    found = [paths[0] for paths in map(sorted, map(glob.glob, LIBRARIES)) if paths]
    if not os.path.exists(program) or not found:
        raise CannotRun(f"no {program}: run make bench-details" if found
                        else "none of its libraries")
    took = Group("naming", "naming 1,000 stacks of 20 frames", "ms")
    peak = Group("naming_memory", "the peak of memory then", "KiB")
    say("naming")
    for paths in found[:1], found:
        row = ", ".join(os.path.basename(path).split(".so")[0] for path in paths)
        for _ in range(scale.rounds):
            ran = subprocess.run([program, "1000", "20", *paths], capture_output=True, text=True)
            if ran.returncode:
                took.skip(row, ran.stderr.strip()[-200:] or f"exit {ran.returncode}")
                break
            told = json.loads(ran.stdout)
            took.add(row, told["seconds"] * 1e3)
            peak.add(row, told["peak_kib"])
    return [took, peak]


MEASURES = {"cpu": cpu, "size": size_of, "naming": naming, "stacks": stacks.stacks}
