#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the answers of `faultscope triage` with the results of grep, on crash logs whose right
answers are known.

usage: anchors.py --corpus DIR [--markdown]

DIR has the layout that tests/triage/score.py describes. faultscope is compared with three greps.
One grep searches for the first instruction pointer (function, and module in brackets). Another grep
searches for the first frame of the first call trace. The third grep searches for words that crash
logs usually have. "-" means that a grep matched nothing. Other programs are not compared: crash and
drgn read dumps, not logs; ABRT with satyr, kerneloops and apport are in no Debian release from 11
to sid.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import score

POINTER = r"RIP:? |EIP is at |EIP: |pc : |PC is at |NIP \[|epc : |Krnl PSW"
TRACE = r"Call Trace:|Call trace:|Backtrace:"
WORDS = r"BUG|Oops|[Pp]anic|Call [Tt]race|segfault"
FRAME = re.compile(r"([A-Za-z_][\w.]*)\+0x[0-9a-f]+(?:/0x[0-9a-f]+)?(?: \[(\w+)[ \]])?")
METRICS = {"detect": "found", "fp": "false alarms", "kind": "kind", "sem": "mechanism",
           "func1": "function", "mod1": "module", "culprit1": "culprit", "culprit3": "in three",
           "addr": "address", "access": "access"}


def grep(path, pattern, *options):
    ran = subprocess.run(["grep", "-aE", *options, pattern, path], capture_output=True, text=True,
                         errors="replace", check=False)
    return ran.stdout.splitlines()


def verdict_of(lines):
    """Returns the first function that these lines name, and the function's module as the only
    suspect."""
    for line in lines:
        found = FRAME.search(line)
        if found:
            module = found[2] or "vmlinux"
            return {"crash": True, "kind": "unknown", "function": found[1], "module": module,
                    "culprit": module}
    return {"crash": bool(lines), "kind": "unknown" if lines else "none"}


def by_pointer(path):
    return verdict_of(grep(path, POINTER, "-m1"))


def by_frame(path):
    return verdict_of(grep(path, TRACE, "-m1", "-A4"))


def by_words(path):
    found = bool(grep(path, WORDS, "-m1"))
    return {"crash": found, "kind": "unknown" if found else "none"}


TOOLS = {"faultscope triage": score.judge, "grep of the first RIP or pc": by_pointer,
         "grep of the first frame": by_frame, "grep of BUG, Oops, panic": by_words}
SAYS = {by_pointer: ("detect", "fp", "func1", "mod1", "culprit1", "culprit3"),
        by_frame: ("detect", "fp", "func1", "mod1", "culprit1", "culprit3"),
        by_words: ("detect", "fp")}


def score_of(corpus, rows, tool):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as out:
        for row in rows:
            line = tool(corpus / row["file"])
            line["semantic"] = line.get("class")  # the name in other scorers
            out.write(json.dumps({**line, "file": row["file"]}) + "\n")
        out.flush()
        ran = subprocess.run([sys.executable, corpus / "score.py", out.name, "--json"],
                             capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)["ALL"]


def cells_of(shares, tool):
    for metric in METRICS:
        right, of = shares[metric]
        if metric not in SAYS.get(tool, METRICS):
            yield "-"
        else:
            yield f"{right} of {of}" if metric == "fp" else f"{100 * right / of:.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--markdown", action="store_true", help="print results as a Markdown table")
    options = parser.parse_args()
    lines = (options.corpus / "gold.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    heads = ["", *METRICS.values()]
    table = [[name, *cells_of(score_of(options.corpus, rows, tool), tool)]
             for name, tool in TOOLS.items()]
    if options.markdown:
        print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
        for cells in table:
            print("| " + " | ".join(cells) + " |")
        return
    for cells in [heads, *table]:
        print(f"{cells[0]:28}" + "".join(f"{cell:>14}" for cell in cells[1:]))


if __name__ == "__main__":
    main()
