# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs tests in parallel, each in a child process that prints TAP. Tests marked quiet run alone,
except for one test marked aside, and tests marked idle beside all others.

A test spends most of its time on loading BPF programs, which uses one CPU, and on waiting. So more
tests run at once while CPUs of this machine are idle. A test body may also exec another program that
prints TAP, as tests/vm does for each kernel.
"""
import os
import re
import signal
import sys
import tempfile
import time
import traceback

import reaper

POLL = 0.02
IDLE_JOBS = 2
# If at least SPARE_CPUS were idle on average during SPARE_SECONDS, one more test can start. After
# this time, the CPU time that a test needs for its start shows.
SPARE_SECONDS = 0.5
SPARE_CPUS = 0.35
LONG_SECONDS = 5  # seconds; the runner prints the duration of tests that take longer
TAP_LINE = re.compile(r"^(ok|not ok) \d+ - ", re.M)
PLAN = re.compile(r"^1\.\.\d+\n", re.M)
# Exit statuses of a child process. FAILED: a test failed, and the child has printed this as TAP.
# BROKEN: the child ended for another reason.
FAILED, BROKEN = 1, 2


class Child:
    """A test in a child process whose standard output goes to a temporary file."""

    def __init__(self, body):
        self.out = tempfile.TemporaryFile("w+", errors="replace")
        sys.stdout.flush()
        self.began = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            self.be(body)

    def be(self, body):
        """Runs the test body in a child process of this process, and then ends what the body
        started. Never returns. A SIGTERM of the parent ends the body first."""
        status = BROKEN
        try:
            os.dup2(self.out.fileno(), 1)
            ended, left = reaper.run(lambda: self.be_test(body))
            for name in left:
                print(f"# {name} does not end", flush=True)
            status = BROKEN if left else ended if ended >= 0 else 128 - ended
        finally:
            os._exit(status)

    @staticmethod
    def be_test(body):
        """Runs the test body in the process of the test, and never returns."""
        status = BROKEN
        try:
            body()
            status = 0
        except SystemExit:
            pass  # exits after SIGTERM from the parent, or after printing its TAP
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)

    def ended(self):
        pid, status, used = os.wait4(self.pid, os.WNOHANG)
        self.status = os.waitstatus_to_exitcode(status)
        # includes the processes that the child waited for
        self.cpu_seconds = used.ru_utime + used.ru_stime
        return pid == self.pid

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)

    def text(self):
        self.out.seek(0)
        return self.out.read()


def take_signals():
    """Sets the signal handlers of a test suite and its children, even if some signals are ignored
    at the start. A shell starts background commands with SIGINT and SIGQUIT ignored, and nohup
    starts commands with SIGHUP ignored. Programs under test would inherit this, and would not react
    to signals that tests send. When the test suite gets SIGTERM, it ends its children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def idle_seconds():
    """Returns the time that the CPUs of this machine have been idle since boot, summed over all
    CPUs: the columns idle and iowait of /proc/stat."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = stat.readline().split()
    return (int(ticks[4]) + int(ticks[5])) / os.sysconf("SC_CLK_TCK")


class SpareCpus:
    """Measures whether CPUs of this machine are idle."""

    def __init__(self):
        self.restart()

    def restart(self):
        self.since, self.idle = time.monotonic(), idle_seconds()

    def found(self):
        """Returns whether SPARE_CPUS were idle since the last measurement. Each measurement takes
        SPARE_SECONDS; until it ends, the result is False."""
        took = time.monotonic() - self.since
        if took < SPARE_SECONDS:
            return False
        spare = (idle_seconds() - self.idle) / took
        self.restart()
        return spare >= SPARE_CPUS


class SideBySide:
    """Runs test bodies in parallel and prints their TAP lines, renumbered as one test run."""

    def __init__(self):
        self.done = self.failed = 0

    def tell(self, name, child):
        def number(found):
            self.done += 1
            self.failed += found[1] != "ok"
            return f"{found[1]} {self.done} - "

        failed = self.failed
        text = TAP_LINE.sub(number, PLAN.sub("", child.text()))
        if child.status not in (0, FAILED) or child.status and self.failed == failed:
            self.done += 1
            self.failed += 1
            text += f"not ok {self.done} - {name}: it ended with {child.status}\n"
        took = time.monotonic() - child.began
        if took >= LONG_SECONDS:
            text += f"# {name} took {took:.0f} s\n# CPU time of {name}: {child.cpu_seconds:.1f} s\n"
        print(text, end="", flush=True)

    def end(self):
        """Prints the TAP plan of all tests and returns the exit status."""
        print(f"1..{self.done}")
        return self.failed > 0

    def run(self, bodies, jobs, idle=(), most=0, idle_jobs=IDLE_JOBS):
        """Runs the (name, function) pairs `bodies` in order. At most `jobs` of them run at a time,
        or at most `most` while CPUs of this machine are idle. Runs those in `idle` beside them, at
        most `idle_jobs` at a time."""
        take_signals()
        spare = SpareCpus()
        waiting, running = list(bodies), {}
        waiting_idle, running_idle = list(idle), {}
        try:
            while waiting or running or waiting_idle or running_idle:
                self.step(waiting_idle, idle_jobs, running_idle)
                one_more = spare.found() and len(running) < most
                self.step(waiting, max(jobs, len(running) + one_more), running)
                time.sleep(POLL)
        finally:
            for child in (*running, *running_idle):
                child.stop()

    def step(self, waiting, most, running):
        """Starts waiting tests, and prints the results of tests that have ended."""
        while waiting and len(running) < most:
            name, body = waiting.pop(0)
            running[Child(body)] = name
        for child in [one for one in running if one.ended()]:
            self.tell(running.pop(child), child)
