# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that P17 oom-killed names the process that grew, and the cgroup whose limit was reached."""

import contextlib
import os
import signal

from harness import check_form, idle, live, remedy_texts, until
from test_pressure import MIB, in_group, memory_cgroup, opened

LIMIT = 96


def holds(lab, pid, mib):
    """Waits until a process has `mib` MiB resident."""
    def resident():
        with contextlib.suppress(OSError):
            return int(lab.read(f"/proc/{pid}/statm").split()[1]) * 4096 >= mib * MIB
        return False
    until(resident, f"{mib} MiB in {pid}")


@contextlib.contextmanager
def below(group, name):
    place = group / name
    place.mkdir()
    try:
        yield place
    finally:
        def gone():
            with contextlib.suppress(OSError):
                place.rmdir()
            return not place.exists()
        until(gone, "the cgroup's end")


def kill_of(check, watch, pid):
    """Returns the finding P17 oom-killed of a process and the record of the OOM kill. Returns
    (None, None) if P17 is not reported for the process."""
    lines = check_form(check, watch.stop())
    kills = opened(lines, "P17", pid=pid)
    if not check.that(kills, f"findings {[(f['id'], f['pid']) for f in lines.of('finding')]}"):
        return None, None
    return kills[0], lines.of("oom", pid)[0]


def advice(finding):
    return " ".join(remedy_texts(finding))


def rests_then_is_killed(check, lab, watch, rests_in, grows_in, beside=None):
    """Starts a large idle process, and another process that grows until the idle process is
    OOM-killed. Returns the finding, the OOM record, and both processes.

    `beside` is called with the idle process.
    """
    idle = in_group(lab, rests_in, "eat", "anon", "55", "--hold")
    holds(lab, idle.pid, 55)
    if beside:
        beside(idle)
    lab.call("sleep", "6")
    sibling = in_group(lab, grows_in, "eat", "anon", "54", "--rate", "6", "--hold")
    idle.wait(60)
    finding, oom = kill_of(check, watch, idle.pid)
    sibling.send_signal(signal.SIGKILL)
    sibling.wait(10)
    return finding, oom, idle, sibling


def is_right(check, finding, oom, group, grower):
    check.that(f"[{grower}] grew, not the killed process" in advice(finding), advice(finding))
    check.equal("whose limit", oom["limit_cgroup"].rpartition("/")[2], group.name)
    check.that("faultscope[" not in advice(finding), advice(finding))


@idle
@live
def test_sibling_grows(check, lab):
    """The larger, idle process is killed, although its sibling grew. The cgroup was created after
    faultscope had listed all cgroups."""
    watch = lab.watch("0.5")
    with memory_cgroup(lab, LIMIT * MIB) as group:
        finding, oom, _, sibling = rests_then_is_killed(check, lab, watch, group, group)
        if finding:
            is_right(check, finding, oom, group, sibling.pid)


@idle
@live
def test_nested_limit(check, lab):
    """The limit that was reached belongs to the parent cgroup, whose other child grew."""
    watch = lab.watch("0.5")
    with memory_cgroup(lab, LIMIT * MIB) as group, below(group, "a") as a, below(group, "b") as b:
        alone = []
        finding, oom, idle, sibling = rests_then_is_killed(
            check, lab, watch, a, b,
            lambda idle: alone.append(lab.watch("-p", str(idle.pid), "0.5")))
        if not finding:
            return
        is_right(check, finding, oom, group, sibling.pid)
        check.that(f"memory.max of /{group.name}, above its cgroup, reached" in finding["title"],
                   finding["title"])
        check.that(oom["cgroup"].endswith("/a"), f"of the process: {oom['cgroup']}")
        told = opened(check_form(check, alone[0].finished()), "P17", pid=idle.pid)
        if check.that(told, "no P17 of one that is watched alone"):
            check.that(f"/{group.name}/memory." in told[0]["set_by"],
                       f"the note speaks of another limit: {told[0]['set_by']!r}")
            check.that("the killed process itself grew" not in advice(told[0]), advice(told[0]))


@live
def test_files_left_in_memory(check, lab):
    """Half of the cgroup's memory limit is filled by a tmpfs file. The process that wrote this file
    has ended. P17 oom-killed must not report a leak of the killed process."""
    watch = lab.watch("0.5")
    place = f"/dev/shm/faultscope-{os.getpid()}"
    try:
        with memory_cgroup(lab, 48 * MIB) as group:
            lab.call("sh", "-c", f"echo $$ >{group}/cgroup.procs; head -c {30 * MIB} /dev/zero"
                                 f" >{place}")
            lab.call("sleep", "2")
            victim = in_group(lab, group, "eat", "anon", "40", "--rate", "8")
            victim.wait(60)
            finding, _ = kill_of(check, watch, victim.pid)
            os.unlink(place)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(place)
    if finding:
        text = advice(finding)
        check.that("are tmpfs files that no process maps" in text, text)
        check.that("the killed process itself grew" not in text and "loss.item" not in text, text)
        check.that(any(one["field"].startswith("shared memory") and one["value"] == 30 * MIB
                       for one in finding["evidence"]), f"{finding['evidence']}")


@idle
@live
def test_victim_grows(check, lab):
    """The killed process itself grew. The finding must not suggest more than twice the limit, and
    must say that a higher limit only delays the kill."""
    watch = lab.watch("0.5")
    with memory_cgroup(lab, LIMIT * MIB) as group:
        idle = in_group(lab, group, "eat", "anon", "20", "--hold")
        holds(lab, idle.pid, 20)
        victim = in_group(lab, group, "eat", "anon", "200", "--rate", "10")
        victim.wait(60)
        finding, oom = kill_of(check, watch, victim.pid)
        idle.send_signal(signal.SIGKILL)
        idle.wait(10)
        if not finding:
            return
        check.that("the killed process itself grew" in advice(finding), advice(finding))
        check.that("more memory only delays the failure: 96.0 MiB more in memory.max" in
                   advice(finding), advice(finding))
        check.equal("whose limit", oom["limit_cgroup"].rpartition("/")[2], group.name)
