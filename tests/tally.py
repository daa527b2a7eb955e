#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs test programs that print TAP, one after another, and adds up what they say.

usage: tally.py [--beside COMMAND]... COMMAND...

Each argument is one shell command; those beside them run one after another as well, at the same
time, and are told when the others are done. What does not end cleanly, or prints fewer or more
lines than its plan, is a failure too. The closing line counts passes, failures and skips.
"""
import argparse
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

LINE = re.compile(r"(not )?ok\b\s*\d*\s*-?\s*(.*)")


class Job:
    """A command that runs; what it prints is taken as it comes, or out of a file later."""

    def __init__(self, command, file=None):
        self.command = command
        self.began = time.monotonic()
        self.took = 0
        self.file = file
        self.child = subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, text=True,
                                      stdout=file or subprocess.PIPE, errors="backslashreplace")

    def lines(self):
        """All that it prints; it has ended then."""
        if self.file:
            self.file.seek(0)
        yield from self.file or self.child.stdout
        self.wait()

    def wait(self):
        self.child.wait()
        self.took = self.took or time.monotonic() - self.began

    def stop(self):
        if self.child.poll() is None:
            self.child.terminate()
            self.child.wait()

    def tell(self):
        """Prints what it says; returns (passed, failed, skipped)."""
        passed = failed = skipped = 0
        plan = None
        print(f"== {self.command}", flush=True)
        for line in self.lines():
            line = line.rstrip("\n")
            found = LINE.match(line)
            if found and found[1]:
                failed += 1
            elif found and re.search(r"#\s*SKIP", found[2], re.I):
                skipped += 1
            elif found:
                passed += 1
            elif re.fullmatch(r"1\.\.\d+.*", line):
                plan = int(re.match(r"1\.\.(\d+)", line)[1])
            print(line, flush=True)
        seen = passed + failed + skipped
        if plan is None or plan != seen:
            print(f"not ok - {self.command}: planned {plan}, saw {seen}")
            failed += 1
        if self.child.returncode and not failed:
            print(f"not ok - {self.command}: exit status {self.child.returncode}")
            failed += 1
        print(f"# {self.took:.0f} s", flush=True)
        return passed, failed, skipped


class Beside(threading.Thread):
    """Commands that run one after another while others do; they are told later."""

    def __init__(self, commands):
        super().__init__()
        self.commands = commands
        self.jobs = []
        self.ended = False

    def run(self):
        for command in self.commands:
            if self.ended:
                break
            self.jobs.append(Job(command, tempfile.TemporaryFile("w+", errors="backslashreplace")))
            self.jobs[-1].wait()

    def tell(self):
        self.join()
        for job in self.jobs:
            yield job.tell()

    def stop(self):
        self.ended = True
        for job in self.jobs:
            job.stop()
        self.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--beside", metavar="COMMAND", action="append", default=[])
    parser.add_argument("commands", metavar="COMMAND", nargs="+")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    beside, told, job = Beside(options.beside), [], None
    beside.start()
    try:
        for command in options.commands:
            job = Job(command)
            told.append(job.tell())
        told += beside.tell()
    finally:
        beside.stop()
        job.stop()
    totals = [sum(column) for column in zip(*told)]
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
