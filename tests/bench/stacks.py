# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures the cost of stack walks, beside the walks of bpftrace and perf, and the time until unwind
tables are ready."""
import glob
import os
import re
import shutil
import subprocess
import time

import paired
from procs import ATTACHED, CannotRun, Running, Tool, Workload, bpftrace, faultscope
from report import Group

NOTHING = Tool("nothing: the noise", ["sleep", "infinity"])
# With diagnose, faultscope walks the stack of each call that creates a mapping.
WALKED = Tool("faultscope diagnose, walks each stack",
              ["faultscope", "diagnose", "--json", "-p", "{pid}", "-d", "600"],
              ready=ATTACHED, settle=1.5)
WATCHED = faultscope("faultscope -p, walks no stack", "-p", "{pid}")
OTHER = Tool("faultscope diagnose of another process",
             ["faultscope", "diagnose", "--json", "-p", "{other}", "-d", "600"],
             ready=ATTACHED, settle=1.5)
CHAINED = bpftrace("bpftrace ustack (bpf_get_stackid)",
                   "tracepoint:syscalls:sys_exit_mmap /comm == \"bench\"/ "
                   "{ @[ustack(127)] = count(); } END { clear(@); }")
COPIED = Tool("perf record --call-graph dwarf",
              ["perf", "record", "-q", "-o", "{tmp}/perf.data", "--call-graph", "dwarf", "-e",
               "syscalls:sys_exit_mmap", "--"], wraps=True, share=1 / 20, once=True)
NATIVE_FRAMES = (0, 40)
PYTHON_CALLS = 35
PYTHON = "/usr/bin/python3"  # the interpreter for which Debian's PyTorch is built
START_SECONDS = 60
LIBRARY = "void call_back(void (*f)(void)) { f(); __asm__ volatile(\"\"); }"


def of_native(setup, scale, say, frames):
    title = f"added to mmap and munmap, a pair, below {frames} native calls"
    tools = [NOTHING, WATCHED, WALKED, OTHER, COPIED]
    group = paired.measure(setup, f"native {frames}", title, "mapunmap",
                           scale.operations(100_000), tools, scale.rounds, say,
                           "--frames", frames)
    chained = paired.measure(setup, f"chained {frames}", "", "mapunmap",
                             scale.operations(100_000), [CHAINED], scale.rounds, say,
                             "--frames", frames, "--frame-pointers")
    group.note("perf copies 8 KiB of stack for each call, and loses copies for which it has no room")
    name = CHAINED.name + ", with frame pointers"
    if CHAINED.name in chained.rows:
        group.set(name, chained.rows[CHAINED.name])
    else:
        group.skip(name, chained.skipped.get(CHAINED.name, "no value"))
    return group


def of_python(setup, scale, say):
    return paired.measure(setup, "python", "added to mmap and munmap, a pair, below "
                          f"{PYTHON_CALLS} Python calls", "mapunmap", scale.operations(40_000),
                          [NOTHING, WATCHED, WALKED, OTHER], scale.rounds, say, "--frames",
                          PYTHON_CALLS, program="python_calls.py")


def verified(setup):
    """Reads the number of instructions that the verifier checked for each BPF program."""
    group = Group("verified", "instructions that the verifier checked", "instructions")
    try:
        with Running(setup, faultscope("faultscope")) as running:
            for path in glob.glob(f"/proc/{running.process.pid}/fdinfo/*"):
                text = open(path, encoding="ascii").read()
                found = re.search(r"^verified_insns:\s*(\d+)", text, re.M)
                if found:
                    group.add("one BPF program", int(found[1]))
    except CannotRun as reason:
        group.skip("one BPF program", reason)
    if group.rows:
        values = group.rows["one BPF program"]
        group.set("all BPF programs", [sum(values)])
    return group


def tables(setup, scale, say):
    """Measures the time to make the tables of running processes."""
    group = Group("tables", "until all tables of a process are ready, from nothing", "ms")
    following = os.path.join(setup.build, "unwind/following")
    programs = [("a program with the C library only", ["sleep", "60"]),
                ("CPython", [PYTHON, "-c", "import time; time.sleep(60)"]),
                ("PyTorch", [PYTHON, "-c", "import torch, time; print(1, flush=True); "
                                           "time.sleep(60)"])]
    for name, argv in programs:
        say(f"tables: {name}")
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
            try:
                if "PyTorch" in name and not program.stdout.readline():
                    group.skip(name, "PyTorch is not installed")
                    continue
                time.sleep(0.5)
                for _ in range(scale.rounds):
                    done = subprocess.run([following, f"{setup.build}/unwind/kernel_walk.bpf.o",
                                           str(program.pid)], capture_output=True, text=True,
                                          check=False, timeout=START_SECONDS)
                    found = re.search(r"(\d+) tables in ([\d.]+) s, longest piece ([\d.]+) ms, "
                                      r"(\d+) KiB", done.stdout)
                    if not found:
                        group.skip(name, "build/unwind/following: " + done.stdout[-200:])
                        break
                    group.add(name, float(found[2]) * 1000)
                    group.add(f"{name}: longest piece", float(found[3]))
                    group.note(f"{name}: {found[1]} tables, {found[4]} KiB")
            except FileNotFoundError:
                group.skip(name, "make build/unwind/following build/unwind/kernel_walk.bpf.o")
            finally:
                program.kill()
    return group


def after_dlopen(setup, scale, say):
    """Counts the incomplete stacks of a process that loads a library, and then maps memory once in
    each millisecond."""
    group = Group("dlopen", "until stacks are complete after dlopen() of a library", "ms")
    if not shutil.which("cc"):
        group.skip("one library", "no cc")
        return group
    library = os.path.join(setup.tmp, "libcalled.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=LIBRARY,
                   text=True, check=True)
    for number in range(scale.rounds):
        say(f"dlopen: round {number + 1} of {scale.rounds}")
        try:
            with Workload(setup, "loads_library.py", library) as work:
                with Running(setup, WALKED, work.pid) as running:
                    work.go()
                    work.truth()
                ends = running.end["walks"]
                group.add("one library", ends.get("missing-table", 0))
        except CannotRun as reason:
            group.skip("one library", reason)
            break
    return group


def stacks(setup, scale, say):
    return [*(of_native(setup, scale, say, frames) for frames in NATIVE_FRAMES),
            of_python(setup, scale, say), verified(setup), tables(setup, scale, say),
            after_dlopen(setup, scale, say)]
