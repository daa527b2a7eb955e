#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Puts the tables that the code holds into the README, between <!-- table: NAME --> marks.

usage: readme.py TABLES_PROGRAM [--check]	--check only compares, and prints TAP
"""
import os
import re
import subprocess
import sys

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "README.md")
PLACE = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(<!-- end -->)", re.S)

MATRIX = "kernels"
RESULTS = os.path.join(os.path.dirname(README), "build", "kernels")


def matrix(check, was):
    """What runs of `make check-vm` said; as it was where there was none, or to compare with: its
    kernels are the newest of the day."""
    if check or not os.path.isdir(RESULTS):
        return was
    program = os.path.join(os.path.dirname(README), "tests", "vm", "table.py")
    return subprocess.run([program, RESULTS], stdout=subprocess.PIPE, text=True, check=True).stdout


def main():
    program, check = sys.argv[1], "--check" in sys.argv[2:]
    with open(README, encoding="utf-8") as file:
        text = file.read()

    def table(place):
        if place[2] == MATRIX:
            return place[1] + matrix(check, place[3]) + place[4]
        made = subprocess.run([program, place[2]], stdout=subprocess.PIPE, text=True, check=True)
        return place[1] + made.stdout + place[4]

    made = PLACE.sub(table, text)
    if not check:
        with open(README, "w", encoding="utf-8") as file:
            file.write(made)
        return 0
    names = [place[2] for place in PLACE.finditer(text)]
    for n, (name, was, now) in enumerate(zip(names, PLACE.finditer(text), PLACE.finditer(made)), 1):
        same = was[3] == now[3]
        print(f"{'' if same else 'not '}ok {n} - the README's table of {name} is the code's")
        if not same:
            print("# run: make readme")
    print(f"1..{len(names)}")
    return 0 if made == text else 1


if __name__ == "__main__":
    sys.exit(main())
