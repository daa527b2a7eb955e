#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs test programs that print TAP, one after another, and adds up what they say.

usage: tally.py COMMAND...
       tally.py --self-test

Each argument is one shell command. What does not end cleanly, or prints fewer or more lines than
its plan, is a failure too, and so is one that tests nothing and does not say why ("1..0 # SKIP
REASON"). The closing lines name each command that passed no test, and count passes, failures and
skips. Exit status 1 where something failed, or where nothing passed at all.
"""
import argparse
import re
import shlex
import signal
import subprocess
import sys
import time

LINE = re.compile(r"(not )?ok\b\s*\d*\s*-?\s*(.*)")
PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*(skip\S*)\s*(.*))?", re.I)


class Tap:
    """What one command printed."""

    def __init__(self, command):
        self.command = command
        self.passed = self.failed = self.skipped = 0
        self.plan = None
        self.reason = ""  # why it skips all

    def take(self, line):
        found, plan = LINE.match(line), PLAN.fullmatch(line)
        if found and found[1]:
            self.failed += 1
        elif found and re.search(r"#\s*SKIP", found[2], re.I):
            self.skipped += 1
        elif found:
            self.passed += 1
        elif plan:
            self.plan = int(plan[1])
            self.reason = (plan[3] or "no reason given") if plan[2] else ""

    def end(self, status):
        """Settles the counts; returns what is wrong with the whole of it, or an empty string."""
        seen = self.passed + self.failed + self.skipped
        if self.plan == 0 and not seen and self.reason:
            self.skipped = 1  # as one: how many it would have been, nobody says
        elif not seen:
            return self.wrong("it tests nothing")
        elif self.plan != seen:
            return self.wrong(f"planned {self.plan}, saw {seen}")
        if status and not self.failed:
            return self.wrong(f"exit status {status}")
        return ""

    def wrong(self, what):
        self.failed += 1
        return f"not ok - {self.command}: {what}"


class Job:
    """A command that runs, told as it goes."""

    def __init__(self, command):
        self.command = command
        self.began = time.monotonic()
        self.child = subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, text=True,
                                      stdout=subprocess.PIPE, errors="backslashreplace")

    def stop(self):
        if self.child.poll() is None:
            self.child.terminate()
            self.child.wait()

    def tell(self):
        """Prints what it says; returns it as a Tap."""
        tap = Tap(self.command)
        print(f"== {self.command}", flush=True)
        for line in self.child.stdout:
            line = line.rstrip("\n")
            tap.take(line)
            print(line, flush=True)
        wrong = tap.end(self.child.wait())
        if wrong:
            print(wrong)
        print(f"# {time.monotonic() - self.began:.0f} s", flush=True)
        return tap


def tally(commands):
    told, job = [], None
    try:
        for command in commands:
            job = Job(command)
            told.append(job.tell())
    finally:
        if job:
            job.stop()
    for tap in told:
        if not tap.passed and not tap.failed:
            print(f"# nothing was tested: {tap.command}{': ' if tap.reason else ''}{tap.reason}")
    passed, failed, skipped = (sum(getattr(tap, name) for tap in told)
                               for name in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


# What a command prints and exits with, what is counted of it, the exit status of a tally of it alone,
# and what its output has to hold.
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
)


def self_test():
    failed = 0
    for number, (text, status, counts, exits, holds) in enumerate(SELF, 1):
        ran = subprocess.run([sys.executable, __file__,
                              f"printf %s {shlex.quote(text)}; exit {status}"],
                             capture_output=True, text=True)
        last = "%d passed, %d failed, %d skipped" % counts
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
    parser.add_argument("--self-test", action="store_true", help="test this program itself")
    parser.add_argument("commands", metavar="COMMAND", nargs="*")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.commands:
        parser.error("no command")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return tally(options.commands)


if __name__ == "__main__":
    sys.exit(main())
