# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks of the times and the timeline of a page."""
import bisect
import datetime
import math

from number_texts import BYTES, DURATION, scaled, span
from page_checks import Checks
from page_texts import ROUNDED, near, parse, sizes_of
from page_truth import EVENTS, GAUGES, RATES, numbers_of, words_of

class Times(Checks):
    def check_time(self, node, text):
        ms, t = float(node.attrs["data-ms"]), float(node.attrs["data-v"])
        if ms:
            assert abs(ms - self.truth.wall_ms(t)) < 60, f"{ms} for {t}"
            self.check_clock(ms, text)

    def check_clock(self, ms, text):
        at = datetime.datetime.fromtimestamp(ms / 1000 + self.data["zone_s"], datetime.timezone.utc)
        want = at.strftime("%b %e %H:%M:%S" if self.data["dated"] else "%H:%M:%S")
        assert text == want, f"{text}, want {want}"

    def is_time_of(self, node, text, times):
        self.check_time(node, text)
        t = float(node.attrs["data-v"])
        i = bisect.bisect_left(sorted(times), t - 1e-3)
        assert i < len(times) and abs(sorted(times)[i] - t) < 2e-3, f"{t} in {sorted(times)[:9]}"

    def check_since(self, node, rest, text):
        # a finding begins at a scan, or with an event of its process
        self.is_time_of(node, text, self.finding_times(node) + [
            line["t"] for line in self.truth.lines if line["type"] in EVENTS and
            line["pid"] == int(node.get("data-pid"))])

    def check_change(self, node, rest, text):
        self.is_time_of(node, text, self.finding_times(node))

    def check_event(self, node, rest, text):
        if node.tag == "time":
            self.is_time_of(node, text, [line["t"] for line in self.truth.lines
                                         if line["type"] in EVENTS or line["type"] == "finding"])
            return
        # the row of an event: its numbers are in the JSON line of the event
        t = float(node.get("data-t"))
        own = [line for line in self.truth.lines if line["type"] in EVENTS and abs(line["t"] - t) < 2e-3]
        assert own, "no such event"
        known, words = {abs(n) for n in numbers_of(own)}, " ".join(words_of(own))
        for n in sizes_of(node.text(own=True)):
            assert any(near(n, k) for k in known) or str(int(n)) in words or n >= 2 ** 63, \
                f"{n} of {text!r}"

    def point(self, node):
        return self.points[int(node.get("data-nth"))]

    def check_point(self, node, rest, text):
        ms, t = float(node.children[0].attrs["data-ms"]), self.point(node)["to"]
        if ms:
            assert abs(ms - self.truth.wall_ms(t)) < 60, f"{ms} for {t}"
            self.check_clock(ms, text)
        else:
            assert text == f"{t:.3f} s"

    def check_ended(self, node, rest, text):
        self.check_time(node, text)
        own = self.truth.of_pid(int(node.get("data-pid")))
        assert any(one.get("final") and abs(one["t"] - self.value(node)) < 1e-3 for one in own)

    def check_forecast(self, node, rest, text):
        f = self.last_of(node, lambda f: f["state"] == "open" and f["forecast"])
        if node.tag == "time":
            self.check_time(node, text)
            assert abs(self.value(node) - f["t"] - f["forecast"]["seconds"]) < 0.01, f
            return
        assert math.isclose(self.value(node), f["forecast"][rest], rel_tol=1e-6), f
        assert text in {span(self.value(node) * (1 + part)) for part in (0, 1e-6, -1e-6)}

    def forecasts_of_limit(self, node):
        """Returns the findings at the last scan with a forecast of the limit of a chart."""
        return [f for f in self.truth.last if f["state"] == "open" and f["forecast"] and f["pid"] and
                f["pid"] == int(node.get("data-pid") or 0) and
                abs(f["t"] - self.points[-1]["to"]) < 1e-3 and
                any(e["limit"] == float(node.get("data-limit")) for e in f["evidence"])]

    def check_full(self, node, rest, text):
        """Compares the time at which a limit is reached with the span until then, which follows."""
        self.check_time(node, text)
        until = next(self.value(n) for n in node.parent.parent.walk()
                     if n.attrs.get("data-is") == "span")
        assert abs(self.value(node) - self.points[-1]["to"] - until) < 0.01, until

    def check_axis(self, node, rest, text):
        t = self.value(node)
        if not self.data["begin_ms"]:
            assert near(parse(text)[0] / 1e9, t)
            return
        ms = self.truth.wall_ms(t) + self.data["zone_s"] * 1000
        at = datetime.datetime.fromtimestamp(round(ms) / 1000, datetime.timezone.utc)
        clocks = [(at + datetime.timedelta(milliseconds=d)).strftime("%b %e %H:%M:%S.%f")[:-3]
                  for d in range(-60, 61)]
        assert any(text in clock for clock in clocks), f"{text} at {clocks[60]}"

    def check_peak(self, node, rest, text):
        if rest in RATES:
            spans = [(p[rest], p["to"] - p["from"]) for p in self.points]
            want = max([n / t for n, t in spans if t > 0] or [0]) / (1e6 if rest == "stall_ns" else 1)
            text = text.replace(" ms/s", "").replace("ms/s", "").replace("/s", "")
        else:
            want = max(p[rest] for p in self.points)
        assert math.isclose(self.value(node), want, rel_tol=1e-3), want
        # a rate is rounded to whole faults
        assert abs(parse(text)[0] - self.value(node)) <= 0.6 + ROUNDED * self.value(node)

    def check_span(self, node, rest, text):
        if not rest:  # a time until a limit is reached
            assert text == span(self.value(node)), self.value(node)
            for f in self.forecasts_of_limit(node):
                shown = [self.value(n) for n in node.parent.walk() if n.attrs.get("data-is") == "span"]
                want = [f["forecast"][key] for key in ("seconds", "low", "high")]
                assert all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(shown, want)), want
            return
        n, unit = self.point(node)[rest], rest.rpartition("_")[2]
        assert text == (scaled(n, 1000, DURATION) if unit == "ns" else
                        scaled(n, 1024, BYTES) if unit == "bytes" else f"{n:,}"), n

    def check_points(self):
        """Compares the sums up to the end of each point with those of the JSON lines."""
        wrong = []
        for key, field in RATES.items():
            prefix, at, n = [0] + self.truth.prefix[field], 0, 0
            for p in self.points:
                n += p[key]
                while at < len(prefix) and prefix[at] != n:
                    at += 1
                if at == len(prefix):
                    wrong.append(f"{key} until {p['to']}: {n} is no sum of the JSON lines")
                    break
        for key, field in GAUGES.items():
            known = set(self.truth.prefix[field]) | {0}
            wrong += [f"{key} until {p['to']}: {p[key]}" for p in self.points
                      if key in p and p[key] not in known]
        return wrong

    def check_mark(self, node, rest, text):
        n = int(self.value(node))
        assert text.startswith(rest) and (n == 1 or text.endswith(f"\u00d7{n}")), text
        assert len([f for f in self.data["findings"] if f["id"] == rest]) >= n

    def check_unlabelled(self, node, rest, text):
        self.text_is_value(node, text)
        marks = sum(int(n.attrs["data-v"]) for n in self.page.root.walk()
                    if n.attrs.get("data-is", "").startswith("mark:"))
        worse = [f for f in self.data["findings"] if f["severity"] != "info"]
        assert marks + self.value(node) == len(worse)
