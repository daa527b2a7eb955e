#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes random small changes (mutants) to a copy of the source, and counts those that tests notice.

usage: run.py [--count N] [--seed N] [--minutes N] [--jobs N] [--place DIR] [--again]
              [--suites NAMES] [--only REGEX] [--under PATH[,PATH]...] [--effort SHARE]
              [--no-sanitizer]

Each mutant is compiled. Then the tests that execute the changed line run until one of them fails. A
mutant is killed if a test fails. Mutants that no test notices are tried again in a build with
AddressSanitizer, which finds memory errors that have no visible effect. A mutant that no test
notices in either build survives and is shown as a diff.
Mutants that do not compile, or that compile to equal code, are not counted. The mutants in
equivalents.txt are not counted either, because a reader found that they behave like the original
code. Results are kept in DIR (default: build/mutants): an interrupted run continues, and --again
repeats the survivors. No code of a mutant runs as root, since it may do harm: box.py describes how
tests are confined. Live tests, which load BPF programs, run if root starts this script. The exit
status is 1 if the share of killed mutants is less than WANTED. It is 2 if the time of --minutes was
over before all mutants were tried.
"""
import argparse
import collections
import difflib
import fcntl
import json
import os
import random
import re
import resource
import signal
import sys
import time
from pathlib import Path

import changes
import suites
from box import Box
from coverage import Map
from suites import Limits
from tree import PLAIN, SANITIZED, Changed, Tree

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EQUIVALENTS = HERE / "equivalents.txt"
WANTED = 0.90
# A test is killed if it takes more than this multiple of its usual CPU time or duration. A loop
# without end exceeds the CPU time first, on a busy machine too.
HANGING, WAITING = 5, 10
SLOWER = 4  # AddressSanitizer multiplies these limits, since it makes programs slower
# name of the environment variable that is set when the script has its own copy of /dev
OWN_DEV = "FAULTSCOPE_OWN_DEV"
NO_TEST = "no test runs it"
# Seconds of CPU time to spend on a mutant that no test notices, in each suite. The score of triage
# belongs to the unit tests. The tests of a suite
# are sorted by what they say about the changed file, so more seconds hardly change the score. With
# AddressSanitizer, tests take several times as long; their times in the plain build are counted.
SECONDS = {PLAIN: {"unit": 40, "e2e": 60, "export": 40, "live": 20, "live-export": 20},
           SANITIZED: {"unit": 10, "e2e": 10, "export": 5}}


def tell(text):
    print(text, flush=True)


def all_changes(tree, under):
    """Returns {kind: [mutants]} of all files whose paths begin with one of the paths `under`, which
    are separated by commas. The order is fixed."""
    found = collections.defaultdict(list)
    for path in sorted((tree.top / "src").rglob("*.[ch]")):
        name = str(path.relative_to(tree.top))
        if not name.startswith(tuple(under.split(","))):
            continue
        for change in changes.of_file(name, path.read_text()):
            found[change.kind].append(change)
    return found


def drawn(tree, seed, under):
    """Yields random mutants without end. All kinds of mutants are equally likely."""
    found, chance = all_changes(tree, under), random.Random(seed)
    kinds = sorted(found)
    while True:
        yield chance.choice(found[chance.choice(kinds)])


def room_of(path):
    return path.split("/")[1] if path.count("/") > 1 else "commands"


def first_line_of(text, change):
    """Returns the first line of the function that a mutant changes, or 0 outside of functions."""
    code = changes.masked(text)
    for start, end in changes.bodies(code):
        if start <= change.start < end:
            return text.count("\n", 0, start) + 1
    return 0


def diff_of(text, change):
    both = (one.splitlines() for one in (text, change.apply(text)))
    return "\n".join(list(difflib.unified_diff(*both, lineterm="", n=1))[2:])


def equivalents():
    """Returns {"path: removed line => added line": why} from equivalents.txt."""
    known = {}
    for line in EQUIVALENTS.read_text().splitlines():
        if line and not line.startswith("#"):
            which, _, why = line.partition(" # ")
            known[which.strip()] = why
    return known


def words_of(text, change):
    """Returns a mutant in one line, in the format of equivalents.txt."""
    lines = diff_of(text, change).splitlines()
    old = " ".join(line[1:].strip() for line in lines if line.startswith("-"))
    new = " ".join(line[1:].strip() for line in lines if line.startswith("+"))
    return f"{change.path}: {old} => {new}"


def within(tests, seconds):
    """Yields the tests of a list, in order, whose CPU times add up to at most `seconds`. A test that
    does not fit is left out, and cheaper ones behind it are not."""
    for test in tests:
        if test.seconds <= seconds:
            seconds -= test.seconds
            yield test


def limits(test):
    return Limits(WAITING * test.wall + 20, HANGING * test.seconds + 2)


def slow_limits(test):
    usual = limits(test)
    return Limits(SLOWER * usual.wall, SLOWER * usual.cpu)


class Trial:
    """One mutant, its compilation, and the tests that may notice it."""

    def __init__(self, runner, tests, change, build=PLAIN):
        self.runner, self.tests, self.change, self.build = runner, tests, change, build
        self.seconds = {suite: seconds * runner.effort
                        for suite, seconds in SECONDS[build].items()}
        self.limits = slow_limits if build == SANITIZED else limits

    def by_single(self):
        """Returns the first unit test that notices the mutant, or None. The test of triage's score
        (tests/triage/score.py) counts as a unit test."""
        mine = [test for test in self.tests if test.suite in ("unit", "triage")]
        for test in within(mine, self.seconds["unit"]):
            if self.runner.run(self.build, test, self.limits(test)).status != "passed":
                return test.name
        return None

    def by_batch(self, suite):
        """Returns the first test of a suite that fails twice with the mutant. A single failure is
        not enough, because it may be a timeout under load."""
        left = list(within([test for test in self.tests if test.suite == suite],
                           self.seconds.get(suite, 0)))
        while left:
            failed = None
            for test, ended in self.runner.run_batch(self.build, left, self.limits,
                                                     jobs=self.runner.tree.jobs, first=True):
                left.remove(test)
                if ended.status in ("failed", "longer"):
                    failed = test
            if not failed:
                return None
            if self.fails_again(failed):
                return failed.name
        return None

    def fails_again(self, test):
        return any(ended.status in ("failed", "longer") for _, ended in
                   self.runner.run_batch(self.build, [test], self.limits))

    def run(self):
        """Runs the trial. Returns (state of the mutant, name of the test that noticed the mutant).
        """
        state, by = self.outcome()
        if state == "killed" and not self.passes_without(by):
            self.tests = [test for test in self.tests if test.name != by]
            if self.build == SANITIZED:
                self.runner.unfit.add(by)
            return self.run()
        return state, by

    def passes_without(self, name):
        """Returns whether a test passes without the mutant. On a busy machine a live test may fail
        even without a mutant, and other tests may fail in the build with AddressSanitizer."""
        if self.build == PLAIN and not name.startswith("live"):
            return True
        [test] = [test for test in self.tests if test.name == name]
        self.runner.tree.make(self.build, "shared-program", quiet=True)
        if test.suite in ("unit", "triage"):
            return self.runner.run(self.build, test, self.limits(test)).status == "passed"
        return any(ended.status in ("passed", "skipped") for _, ended in
                   self.runner.run_batch(self.build, [test], self.limits))

    def outcome(self):
        with Changed(self.runner.tree, self.build, self.change) as changed:
            if changed.state != "built":
                return changed.state, None
            if not self.tests:
                return "survived", NO_TEST
            by = self.by_single()
            for suite in suites.FOLDERS:
                by = by or self.by_batch(suite)
            return ("killed", by) if by else ("survived", f"{len(self.tests)} tests run it")


def tried(runner, tests, change):
    """Tries a mutant in the plain build. Returns its state, and the name of the test that noticed
    it."""
    state, by = Trial(runner, tests, change).run()
    if state == "survived" and runner.tree.is_same_optimized(change):
        return "same code", "if optimized"
    return state, by


def tried_sanitized(runner, tests, change):
    """Tries a mutant with AddressSanitizer and without live tests. Returns the name of the test that
    noticed the mutant, or None."""
    tests = [test for test in tests if not test.is_live and test.name not in runner.unfit]
    state, by = Trial(runner, tests, change, SANITIZED).run() if tests else ("survived", None)
    return by if state == "killed" else None


class Results:
    """Results of all mutants, stored in a file."""

    def __init__(self, path):
        self.path = path
        rows = path.read_text().splitlines() if path.exists() else []
        self.rows = {row["id"]: row for row in map(json.loads, rows)}

    def add(self, row):
        self.rows[row["id"]] = row
        with open(self.path, "a") as file:
            file.write(json.dumps(row) + "\n")

    def counted(self):
        return [row for row in self.rows.values() if row["state"] in ("killed", "survived")]


def report(rows):
    """Prints the surviving mutants, and the share of killed mutants for each folder of src/.
    Returns the share of all mutants that are killed."""
    for row in rows:
        if row["state"] == "survived":
            tell(f"survived: {row['path']}:{row['line']} ({row['kind']}; {row['by']})\n{row['diff']}")
    rooms = collections.defaultdict(collections.Counter)
    for row in rows:
        for room in (room_of(row["path"]), "all"):
            rooms[room][row["state"]] += 1
    for room, count in sorted(rooms.items(), key=lambda item: (item[0] == "all", item[0])):
        of = count["killed"] + count["survived"]
        tell(f"{room:10} {count['killed']:4} of {of:4} killed  {100 * count['killed'] / of:3.0f} %")
    by = collections.Counter(row["by"].split("/")[0] for row in rows if row["state"] == "killed")
    tell("killed by " + ", ".join(f"{name}: {n}" for name, n in by.most_common()))
    return rooms["all"]["killed"] / max(1, len(rows))


def name_of(options):
    """Returns the name of the result file, which consists of the seed and the path below which
    files are changed."""
    rooms = [word for word in re.split("[/,]", options.under) if word not in ("src", "")]
    return "-".join([str(options.seed), *rooms])


class Work:
    """Mutants in their random order, and what came of each."""

    def __init__(self, runner, options, place, coverage):
        self.runner, self.options, self.coverage = runner, options, coverage
        self.results = Results(place / f"results-{name_of(options)}.jsonl")
        self.known, self.texts = equivalents(), {}

    def text_of(self, path):
        return self.texts.setdefault(path, (self.runner.tree.top / path).read_text())

    def tests_of(self, change):
        text = self.text_of(change.path)
        return self.coverage.of(change.path, change.line(text), first_line_of(text, change))

    def add(self, number, change, state, by, **more):
        """Stores and prints the result of a mutant."""
        text = self.text_of(change.path)
        words = words_of(text, change)
        self.results.add({"id": str(number), "state": state, "by": by, "kind": change.kind,
                          "path": change.path, "line": change.line(text), "words": words,
                          "diff": diff_of(text, change), **more})
        tell(f"{state}: {words}{f' ({by})' if by else ''}")

    def try_plain(self, last):
        """Tries mutants until `options.count` mutants are counted, or until the time `last`."""
        for number, change in enumerate(drawn(self.runner.tree, self.options.seed,
                                              self.options.under)):
            row = self.results.rows.get(str(number))
            if len(self.results.counted()) >= self.options.count and not row \
                    or time.monotonic() > last:
                return
            if row and not (self.options.again and row["state"] == "survived"):
                continue
            words, before = words_of(self.text_of(change.path), change), cpu_seconds()
            state, by = ("equivalent", self.known[words]) if words in self.known else \
                tried(self.runner, self.tests_of(change), change)
            self.add(number, change, state, by, seconds=round(cpu_seconds() - before, 1))

    def try_sanitized(self, last):
        """Tries the survivors again with AddressSanitizer."""
        rows = self.results.rows
        waiting = {number for number, row in rows.items()
                   if row["state"] == "survived" and row["by"] != NO_TEST and not row.get("again")}
        if waiting:
            self.runner.tree.build_sanitized()
        for number, change in enumerate(drawn(self.runner.tree, self.options.seed,
                                              self.options.under)):
            if not waiting or time.monotonic() > last:
                return
            if str(number) in waiting:
                waiting.remove(str(number))
                by = tried_sanitized(self.runner, self.tests_of(change), change)
                self.add(number, change, *(("killed", f"{by} with AddressSanitizer") if by else
                                           ("survived", rows[str(number)]["by"])), again=True)


def cpu_seconds():
    """Returns the CPU time of all processes that this script started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def use_own_devices():
    """Restarts the script with its own copy of /dev, because mutants that ran as root have removed
    /dev/null."""
    if os.geteuid() == 0 and not os.environ.get(OWN_DEV):
        os.environ[OWN_DEV] = "1"
        os.execvp("unshare", ["unshare", "--mount", str(ROOT / "tests/mutants/own_dev.sh"),
                              sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200,
                        help="number of mutants to try, of those that compile (200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6, help="end this run after MINUTES")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="number of compilers and tests to run at once (%(default)s)")
    parser.add_argument("--place", type=Path, default=ROOT / "build/mutants")
    parser.add_argument("--again", action="store_true", help="try surviving mutants again")
    parser.add_argument("--no-sanitizer", dest="sanitizer", action="store_false",
                        help="do not try surviving mutants with AddressSanitizer")
    parser.add_argument("--under", default="src/",
                        help="mutate only files whose path begins with one of these PATHs, which "
                             "are separated by commas")
    parser.add_argument("--suites", default=",".join(suites.NAMES),
                        help="suites to run (%(default)s)")
    parser.add_argument("--only", metavar="REGEX", default="",
                        help="run only tests whose SUITE/NAME contains a match; the score is then a "
                             "lower bound")
    parser.add_argument("--effort", type=float, default=1, metavar="SHARE",
                        help="spend only this share of the CPU time on a mutant that no test "
                             "notices; the score is then a lower bound (%(default)s)")
    options = parser.parse_args()
    use_own_devices()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    place = options.place.resolve()
    place.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0 and not all(one.stat().st_mode & 1 for one in (place, *place.parents)):
        sys.exit(f"{place}: tests run as nobody, who may not go there; give another --place")
    # a lock, held until exit, so that no second run changes the same copy
    alone = open(place / "lock", "w")
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"{place}: another run works there")
    tree = Tree(ROOT, place, options.jobs)
    tree.copy()
    tree.build()
    box = Box()
    try:
        return try_all(suites.Suites(tree, box, options.effort), options, place)
    finally:
        box.close()


def try_all(runner, options, place):
    """Measures coverage, tries mutants and prints the report. Returns the exit status."""
    last = time.monotonic() + 60 * options.minutes
    wanted = options.suites.split(",")
    if not runner.box.may_be_live:
        wanted = [name for name in wanted if not name.startswith("live")]
        tell("# no live tests: they need root, and a control group that limits memory")
    coverage = Map(runner, place / "coverage.jsonl")
    if not coverage.complete([test for test in suites.find(runner.tree, wanted)
                              if re.search(options.only, test.name)], tell, last):
        tell("# stopped while measuring which test runs which line; run it again")
        return 2
    work = Work(runner, options, place, coverage)
    work.try_plain(last)
    if options.sanitizer:
        work.try_sanitized(last)
    rows = work.results.counted()
    share = report(rows)
    return 2 if len(rows) < options.count else share < WANTED


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
