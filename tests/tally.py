#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs test programs that print TAP, and adds up their results.

usage: tally.py [--log FILE] [--jobs N] COMMAND...
       tally.py --self-test

Each argument is a shell command, except the word `then`: the commands after it start when all
commands before it have ended. Apart from that, N commands run at once. The script prints one line
with the result of each command, and writes the output of the command to FILE. A command fails if
one of its tests fails, or if its exit status is not 0. It also fails if the number of tests that it
prints differs from its plan, or if it runs no test and gives no reason ("1..0 # SKIP REASON"). The
last lines show the slowest tests (from lines "# NAME took SECONDS s"), and each failure with its
messages. They also show each command that passed no test, and the numbers of passed, failed and
skipped tests. The exit status is 1 if a test failed or if none passed.
"""
import argparse
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

LINE = re.compile(r"(not )?ok\b\s*\d*\s*-?\s*(.*)")
PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*(skip\S*)\s*(.*))?", re.I)
TOOK = re.compile(r"# (.+) took (\d+) s")
THEN = "then"
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


class Log:
    """The file with the output of all commands, and standard output, for threads."""

    def __init__(self, file):
        self.file = file
        self.lock = Lock()

    def begin(self, command):
        if sys.stdout.isatty():
            with self.lock:
                print(f"... {command}"[:os.get_terminal_size().columns - 1], end="\r", flush=True)

    def end(self, text, result):
        """Writes the output of a command to the file, and prints its result."""
        with self.lock:
            self.file.write(text)
            self.file.flush()
            print(f"{CLEAR if sys.stdout.isatty() else ''}{result}", flush=True)


class Job:
    """A command whose output is copied to a file."""

    def __init__(self, command):
        self.tap = Tap(command)
        self.child = None
        self.lock = Lock()  # of `child` and `stopped`
        self.stopped = False

    def start(self):
        with self.lock:
            if self.stopped:
                sys.exit(1)
            self.child = subprocess.Popen(self.tap.command, shell=True, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                          text=True, errors="backslashreplace",
                                          start_new_session=True)

    def stop(self):
        """Ends the command and the processes that it started, except those with a session of their
        own."""
        with self.lock:
            self.stopped = True
        if self.child and self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGTERM)
            self.child.wait()

    def run(self, log, is_alone):
        """Runs the command. If it is alone, its output goes to the log at once. Else the output goes
        to the log when the command ends."""
        tap, last, began = self.tap, [], time.monotonic()
        out = log.file if is_alone else io.StringIO()
        self.start()
        log.begin(tap.command)
        print(f"== {tap.command}", file=out, flush=True)
        for line in self.child.stdout:
            line = line.rstrip("\n")
            tap.take(line)
            last = [*last[-MOST_WORDS + 1:], line]
            print(line, file=out, flush=True)
        of_tests = tap.failed
        tap.end(self.child.wait())
        if tap.failed > of_tests:
            tap.failures += [f"# {line}" for line in last]
        seconds = time.monotonic() - began
        log.end("" if is_alone else out.getvalue(),
                f"{'not ok' if tap.failed else 'ok'} - {tap.command}: "
                f"{counts(tap.passed, tap.failed, tap.skipped)}, {seconds:.0f} s")
        if not tap.took:
            tap.took.append((round(seconds), tap.command))


def tell_slowest(told):
    slowest = sorted((one for tap in told for one in tap.took), reverse=True)[:SLOWEST]
    for seconds, name in slowest:
        if seconds:
            print(f"# {seconds:4} s  {name}")


def groups_of(commands):
    """Yields the lists of commands between the words `then`."""
    group = []
    for command in commands:
        if command == THEN:
            yield group
            group = []
        else:
            group.append(command)
    yield group


def run_group(jobs, at_once, log):
    """Runs jobs, `at_once` at a time. If this script is ended, it ends its jobs."""
    is_alone = at_once == 1 or len(jobs) == 1
    pool = ThreadPoolExecutor(at_once)
    try:
        for ended in [pool.submit(job.run, log, is_alone) for job in jobs]:
            ended.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for job in jobs:
            job.stop()


def tally(commands, at_once, log):
    told = []
    for group in groups_of(commands):
        jobs = [Job(command) for command in group]
        run_group(jobs, at_once, Log(log))
        told += [job.tap for job in jobs]
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


# Arguments of the self-test for commands that run at once: the first command waits for the second,
# and the third one fails unless both have ended.
AT_ONCE = ("until [ -e {0}/second ]; do sleep 0.01; done; echo ok 1 - a; sleep 0.1; echo 1..1; "
           "touch {0}/first",
           "touch {0}/second; echo ok 1 - b; sleep 0.2; echo 1..1; touch {0}/done",
           THEN,
           "[ -e {0}/first ] && [ -e {0}/done ] && echo ok 1 - c; echo 1..1")


def test_at_once():
    """Returns whether commands run at once, wait for those before `then`, and share the log."""
    with tempfile.TemporaryDirectory() as place:
        commands = [command.format(place) for command in AT_ONCE]
        log = os.path.join(place, "log")
        ran = subprocess.run([sys.executable, __file__, "--jobs", "2", "--log", log, *commands],
                             capture_output=True, text=True)
        with open(log, encoding="utf-8") as file:
            logged = file.read()
    whole = [f"== {command}\nok 1 - {name}\n1..1\n"
             for command, name in zip([one for one in commands if one != THEN], "abc")]
    return (ran.returncode == 0 and ran.stdout.endswith(counts(3, 0, 0) + "\n")
            and all(part in logged for part in whole) and logged.endswith(whole[-1]))


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
    good = test_at_once()
    failed += not good
    print(f"{'ok' if good else 'not ok'} {len(SELF) + 1} - two commands at once, then a third")
    print(f"1..{len(SELF) + 1}")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--self-test", action="store_true", help="test tally.py itself")
    parser.add_argument("--log", metavar="FILE", default=os.devnull,
                        help="file to which all output of the commands is written (default: none)")
    parser.add_argument("--jobs", metavar="N", type=int, default=1,
                        help="commands that run at once (default: 1)")
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
        return tally(options.commands, options.jobs, log)


if __name__ == "__main__":
    sys.exit(main())
