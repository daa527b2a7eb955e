#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Lists comparisons (`<`, `<=`, `>` and `>=`) that tests execute, but never with equal values.

Such a test cannot tell `<` from `<=`. The unit tests run, and with --recordings also those tests of
recordings and commands that need no BPF programs.

usage: bounds.py [--under PATH] [--recordings] [--only REGEX]
"""
import argparse
import collections
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = "build/bounds"
TABLE_BYTES = 16 << 20  # CODE_BYTES of bounds.c
EQUAL = 2  # as in bounds.c
FLAGS = ["CC=clang", "CFLAGS=-O0 -g", "HARDENING=",
         "EXTRA=-fsanitize-coverage=func,trace-pc-guard,trace-cmp -fno-sanitize-link-runtime -w"]
OPERATOR = re.compile(r"[<>]=?(?=\s)")
LOCATION = re.compile(r"(.*):(\d+):(\d+)")


def build():
    subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "-f", "tests/mutants/shared.mk",
                    f"BUILD={BUILD}", "FORTIFY=", "REVISION=bounds", *FLAGS, "shared-all"],
                   cwd=ROOT, check=True)


def run_tests(table, options):
    """Runs tests, which write into the file `table`."""
    table.write_bytes(b"")
    os.truncate(table, TABLE_BYTES)
    table.chmod(0o666)  # some tests run programs as another user
    how = {"cwd": ROOT, "env": {**os.environ, "FAULTSCOPE_BOUNDS": str(table),
                                "BUILD": f"{BUILD}/shared"},
           "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    for test in sorted((ROOT / BUILD / "shared/unit").glob("test_*")):
        if not test.suffix and re.search(options.only, test.name):
            subprocess.run([test], stdin=subprocess.DEVNULL, **how)
    if options.recordings:
        subprocess.run([ROOT / "tests/e2e/run.py", "--no-live"], **how)


def locations(offsets):
    """Yields (offset, path, line, column) of the comparison before each offset in the library."""
    ran = subprocess.run(["llvm-symbolizer", "--no-inlines",
                          f"--obj={ROOT / BUILD / 'libfaultscope.so'}"],
                         input="".join(f"{at - 1:#x}\n" for at in offsets), capture_output=True,
                         text=True, check=True)
    places = [LOCATION.fullmatch(line) for line in ran.stdout.splitlines()]
    for offset, m in zip(offsets, [m for m in places if m]):
        yield offset, os.path.relpath(os.path.join(ROOT, m[1]), ROOT), int(m[2]), int(m[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--under", default="src/", help="only files whose path begins with PATH")
    parser.add_argument("--recordings", action="store_true",
                        help="also run tests of recordings and commands")
    parser.add_argument("--only", metavar="REGEX", default="",
                        help="run only unit tests whose name contains a match")
    options = parser.parse_args()
    build()
    table = ROOT / BUILD / "table"
    run_tests(table, options)
    met = table.read_bytes()
    places, counts, never, lines = {}, collections.defaultdict(collections.Counter), [], {}
    # a function in a header is part of the code of several files
    for offset, *place in locations([at for at, byte in enumerate(met) if byte]):
        places[tuple(place)] = places.get(tuple(place), 0) | met[offset]
    for (path, line, column), values in places.items():
        if not path.startswith(options.under):
            continue
        text = lines.setdefault(path, (ROOT / path).read_text().expandtabs(1).splitlines())
        if not OPERATOR.match(text[line - 1], column - 1):
            continue
        for room in (path.split("/")[1], "all"):
            counts[room]["equal" if values & EQUAL else "never"] += 1
        if not values & EQUAL:
            never.append((path, line, column, text[line - 1].strip()))
    for path, line, column, text in sorted(never):
        print(f"{path}:{line}:{column}: {text}")
    for room, count in sorted(counts.items(), key=lambda item: (item[0] == "all", item[0])):
        print(f"# {room:10} {count['equal']:5} of {sum(count.values()):5} comparisons met equal values")
    return 0


if __name__ == "__main__":
    sys.exit(main())
