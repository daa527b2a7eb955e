# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of P25: the memory that forked workers copy, compared with the kernel's own count."""

import json
import re
import sys

from harness import captures
from test_pressure import finished_run

# Forks four workers that only read data of their parent. Each writes the kernel's count of its
# private dirty memory before and after it has read the data.
PROGRAM = """import json, os, sys, time
kind, out = sys.argv[1:]
if kind == "objects":
    data = [f"{i:050}" for i in range(800_000)]
elif kind == "array":
    data = bytearray(80 << 20)
def private():
    with open("/proc/self/smaps_rollup") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))
def work(number):
    before = private()
    if kind == "objects":
        for text in data:
            len(text)
    else:
        for i in range(0, len(data), 4096):
            data[i]
    with open(f"{out}/{number}", "w") as file:
        json.dump([os.getpid(), before, private()], file)
    time.sleep(3)
children = []
for number in range(4):
    pid = os.fork()
    if not pid:
        work(number)
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
"""


def expect_copies(check, lines, truth):
    found = lines.of("finding", id="P25")
    if truth["kind"] == "array":
        check.that(not found, f"copies of an array that is only read: {found[:1]}")
        return
    if not check.that(found, "no P25"):
        return
    check.equal("children", re.match(r"(\d+) forked", found[-1]["title"]).group(1), "4")
    told = max(row["value"] for line in found for row in line["evidence"]
               if row["field"] == "copied by all children")
    copied = sum(after - before for _, before, after in truth["workers"]) << 10
    check.between("bytes that faultscope counted", told, copied * 0.95, copied * 1.05)


@captures(expect_copies, cases=["objects", "array"])
def test_forked_workers(lab, case):
    out, recording = lab.new_output()
    workers = lab.dir / f"workers-{case}"
    workers.mkdir()
    ran = lab.faultscope("run", "--json", "-o", out, "--record", recording, "--", sys.executable,
                         "-c", PROGRAM, case, workers)
    capture = finished_run(out, ran, recording)
    capture.truth = {"kind": case,
                     "workers": [json.loads(file.read_text()) for file in workers.iterdir()]}
    return capture
