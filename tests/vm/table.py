#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints test results as a Markdown table: a row for each attach type, a column for each kernel.

usage: table.py DIRECTORY	DIRECTORY has the results of tests/vm/run.py
"""
import json
import sys
from pathlib import Path

BLIND, WRONG, EXACT = "blind: ", "WRONG: ", "exact, but: "


class Cells:
    """Results of one kernel, in a file of their own, so that results of several runs are merged."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.release = ""
        self.rows = []

    def put(self, hook, mechanism, good, wrong, best=False):
        """Stores the result of an attach type: the text `good`, or the first error."""
        text = WRONG + wrong[0].split("\n", 1)[0] if wrong else good
        self.rows = [row for row in self.rows if row[:2] != [hook, mechanism]]
        self.rows.append([hook, mechanism, text, best])

    def save(self, directory):
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{self.kernel}.json").write_text(
            json.dumps({"release": self.release, "rows": self.rows}, indent=1) + "\n",
            encoding="utf-8")


class Notes:
    """Numbered footnotes for texts that are too long for a table cell."""

    def __init__(self):
        self.texts = []

    def mark(self, text):
        if text not in self.texts:
            self.texts.append(text)
        return f"<sup>{self.texts.index(text) + 1}</sup>"

    def shorten(self, text):
        for start, word in ((BLIND, "unavailable"), (EXACT, "exact"), (WRONG, "WRONG")):
            if text.startswith(start):
                return word + self.mark(text.removeprefix(start))
        return text

    def lines(self):
        return [f"{n}. {text}" for n, text in enumerate(self.texts, 1)]


def line_of(cells):
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def markdown(found):
    """Returns the Markdown table of {name of a kernel: saved results}. The columns have the order
    of the dictionary."""
    columns = {name: {(row[0], row[1]): row[2:] for row in one["rows"]}
               for name, one in found.items()}
    keys = list(dict.fromkeys(key for column in columns.values() for key in column))
    hooks = list(dict.fromkeys(hook for hook, _ in keys))
    # Among the rows of a probe, "none" is the last row, even if the results of a kernel name it
    # earlier.
    keys.sort(key=lambda key: (hooks.index(key[0]), key[1] == "none"))
    head = ["probe", "attach type", *(f"{name} ({found[name]['release']})" for name in columns)]
    notes = Notes()
    lines = [line_of(head), line_of(["---"] * len(head))]
    for hook, mechanism in keys:
        cells = [f"`{hook}`", mechanism]
        for column in columns.values():
            text, best = column.get((hook, mechanism), ("", False))
            text = notes.shorten(text)
            cells.append(f"**{text}**" if best else text)
        lines.append(line_of(cells))
    return "\n".join([*lines, "", "Bold: what is taken there.", "", *notes.lines()]) + "\n"


def saved(directory, order):
    """Returns the saved results in a directory, for the kernels in `order`."""
    return {name: json.loads((directory / f"{name}.json").read_text(encoding="utf-8"))
            for name in order if (directory / f"{name}.json").exists()}


if __name__ == "__main__":
    from fetch import KERNELS
    sys.stdout.write(markdown(saved(Path(sys.argv[1]), KERNELS)))
