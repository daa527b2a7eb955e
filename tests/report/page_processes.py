# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks of the processes of a page, their limits, and what they hold and made."""
import re

from number_texts import BYTES, scaled
from page_checks import Checks
from page_texts import near
from page_truth import EVENTS, numbers_of

RESOURCES = {"vm.max_map_count": "maps", "RLIMIT_NOFILE": "fds"}


class Processes(Checks):
    def check_process(self, node, rest, text):
        pid = int(node.get("data-pid"))
        if not pid:
            assert "~other" in text
            return
        assert any(one["comm"] in text and str(pid) in text for one in self.truth.of_pid(pid)), text

    def check_subject(self, node, rest, text):
        if node.get("data-pid") and int(node.get("data-pid")):
            pid = int(node.get("data-pid"))
            assert any(line.get("pid") == pid and text == f"{line.get('comm')} {pid}"
                       for line in self.truth.lines), text
            return None
        m = re.match(r"(.*) (\d+)$", text)
        pids = {line.get("pid") for line in self.truth.lines}
        assert m and (int(m[2]) in pids or m[1] in self.truth.text) or text in self.truth.text, text
        return None

    def check_workload(self, node, rest, text):
        assert any(text in (one.get("workload") or "") or text == one["comm"]
                   for one in self.truth.of_pid(int(node.get("data-pid")))) or text in self.truth.text

    def row(self, node):
        key = (int(node.get("data-pid")), int(node.get("data-start")))
        return self.truth.process.get(key) if key[0] else None

    def check_field(self, node, rest, text):
        own = self.row(node)
        if not own and rest.split(".")[0] == "faults":  # the sum of processes without a row
            shown = {(p["pid"], p["start_time_ns"]) for p in self.data["processes"] if p["pid"]}
            most = sum(one[rest] or 0 for key, one in self.truth.process.items() if key not in shown)
            assert self.value(node) <= most
        elif own:
            want = own[rest]
            assert text == "?" and want is None or want is None and self.value(node) in (0, 2 ** 64 - 1, 2.0 ** 64) or \
                self.value(node) == want, want
        if text not in ("?", "unlimited"):
            self.text_is_value(node, text)

    def check_first(self, node, rest, text):
        own = self.truth.first[int(node.get("data-pid")), int(node.get("data-start"))]
        self.text_is_value(node, text)
        assert self.value(node) == own[rest], own[rest]

    def check_growth(self, node, rest, text):
        key = int(node.get("data-pid")), int(node.get("data-start"))
        self.text_is_value(node, text)
        assert self.value(node) == self.truth.process[key][rest] - self.truth.first[key][rest]

    def check_left(self, node, rest, text):
        self.text_is_value(node, text)
        n = int(self.value(node))
        if rest == "processes":
            assert n == len(self.truth.process) - 60, len(self.truth.process)
        elif rest == "stacks":
            assert n > 0
        elif rest == "findings":
            assert n < len(self.data["findings"])
        else:
            assert n < len(self.truth.lines)

    def check_lost(self, node, rest, text):
        self.text_is_value(node, text)
        assert 0 < self.value(node) <= sum(line["type"] in EVENTS for line in self.truth.lines)

    def check_cgroup(self, node, rest, text):
        assert text.replace("cgroup ", "", 1) in self.truth.text, text

    def resource(self, node):
        return RESOURCES.get(node.get("data-resource"))

    def check_high(self, node, rest, text):
        self.text_is_value(node, text)
        n, what = self.value(node), self.resource(node)
        if what and node.get("data-pid"):
            key = int(node.get("data-pid")), int(node.get("data-start"))
            assert n == self.truth.process[key][f"{what}.peak"], self.truth.process[key][f"{what}.peak"]
            return
        # the peak between records may be higher than the values at scans
        used = [line["used_bytes"] for line in self.truth.lines if line["type"] == "cgroup" and
                line["path"] == node.get("data-cgroup") and line["used_bytes"] is not None]
        assert n >= max(used, default=0) and n <= 1.2 * float(node.get("data-limit"))

    def check_memory_high(self, node, rest, text):
        assert text == f"memory.high {scaled(self.value(node), 1024, BYTES)}"
        assert any(line["high_bytes"] == self.value(node) for line in self.truth.lines
                   if line["type"] == "cgroup" and line["path"] == node.get("data-cgroup"))

    def check_now(self, node, rest, text):
        self.text_is_value(node, text)
        what = self.resource(node)
        if what:
            key = int(node.get("data-pid")), int(node.get("data-start"))
            assert self.value(node) == self.truth.process[key][f"{what}.count"]

    def check_limit(self, node, rest, text):
        self.text_is_value(node, text)
        whole, n = float(node.get("data-limit")), self.value(node)
        assert abs(n - whole * (int(rest) / 2 if rest else 1)) <= 1
        what = self.resource(node)
        if what and node.get("data-pid"):
            key = int(node.get("data-pid")), int(node.get("data-start"))
            assert whole in {one[f"{what}.limit"] for one in self.truth.all_of[key]}

    def check_share(self, node, rest, text):
        high = next(self.value(n) for n in node.parent.walk() if n.attrs.get("data-is") == "high")
        assert near(self.value(node), 100 * high / float(node.get("data-limit")))
        self.text_is_value(node, text)

    def check_gauges(self, node, rest, text):
        self.text_is_value(node, text)
        assert self.value(node) > 0

    def of_line(self, node, kind, what):
        return [line for line in self.truth.lines if line["type"] == kind and
                line["pid"] == int(node.get("data-pid")) and line["what"] == ("maps", "fds")[int(what)]]

    def check_held(self, node, rest, text):
        if rest == "name":
            assert text in self.truth.text or re.sub(r"\d+", "#", text) in self.truth.text or text
            return
        self.text_is_value(node, text)
        for line in self.of_line(node, "holdings", node.get("data-held")):
            assert any(g[rest] == self.value(node) for g in line["groups"])

    def check_made(self, node, rest, text):
        if rest == "name":
            assert text.replace(" (estimated from samples)", "") in self.truth.text, text
            return
        self.text_is_value(node, text)
        what = node.get("data-what") if rest == "all" else node.get("data-made")
        lines = self.of_line(node, "growth", what)
        assert lines, "no growth line"
        known = set(numbers_of(lines))
        assert self.value(node) in known or \
            any(near(self.value(node), n) for n in known), (self.value(node), sorted(known)[-5:])
