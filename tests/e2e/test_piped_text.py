# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of text that goes to a pipe: a finding is printed when it opens, changes or clears, and any
other interval is one line."""

import re

from harness import RECORDINGS, Lines

LEAK = RECORDINGS / "forecast_of_a_leak.fsr"
CHILDREN = RECORDINGS / "brief_children_among_all-close.fsr"
INTERVAL = re.compile(r"\d\d:\d\d:\d\d  ")
TITLE = re.compile(r"(critical|warning|info|cleared)\[(\w+) [\w-]+\]: ")


def test_findings_are_printed_once(check, lab):
    text = lab.faultscope("--replay", LEAK).out
    stories = [found.groups() for found in map(TITLE.match, text.splitlines()) if found]
    lines = Lines(lab.faultscope("--replay", LEAK, "--json").out)
    want = [("cleared" if line["state"] == "cleared" else line["severity"], line["id"])
            for line in lines.of("finding")]
    watched = text.index("faultscope: watched")
    before = [found.groups() for found in map(TITLE.match, text[:watched].splitlines()) if found]
    check.equal("findings as in JSON", sorted(before), sorted(want))
    check.equal("at the end: the open ones", sorted(stories[len(before):]),
                [("critical", "F01"), ("critical", "F12")])
    check.that(" = workaround" not in text[watched:], "at the end: titles only")


def test_other_intervals_are_one_line(check, lab):
    text = lab.faultscope("--replay", LEAK).out
    intervals = [line for line in text.splitlines() if INTERVAL.match(line)]
    scans = len(Lines(lab.faultscope("--replay", LEAK, "--json").out).of("process")) - 1
    check.that(scans - 3 <= len(intervals) <= scans, f"{len(intervals)} lines for {scans} scans")
    check.that(all(re.search(r"fdleak\[\d+\]  minor .*fds [\d,]+ \(", line) for line in intervals),
               "each has the process and its use of limits")
    check.equal("whole blocks: the first and the last", text.count("\n memory    RSS "), 2)
    check.equal("headers", len(re.findall(r"^faultscope \S+  fdleak", text, re.M)), 1)


def test_all_processes(check, lab):
    text = lab.faultscope("--replay", CHILDREN).out
    check.equal("tables", len(re.findall(r"^ +PID ", text, re.M)), 1)
    for option in (("--top", "5"), ("--sort", "faults.minor")):
        text = lab.faultscope("--replay", CHILDREN, *option).out
        check.equal(f"{option}: a table in each interval", len(re.findall(r"^ +PID ", text, re.M)),
                    len(re.findall(r"^faultscope \S+  host", text, re.M)))
