#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints a random sample of the project's sentences, for a review of how clear they are.

A reader grades each sentence: clear at the first reading, needs effort, or unclear. The sample is
stratified: each kind of text has a fixed share. For an unchanged tree, a seed always gives the same
sample. Help texts and man pages come from build/faultscope; they are left out if that program does
not exist.
"""
import argparse
import ast
import io
import random
import re
import subprocess
import sys
import tokenize
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = 4  # a text with fewer words is a label, not a sentence
SHARES = {"readme": 20, "docs": 20, "help": 15, "explain": 20, "alerts": 10, "comments": 15}
END = re.compile(r"(?<=[.!?])[\"')]?\s+(?=[\"'`*(\[]?[A-Z0-9/])")
ABBREVIATION = re.compile(r"(?:e\.g|i\.e|etc|cf|vs)\.$")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")
SOURCES = re.compile(r"(?:[\w.-]+/[\w.-]+#\d+\s*)+")
CODE = re.compile(r"`[^`]*`")
ESCAPES = {"\\n": "\n", "\\t": " ", '\\"': '"', "\\\\": "\\"}

Text = namedtuple("Text", "place line text")


def sentences(texts):
    """Yields each sentence with the place where its text begins."""
    for place, line, text in texts:
        start = ""
        for part in END.split(" ".join(text.split())):
            start = f"{start} {part}".strip()
            if ABBREVIATION.search(start):
                continue
            if len(re.findall(r"[A-Za-z]{2,}", CODE.sub("", start))) >= WORDS:
                yield Text(place, line, start)
            start = ""


def name(path):
    return str(path.relative_to(ROOT))


def markdown(path):
    """Yields paragraphs, list items and table cells, without code blocks and generated tables."""
    text, first, fenced, generated = [], 0, False, False
    lines = path.read_text(encoding="utf-8").splitlines()
    for n, line in enumerate([*lines, ""], 1):
        if line.startswith("```"):
            fenced = not fenced
        generated = (generated or line.startswith("<!-- table:")) and line != "<!-- end -->"
        item = re.match(r"\s*(?:[*-]|\d+\.) ", line)
        ends = fenced or generated or not line.strip() or line.startswith(("#", "|", "<", "```", "!"))
        if text and (ends or item):
            whole = " ".join(text)
            if "](" not in whole or " · " not in whole:  # lists of links are left out
                yield Text(name(path), first, LINK.sub(r"\1", whole))
            text = []
        if line.startswith("|") and not generated and not fenced:
            for cell in line.strip("| ").split(" | "):
                yield Text(name(path), n, LINK.sub(r"\1", cell))
        elif not ends or item and not fenced and not generated:
            first = first if text else n
            text.append(line[item.end():] if item else line)


def unescaped(literal):
    return re.sub(r"\\[nt\"\\]", lambda m: ESCAPES[m[0]], literal)


def strings(path):
    """Yields adjacent string literals of C as one text. Lines that begin with $ are commands."""
    text = path.read_text(encoding="utf-8")
    code = re.sub(r"/\*.*?\*/|^#include.*?$", lambda m: "\n" * m[0].count("\n"), text,
                  flags=re.S | re.M)
    for run in re.finditer(LITERAL.pattern + r"(?:\s*" + LITERAL.pattern + ")*", code):
        whole = unescaped("".join(LITERAL.findall(run[0])))
        if path.name.startswith("messages_") and not whole.endswith("."):
            continue  # regular expressions and names of source files are left out
        for paragraph in whole.split("\n"):
            if not paragraph.startswith("$ ") and not SOURCES.fullmatch(paragraph):
                yield Text(name(path), code.count("\n", 0, run.start()) + 1, paragraph)


def c_comments(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    for m in re.finditer(r"/\*(.*?)\*/|(?:^|\s)//([^\n]*)", text, re.S):
        body = re.sub(r"\n\s*\*", "\n", m[1] or m[2])
        line = text.count("\n", 0, m.start()) + 1
        for paragraph in re.split(r"\n\s*\n", body):
            if not re.match(r"\s*(usage:|SPDX|clang-format)", paragraph):
                yield Text(name(path), line, paragraph)


def python_comments(path):
    source = path.read_text(encoding="utf-8")
    comments = [(token.start, token.string.lstrip("# "))
                for token in tokenize.generate_tokens(io.StringIO(source).readline)
                if token.type == tokenize.COMMENT and "SPDX" not in token.string
                and not re.match(r"#!|# (pylint|noqa|type):", token.string)]
    text, first, last = [], 0, (0, 0)
    for at, line in [*comments, ((0, 0), "")]:
        # the comment does not continue the comment of the line before
        if text and at != (last[0] + 1, last[1]):
            yield Text(name(path), first, " ".join(text))
            text = []
        first, last = first if text else at[0], at
        text.append(line)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            for paragraph in re.split(r"\n\s*\n", ast.get_docstring(node)):
                if not paragraph.startswith("usage:"):
                    yield Text(name(path), getattr(node, "lineno", 1), paragraph)


def printed(program, *words):
    ran = subprocess.run([str(program), *words], capture_output=True, text=True, check=False)
    text, first = [], 1
    for n, line in enumerate([*ran.stdout.splitlines(), ""], 1):
        if not line.strip() or re.match(r"\s{0,4}\S.*\S\s{2,}\S|\s{0,4}-", line):
            if text:
                yield Text("faultscope " + " ".join(words), first, " ".join(text))
            text, first = [], n
        cell = re.split(r"\s{2,}", line.strip())[-1]
        text += [cell] if cell and not cell.startswith("-") else []


def man_page(program, command):
    ran = subprocess.run([str(program), "man", *command], capture_output=True, text=True, check=False)
    for n, line in enumerate(ran.stdout.splitlines(), 1):
        if not line.startswith((".", "'")):
            yield Text("faultscope " + " ".join(["man", *command]), n,
                       re.sub(r"\\f.|\\&", "", line).replace("\\-", "-"))


def helps(build):
    program = build / "faultscope"
    if not program.exists():
        return
    commands = re.findall(r"^\| `faultscope ([a-z]+)", (ROOT / "README.md").read_text(), re.M)
    yield from printed(program, "--help")
    for command in commands:
        yield from printed(program, command, "--help")
        yield from man_page(program, [command])


def alerts():
    for n, line in enumerate((ROOT / "deploy/prometheus/rules.yml").read_text().splitlines(), 1):
        found = re.match(r"\s+(?:summary|description): (.*)", line)
        if found:
            yield Text("deploy/prometheus/rules.yml", n, found[1].strip('"'))


def files(*patterns):
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def texts_of(group, build):
    if group == "readme":
        return markdown(ROOT / "README.md")
    if group == "docs":
        return [t for path in files("docs/*.md", "docs/design/*.md") for t in markdown(path)]
    if group == "help":
        return helps(build)
    if group == "explain":
        return [t for path in files("src/rules/diagnoses_*", "src/rules/messages_*.def",
                                    "src/rules/rules.def", "src/rules/re*.def", "src/rules/*_rules.c",
                                    "src/rules/remedy*.c", "src/triage/mechanisms.def")
                for t in strings(path)]
    if group == "alerts":
        return [*alerts(), *(t for path in files("docs/runbooks/*.md") for t in markdown(path))]
    return [*(t for path in files("src/**/*.[ch]", "bpf/*.[ch]", "tests/**/*.[ch]", "tools/*.[ch]")
              for t in c_comments(path)),
            *(t for path in files("tests/**/*.py", "tools/*.py") for t in python_comments(path))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0],
                                     epilog="shares in percent: "
                                     + ", ".join(f"{k} {v}" for k, v in SHARES.items()))
    parser.add_argument("--seed", type=int, default=1,
                        help="seed of the random choice (default: 1)")
    parser.add_argument("--count", type=int, default=100,
                        help="number of sentences to print (default: 100)")
    parser.add_argument("--group", choices=SHARES, help="print only this kind of text")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="DIR",
                        help="directory with the program faultscope (default: build)")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    groups = [options.group] if options.group else list(SHARES)
    for group in groups:
        known = list(sentences(texts_of(group, options.build)))
        share = options.count if options.group else round(options.count * SHARES[group] / 100)
        for one in chance.sample(known, min(share, len(known))):
            print(f"{group:8}  {one.place}:{one.line}: {one.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
