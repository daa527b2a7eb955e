# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Defines the measurements of `make bench`: the tools to compare, and the workloads."""
import contextlib
import glob
import json
import os
import shutil
import subprocess
import time

import paired
import stacks
from procs import PIN, CannotRun, Running, Tool, Workload, bpftrace, faultscope, stop
from report import Group

LOOK_SECONDS = 0.1

NOTHING = Tool("nothing: the noise", ["sleep", "infinity"])
EMPTY = Tool("empty tp_btf program", ["empty", "{tmp}/empty.bpf.o"], ready="ready")
TIER_1 = faultscope("all, tiers 0,1", "--overhead", "0,1")
TIER_2 = faultscope("all, tiers 0-2", "--overhead", "0-2")
ALL = faultscope("all, as is")
WATCHED = faultscope("-p the workload", "-p", "{pid}")
ATTRIBUTED = Tool("diagnose: who made each, by stack",
                  ["faultscope", "diagnose", "--json", "-p", "{pid}", "-d", "600"],
                  ready='"type":"start"')
OTHER = faultscope("-p another process", "-p", "{other}")
COUNT_FAULTS = bpftrace("bpftrace count, tracepoint",
                        "tracepoint:exceptions:page_fault_user { @[pid] = count(); }")


def record(name, *options):
    return Tool(name, ["perf", "record", "-q", "-o", "{tmp}/perf.data", *options, "-e",
                       "page-faults", "--"], wraps=True)


# At overhead level 2, `faultscope` handles every fault to measure its class and latency. It is
# therefore compared with `perf record -c 1`, which records every fault.
RECORD_EACH = record("perf record -a -c 1", "-a", "-c", "1")
RECORD_EACH_OF_ONE = record("perf record -c 1", "-c", "1")
# Without -c, perf samples 4,000 faults a second, and weights each sample by the number of faults
# since the sample before.
RECORD_SOME = record("perf record -a", "-a")
RECORD_SOME_OF_ONE = record("perf record")
TRACE_EACH = Tool("perf trace -F all", ["perf", "trace", "-F", "all", "--no-syscalls", "-o",
                                        "{tmp}/trace", "--"], wraps=True, share=1 / 10)


def fault(setup, scale, say):
    tools = [
        NOTHING, EMPTY, TIER_1, TIER_2, ALL, OTHER, WATCHED, COUNT_FAULTS,
        bpftrace("bpftrace count, software",
                 "software:page-faults:1 { @[pid] = count(); }"),
        Tool("perf stat -a", ["perf", "stat", "-o", "{tmp}/stat", "-a", "-e", "page-faults", "--"],
             wraps=True),
        RECORD_EACH, RECORD_EACH_OF_ONE, RECORD_SOME, RECORD_SOME_OF_ONE, TRACE_EACH,
    ]
    group = paired.measure(setup, "fault", "added to a minor fault", "fault",
                           scale.operations(200_000), tools, scale.rounds, say)
    group.ratio(TIER_1.name, EMPTY.name)
    group.ratio(TIER_1.name, COUNT_FAULTS.name)
    group.ratio(TIER_2.name, COUNT_FAULTS.name)
    for peer in RECORD_EACH, RECORD_SOME, TRACE_EACH:
        group.ratio(TIER_2.name, peer.name)
    for peer in RECORD_EACH_OF_ONE, RECORD_SOME_OF_ONE, TRACE_EACH:
        group.ratio(WATCHED.name, peer.name)
    return [group]


def of_calls(*syscalls):
    probes = ", ".join(f"tracepoint:syscalls:sys_exit_{call}" for call in syscalls)
    return [
        NOTHING, TIER_1, ALL, WATCHED, ATTRIBUTED,
        faultscope("-p, calls=tracepoint", "-p", "{pid}", "--probe", "calls=tracepoint"),
        faultscope("-p, calls=tp_btf", "-p", "{pid}", "--probe", "calls=tp_btf"),
        bpftrace("bpftrace count, tracepoint", probes + " { @[pid] = count(); }"),
        Tool("strace -c", ["strace", "-c", "-f", "-o", "{tmp}/strace"], wraps=True, share=1 / 20,
             once=True),
    ]


def mmap(setup, scale, say):
    return [paired.measure(setup, "mmap", "added to mmap and munmap, a pair", "mapunmap",
                           scale.operations(100_000), of_calls("mmap", "munmap"), scale.rounds,
                           say)]


def open_(setup, scale, say):
    return [paired.measure(setup, "open", "added to open and close, a pair", "openclose",
                           scale.operations(100_000), of_calls("openat", "close"), scale.rounds,
                           say)]


def getppid(setup, scale, say):
    tools = [NOTHING, TIER_1, ALL, OTHER,
             bpftrace("bpftrace count, raw_syscalls",
                      "tracepoint:raw_syscalls:sys_exit { @[pid] = count(); }")]
    return [paired.measure(setup, "getppid", "added to a call of no interest (getppid)", "getppid",
                           scale.operations(1_000_000), tools, scale.rounds, say)]


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


def ms_of_run(argv):
    start = time.monotonic()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise CannotRun(f"exit {done.returncode}: {done.stderr.strip()[-200:]}")
    return (time.monotonic() - start) * 1e3


def ms_to_first_line(argv):
    start = time.monotonic()
    # `perf stat` writes its lines to stderr.
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT if os.path.basename(argv[0]) == "perf"
                               else subprocess.DEVNULL)
    line = process.stdout.readline()
    ms = (time.monotonic() - start) * 1e3
    stop(process)
    process.stdout.close()
    if not line:
        raise CannotRun(f"exit {process.returncode} without a line")
    return ms


def start(setup, scale, say):
    count = "tracepoint:exceptions:page_fault_user { @[pid] = count(); }"
    first = Group("start", "from start to the first line", "ms")
    first_lines = [
        Tool("faultscope --json -p", OTHER.argv), Tool("faultscope --json", ALL.argv),
        Tool("bpftrace count (from its second probe)", [
            "bpftrace", "-e", 'interval:ms:1 { printf("ready\\n"); } ' + count]),
        Tool("perf stat -a (10 ms of it the interval)",
             ["perf", "stat", "-I", "10", "-a", "-e", "page-faults"]),
    ]
    whole = Group("run", "a whole run of true(1)", "ms")
    runs = [
        Tool("alone", ["true"]), Tool("faultscope run -q", ["faultscope", "run", "-q", "--",
                                                            "true"]),
        Tool("bpftrace -c", ["bpftrace", "-c", shutil.which("true"), "-e", count]),
        Tool("perf stat", ["perf", "stat", "-e", "page-faults", "true"]),
        Tool("strace -c", ["strace", "-c", "-f", "true"]),
    ]
    say("start")
    for _ in range(scale.rounds):
        for group, tools, ms in (first, first_lines, ms_to_first_line), (whole, runs, ms_of_run):
            for tool in tools:
                if group.is_skipped(tool.name):
                    continue
                try:
                    group.add(tool.name, ms(setup.argv(tool)))
                except CannotRun as reason:
                    group.skip(tool.name, reason)
    return [first, whole]


def memory(setup, scale, say):
    group = Group("memory", "resident memory after 2 s, and the peak until then", "KiB")
    say("memory")
    with many(setup, "procs", 1000, 1) as load_name:
        for tool, name in [(OTHER, "faultscope -p"), (ALL, f"faultscope, {load_name}"),
                           (COUNT_FAULTS, "bpftrace count")]:
            try:
                with Running(setup, tool) as running:
                    time.sleep(2)
                    group.add(name, running.memory_kib("VmRSS"))
                    group.add(name + ", peak", running.memory_kib("VmHWM"))
            except CannotRun as reason:
                group.skip(name, reason)

    size = Group("size", "size of the program", "bytes")
    program = os.path.join(setup.build, "faultscope")
    stripped = os.path.join(setup.tmp, "stripped")
    size.add("as built", os.path.getsize(program))
    try:
        subprocess.run(["strip", "-o", stripped, program], check=True)
        size.add("stripped", os.path.getsize(stripped))
    except (OSError, subprocess.CalledProcessError) as reason:
        size.skip("stripped", reason)
    return [group, size]


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
        raise CannotRun(f"no {program}: run make bench" if found else "none of its libraries")
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


MEASURES = {"fault": fault, "mmap": mmap, "open": open_, "getppid": getppid, "cpu": cpu,
            "start": start, "memory": memory, "naming": naming, "stacks": stacks.stacks}
