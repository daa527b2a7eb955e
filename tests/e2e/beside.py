# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs tests in parallel, each in a child process that prints TAP. Tests marked quiet run alone,
tests marked idle beside all others.

A test spends most of its time on loading BPF programs, which uses one CPU, and on waiting. A test
body may also exec another program that prints TAP, as tests/vm does for each kernel.
"""
import os
import re
import signal
import sys
import tempfile
import time
import traceback

POLL = 0.02
IDLE_JOBS = 2
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
        """Runs the test body in the child process and never returns. A SIGTERM of the parent ends
        the child."""
        status = BROKEN
        try:
            os.dup2(self.out.fileno(), 1)
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
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

    def run(self, bodies, jobs, idle=()):
        """Runs the (name, function) pairs `bodies` in order, at most `jobs` of them at a time. Runs
        those in `idle` beside them, at most IDLE_JOBS at a time."""
        take_signals()
        lanes = [(list(bodies), jobs, {}), (list(idle), IDLE_JOBS, {})]
        try:
            while any(waiting or running for waiting, _, running in lanes):
                for waiting, most, running in lanes:
                    self.step(waiting, most, running)
                time.sleep(POLL)
        finally:
            for _, _, running in lanes:
                for child in running:
                    child.stop()

    def step(self, waiting, most, running):
        """Starts waiting tests, and prints the results of tests that have ended."""
        while waiting and len(running) < most:
            name, body = waiting.pop(0)
            running[Child(body)] = name
        for child in [one for one in running if one.ended()]:
            self.tell(running.pop(child), child)
