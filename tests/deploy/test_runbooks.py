# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the runbooks: each begins with commands, and faultscope accepts every one of them."""
import re
import shlex

from deployed import FAULTSCOPE, RUNBOOKS, call
from harness import ROOT

FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.M | re.S)
INLINE = re.compile(r"`((?:sudo )?faultscope [^`]*)`")
FINDING = re.compile(r"`([MFPK]\d\d)`")
FIRST = re.compile(r"(?:sudo )?faultscope ")
PLACES = {"CGROUP": "/system.slice/x.service", "PID": "1", "W": "w"}


def pages():
    return sorted(path for path in RUNBOOKS.glob("*.md") if path.stem != "README")


def commands(text):
    """Yields the arguments of every faultscope command on a page."""
    lines = [line for language, block in FENCE.findall(text) if not language
             for line in block.splitlines()]
    for line in lines + INLINE.findall(text.replace("\n", " ")):
        words = shlex.split(line)
        words = words[1:] if words[0] == "sudo" else words
        if words[0] == "faultscope":
            yield [PLACES.get(word, word) for word in words[1:]]


def test_each_runbook_begins_with_what_to_run(check):
    for page in pages():
        text = page.read_text(encoding="utf-8")
        head = f"# {page.stem}\n\n```\n"
        check.that(text.startswith(head), f"{page.name} begins {text[:40]!r}")
        first = text.removeprefix(head).split("\n", 1)[0]
        check.that(FIRST.match(first), f"{page.name}: first command: {first!r}")
        for part in ("What it means.", "How to confirm.", "Workaround.", "Fix.",
                     "When it is harmless."):
            check.that(text.count(f"**{part}**") == 1, f"{page.name}: part {part!r}")


def test_the_program_knows_each_command_of_a_runbook(check):
    """An unknown option or command is an error, even before --help."""
    asked, named = 0, set(re.findall(r"^  ([a-z]+)  ", call(FAULTSCOPE, "--help").stdout, re.M))
    for page in [*pages(), RUNBOOKS / "README.md"]:
        for words in commands(page.read_text(encoding="utf-8")):
            ran = call(FAULTSCOPE, *words, *(() if "explain" in words else ("--help",)))
            asked += 1
            check.that(not words[0].isalpha() or words[0] in named, f"{page.name}: {words[0]}?")
            check.that(ran.returncode == 0, f"{page.name}: {words}: {ran.stderr.strip()}")
    check.that(asked > 40, f"only {asked} commands")


def test_runbooks_name_findings_that_there_are(check):
    known = {line.split()[0] for line in call(FAULTSCOPE, "explain").stdout.splitlines()}
    for page in pages():
        named = set(FINDING.findall(page.read_text(encoding="utf-8")))
        check.that(named <= known, f"{page.name}: {named - known}")


def test_runbooks_lead_to_files_that_there_are(check):
    for page in RUNBOOKS.glob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            check.that((page.parent / link).resolve().is_relative_to(ROOT)
                       and (page.parent / link).exists(), f"{page.name}: {link}")
