#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints for each room (folder of src/) how many of its lines the unit and recording tests run.

usage: covered.py BUILD [--units | --lines ROOM]

BUILD is a build with --coverage, as `make coverage` makes it.
--units run the unit tests only
--lines print the lines of one room that no test runs

Failed tests are named, and the lines that they run count as covered. Live tests are not run,
because the lines that live tests reach depend on the kernel.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AIM = 70  # required coverage in percent


def run_tests(build, units_alone):
    """Runs the tests and prints which failed."""
    for old in build.rglob("*.gcda"):
        old.unlink()
    units = sorted(one for one in (build / "unit").glob("test_*") if not one.suffix)
    environment = {**os.environ, "BUILD": str(build)}
    more = [] if units_alone else [["tests/e2e/run.py", "--no-live"],
                                   ["tests/export/run.py", "--no-live"], ["tests/triage/score.py"]]
    for command in [[str(one)] for one in units] + more:
        ran = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", check=False)
        bad = [line for line in ran.stdout.splitlines() if line.startswith("not ok")]
        if ran.returncode or bad:
            print(f"# {' '.join(command)}: exit status {ran.returncode}", *bad[:5], sep="\n#   ")


def counted(build):
    """Returns {file: {line: execution count}}, including files that no test ran."""
    found = collections.defaultdict(dict)
    notes = sorted((build / "src").rglob("*.gcno"))
    for at in range(0, len(notes), 50):
        out = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, notes[at:at + 50])],
                             cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             check=True).stdout
        for text in out.splitlines():
            for file in json.loads(text)["files"]:
                lines = found[os.path.normpath(os.path.relpath(ROOT / file["file"], ROOT))]
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[number] = max(lines.get(number, 0), line["count"])
    return {file: lines for file, lines in found.items() if file.startswith("src/")}


def share(lines):
    return 100 * sum(count > 0 for count in lines) / len(lines)


def print_rooms(found):
    rooms = collections.defaultdict(list)
    for file, lines in found.items():
        parts = Path(file).parts
        rooms[parts[1] if len(parts) > 2 else "main"] += lines.values()
    print(f"{'room':12} {'lines':>7} {'run':>6}")
    for room, lines in sorted(rooms.items()):
        print(f"{room:12} {len(lines):7} {share(lines):5.1f} %{'' if share(lines) >= AIM else '  *'}")
    every = [line for lines in rooms.values() for line in lines]
    print(f"{'all':12} {len(every):7} {share(every):5.1f} %\n* below {AIM} %")


def print_lines(found, room):
    for file, lines in sorted(found.items(), key=lambda one: share(one[1].values())):
        if file.startswith(f"src/{room}/"):
            bare = sorted(number for number, count in lines.items() if not count)
            print(f"{share(lines.values()):5.1f} % of {len(lines):4} {file}: "
                  f"{' '.join(map(str, bare))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=Path, metavar="BUILD")
    parser.add_argument("--units", action="store_true", help="run the unit tests alone")
    parser.add_argument("--lines", metavar="ROOM",
                        help="print the lines of ROOM that no test of the last run executed")
    args = parser.parse_args()
    build = args.build.resolve()
    if args.lines:
        print_lines(counted(build), args.lines)
    else:
        run_tests(build, args.units)
        print_rooms(counted(build))
    return 0


if __name__ == "__main__":
    sys.exit(main())
