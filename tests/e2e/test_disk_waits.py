# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the time that page faults wait for disks, computed from the scheduler's counters, with
the kernel's delay accounting and with the scheduler's tracepoints."""

import contextlib
import json
import os
from pathlib import Path

from harness import Lines, Skip, live, proc_stat

DELAY_ACCOUNTING = Path("/proc/sys/kernel/task_delayacct")  # since Linux 5.14
BLKIO_TICKS = 42  # field of /proc/PID/stat
COUNTERS, TRACEPOINTS = "counters", "tp_btf"


@contextlib.contextmanager
def delay_accounting():
    """Switches on delay accounting, which measures tasks that start from now on."""
    before = DELAY_ACCOUNTING.read_text(encoding="ascii") if DELAY_ACCOUNTING.exists() else None
    if before is not None:
        DELAY_ACCOUNTING.write_text("1", encoding="ascii")
    try:
        yield
    finally:
        if before is not None:
            DELAY_ACCOUNTING.write_text(before, encoding="ascii")


def blkio_ns(pid):
    return int(proc_stat(pid)[BLKIO_TICKS]) * 10 ** 9 // os.sysconf("SC_CLK_TCK")


@live
def test_waits_agree_with_delay_accounting(check, lab):
    """A process reads pages of a file while two programs compete with it for the CPUs. Two
    faultscopes measure its waits, each in its own way."""
    with delay_accounting():
        work = lab.work("filepages", "8000", str(lab.dir), "--wait", "--hold")
    watches = {how: lab.watch("-p", str(work.pid), "--probe", f"disk_wait={how}", "1", "60")
               for how in (COUNTERS, TRACEPOINTS)}
    for _ in range(2):
        lab.spawn(["timeout", "20", "sh", "-c", "while :; do :; done"])
    before = blkio_ns(work.pid)
    work.go()
    truth = work.truth()
    blkio = blkio_ns(work.pid) - before
    lines = {how: Lines(watch.stop().text) for how, watch in watches.items()}
    work.end()
    if not truth["majflt_delta"]:
        raise Skip(f"{lab.dir} is on no disk: its pages cannot be dropped")
    waited = {}
    for how in lines:
        if lines[how].all[0]["probes"]["disk_wait"] != how:
            raise Skip(f"disk_wait={how}: {lines[how].all[0]['probes']['disk_wait']}")
        waited[how] = lines[how].growth(work.pid, "faults.disk_ns")
        check.that(waited[how] <= lines[how].growth(work.pid, "faults.stall_ns"),
                   f"{how}: more waits than time in faults")
    check.that(waited[COUNTERS] > 0, "no fault waited")
    check.near("as the tracepoints", waited[COUNTERS], waited[TRACEPOINTS], 0.2)
    if blkio > 10 ** 8:  # 10 ticks: less says too little
        check.near("as delay accounting", waited[COUNTERS], blkio, 0.4)


def faults_of_run(lab, *command):
    out = lab.new_output()[0]
    ran = lab.faultscope("run", "--json", "--probe", f"disk_wait={COUNTERS}", "-o", out, "--",
                         lab.workload(command[0]), *command[1:])
    return Lines(lab.read(out)).final(json.loads(ran.out)["pid"])


@live
def test_other_sleeps_are_no_waits_for_disks(check, lab):
    """Faults that wait for a handler in user space, for mmap_lock, or for a CPU do not wait for a
    disk."""
    handled = faults_of_run(lab, "uffd", "50", "--delay-us", "1000")["faults"]
    check.that(handled["stall_ns"] > 40 * 10 ** 6, f"not delayed: {handled['stall_ns']} ns")
    # The program itself may wait for a page of its file.
    check.between("waits for a handler", handled["disk_ns"], 0, 5 * 10 ** 6)
    process = faults_of_run(lab, "locks", "4", "2000")
    check.that(process["faults"]["disk_ns"] * 10 <= process["maps"]["lock_ns"],
               f"of {process['maps']['lock_ns']} ns in locks, {process['faults']['disk_ns']} disks'")
    for _ in range(3):
        lab.spawn(["timeout", "20", "sh", "-c", "while :; do :; done"])
    touched = faults_of_run(lab, "touch", "100000")["faults"]
    check.that(touched["disk_ns"] * 20 <= touched["stall_ns"],
               f"of {touched['stall_ns']} ns without a CPU, {touched['disk_ns']} are disks'")
