#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Puts the tables that the code holds into README.md and docs/design/architecture.md, between
<!-- table: NAME --> marks, and writes the documents that are made of them as a whole.

usage: readme.py TABLES_PROGRAM [--check]	--check only compares, and prints TAP
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
README = os.path.join(ROOT, "README.md")
ARCHITECTURE = os.path.join(ROOT, "docs", "design", "architecture.md")
ROOMS = os.path.join(ROOT, "tests", "shape", "rooms.py")  # the walls' own table
DOCUMENTS = {name: os.path.join(ROOT, "docs", f"{name}.md") for name in ("diagnoses", "metrics")}
PLACE = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(<!-- end -->)", re.S)

MATRIX = "kernels"
RESULTS = os.path.join(ROOT, "build", "kernels")


def matrix(check, was):
    """What runs of `make check-vm` said; as it was where there was none, or to compare with: its
    kernels are the newest of the day."""
    if check or not os.path.isdir(RESULTS):
        return was
    program = os.path.join(ROOT, "tests", "vm", "table.py")
    return subprocess.run([program, RESULTS], stdout=subprocess.PIPE, text=True, check=True).stdout


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    program, check = sys.argv[1], "--check" in sys.argv[2:]

    def printed(name):
        command = [ROOMS, "--table", name] if name in ("rooms", "walls") else [program, name]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

    def table(place):
        if place[2] == MATRIX:
            return place[1] + matrix(check, place[3]) + place[4]
        return place[1] + printed(place[2]) + place[4]

    texts = {path: read(path) for path in (README, ARCHITECTURE)}
    made = {path: PLACE.sub(table, text) for path, text in texts.items()}
    documents = {path: printed(name) for name, path in DOCUMENTS.items()}
    if not check:
        for path, text in (made | documents).items():
            write(path, text)
        return 0
    told = [(f"{os.path.relpath(path, ROOT)}: the table of {was[2]}", was[3] == now[3])
            for path, text in texts.items()
            for was, now in zip(PLACE.finditer(text), PLACE.finditer(made[path]))]
    told += [(os.path.relpath(path, ROOT), read(path) == text) for path, text in documents.items()]
    for n, (what, same) in enumerate(told, 1):
        print(f"{'' if same else 'not '}ok {n} - {what} is the code's")
        if not same:
            print("# run: make readme")
    print(f"1..{len(told)}")
    return 0 if all(same for _, same in told) else 1


if __name__ == "__main__":
    sys.exit(main())
