# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the JSON lines of a recording say about the numbers of its page."""
import datetime
from functools import cached_property

GAUGES = {"threads": "threads", "mappings": "maps.count", "fds": "fds.count",
          "rss_bytes": "memory.rss_bytes", "swap_bytes": "memory.swap_bytes"}
RATES = {"minor": "faults.minor", "major": "faults.major", "stall_ns": "faults.stall_ns"}
EVENTS = {"failed_call", "crossing", "threshold", "signal", "oom", "kernel_fault"}


def flat(line):
    """Returns {key: value} of a process line, with keys such as "faults.minor"."""
    out = {key: value for key, value in line.items() if not isinstance(value, (dict, list))}
    for group in ("faults", "maps", "fds", "memory"):
        for key, value in line[group].items():
            out[f"{group}.{key}"] = value
    return out


def leaves_of(value):
    """Yields each string, number, boolean and null in a JSON value."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        else:
            yield value


def words_of(value):
    """Returns all strings in a JSON value."""
    return (one for one in leaves_of(value) if isinstance(one, str))


def numbers_of(value):
    """Returns all numbers in a JSON value."""
    return (one for one in leaves_of(value)
            if isinstance(one, (int, float)) and not isinstance(one, bool))


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

    @cached_property
    def memory_numbers(self):
        """The absolute values of all numbers in the lines about resident memory."""
        return {abs(number) for line in self.lines
                if line["type"].startswith(("memory", "resident")) for number in numbers_of(line)}

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
