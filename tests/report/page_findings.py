# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks of the findings of a page."""
import re
from functools import cached_property

from number_texts import evidence_texts
from page_checks import Checks

class Findings(Checks):
    @cached_property
    def cards(self):
        return [n for n in self.page.root.walk()
                if "finding" in n.attrs.get("class", "").split()]

    def check_id(self, node, rest, text):
        assert text.split()[0] in {f["id"] for f in self.truth.findings}, text

    def last_of(self, node, is_equal):
        """Returns the last state of a finding for which is_equal() is true."""
        found = [f for f in self.truth.last_finding(node) if is_equal(f)]
        assert found, f"the JSON has {self.truth.last_finding(node)}"
        return found[0]

    def check_title(self, node, rest, text):
        self.last_of(node, lambda f: text in [f["title"]] + [
            f"{who}: {f['title']}" for who in (f"{f['comm']}[{f['pid']}]", f"cgroup {f['place']}",
                                               f"file system {f['place']}")])

    def check_evidence(self, node, rest, text):
        i = int(rest)
        field = next(n for n in node.walk() if n.tag == "dt").text()
        self.last_of(node, lambda f: i < len(f["evidence"]) and field == f["evidence"][i]["field"]
                     and text[len(field):] in evidence_texts(f["evidence"][i]))

    def check_because(self, node, rest, text):
        self.last_of(node, lambda f: any(re.search(rf"Because of {one} ", text)
                                         for one in f["caused_by"]))

    def check_remedies(self, node, rest, text):
        def words(f):
            return "".join(f"{r['kind']} {r['text']}" + (f" {r['command']}" if r["command"] else "") +
                           (f" Risk: {r['risk']}" if r["risk"] else "") for r in f["remedies"])
        self.last_of(node, lambda f: text == words(f))

    def check_set_by(self, node, rest, text):
        self.last_of(node, lambda f: f["set_by"] and text == f"The limit is set by {f['set_by']}")

    def check_alike(self, node, rest, text):
        self.text_is_value(node, text)
        own = next(n for n in self.cards if node in list(n.walk()))
        same = [f for f in self.data["findings"] if f["id"] == own.attrs["data-finding"]]
        assert 0 < self.value(node) < len(same)

    def check_cards(self, node, rest, text):
        self.text_is_value(node, text)
        assert self.value(node) + len(self.cards) <= len(self.data["findings"])

    def check_gaps(self, node, rest, text):
        for n in re.findall(r"lost: (\d+)", text):
            assert int(n) in self.truth.end["losses"].values() or n in str(self.truth.info), text
