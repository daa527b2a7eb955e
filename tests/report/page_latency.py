# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks of the latency of page faults, and of the scales of drawings."""
import re

from page_checks import Checks
from page_texts import near

class Latency(Checks):
    def check_latency(self, node, rest, text):
        self.text_is_value(node, text)
        kind = node.get("data-end")
        sums, most = self.truth.latency(kind), self.truth.latency_max(kind)
        total = sum(sums.values())
        if rest == "total":
            want = total
        elif rest == "max":
            want = most
        else:
            seen, want = 0, most
            for le, n in sorted(sums.items(), key=lambda x: (x[0] is None, x[0])):
                seen += n
                if seen >= float(rest[1:]) / 100 * total:
                    want = min(le, most) if le is not None else most
                    break
        assert near(self.value(node), want), want

    def check_bucket(self, node, rest, text):
        kind, i = rest.split(":")
        self.text_is_value(node, text)
        le = 2 ** (int(i) + 1 + self.data["latency_shift"])
        sums = self.truth.latency(kind)
        assert self.value(node) == sums.get(le, sums.get(None)), sums

    def check_bound(self, node, rest, text):
        self.text_is_value(node, text)
        n = int(self.value(node))
        assert n & (n - 1) == 0

    def check_decade(self, node, rest, text):
        self.text_is_value(node, text)
        assert re.fullmatch("10*", str(int(self.value(node))))

    def check_most(self, node, rest, text):
        self.text_is_value(node, text)
        most = max((sum(p[k] for k in ("minor", "major")) for p in self.points), default=0)
        assert 0 <= self.value(node) <= max(sum(p["minor"] + p["major"] for p in self.points), most,
                                            sum(a["faults"] for a in self.data["addresses"]),
                                            sum(sum(n for _, n in p["latency_minor"] + p["latency_major"])
                                                for p in self.points))
