#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Updates the parts of the documents that the program generates.

Tables and outputs stand between <!-- table: NAME --> and <!-- end --> in README.md and docs/. The
pages of docs/findings and the picture of the live view are generated as a whole. Tables of costs are
made from docs/performance.json, the results of `make bench`.

usage: readme.py BUILD [--check]        --check only compares, and prints TAP
"""
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(1, str(ROOT / "tests/bench"))

from tables import blocks as results_of_benchmarks  # noqa: E402

FINDINGS = ROOT / "docs/findings"
RECORDING = ROOT / "docs/examples/too-many-mappings.fsr"
LEAK = ROOT / "tests/e2e/recordings/forecast_of_a_leak.fsr"
PICTURE = ROOT / "docs/pictures/live-view.svg"
# Arguments of build/screens for the picture: columns, lines, colours, key, number of scans.
PICTURE_OF = ("104", "13", "colour", "2", "60")
PICTURE_TITLE = ("The Maps tab of the live view: a PyTorch DataLoader holds 35,411 of 65,530 "
                 "mappings and will reach the limit in 40 s")
PLACE = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(<!-- end -->)", re.S)
PAGE = re.compile(r"^%%% (.*)\n", re.M)
MATRIX = "kernels"


def printed(*command, text=None):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, input=text).stdout


def said(build, *words):
    """Returns the output lines of faultscope, whatever its exit status is."""
    return subprocess.run([build / "faultscope", *words], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, check=False).stdout.splitlines()


def block_of(lines):
    return "\n".join(["```", *lines, "```", ""])


def first_finding(build):
    """Returns the first finding that `report` prints for the example recording."""
    lines = said(build, "report", "--format", "text", RECORDING)
    return block_of(lines[:next(i for i, line in enumerate(lines) if i and line[0] != " ")])


def verdict(build):
    """Returns the output of `diagnose` for the example recording: two findings, and the end of the
    output."""
    lines = said(build, "diagnose", "--replay", RECORDING, "--width", "100")
    begins = [i for i, line in enumerate(lines) if re.match(r"\w+\[\w\d\d [a-z0-9-]+\]", line)]
    checked = next(i for i, line in enumerate(lines) if line.startswith("checked:"))
    return block_of(lines[:begins[2]] + ["..."] + lines[checked:])


def crash(build):
    """Returns the output of `triage` for a kept crash log."""
    log = "tests/triage/logs/6.1_left_timer.log"
    return block_of([f"$ faultscope triage {log}",
                     *said(build, "triage", "--width", "100", ROOT / log)])


def process(build):
    """Returns the lines that show one process, from the middle of the example recording."""
    lines = said(build, "replay", LEAK, "--width", "120")
    heads = [i for i, line in enumerate(lines) if line.startswith("fdleak[")]
    begin = heads[len(heads) // 2] - 1
    end = next(i for i in range(begin + 2, len(lines)) if not lines[i].startswith(" "))
    return block_of(lines[begin:end])


# Keys that all lines have, at least in `report --format jsonl`; the text of the page explains them.
IDENTITY = {"time_ns", "host", "boot_id", "kernel", "program_version"}
ON_OWN_PAGE = ("oom_page", "incident", "log")  # types of JSON lines on pages of their own


def events(build, only=None):
    """Returns a table with each type of JSON line, from the schema, except those of ON_OWN_PAGE;
    with `only`, a table with this type."""
    rows = ["| type | meaning | keys |", "| --- | --- | --- |"]
    for one in json.loads(printed(build / "faultscope", "schema"))["oneOf"]:
        name = one["properties"]["type"]["const"]
        if name != only if only else name in ON_OWN_PAGE:
            continue
        left_out = {"type", "t"}
        if "time_ns" in one["properties"]:
            left_out |= IDENTITY - set(one["required"])
        keys = ", ".join(key for key in one["properties"] if key not in left_out)
        rows.append(f"| `{one['properties']['type']['const']}` | {one['description']} | {keys} |")
    return "\n".join(rows) + "\n"


def matrix(build, check, was):
    """Returns the table of `make check-vm` results. Without results, or with --check, returns the
    table that is in the document, because newer kernels would give another table."""
    results = build / "kernels"
    return was if check or not results.is_dir() else printed(ROOT / "tests/vm/table.py", results)


def made(build, check):
    """Returns {path: text} of all documents with the text that they should have."""
    tables, benchmarks = build / "tables", results_of_benchmarks()

    def place(found):
        head, name, was, end = found.groups()
        if name in ("rooms", "walls"):
            return head + printed(ROOT / "tests/shape/rooms.py", "--table", name) + end
        if name in benchmarks:
            return head + benchmarks[name] + end
        if name == MATRIX:
            return head + matrix(build, check, was) + end
        own = {"session": first_finding, "verdict": verdict, "crash": crash, "process": process,
               "events": events,
               **{one: partial(events, only=one) for one in ON_OWN_PAGE}}.get(name)
        return head + (own(build) if own else printed(tables, name)) + end

    texts = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        was = path.read_text(encoding="utf-8")
        if PLACE.search(was):
            texts[path] = PLACE.sub(place, was)
    pages = PAGE.split(printed(tables, "findings"))[1:]
    texts |= {FINDINGS / name: text for name, text in zip(pages[::2], pages[1::2])}
    screen = printed(build / "screens", RECORDING, *PICTURE_OF)
    texts[PICTURE] = printed(ROOT / "tools/picture.py", PICTURE_TITLE, text=screen)
    return texts


def main():
    build, check = Path(sys.argv[1]).resolve(), "--check" in sys.argv[2:]
    texts = made(build, check)
    stale = {path for path in FINDINGS.glob("*.md") if path not in texts}
    if not check:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        for path in stale:
            path.unlink()
        return 0
    told = [(path, path.exists() and path.read_text(encoding="utf-8") == text)
            for path, text in texts.items()]
    told += [(path, False) for path in stale]
    for n, (path, same) in enumerate(told, 1):
        print(f"{'' if same else 'not '}ok {n} - {path.relative_to(ROOT)} has what the program says")
        if not same:
            print("# run: make readme")
    print(f"1..{len(told)}")
    return 0 if all(same for _, same in told) else 1


if __name__ == "__main__":
    sys.exit(main())
