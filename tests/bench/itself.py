# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures what faultscope itself takes: time to start, memory, CPU time of scans, size of a report."""
import contextlib
import os
import subprocess
import time

from bpf_programs import Attached
from machine import Group
from procs import CannotRun, Running, Tool, Workload, bpftrace, stop
from rows import DAY, ITSELF, JSON, MODES, counts

START_SECONDS = 20
SCANS_A_SECOND = 10
WINDOW = 2  # seconds of a measurement of CPU time
COUNT_FAULTS = counts("exceptions:page_fault_user")
BPFTRACE = ["bpftrace", "-e", 'interval:ms:1 { printf("ready\\n"); } ' + COUNT_FAULTS]
# The command of each row of start-up time, and whether its first line is on standard error. The line
# of bpftrace comes from its second probe, when all probes are attached.
STARTS = {
    "all": (JSON, False),
    "-p": ([*JSON, "-p", "{other}"], False),
    "export": (["faultscope", "export", "--web.listen-address=127.0.0.1:0"], True),
    "run": (["faultscope", "run", "-q", "--", "true"], None),
    "doctor": (["faultscope", "doctor"], False),
    "diagnose": (["faultscope", "diagnose", "--json", "-p", "{other}", "-d", DAY], False),
    "bpftrace": (BPFTRACE, False),
    "perf stat": (["perf", "stat", "-I", "10", "-a", "-e", "page-faults"], True),
}
PROCESSES, THREADS = 5000, 9000  # a scan: processes; threads in each of two processes
IDLE = 1000, 3000  # numbers of processes between which kernel memory is compared


def ms_to_line(argv, on_stderr):
    """Returns the milliseconds from the start of a command to its first line, or to its end if
    `on_stderr` is None."""
    attached = Attached()
    start = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL if on_stderr else subprocess.PIPE,
                               stderr=subprocess.PIPE if on_stderr else subprocess.DEVNULL)
    stream = process.stderr if on_stderr else process.stdout
    try:
        line = process.wait(START_SECONDS) == 0 if on_stderr is None else stream.readline()
        ms = (time.monotonic() - start) * 1e3
    except subprocess.TimeoutExpired:
        line = None
    attached.look(process.pid)
    stop(process)
    stream.close()
    attached.wait_until_detached()
    if not line:
        raise CannotRun(f"{os.path.basename(argv[0])}: exit {process.returncode} without a line")
    return ms


@contextlib.contextmanager
def many(setup, mode, count, times=1):
    """Starts `count` processes or threads, `times` times. Fails if they cannot be started."""
    with contextlib.ExitStack() as stack:
        for _ in range(times):
            work = stack.enter_context(Workload(setup, "lives", mode, count))
            work.go()
            work.truth()
        yield


@contextlib.contextmanager
def forks(setup):
    with Workload(setup, "bench", "fork", 10 ** 12) as work:
        work.go()
        yield


class Itself:
    """All rows about faultscope itself."""

    def __init__(self, setup, names, results, sources):
        self.setup, self.results = setup, results
        self.rows = [own for own in ITSELF if own.work in names]
        for own in self.rows:
            results.expect((own.work, own.mode, None), own.unit, own.goal,
                           sources.fingerprint(own.probes, own.mode))
        self.take = {"start": self._start, "memory": self._memory, "scan": self._scan,
                     "kernel-memory": self._kernel_memory, "cpu": self._cpu, "size": self._size,
                     "report": self._report}
        self.tools = {mode.name: mode.tool for mode in MODES}
        self.tools["all, churn"] = self.tools["all"]
        self.tools["bpftrace"] = bpftrace("bpftrace", COUNT_FAULTS)

    def round(self, only=None):
        """Measures each row once; with `only`, the rows of these kinds of work."""
        for own in self.rows:
            key = own.work, own.mode, None
            if (only and own.work not in only) or self.results.gave_up(key):
                continue
            self.results.say(f"itself: {own.work} {own.mode}")
            try:
                self.results.add(key, self.take[own.work](own))
            except (CannotRun, OSError, subprocess.SubprocessError) as reason:
                self.results.fail(key, reason)

    def _start(self, own):
        argv, on_stderr = STARTS[own.mode]
        return ms_to_line(self.setup.argv(Tool("", argv)), on_stderr)

    def _memory(self, own):
        load = forks(self.setup) if "churn" in own.mode else contextlib.nullcontext()
        with load, Running(self.setup, self.tools[own.mode], self.setup.other) as running:
            time.sleep(2)
            return running.memory_kib("VmRSS") / 1024

    def _kernel_memory(self, _):
        """Returns the kernel memory that the maps of faultscope take for each further process.
        The kernel charges this memory to the control group of faultscope."""
        taken = []
        for count in IDLE:
            group = Group.of_memory()
            try:
                with many(self.setup, "procs", count), \
                        Running(self.setup, self.tools["all"], group=group):
                    time.sleep(2.5)
                    taken.append(group.kernel_bytes())
            finally:
                group.close()
        if not taken[0]:
            raise CannotRun("the control group counts no kernel memory")
        return (taken[1] - taken[0]) / (IDLE[1] - IDLE[0])

    def _cpu_ms(self, interval):
        tool = Tool("", [*JSON, "-o", "/dev/null", str(interval)], settle=0.5)
        with Running(self.setup, tool) as running:
            start, cpu = time.monotonic(), running.cpu_ns()
            time.sleep(WINDOW)
            return (running.cpu_ns() - cpu) / 1e6 / (time.monotonic() - start)

    def _scan(self, own):
        """Returns the CPU time of a scan, from two runs with different intervals."""
        load = (many(self.setup, "procs", PROCESSES) if "processes" in own.mode
                else many(self.setup, "threads", THREADS, 2))
        with load:
            slow = self._cpu_ms(1)
            return (self._cpu_ms(1 / SCANS_A_SECOND) - slow) / (SCANS_A_SECOND - 1)

    def _cpu(self, own):
        load = many(self.setup, "procs", 1000) if "1,000" in own.mode else contextlib.nullcontext()
        with load:
            return self._cpu_ms(1)

    def _size(self, _):
        stripped = os.path.join(self.setup.tmp, "stripped")
        subprocess.run(["strip", "-o", stripped, os.path.join(self.setup.build, "faultscope")],
                       check=True, timeout=60)
        return os.path.getsize(stripped) / 1000

    def _report(self, _):
        recording, page = (os.path.join(self.setup.tmp, name) for name in ("hour.fsr", "hour.html"))
        writer = os.path.join(self.setup.build, "pattern_recording")
        subprocess.run([writer, "1", "3600", recording], check=True, timeout=60)
        subprocess.run([os.path.join(self.setup.build, "faultscope"), "report", "--format", "html",
                        "-o", page, recording], check=True, timeout=60, capture_output=True)
        size = os.path.getsize(page) / 1000
        for path in recording, page:
            os.unlink(path)
        return size
