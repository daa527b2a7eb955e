# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The rows of `make bench`: what is measured, with which goal, and on which probes a value depends.

A row is one kind of work, one tool, and, if the tool watches one process, the process that does the
work: the watched process or another process. Each line of a table below makes the rows of one kind
of work or of one tool.
"""
from collections import namedtuple
from dataclasses import dataclass, field

from procs import ATTACHED, Tool, bpftrace, faultscope

WATCHED, ANOTHER = "watched", "another"
EMPTY = "empty probe"
# A tool that does nothing: its values are the noise of the measurement.
NOTHING = "no tool"
NO_TOOL = Tool(NOTHING, ["sleep", "infinity"])


@dataclass(frozen=True)
class Times:
    """A goal that depends on another row of the same work: `factor` times its value."""
    factor: float
    mode: str


@dataclass(frozen=True)
class Work:
    """One kind of work. `kind` and `count` are arguments of the workload `bench`. `events` are the
    tracepoints at which an empty BPF program shows the least cost of a probe. `probes` are the
    probes of src/probe/hooks.def that see this work. `goals` has a number for each mode, or for
    each mode and process, in the unit of the row."""
    name: str
    title: str
    kind: str = ""
    count: int = 0
    events: str = ""
    probes: str = ""
    goals: dict = field(default_factory=dict)


# The files of bpf/ that each probe depends on. The test tests/shape/measured.py checks that the
# files with the BPF programs of a probe are listed. The headers of STATE belong to each probe.
STATE = "process_state.bpf.h state.bpf.h maps.bpf.h"
FAULT_FILES = "fault.bpf.c pressure.bpf.h class.bpf.h slow_fault.bpf.h sample.bpf.h"
MEMORY_FILES = "memory.bpf.c class.bpf.h"
FILES = {
    "state": "",
    "scan": "task.bpf.c changes.h freed_state.bpf.h",
    "lifecycle": "task.bpf.c changes.h freed_state.bpf.h unwind_process.bpf.h",
    "fault_begin": FAULT_FILES,
    "fault_kernel": FAULT_FILES,
    "fault_end": FAULT_FILES,
    "fault_class": FAULT_FILES,
    "signal": "signal.bpf.c stack.bpf.h",
    "oom": "oom.bpf.h",
    "cgroup": "cgroup.bpf.h",
    "reclaim": "pressure.bpf.h",
    "map_area": "mapping.bpf.c",
    "compaction": MEMORY_FILES,
    "mmap_lock": MEMORY_FILES + " contention.bpf.c held_lock.bpf.h",
    "disk_wait": MEMORY_FILES + " disk_wait.bpf.h",
    "log": "failed_call.bpf.c refusal.bpf.h",
    "tlb": MEMORY_FILES,
    "calls": "faultscope.bpf.c fd.bpf.c mapping.bpf.c failed_call.bpf.c growth.bpf.h "
             "call_site.bpf.h freed_state.bpf.h",
    "resident": "resident.bpf.h resident_move.bpf.h",
}
# Further files for modes that walk user stacks
WALKS = "stack.bpf.h table_stack.bpf.h unwind.bpf.h unwind_process.bpf.h"
WALKING_MODES = ("diagnose", "record -p")

FAULT = "fault_begin fault_end fault_class"

# Events whose CPU time is measured, in ns
EVENTS = (
    Work("fault", "minor page fault", "fault", 40_000, "page_fault_user", FAULT,
         {"all": Times(1.3, EMPTY), "export": 65, "-p watched": 220, "-p another": 30}),
    Work("getppid", "getppid, a call that no probe counts", "getppid", 200_000, "sys_exit", "calls",
         {"-p watched": 42, "-p another": 42}),
    Work("mmap", "mmap and munmap, a pair", "mapunmap", 12_000, "sys_exit",
         "map_area mmap_lock calls", {"-p watched": 300, "-p another": 50}),
    Work("open", "open and close, a pair", "openclose", 20_000, "sys_exit", "calls",
         {"-p watched": 300, "diagnose watched": 450, "record -p watched": 450}),
    Work("pipe", "pipe round trip, two switches", "pipe", 8_000, "sched_switch sched_waking",
         "disk_wait calls", {"-p watched": 20, "-p another": 20}),
    Work("fork", "fork and exit", "fork", 400, "sched_process_fork sched_process_exit",
         "lifecycle cgroup " + FAULT, {"-p --children watched": 8_000}),
    Work("exec", "exec of true(1), with its exit", "exec", 80,
         "sched_process_exec sched_process_exit", "lifecycle calls map_area mmap_lock " + FAULT,
         {"-p --children watched": 15_000}),
    Work("signal", "signal", "signal", 80_000, "signal_generate", "signal calls",
         {"-p watched": 100}),
)

Mode = namedtuple("Mode", "name tool watches_one")

JSON = ["faultscope", "--json"]
DAY = "86400"

# The ways to run faultscope. With `run`, the tool starts the workload.
MODES = (
    Mode("all", faultscope("all"), False),
    Mode("export", Tool("export", ["faultscope", "export", "--web.listen-address=127.0.0.1:0"]),
         False),
    Mode("-p", faultscope("-p", "-p", "{pid}"), True),
    Mode("run", Tool("run", ["faultscope", "run", "--json", "-o", "{tmp}/run.json", "--"],
                     wraps=True), True),
    Mode("diagnose", Tool("diagnose", ["faultscope", "diagnose", "--json", "-p", "{pid}", "-d",
                                       DAY], ready=ATTACHED, settle=0.5), True),
    Mode("record -p", Tool("record -p", ["faultscope", "record", "--force", "-p", "{pid}", "-o",
                                         "{tmp}/bench.fsr"], settle=0.5), True),
    Mode("-p --children", faultscope("-p --children", "-p", "{pid}", "--children"), True),
)

Peer = namedtuple("Peer", "work name tool")


def counts(*tracepoints):
    return ", ".join(f"tracepoint:{name}" for name in tracepoints) + " { @[pid] = count(); }"


def perf(name, *words):
    return Tool(name, ["perf", *words])


# Other tools, for the work that they can count. Each tool observes every process.
PEERS = (
    Peer("fault", "bpftrace", bpftrace("bpftrace", counts("exceptions:page_fault_user"))),
    Peer("fault", "perf stat", perf("perf stat", "stat", "-a", "-e", "page-faults")),
    Peer("fault", "perf record", perf("perf record", "record", "-q", "-o", "{tmp}/perf.data", "-a",
                                      "-c", "1", "-e", "page-faults")),
    Peer("getppid", "bpftrace", bpftrace("bpftrace", counts("raw_syscalls:sys_exit"))),
    Peer("mmap", "bpftrace", bpftrace("bpftrace", counts("syscalls:sys_exit_mmap",
                                                         "syscalls:sys_exit_munmap"))),
    Peer("open", "bpftrace", bpftrace("bpftrace", counts("syscalls:sys_exit_openat",
                                                         "syscalls:sys_exit_close"))),
    Peer("pipe", "bpftrace", bpftrace("bpftrace", counts("sched:sched_switch"))),
    Peer("pipe", "perf stat", perf("perf stat", "stat", "-a", "-e", "context-switches")),
    Peer("fork", "bpftrace", bpftrace("bpftrace", counts("sched:sched_process_fork",
                                                         "sched:sched_process_exit"))),
    Peer("exec", "bpftrace", bpftrace("bpftrace", counts("sched:sched_process_exec"))),
    Peer("signal", "bpftrace", bpftrace("bpftrace", counts("signal:signal_generate"))),
)

SEEN_BY_PROGRAMS = "lifecycle signal map_area mmap_lock disk_wait calls " + FAULT
ONE_PERCENT = {"-p another": 1}

# Real programs, whose added CPU time is measured, in percent
PROGRAMS = (
    Work("redis", "Redis: GET and SET", probes=SEEN_BY_PROGRAMS, goals=ONE_PERCENT),
    Work("nginx", "nginx: small files", probes=SEEN_BY_PROGRAMS, goals=ONE_PERCENT),
    Work("sqlite", "SQLite: transactions", probes=SEEN_BY_PROGRAMS, goals=ONE_PERCENT),
    Work("pgbench", "PostgreSQL: pgbench", probes=SEEN_BY_PROGRAMS, goals=ONE_PERCENT),
    Work("make", "make -j2 of a C project", probes=SEEN_BY_PROGRAMS, goals=ONE_PERCENT),
    Work("sched", "perf bench sched messaging", probes=SEEN_BY_PROGRAMS, goals=ONE_PERCENT),
)
# Tools that real programs are measured with
PROGRAM_MODES = (NOTHING, "all", "export", "-p")

EVERY_PROBE = "scan oom log tlb reclaim compaction " + SEEN_BY_PROGRAMS
Own = namedtuple("Own", "work mode title unit goal probes")

# What faultscope itself takes. The name of the work selects a row, like ROWS=start.
ITSELF = (
    Own("start", "all", "first line of `faultscope`", "ms", 100, EVERY_PROBE),
    Own("start", "-p", "first line of `faultscope -p PID`", "ms", 100, EVERY_PROBE),
    Own("start", "export", "address line of `faultscope export`", "ms", 100, EVERY_PROBE),
    Own("start", "run", "`faultscope run -- true`, to its end", "ms", 100, EVERY_PROBE),
    Own("start", "doctor", "first line of `faultscope doctor`", "ms", 100, EVERY_PROBE),
    Own("start", "diagnose", "first line of `faultscope diagnose`", "ms", 150, EVERY_PROBE),
    Own("start", "bpftrace", "first line of bpftrace, which counts page faults", "ms", None, ""),
    Own("start", "perf stat", "first line of perf stat, at an interval of 10 ms", "ms", None, ""),
    Own("memory", "-p", "resident memory with -p", "MiB", 10, EVERY_PROBE),
    Own("memory", "all", "resident memory, all processes", "MiB", 10, EVERY_PROBE),
    Own("memory", "export", "resident memory of `faultscope export`", "MiB", 10, EVERY_PROBE),
    Own("memory", "all, churn", "resident memory, while a process forks without a pause", "MiB", 12,
        EVERY_PROBE),
    Own("memory", "bpftrace", "resident memory of bpftrace, which counts page faults", "MiB", None,
        ""),
    Own("kernel-memory", "all", "kernel memory for each idle process", "bytes", 1024, "state scan"),
    Own("scan", "5,000 processes", "CPU time of a scan of 5,000 processes", "ms", 2, "scan"),
    Own("scan", "18,000 threads", "CPU time of a scan of 18,000 threads in two processes", "ms", 2,
        "scan"),
    Own("cpu", "idle machine", "CPU time per second, while no other process is started", "ms", None,
        "scan"),
    Own("cpu", "1,000 processes", "CPU time per second with 1,000 more idle processes", "ms", None,
        "scan"),
    Own("size", "stripped", "size of the program without symbols", "KB", None, ""),
    Own("report", "one hour", "HTML report of one hour, 24 processes", "KB", 500, ""),
)

NAMES = list(dict.fromkeys([*(work.name for work in EVENTS + PROGRAMS),
                            *(own.work for own in ITSELF)]))


def files_of(probes, mode):
    """Returns the files that a row depends on, as a sorted list of paths below bpf/."""
    if not probes:
        return []
    names = STATE.split() + (WALKS.split() if mode in WALKING_MODES else [])
    for probe in probes.split():
        names += FILES[probe].split()
    return sorted(set(names))


def goal_of(work, mode, of=None):
    """Returns the goal of a row as a number or Times; None: the row has no goal."""
    return work.goals.get(f"{mode} {of}" if of else mode)
