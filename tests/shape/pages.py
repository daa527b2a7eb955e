#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that readers can find their way in the documents. Prints TAP.

Each page must be short, must begin with a title and a sentence, and must have no dead link. It must
be at most two links away from the README. tests/e2e/test_documents.py runs the checks that need the
program.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(1, str(ROOT / "tests/e2e"))

from run import Tap  # noqa: E402

MOST_BYTES = 10 * 1024
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
OTHERS = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
                                   "tests/README.md")]
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
CODE = re.compile(r"`[^`\n]*`")
# Hosts with public reports of problems, to which pages of findings link. All other links stay
# within the tree.
ADDRESS = re.compile(r"https?://([^/\s)>:`\"]+)")
HOSTS = {"github.com", "127.0.0.1", "wiki.example.org"}


def text_of(path):
    return path.read_text(encoding="utf-8")


def prose(text):
    """Returns a text without its code parts, because brackets in code are no links."""
    return CODE.sub("`", FENCE.sub("", text))


def links(path):
    """Yields (target file, anchor) of each link within the tree."""
    for target in LINK.findall(prose(text_of(path))):
        if not re.match(r"[a-z]+:", target):
            name, _, anchor = target.partition("#")
            yield (path.parent / name).resolve() if name else path, anchor


def anchors(path):
    """Returns the anchors that GitHub makes of a page's headings."""
    heads = re.findall(r"^#+ (.*)$", FENCE.sub("", text_of(path)), re.M)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def name_of(path):
    return path.relative_to(ROOT)


def check_sizes(check):
    for path in PAGES:
        size = path.stat().st_size
        check.that(size <= MOST_BYTES, f"{name_of(path)} has {size} bytes, {MOST_BYTES} at most")


def check_links(check):
    count = 0
    for path in PAGES + OTHERS:
        for target, anchor in links(path):
            count += 1
            there = target.exists() and target.is_relative_to(ROOT)
            check.that(there, f"{name_of(path)}: a link to {target}, which is not there")
            if there and anchor:
                check.that(anchor in anchors(target), f"{name_of(path)}: no #{anchor} in {target}")
    check.that(count > 300, f"only {count} links")


def check_reach(check):
    """Checks that every page can be reached from the README by at most two links."""
    reached, last = {README}, {README}
    for _ in range(2):
        last = {target for path in last for target, _ in links(path)
                if target.suffix == ".md"} - reached
        reached |= last
    for path in set(PAGES) - reached:
        check.that(False, f"{name_of(path)} is more than two links from the README")


def check_beginnings(check):
    """Checks that a page begins with a title and a sentence. Runbooks begin with commands: see
    tests/deploy."""
    for path in PAGES:
        if path.parent.name == "runbooks" and path.stem != "README":
            continue
        lines = [line for line in text_of(path).splitlines() if line]
        check.that(lines[0].startswith("# "), f"{name_of(path)} begins {lines[0][:40]!r}")
        check.that(re.match(r"[A-Za-z`]", lines[1]),
                   f"{name_of(path)}: {lines[1][:40]!r} follows its title")


def check_addresses(check):
    for path in PAGES + OTHERS:
        hosts = set(ADDRESS.findall(text_of(path)))
        check.that(hosts <= HOSTS, f"{name_of(path)}: addresses at {hosts - HOSTS}")


def main():
    tap = Tap()
    tap.test("pages are short", check_sizes)
    tap.test("links lead somewhere", check_links)
    tap.test("each page is two links from the README at most", check_reach)
    tap.test("each page begins with whom it is for", check_beginnings)
    tap.test("no address outside of the tree", check_addresses)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
