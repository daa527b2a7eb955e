#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs single tests of a suite that has a run.py, each in a child process.

usage: batch.py FOLDER [--live] [--counts DIR] [--jobs N] [--first]

Without names on standard input, the script prints one line of JSON for each test: its name, a
digest of its source, whether it needs live BPF programs, and whether it must run alone. If standard
input has names (a JSON list of [name, timeout in seconds, CPU limit in seconds]), the script runs
these tests. For each test it prints the name, the status, the CPU time and the duration in seconds.
The CPU time is that of the test and of the programs that it started and waited for. The CPU limit
applies to each of these processes. The status is "passed", "failed", "skipped", or "longer" for a
test that exceeded its timeout. With --counts, tests leave gcov counters in DIR/NAME. With --first,
the script stops at the first failure.
"""
import argparse
import hashlib
import inspect
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

POLL = 0.01
GRACE = 5  # seconds between SIGTERM and SIGKILL
STATUS = {0: "passed", 77: "skipped"}


class Counted:
    """Replaces the class run.Tap, and stores only the result of a test."""

    def __init__(self):
        self.passed = self.failed = 0

    def say(self, name, wrong=(), skip=None):
        self.failed += bool(wrong)
        self.passed += not wrong and not skip

    def status(self):
        return 1 if self.failed else 0 if self.passed else 77


class Child:
    """A child process that runs one test."""

    def __init__(self, runner, test, patience, most_cpu, counts):
        self.name = test.name
        self.began = time.monotonic()
        self.patience, self.asked = patience, None
        self.pid = os.fork()
        if not self.pid:
            self.be(runner, test, most_cpu, counts)

    def be(self, runner, test, most_cpu, counts):
        """Runs the test in the child process and never returns."""
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (most_cpu, most_cpu + GRACE))
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
            if counts:
                os.environ["GCOV_PREFIX"] = f"{counts}/{self.name}"
            runner.tap.__class__ = type("Tap", (Counted, type(runner.tap)), {})
            Counted.__init__(runner.tap)
            test.do(*test.args)
            status = runner.tap.status()
        except SystemExit:
            pass
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def ended(self):
        """Returns the status of a test, or None while the test runs. Kills a test that exceeds its
        timeout."""
        pid, status, used = os.wait4(self.pid, os.WNOHANG)
        now = time.monotonic()
        if pid:
            self.seconds, self.wall = used.ru_utime + used.ru_stime, now - self.began
            return "longer" if self.asked else STATUS.get(os.waitstatus_to_exitcode(status), "failed")
        if not self.asked and now > self.began + self.patience:
            self.asked = now
            os.kill(self.pid, signal.SIGTERM)
        elif self.asked and now > self.asked + GRACE:
            os.kill(self.pid, signal.SIGKILL)
        return None

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        self.patience = 0
        while self.ended() is None:
            time.sleep(POLL)


class Named:
    """A test, or one case of a scenario, with the properties that the script prints when it lists
    the tests."""

    def __init__(self, name, test, do, args):
        self.name, self.do, self.args = name, do, args
        self.digest = hashlib.sha1(inspect.getsource(test).encode()).hexdigest()
        self.needs_live = hasattr(test, "expect") or getattr(test, "needs_live", False)
        self.alone = getattr(test, "wants_quiet", False) or getattr(test, "is_aside", False)


def end_in_order(close):
    """Replaces Lab.close(). A process that is killed by SIGKILL writes no gcov counters, so
    programs under test get SIGTERM first."""
    def closing(lab, *args):
        for process in lab.started:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(GRACE)
                except subprocess.TimeoutExpired:
                    pass
        close(lab, *args)
    return closing


def put(**row):
    print(json.dumps(row), flush=True)


def run_all(runner, tests, options):
    """Runs the tests, a list of (test, timeout, CPU limit). Tests that must run alone come last,
    one by one."""
    waiting = sorted(tests, key=lambda one: one[0].alone)
    running = []
    try:
        while waiting or running:
            while waiting and len(running) < (1 if waiting[0][0].alone else options.jobs):
                running.append(Child(runner, *waiting.pop(0), options.counts))
            for child in list(running):
                status = child.ended()
                if status:
                    running.remove(child)
                    put(name=child.name, status=status, seconds=child.seconds, wall=child.wall)
                    if options.first and status in ("failed", "longer"):
                        return
            time.sleep(POLL)
    finally:
        for child in running:
            child.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--counts", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--first", action="store_true")
    options = parser.parse_args()
    sys.path[:0] = ["tests/e2e", str(options.folder)]
    import run  # pylint: disable=import-outside-toplevel

    runner = run.Runner(argparse.Namespace(no_live=True, keep=False, make_recordings=False))
    runner.live, runner.tap = options.live, run.Tap()
    if options.counts:
        run.Lab.close = end_in_order(run.Lab.close)
    named = {}
    for name, test in run.find_tests(None, options.folder.glob("test_*.py")):
        for full, do, args in runner.bodies(name, test):
            named[full] = Named(full, test, do, args)
    text = sys.stdin.read()
    if not text:
        for test in named.values():
            put(name=test.name, digest=test.digest, needs_live=test.needs_live, alone=test.alone)
        return
    try:
        run.use_schema()  # compiles it once for all children, which fail without a schema
    except Exception:
        pass
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    run_all(runner, [(named[name], *limits) for name, *limits in json.loads(text)], options)


if __name__ == "__main__":
    main()
