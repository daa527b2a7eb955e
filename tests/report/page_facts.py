# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks of the head of a page: its title, its tiles and the facts of the recording."""
import json
import re
from functools import cached_property
from pathlib import Path

from page_checks import Checks
from page_texts import near, parse, parse_span
from page_truth import EVENTS

HTML = Path(__file__).resolve().parents[2] / "src" / "render" / "html"


class Facts(Checks):
    @cached_property
    def source(self):
        """Returns the texts of the program that writes pages, without markup."""
        code = "".join(path.read_text() for path in sorted(HTML.glob("*.c")))
        return re.sub(r"<[^>]*>|\s+", "", re.sub(r'"\s*"', "", code.replace('\\"', "'").replace("%%", "%")))

    def check_words(self, node, rest, text):
        want = re.sub(r"\s+", "", text).replace('"', "'").replace("<", "&lt;")
        assert re.sub(r"[&]lt;", "", want) in self.source.replace("&lt;", ""), "not in the program"

    def check_headline(self, node, rest, text):
        start = self.truth.start
        for word in re.findall(r"\S*\d\S*", text):
            assert word.strip(",") in (start["kernel"], start["host"], start["target"]) or \
                word in self.data["file"] or word.strip(",") == self.truth.info["time"][:19] + "Z" or \
                word.startswith("UTC") or re.fullmatch(r"[\d.]+([smhd]|ms)?,?", word) or \
                word in start["target"], f"{word} is not of the host"

    def check_version(self, node, rest, text):
        assert re.search(r"faultscope [\d.]+", text)

    def check_total(self, node, rest, text):
        self.text_is_value(node, text)
        assert self.value(node) == self.truth.total(rest), self.truth.total(rest)

    def check_processes(self, node, rest, text):
        n = sum(one.get("final") is True for one in self.truth.process.values()) \
            if rest == "ended" else len(self.truth.process)
        self.text_is_value(node, text.replace(" ended", ""))
        assert self.value(node) == n, n

    def check_peak_of(self, node, rest, text):
        most = max((one[f"{rest}.peak"] or 0 for one in self.truth.process.values()), default=0)
        assert self.value(node) <= most, most
        if node.get("data-pid"):
            assert any(one[f"{rest}.peak"] == self.value(node)
                       for one in self.truth.of_pid(int(node.get("data-pid"))))
            self.check_process(node, rest, text)
        else:
            self.text_is_value(node, text)

    def check_fact(self, node, rest, text):
        t, info = self.truth, self.truth.info
        if rest == "host":
            assert t.start["kernel"] in text and t.start["host"] in text and t.start["arch"] in text
            assert re.search(r", \d+ CPUs?$", text)
        elif rest == "started":
            assert info["time"][:19] in text
        elif rest == "duration":
            m = re.match(r"(.*), (\d+) scans?, one every (.*)$", text)
            got, slack = parse_span(m[1])
            assert abs(got - info["seconds"]) <= slack and int(m[2]) == info["scans"]
            assert abs(parse_span(m[3])[0] - info["interval_seconds"]) < 0.06
        elif rest == "by":
            assert f"faultscope {t.start['version']};" in text
        elif rest == "its own cost":
            m = re.match(r"(.*) of CPU(?: \(([\d.]+)% of one\))?, (.*)$", text)
            assert near(parse(m[1])[0], t.end["own"]["cpu_ns"])
            assert near(parse(m[3])[0], t.end["own"]["rss_bytes"])
            assert not m[2] or near(float(m[2]), t.end["own"]["cpu_ns"] / 1e7 / info["seconds"])
        elif rest == "watched":
            assert text == (t.start["target"] or "all processes")
        elif rest == "lost":
            known = set(t.end["losses"].values()) | {info["lost_bytes"], info["processes_left_out"]}
            known |= {len(t.process) - n for n in range(4090, 4100)}
            known |= {sum(line["type"] in EVENTS for line in t.lines) - 512}
            for n in re.findall(r"(?:^|; )([\d,]+) ", text):
                assert int(n.replace(",", "")) in known, n
        elif rest == "probes":
            for word in re.findall(r"\S*\d\S*", text):
                assert word in json.dumps(t.start["probes"]), word
        else:
            raise AssertionError("no such fact")
