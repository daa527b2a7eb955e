#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A training that outgrows the memory of its cgroup: the verdict names the limit, the growth and the
end, 10 s ahead at least, and who it was when it is killed. TAP. Needs root and Debian's python3-torch.
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
AHEAD_SECONDS = 10
PATIENCE = 300


@contextlib.contextmanager
def cgroup(limit):
    """A group of either version with a limit; None where none can be made."""
    top = "/sys/fs/cgroup/memory"
    file = "memory.limit_in_bytes"
    if not os.path.exists(f"{top}/{file}"):
        top, file = "/sys/fs/cgroup", "memory.max"
    group = f"{top}/faultscope-torch-{os.getpid()}"
    try:
        os.mkdir(group)
        with open(f"{group}/{file}", "w", encoding="ascii") as out:
            out.write(str(limit))
    except OSError:
        with contextlib.suppress(OSError):
            os.rmdir(group)
        yield None
        return
    try:
        yield group
    finally:
        for _ in range(200):
            with contextlib.suppress(OSError):
                os.rmdir(group)
                break
            time.sleep(0.05)


def train(group, folder):
    """Runs the trainer in the group to its end, under faultscope; lines, and the text of it."""
    out, recording = os.path.join(folder, "lines"), os.path.join(folder, "run.fsr")
    words = ["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh",
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


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("1..0 # SKIP no python3-torch")
        return 0
    n = failed = 0
    with tempfile.TemporaryDirectory() as folder, cgroup(LIMIT) as group:
        if not group:
            print("1..0 # SKIP no memory cgroup can be made")
            return 0
        for description, verdict, detail in judge(*train(group, folder), group):
            n += 1
            failed += not verdict
            print(f"{'' if verdict else 'not '}ok {n} - a trainer in a cgroup: {description}", flush=True)
            if not verdict:
                print("# " + detail.replace("\n", "\n# "))
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
