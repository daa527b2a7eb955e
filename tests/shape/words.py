#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that texts for users have the usual words of the field. Prints TAP.

usage: words.py [--self-test | --list] [PROGRAM]

Reads what PROGRAM (build/faultscope) prints (help, man pages, explanations, the JSON Schema), the
documents, and the deployed files. WORDS lists words and phrases that readers did not understand,
each with the word to use instead. EXCEPTIONS lists correct uses of such words, each with a reason.
--list prints every other use of a pattern and checks nothing.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(1, str(ROOT / "tests/e2e"))

from harness import command_names  # noqa: E402
from run import Tap  # noqa: E402

# (pattern of a wrong word, the word to use instead)
WORDS = [(re.compile(pattern, re.I), word) for pattern, word in (
    (r"\blooks?\b(?! (at|for|in|like|up|alike|it up|into|there|here|ahead|the same)\b)", "scan"),
    (r"\bhooks?\b", "probe"),
    (r"\bblind\b", "unavailable"),
    (r"\btiers?\b", "overhead level"),
    (r"\btold\b", "detected, reported"),
    (r"\bsa(ys|id) no\b", "failed with ERRNO"),
    (r"\b(was|were|is|are) refused\b(?! by)", "failed with ERRNO"),
    (r"\bgain(s|ing)? time\b", "workaround"),
    (r"\b(was|were|is|are)( not)? promised\b", "committed, commit limit exceeded"),
    (r"\bcannot be dropped\b", "not reclaimable"),
    (r"\bfile systems? in memory\b", "tmpfs"),
    (r"\bbroken memory\b|\bmemory that is broken\b", "hardware memory error, poisoned page"),
    (r"\block of (the|its|an) (address space|memory map)\b", "mmap_lock"),
    (r"\b(memory|some) in one piece\b", "physically contiguous memory"),
    (r"\bfor want of\b|\bwant of memory\b", "out of memory, because of a limit"),
    (r"\bdrawn by chance\b", "sampled"),
    (r"\bby sorts?\b|\bsorts of\b", "kind"),
    (r"\bg(ives?|iven|ave) back\b", "free, unmap, release"),
    (r"\bhigh-water\b|\bMAPHI\b|\bFDHI\b", "peak"),
    (r"\bnear miss(es)?\b", "recovered kernel fault"),
    (r"\bfaults served\b|\bserved faults\b", "handled faults"),
    (r"\beaters?\b|\btolls?\b", "top consumers, totals"),
    (r"\bpassed over\b(?! (a|the) )", "skipped"),
    (r"\bpaid for\b", "enabled, cost"),
    (r"\b(not of|of) the core\b", "required, optional"),
    (r"\bfigures?\b(?! out)", "value"),
    (r"\bgiven up\b|\bgives up\b", "dropped, released, discarded"),
    (r"\bwho (grew|grows|has|had|made|holds|asked|scrapes)\b", "name the subject: process, thread, user"),
)]

# Uses of words in WORDS that are correct, or that quote other texts: (source, pattern, reason)
EXCEPTIONS = (
    (r"^src/render/html/", r"<figure|class=.\"hooks", "markup"),
    (r"^src/rules/messages_", r".*", "messages of other programs"),
)
NOT_READ = re.compile(r"docs/(examples|pictures)/|CHANGELOG")


def said(program, *words):
    ran = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    return ran.stdout


def texts(program):
    """Yields (name of the source, text) of everything that users read."""
    yield "--help", said(program, "--help")
    yield "man", said(program, "man")
    for name in command_names(said(program, "--help")):
        yield f"{name} --help", said(program, name, "--help")
        yield f"man {name}", said(program, "man", name)
    ids = re.findall(r"^ *([A-Z]\d\d)\b", said(program, "explain"), re.M)
    yield "explain", said(program, "explain")
    for one in ids:
        yield f"explain {one}", said(program, "explain", "--width", "1000", one)
    yield "schema", said(program, "schema")
    for path in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"),
                        *(ROOT / "deploy").rglob("*.y*ml"), *(ROOT / "deploy").rglob("*.*sonnet"),
                        *(ROOT / "deploy").rglob("*.service")]):
        name = str(path.relative_to(ROOT))
        if not NOT_READ.search(name):
            yield name, path.read_text(encoding="utf-8")
    for name in ("src/model/metrics.def", "src/records/counters.def", "src/probe/hooks.def",
                 "src/render/formats/formats.def", "src/render/tui/tui_keys.def",
                 "src/session/calibrate.def", "src/cli/examples.def"):
        text = (ROOT / name).read_text(encoding="utf-8")
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        yield name, "\n".join(re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", text)))


def literals():
    """Yields (file, literal) of each string of three words or more in the sources."""
    for path in sorted([*(ROOT / "src").rglob("*.[ch]"), *(ROOT / "src").rglob("*.def")]):
        text = re.sub(r"/\*.*?\*/|//[^\n]*|^#include.*?$", "", path.read_text(encoding="utf-8"),
                      flags=re.S | re.M)
        for one in re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", text)):
            if len(re.findall("[A-Za-z]{2,}", one)) > 2:
                yield str(path.relative_to(ROOT)), one


def excepted(name, line, match):
    return any(re.search(source, name) and any(
        one.start() <= match.start() < one.end() for one in re.finditer(pattern, line, re.I))
        for source, pattern, _ in EXCEPTIONS)


def uses(name, text):
    """Yields (source, line, word found, word to use) of each use without an exception."""
    for line in text.splitlines():
        for pattern, word in WORDS:
            for match in pattern.finditer(line):
                if not excepted(name, line, match):
                    yield name, line.strip(), match.group(), word


def check_texts(check, program):
    count = 0
    for name, text in [*texts(program), *literals()]:
        count += 1
        for source, line, found, word in uses(name, text):
            check.that(False, f"{source}: '{found}' (better: {word}): {line[:160]}")
    check.that(count > 2000, f"only {count} texts were read")


def self_test(check):
    for line, found in (("values at each look", ["look"]), ("look at the log", []),
                        ("the hook is blind", ["hook", "blind"]), ("a webhook", []),
                        ("memory was not promised", ["was not promised"]),
                        ("what cannot be dropped", ["cannot be dropped"]),
                        ("a call was refused", ["was refused"]), ("figure out why", []),
                        ("the lock of the address space", ["lock of the address space"]),
                        ("the highest frontier", [])):
        check.equal(line, [one[2] for one in uses("text", line)], found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("program", nargs="?", default=str(ROOT / "build/faultscope"))
    args = parser.parse_args()
    if args.list:
        for name, text in texts(args.program):
            for one in uses(name, text):
                print(" | ".join(one))
        return 0
    tap = Tap()
    if args.self_test:
        tap.test("words are found where they stand alone", self_test)
    else:
        tap.test("texts have the words of the field", check_texts, args.program)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
