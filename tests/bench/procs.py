# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs workloads and tools as processes: starts them, waits until they are attached, and stops
them."""
import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import namedtuple

from bpf_programs import Attached, programs_of

PIN = os.cpu_count() - 1  # the CPU of workloads
READY_SECONDS = 30
# A tool has attached its probes when, for this time, it has attached nothing and all its threads have
# slept: while the kernel verifies a program, a thread runs. The first output line may be earlier.
STABLE_SECONDS = 0.4
# Parts of the names of files that stand for an attached probe
PROBE_FILES = "bpf_link", "bpf-raw-tracepoint", "perf_event"
ATTACHING = {"faultscope", "empty", "bpftrace", "perf"}


class CannotRun(Exception):
    """Raised if a tool or workload is missing or failed. The message is the reason."""


class Tool(namedtuple("Tool", "name argv ready settle wraps share once")):
    """How to run a tool.

    In argv, {pid} stands for the pid of the workload, {other} for the pid of an idle process, and
    {tmp} for a directory.
    ready    text that the tool prints when it is attached; None if it prints no such text
    settle   seconds to wait after the ready text, before the work starts
    wraps    True if the tool starts the workload, whose command line is then appended to argv
    share    fraction of the usual number of operations, less than 1 for very slow tools
    once     True if the tool is measured in one round only
    """
    __slots__ = ()

    def __new__(cls, name, argv, ready=None, settle=0.1, wraps=False, share=1, once=False):
        return super().__new__(cls, name, argv, ready, settle, wraps, share, once)


START, ATTACHED = '"type":"start"', '"type":"probes"'  # lines of JSON output


def faultscope(name, *options):
    """Returns a Tool for faultscope with JSON output. The first line of this output says that the
    probes are attached. With -p, a later line says so. The last line has faultscope's own CPU
    time."""
    return Tool(name, ["faultscope", "--json", *options], ready=ATTACHED if "-p" in options else START)


def bpftrace(name, program):
    # bpftrace prints "ready" in BEGIN, before it attaches the other probes, so `settle` is needed.
    program = 'BEGIN { printf("ready\\n"); } ' + program
    return Tool(name, ["bpftrace", "-e", program], ready="ready\n", settle=0.4)


TRACEFS = "/sys/kernel/tracing"
CLONE_NEWNS = 0x20000  # include/uapi/linux/sched.h
MS_PRIVATE_ALL = 1 << 18 | 1 << 14  # MS_PRIVATE | MS_REC, include/uapi/linux/mount.h


def mount_tracefs():
    """Mounts tracefs, which bpftrace and perf need, for this process and its children alone. Does
    nothing if tracefs is mounted, or may not be mounted."""
    libc = ctypes.CDLL(None)
    if not os.path.isdir(TRACEFS + "/events") and not libc.unshare(CLONE_NEWNS):
        libc.mount(None, b"/", None, MS_PRIVATE_ALL, None)
        libc.mount(b"tracefs", TRACEFS.encode(), b"tracefs", 0, None)


class Setup:
    """The paths that a benchmark uses, and a sleeping process. The attributes are root, build, tmp
    and other. The attribute other is the pid of the sleeping process."""

    def __init__(self, root, build):
        self.root, self.build = root, build
        mount_tracefs()
        self.tmp = tempfile.mkdtemp(prefix="bench-")
        self.sleeper = subprocess.Popen(["sleep", "infinity"])
        self.other = self.sleeper.pid

    def close(self):
        stop(self.sleeper)
        shutil.rmtree(self.tmp, ignore_errors=True)

    def workload(self, name):
        if name.endswith(".py"):
            return os.path.join(self.root, "tests/bench", name)
        return os.path.join(self.build, "workloads", name)

    def argv(self, tool, pid=0):
        words = [word.replace("{pid}", str(pid)).replace("{other}", str(self.other))
                 .replace("{tmp}", self.tmp) for word in tool.argv]
        ours = {"faultscope": "faultscope", "empty": "bench/empty"}
        if words[0] in ours:
            words[0] = os.path.join(self.build, ours[words[0]])
        path = shutil.which(words[0])
        if not path:
            raise CannotRun("not installed")
        return [path, *words[1:]]


def stop(process):
    """Ends a process with SIGINT, then SIGTERM, then SIGKILL."""
    for number, seconds in (signal.SIGINT, 5), (signal.SIGTERM, 2), (signal.SIGKILL, 5):
        if process.poll() is None:
            process.send_signal(number)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
    return None


def last_words(path):
    with open(path, errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    return lines[-1] if lines else "no message"


class Running:
    """Context manager that runs a tool. When the context has ended, `end` contains the last line of
    faultscope's output. `group` is a control group that the tool joins."""

    def __init__(self, setup, tool, pid=0, group=None):
        self.group = group
        self.attached = Attached()
        self.setup, self.tool, self.pid_of_work = setup, tool, pid
        self.out, self.err = (os.path.join(setup.tmp, name) for name in ("tool.out", "tool.err"))
        self.end = None
        self.process = None

    @classmethod
    def of(cls, setup, tool, process):
        """Returns the Running of a tool that starts its workload itself."""
        running = cls(setup, tool)
        running.process = process
        return running

    def __enter__(self):
        argv = self.setup.argv(self.tool, self.pid_of_work)
        if self.group:
            argv = self.group.entered(argv)
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            self._wait_until_ready()
        except BaseException:
            stop(self.process)
            raise
        return self

    def _wait_until_ready(self):
        give_up = time.monotonic() + READY_SECONDS
        while not self._is_ready():
            if self.process.poll() is not None:
                raise CannotRun(f"exit {self.process.returncode}: {last_words(self.err)}")
            if time.monotonic() > give_up:
                raise CannotRun(f"not attached after {READY_SECONDS} s")
            time.sleep(0.005)
        if self.tool.argv[0] in ATTACHING:
            self._wait_until_attached(give_up)
        time.sleep(self.tool.settle)
        if self.process.poll() is not None:
            raise CannotRun(f"exit {self.process.returncode}: {last_words(self.err)}")

    def _wait_until_attached(self, give_up):
        attached, since = 0, time.monotonic()
        while not attached or time.monotonic() - since < STABLE_SECONDS:
            now = self._attached()
            if now != attached or self._is_busy():
                attached, since = now, time.monotonic()
            if self.process.poll() is not None:
                raise CannotRun(f"exit {self.process.returncode}: {last_words(self.err)}")
            if time.monotonic() > give_up:
                raise CannotRun(f"not attached after {READY_SECONDS} s")
            time.sleep(0.01)

    def _attached(self):
        """Returns how many files of attached probes the tool holds."""
        place, found = f"/proc/{self.process.pid}/fd", 0
        for name in os.listdir(place):
            with contextlib.suppress(OSError):
                target = os.readlink(f"{place}/{name}")
                found += any(part in target for part in PROBE_FILES)
        return found

    def _is_busy(self):
        """Returns whether a thread of the tool runs or wants to run."""
        place = f"/proc/{self.process.pid}/task"
        for name in os.listdir(place):
            with contextlib.suppress(OSError), open(f"{place}/{name}/stat", "rb") as file:
                if file.read().rpartition(b") ")[2][:1] == b"R":
                    return True
        return False

    def own_programs(self):
        """Returns the ids of the BPF programs that the tool holds or has attached."""
        return programs_of(self.process.pid)

    def _is_ready(self):
        if self.tool.ready is None:
            return True
        with open(self.out, errors="replace") as file:
            return self.tool.ready in file.read(1 << 16)

    def __exit__(self, *_):
        self.attached.look(self.process.pid)
        stop(self.process)
        self.attached.wait_until_detached()
        if self.tool.argv[0] == "faultscope" and "--json" in self.tool.argv:
            try:
                self.end = json.loads(last_words(self.out))
            except ValueError:
                pass

    def cpu_ns(self):
        """Returns the CPU time of a process in ns, from the clock id of clock_getcpuclockid(3)."""
        return time.clock_gettime_ns(~self.process.pid << 3 | 2)

    def memory_kib(self, field):
        with open(f"/proc/{self.process.pid}/status") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return int(line.split()[1])
        raise CannotRun(f"no {field} in /proc")


class Workload:
    """Context manager that runs a workload. With --wait, the workload waits at its start until go()
    is called. truth() returns the workload's output line."""

    def __init__(self, setup, name, *words, before=()):
        self.argv = [*before, setup.workload(name), *map(str, words), "--wait"]
        self.err = os.path.join(setup.tmp, "workload.err")

    def __enter__(self):
        with open(self.err, "wb") as err:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, text=True,
                                            stdout=subprocess.PIPE, stderr=err)
        try:
            self.pid = self.truth()["pid"]
        except BaseException:
            stop(self.process)
            raise
        return self

    def __exit__(self, *_):
        # With --hold, the workload and its children exist until its standard input is closed. If
        # the workload does not end then, a signal ends it.
        self.process.stdin.close()
        try:
            self.process.wait(0 if self.process.poll() is not None else 0.5)
        except subprocess.TimeoutExpired:
            stop(self.process)
        self.process.stdout.close()

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def truth(self):
        line = self.process.stdout.readline()
        if not line:
            raise CannotRun(f"{os.path.basename(self.argv[0])}: {last_words(self.err)}")
        return json.loads(line)
