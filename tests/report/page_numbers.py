# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares every number on the page of a recording with the JSON output of the same recording.

The page names the source of each number in an attribute `data-is` of an element around it. A number
without a source, or with a source that is not known here, is an error. `data-v` has the value that
was rounded for the text; the text has to agree with it, and it with the JSON lines.
"""
import re

from page_addresses import Addresses
from page_facts import Facts
from page_findings import Findings
from page_latency import Latency
from page_processes import Processes
from page_profile import Profile
from page_texts import plain
from page_times import Times
from page_tree import Page
from page_truth import Truth

class Checker(Facts, Times, Processes, Findings, Latency, Profile, Addresses):
    """All checks. The kind of an element names the function that checks it."""

    def run(self):
        """Returns the number of checked elements, and errors."""
        wrong, seen, words = self.check_points(), {}, 0
        texts = [(node, child) for node in self.page.root.walk() for child in node.children
                 if isinstance(child, str) and re.search(r"\d", child)]
        for node, text in texts:
            if node.tag in ("script", "style", "title", "code"):
                continue
            at = node
            while at and "data-is" not in at.attrs:
                at = at.parent
            if at and at.attrs["data-is"] == "words":
                error = self.error(lambda n, r, t, own=text: self.check_words(n, r, own.strip()), at, "")
                wrong += [f"words: {text.strip()[:90]!r}: {error}"] if error else []
                words += 1
            elif not at:
                wrong.append(f"no source: <{node.tag}> {text.strip()[:80]!r}")
            else:
                seen[id(at)] = at
        for at in [n for n in self.page.root.walk() if n.attrs.get("data-is") == "frame"]:
            seen[id(at)] = at
        for node in seen.values():
            kind, _, rest = node.attrs["data-is"].partition(":")
            if kind == "total" and node.parent.tag == "tr" and not rest:
                error = self.error(lambda n, r, t: self.check_self(n, r, t, 1), node, rest)
            else:
                check = getattr(self, f"check_{kind.replace('-', '_')}", None)
                error = self.error(check, node, rest) if check else "no such source"
            if error:
                wrong.append(f"{node.attrs['data-is']}: {node.text().strip()[:90]!r}: {error}")
        return len(seen) + words, wrong

    @staticmethod
    def error(check, node, rest):
        try:
            check(node, rest, plain(node.text().strip()))
        except (AssertionError, KeyError, IndexError, ValueError, StopIteration, TypeError) as e:
            return f"{type(e).__name__} {e}"[:200]
        return None


def compare(page_text, lines, info, last):
    """Returns the number of elements with numbers on a page, and the errors among them. `lines` are
    the JSON lines of the recording, `info` is the output of faultscope info --json. `last` are the
    JSON lines of faultscope diagnose, which have each finding once, in its last state: the other
    lines have a finding only when it opens, changes its severity, or clears."""
    return Checker(Page(page_text), Truth(lines, info, last)).run()
