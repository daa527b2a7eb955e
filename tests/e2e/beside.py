# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests side by side, each in a child of its own that prints TAP; those that need quiet, alone.

Most of a test is one load of BPF programs and waiting, and a load takes one CPU. A body may as well
become another program that prints TAP: tests/vm does each kernel so.
"""
import os
import re
import signal
import sys
import tempfile
import time
import traceback

POLL = 0.02
LONG_SECONDS = 5  # what takes longer is told of
TAP_LINE = re.compile(r"^(ok|not ok) \d+ - ", re.M)
PLAN = re.compile(r"^1\.\.\d+\n", re.M)
FAILED, BROKEN = 1, 2  # exit statuses: by its own tests, which it told of, or otherwise


class Child:
    """A test in a child of ours, that writes into a file."""

    def __init__(self, body):
        self.out = tempfile.TemporaryFile("w+", errors="replace")
        sys.stdout.flush()
        self.began = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            self.be(body)

    def be(self, body):
        """In the child: does not return. Its parent's end is an end like any other."""
        status = BROKEN
        try:
            os.dup2(self.out.fileno(), 1)
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
            body()
            status = 0
        except SystemExit:
            pass  # its parent ends, or it has told all
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)

    def ended(self):
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        self.status = os.waitstatus_to_exitcode(status)
        return pid == self.pid

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)

    def text(self):
        self.out.seek(0)
        return self.out.read()


def take_signals():
    """Sets what a suite and its children do at signals, whoever started it.

    A shell starts a background command with SIGINT and SIGQUIT ignored, nohup with SIGHUP. The
    programs under test would inherit that, and heed none of the signals that tests send. At SIGTERM
    the suite ends its children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


class SideBySide:
    """Runs bodies, each of which prints TAP, and prints it with numbers that go on."""

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
            text += f"# {name} took {took:.0f} s\n"
        print(text, end="", flush=True)

    def end(self):
        """Prints the plan of all; the exit status."""
        print(f"1..{self.done}")
        return self.failed > 0

    def run(self, bodies, jobs):
        """bodies: (name, body) in the order in which they begin; `jobs` at a time."""
        take_signals()
        waiting, running = list(bodies), {}
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    name, body = waiting.pop(0)
                    running[Child(body)] = name
                for child in [one for one in running if one.ended()]:
                    self.tell(running.pop(child), child)
                time.sleep(POLL)
        finally:
            for child in running:
                child.stop()
