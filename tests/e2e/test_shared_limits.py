# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests limits that several processes share: the number of threads of a user, and the memory and
the number of threads of a cgroup."""
import shlex
import shutil
import subprocess

from harness import Skip, Workload, idle, live, workload_path
from test_diagnose import Diagnosis, check_lines, evidence, ids, last_finding
from test_origin import MIB, Groups

NOBODY = "65534"
# Program that allocates 2 MiB at a time. With the argument "file" the program fills the page cache
# instead, which the kernel can reclaim.
TAKER = """
import sys, time
kind, much, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
print('{"ready":true}', flush=True)
sys.stdin.read(1)
kept = []
with open(path, "wb") as file:
    for _ in range(much // 2):
        if kind == "file":
            file.write(bytes(2 << 20))
        else:
            kept.append(bytearray(2 << 20))
        time.sleep(0.06)
print("{}", flush=True)
sys.stdin.read(1)
"""


def in_group(lab, group, argv):
    """Starts a workload that is in the cgroup before it executes its first instruction."""
    procs = shlex.quote(str(group / "cgroup.procs"))
    words = " ".join(shlex.quote(str(word)) for word in argv)
    return Workload(lab.spawn(["sh", "-c", f"echo $$ > {procs} && exec {words}"],
                              stdin=subprocess.PIPE, stderr=None), True)


def grown(check, lab, work, status):
    diagnosis = Diagnosis(lab, work.pid)
    work.go()
    work.truth()
    lines = check_lines(check, diagnosis.stop(), status)
    work.end()
    return lines


@live
def test_threads_of_a_user(check, lab):
    """M32 nproc-near compares the number of all threads of a user with RLIMIT_NPROC. Root has no
    such limit, so root gets no finding."""
    if not shutil.which("setpriv"):
        raise Skip("no setpriv")
    growth = lab.for_all(workload_path("growth"))
    for user, wanted in ((NOBODY, True), ("0", False)):
        argv = ["prlimit", "--nproc=300", "setpriv", f"--reuid={user}", f"--regid={user}",
                "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", growth, "thread",
                "250", "--wait", "--hold"]
        work = Workload(lab.spawn(argv, stdin=subprocess.PIPE, stderr=None), True)
        lines = grown(check, lab, work, 3 if wanted else 0)
        check.equal(f"M32 of {user}", "M32" in ids(lines), wanted)
        if wanted:
            finding = last_finding(check, lines, "M32", work.pid)
            check.that("of 300 threads of its user" in finding["title"], finding["title"])
            check.equal("its own", evidence(finding, "its own threads"), "251")
            check.that(finding["set_by"], "nobody set the limit")


@live
def test_threads_of_a_group(check, lab):
    with Groups(lab, "pids", "pids.max", 300, None) as groups:
        work = in_group(lab, groups.inner, [workload_path("growth"), "thread", "250", "--wait",
                                            "--hold"])
        lines = grown(check, lab, work, 3)
        finding = last_finding(check, lines, "M36", work.pid)
        check.that("251 of 300 threads of its cgroup" in finding["title"], finding["title"])
        check.that(f"in {groups.outer}/pids.max, 1 level up" in finding["set_by"],
                   finding["set_by"])


@idle
@live
def test_memory_of_a_group(check, lab):
    """M34 cgroup-memory-near and M35 cgroup-memory-growth forecast when a cgroup reaches its memory
    limit. A growing page cache causes no forecast."""
    with Groups(lab, "memory", "memory.limit_in_bytes", None, 256 * MIB) as groups:
        for kind, wanted in (("memory", True), ("file", False)):
            argv = ["/usr/bin/python3", "-c", TAKER, kind, "215", lab.dir / "file"]
            lines = grown(check, lab, in_group(lab, groups.inner, argv), 3 if wanted else 0)
            told = sorted({line["id"] for line in lines.of("finding")} & {"M34", "M35"})
            check.equal(f"told of {kind}", told, ["M34", "M35"] if wanted else [])
            for line in lines.of("finding", id="M34")[-1:]:
                check.that(f"in {groups.inner}/{groups.file}" in line["set_by"], line["set_by"])
