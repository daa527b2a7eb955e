#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that the developers' documents agree with the tree. Prints TAP.

Files that the documents name must exist, and links must lead to existing files. tests/README.md
must list every suite of the Makefile. Comments in the code must name the kernel sources that
docs/design/kernel-facts.md lists for this code. The recipes of CONTRIBUTING.md must list exactly
the files that their examples change.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(1, str(ROOT / "tests/e2e"))

from run import Tap  # noqa: E402

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "tests/README.md",
             *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/design/*.md"))]
TOPS = ("src", "bpf", "tests", "docs", "tools", "deploy", "vmlinux")
# Matches a file or folder of the tree in backquotes, with any arguments after its name.
OURS = re.compile(rf"`((?:{'|'.join(TOPS)})/[\w./*-]+)[^`]*`")
LINK = re.compile(r"\]\(((?!https?:|#)[^)#\s]+)")
QUOTED = re.compile(r"`([^`]+)`")
# names in the documents that stand for other names: src/ROOM stands for any folder of src/
MADE = ("src/ROOM",)


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def exists(path):
    return any(ROOT.glob(path)) if "*" in path else (ROOT / path).exists()


def check_files(check, name):
    text = text_of(name)
    named = sorted(set(OURS.findall(text)))
    for path in named:
        check.that(exists(path.rstrip("/")) or path.startswith(MADE), f"{path} does not exist")
    for link in set(LINK.findall(text)):
        check.that((ROOT / name).parent.joinpath(link).exists(), f"a link to {link}, which is not there")
    check.that(named, "no file is named")


def check_suites(check):
    text, makefile = text_of("tests/README.md"), text_of("Makefile")
    programs = set(re.findall(r"\btests/[\w/]+\.(?:py|sh)\b", makefile))
    targets = set(re.findall(r"^((?:check|bench|mutants|fuzz|coverage)[a-z-]*):(?!=)", makefile, re.M))
    check.that(len(programs) > 20 and len(targets) > 20, f"only {programs} and {targets}")
    for one in sorted(programs):
        check.that(f"`{one}" in text, f"{one} of the Makefile is not listed")
    for one in sorted(targets):
        check.that(re.search(rf"`(?:make )?{one}[` ]", text), f"make {one} is not listed")


def rows(text, columns):
    """Yields the cells of each row in tables with this number of columns, without header lines."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == columns and set(line) - set("|-: "):
            yield cells


def check_facts(check):
    """Checks the tables of kernel-facts.md and bpf-facts.md in docs/design. Each file in the last
    column of a row must mention a source of the row: a file, a function or a commit of the
    kernel."""
    texts = text_of("docs/design/kernel-facts.md") + text_of("docs/design/bpf-facts.md")
    facts = [row for row in rows(texts, 3) if OURS.search(row[2])]
    check.that(len(facts) > 20, f"only {len(facts)} facts")
    for fact, source, places in facts:
        for path in OURS.findall(places):
            words = [word for one in QUOTED.findall(source)
                     for word in (one, "/".join(one.split("/")[-2:]), one.rsplit("/", maxsplit=1)[-1])]
            code = text_of(path)
            check.that(any(word and word in code for word in words),
                       f"{path} does not name {source}: {fact}")


def sources():
    """Returns {path: text} of src/ and bpf/."""
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for top in ("src", "bpf")
            for path in (ROOT / top).rglob("*") if path.suffix in (".c", ".h", ".def")}


def check_recipes(check):
    code, recipes = sources(), 0
    for recipe in re.split(r"^## ", text_of("CONTRIBUTING.md"), flags=re.M)[1:]:
        title, examples = recipe.split("\n", 1)[0], re.search(r"^Example: (.*)$", recipe, re.M)
        if not examples:
            continue
        recipes += 1
        words = [re.compile(r"(?<!\w)" + re.escape(one) + r"(?!\w)")
                 for one in QUOTED.findall(examples[1])]
        listed = {path for row in rows(recipe, 2) for path in OURS.findall(row[0])}
        touched = {path for path, text in code.items() if any(one.search(text) for one in words)}
        ours = {path for path in listed if path.startswith(("src/", "bpf/"))}
        check.equal(f"{title}: files that its example is in, and that are listed", sorted(touched),
                    sorted(ours))
        check.that(any(path.startswith("tests/") for path in listed), f"{title}: no test is listed")
    check.that(recipes >= 5, f"only {recipes} recipes have an example")


def main():
    tap = Tap()
    for name in DOCUMENTS:
        tap.test(f"files and links of {name} exist", check_files, name)
    tap.test("tests/README.md lists the suites and targets of the Makefile", check_suites)
    tap.test("code names the kernel sources of kernel-facts.md", check_facts)
    tap.test("recipes of CONTRIBUTING.md list the files of their examples", check_recipes)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
