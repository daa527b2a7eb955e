# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that a finding about memory shortage names the kind of shortage and its cause. On a healthy
machine, there must be no such finding."""

import contextlib
import json
import os
import re
import shutil
import sys
import threading
from pathlib import Path

from harness import (FOUND, INCOMPLETE, RECORDINGS, Lines, Skip, captures, check_form, check_lines,
                     evidence_texts, idle, live, remedy_texts, until)

MIB = 1 << 20
DONE = 0
V1 = Path("/sys/fs/cgroup/memory")


@contextlib.contextmanager
def memory_cgroup(lab, limit):
    """Makes a cgroup (version 1 or 2) with a memory limit, and yields its directory."""
    top = V1 if (V1 / "memory.limit_in_bytes").exists() else Path("/sys/fs/cgroup")
    file = "memory.limit_in_bytes" if top == V1 else "memory.max"
    group = top / f"faultscope-{os.getpid()}"
    try:
        group.mkdir()
        (group / file).write_text(str(limit))
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        raise Skip(f"no memory cgroup can be made: {error}") from error
    try:
        yield group
    finally:
        def gone():
            with contextlib.suppress(OSError):
                group.rmdir()
            return not group.exists()
        until(gone, "the cgroup's end")


@contextlib.contextmanager
def tmpfs(lab, mib, name="tmpfs"):
    """Mounts a tmpfs in the mount namespace of the test, where faultscope sees the tmpfs."""
    place = lab.dir / name
    place.mkdir()
    mounted = lab.call("mount", "-t", "tmpfs", "-o", f"size={mib}M", "none", place)
    if mounted.returncode:
        raise Skip(f"no tmpfs can be mounted: {mounted.err.strip()}")
    try:
        yield place
    finally:
        lab.call("umount", place)


@contextlib.contextmanager
def disk(lab, mib):
    """Makes an unmounted ext4 image, for mount -o loop, and a directory to mount it on."""
    if not shutil.which("mkfs.ext4"):
        raise Skip("no mkfs.ext4")
    image, place = lab.dir / "disk", lab.dir / "mounted"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(mib * MIB)
    made = lab.call("mkfs.ext4", "-q", image)
    assert not made.returncode, made.err
    tried = lab.call("mount", "-o", "loop", image, place)
    if tried.returncode:
        raise Skip(f"no loop device: {tried.err.strip()}")
    lab.call("umount", place)
    yield image, place


def in_group(lab, group, *words):
    """Starts a workload that is in the cgroup before it executes its first instruction."""
    process = lab.spawn(["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh",
                         lab.workload(words[0]), *words[1:]], stdin=-1)
    return process


def host(lab, *options):
    """Runs `faultscope host --json`. Returns the process and its lines. The last line but one is
    the result."""
    ran = lab.faultscope("host", "--json", *options)
    assert ran.out, ran.err
    return ran, Lines(ran.out)


def opened(lines, *ids, pid=None):
    return [line for line in lines.of("finding", pid, state="open") if line["id"] in ids]


class Extremes(threading.Thread):
    """Thread that records the smallest and the largest value of a line of /proc/meminfo while it
    runs."""

    def __init__(self, name):
        super().__init__()
        self.name_of_line = name
        self.seen = []
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.01):
            text = Path("/proc/meminfo").read_text(encoding="ascii")
            self.seen.append(int(re.search(rf"^{self.name_of_line}: +(\d+)", text, re.M)[1]) * 1024)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


@live
def test_host_says_what_the_kernel_says(check, lab):
    # AnonPages includes the memory of faultscope itself while it runs
    with Extremes("AnonPages") as anon:
        ran, lines = host(lab, "-d", "1")
    check.that(ran.returncode in (DONE, FOUND), f"status {ran.returncode}: {ran.err}")
    check_lines(check, lines)
    told = lines.of("pressure")[-1]
    answer = lines.of("host")[0]
    meminfo = dict(re.findall(r"^(\w+): +(\d+)", lab.read("/proc/meminfo"), re.M))
    check.equal("MemTotal", told["memory_total_bytes"], int(meminfo["MemTotal"]) * 1024)
    check.equal("SwapTotal", told["swap_total_bytes"], int(meminfo["SwapTotal"]) * 1024)
    check.between("AnonPages", told["anon_bytes"], min(anon.seen) - 8 * MIB,
                  max(anon.seen) + 8 * MIB)
    check.equal("mode", told["overcommit_memory"],
                int(lab.read("/proc/sys/vm/overcommit_memory")))
    vmstat = dict(line.split() for line in lab.read("/proc/vmstat").splitlines())
    for key, name in (("oom_kills", "oom_kill"), ("swap_in_pages", "pswpin")):
        check.between(key, told[key], 0, int(vmstat[name]))
    if Path("/proc/pressure/memory").exists():
        total = int(re.search(r"some .*total=(\d+)", lab.read("/proc/pressure/memory"))[1])
        check.between("stall", told["psi"]["some"]["total_us"], 0, total)
    check.that(answer["top_consumers"], "nobody has memory")
    check.that(answer["next_oom_victims"], "no next victim")
    scores = [one["oom_score"] for one in answer["next_oom_victims"]]
    check.equal("order of victims", scores, sorted(scores, reverse=True))


@live
def test_next_victim_is_the_kernels_choice(check, lab):
    """`host` lists the processes that the OOM killer would kill next. A process with oom_score_adj
    1000 must be the first one, whatever its size is."""
    work = lab.work("eat", "anon", "16", "--wait", "--hold")
    lab.write(f"/proc/{work.pid}/oom_score_adj", 1000)
    work.go()
    work.truth()
    _, lines = host(lab, "-d", "1")
    first = lines.of("host")[0]["next_oom_victims"][0]
    check.equal("the first", (first["pid"], first["oom_score_adj"]), (work.pid, 1000))
    check.near("its score", first["oom_score"], int(lab.read(f"/proc/{work.pid}/oom_score")), 0.01)
    work.end()


@live
def test_program_tree_is_one_eater(check, lab):
    work = lab.work("eat", "anon", "64", "--children", "3", "--hold")
    work.truth()
    until(lambda: sum("eat" == name for name in comms(lab)) == 4, "the children")

    def told():
        _, lines = host(lab, "-d", "0.5")
        mine = [one for one in lines.of("host")[0]["top_consumers"] if one["pid"] == work.pid]
        return mine if mine and mine[0]["rss_bytes"] > 250 * MIB else None
    mine = until(told, "all that it took")
    check.equal("processes", mine[0]["processes"], 4)
    check.between("resident", mine[0]["rss_bytes"], 256 * MIB, 300 * MIB)
    check.between("committed", mine[0]["committed_bytes"], 256 * MIB, 300 * MIB)
    work.end()


def comms(lab):
    ran = lab.call("ps", "-eo", "comm=")
    return ran.out.split()


def expect_full(check, lines, truth):
    told = opened(lines, "P01", pid=truth["pid"])
    if not check.that(told, f"no P01; {[f['id'] for f in lines.of('finding')]}"):
        return
    check.equal("severity", told[0]["severity"], "critical")
    check.that(any(one["field"] == "file system" and one["value"] == truth["place"]
                   for one in told[0]["evidence"]), f"which file system: {told[0]['evidence']}")
    check.that(any(f"size={truth['size'] * 4}M" in text for text in remedy_texts(told[0])),
               f"remedy {remedy_texts(told[0])}")
    check.that(opened(lines, "P21"), "nothing was said before it was full")


@captures(expect_full)
def test_tmpfs_full(lab):
    """A tmpfs of 16 MiB gets 32 MiB of data. faultscope reports P21 tmpfs-nearly-full, then P01
    tmpfs-full."""
    with tmpfs(lab, 16) as place:
        out, recording = lab.new_output()
        ran = lab.faultscope("run", "--json", "-o", out, "--record", recording, "--",
                             lab.workload("eat"), "shared", "32", "--rate", "3", "--in", place)
        capture = finished_run(out, ran, recording)
        lines = Lines(capture.text)
        pid = lines.of("signal")[0]["pid"] if lines.of("signal") else 0
        capture.truth = {"pid": pid, "place": str(place), "size": 16}
        return capture


def finished_run(out, ran, recording):
    from harness import Capture
    return Capture(out.read_text(), 0, ran.err, recording)


def expect_disk_full(check, lines, truth):
    told = opened(lines, "P03", pid=truth["pid"])
    if not check.that(told, f"no P03; {[f['id'] for f in lines.of('finding')]}"):
        return
    check.equal("severity", told[0]["severity"], "critical")
    where = evidence_texts(told[0])
    check.that(where.get("file system", "").endswith(truth["place"]), f"which disk: {where}")
    check.that(not opened(lines, "P01", "P02"), "another one, too")


# Fills a sparse file through a mapping, in the directory that its argument names, and keeps the
# file.
FILLS = """import mmap, sys
with open(sys.argv[1] + "/kept", "w+b") as file:
    file.truncate(40 << 20)
    at = mmap.mmap(file.fileno(), 40 << 20)
    for i in range(0, 40 << 20, 4096):
        at[i] = 1
"""
# A script that mounts the file system after faultscope has started, in a mount namespace that
# faultscope does not share.
IN_PRIVATE = """mount --make-rprivate / && mount -o loop "$1" "$2" || exit 99
exec 2>/dev/null # the shell tells of the signal too
"$3" shared 40 --in "$2"
sleep 0.5"""
UNDER_OVERLAY = """mount --make-rprivate / && mount -o loop "$1" "$2" || exit 99
mkdir "$2/up" "$2/work" "$2/low" "$2/merged"
mount -t overlay none -o lowerdir="$2/low",upperdir="$2/up",workdir="$2/work" "$2/merged" || exit 99
exec 2>/dev/null # the shell tells of the signal too
"$3" shared 40 --in "$2/merged"
sleep 0.5"""


@captures(expect_disk_full, cases=["kept", "deleted", "private", "overlay"])
def test_disk_full(lab, case):
    """A sparse file of 40 MiB fills an ext4 file system of 24 MiB. P03 disk-full is reported,
    although no scan had found the file system full before."""
    with disk(lab, 24) as (image, place):
        out, recording = lab.new_output()
        options = "run", "--json", "-o", out, "--record", recording, "--"
        eat = lab.workload("eat")
        if case in ("private", "overlay"):
            script = IN_PRIVATE if case == "private" else UNDER_OVERLAY
            ran = lab.faultscope(*options, "unshare", "-m", "sh", "-c", script, "sh", image, place,
                                 eat)
            if ran.returncode == 99:
                raise Skip(f"no such mount: {ran.err.strip()}")
        else:
            lab.call("mount", "-o", "loop", image, place)
            try:
                work = ([eat, "shared", "40", "--in", place] if case == "deleted"
                        else [sys.executable, "-c", FILLS, place])
                ran = lab.faultscope(*options, *work)
            finally:
                lab.call("umount", place)
        capture = finished_run(out, ran, recording)
        signals = Lines(capture.text).of("signal", signal="SIGBUS")
        capture.truth = {"pid": signals[0]["pid"] if signals else 0, "place": str(place)}
        return capture


def expect_cut(check, lines, truth):
    told = opened(lines, "P02", pid=truth["pid"])
    if check.that(told, f"no P02; {[f['id'] for f in lines.of('finding')]}"):
        check.that("beyond the end of a mapped file" in told[0]["title"], told[0]["title"])
    check.that(not opened(lines, "P01", "P03"), "another one, too")


@captures(expect_cut)
def test_file_cut_under_its_map(lab):
    out, recording = lab.new_output()
    ran = lab.faultscope("run", "--json", "-o", out, "--record", recording, "--",
                         lab.workload("eat"), "shared", "4", "--cut", "--in", lab.dir)
    capture = finished_run(out, ran, recording)
    signals = Lines(capture.text).of("signal")
    capture.truth = {"pid": signals[0]["pid"] if signals else 0}
    return capture


@idle
@live
def test_cgroup_fills_and_kills(check, lab):
    """P22 cgroup-not-reclaimable forecasts the OOM kill about 10 s ahead, and P17 oom-killed
    follows."""
    with memory_cgroup(lab, 192 * MIB) as group:
        work = in_group(lab, group, "eat", "anon", "400", "--rate", "8")
        watch = lab.watch("-p", str(work.pid), "0.5")
        work.wait(60)
        capture = watch.finished()
        lines = check_form(check, capture)
        fills = [line for line in opened(lines, "P22") if line["place"].endswith(group.name)]
        kills = opened(lines, "P17", pid=work.pid)
        if not check.that(fills and kills, f"findings {[f['id'] for f in lines.of('finding')]}"):
            return
        ahead = [line for line in fills if line["forecast"]]
        check.that(ahead and kills[0]["t"] - ahead[0]["t"] >= 8,
                   f"told {[round(line['t'], 1) for line in ahead]}, killed {kills[0]['t']:.1f}")
        if ahead:
            at = ahead[0]["t"] + ahead[0]["forecast"]["seconds"]
            check.near("when", at, kills[0]["t"], 0.35)
        check.that("memory.max of its cgroup" in kills[0]["title"], kills[0]["title"])
        check.that(group.name in fills[0]["set_by"], f"whose limit: {fills[0]['set_by']!r}")
        after = [line for line in lines.of("finding", id="P22") if line["t"] > kills[0]["t"] + 1]
        check.that(all(line["state"] == "cleared" for line in after),
                   f"told of the killed one: {[line['title'] for line in after]}")
        check.that(any("more in memory.max" in text for text in remedy_texts(kills[0])),
                   f"remedy {remedy_texts(kills[0])}")
        grower = evidence_texts(kills[0]).get("largest growth before the kill", "")
        check.that(f"eat[{work.pid}] (the victim)" in grower, f"who grew: {grower}")


@live
def test_cache_fills_no_cgroup(check, lab):
    """A cgroup that is full of page cache gives no finding."""
    with memory_cgroup(lab, 64 * MIB) as group:
        data = lab.dir / "data"
        # The kernel charges a cached page to the cgroup that reads or writes it first.
        lab.call("sh", "-c", f"echo $$ >{group}/cgroup.procs;"
                             f" head -c {96 * MIB} /dev/zero >{data}; cat {data} >/dev/null")
        used = next(int((group / name).read_text()) for name in
                    ("memory.usage_in_bytes", "memory.current") if (group / name).exists())
        check.between("the group's use", used, 32 * MIB, 64 * MIB)
        _, lines = host(lab, "-d", "1")
        told = [line for line in lines.of("cgroup") if line["path"].endswith(group.name)]
        if check.that(told, "the cgroup is not told of"):
            check.equal("limit", told[-1]["limit_bytes"], 64 * MIB)
            check.between("kept", told[-1]["unreclaimable_bytes"], 0, 8 * MIB)
        check.that(not [line for line in opened(lines, "P22")
                        if line["place"].endswith(group.name)], "P22 of page cache")


# Command prefix that drops all rights. The prefix is empty if the tests run without root.
WITHOUT_RIGHTS = () if os.geteuid() else ("setpriv", "--reuid", "65534", "--clear-groups",
                                          "--bounding-set", "-all", "--inh-caps", "-all")


def test_host_without_rights(check, lab):
    """Without rights, `host` reads only files of /proc, and reports this on standard error."""
    ran = lab.call(*WITHOUT_RIGHTS, lab.for_all(lab.program), "host", "--json", "-d", "0.5")
    check.that(ran.returncode in (INCOMPLETE, FOUND), f"status {ran.returncode}: {ran.err}")
    check.that("reading /proc only" in ran.err, ran.err)
    lines = Lines(ran.out)
    check.that(lines.of("pressure") and lines.of("host"), "no answer")
    check.that(lines.of("host")[0]["top_consumers"], "nobody has memory")


@live
def test_host_in_text(check, lab):
    for options in ((), ("--width", "60", "--no-unicode"), ("0.3", "2")):
        ran = lab.faultscope("host", *options, *([] if "0.3" in options else ["-d", "0.5"]))
        check.that(ran.returncode in (DONE, FOUND), f"status {ran.returncode}: {ran.err}")
        width = 60 if "60" in options else 100
        long = [line for line in ran.out.splitlines() if len(line) > width]
        check.equal(f"{options}: lines that are too long", long, [])
        blocks = len(re.findall(r"short of memory", ran.out))
        check.that(blocks >= (2 if "0.3" in options else 1), f"{options}: {blocks} answers")
        for word in ("pressure", "memory", "swap", "committed", "top"):
            check.that(re.search(rf"^ {word}\b", ran.out, re.M), f"{options}: no {word}")
