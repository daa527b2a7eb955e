#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests how exact `faultscope memory` is for programs in several languages, with several allocators,
with and without huge pages, and for servers. Prints TAP and a table.

usage: run.py [--times N] [--only REGEX] [--table FILE]

Each program says what its functions hold, before anything is compared. A function counts as right if
this amount lies in the 95 % interval that `memory` states. At least 93 % of all functions must be
right. The rows of a process must add up to the kernel's totals within 1 %.

A huge page belongs to the function that first touches it, also if a neighbour uses a part of it. Where
huge pages are on, amounts may therefore differ by a huge page at each end.

Allocators are loaded with LD_PRELOAD. Packages that the machine lacks are unpacked into a cache.
"""
import argparse
import calendar
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import aptroot  # noqa: E402

BUILD = ROOT / os.environ.get("BUILD", "build")
FAULTSCOPE = BUILD / "faultscope"
PATIENCE = int(os.environ.get("FS_PATIENCE", 120))
MIB = 1 << 20
# What is not in the amounts that programs state: parts of pages, and bookkeeping of allocators.
SLACK_PART, SLACK_BYTES = 0.01, 256 << 10
HUGE_SLACK = 4 << 20  # a huge page at each end
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


def library(package, name):
    """Returns the path of a shared library, from a package that is unpacked if it is missing."""
    place = Path("/usr/lib") / f"{os.uname().machine}-linux-gnu"
    if (place / name).exists():
        return place / name
    unpacked = unpack(package) / str(place)[1:] / name
    if not unpacked.exists():
        raise Skip(f"{package} has no {name}")
    return unpacked


@aptroot.locked
def unpack(package):
    """Returns the folder with the files of a package of the host's release."""
    codename = aptroot.os_release().get("VERSION_CODENAME", "")
    into = aptroot.CACHE / "programs" / f"{package}-{codename}"
    if into.exists():
        return into
    try:
        suite = aptroot.Suite(aptroot.CACHE, (codename,), aptroot.host_arch())
        suite.update()
        suite.unpack(package, into)
    except aptroot.Missing as reason:
        raise Skip(str(reason)) from reason
    return into


@dataclass
class Program:
    """A program to run. It prints the amounts that its functions hold."""
    argv: list
    env: dict = field(default_factory=dict)
    besides: dict = field(default_factory=dict)  # amounts that it cannot know
    huge: bool = False


def cxx(package=None, name=None, huge=None):
    """Makes a C++ program with an allocator. `huge` are variables with which the allocator uses huge
    pages."""
    def make(folder):
        env = {"LD_PRELOAD": str(library(package, name))} if package else {}
        compiled(folder, "g++", "-O2", "-g", "-o", folder / "hold_cc", HERE / "hold.cc")
        return Program([folder / "hold_cc", "other" if package else "glibc",
                        *(["huge"] if huge else [])], {**env, **(huge or {})}, huge=bool(huge))
    return make


def rust(huge=None):
    def make(folder):
        compiled(folder, "rustc", "-O", "-g", "-o", folder / "hold_rs", HERE / "hold.rs")
        return Program([folder / "hold_rs"], huge or {}, huge=bool(huge))
    return make


def go(folder):
    compiled(folder, "go", "build", "-o", folder / "hold_go", HERE / "hold.go")
    return Program([folder / "hold_go"], {"HOME": str(folder)})


def command_of(version):
    """Returns the command of an interpreter of this version of CPython."""
    if Path(f"/usr/bin/python{version}").exists():
        return [f"/usr/bin/python{version}"]
    for pattern in (f"/usr/local/bin/python{version}", f"~/.pyenv/versions/*/bin/python{version}"):
        for path in sorted(glob.glob(os.path.expanduser(pattern))):
            return [path]
    raise Skip(f"no CPython {version}")


def python(version, module=None, script="hold.py", huge=None):
    def make(folder):
        del folder
        command = command_of(version) if version else ["/usr/bin/python3"]
        if module and subprocess.run([*command, "-c", f"import {module}"], check=False,
                                     stderr=subprocess.DEVNULL).returncode:
            raise Skip(f"{command[-1]} has no {module}")
        return Program([*command, HERE / script, *(["huge"] if huge else [])], huge or {},
                       huge=bool(huge))
    return make


def node(folder):
    del folder
    if not shutil.which("node"):
        raise Skip("no node")
    return Program(["node", "--perf-basic-prof", "--interpreted-frames-native-stack",
                    HERE / "hold.js"])


def java(*options, huge=False):
    def make(folder):
        compiled(folder, "javac", "-d", folder, HERE / "Hold.java")
        # the JVM clears the memory of direct buffers
        return Program(["java", "-Xmx200m", *options, "-cp", folder, "Hold"],
                       {"HOME": str(folder)}, {"Unsafe_SetMemory": 40 * MIB}, huge)
    return make


def redis(folder):
    if not shutil.which("redis-server"):
        raise Skip("no redis-server")
    return Program([sys.executable, HERE / "serve_redis.py", folder])


def postgres(folder):
    if not glob.glob("/usr/lib/postgresql/*/bin/initdb"):
        raise Skip("no PostgreSQL")
    return Program([sys.executable, HERE / "serve_postgres.py", folder])


GLIBC_HUGE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}  # malloc() asks for huge pages
JEMALLOC_HUGE = {"MALLOC_CONF": "thp:always"}
PROGRAMS = {
    "C++, glibc": cxx(),
    "C++, glibc, huge pages": cxx(huge=GLIBC_HUGE),
    "C++, jemalloc": cxx("libjemalloc2", "libjemalloc.so.2"),
    "C++, jemalloc, huge pages": cxx("libjemalloc2", "libjemalloc.so.2", JEMALLOC_HUGE),
    "C++, tcmalloc": cxx("libtcmalloc-minimal4", "libtcmalloc_minimal.so.4"),
    "C++, mimalloc": cxx("libmimalloc2.0", "libmimalloc.so.2.0"),
    "Rust": rust(),
    "Rust, huge pages": rust(GLIBC_HUGE),
    "Go": go,
    "CPython, numpy": python(None, "numpy"),
    "CPython, numpy, huge pages": python(None, "numpy", huge=GLIBC_HUGE),
    **{f"CPython 3.{minor}": python(f"3.{minor}") for minor in range(9, 14)},
    "PyTorch": python(None, "torch", "hold_torch.py"),
    "PyTorch, huge pages": python(None, "torch", "hold_torch.py", GLIBC_HUGE),
    "Node.js": node,
    "Java": java(),
    "Java, huge pages": java("-XX:+UseTransparentHugePages", huge=True),
    "Redis": redis,
    "PostgreSQL": postgres,
}


def written(line):
    """Returns the time of a line in seconds since 1970."""
    stamp = line["time"]
    return calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")) + float(stamp[19:-1])


class Watched:
    """A program that `memory` watches from its first page on."""

    def __init__(self, argv, env, folder):
        self.program = subprocess.Popen(
            ["sh", "-c", 'read go; exec "$@"', "sh", *map(str, argv)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, cwd=folder, env={**os.environ, **env})
        # a file, because faultscope would wait while nobody reads from a pipe
        self.out = Path(folder) / "readings"
        self.out.unlink(missing_ok=True)
        self.watch = subprocess.Popen(
            [FAULTSCOPE, "memory", "--json", "-o", self.out, "-p", str(self.program.pid), "-d",
             str(PATIENCE)], stderr=subprocess.DEVNULL)
        self.pid = self.program.pid  # of the process whose functions hold memory
        self.lines = self.readings()
        assert next(self.lines, None), "no reading"
        self.program.stdin.write("go\n")
        self.program.stdin.flush()

    def readings(self):
        while not self.out.exists() and self.watch.poll() is None:
            time.sleep(0.05)
        part = ""
        with open(self.out, encoding="utf-8") as file:
            while self.watch.poll() is None:
                part += file.readline()
                if not part.endswith("\n"):
                    time.sleep(0.05)
                    continue
                one, part = json.loads(part), ""
                if one["type"] == "memory" and one["pid"] == self.pid:
                    yield one

    def truth(self):
        while line := self.program.stdout.readline():
            if line.startswith("{"):
                said = json.loads(line)
                self.pid = said.get("pid", self.pid)
                return said["holds"]
        raise AssertionError(f"the program ended with {self.program.wait()}")

    def last(self):
        """Returns a reading that began after the call."""
        begun = time.time()
        return next(line for line in self.lines if written(line) > begun + 1)

    def end(self):
        self.watch.terminate()
        self.watch.wait(timeout=PATIENCE)
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


def is_right(low, high, true, huge):
    slack = true * SLACK_PART + SLACK_BYTES + huge * HUGE_SLACK
    return low - slack <= true <= high + slack


class Result:
    def __init__(self):
        self.right = self.all = 0
        self.gap = self.unknown = 0.0  # worst of all runs, in per cent of the resident memory
        self.wrong = []

    def add(self, line, truth, huge):
        total = line["anon_bytes"] + line["file_bytes"] + line["shmem_bytes"]
        rows = sum(row["bytes"] for row in line["holders"])
        unknown = sum(row["bytes"] for row in line["holders"] if row["by"] not in KNOWN)
        self.gap = max(self.gap, 100 * abs(rows - total) / total)
        self.unknown = max(self.unknown, 100 * unknown / total)
        for name, true in truth.items():
            value, low, high = sum_of(line, name)
            self.all += 1
            if is_right(low, high, true, huge):
                self.right += 1
            else:
                self.wrong.append(f"{name} holds {true / MIB:.1f} MiB, but the estimate is "
                                  f"{value / MIB:.1f} ({low / MIB:.1f} to {high / MIB:.1f})")


def run(make, times, folder):
    result = Result()
    for _ in range(times):
        program = make(folder)
        watched = Watched(program.argv, program.env, folder)
        try:
            truth = {**watched.truth(), **program.besides}
            result.add(watched.last(), {name: of * (MIB if of < 1024 else 1)
                                        for name, of in truth.items() if of}, program.huge)
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
