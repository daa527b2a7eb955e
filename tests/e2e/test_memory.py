# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `memory`: for programs whose functions keep known amounts of memory, `memory` estimates
these amounts. The number at the end of a function's name is what it keeps, in MiB."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import (FAULTSCOPE, PATIENCE, Lines, Skip, aside, complaint, live, until,
                     workload_path)
from test_agreement import sum_of_pprof

MIB = 1 << 20
# An interval of 95 % is 1.96 standard errors wide on each side. A test compares about 100 values,
# and must almost never fail by chance.
WIDER = 4.5 / 1.96
KNOWN = ("touched", "copied", "inherited")


class Memory:
    """A `faultscope memory` in the background that watches one program."""

    def __init__(self, lab, *words):
        self.work = lab.work(*words, "--wait", "--hold")
        self.out, self.recording = lab.new_output()
        self.process = lab.spawn([FAULTSCOPE, "memory", "--json", "-o", self.out, "--record",
                                  self.recording, "-p", self.work.pid, "-d", PATIENCE])
        self.errors = lab.errors
        until(self.lines, "the first values")
        self.work.go()
        self.truth = self.work.truth()

    def lines(self):
        text = self.out.read_text() if self.out.exists() else ""
        return [line for line in Lines(text[:text.rfind("\n") + 1]).all
                if line["type"] == "memory"]

    def last(self, pids):
        """Ends the watch. Returns the last line of each process, from a reading that began after
        the truth was printed."""
        begun = time.time()
        for pid in pids:
            until(lambda pid=pid: [line for line in self.lines() if line["pid"] == pid and
                                   written(line) > begun], f"values of {pid}")
        self.process.send_signal(signal.SIGINT)
        self.errors.append(self.process.communicate(timeout=PATIENCE)[1])
        self.work.end()
        return {line["pid"]: line for line in self.lines()}


def written(line):
    """Returns the time of a line in seconds since 1970."""
    stamp = line["time"]
    return time.mktime(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone + \
        float(stamp[19:-1])


def amount_of(rows):
    """Returns (bytes, half of the interval) of rows."""
    return (sum(row["bytes"] for row in rows),
            sum(max(row["bytes"] - row["low"], row["high"] - row["bytes"]) for row in rows))


def sum_of(line, name, how=KNOWN):
    """Returns the amount of all rows with a function whose name contains `name`; "" stands for all
    rows."""
    return amount_of([row for row in line["holders"] if row["by"] in how and
                      (not name or any(name in frame for frame in row["stack"]))])


def by_kind(line, how, kind="anonymous"):
    """Returns the amount of all rows with memory of a kind and this `by`."""
    return amount_of([row for row in line["holders"]
                      if row["by"] == how and row["kind"] == kind])


def check_amount(check, what, got, mib):
    amount, half = got
    if mib:
        check.that(abs(amount - mib * MIB) <= half * WIDER + MIB / 4,
                   f"{what}: {amount / MIB:.1f} MiB +- {half / MIB:.1f}, but holds {mib}")
    else:
        check.that(amount < 1.5 * MIB, f"{what}: {amount / MIB:.1f} MiB, but holds nothing")


def check_sum(check, line):
    """The rows add up to the kernel's totals, and nothing was lost."""
    total = line["anon_bytes"] + line["file_bytes"] + line["shmem_bytes"]
    rows = sum(row["bytes"] for row in line["holders"])
    check.that(abs(rows - total) <= total / 100, f"rows {rows}, but the kernel counts {total}")
    check.equal("lost", line["lost"], 0)
    for row in line["holders"]:
        check.that(row["low"] <= row["bytes"] <= row["high"], f"interval of {row}")
    check.equal("schema", complaint(line), "")


def fullest(lines):
    """Returns the last reading with nearly the most memory: at its end, the program holds all of its
    memory for a while. Before, it may hold more for a short time."""
    most = max(line["anon_bytes"] for line in lines)
    return [line for line in lines if line["anon_bytes"] > 0.9 * most][-1]


def check_holds(check, lab, *words, unseen="anonymous"):
    """Runs a program of tests/workloads whose truth says what its functions hold."""
    memory = Memory(lab, *words)
    line = memory.last([memory.work.pid])[memory.work.pid]
    check_sum(check, line)
    for name, mib in memory.truth["holds"].items():
        if name != "unseen_":
            check_amount(check, name, sum_of(line, name), mib)
    check_amount(check, "without a fault", by_kind(line, "no_fault", unseen),
                 memory.truth["holds"].get("unseen_", 0))
    return line


@live
def test_holders_of_functions(check, lab):
    check_holds(check, lab, "hold")


@live
def test_holders_in_huge_pages(check, lab):
    line = check_holds(check, lab, "hold", "huge")
    check.that(sum_of(line, "hold_mapping_120")[1] < 6 * MIB, "huge pages are not counted exactly")


@live
def test_holders_in_collapsed_pages(check, lab):
    """Huge pages that are made of small pages, or split into them, keep their owners."""
    check_holds(check, lab, "hold_huge", "huge")


@live
def test_holders_of_kinds(check, lab):
    """Pages that mremap() moved or that an allocator reuses keep their owner, and pages without a fault
    have none."""
    check_holds(check, lab, "hold_kinds")


def check_family(check, lab, mode, want):
    """Runs hold_fork. `want` has the amounts of parent and child, by name and by how."""
    memory = Memory(lab, "hold_fork", mode)
    pids = {"parent": memory.work.pid, "child": memory.truth["child"]}
    lines = memory.last([pids[who] for who in want])
    for who, amounts in want.items():
        check_sum(check, lines[pids[who]])
        for (how, name), mib in amounts.items():
            check_amount(check, f"{who} {how} {name}", sum_of(lines[pids[who]], name, (how,)), mib)
    return lines, pids


@live
def test_holders_of_forked_child(check, lab):
    """A child inherits owners, and holds the copies that its writes made."""
    parent = {("touched", "hold_first"): 60, ("touched", "hold_second"): 40,
              ("copied", "hold_"): 0, ("inherited", "hold_"): 0}
    child = {("inherited", "hold_first"): 40, ("inherited", "hold_second"): 40,
             ("copied", "copy_third"): 20, ("touched", "hold_"): 0}
    check_family(check, lab, "child", {"parent": parent, "child": child})


@live
def test_holders_of_moved_memory(check, lab):
    """Other memory at an old address has no owner, and a child that was forked before the move
    still inherits from there."""
    parent = {("touched", "hold_first"): 60, ("touched", "hold_second"): 40, ("no_fault", ""): 40}
    child = {("inherited", "hold_first"): 60, ("inherited", "hold_second"): 40,
             ("touched", "hold_"): 0}
    check_family(check, lab, "moved", {"parent": parent, "child": child})


@live
def test_holders_of_grandchild(check, lab):
    """A grandchild inherits from both of its ancestors."""
    parent = {("touched", "hold_first"): 60}
    child = {("inherited", "hold_first"): 40, ("copied", "copy_third"): 20}
    lines, pids = check_family(check, lab, "grand", {"parent": parent, "child": child})
    other = [line for pid, line in lines.items() if pid not in pids.values()]
    check.equal("grandchildren", len(other), 1)
    for (how, name), mib in {("inherited", "hold_first"): 20, ("inherited", "copy_third"): 20,
                             ("inherited", "hold_second"): 40,
                             ("copied", "copy_third"): 20}.items():
        check_amount(check, f"grandchild {how} {name}", sum_of(other[0], name, (how,)), mib)


@live
def test_holders_written_after_child_has_gone(check, lab):
    """A write to a page that nobody shares any more makes no copy."""
    want = {("touched", "hold_first"): 60, ("touched", "hold_second"): 40,
            ("copied", "write_after"): 0, ("touched", "write_after"): 0}
    check_family(check, lab, "gone", {"parent": want})


@live
def test_holders_shared_by_processes(check, lab):
    parent = {("touched", "share_30"): 30}
    child = {("touched", "read_shared"): 30, ("inherited", "hold_first"): 60}
    check_family(check, lab, "shared", {"parent": parent, "child": child})


@live
def test_holders_of_command(check, lab):
    """`memory -- CMD` reads the command until its end, and shows its largest reading."""
    program = [workload_path("hold"), "--sleep-ms", "3000"]
    out, recording = lab.new_output()
    ran = lab.faultscope("memory", "--json", "-o", out, "--record", recording, "--", *program)
    lines = [line for line in Lines(out.read_text()).all if line["type"] == "memory"]
    most = fullest(lines)
    check_sum(check, most)
    for name, mib in json.loads(ran.out)["holds"].items():
        check_amount(check, name, sum_of(most, name), mib)
    text = " ".join(lab.faultscope("memory", "--replay", recording).out.split())
    check.that("hold_mapping_120 (hold" in text, f"no function in {text}")
    check.that("it has ended: largest reading" in text, f"no end in {text}")


def total_of_folded(text):
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())


@live
def test_holders_in_profiles(check, lab):
    """Each format of a profile has the memory of all rows, with the stacks that hold it."""
    out, recording = lab.new_output()
    lab.faultscope("memory", "--json", "-o", out, "--record", recording, "--",
                   workload_path("hold"), "--sleep-ms", "1000")
    lines = [line for line in Lines(out.read_text()).all if line["type"] == "memory"]
    most = max(lines, key=lambda line: line["anon_bytes"] + line["file_bytes"] + line["shmem_bytes"])
    total = sum(row["bytes"] + row["swapped_bytes"] for row in most["holders"])
    folded = lab.faultscope("memory", "--format", "folded", "--replay", recording).out
    check.equal("folded", total_of_folded(folded), total)
    check.that(re.search(r"^hold;.*;hold_mapping_120 .*;\[anonymous\] \d+$", folded, re.M), folded)
    check.equal("folded, of report",
                total_of_folded(lab.faultscope("report", "--format", "folded-memory",
                                               recording).out), total)
    profiles = json.loads(lab.faultscope("report", "--format", "speedscope", recording).out)
    first = profiles["profiles"][profiles["activeProfileIndex"]]
    check.equal("speedscope", (first["name"], first["unit"], first["endValue"]),
                ("resident and swapped memory", "bytes", total))
    profile = lab.dir / "memory.pb.gz"
    lab.faultscope("report", recording, "-o", profile)
    data = gzip.decompress(profile.read_bytes())
    check.equal("pprof", sum_of_pprof(data, 5), total)
    check.that(b"inuse_space" in data and b"grown_space" in data, "no sample types of memory")
    page = lab.dir / "memory.html"
    lab.faultscope("report", recording, "-o", page)
    table = page.read_text().split('id="memory"')[1].split("</section>")[0]
    check.that("hold_mapping_120" in table and "95 % interval" in table, table[:400])
    text = lab.faultscope("report", "--format", "text", recording).out
    check.that("hold_mapping_120" in text, text)


@live
def test_holders_of_python_command_are_complete(check, lab):
    """The kernel skips a BPF program for faults that its own reads of user memory cause. Such faults
    add no page, so they are no loss. Linux 7.0 and later cannot tell them from losses."""
    if int(os.uname().release.split(".", maxsplit=1)[0]) >= 7:
        raise Skip("from Linux 7.0 on, all skipped runs are counted")
    ran = lab.faultscope("memory", "--json", "-o", lab.dir / "out", "--", sys.executable, "-c",
                         "import json, time; kept = bytearray(b'x' * (20 << 20)); time.sleep(1)")
    check.equal(f"status: {ran.err}", ran.returncode, 0)
    end = Lines((lab.dir / "out").read_text()).all[-1]
    check.equal("incomplete", end["incomplete"], [])


@live
def test_holders_after_several_execs(check, lab):
    """The command has other memory after each exec, also if it calls exec before the first
    reading."""
    hold = " ".join(["exec", str(workload_path("hold")), "--sleep-ms", "2000"])
    ran = lab.faultscope("memory", "--json", "-o", lab.dir / "out", "--", "sh", "-c",
                         f"exec sh -c 'exec sh -c \"{hold}\"'")
    lines = [line for line in Lines((lab.dir / "out").read_text()).all if line["type"] == "memory"]
    check.that(lines, f"no reading: {ran.err}")
    most = fullest(lines)
    check_sum(check, most)
    for name, mib in json.loads(ran.out)["holds"].items():
        check_amount(check, name, sum_of(most, name), mib)


@live
def test_holders_of_too_short_command(check, lab):
    ran = lab.faultscope("memory", "--json", "-o", lab.dir / "out", "--", "true")
    check.equal("status", ran.returncode, 7)
    check.that("not read: resident memory" in ran.err, ran.err)


LEAK = """
import sys, threading, time
KEPT = []
def load_batch():
    KEPT.append(bytearray(b"x" * 300000))
def work():
    for _ in range(200):
        load_batch()
        time.sleep(0.01)
before = bytearray(b"y" * (50 << 20))
print("ready", flush=True)
sys.stdin.readline()
thread = threading.Thread(target=work)
thread.start()
thread.join()
print("done", flush=True)
sys.stdin.readline()
"""


class Steps:
    """A Python script that waits for a line of input before each step, and prints one after it.
    `memory` watches it from the first step on."""

    def __init__(self, lab, script, *options):
        self.work = lab.spawn([sys.executable, script], stdin=subprocess.PIPE)
        self.work.stdout.readline()
        self.out = lab.new_output()[0]
        self.watch = lab.spawn([FAULTSCOPE, "memory", "--json", "-o", self.out, "-p",
                                self.work.pid, "-d", PATIENCE, *options])
        until(self.lines, "the first values")

    def lines(self):
        text = self.out.read_text() if self.out.exists() else ""
        return [line for line in Lines(text[:text.rfind("\n") + 1]).all
                if line["type"] == "memory"]

    def step(self):
        self.work.stdin.write("go\n")
        self.work.stdin.flush()
        self.work.stdout.readline()
        done = time.time()
        until(lambda: written(self.lines()[-1]) > done, "values after the step")

    def step_unread(self):
        """Makes a step while `memory` does not run."""
        self.watch.send_signal(signal.SIGSTOP)
        self.work.stdin.write("go\n")
        self.work.stdin.flush()
        self.work.stdout.readline()
        self.watch.send_signal(signal.SIGCONT)
        resumed = time.time()
        until(lambda: written(self.lines()[-1]) > resumed + 2, "values after the pause")

    def last(self, steps):
        """Returns the reading after this number of steps."""
        for _ in range(steps):
            self.step()
        self.watch.send_signal(signal.SIGINT)
        self.watch.communicate(timeout=PATIENCE)
        return self.lines()[-1]


# A read of a hole of a memfd makes a page. Each of these reads is noted, so 400 MiB fill three quarters
# of the table. A reading in between would make room. Each step makes new holes.
READS = """
import mmap, os, sys
def hold_touched_100():
    at = mmap.mmap(-1, 100 << 20)
    at.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(0, 100 << 20, 4096):
        at[page] = 1
    return at
def hold_read_400():
    os.ftruncate(fd, 0)
    os.ftruncate(fd, 400 << 20)
    holes[::4096]
print("ready", flush=True)
sys.stdin.readline()
fd = os.memfd_create("holes")
os.ftruncate(fd, 400 << 20)
holes = mmap.mmap(fd, 400 << 20, prot=mmap.PROT_READ)
kept = hold_touched_100()
print("done", flush=True)
while sys.stdin.readline():
    hold_read_400()
    print("done", flush=True)
"""


@live
def test_holders_in_full_table(check, lab):
    """If the table of pages becomes full, fewer pages are chosen, and the amounts stay right."""
    script = lab.dir / "reads.py"
    script.write_text(READS)
    steps = Steps(lab, script)
    steps.step()
    steps.step_unread()
    last = steps.last(1)
    check.that(last["sample_each"] > 64, f"one of {last['sample_each']} pages is still chosen")
    check_sum(check, last)
    for name, mib in (("hold_touched_100", 100), ("hold_read_400", 400)):
        check_amount(check, name, sum_of(last, name), mib)


@live
def test_holders_of_running_leak(check, lab):
    """What was there before the watch is shown by mapping; what a thread then leaks, by its line."""
    script = lab.dir / "leak.py"
    script.write_text(LEAK)
    last = Steps(lab, script).last(1)
    check_sum(check, last)
    check_amount(check, "the leak", sum_of(last, "load_batch (leak.py:5)"), 57.2)
    before = sum(row["bytes"] for row in last["holders"] if row["by"] == "before")
    check.that(before > 50 * MIB, f"{before} bytes from before the watch")


# Each function has a code object of its own, so that each stack is new. It writes to 64 pages of 2048,
# of which one is chosen on average.
MANY_STACKS = """
import mmap, sys
KEPT = []
def hold_20():
    at = mmap.mmap(-1, 20 << 20)
    at.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(0, 20 << 20, 4096):
        at[page] = 1
    KEPT.append(at)
def touch_by_many(functions):
    at = mmap.mmap(-1, 8 << 20)
    at.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range(functions):
        names = {"at": at, "pages": range((i % 32) << 18, (i % 32 + 1) << 18, 4096)}
        exec(f"def touch_{i}():\\n for page in pages: at[page] = 1", names)
        names[f"touch_{i}"]()
        at.madvise(mmap.MADV_DONTNEED)
print("ready", flush=True)
for many, hold in ((0, 0), (8000, 1), (0, 4)):
    sys.stdin.readline()
    touch_by_many(many)
    for _ in range(hold):
        hold_20()
    print("done", flush=True)
sys.stdin.readline()
"""


def ring_losses(out):
    return Lines(out.read_text()).all[-1]["losses"]["ring"]


@live
def test_holders_after_full_ring(check, lab):
    """A stack that found no room in the ring buffer is sent when it appears again."""
    script = lab.dir / "stacks.py"
    script.write_text(MANY_STACKS)
    steps = Steps(lab, script)
    steps.step()
    steps.step_unread()
    last = steps.last(1)
    check.that(ring_losses(steps.out) > 0, f"no loss: {steps.out.read_text()[-900:]}")
    amount = sum_of(last, "hold_20")[0]
    check.that(amount > 60 * MIB, f"hold_20: {amount / MIB:.1f} MiB, but it holds 100, 80 of them "
               "since the loss")


LOADER = """
import multiprocessing, signal, sys, time
class Dataset:
    def __init__(self):
        self.cache = {}
    def __getitem__(self, at):
        self.cache[at] = bytearray(b"x" * 300000)
        return at
def work(dataset, queue):
    for at in range(100000):
        queue.put(dataset[at])
        time.sleep(0.01)
if __name__ == "__main__":
    queue = multiprocessing.Queue(8)
    for _ in range(2):
        multiprocessing.Process(target=work, args=(Dataset(), queue), daemon=True).start()
    queue.get()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # ends the workers, too
    print("ready", flush=True)
    while True:
        queue.get()
"""


@live
def test_holders_of_leaking_workers(check, lab):
    """The parent of workers that leak is watched, as of a DataLoader: the answer names the line."""
    script = lab.dir / "loader.py"
    script.write_text(LOADER)
    work = lab.spawn([sys.executable, script])
    work.stdout.readline()
    ran = lab.faultscope("memory", "-p", work.pid, "-d", "4", "--width", "100")
    check.equal(f"status: {ran.err}", ran.returncode, 0)
    check.equal("processes whose line is named",
                ran.out.count("loader.py:7 Dataset.__getitem__"), 2)
    work.send_signal(signal.SIGTERM)
    work.wait(timeout=PATIENCE)


# Holds memory in two steps, three seconds apart, which come before and after the last two seconds.
SLOWLY = """
import mmap, sys, time
KEPT = []
def touch(mib):
    at = mmap.mmap(-1, mib << 20)
    at.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(0, mib << 20, 4096):
        at[page] = 1
    KEPT.append(at)
def hold_early_40():
    touch(40)
def hold_late_20():
    touch(20)
print("ready", flush=True)
for hold in (hold_early_40, hold_late_20):
    sys.stdin.readline()
    hold()
    print("done", flush=True)
sys.stdin.readline()
"""


@live
def test_growth_since(check, lab):
    """With --since, growth is that of the last seconds, also of a recording."""
    script = lab.dir / "slowly.py"
    script.write_text(SLOWLY)
    steps = Steps(lab, script, "--since", "2", "--record", lab.dir / "slowly.fsr")
    steps.step()
    early = time.time()
    until(lambda: written(steps.lines()[-1]) > early + 4, "values four seconds later")
    last = steps.last(1)

    def growth(line, name):
        return sum(row["growth_bytes"] for row in line["holders"] if
                   any(name in frame for frame in row["stack"]))
    again = lab.faultscope("memory", "--json", "--replay", lab.dir / "slowly.fsr", "--since", "2")
    replayed = [line for line in Lines(again.out).all if line["type"] == "memory"][-1]
    for what, line in (("live", last), ("replayed", replayed)):
        check.that(abs(growth(line, "hold_early_40")) < 2 * MIB,
                   f"{what}: {growth(line, 'hold_early_40')} bytes of the first step grew")
        check.that(growth(line, "hold_late_20") > 10 * MIB,
                   f"{what}: {growth(line, 'hold_late_20')} bytes of the second step grew")
    whole = lab.faultscope("memory", "--json", "--replay", lab.dir / "slowly.fsr")
    since_start = [line for line in Lines(whole.out).all if line["type"] == "memory"][-1]
    check.that(growth(since_start, "hold_early_40") > 30 * MIB, "no growth since the first reading")


@live
def test_growth_between_recordings(check, lab):
    """`diff` says which code holds more in the second recording."""
    script = lab.dir / "slowly.py"
    script.write_text(SLOWLY)
    work = lab.spawn([sys.executable, script], stdin=subprocess.PIPE)
    work.stdout.readline()
    files = [lab.dir / "one.fsr", lab.dir / "two.fsr"]
    for file in files:
        watch = lab.spawn([FAULTSCOPE, "memory", "--json", "-o", f"{file}.out", "--record", file,
                           "-p", work.pid, "-d", PATIENCE])
        until(lambda file=file: '"memory"' in Path(f"{file}.out").read_text(encoding="utf-8")
              if Path(f"{file}.out").exists() else False, "the first values")
        work.stdin.write("go\n")
        work.stdin.flush()
        work.stdout.readline()
        time.sleep(1.5)
        watch.send_signal(signal.SIGINT)
        watch.communicate(timeout=PATIENCE)
    rows = [row for row in Lines(lab.faultscope("diff", "--json", *files).out).all
            if row.get("by") == "memory"]
    late = [row["growth"] for row in rows if any("hold_late_20" in at for at in row["stack"])]
    check.that(sum(late) > 10 * MIB, f"hold_late_20 grew by {late}")
    text = lab.faultscope("diff", *files, "--width", "200").out
    check.that("what grew by code that holds memory" in text and "hold_late_20" in text, text)
    page = lab.faultscope("diff", "--html", *files).out
    check.that("hold_late_20" in page, "no function in the page")


def cgroup_of(lab):
    for top in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
        if (Path(top) / "cgroup.procs").exists():
            return Path(top) / lab.dir.name
    raise Skip("no cgroups are mounted")


@live
def test_holders_of_cgroup(check, lab):
    """The processes of a cgroup are read, also one that is moved there later, and no other."""
    group = cgroup_of(lab)
    works = [lab.work("hold", "--wait", "--hold") for _ in range(3)]
    group.mkdir()
    try:
        (group / "cgroup.procs").write_text(str(works[0].pid), encoding="ascii")
        out = lab.new_output()[0]
        watch = lab.spawn([FAULTSCOPE, "memory", "--json", "-o", out, "--cgroup", group, "-d",
                           PATIENCE])

        def lines(pid):
            text = out.read_text() if out.exists() else ""
            return [line for line in Lines(text[:text.rfind("\n") + 1]).all
                    if line["type"] == "memory" and line["pid"] == pid]
        until(lambda: lines(works[0].pid), "the first values")
        (group / "cgroup.procs").write_text(str(works[1].pid), encoding="ascii")
        until(lambda: lines(works[1].pid), "values of the process that was moved")
        for work in works[:2]:
            work.go()
            work.truth()
            until(lambda work=work: sum_of(lines(work.pid)[-1], "hold_mapping_120")[0] > 100 * MIB,
                  "what the function holds")
        check.equal("readings of another process", lines(works[2].pid), [])
        watch.send_signal(signal.SIGINT)
        watch.communicate(timeout=PATIENCE)
        works[2].go()
    finally:
        for work in works:
            work.end()
        group.rmdir()
    ran = lab.faultscope("memory", "--cgroup", "/no/such/cgroup", "-d", "1")
    check.equal(f"status without processes: {ran.err}", ran.returncode, 4)


@live
@aside
def test_host_names_code(check, lab):
    """`host --resident` says which code holds the memory of the top consumers."""
    script = lab.dir / "leak.py"
    # large enough to be among the top consumers, and slow enough to leak through several runs
    script.write_text(LEAK.replace("range(200)", "range(9000)").replace("50 << 20", "600 << 20")
                      .replace("sleep(0.01)", "sleep(0.03)"))
    work = lab.spawn([sys.executable, script], stdin=subprocess.PIPE)
    work.stdout.readline()
    work.stdin.write("go\n")
    work.stdin.flush()
    found = []

    def named():
        ran = lab.faultscope("host", "--resident", "--json", "-d", "4")
        told = [line for line in Lines(ran.out).all if line["type"] == "host"]
        assert told, f"no line of the host, status {ran.returncode}: {ran.err}"
        found[:] = [line for one in told[-1]["top_consumers"] for line in one["lines"]
                    if line["line"] == "leak.py:5 load_batch"]
        return found
    until(named, "the line that leaks")
    check.that(found[0]["growth_bytes"] > MIB and found[0]["by"] == "touched", found)

    def written_out():
        text = lab.faultscope("host", "--resident", "-d", "4", "--width", "200").out
        return re.search(r"iB by leak\.py:5 load_batch \((heap|anonymous)\), grew by",
                         " ".join(text.split()))
    until(written_out, "the line that leaks, in the text")


@live
def test_holders_without_probe(check, lab):
    """Without its probe, `memory` says so, and does not end with status 0."""
    program = lab.spawn(["sleep", "100"])
    for choice in ("state=hash", "resident=none"):
        ran = lab.faultscope("memory", "-p", program.pid, "-d", "0.2", "--probe", choice)
        check.that("the probe resident is off or unavailable" in ran.err, f"{choice}: {ran.err}")
        check.equal(f"status with {choice}", ran.returncode, 7)


# The first step runs in a thread after the main thread has called exit(), the system call that ends
# one thread.
LEADERLESS = """
import ctypes, os, sys, threading
def hold_40():
    return bytearray(40 << 20)
def work():
    while not is_zombie():
        pass
    print("ready", flush=True)
    sys.stdin.readline()
    keep = hold_40()
    print("done", flush=True)
    sys.stdin.readline()
def is_zombie():
    with open(f"/proc/self/task/{os.getpid()}/stat") as f:
        return f.read().rpartition(")")[2].split()[0] == "Z"
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
"""


@live
def test_holders_without_main_thread(check, lab):
    """A process goes on after its main thread has ended."""
    script = lab.dir / "leaderless.py"
    script.write_text(LEADERLESS)
    last = Steps(lab, script).last(1)
    check_sum(check, last)
    check_amount(check, "the thread", sum_of(last, "hold_40"), 40)


@live
def test_pages_are_read_without_a_lock(check, lab):
    """Reading pages of anonymous memory makes no system call that holds mmap_lock. Pages of private
    mappings of files are asked for once, and not at each reading."""
    calls = lab.dir / "calls"
    work = lab.spawn([sys.executable, "-c", "x = b'1' * (300 << 20); print(flush=True); input()"],
                     stdin=subprocess.PIPE)
    work.stdout.readline()
    ran = lab.call("strace", "-f", "-o", calls, "-e", "trace=ioctl,bpf", FAULTSCOPE, "memory",
                   "--json", "-p", work.pid, "-d", "4")
    last = [line for line in Lines(ran.out).all if line["type"] == "memory"][-1]
    check_sum(check, last)
    traced = calls.read_text()
    if "ITER_CREATE" not in traced:
        raise Skip("iterators are not limited to one task (Linux 6.1)")
    chosen = sum(row["sampled_pages"] for row in last["holders"] if row["kind"] == "anonymous")
    # PAGEMAP_SCAN, of which some versions of strace know only the number
    asked = len(re.findall(r"ioctl\(\d+, (?:PAGEMAP_SCAN|.*0x66, 0x10,)", traced))
    check.that(chosen > 1000, f"{chosen} chosen pages")
    of_files = sum(row["sampled_pages"] for row in last["holders"] if row["kind"] == "private file")
    check.that(0 < asked < 1.5 * of_files + 20, f"{asked} calls for {chosen} and {of_files} pages")


# A read of a page of a file maps the 64 KiB around it.
BY_HALVES = """
import mmap, os, sys
fd = os.memfd_create("halves")
for _ in range(40):
    os.write(fd, b"1" * (1 << 20))
at = mmap.mmap(fd, 40 << 20)
for block in range(0, 40 << 20, 128 << 10):
    at[block]
def map_20():
    for block in range(64 << 10, 40 << 20, 128 << 10):
        at[block]
print("ready", flush=True)
sys.stdin.readline()
map_20()
print("done", flush=True)
sys.stdin.readline()
"""


@live
def test_older_pages_keep_their_row(check, lab):
    """Pages that were in memory before the watch do not belong to code that maps pages beside them."""
    script = lab.dir / "halves.py"
    script.write_text(BY_HALVES)
    last = Steps(lab, script).last(1)
    check_amount(check, "the later half", sum_of(last, "map_20"), 20)
    rows = [row for row in last["holders"] if row["by"] == "before" and
            row["kind"] == "shared memory"]
    check_amount(check, "the earlier half", (sum(row["bytes"] for row in rows),
                                             sum(row["high"] - row["low"] for row in rows) / 2), 20)


OLDER = """
import mmap, sys
at = mmap.mmap(-1, 40 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
at.madvise(mmap.MADV_NOHUGEPAGE)
for page in range(0, 40 << 20, 4096):
    at[page] = 1
print("ready", flush=True)
sys.stdin.readline()
at.madvise(mmap.MADV_HUGEPAGE)
try:
    at.madvise(25)  # MADV_COLLAPSE (Linux 6.1) makes huge pages as khugepaged does
except OSError as error:
    sys.exit(str(error))
print("done", flush=True)
sys.stdin.readline()
at.madvise(mmap.MADV_NOHUGEPAGE)
for block in range(0, 40 << 20, 2 << 20):
    at.madvise(mmap.MADV_DONTNEED, block, 1 << 20)
print("done", flush=True)
sys.stdin.readline()
"""


@live
def test_older_pages_in_huge_pages(check, lab):
    """Pages that were in memory before the watch keep their row, also if the kernel makes huge
    pages of them and splits these again."""
    script = lab.dir / "older.py"
    script.write_text(OLDER)
    steps = Steps(lab, script)
    at_first = by_kind(steps.lines()[0], "before")
    for mib in (0, 20):
        steps.step_unread()  # a reading misses pages while the kernel makes a huge page of them
        line = steps.lines()[-1]
        check_sum(check, line)
        now = by_kind(line, "before")
        check_amount(check, "freed since", (at_first[0] - now[0], at_first[1] + now[1]), mib)
        check_amount(check, "without a fault", by_kind(line, "no_fault"), 0)
