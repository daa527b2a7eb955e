# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests scans that find a process in the middle of fork() or of its exit. No process is lost."""
import subprocess
import sys

from harness import BUILD, LONG, Lines, live, status_by

ATTACH, PROGRAMS = BUILD / "bench" / "empty", BUILD / "slow_life.bpf.o"
# In about half of all watches, the first scan finds a process that is exiting.
WATCHES = 4 if LONG else 1
EXITS = 8 if LONG else 4
# slow_life.bpf.c delays each fork() of this program, which has the name "slow".
FORKING = """
import os
open("/proc/self/comm", "w").write("slow")
for i in range(20):
    pid = os.fork()
    if not pid:
        open("/proc/self/comm", "w").write("born")
        os._exit(0)
    os.waitpid(pid, 0)
open("/proc/self/comm", "w").write("done")
"""
# The children start before the watch. After a line on standard input, they touch memory and exit one
# after another. Each exit is delayed.
EXITING = """
import os, sys
pipes = []
for i in range(int(sys.argv[1])):
    theirs, ours = os.pipe()
    if not os.fork():
        open("/proc/self/comm", "w").write("slow")
        os.read(theirs, 1)
        touched = bytearray(1 << 20)
        os._exit(0)
    pipes.append(ours)
print("ready", flush=True)
sys.stdin.readline()
for pipe in pipes:
    os.write(pipe, b".")
    os.wait()
"""


def attach(lab, program):
    """Attaches a program of slow_life.bpf.c until the returned process ends."""
    errors = lab.dir / "errors"
    with open(errors, "w", encoding="utf-8") as file:
        process = lab.spawn([ATTACH, PROGRAMS, program], stderr=file)
    said = process.stdout.readline()
    assert said == "ready\n", errors.read_text(encoding="utf-8")[-1000:]
    return process


def check_nothing_lost(check, capture):
    lines = Lines(capture.text)
    check.equal("processes counted as lost", lines.of("end")[0]["losses"]["map"], 0)
    check.equal("status", capture.status, status_by(lines))


@live
def test_forks_during_scans(check, lab):
    """A scan may find a process before the fork probe sees it."""
    attach(lab, "slow_fork")
    watch = lab.watch("0.01", record=False)
    ran = lab.call(sys.executable, "-c", FORKING)
    check.equal("status of the program", ran.returncode, 0)
    check_nothing_lost(check, watch.stop())


@live
def test_exits_during_the_first_scan(check, lab):
    """A process that is exiting during the first scan may still be exiting during the second."""
    delay = attach(lab, "slow_exit")
    exiting = lab.spawn([sys.executable, "-c", EXITING, "80"], stdin=subprocess.DEVNULL)
    check.equal("the program", exiting.stdout.readline(), "ready\n")
    for _ in range(WATCHES):
        capture = lab.watch("0.01", "-d", "0.3", record=False).finished()
        check.that(exiting.poll() is None, "the processes have ended before the watch")
        check_nothing_lost(check, capture)
    delay.kill()
    delay.wait()
    exiting.kill()  # ends its children; without the delay, this takes little time


@live
def test_exits_during_scans(check, lab):
    """A scan may find a process that still exits after its final line. The scan adds no other line of
    this process."""
    attach(lab, "slow_exit")
    for scan in ("/proc", "iter/task", "task-iterator"):
        exiting = lab.spawn([sys.executable, "-c", EXITING, str(EXITS)], stdin=subprocess.PIPE)
        check.equal("the program", exiting.stdout.readline(), "ready\n")
        watch = lab.watch("0.01", "--probe", f"scan={scan}", record=False)
        exiting.stdin.write("go\n")
        exiting.stdin.close()
        exiting.wait()
        lines = Lines(watch.stop().text).of("process", comm="slow", ppid=exiting.pid)
        pids = {line["pid"] for line in lines}
        check.equal(f"{scan}: processes", len(pids), EXITS)
        for pid in pids:
            mine = [line for line in lines if line["pid"] == pid]
            check.that(mine[-1].get("final") and mine[-1]["faults"]["minor"] > 200,
                       f"{scan}: the last line of {pid} has {mine[-1]['faults']['minor']} faults")
            check.equal(f"{scan}: last lines of {pid}", sum(line.get("final", False) for line in mine), 1)
