#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests how exact `faultscope memory` is for programs in several languages and with several
allocators. Prints TAP and a table.

usage: run.py [--times N] [--only REGEX] [--table FILE]

Each program says what its functions hold, before anything is compared. A function counts as right if
this amount lies in the 95 % interval that `memory` states. At least 93 % of all functions must be
right. The rows of a process must add up to the kernel's totals within 1 %.

Allocators are loaded with LD_PRELOAD. Packages that the machine lacks are unpacked into a cache.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import aptroot  # noqa: E402

BUILD = ROOT / os.environ.get("BUILD", "build")
FAULTSCOPE = BUILD / "faultscope"
PATIENCE = 120
MIB = 1 << 20
# What is not in the amounts that programs state: parts of pages, and bookkeeping of allocators.
SLACK_PART, SLACK_BYTES = 0.01, 256 << 10
LEAST_RIGHT = 0.93
KNOWN = ("touched", "copied", "inherited")


class Skip(Exception):
    """Raised if a program cannot run here. The text is the reason."""


def compiled(folder, compiler, *words):
    path = shutil.which(compiler)
    if not path:
        raise Skip(f"no {compiler}")
    done = subprocess.run([path, *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skip(f"{compiler}: {done.stderr[-300:]}")


@aptroot.locked
def library(package, name):
    """Returns the path of a shared library, from a package that is unpacked if it is missing."""
    places = [Path("/usr/lib") / f"{os.uname().machine}-linux-gnu"]
    codename = aptroot.os_release().get("VERSION_CODENAME", "")
    into = aptroot.CACHE / "programs" / f"{package}-{codename}"
    places.append(into / str(places[0])[1:])
    for place in places:
        if (place / name).exists():
            return place / name
    try:
        suite = aptroot.Suite(aptroot.CACHE, (codename,), aptroot.host_arch())
        suite.update()
        suite.unpack(package, into)
    except aptroot.Missing as reason:
        raise Skip(str(reason)) from reason
    if not (places[1] / name).exists():
        raise Skip(f"{package} has no {name}")
    return places[1] / name


def cxx(package=None, name=None):
    def make(folder):
        env = {"LD_PRELOAD": str(library(package, name))} if package else {}
        compiled(folder, "g++", "-O2", "-g", "-o", folder / "hold_cc", HERE / "hold.cc")
        return [folder / "hold_cc", "other" if package else "glibc"], env, {}
    return make


def rust(folder):
    compiled(folder, "rustc", "-O", "-g", "-o", folder / "hold_rs", HERE / "hold.rs")
    return [folder / "hold_rs"], {}, {}


def go(folder):
    compiled(folder, "go", "build", "-o", folder / "hold_go", HERE / "hold.go")
    return [folder / "hold_go"], {"HOME": str(folder)}, {}


def python(folder):
    del folder
    return ["/usr/bin/python3", HERE / "hold.py"], {}, {}


def node(folder):
    del folder
    if not shutil.which("node"):
        raise Skip("no node")
    return ["node", "--perf-basic-prof", "--interpreted-frames-native-stack", HERE / "hold.js"], {}, {}


def java(folder):
    compiled(folder, "javac", "-d", folder, HERE / "Hold.java")
    # the JVM clears the memory of direct buffers
    return (["java", "-Xmx200m", "-cp", folder, "Hold"], {"HOME": str(folder)},
            {"Unsafe_SetMemory": 40 * MIB})


PROGRAMS = {
    "C++, glibc": cxx(),
    "C++, jemalloc": cxx("libjemalloc2", "libjemalloc.so.2"),
    "C++, tcmalloc": cxx("libtcmalloc-minimal4", "libtcmalloc_minimal.so.4"),
    "C++, mimalloc": cxx("libmimalloc2.0", "libmimalloc.so.2.0"),
    "Rust": rust,
    "Go": go,
    "CPython, numpy": python,
    "Node.js": node,
    "Java": java,
}


def memory_lines(file, pid):
    for line in file:
        one = json.loads(line)
        if one["type"] == "memory" and one["pid"] == pid:
            yield one


class Watched:
    """A program that `memory` watches from its first page on."""

    def __init__(self, argv, env, folder):
        self.program = subprocess.Popen(
            ["sh", "-c", 'read go; exec "$@"', "sh", *map(str, argv)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, cwd=folder, env={**os.environ, **env})
        self.watch = subprocess.Popen(
            [FAULTSCOPE, "memory", "--json", "-p", str(self.program.pid), "-d", str(PATIENCE)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.lines = memory_lines(self.watch.stdout, self.program.pid)
        assert next(self.lines, None), "no reading"
        self.program.stdin.write("go\n")
        self.program.stdin.flush()

    def truth(self):
        while line := self.program.stdout.readline():
            if line.startswith("{"):
                return json.loads(line)["holds"]
        raise AssertionError(f"the program ended with {self.program.wait()}")

    def last(self):
        """Returns a reading that began after the call."""
        next(self.lines)
        return next(self.lines)

    def end(self):
        self.watch.terminate()
        self.watch.communicate(timeout=PATIENCE)
        self.program.stdin.close()
        self.program.wait(timeout=PATIENCE)
        self.program.stdout.close()
        Path(f"/tmp/perf-{self.program.pid}.map").unlink(missing_ok=True)  # of Node.js


def sum_of(line, name):
    """Returns (bytes, low, high) of all rows with a function of this name. Rows are estimated
    independently."""
    rows = [row for row in line["holders"] if row["by"] in KNOWN and
            any(re.search(rf"\b{re.escape(name)}", frame) for frame in row["stack"])]
    value = sum(row["bytes"] for row in rows)
    below = sum((row["bytes"] - row["low"]) ** 2 for row in rows) ** 0.5
    above = sum((row["high"] - row["bytes"]) ** 2 for row in rows) ** 0.5
    return value, value - below, value + above


def is_right(low, high, true):
    slack = true * SLACK_PART + SLACK_BYTES
    return low - slack <= true <= high + slack


class Result:
    def __init__(self):
        self.right = self.all = 0
        self.gap = self.unknown = 0.0  # worst of all runs, in per cent of the resident memory
        self.wrong = []

    def add(self, line, truth):
        total = line["anon_bytes"] + line["file_bytes"] + line["shmem_bytes"]
        rows = sum(row["bytes"] for row in line["holders"])
        unknown = sum(row["bytes"] for row in line["holders"] if row["by"] not in KNOWN)
        self.gap = max(self.gap, 100 * abs(rows - total) / total)
        self.unknown = max(self.unknown, 100 * unknown / total)
        for name, true in truth.items():
            value, low, high = sum_of(line, name)
            self.all += 1
            if is_right(low, high, true):
                self.right += 1
            else:
                self.wrong.append(f"{name} holds {true / MIB:.1f} MiB, but the estimate is "
                                  f"{value / MIB:.1f} ({low / MIB:.1f} to {high / MIB:.1f})")


def run(make, times, folder):
    result = Result()
    for _ in range(times):
        argv, env, besides = make(folder)
        watched = Watched(argv, env, folder)
        try:
            truth = {**watched.truth(), **besides}
            result.add(watched.last(), {name: of * (MIB if of < 1024 else 1)
                                        for name, of in truth.items() if of})
        finally:
            watched.end()
    return result


def table(results):
    rows = [["program", "functions in the interval", "not attributed", "sum differs from the kernel's"],
            ["---", "---:", "---:", "---:"]]
    for name, one in results.items():
        rows.append([name, f"{one.right} of {one.all}", f"{one.unknown:.1f} %", f"{one.gap:.2f} %"])
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    chosen = {name: make for name, make in PROGRAMS.items() if re.search(options.only, name)}
    results, n, failed = {}, 0, 0
    for name, make in chosen.items():
        n += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                results[name] = one = run(make, options.times, Path(folder))
            except Skip as reason:
                print(f"ok {n} - {name} # SKIP {reason}", flush=True)
                continue
        print(f"{'ok' if one.gap <= 1 else 'not ok'} {n} - {name}: {one.right} of {one.all} in the "
              f"interval, {one.unknown:.1f} % not attributed, sum within {one.gap:.2f} %")
        failed += one.gap > 1
        for text in one.wrong:
            print(f"# {text}", flush=True)
    right, every = (sum(getattr(one, what) for one in results.values()) for what in ("right", "all"))
    n += 1
    enough = every and right >= LEAST_RIGHT * every
    print(f"{'ok' if enough else 'not ok'} {n} - {right} of {every} functions are in the interval\n1..{n}")
    if options.table:
        options.table.write_text(table(results), encoding="utf-8")
    return 1 if failed or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
