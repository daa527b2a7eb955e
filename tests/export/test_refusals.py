# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the numbers of failed calls in text, in JSON and in metrics of one run."""

import json
import re
import sys

from exporter import AT_ONCE, Samples
from harness import FAULTSCOPE, live

FDS, MAPS = 37, 21  # numbers of calls that fail; between powers of two, at which events are sent
PROGRAM = f"""import mmap, os, resource, time
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
try:
    while True:
        os.dup(0)
except OSError:
    pass
for _ in range({FDS} - 1):
    try:
        os.dup(0)
    except OSError:
        pass
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for _ in range({MAPS}):
    try:
        mmap.mmap(-1, 4 << 30)
    except OSError:
        pass
time.sleep(0.3)
"""


def counts_of_json(text):
    """Returns the counters of processes, and the numbers in findings."""
    lines = [json.loads(line) for line in text.splitlines()]
    last = {}
    for line in lines:
        if line["type"] == "process":
            last[line["pid"]] = line
    told = {line["id"]: row["value"] for line in lines if line["type"] == "finding"
            for row in line["evidence"] if row["field"] == "refused_calls"}
    return {"maps": sum(line["maps"]["failed"] or 0 for line in last.values()),
            "fds": sum(line["fds"]["failed"] or 0 for line in last.values()),
            "M13": told.get("M13"), "F01": told.get("F01")}


def counts_of_text(text):
    """Returns the numbers of the findings after the end of a command."""
    return {name: int(found[-1].replace(",", "")) for name in ("M13", "F01")
            if (found := re.findall(rf"\[{name} (?:.|\n)*?refused_calls: ([0-9,]+)", text))}


def sum_of(samples, name):
    return sum(samples.of(name))


@live
def test_numbers_are_equal_in_all_outputs(check, lab):
    recording, file = lab.dir / "refused.fsr", lab.dir / "refused.prom"
    ran = lab.faultscope("run", "--record", recording, "--", sys.executable, "-c", PROGRAM)
    check.equal("text", counts_of_text(ran.err), {"M13": MAPS, "F01": FDS})
    lines = lab.call(FAULTSCOPE, "--replay", recording, "--json").out
    check.equal("JSON", counts_of_json(lines),
                {"maps": MAPS, "fds": FDS, "M13": MAPS, "F01": FDS})
    lab.call(FAULTSCOPE, "export", "--replay", recording, "--textfile", file, *AT_ONCE)
    samples = Samples(file.read_text())
    check.equal("metrics of mappings", sum_of(samples, "faultscope_mapping_failures_total"), MAPS)
    check.equal("metrics of fds", sum_of(samples, "faultscope_fd_failures_total"), FDS)
