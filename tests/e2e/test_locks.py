# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of waits for mmap_lock, held by the process itself or by a process that reads its maps."""

import contextlib
import json
import os
import re
from collections import defaultdict
from pathlib import Path

from harness import MOST_TRIES, Lines, Skip, captures, evidence_texts, live, quiet

SECONDS = "4"


def told(lines, name, pid):
    return [line for line in lines.of("finding", pid, id=name, state="open")]


def evidence_of(line, field):
    return evidence_texts(line).get(field, "")


def waits_of(lines, pid):
    """Returns a text with the waits of a process, for the message of a failed check."""
    maps = lines.last(pid)["maps"]
    rows = {(line["class"], line["holder_comm"], line["holder_pid"]): line["total_ns"]
            for line in lines.of("slow_faults", pid)}
    return f"{[line['id'] for line in lines.of('finding')]}: {maps['lock_waits']} waits of " \
           f"{maps['lock_ns']} ns, slow ones {rows}"


def expect_convoy(check, lines, truth):
    """Checks that P12 mmap-lock-contention is reported with the calls that held mmap_lock, and that
    P13 mmap-lock-other-process is not reported."""
    pid = truth["pid"]
    findings = told(lines, "P12", pid)
    if not check.that(findings, waits_of(lines, pid)):
        return
    check.equal("P13", told(lines, "P13", pid), [])
    held = lines.of("slow_faults", pid, **{"class": "holder"})
    check.that(held and held[-1]["total_ns"] > 0, "nobody is told to have had it")
    check.that(evidence_of(findings[-1], "held mmap_lock while others waited").startswith("locks["),
               f"evidence {findings[-1]['evidence']}")
    maps = lines.last(pid)["maps"]
    check.that(maps["lock_others_ns"] * 4 < maps["lock_ns"], f"others: {maps}")
    for line in lines.of("slow_faults", pid):
        parts = sum(line[part] for part in ("reclaim_ns", "compaction_ns", "lock_ns", "disk_ns"))
        check.that(parts <= line["total_ns"], f"more waits than time: {line}")


@quiet
@captures(expect_convoy)
def test_threads_wait_for_each_other(lab):
    for _ in range(MOST_TRIES):  # on a busy machine, threads wait for a CPU instead of the lock
        capture = lab.run("locks", "4", "0", "--seconds", SECONDS)
        if told(Lines(capture.text), "P12", capture.truth["pid"]):
            break
    return capture


def expect_reader(check, lines, truth):
    """Expects that P13 mmap-lock-other-process names the process that reads the maps. Since about
    Linux 7.0, reading the maps takes only per-mapping locks, so P13 must not be reported."""
    if int(truth["release"].split(".")[0]) >= 7:
        check.equal("P13", told(lines, "P13", truth["pid"]), [])
        return
    findings = told(lines, "P13", truth["pid"])
    if not check.that(findings, waits_of(lines, truth["pid"])):
        return
    check.equal("who", evidence_of(findings[-1], "held by"), f"readmaps[{truth['reader']}]")
    check.equal("P12", told(lines, "P12", truth["pid"]), [])
    maps = lines.last(truth["pid"])["maps"]
    check.that(maps["lock_ns"] / 2 < maps["lock_others_ns"] <= maps["lock_ns"], f"others: {maps}")
    waits = [line for line in lines.of("slow_faults", truth["pid"], **{"class": "call"})
             if line["holder_pid"] == truth["reader"]]
    check.that(waits and not waits[-1]["holder_writes"], "no wait of a call for the reader")


@captures(expect_reader)
def test_process_whose_map_is_read(lab):
    work = lab.work("locks", "1", "0", "--seconds", "8", "--beside-mib", "192", "--wait", "--hold")
    reader = lab.work("readmaps", str(work.pid), "7", "--wait", "--hold")
    watch = lab.watch("-p", str(work.pid), "1", "5")
    work.go()
    reader.go()
    capture = watch.finished()
    times = reader.truth()["times"]
    assert times > 5, f"read {times} times"
    capture.truth = {"pid": work.pid, "reader": reader.pid, "release": lab.release}
    work.truth()
    reader.end()
    work.end()
    return capture


@live
def test_stacks_of_who_runs_already(check, lab):
    """With -p, the frames of stacks also have names from files that the process mapped before the
    watch began."""
    work = lab.work("locks", "4", "0", "--seconds", "3", "--wait", "--hold")
    watch = lab.watch("-p", str(work.pid), "1", "60")
    work.go()
    work.truth()
    lines = Lines(watch.stop().text)
    stacks = [line["stack"] for line in lines.of("slow_faults", work.pid)]
    check.that(any("(" in stack[0] for stack in stacks if stack), f"no name: {stacks[:3]}")
    check.equal("frames without a name", [stack for stack in stacks if "[unknown]" in stack[:1]],
                [])
    work.end()


TRACING = Path("/sys/kernel/tracing")
CONTENTION = re.compile(r"-(\d+) +\[.* (\d+\.\d+): contention_(begin|end): (\S+) \((.*)\)")
LEAST_WAIT_S = 10e-6  # faultscope counts no shorter wait for mmap_lock


@contextlib.contextmanager
def kernel_trace_of_waits(pid):
    """Yields a function that returns the kernel's own trace of contended locks, for the threads of
    a process."""
    if not (TRACING / "events/lock/contention_begin").is_dir():
        raise Skip("the kernel has no tracepoints of contended locks (5.19), or no tracefs")
    place = TRACING / f"instances/faultscope_test_{os.getpid()}"
    place.mkdir()
    try:
        for name, text in (("trace_clock", "mono"), ("buffer_size_kb", "16384"),
                           ("options/event-fork", "1"), ("set_event_pid", str(pid)),
                           ("events/lock/enable", "1")):
            (place / name).write_text(text, encoding="ascii")
        yield (place / "trace").read_text
    finally:
        place.rmdir()


def waits_in(trace):
    """Returns the durations in s of the sleeps for the lock that threads waited for longest: their
    mmap_lock. Other locks of the trace are spinlocks, and locks of the mappings' files."""
    begun, waits = {}, defaultdict(list)
    for tid, at, event, lock, how in CONTENTION.findall(trace):
        if event == "begin" and "SPIN" not in how:
            begun[tid, lock] = float(at)
        elif event == "end" and (tid, lock) in begun:
            waits[lock].append(float(at) - begun.pop((tid, lock)))
    longest = max(waits.values(), key=sum, default=[])
    return [wait for wait in longest if wait >= LEAST_WAIT_S]


@live
def test_waits_agree_with_the_kernel(check, lab):
    """The waits for mmap_lock are those that the kernel's own trace of contended locks shows."""
    work = lab.work("locks", "4", "0", "--seconds", "2", "--wait", "--hold")
    with kernel_trace_of_waits(work.pid) as trace:
        watch = lab.watch("-p", str(work.pid), "--probe", "mmap_lock=tp_btf", "1", "60")
        work.go()
        work.truth()
        waits = waits_in(trace())
        lines = Lines(watch.stop().text)
        work.end()
    maps = lines.last(work.pid)["maps"]
    if not check.that(waits, "no thread waited"):
        return
    check.near("number of waits", maps["lock_waits"], len(waits), 0.1)
    check.near("time of waits", maps["lock_ns"], sum(waits) * 1e9, 0.1)


@live
def test_holders_with_both_attach_types(check, lab):
    """Calls that held mmap_lock while other threads waited are reported with their stacks, whether
    faultscope sees each call that takes mmap_lock, or only those that wait."""
    for mechanism in ("raw_tp", "tp_btf"):
        out = lab.dir / f"{mechanism}.jsonl"
        ran = lab.faultscope("run", "--json", "--probe", f"mmap_lock={mechanism}", "-o", out, "--",
                             lab.workload("locks"), "4", "0", "--seconds", "2")
        lines, pid = Lines(lab.read(out)), json.loads(ran.out)["pid"]
        if lines.all[0]["probes"]["mmap_lock"] != mechanism:
            continue
        held = lines.of("slow_faults", pid, **{"class": "holder"})
        calls = {line["stack"][0].split(" ")[0] for line in held if line["stack"]}
        check.that(calls & {"mmap", "munmap"}, f"{mechanism}: held by {calls}")
        check.equal(f"{mechanism}: waits in the records of holders",
                    [line for line in held if line["lock_ns"]], [])
