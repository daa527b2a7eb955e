# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Finds the lines of older sources in newer sources, so that coverage need not be measured again.
An older line corresponds to the equal line in the same file, or in an identical function of another
file. A new line counts as part of the line before it. If a line is matched wrongly, the wrong tests
are selected for a mutant. The mutant may then survive although a test would notice it. No test
fails because of a wrong match."""
import collections
import difflib

from changes import bodies, masked


def functions(text):
    """Yields (body, first line) of each function in a C source."""
    code = masked(text)
    for start, end in bodies(code):
        yield text[start:end], text.count("\n", 0, start) + 1


def in_file(old, new):
    """Returns {new line: old line} for two versions of a file."""
    if old == new:
        return {line: line for line in range(1, new.count("\n") + 2)}
    found, was = {}, None
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    for at, to, length in matcher.get_matching_blocks():
        for i in range(length):
            found[to + i + 1] = at + i + 1
    for line in range(1, new.count("\n") + 2):
        was = found.setdefault(line, was)
    return found


def carried(old, new):
    """Returns {(path, old line): [(path, new line)]} for two trees {path: text}."""
    moved = {body: (path, first) for path, text in old.items() for body, first in functions(text)}
    found = collections.defaultdict(list)
    for path, text in new.items():
        of = {line: (path, was) for line, was in
              (in_file(old[path], text) if path in old else {}).items()}
        here = {body for body, _ in functions(old.get(path, ""))}
        for body, first in functions(text):
            if body in moved and body not in here:
                was, at = moved[body]
                of.update({first + i: (was, at + i) for i in range(body.count("\n") + 1)})
        for line, was in of.items():
            found[was].append((path, line))
    return found


def carry(rows, old, new):
    """Returns the rows of a coverage map with line numbers of the new sources."""
    if old == new:
        return rows
    to = carried(old, new)
    for row in rows:
        lines = collections.defaultdict(set)
        for path, line in ((path, line) for path, some in row.get("lines", {}).items()
                           for line in some):
            for there, at in to.get((path, line), ()):
                lines[there].add(at)
        if "lines" in row:
            row["lines"] = {path: sorted(some) for path, some in lines.items()}
    return rows
