# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes a fingerprint of the code that a measured value depends on: files of bpf/, and rows of
src/probe/hooks.def. Comments, white space and sentences do not change a fingerprint."""
import hashlib
import re
from pathlib import Path

from rows import files_of

ROOT = Path(__file__).resolve().parents[2]
HOOKS = "src/probe/hooks.def"
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:[^"\\\n]|\\.)*")', re.S)
SENTENCE = re.compile(r'"[^"\n]* [^"\n]*"')
PROGRAMS = re.compile(r'STATE_\w+,\s*\{((?:\s*"\w+",?)+)\s*\}')


def without_comments(text):
    return " ".join(COMMENT.sub(lambda found: found[1] or " ", text).split())


def hook_rows(text):
    """Returns {probe: its row}, given the text of hooks.def."""
    parts = re.split(r'\bHOOK\("(\w+)",', without_comments(text))
    return dict(zip(parts[1::2], parts[2::2]))


def programs(row):
    """Returns the names of the BPF programs in a row of hooks.def, for all attach types."""
    return re.findall(r'"(\w+)"', " ".join(PROGRAMS.findall(row)))


class Sources:
    def __init__(self, root=ROOT):
        self.texts = {path.name: path.read_text(encoding="utf-8")
                      for path in sorted((root / "bpf").glob("*.[ch]"))}
        self.rows = hook_rows((root / HOOKS).read_text(encoding="utf-8"))

    def defining(self, probe):
        """Returns the names of the files that define the BPF programs of a probe."""
        names = programs(self.rows[probe])
        return {path for path, text in self.texts.items()
                if any(re.search(rf"\bint (?:BPF_PROG\()?{name}[,(]", text) for name in names)}

    def fingerprint(self, probes, mode):
        """Returns a text that changes if the code changes; None for a row without probes."""
        if not probes:
            return None
        digest = hashlib.sha256()
        for name in files_of(probes, mode):
            digest.update(without_comments(self.texts.get(name, "")).encode())
        for probe in sorted(probes.split()):
            digest.update(SENTENCE.sub("", self.rows.get(probe, "")).encode())
        return digest.hexdigest()[:16]
