#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that the results in docs/performance.json belong to the code of this tree. Prints TAP.

A result is stale if the code of its probes has changed since it was measured: BPF sources, or rows of
src/probe/hooks.def. Changes of comments, white space and sentences do not count. `make bench`
measures again. `tools/readme.py --check` compares the tables of the documents with the results.
"""
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from shutil import copy, copytree

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[1:1] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/bench")]

from events import tools_of  # noqa: E402
from rows import (EVENTS, FILES, ITSELF, MODES, PROGRAM_MODES, PROGRAMS, STATE, WALKS,  # noqa: E402
                  files_of)
from run import Tap  # noqa: E402
from sources import HOOKS, Sources  # noqa: E402
from tables import DATA, Tables, blocks, cell, verdict  # noqa: E402

MOST_COMMITS = 5


def of_modes(watches_one):
    return ("watched", "another") if watches_one else (None,)


def expected():
    """Returns {(work, mode, of): probes that the value depends on} of all rows."""
    ours, found = {mode.name for mode in MODES}, {}
    for mode, _, works, watches_one in tools_of(EVENTS):
        for work in works:
            for of in of_modes(watches_one):
                found[work.name, mode, of] = work.probes if mode in ours else ""
    for work in PROGRAMS:
        for mode in PROGRAM_MODES:
            for of in of_modes(mode == "-p"):
                found[work.name, mode, of] = work.probes if mode in ours else ""
    return found | {(own.work, own.mode, None): own.probes for own in ITSELF}


def key_of(row):
    return row["work"], row["mode"], row.get("of")


def stale(rows, sources):
    """Returns {(probes, mode, commit): rows} of the rows whose code has changed."""
    probes, found = expected(), defaultdict(list)
    for row in rows:
        needs = probes.get(key_of(row), "")
        if row.get("code") != sources.fingerprint(needs, row["mode"]):
            found[needs, row["mode"], row.get("commit")].append(" ".join(filter(None, key_of(row))))
    return found


def commits_since(commit, names):
    """Returns the last commits that changed these files; nothing if git does not know `commit`."""
    done = subprocess.run(["git", "-C", str(ROOT), "log", "--oneline", f"-{MOST_COMMITS}",
                           f"{(commit or '').removesuffix('-dirty')}..", "--",
                           *(f"bpf/{name}" for name in names), HOOKS],
                          capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if commit and not done.returncode else []


def check_rows(check, data):
    check.equal("rows of the results and of tests/bench/rows.py",
                sorted(map(str, map(key_of, data["rows"]))), sorted(map(str, expected())))
    for row in data["rows"]:
        check.that("median" in row or row.get("why"), f"{key_of(row)} has no value and no reason")
        check.that(row.get("date"), f"{key_of(row)} has no date")


def check_fresh(check, data, sources):
    for (needs, mode, commit), names in stale(data["rows"], sources).items():
        check.that(False, f"stale since {commit}: {', '.join(names)}; run: make bench && make readme")
        for line in commits_since(commit, files_of(needs, mode)):
            check.that(False, f"  changed by {line}")


def check_files(check, sources):
    check.equal("probes of rows.py and of hooks.def", sorted(FILES), sorted(sources.rows))
    for probe, files in FILES.items():
        missing = sources.defining(probe) - set(files.split())
        check.that(not missing, f"{missing} define BPF programs of {probe}, and are not in FILES")
    for name in set(" ".join([STATE, WALKS, *FILES.values()]).split()):
        check.that(name in sources.texts, f"bpf/{name} of rows.py does not exist")
    for probes in expected().values():
        check.that(set(probes.split()) <= set(FILES), f"{probes}: not in FILES")


def check_doctor(check):
    """Checks that the events of `doctor` have the names and titles of rows.py."""
    text = (ROOT / "src/session/calibrate_rows.def").read_text(encoding="utf-8")
    events = re.findall(r'^EVENT\("([^"]+)", "([^"]+)",', text, re.M)
    check.that(len(events) >= 5, f"only {events}")
    check.that(set(events) <= {(work.name, work.title) for work in EVENTS},
               f"names or titles of calibrate_rows.def that rows.py has not: {events}")


def tree_with(change):
    """Yields the Sources of a copy of the tree, in which change(folder) has changed files."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        copytree(ROOT / "bpf", folder / "bpf")
        (folder / HOOKS).parent.mkdir(parents=True)
        copy(ROOT / HOOKS, folder / HOOKS)
        change(folder)
        return Sources(folder)


def replaced(name, pattern, text):
    def change(folder):
        old = (folder / name).read_text(encoding="utf-8")
        new = re.sub(pattern, text, old, count=1, flags=re.M)
        assert new != old, f"{pattern} is not in {name}"
        (folder / name).write_text(new, encoding="utf-8")
    return change


def self_test(check):
    rows = [{"work": work, "mode": mode, "of": of, "code": Sources().fingerprint(probes, mode)}
            for (work, mode, of), probes in expected().items()]

    def stale_after(change):
        return {name for names in stale(rows, tree_with(change)).values() for name in names}

    comment = stale_after(replaced("bpf/fault.bpf.c", r"^SEC", "/* a comment */\n\nSEC"))
    check.equal("stale after a new comment", comment, set())
    sentence = stale_after(replaced(HOOKS, r'"user-mode page faults: ', '"faults in user mode: '))
    check.equal("stale after a new sentence", sentence, set())
    code = stale_after(replaced("bpf/fault.bpf.c", r"return 0;", "return 1 - 1;"))
    check.that({"fault all", "fault -p watched", "fork run another", "redis export"} <= code,
               f"stale after a change of fault.bpf.c: {code}")
    check.that(not {"getppid all", "pipe -p watched", "fault bpftrace", "scan 5,000 processes"} & code,
               f"stale after a change of fault.bpf.c: {code}")
    walk = stale_after(replaced("bpf/unwind.bpf.h", r"^static", "static volatile int more;\nstatic"))
    check.that("open diagnose watched" in walk and "open -p watched" not in walk,
               f"stale after a change of unwind.bpf.h: {walk}")
    attach = stale_after(replaced(HOOKS, r'"on_lock_begin", ', ""))
    check.that("mmap all" in attach and "fault all" not in attach,
               f"stale after a change of the attach types of mmap_lock: {attach}")
    check.that(not any("bpftrace" in name or "empty" in name for name in code | walk | attach),
               "rows of other tools are stale")


def small(share, least=None, most=None):
    """Returns results in which -p slows Redis by this share; the quartiles are equal if absent."""
    rows = [{"work": "fault", "mode": mode, "of": of, "unit": "ns", "median": 50, "q1": 49, "q3": 51,
             "base": 1000} for mode, of in (("empty probe", None), ("all", None), ("-p", "watched"),
                                            ("-p", "another"))]
    rows.append({"work": "redis", "mode": "-p", "of": "another", "unit": "%", "median": share,
                 "q1": least or share, "q3": most or share})
    return Tables({"rows": rows})


def test_sentence(check):
    check.that("also slows others" in small(9.5).cost(), small(9.5).cost())
    check.that("Redis needs 9.5 % more CPU time." in small(9.5).cost(), small(9.5).cost())
    check.that("9.5 % more CPU time (median; quartiles 8.5 % and 11 %)" in
               small(9.5, 8.5, 11).cost(), small(9.5, 8.5, 11).cost())
    check.that("also slows others" not in small(0.9).cost(), small(0.9).cost())
    check.that("Not measured" in Tables({"rows": []}).cost(), "no row, and a cost")


def test_cells(check):
    def row(low, middle, high, **more):
        return {"q1": low, "median": middle, "q3": high, "unit": "ns", "goal": 100, **more}

    check.equal("verdicts", [verdict(row(80, 90, 100)), verdict(row(101, 102, 103)),
                             verdict(row(90, 95, 110)), verdict({"goal": 100, "why": "failed"})],
                ["yes", "no", "unclear", "not measured"])
    check.equal("cells", [cell(row(-4, 0.04, 3.25), False), cell(row(996.4, 1234, 10_000)),
                          cell(row(9_000, 12_345, 23_456), False), cell(None)],
                ["0 (−4.0 to 3.2)", "1,230 (996 to 10,000) ns", "12 (9.0 to 23) µs",
                 "not measured"])


def main():
    tap = Tap()
    if "--self-test" in sys.argv[1:]:
        tap.test("changed code makes exactly its rows stale", self_test)
        tap.test("cells and verdicts of the tables", test_cells)
        tap.test("the README says that -p slows others, from 1 % on", test_sentence)
    else:
        data, sources = json.loads(DATA.read_text(encoding="utf-8")), Sources()
        tap.test("the results have the rows of rows.py", check_rows, data)
        tap.test("rows.py lists the files of each probe", check_files, sources)
        tap.test("no result is older than the code that it measured", check_fresh, data, sources)
        tap.test("doctor names its events as rows.py does", check_doctor)
        tap.test("the tables can be made", lambda check: check.that(blocks(), "no table"))
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
