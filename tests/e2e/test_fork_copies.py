# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of P25: the memory that forked workers copy, compared with the kernel's own count."""

import json
import re
import shutil
import sys

from harness import LONG, Skip, captures, workload_path
from test_pressure import finished_run

# Forks four workers that use data of their parent. Each writes the kernel's count of its private
# dirty memory before and after it has used the data.
PROGRAM = """import array, gc, json, mmap, os, sys, time
kind, out = sys.argv[1:]
class Row:
    def __init__(self, number):
        self.number, self.name = number, f"{number:030}"
def read_pages(data):
    for i in range(0, len(data), 4096):
        data[i]
def read_texts(texts):
    for text in texts:
        len(text)
if kind == "list":
    data = [f"{i:050}" for i in range(800_000)]
    use = lambda: read_texts(data)
elif kind == "dict":
    data = {i: f"{i:050}" for i in range(600_000)}
    use = lambda: read_texts(data.values())
elif kind == "instances":
    data = [Row(i) for i in range(250_000)]
    use = lambda: read_texts(row.name for row in data)
elif kind == "collected":
    data = [[i] for i in range(800_000)]
    use = gc.collect
elif kind == "bytes":
    data = bytearray(80 << 20)
    use = lambda: read_pages(data)
elif kind == "numbers":
    data = array.array("d", bytes(80 << 20))
    use = lambda: sum(data[::64])
elif kind == "file":
    with open(out + "/../mapped", "wb+") as file:
        file.truncate(80 << 20)
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    use = lambda: read_pages(data)
elif kind == "frozen":
    objects = [[i] for i in range(200_000)]
    data = bytearray(80 << 20)
    gc.freeze()
    use = lambda: (gc.collect(), read_pages(data))
def private():
    with open("/proc/self/smaps_rollup") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))
def work(number):
    before = private()
    use()
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
# The same in Perl. Each worker counts up numbers, which are objects of 24 bytes. exit() would free
# objects, and so copy more memory.
PERL = r"""use POSIX;
my $out = $ARGV[0];
my @data = (1 .. 2_500_000);
sub private_kib {
    my $sum = 0;
    open(my $f, "<", "/proc/self/smaps_rollup") or die;
    while (<$f>) { $sum += $1 if /^Private_Dirty:\s+(\d+)/ }
    return $sum;
}
for my $number (0 .. 3) {
    next if fork();
    my $before = private_kib();
    $_++ for @data;
    my $after = private_kib();
    open(my $f, ">", "$out/$number") or die;
    print $f "[$$, $before, $after]";
    close($f);
    sleep(3);
    POSIX::_exit(0);
}
1 while wait() > 0;
"""

COPY = ["list", "written", "dict", "instances", "collected", "perl"]
SHARE = ["bytes", "shared", "numbers", "file", "frozen", "read"]
CASES = COPY + SHARE if LONG else COPY[:2] + SHARE[:2]  # each takes 5 seconds


def expect_copies(check, lines, truth):
    found = lines.of("finding", id="P25")
    if truth["kind"] in SHARE:
        check.that(not found, f"copies of memory that is shared well: {found[:1]}")
        return
    if not check.that(found, "no P25"):
        return
    check.equal("children", re.match(r"(\d+) forked", found[-1]["title"]).group(1), "4")
    told = max(row["value"] for line in found for row in line["evidence"]
               if row["field"] == "copied by all children")
    copied = sum(after - before for _, before, after in truth["workers"]) << 10
    check.between("bytes that faultscope counted", told, copied * 0.95, copied * 1.05)


def program(case, workers):
    if case in ("written", "read", "shared"):
        return [workload_path("forked"), case, 80, workers]
    if case != "perl":
        return [sys.executable, "-c", PROGRAM, case, workers]
    if not shutil.which("perl"):
        raise Skip("needs perl")
    return ["perl", "-e", PERL, workers]


@captures(expect_copies, cases=CASES)
def test_forked_workers(lab, case):
    out, recording = lab.new_output()
    workers = lab.dir / f"workers-{case}"
    workers.mkdir()
    ran = lab.faultscope("run", "--json", "-o", out, "--record", recording, "--",
                         *map(str, program(case, workers)))
    capture = finished_run(out, ran, recording)
    capture.truth = {"kind": case,
                     "workers": [json.loads(file.read_text()) for file in workers.iterdir()]}
    return capture
