# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares every number on the page of a recording with the JSON output of the same recording.

The page names the source of each number in an attribute `data-is` of an element around it. A number
without a source, or with a source that is not known here, is an error. `data-v` has the value that
was rounded for the text; the text has to agree with it, and it with the JSON lines.
"""
import bisect
import datetime
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

from number_texts import BYTES, DURATION, evidence_texts, scaled, span
from page_data import data_of

HTML = Path(__file__).resolve().parents[2] / "src" / "render" / "html"
VOID = {"meta", "link", "br", "hr", "img", "input", "wbr", "rect", "path", "line", "circle"}
UNITS = {"B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "TiB": 2 ** 40, "PiB": 2 ** 50,
         "EiB": 2 ** 60, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
SPAN = {"d": 86400, "h": 3600, "m": 60, "s": 1}
GAUGES = {"threads": "threads", "mappings": "maps.count", "fds": "fds.count",
          "rss_bytes": "memory.rss_bytes", "swap_bytes": "memory.swap_bytes"}
RATES = {"minor": "faults.minor", "major": "faults.major", "stall_ns": "faults.stall_ns"}
RESOURCES = {"vm.max_map_count": "maps", "RLIMIT_NOFILE": "fds"}
ROUNDED = 0.011  # greatest relative error of a text with a unit
EVENTS = {"failed_call", "crossing", "threshold", "signal", "oom", "kernel_fault"}


class Node:
    def __init__(self, tag, attrs, parent):
        self.tag, self.attrs, self.parent = tag, attrs, parent
        self.children = []

    def get(self, name):
        """Returns the attribute of the nearest element that has it."""
        node = self
        while node and name not in node.attrs:
            node = node.parent
        return node.attrs[name] if node else None

    def walk(self):
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def cells(self):
        """Returns the cells of a row, or of the first row of a part of a table."""
        return [node for node in self.walk() if node.tag in ("td", "th")]

    def text(self, own=False):
        """Returns the text; with `own`, without elements that have a source of their own."""
        return "".join(child if isinstance(child, str) else child.text(own) for child in self.children
                       if isinstance(child, str) or
                       (child.tag != "title" and not (own and "data-is" in child.attrs)))


class Page(HTMLParser):
    """The tree of a page, and its JSON data."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("page", {}, None)
        self.feed(text)
        self.data = data_of(text)
        for node in self.root.walk():
            if "numbers" in node.attrs.get("class", "").split():
                self.name_sources(node)

    @staticmethod
    def name_sources(table):
        """Gives each cell of a table the source that the head of its column names."""
        head = next(node for node in table.walk() if node.tag == "thead").cells()
        body = next(node for node in table.walk() if node.tag == "tbody")
        for nth, row in enumerate(node for node in body.walk() if node.tag == "tr"):
            row.attrs["data-nth"] = str(nth)
            for cell, column in zip(row.cells(), head):
                if "data-of" in column.attrs:
                    cell.attrs.setdefault("data-is", column.attrs["data-of"])

    def handle_starttag(self, tag, attrs):
        node = Node(tag, {key: value or "" for key, value in attrs}, self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attrs):
        self.at.children.append(Node(tag, dict(attrs), self.at))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        node = self.at
        while node.parent and node.tag != tag:
            node = node.parent
        if node.parent:
            self.at = node.parent

    def handle_data(self, data):
        self.at.children.append(data)


def flat(line):
    """Returns {key: value} of a process line, with keys such as "faults.minor"."""
    out = {key: value for key, value in line.items() if not isinstance(value, (dict, list))}
    for group in ("faults", "maps", "fds", "memory"):
        for key, value in line[group].items():
            out[f"{group}.{key}"] = value
    return out


def words_of(value):
    """Returns all texts in a JSON value."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from words_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words_of(inner)
    elif isinstance(value, str):
        yield value


def numbers_of(value):
    """Returns all numbers in a JSON value."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_of(inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def parse(text):
    """Returns the value of a text such as "12,480", "412 MiB", "1.3 us" or "95.3%", and whether the
    text is exact."""
    text = text.strip().lstrip("+<-").replace("from ", "").strip()
    if text in ("?", "unlimited"):
        return None, True
    m = re.fullmatch(r"([\d,]+(?:\.\d+)?) ?(\w+|%)?(?:/s)?", text)
    assert m, f"not a number: {text!r}"
    value = float(m[1].replace(",", ""))
    return value * UNITS.get(m[2] or "", 1), not m[2] and "." not in m[1]


def parse_span(text):
    """Returns the seconds of a text such as "1h 21m" or "0.9 s", and the unit of its last part."""
    parts = re.findall(r"([\d.]+) ?(ms|us|[dhms])", text)
    assert parts, f"not a time span: {text!r}"
    units = dict(SPAN, ms=1e-3, us=1e-6)
    last = units[parts[-1][1]]
    return sum(float(n) * units[unit] for n, unit in parts), \
        last * (0.06 if "." in parts[-1][0] else 1)


def plain(text):
    """Returns a text with the bytes that a page shows as escapes, such as \\xe2."""
    return re.sub(r"(?:\\x[0-9a-f]{2})+", lambda m: bytes.fromhex(
        m[0].replace("\\x", "")).decode("utf-8", "replace"), text)


def sizes_of(text):
    """Returns the numbers of a text, with their units; numbers in names are left out."""
    text = re.sub(r"[^\s(),]*[a-zA-Z_#\[][^\s(),]*\d[^\s(),]*", " ", text)
    return [parse(n)[0] for n in
            re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?: ?(?:[KMGTPE]i?B|B|ns|us|ms|s)\b)?", text)]


def near(a, b, exact=False):
    if a is None or b is None:
        return a == b
    return a == b if exact else math.isclose(a, b, rel_tol=ROUNDED, abs_tol=0.06)


class Truth:
    """What the JSON lines of a recording say."""

    def __init__(self, lines, info, last):
        self.lines, self.info = lines, info
        self.last = [line for line in last if line["type"] == "finding"]
        self.start, self.end = lines[0], lines[-1]
        self.process, self.all_of = {}, {}
        self.first = {}
        self.text = "\n".join(set(words_of(lines)))
        self.findings = [line for line in lines if line["type"] == "finding"]
        self.times = {}
        self.prefix = {key: [] for key in list(RATES.values()) + list(GAUGES.values())}
        sums = dict.fromkeys(self.prefix, 0)
        for line in lines:
            self.times.setdefault(round(line.get("t", -1), 3), set()).add(line["type"])
            if line["type"] != "process":
                continue
            one, key = flat(line), (line["pid"], line["start_time_ns"])
            before = self.process.get(key, {})
            for field in self.prefix:
                sums[field] += self.share(one, field) - self.share(before, field)
                self.prefix[field].append(sums[field])
            self.process[key] = dict(one, buckets=line["faults"].get("latency_ns"))
            self.first.setdefault(key, one)
            self.all_of.setdefault(key, []).append(one)

    @staticmethod
    def share(line, field):
        """Returns what a process adds to a sum: gauges only while it lives."""
        if field in GAUGES.values() and line.get("final"):
            return 0
        return line.get(field) or 0

    def total(self, key):
        return sum(one.get(key) or 0 for one in self.process.values())

    def of_pid(self, pid):
        return [one for (p, _), one in self.process.items() if p == pid]

    def latency(self, kind):
        sums = {}
        for one in self.process.values():
            for le, n in (one["buckets"] or {}).get(kind, {}).get("buckets", []):
                sums[le] = sums.get(le, 0) + n
        return sums

    def latency_max(self, kind):
        return max([one["buckets"][kind]["max"] or 0 for one in self.process.values()
                    if one["buckets"] and one["buckets"].get(kind)] or [0])

    def last_finding(self, node):
        """Returns the last states of the findings with the id and the process of an element. There
        are several if a pid was reused."""
        pid, place = int(node.get("data-pid")), node.get("data-place")
        own = [f for f in self.last if f["id"] == node.get("data-finding") and
               (f["pid"] or 0) == pid and (f["place"] or None) == place]
        assert own, f"no such finding: {node.get('data-finding')} {pid} {place}"
        return own

    def wall_ms(self, t):
        at = datetime.datetime.fromisoformat(self.end["time"].replace("Z", "+00:00")).timestamp()
        return (at - self.end["t"] + t) * 1000


class Checker:
    def __init__(self, page, truth):
        self.page, self.truth, self.data = page, truth, page.data
        self.points = page.data["points"]
        self.sums = self.paths()
        self.by_value = self.names_by_value()
        self.functions = self.sums_of_functions()
        self.source = self.corpus()
        self.cards = [n for n in page.root.walk() if "finding" in n.attrs.get("class", "").split()]

    @staticmethod
    def corpus():
        """Returns the texts of the program that writes pages, without markup."""
        code = "".join(path.read_text() for path in sorted(HTML.glob("*.c")))
        return re.sub(r"<[^>]*>|\s+", "", re.sub(r'"\s*"', "", code.replace('\\"', "'").replace("%%", "%")))

    def paths(self):
        """Returns {(depth, name): values} of the boxes of the flame graph, by their samples."""
        names, sums = self.data["profile"]["names"], {}
        tree = {}
        for sample in self.data["profile"]["samples"]:
            for depth in range(len(sample["f"])):
                key = tuple(sample["f"][:depth + 1])
                values = tree.setdefault(key, [0] * len(sample["v"]))
                for i, n in enumerate(sample["v"]):
                    values[i] += n
        for key, values in tree.items():
            sums.setdefault((len(key), names[key[-1]]), []).append(values)
        return sums

    def finding_times(self, node):
        return [f["t"] for f in self.truth.findings
                if f["id"] == node.get("data-finding") and (f["pid"] or 0) == int(node.get("data-pid"))]

    # Each check_KIND gets an element, the rest of its data-is, and its text.

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

    def value(self, node):
        """Returns the value of an element: its text has all digits if it has no data-v."""
        if "data-v" in node.attrs:
            return float(node.attrs["data-v"])
        return float(node.text().strip().lstrip("+").replace(",", ""))

    def text_is_value(self, node, text):
        value, exact = parse(text)
        assert near(value, self.value(node), exact), f"{text} for {node.get('data-v')}"

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
            assert re.search(r", \d+ CPUs$", text)
        elif rest == "started":
            assert info["time"][:19] in text
        elif rest == "duration":
            m = re.match(r"(.*), (\d+) scans, one every (.*)$", text)
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

    # Times

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

    # The timeline

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

    # Processes

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

    # Findings

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

    # Limits

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

    # Latency

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

    # The flame graph

    def measure(self):
        option = next((n for n in self.page.root.walk()
                       if n.tag == "option" and "selected" in n.attrs), None)
        return int(option.attrs["value"]) if option else 0

    def check_frame(self, node, rest, text):
        title = next(n for n in node.walk() if n.tag == "title")
        label = plain("".join(c for c in title.children if isinstance(c, str)))
        name, _, number = label.rpartition(": ")
        assert near(parse(number)[0], self.value(node)), label
        if name == "all":
            assert self.value(node) == self.data["profile"]["measures"][self.measure()]["total"]
            return
        if self.data["profile"]["samples_left_out"]:
            return
        assert any(name == n or name.startswith(n + " in ")
                   for n in self.by_value.get(self.value(node), ())), label

    def names_by_value(self):
        """Returns {value: names} of the boxes, for the measure that is drawn."""
        out, measure = {}, self.measure()
        for (_, name), values in self.sums.items():
            for value in values:
                out.setdefault(value[measure], set()).add(name)
        return out

    def sums_of_functions(self):
        """Returns {name: [self, total]} of the functions."""
        measure, out, names = self.measure(), {}, self.data["profile"]["names"]
        for s in self.data["profile"]["samples"]:
            # a workload, a process, and the kind of a fault or mapping are no functions
            stack = [names[i] for i in s["f"][2:]
                     if not re.match(r"\[|(minor|major) faults$", names[i])]
            for name in set(stack):
                out.setdefault(name, [0, 0])[1] += s["v"][measure]
            if stack:
                out[stack[-1]][0] += s["v"][measure]
        return out

    def check_self(self, node, rest, text, which=0):
        self.text_is_value(node, text)
        if self.data["profile"]["samples_left_out"]:
            return
        assert any(n[which] == self.value(node) for n in self.functions.values())

    def check_function(self, node, rest, text):
        assert any(text in name for name in self.data["profile"]["names"]) or \
            text in self.data["profile"]["modules"] or \
            any(place and place["file"] in text for place in self.data["profile"]["places"]), text

    def check_stack(self, node, rest, text):
        for item in (n for n in node.walk() if n.tag == "li"):
            frame = item.text()
            assert frame in self.truth.text or frame in self.data["profile"]["names"], frame

    # What processes hold and made

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

    # Addresses

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

    # Resident memory and OOM kills: pages of their own

    def check_memory(self, node, rest, text):
        known = [n for line in self.truth.lines if line["type"].startswith(("memory", "resident"))
                 for n in numbers_of(line)]
        sums = self.data["profile"]["measures"]
        for word in re.findall(r"[\d,]+(?:\.\d+)? [KMGTP]?i?B", text):
            n = parse(word)[0]
            assert not known or any(near(n, abs(k)) for k in known) or n <= sums[-2]["total"] * 2, word

    def check_oom(self, node, rest, text):
        lines = [line for line in self.truth.lines if line["type"].startswith("oom")]
        known = {abs(n) for n in numbers_of(lines)}
        assert lines and known

    def check_repeats(self, node, rest, text):
        self.text_is_value(node, text)
        assert self.value(node) < sum(line["type"] in EVENTS for line in self.truth.lines)

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
