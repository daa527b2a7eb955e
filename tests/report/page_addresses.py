# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks of the addresses of page faults, of resident memory and of OOM kills."""
import re

from page_checks import Checks
from page_texts import near, parse
from page_truth import EVENTS, numbers_of

class Addresses(Checks):
    def check_area(self, node, rest, text):
        pid = int(node.get("data-pid"))
        names = [a["mapping"] for a in self.data["addresses"] if a["pid"] == pid]
        assert f"[{pid}] " in text and any(text.endswith(name) for name in names), text

    def check_offset(self, node, rest, text):
        self.text_is_value(node, text)
        assert any(a["offset"] == self.value(node) for a in self.data["addresses"])

    def check_address(self, node, rest, text):
        self.text_is_value(node, text)
        assert self.data["addresses"][int(node.get("data-row"))][rest] == self.value(node)

    def check_elsewhere(self, node, rest, text):
        part, whole = (int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", text))
        assert whole == self.data["sampling"]["together_stand_for"]
        assert whole - part == sum(a["faults"] for a in self.data["addresses"])

    def check_sampling(self, node, rest, text):
        own = self.data["sampling"]
        known = {own["drawn"], own["kept"], own["each_stands_for_least"], own["each_stands_for_most"]}
        known |= {2 ** n for n in range(16)} if "one in" in text else set()
        assert all(int(n.replace(",", "")) in known for n in re.findall(r"\d[\d,]*", text)), text

    def check_memory(self, node, rest, text):
        known = self.truth.memory_numbers
        sums = self.data["profile"]["measures"]
        for word in re.findall(r"[\d,]+(?:\.\d+)? [KMGTP]?i?B", text):
            n = parse(word)[0]
            assert not known or any(near(n, k) for k in known) or n <= sums[-2]["total"] * 2, word

    def check_oom(self, node, rest, text):
        lines = [line for line in self.truth.lines if line["type"].startswith("oom")]
        known = {abs(n) for n in numbers_of(lines)}
        assert lines and known

    def check_repeats(self, node, rest, text):
        self.text_is_value(node, text)
        assert self.value(node) < sum(line["type"] in EVENTS for line in self.truth.lines)
