#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures the cost of faultscope for other programs, and what it takes itself: `make bench`.

Needs root, `make workloads`, and the packages of `tools/setup.sh bench`. The table of all rows, their
goals and the sources that they depend on is rows.py. In each round, runs without a tool and with a
tool alternate. A value is the median of the rounds. A row that fails is printed as not measured, with
the reason, and the other rows go on. Nothing is measured after --minutes.

With all rows, the results go to docs/performance.json, from which `make readme` makes tables. With
only some rows, they are only printed, unless --save names a file.
"""
import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

sys.dont_write_bytecode = True

from bpf_programs import programs_at_events  # noqa: E402
from events import Events, RoundFailed  # noqa: E402
from itself import Itself  # noqa: E402
from machine import Others, in_general_words  # noqa: E402
from procs import CannotRun, Setup  # noqa: E402
from programs import Programs  # noqa: E402
from results import Results, print_rows, save  # noqa: E402
from rows import NAMES  # noqa: E402
from sources import Sources  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = ROOT / "docs/performance.json"
FEW = 3  # rounds of rows that take long and vary little
LONG_ROWS = {"memory", "kernel-memory", "scan", "cpu", "size", "report"}
BUSY = 0.1  # CPUs that other programs may use without a warning

BEGAN = time.monotonic()


def say(text):
    print(f"# {time.monotonic() - BEGAN:4.0f} s  {text}", file=sys.stderr, flush=True)


def names_of(text):
    names = [name for name in text.replace(",", " ").split() if name]
    for name in names:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(f"no row {name}; there are: {' '.join(NAMES)}")
    return names


def positive(text):
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return int(text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=names_of, default=[], metavar="NAME,...",
                        help="measure only these rows: " + ", ".join(NAMES))
    parser.add_argument("--rounds", type=positive, default=8, help="number of rounds (8)")
    parser.add_argument("--minutes", type=float, default=19,
                        help="measure nothing after this time (19), and start no round that "
                        "would end later")
    parser.add_argument("--divisor", type=positive, default=1, metavar="N",
                        help="do only the Nth part of the usual operations")
    parser.add_argument("--save", type=Path, metavar="FILE",
                        help=f"write the results to FILE; all rows go to {DATA.relative_to(ROOT)}")
    parser.add_argument("--build", default=str(ROOT / "build"), metavar="DIR",
                        help="directory of the program and the workloads")
    return parser.parse_args()


def build_empty(setup):
    """Builds the empty BPF programs. Without them, their rows fail."""
    include = f"/usr/include/{platform.machine()}-linux-gnu"
    compile_bpf = [os.environ.get("CLANG", "clang"), "-O2", "-g", "-target", "bpf", "-I", include,
                   "-c", str(HERE / "empty.bpf.c"), "-o", os.path.join(setup.tmp, "empty.bpf.o")]
    try:
        subprocess.run(compile_bpf, check=True)
    except (OSError, subprocess.CalledProcessError) as reason:
        say(f"the empty programs are not built: {reason}")


def must_exist(setup):
    for path in (os.path.join(setup.build, "faultscope"), setup.workload("bench"),
                 setup.workload("lives"), setup.workload("httpget"),
                 os.path.join(setup.build, "pattern_recording"),
                 os.path.join(setup.build, "bench", "empty")):
        if not os.access(path, os.X_OK):
            raise CannotRun(f"no {path}: run make bench")
    if os.geteuid():
        raise CannotRun("needs root")


def commit():
    """Returns the commit of the tree, with a mark if files differ from it; None without git."""
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12",
                           "--exclude=*"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def older_rows(path):
    """Returns the rows of an existing data file."""
    if not path or not path.exists():
        return []
    try:
        return json.loads(path.read_text(encoding="utf-8"))["rows"]
    except (ValueError, KeyError) as reason:
        raise CannotRun(f"{path} is not a file of results: {reason}") from reason


def take_rounds(options, parts, results):
    """Measures all rounds, or as many as the time allows. Returns the number of complete rounds."""
    events, programs, itself = parts
    last, started = 0, 0
    for number in range(options.rounds):
        begin = time.monotonic()
        if begin + last - BEGAN > options.minutes * 60:
            say(f"the time is over after {number} rounds")
            break
        say(f"round {number + 1} of {options.rounds}")
        started += 1
        try:
            events.round()
        except RoundFailed as reason:
            say(f"a round failed: {reason}")
        programs.round()
        itself.round({"start"})
        if number < FEW:
            itself.round(LONG_ROWS)
        last = time.monotonic() - begin
    return started


def warnings(others):
    """Returns sentences about what disturbed the measurement."""
    told = []
    if others["foreign_programs"]:
        told.append(f"foreign BPF programs were loaded at {others['looks_with_foreign_programs']} "
                    f"of {others['looks']} looks: " + ", ".join(others["foreign_programs"]))
    if others["busy_cpus_of_others"] > BUSY:
        told.append(f"other programs used {others['busy_cpus_of_others']} CPUs")
    if others["stolen_cpus"] > BUSY:
        told.append(f"the hypervisor took {others['stolen_cpus']} CPUs away")
    return told


def measure(options, setup, results):
    names, sources, others = options.rows or NAMES, Sources(), Others()
    programs = Programs(setup, names, results, sources, options.divisor, others)
    parts = (Events(setup, names, results, sources, options.divisor, others), programs,
             Itself(setup, names, results, sources))
    say(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} CPUs")
    found = set(programs_at_events().values())
    if found:
        say("foreign BPF programs are loaded, which make the base slower: " + ", ".join(found))
    try:
        rounds = take_rounds(options, parts, results)
    finally:
        programs.close()
    return rounds, others


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    date = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    results = Results(say, BEGAN + options.minutes * 60)
    path = options.save or (None if options.rows else DATA)
    setup = Setup(str(ROOT), os.path.abspath(options.build))
    try:
        must_exist(setup)
        older = older_rows(path)
        build_empty(setup)
        rounds, others = measure(options, setup, results)
    except CannotRun as reason:
        print(f"bench: {reason}", file=sys.stderr)
        return 1
    finally:
        setup.close()
    rows = results.as_json(commit(), date)
    others.look()
    head = {"date": date, "commit": commit(), "kernel": platform.release(),
            "machine": in_general_words(), "rounds": rounds, "others": others.as_json()}
    print_rows(rows)
    print(f"\n{head['kernel']}, {head['machine']}; {rounds} rounds in "
          f"{(time.monotonic() - BEGAN) / 60:.1f} minutes")
    for text in warnings(head["others"]):
        print(f"warning: {text}")
    if path:
        save(path, head, rows, older)
        print(f"written to {path}; make readme puts the values into the documents")
    return 0


if __name__ == "__main__":
    sys.exit(main())
