#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs test programs that print TAP, one after another, and adds up what they say.

usage: tally.py COMMAND...

Each argument is one shell command. What does not end cleanly, or prints fewer or more lines than
its plan, is a failure too. The closing line counts passes, failures and skips.
"""
import argparse
import re
import signal
import subprocess
import sys
import time

LINE = re.compile(r"(not )?ok\b\s*\d*\s*-?\s*(.*)")


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
        """Prints what it says; returns (passed, failed, skipped)."""
        passed = failed = skipped = 0
        plan = None
        print(f"== {self.command}", flush=True)
        for line in self.child.stdout:
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
        self.child.wait()
        seen = passed + failed + skipped
        if plan is None or plan != seen:
            print(f"not ok - {self.command}: planned {plan}, saw {seen}")
            failed += 1
        if self.child.returncode and not failed:
            print(f"not ok - {self.command}: exit status {self.child.returncode}")
            failed += 1
        print(f"# {time.monotonic() - self.began:.0f} s", flush=True)
        return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("commands", metavar="COMMAND", nargs="+")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    told, job = [], None
    try:
        for command in options.commands:
            job = Job(command)
            told.append(job.tell())
    finally:
        job.stop()
    totals = [sum(column) for column in zip(*told)]
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
