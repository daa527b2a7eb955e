#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs test programs that print TAP, one after another, and adds up what they say.

Each argument is one shell command. What does not end cleanly, or prints fewer or more lines than
its plan, is a failure too. The closing line counts passes, failures and skips.
"""
import re
import subprocess
import sys

LINE = re.compile(r"(not )?ok\b\s*\d*\s*-?\s*(.*)")


def run(command):
    """Prints what is not a plain pass; returns (passed, failed, skipped)."""
    passed = failed = skipped = 0
    plan = None
    print(f"== {command}", flush=True)
    child = subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, errors="backslashreplace")
    for line in child.stdout:
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
    status = child.wait()
    seen = passed + failed + skipped
    if plan is None or plan != seen:
        print(f"not ok - {command}: planned {plan}, saw {seen}")
        failed += 1
    if status and not failed:
        print(f"not ok - {command}: exit status {status}")
        failed += 1
    return passed, failed, skipped


def main():
    totals = [0, 0, 0]
    for command in sys.argv[1:]:
        totals = [a + b for a, b in zip(totals, run(command))]
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
