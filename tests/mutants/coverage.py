# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which quick test runs which line: a change is tried by the tests that run it, and no others."""
import collections
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import suites
from tree import COVERED, PLAIN

LONGEST = 20.0  # seconds; what takes longer is not quick
SLOWER = 4  # so many times, without optimisation and counting lines


def gcov(tree, files):
    """(path, line, how often it ran) of these files of counts, or of notes, which have none."""
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
    """{path: [lines]} of the counts that a test left at `place`."""
    covered = tree.top / COVERED
    counts = sorted(place.rglob("*.gcda"))
    for path in counts:
        notes = path.with_suffix(".gcno")
        notes.symlink_to(covered / path.relative_to(Path(f"{place}{covered}")).with_suffix(".gcno"))
    found = collections.defaultdict(set)
    for path, line, count in gcov(tree, counts):
        if count:
            found[path].add(line)
    return {path: sorted(lines) for path, lines in found.items()}


def measure(tree, test):
    """A row of the map: how long the test takes, and what it runs; None where it is of no use."""
    ended = suites.run(tree, PLAIN, test, LONGEST)
    if ended.status != 0 or ended.tests_nothing:
        return {"test": test.name, "digest": test.digest, "why": "longer" if ended.status is None else
                "fails" if ended.status else "skips"}
    place = Path(tempfile.mkdtemp(prefix="counts-", dir=tree.top.parent))
    place.chmod(0o777)  # tests run programs as other users too
    try:
        suites.run(tree, COVERED, test, SLOWER * LONGEST, {"GCOV_PREFIX": str(place)})
        lines = lines_run(tree, place)
        if not lines:
            return {"test": test.name, "digest": test.digest, "why": "runs no line of src/"}
        return {"test": test.name, "digest": test.digest, "seconds": ended.seconds,
                "lines": lines}
    finally:
        shutil.rmtree(place)


class Map:
    """Rows of measure(), kept in a file: one a test, so that a stopped run can go on."""

    def __init__(self, tree, path):
        self.tree, self.path = tree, path
        rows = path.read_text().splitlines() if path.exists() else []
        self.rows = {row["test"]: row for row in map(json.loads, rows)}

    def complete(self, tests, tell):
        """Measures what is not yet in it; keeps `tests` that are of use, with their times."""
        for test in tests:
            if self.rows.get(test.name, {}).get("digest") != test.digest:
                row = measure(self.tree, test)
                self.rows[test.name] = row
                with open(self.path, "a") as file:
                    file.write(json.dumps(row) + "\n")
                if "why" in row:
                    tell(f"# left out: {test.name} {row['why']}")
        self.tests = {test.name: test for test in tests if "lines" in self.rows[test.name]}
        notes = sorted((self.tree.top / COVERED / "src").rglob("*.gcno"))
        self.code = {(path, line) for path, line, _ in gcov(self.tree, notes)}
        self.by_line = collections.defaultdict(set)
        for name, test in self.tests.items():
            test.seconds = self.rows[name]["seconds"]
            for path, lines in self.rows[name]["lines"].items():
                for line in lines:
                    self.by_line[path, line].add(name)

    def of(self, path, line, first):
        """The tests that run a line, quickest first: where it has no code, those of the line before
        it that has, back to `first` of its function; where it is in none (0), those of the file."""
        while line > first > 0 and (path, line) not in self.code:
            line -= 1
        names = self.by_line.get((path, line), set())
        if not first:
            names = {name for (file, _), some in self.by_line.items() if file == path
                     for name in some}
        tests = [self.tests[name] for name in names]
        return sorted(tests, key=lambda test: (not test.is_unit, test.seconds))
