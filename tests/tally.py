#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs test programs that print TAP, one after another, and adds up their results.

usage: tally.py [--log FILE] COMMAND...
       tally.py --self-test

Each argument is a shell command. The script prints one line with the result of each command, and
writes the output of the command to FILE. A command fails if one of its tests fails, or if its exit
status is not 0. It also fails if the number of tests that it prints differs from its plan, or if it
runs no test and gives no reason ("1..0 # SKIP REASON"). The last lines show the slowest tests (from
lines "# NAME took SECONDS s"), and each failure with its messages. They also show each command that
passed no test, and the numbers of passed, failed and skipped tests. The exit status is 1 if a test
failed or if none passed.
"""
import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import time

LINE = re.compile(r"(not )?ok\b\s*\d*\s*-?\s*(.*)")
PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*(skip\S*)\s*(.*))?", re.I)
TOOK = re.compile(r"# (.+) took (\d+) s")
CLEAR = "\x1b[2K"
SLOWEST = 10
MOST_WORDS = 20  # number of output lines of a failed command to print, counted from its last line


class Tap:
    """The parsed TAP output of one command."""

    def __init__(self, command):
        self.command = command
        self.passed = self.failed = self.skipped = 0
        self.plan = None
        self.reason = ""  # the reason, if the command skips all tests
        self.failures = []  # failures: lists of lines with the name of the test and its messages
        self.took = []  # (seconds, name) of each slow test
        # number of lines that may still be added to the messages of the last failure
        self.of_failure = 0

    def take(self, line):
        found, plan, took = LINE.match(line), PLAN.fullmatch(line), TOOK.fullmatch(line)
        if took:
            self.took.append((int(took[2]), took[1]))
        elif self.of_failure and line.startswith("#"):
            self.failures.append(line)
            self.of_failure -= 1
        if not found and not plan:
            return
        self.of_failure = 0
        if plan:
            self.plan = int(plan[1])
            self.reason = (plan[3] or "no reason given") if plan[2] else ""
        elif found[1]:
            self.failed += 1
            self.failures.append(line)
            self.of_failure = MOST_WORDS
        elif re.search(r"#\s*SKIP", found[2], re.I):
            self.skipped += 1
        else:
            self.passed += 1

    def end(self, status):
        """Checks the number of tests and the exit status after a command has ended."""
        seen = self.passed + self.failed + self.skipped
        if self.plan == 0 and not seen and self.reason:
            # the number of skipped tests is unknown, so the whole command counts as one
            self.skipped = 1
        elif not seen:
            return self.wrong("it tests nothing")
        elif self.plan != seen:
            return self.wrong(f"planned {self.plan}, saw {seen}")
        if status and not self.failed:
            self.wrong(f"exit status {status}")

    def wrong(self, what):
        self.failed += 1
        self.failures.append(f"not ok - {self.command}: {what}")


def counts(passed, failed, skipped):
    return f"{passed} passed, {failed} failed, {skipped} skipped"


class Job:
    """A running command, whose output is copied to a file."""

    def __init__(self, command):
        self.tap = Tap(command)
        self.began = time.monotonic()
        self.child = subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      errors="backslashreplace")

    def stop(self):
        if self.child.poll() is None:
            self.child.terminate()
            self.child.wait()

    def run(self, log):
        tap, last = self.tap, []
        if sys.stdout.isatty():
            print(f"... {tap.command}"[:os.get_terminal_size().columns - 1], end="\r", flush=True)
        print(f"== {tap.command}", file=log, flush=True)
        for line in self.child.stdout:
            line = line.rstrip("\n")
            tap.take(line)
            last = [*last[-MOST_WORDS + 1:], line]
            print(line, file=log, flush=True)
        of_tests = tap.failed
        tap.end(self.child.wait())
        if tap.failed > of_tests:
            tap.failures += [f"# {line}" for line in last]
        seconds = time.monotonic() - self.began
        print(f"{CLEAR if sys.stdout.isatty() else ''}"
              f"{'not ok' if tap.failed else 'ok'} - {tap.command}: "
              f"{counts(tap.passed, tap.failed, tap.skipped)}, {seconds:.0f} s", flush=True)
        if not tap.took:
            tap.took.append((round(seconds), tap.command))
        return tap


def tell_slowest(told):
    slowest = sorted((one for tap in told for one in tap.took), reverse=True)[:SLOWEST]
    for seconds, name in slowest:
        if seconds:
            print(f"# {seconds:4} s  {name}")


def tally(commands, log):
    told, job = [], None
    try:
        for command in commands:
            job = Job(command)
            told.append(job.run(log))
    finally:
        if job:
            job.stop()
    tell_slowest(told)
    for tap in told:
        if not tap.passed and not tap.failed:
            print(f"# nothing was tested: {tap.command}{': ' if tap.reason else ''}{tap.reason}")
        if tap.failures:
            print(f"# failed in {tap.command}")
        for line in tap.failures:
            print(line)
    sums = [sum(getattr(tap, name) for tap in told) for name in ("passed", "failed", "skipped")]
    if log.name != os.devnull:
        print(f"# all that the tests printed: {log.name}")
    print(counts(*sums))
    return 1 if sums[1] or not sums[0] else 0


# Cases of the self-test. Each has the output of a command, its exit status, and the counts (passed,
# failed, skipped). Then follow the exit status of tally.py and a text that its output must contain.
SELF = (
    ("ok 1 - a\n1..1\n", 0, (1, 0, 0), 0, ""),
    ("ok 1 - a\nnot ok 2 - b\n1..2\n", 1, (1, 1, 0), 1, ""),
    ("ok 1 - a # SKIP no root\nok 2 - b\n1..2\n", 0, (1, 0, 1), 0, ""),
    ("ok 1 - a # SKIP no root\n1..1\n", 0, (0, 0, 1), 1, "# nothing was tested: "),
    ("1..0 # SKIP no compiler\n", 0, (0, 0, 1), 1, ": no compiler"),
    ("1..0 # skip\n", 0, (0, 0, 1), 1, ": no reason given"),
    ("1..0 # SKIP no compiler\n", 3, (0, 1, 1), 1, "exit status 3"),
    ("1..0\n", 0, (0, 1, 0), 1, "it tests nothing"),
    ("", 0, (0, 1, 0), 1, "it tests nothing"),
    ("Traceback\n", 1, (0, 1, 0), 1, "it tests nothing"),
    ("ok 1 - a\n1..2\n", 0, (1, 1, 0), 1, "planned 2, saw 1"),
    ("ok 1 - a\n", 0, (1, 1, 0), 1, "planned None, saw 1"),
    ("ok 1 - a\n1..1\n", 2, (1, 1, 0), 1, "exit status 2"),
    ("Traceback\n", 1, (0, 1, 0), 1, "# Traceback"),
    ("not ok 1 - a\n# why\n1..1\n", 1, (0, 1, 0), 1, "not ok 1 - a\n# why\n"),
    ("ok 1 - a\n# a took 12 s\n1..1\n", 0, (1, 0, 0), 0, "#   12 s  a\n"),
)


def self_test():
    failed = 0
    for number, (text, status, sums, exits, holds) in enumerate(SELF, 1):
        ran = subprocess.run([sys.executable, __file__,
                              f"printf %s {shlex.quote(text)}; exit {status}"],
                             capture_output=True, text=True)
        last = counts(*sums)
        good = (ran.stdout.splitlines()[-1] == last and ran.returncode == exits
                and holds in ran.stdout)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {text!r} with status {status}: {last}")
        if not good:
            print("".join(f"#   {line}\n" for line in ran.stdout.splitlines()), end="")
    print(f"1..{len(SELF)}")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--self-test", action="store_true", help="test tally.py itself")
    parser.add_argument("--log", metavar="FILE", default=os.devnull,
                        help="file to which all output of the commands is written (default: none)")
    parser.add_argument("commands", metavar="COMMAND", nargs="*")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.commands:
        parser.error("no command")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # an outer make must not affect a make that a test runs
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        os.environ.pop(name, None)
    with open(options.log, "w", encoding="utf-8", errors="backslashreplace") as log:
        return tally(options.commands, log)


if __name__ == "__main__":
    sys.exit(main())
