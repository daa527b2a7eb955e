#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A training that outgrows the memory of its cgroup: the verdict names the limit, the growth and the
end, 10 s ahead at least, and who it was when it is killed. Once without swap, once with some, where
how long it stalls is compared with what the kernel says. TAP. Needs root and Debian's
python3-torch.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "..", os.environ.get("BUILD", "build"), "faultscope")
TRAINER = os.path.join(HERE, "trainer.py")
PYTHON = "/usr/bin/python3"  # Debian's, which Debian's torch is built for
MIB = 1 << 20
LIMIT, RATE = 640 * MIB, 8
SWAP = 384 * MIB
AHEAD_SECONDS = 10
PATIENCE = 300


@contextlib.contextmanager
def cgroup(limit):
    """A group of either version with a limit; None where none can be made."""
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
    """Seconds that the group waited for memory by the kernel's account; None where it has none."""
    try:
        with open(f"{stalls}/memory.pressure", encoding="ascii") as file:
            return int(file.readline().rpartition("total=")[2]) / 1e6
    except OSError:
        return None


@contextlib.contextmanager
def swap_file(size):
    """More swap, in a file; False where that is refused, or there is some already."""
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


def train(groups, folder):
    """Runs the trainer in the groups to its end, under faultscope; lines, and the text of it."""
    out, recording = os.path.join(folder, "lines"), os.path.join(folder, "run.fsr")
    enter = "".join(f"echo $$ >{group}/cgroup.procs; " for group in groups if os.path.exists(group))
    # on one CPU: of a task that changes them PSI takes less for stalled than it was, weighing each
    # CPU's share by how long it was busy
    words = ["sh", "-c", f'{enter}exec taskset -c 0 "$@"', "sh",
             PYTHON, "-B", TRAINER, str(RATE)]
    ran = subprocess.run([PROGRAM, "run", "--json", "-o", out, "--record", recording, "--", *words],
                         stdout=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    with open(out, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    text = subprocess.run([PROGRAM, "diagnose", "--replay", recording, "--width", "1000"],
                          capture_output=True, text=True, check=False)
    return ran.returncode, lines, text.stdout


def of(lines, finding):
    return [line for line in lines if line["type"] == "finding" and line["id"] == finding
            and line["state"] == "open"]


def growth_of(lines, since):
    """Bytes a second that the group kept more of, in the 20 s around a time."""
    kept = [(line["t"], line["kept_bytes"]) for line in lines
            if line["type"] == "cgroup" and line["limit_bytes"] == LIMIT and line["kept_bytes"]
            and since - 15 <= line["t"] <= since + 5]
    return (kept[-1][1] - kept[0][1]) / (kept[-1][0] - kept[0][0])


def judge(status, lines, text, group):
    """Yields (description, verdict, detail)."""
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
    yield "who grew", "itself" in json.dumps(kills[0]["evidence"]), str(kills[0]["evidence"])
    yield "what to do, in figures", any("needs " in one and "iB more" in one
                                        for one in kills[0]["remedy"]), str(kills[0]["remedy"])
    yield "diagnose says the same of the recording", "[P17]: python3[" in text, text[:600]


def judge_swapped(status, lines, group, kernels):
    """The same with swap: its end is told, and how long it stalled is what the kernel says."""
    yield "it is killed", status == -signal.SIGKILL, str(status)
    fills, ends, kills = of(lines, "P22"), of(lines, "P20"), of(lines, "P17")
    if not kills:
        yield "the kill is told", False, str(lines)[-400:]
        return
    died = kills[0]["t"]
    yield f"the limit is named {AHEAD_SECONDS} s before, with what follows", \
        bool(fills) and group.endswith(fills[0]["place"]) and "then it swaps" in fills[0]["title"] \
        and died - fills[0]["t"] >= AHEAD_SECONDS, str(fills)[:400]
    told = [round(one["t"], 1) for one in ends]
    print(f"# the end of swap told at {told} s, killed at {died:.1f} s")
    yield f"the end of swap is told {AHEAD_SECONDS} s ahead", \
        bool(ends) and died - ends[0]["t"] >= AHEAD_SECONDS, str(ends)[:400]
    if kernels is None:
        return
    victim = kills[0]["pid"]
    last = [line for line in lines if line["type"] == "process" and line["pid"] == victim][-1]
    ours = (last["memory"]["reclaim_ns"] + last["faults"]["disk_ns"]) / 1e9
    print(f"# waited for memory {ours:.2f} s in {last['t']:.0f} s, by PSI {kernels:.2f} s")
    yield "how long it stalled is what PSI says, within a factor of 2", \
        kernels / 2 <= ours <= kernels * 2, f"{ours:.2f} s, {kernels:.2f} s"


def stories():
    """Yields the verdicts of both, or why there are none."""
    with tempfile.TemporaryDirectory() as folder, cgroup(LIMIT) as (group, stalls):
        if not group:
            yield "a trainer in a cgroup", None, "no memory cgroup can be made"
            return
        for said, *rest in judge(*train({group, stalls}, folder), group):
            yield f"a trainer in a cgroup: {said}", *rest
    with tempfile.TemporaryDirectory() as folder, swap_file(SWAP) as swap, \
            cgroup(LIMIT) as (group, stalls):
        if not swap:
            yield "a trainer in a cgroup, with swap", None, "no swap, or no other, can be had"
            return
        status, lines, _ = train({group, stalls}, folder)
        for said, *rest in judge_swapped(status, lines, group, stalled_by_psi(stalls)):
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
