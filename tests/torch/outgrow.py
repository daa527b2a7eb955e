#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A training program outgrows the memory of its cgroup. At least 10 s before the OOM kill, findings
name the limit and the growth. After the OOM kill, a finding names the killed process. With swap,
the reported waits must equal the kernel's delay accounting and PSI. Prints TAP. Needs root and
Debian's python3-torch."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import delays

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "..", os.environ.get("BUILD", "build"), "faultscope")
TRAINER = os.path.join(HERE, "trainer.py")
PYTHON = "/usr/bin/python3"  # the interpreter for which Debian's torch is built
MIB = 1 << 20
LIMIT, RATE = 640 * MIB, 8
SWAP = 384 * MIB
AHEAD_SECONDS = 10
PATIENCE = 300
# Allowed error of a time. NEAR: as a share of the kernel's value; LITTLE_SECONDS: for values near
# 0.
NEAR, LITTLE_SECONDS = 0.1, 0.03


@contextlib.contextmanager
def cgroup(limit):
    """Makes a cgroup (version 1 or 2) with a memory limit. Yields (cgroup, directory with its PSI
    files), or (None, None) if no cgroup can be made."""
    top = "/sys/fs/cgroup/memory"
    file = "memory.limit_in_bytes"
    if not os.path.exists(f"{top}/{file}"):
        top, file = "/sys/fs/cgroup", "memory.max"
    name = f"faultscope-torch-{os.getpid()}"
    group = f"{top}/{name}"
    stalls = group if top == "/sys/fs/cgroup" else f"/sys/fs/cgroup/unified/{name}"
    try:
        os.mkdir(group)
        with contextlib.suppress(OSError):
            os.makedirs(stalls, exist_ok=True)
        with open(f"{group}/{file}", "w", encoding="ascii") as out:
            out.write(str(limit))
    except OSError:
        with contextlib.suppress(OSError):
            os.rmdir(group)
        yield None, None
        return
    try:
        yield group, stalls
    finally:
        for _ in range(200):
            with contextlib.suppress(OSError):
                for made in {group, stalls}:
                    if os.path.exists(made):
                        os.rmdir(made)
                break
            time.sleep(0.05)


def stalled_by_psi(stalls):
    """Returns the seconds that the cgroup waited for memory according to PSI, or None if there are
    no PSI files."""
    try:
        with open(f"{stalls}/memory.pressure", encoding="ascii") as file:
            return int(file.readline().rpartition("total=")[2]) / 1e6
    except OSError:
        return None


@contextlib.contextmanager
def swap_file(size):
    """Adds a swap file. Yields False if the kernel rejects the swap file, or if the machine already
    has swap."""
    with open("/proc/swaps", encoding="ascii") as file:
        there = len(file.readlines()) > 1
    with tempfile.NamedTemporaryFile(dir="/var/tmp", prefix="faultscope-swap-") as file:
        os.posix_fallocate(file.fileno(), 0, size)
        made = not there and all(
            not subprocess.run([*words, file.name], check=False).returncode
            for words in (["mkswap", "-q"], ["swapon"]))
        try:
            yield made
        finally:
            if made:
                subprocess.run(["swapoff", file.name], check=False)


def train(groups, folder, ready=lambda: None):
    """Runs the trainer in the cgroups under faultscope until it ends. Returns faultscope's exit
    status, its JSON lines and its text output."""
    out, recording = os.path.join(folder, "lines"), os.path.join(folder, "run.fsr")
    enter = "".join(f"echo $$ >{group}/cgroup.procs; " for group in groups if os.path.exists(group))
    # taskset keeps the trainer on one CPU: PSI weights stalls by the busy time of each CPU, which
    # makes the stalls of a migrating task too small.
    words = ["sh", "-c", f'{enter}exec taskset -c 0 "$@"', "sh",
             PYTHON, "-B", TRAINER, str(RATE)]
    with subprocess.Popen([PROGRAM, "run", "--json", "-o", out, "--record", recording, "--", *words],
                          stdout=subprocess.PIPE) as running:
        if running.stdout.readline():
            ready()
        status = running.wait(PATIENCE)
    with open(out, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    text = subprocess.run([PROGRAM, "diagnose", "--replay", recording, "--width", "1000"],
                          capture_output=True, text=True, check=False)
    return status, lines, text.stdout


def of(lines, finding):
    return [line for line in lines if line["type"] == "finding" and line["id"] == finding
            and line["state"] == "open"]


def flaps(lines, finding, until):
    """Returns the times before `until` at which the finding was cleared. While memory grows, the
    finding should not be cleared, so the list should be empty."""
    return [line["t"] for line in lines if line["type"] == "finding" and line["id"] == finding
            and line["state"] == "cleared" and line["t"] < until]


def growth_of(lines, since):
    """Returns the growth of the cgroup's unreclaimable memory in bytes a second. The interval
    begins 15 s before `since` and ends 5 s after it."""
    kept = [(line["t"], line["unreclaimable_bytes"]) for line in lines
            if line["type"] == "cgroup" and line["limit_bytes"] == LIMIT and line["unreclaimable_bytes"]
            and since - 15 <= line["t"] <= since + 5]
    return (kept[-1][1] - kept[0][1]) / (kept[-1][0] - kept[0][0])


def judge(status, lines, text, group):
    """Yields (description, verdict, detail) of each check for the run without swap."""
    yield "it is killed", status == -signal.SIGKILL, str(status)
    fills, kills = of(lines, "P22"), of(lines, "P17")
    yield "the limit is named before", bool(fills) and group.endswith(fills[0]["place"]), \
        str(fills)[:400]
    yield "and the kill, by what limit", bool(kills) and kills[0]["cause"] == "cgroup_memory", \
        str(kills)[:400]
    if not fills or not kills:
        return
    ahead = [line for line in fills if line["forecast"]]
    yield f"the end is told {AHEAD_SECONDS} s ahead", \
        bool(ahead) and kills[0]["t"] - ahead[0]["t"] >= AHEAD_SECONDS, \
        f"told at {[round(line['t'], 1) for line in ahead]} s, killed at {kills[0]['t']:.1f} s"
    if ahead:
        when = ahead[0]["t"] + ahead[0]["forecast"]["seconds"]
        print(f"# told at {ahead[0]['t']:.1f} s for {when:.1f} s, killed at {kills[0]['t']:.1f} s")
        low, high = (ahead[0]["t"] + ahead[0]["forecast"][key] for key in ("low", "high"))
        yield "within its interval, or a looser quarter", \
            min(low, when * 0.75) <= kills[0]["t"] <= max(high, when * 1.25), \
            f"{low:.1f} to {high:.1f}, killed at {kills[0]['t']:.1f}"
        told, grew = ahead[0]["forecast"]["per_second"] / MIB, growth_of(lines, ahead[0]["t"]) / MIB
        yield "with the growth", grew * 0.6 <= told <= grew * 1.6, \
            f"told {told:.1f} MiB/s, grew by {grew:.1f} MiB/s"
    yield "and told until then", not flaps(lines, "P22", kills[0]["t"]), \
        str(flaps(lines, "P22", kills[0]["t"]))
    yield "who grew", "itself" in json.dumps(kills[0]["evidence"]), str(kills[0]["evidence"])
    yield "what to do, in figures", any("needs " in one and "iB more" in one
                                        for one in [one["text"] for one in kills[0]["remedies"]]) \
        and any("the killed process itself grew" in one for one in [one["text"] for one in kills[0]["remedies"]]), str([one["text"] for one in kills[0]["remedies"]])
    yield "diagnose says the same of the recording", "[P17 oom-killed]: python3[" in text, text[:600]


def is_within(value, least, most):
    return least * (1 - NEAR) - LITTLE_SECONDS <= value <= most * (1 + NEAR) + LITTLE_SECONDS


class Kernel:
    """Waits of the trainer according to the kernel, from some seconds after the trainer's start.
    While the trainer loads its libraries, it also waits in system calls, and faultscope does not
    report waits in system calls."""

    SETTLES_SECONDS = 3

    def __init__(self, group, stalls, listener):
        self.group, self.stalls, self.listener = group, stalls, listener
        self.pid = self.before = self.t = None
        self.began = time.monotonic()

    def ready(self):
        time.sleep(self.SETTLES_SECONDS)
        self.t = time.monotonic() - self.began
        with open(f"{self.group}/cgroup.procs", encoding="ascii") as file:
            self.pid = int(file.read())
        if self.listener:
            self.before = self.listener.now(self.pid)

    def delays(self):
        """Returns {kind of delay: seconds} some time after the trainer's end, or {} if unknown."""
        told = self.listener.of.get(self.pid) if self.before else None
        if not told:
            return {}
        return {name: (told[name] - self.before[name]) / 1e9 for name in told}


def waited(lines, kernel):
    """Returns two numbers of seconds: the time that threads spent in reclaim, and the time that
    faults waited for disk I/O. Both begin at the time kernel.t."""
    mine = [line for line in lines if line["type"] == "process" and line["pid"] == kernel.pid]
    first, last = [line for line in mine if line["t"] <= kernel.t][-1], mine[-1]
    return ((last["memory"]["reclaim_ns"] - first["memory"]["reclaim_ns"]) / 1e9,
            (last["faults"]["disk_ns"] - first["faults"]["disk_ns"]) / 1e9)


def judge_waits(lines, kernel):
    """Compares the waits that faultscope reports with delay accounting (of threads) and PSI (of the
    cgroup)."""
    reclaim, disk = waited(lines, kernel)
    told, psi = kernel.delays(), stalled_by_psi(kernel.stalls)
    print(f"# waited in {lines[-1]['t']:.0f} s: reclaim {reclaim:.3f} s, disks {disk:.3f} s; the"
          f" kernel: {', '.join(f'{name} {seconds:.3f} s' for name, seconds in told.items())};"
          f" PSI {psi}")
    if not told:
        yield "how long it waited, by delay accounting", None, "the kernel does not account it"
    else:
        freed, read = told["freepages"], told["blkio"]
        yield "how long it reclaimed is what delay accounting says", \
            is_within(reclaim, freed, freed), f"{reclaim:.3f} s, {freed:.3f} s"
        # In cgroup version 1, reclaim also waits for writeback. Delay accounting counts such a wait
        # both as reclaim and as disk I/O.
        yield "how long it waited for memory and disks, too", \
            is_within(reclaim + disk, max(freed, read), freed + read), \
            f"{reclaim:.3f} s and {disk:.3f} s, {freed:.3f} s and {read:.3f} s"
    # PSI counts the wait for a read as memory stall only if the page belonged to the working set.
    if psi is not None:
        yield "PSI says as much: all of reclaim, and some of the reads", \
            is_within(psi, reclaim, reclaim + disk), f"{psi:.3f} s, {reclaim:.3f} s, {disk:.3f} s"


def judge_swapped(status, lines, kernel):
    """Yields the verdicts for the run with swap. faultscope must report the end of the trainer, and
    the waits must equal those of the kernel."""
    yield "it is killed", status == -signal.SIGKILL, str(status)
    fills, ends, kills = of(lines, "P22"), of(lines, "P20"), of(lines, "P17")
    if not kills:
        yield "the kill is told", False, str(lines)[-400:]
        return
    died = kills[0]["t"]
    yield f"the limit is named {AHEAD_SECONDS} s before, with what follows", \
        bool(fills) and kernel.group.endswith(fills[0]["place"]) and "then it swaps" in fills[0]["title"] \
        and died - fills[0]["t"] >= AHEAD_SECONDS, str(fills)[:400]
    yield "and told until the end", not flaps(lines, "P22", died), str(flaps(lines, "P22", died))
    yield "no file is taken for read at random", not of(lines, "P14"), str(of(lines, "P14"))[:400]
    told = [round(one["t"], 1) for one in ends]
    print(f"# the end of swap told at {told} s, killed at {died:.1f} s")
    yield f"the end of swap is told {AHEAD_SECONDS} s ahead", \
        bool(ends) and died - ends[0]["t"] >= AHEAD_SECONDS, str(ends)[:400]
    yield from judge_waits(lines, kernel)


def stories():
    """Yields the verdicts of the run without swap and of the run with swap. If a run is impossible,
    yields the reason."""
    with tempfile.TemporaryDirectory() as folder, cgroup(LIMIT) as (group, stalls):
        if not group:
            yield "a trainer in a cgroup", None, "no memory cgroup can be made"
            return
        for said, *rest in judge(*train({group, stalls}, folder), group):
            yield f"a trainer in a cgroup: {said}", *rest
    with tempfile.TemporaryDirectory() as folder, swap_file(SWAP) as swap, \
            cgroup(LIMIT) as (group, stalls), delays.delays() as listener:
        if not swap:
            yield "a trainer in a cgroup, with swap", None, "no swap, or no other, can be had"
            return
        kernel = Kernel(group, stalls, listener)
        status, lines, _ = train({group, stalls}, folder, kernel.ready)
        for said, *rest in judge_swapped(status, lines, kernel):
            yield f"a trainer in a cgroup, with swap: {said}", *rest


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("1..0 # SKIP no python3-torch")
        return 0
    n = failed = 0
    for description, verdict, detail in stories():
        n += 1
        if verdict is None:
            print(f"ok {n} - {description} # SKIP {detail}")
            continue
        failed += not verdict
        print(f"{'' if verdict else 'not '}ok {n} - {description}", flush=True)
        if not verdict:
            print("# " + detail.replace("\n", "\n# "))
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
