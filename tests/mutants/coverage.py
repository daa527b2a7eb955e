# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The coverage map says which quick test executes which line. For a mutant, only tests that execute
the changed line are run."""
import collections
import json
import re
import shutil
import struct
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from carry import carry
from suites import Limits
from tree import COVERED, PLAIN

# Greatest CPU time in seconds of a quick test that is not live, and of a quick live test.
LONGEST, LONGEST_LIVE = 30.0, 10.0
BUSY = 5  # a test may take this multiple of its CPU limit on a busy machine, or while it waits
LIVE_AT_ONCE = 2  # number of live tests to run at once for each CPU, since they mostly wait
SLOWER = 4  # a build without optimisation and with gcov counters is slower by this factor
AT_ONCE = 40  # number of tests to measure before their rows are written to the map's file
MEASURED = "measured"  # name of the folder with the sources to which the rows of a map belong
COUNTER_TAG = 0x01A10000  # tag of arc counters in a .gcda file (gcc/gcov-io.h)


def has_run(path):
    """Returns whether a .gcda file has a counter above 0. If all counters of a function are 0, gcc
    writes only a negative length in place of them."""
    data = path.read_bytes()
    at = 16  # size of the header: magic, version, stamp, checksum
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        if tag == COUNTER_TAG and length > 0:
            return True
        at += 8 + max(length, 0)
    return False


def gcov(tree, files):
    """Yields (path, line, execution count) from .gcda files, or from .gcno files, which have no
    counts."""
    if not files:
        return
    ran = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, files)],
                         capture_output=True, text=True, cwd=tree.top, check=False)
    for text in ran.stdout.splitlines():
        for file in json.loads(text)["files"]:
            if file["file"].startswith(("src/", "bpf/")):
                for line in file["lines"]:
                    yield file["file"], line["line_number"], line["count"]


def lines_run(tree, place):
    """Returns {path: [lines]} that a test executed, from the counters that it left at `place`."""
    covered = tree.top / COVERED
    counts = [path for path in sorted(place.rglob("*.gcda")) if has_run(path)]
    for path in counts:
        notes = path.with_suffix(".gcno")
        notes.symlink_to(covered / path.relative_to(Path(f"{place}{covered}")).with_suffix(".gcno"))
    found = collections.defaultdict(set)
    for path, line, count in gcov(tree, counts):
        if count:
            found[path].add(line)
    return {path: sorted(lines) for path, lines in found.items()}


def longest(test, slower):
    """Returns the limits of a test that is measured in a build slower by a factor."""
    cpu = slower * (LONGEST_LIVE if test.is_live else LONGEST)
    return Limits(BUSY * cpu, cpu)


def sources(top):
    """Returns {path: text} of all sources in src/ below a folder."""
    return {str(path.relative_to(top)): path.read_text()
            for path in sorted((top / "src").rglob("*.[ch]"))}


class Map:
    """The lines that each test executes. They are stored as rows in a file, so that an interrupted
    run can continue.

    The sources to which the rows belong are kept next to the file. If the sources have changed
    since, line numbers are adapted; a test that has changed itself is measured again.
    """

    def __init__(self, suites, path):
        self.suites, self.tree, self.path = suites, suites.tree, path
        rows = path.read_text().splitlines() if path.exists() else []
        rows = {row["test"]: row for row in map(json.loads, rows)}
        self.keep(carry(list(rows.values()), sources(path.parent / MEASURED),
                        sources(self.tree.top)))
        self.jobs = self.tree.jobs

    def keep(self, rows):
        """Writes all rows to the file, and the sources to which their line numbers belong."""
        self.rows = {row["test"]: row for row in rows}
        self.path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        kept = self.path.parent / MEASURED / "src"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.tree.top / "src", kept)

    def run(self, build, tests, slower=1, counts=None, at_once=None):
        """Runs tests of one suite, `at_once` of them at once. Returns {name: how it ended}."""
        if tests[0].suite in ("unit", "triage"):
            with ThreadPoolExecutor(at_once or self.jobs) as pool:
                ended = pool.map(lambda test: self.suites.run(build, test, longest(test, slower),
                                                              counts), tests)
                return {test.name: one for test, one in zip(tests, ended)}
        return {test.name: ended for test, ended in self.suites.run_batch(
            build, tests, lambda test: longest(test, slower), counts=counts,
            jobs=at_once or self.jobs * (LIVE_AT_ONCE if tests[0].is_live else 1))}

    def run_plain(self, tests):
        """Runs tests in the plain build. A test that fails is tried again alone, because a live test
        may fail when others run beside it."""
        ended = self.run(PLAIN, tests)
        failed = [test for test in tests
                  if test.name in ended and ended[test.name].status in ("failed", "longer")]
        return {**ended, **self.run(PLAIN, failed, at_once=1)} if failed else ended

    def measure(self, tests):
        """Measures tests, and stores a row for each. The row has the CPU time and the duration
        of the test, and the lines that it executed. If the test cannot be used, the row has the reason."""
        place = Path(tempfile.mkdtemp(prefix="counts-", dir=self.tree.top.parent))
        # tests run as another user, who must be able to write gcov counters to this directory
        place.chmod(0o777)
        try:
            plain = self.run_plain(tests)
            good = [test for test in tests
                    if test.name in plain and plain[test.name].status == "passed"]
            for suite in {test.suite for test in good}:
                (place / suite).mkdir()
                (place / suite).chmod(0o777)
            if good:
                self.run(COVERED, good, SLOWER, place)
            with ThreadPoolExecutor(self.jobs) as pool:
                lines = dict(zip((test.name for test in good), pool.map(
                    lambda test: lines_run(self.tree, place / test.name), good)))
            for test in tests:
                ended, row = plain.get(test.name), {"test": test.name, "digest": test.digest}
                if lines.get(test.name):
                    yield {**row, "seconds": ended.seconds, "wall": ended.wall,
                           "lines": lines[test.name]}
                else:
                    yield {**row, "why": "is not told of" if not ended else
                           ended.status if ended.status != "passed" else "runs no line of src/"}
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def complete(self, tests, tell, last):
        """Measures those tests that have no row yet, but starts no test after the time `last`.
        Returns whether all tests have a row."""
        missing = collections.defaultdict(list)
        for test in tests:
            if self.rows.get(test.name, {}).get("digest") != test.digest:
                missing[test.suite].append(test)
        for suite in missing.values():
            for at in range(0, len(suite), AT_ONCE):
                if time.monotonic() > last:
                    return False
                self.add(self.measure(suite[at:at + AT_ONCE]), tell)
        self.use(tests)
        return True

    def add(self, rows, tell):
        with open(self.path, "a", encoding="utf-8") as file:
            for row in rows:
                self.rows[row["test"]] = row
                file.write(json.dumps(row) + "\n")
                if "why" in row:
                    tell(f"# left out: {row['test']}: {row['why']}")

    def use(self, tests):
        """Stores two things that of() needs: the usable tests, and the lines that contain code."""
        self.tests = {test.name: test for test in tests if "lines" in self.rows[test.name]}
        notes = sorted((self.tree.top / COVERED / "src").rglob("*.gcno"))
        self.code = {(path, line) for path, line, _ in gcov(self.tree, notes)}
        self.last = {}  # number of the last line with code in each file
        for path, line in self.code:
            self.last[path] = max(line, self.last.get(path, 0))
        self.by_line = collections.defaultdict(set)
        for name, test in self.tests.items():
            test.seconds, test.wall = self.rows[name]["seconds"], self.rows[name]["wall"]
            for path, lines in self.rows[name]["lines"].items():
                for line in lines:
                    self.by_line[path, line].add(name)
        self.share = {}
        for name in self.tests:
            self.add_shares(name)

    def add_shares(self, name):
        """Stores, for each file, which share of a test is about this file. A line that few tests
        execute says more about a test than a line that most tests execute."""
        weight = {path: sum(1 / len(self.by_line[path, line]) for line in lines)
                  for path, lines in self.rows[name]["lines"].items()}
        whole = sum(weight.values())
        self.share.update({(name, path): one / whole for path, one in weight.items()})

    def worth(self, name, path):
        """Returns the cost of using a test for a mutant in this file. The cost is low if the test
        is quick, and executes lines of this file that few other tests execute."""
        return (self.tests[name].seconds + 0.05) / (self.share[name, path] + 0.01)

    def of(self, path, line, first):
        """Returns the tests that execute a line, cheapest first. If the line has no code, takes the
        last line with code before it, but none before `first`, the first line of the function. A
        constant table may be before all code of its function; then takes the first line with code
        behind it. If `first` is 0, the line is in no function; returns the tests that use the macro
        which the line defines."""
        if not first:
            return self.of_macro(path, line)
        before, behind = line, line
        while before > first and (path, before) not in self.code:
            before -= 1
        while (path, behind) not in self.code and behind < self.last.get(path, 0):
            behind += 1
        names = self.by_line.get((path, before if (path, before) in self.code else behind), set())
        return [self.tests[name] for name in sorted(names, key=lambda name: self.worth(name, path))]

    def of_macro(self, path, line):
        """Returns the tests that execute a line in which the macro is used that this line defines.
        The quickest test is first."""
        define = (self.tree.top / path).read_text().splitlines()[line - 1]
        name = re.compile(rf"\b{define.split()[1].partition('(')[0]}\b")
        names = set()
        for file, text in sources(self.tree.top).items():
            for at, words in enumerate(text.splitlines(), 1):
                if name.search(words):
                    names |= self.by_line.get((file, at), set())
        return sorted((self.tests[name] for name in names), key=lambda test: test.seconds)
