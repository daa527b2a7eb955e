#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests each kind of memory shortage in real kernels under QEMU, and healthy machines. Prints TAP.

The guest has 384 MiB, a disk for swap, another one for files, and control groups of version 2. The
right finding is known by construction: a test causes exactly one kind of shortage.
"""
import argparse
import calendar
import importlib.util
import re
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True

import fetch  # noqa: E402
import lab as _lab  # noqa: E402
import programs  # noqa: E402
from aptroot import Missing  # noqa: E402
import test_locks  # noqa: E402
from harness import Lines, Skip, evidence_texts, field_of, remedy_texts  # noqa: E402
from vm import GuestError, Vm  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ("6.1", "6.12", "newest")
MEMORY_MIB, SWAP_MIB, FILES_MIB = 384, 512, 768
MODULES = {"virtio_pci": "", "virtio_blk": ""}
MIB = 1 << 20
DONE, FOUND = 0, 3
QUIET_SECONDS = 15
REDIS_VALUES, REDIS_BYTES = 1000, 65536
CGROUPS = "/sys/fs/cgroup"
SETTINGS = {"/proc/sys/vm/overcommit_memory": "0", "/proc/sys/vm/overcommit_ratio": "50",
            "/proc/sys/vm/swappiness": "60"}


class Guest:
    """One guest for all tests of a kernel. Each test restores the state of the guest."""

    def __init__(self, kernel, cpus=2, nodes=1, installed=()):
        found = fetch.kernel(kernel)
        workloads = programs.static_workloads(found.arch)
        files = _lab.files(programs.static_faultscope(found.arch), workloads)
        files.update(programs.with_libraries(*installed))
        self.vm = Vm(found, files, append="psi=1 delayacct", modules=MODULES,
                     memory_mib=MEMORY_MIB, disks_mib=(SWAP_MIB, FILES_MIB), cpus=cpus,
                     nodes=nodes)
        try:
            self.vm.must(f"mkswap /dev/vda && mke2fs -q /dev/vdb || mkfs.ext2 /dev/vdb;"
                         f" mkdir -p /files && mount /dev/vdb /files;"
                         f" grep -q cgroup2 /proc/mounts || mount -t cgroup2 none {CGROUPS};"
                         f" echo +memory >{CGROUPS}/cgroup.subtree_control")
        except BaseException:
            self.vm.close()
            raise

    def lab(self):
        return _lab.VmLab(self.vm)

    def reset(self):
        """Restores the guest: no swap, the kernel's default settings, no processes and no cgroups
        of an earlier test."""
        writes = " ".join(f"echo {value} >{path};" for path, value in SETTINGS.items())
        self.vm.must(f"killall -9 eat 2>/dev/null; swapoff /dev/vda 2>/dev/null; {writes}"
                     f" until rmdir {CGROUPS}/test 2>/dev/null || [ ! -e {CGROUPS}/test ];"
                     f" do usleep 100000; done; echo 3 >/proc/sys/vm/drop_caches")


def host(lab, *options, seconds=6):
    ran = lab.faultscope("host", "--json", "-d", seconds, *options, timeout=60 + 6 * seconds)
    assert ran.out, f"status {ran.status}: {ran.err}"
    return ran, Lines(ran.out)


def answer_of(lines):
    return lines.of("host")[-1]


def opened(lines, *ids):
    return [line for line in lines.of("finding", state="open") if line["id"] in ids]


def waits_for(lab, what, seconds=60):
    lab.vm.must(f"until {what}; do usleep 200000; done", seconds)


def grows(lab, name, by, seconds):
    """Waits until a counter of /proc/vmstat has grown by `by`. (Earlier tests have increased the
    counter, too.)"""
    count = f"$(awk '$1==\"{name}\"{{print $2}}' /proc/vmstat)"
    lab.vm.must(f"was={count}; until [ {count} -gt $((was + {by})) ]; do usleep 200000; done", seconds)


def swaps(lab):
    """Waits until pages were swapped in. Pages that were only swapped out do not suffice, since
    memory that only grows is also swapped out."""
    grows(lab, "pswpin", 2000, 120)


def new_group(lab, **limits):
    lab.vm.must(f"mkdir {CGROUPS}/test")
    for name, value in limits.items():
        lab.write(f"{CGROUPS}/test/memory.{name.replace('_', '.')}", value)


def in_group(lab, *words, below=""):
    """Starts a background workload that is in the cgroup before it executes its first instruction.
    """
    command = _lab.quoted([lab.workload(words[0]), *words[1:]])
    procs = f"{CGROUPS}/test{below}/cgroup.procs"
    lab.vm.must(f"(echo $$ >{procs}; exec sh -c 'echo $$ >{procs};"
                f" exec {command} </dev/null >/dev/null 2>&1') &")


def killed_at_rest(check, lab, below=("", ""), controllers=""):
    """Checks that P17 oom-killed is right for a large idle process. It is killed because another
    process of its cgroup grew."""
    new_group(lab, max=96 * MIB)
    lab.vm.must(f"echo '{controllers}' >{CGROUPS}/test/cgroup.subtree_control")
    for name in set(below) - {""}:
        lab.vm.must(f"mkdir {CGROUPS}/test{name}")
    watch = lab.watch("1")
    in_group(lab, "eat", "anon", "55", "--rounds", "1000000", below=below[0])
    waits_for(lab, f"[ $(cat {CGROUPS}/test/memory.current) -gt {55 * MIB} ]")
    idle = int(lab.vm.must("pidof eat").split()[0])
    lab.vm.must("sleep 6")
    in_group(lab, "eat", "anon", "54", "--rate", "6", "--rounds", "1000000",
             below=below[1])
    waits_for(lab, f"grep -q 'oom_kill [1-9]' {CGROUPS}/test/memory.events", 120)
    lab.vm.must("sleep 2")
    grower = int(lab.vm.must("pidof eat").split()[0])
    lines = Lines(watch.stop().text)
    lab.vm.must("killall -9 eat")
    for name in set(below) - {""}:
        waits_for(lab, f"rmdir {CGROUPS}/test{name}")
    kills = opened(lines, "P17")
    if not check.that(kills, f"findings {[f['id'] for f in lines.of('finding')]}"):
        return
    told = " ".join(remedy_texts(kills[0]))
    check.equal("victim", kills[0]["pid"], idle)
    check.that(f"eat[{grower}] grew, not the killed process" in told, told)
    check.equal("whose limit", lines.of("oom")[0]["limit_cgroup"], "/test")
    check.equal("where", lines.of("oom")[0]["cgroup"], f"/test{below[0]}")


# Functions that are tests in guests

def quiet(check, lab):
    """On an idle machine, faultscope reports no shortage."""
    ran, lines = host(lab, seconds=QUIET_SECONDS)
    check.equal("status", ran.status, DONE)
    check.equal("short, kind", (answer_of(lines)["memory_short"], answer_of(lines)["kind"]),
                (False, "none"))
    check.equal("findings", [line["id"] for line in lines.of("finding")], [])


def busy_and_well(check, lab):
    """faultscope reports no shortage for work that fits into memory, nor for a page cache that
    fills all memory."""
    work = lab.work("eat", "anon", "96", "--rounds", "100000", "--random")
    lab.vm.must("cat /dev/vdb >/dev/null", 120)
    ran, lines = host(lab)
    check.equal("status", ran.status, DONE)
    check.equal("findings", [line["id"] for line in lines.of("finding")], [])
    lab.vm.must(f"kill -9 {work.pid}")


def swap_thrash(check, lab):
    """P05 swap-thrashing is reported for random access to 480 MiB on a machine with 384 MiB of
    memory and enough swap."""
    lab.write("/proc/sys/vm/overcommit_memory", "1")
    lab.vm.must("swapon /dev/vda")
    work = lab.work("eat", "anon", "480", "--rounds", "100000", "--random")
    swaps(lab)
    ran, lines = host(lab, seconds=15)
    text = lab.faultscope("host", "-d", "3", timeout=120)
    said = answer_of(lines)
    check.equal("status", ran.status, FOUND)
    check.equal("short, kind, finding", (said["memory_short"], said["kind"], said["finding"]),
                (True, "swap", "P05"))
    check.equal("who", said["top_consumers"][0]["pid"], work.pid)
    check.equal("next victim", said["next_oom_victims"][0]["pid"], work.pid)
    told = lines.of("pressure")
    span = (told[-1]["t"] - told[0]["t"]) * 1e6
    some = (told[-1]["psi"]["some"]["total_us"] - told[0]["psi"]["some"]["total_us"]) / span
    check.near("share of waiting against PSI's total", said["psi_some_share"], some, 0.25)
    check.that(told[-1]["swap_in_pages"] > told[0]["swap_in_pages"], "nothing was swapped in")
    remedies = " ".join(text for line in opened(lines, "P05") for text in remedy_texts(line))
    check.that(re.search(r"needs \d+(\.\d+)? MiB more memory", remedies), remedies)
    check.that(re.match(r"short of memory: [^()]*\(P05\); work waits for ",
                        " ".join(text.out.split())), text.out[:300])
    lab.vm.must(f"kill -9 {work.pid}")


def found_in(lab, recording):
    """Returns (id, severity) of the findings of a recording about memory, without forecasts."""
    ran = lab.faultscope("report", "--format", "jsonl", recording, timeout=120)
    assert ran.out, f"status {ran.status}: {ran.err}"
    return {(line["id"], line["severity"]) for line in Lines(ran.out).of("finding", state="open")
            if line["id"].startswith("P") and not line["slug"].endswith("-growth")}


def incident_of_swap_thrash(check, lab):
    """An exporter that was only running meets a thrash. Its incident has the findings of a recording
    that was made on purpose, at the right time."""
    store, purpose = f"{lab.top}/incidents", f"{lab.top}/purpose.fsr"
    lab.write("/proc/sys/vm/overcommit_memory", "1")
    lab.vm.must("swapon /dev/vda")
    exporter = _lab.GuestProcess(lab, _lab.quoted([
        _lab.FAULTSCOPE, "export", "--web.listen-address", "127.0.0.1:1436", "--incident.store",
        store, "--oom.store", f"{lab.top}/oom", "--incident.after", "10"]))
    exporter.line("err", 1, 300)
    recorder = _lab.GuestProcess(lab, _lab.quoted([
        _lab.FAULTSCOPE, "record", "-q", "--overhead", "low", "-i", "1", "-o", purpose]))
    waits_for(lab, f"grep -q 'Seccomp:.*2' /proc/{recorder.pid}/status", 300)
    lab.vm.must("sleep 20")  # calm
    begun = int(lab.vm.must("date +%s"))
    work = lab.work("eat", "anon", "480", "--rounds", "100000", "--random")
    waits_for(lab, f"ls {store}/*.fsr >/dev/null 2>&1", 180)
    lab.vm.must("sleep 20")
    lab.vm.must(f"kill -9 {work.pid}; kill -INT {recorder.pid}; kill {exporter.pid}")
    recorder.end(120)
    exporter.end(120)
    ran = lab.faultscope("incidents", "--json", "--store", store)
    listed = [line for line in Lines(ran.out).of("incident")
              if line["trigger"] == "pressure" or line["finding"].startswith("P")]
    check.that(listed, f"no incident of the thrash: {ran.out} {exporter.text('err')}")
    if not listed:
        return
    one = listed[-1]
    at = calendar.timegm(time.strptime(one["time"][:19], "%Y-%m-%dT%H:%M:%S"))
    check.that(begun - 1 <= at, f"the trigger is at {one['time']}, the thrash began at {begun}")
    check.that(one["seconds_before"] >= 15, f"{one['seconds_before']} s before it")
    wanted = {one for one in found_in(lab, purpose) if one[1] == "critical"}
    got = found_in(lab, one["file"])
    check.that(("P05", "critical") in wanted, f"the recording on purpose has {wanted}")
    check.that(wanted <= got, f"the incident has {got}, not {wanted}")


def cache_thrash(check, lab):
    """P06 page-cache-thrashing is reported for random access to a mapped file of 600 MiB. Besides
    the file there are 150 MiB of anonymous memory, and no swap."""
    held = lab.work("eat", "anon", "150", "--hold")
    held.truth()
    work = lab.work("eat", "file", "600", "--rounds", "1000", "--random", "--in", "/files")
    grows(lab, "workingset_refault_file", 5000, 180)
    _, lines = host(lab, seconds=15)
    said = answer_of(lines)
    # Waits for the disk count as memory shortage only if PSI counts them, too.
    if lines.of("pressure")[-1]["psi"]["some"]["avg10"] >= 12:
        check.equal("kind, finding", (said["kind"], said["finding"]), ("page_cache", "P06"))
    check.that(not opened(lines, "P05"), "P05 without swap")
    lab.vm.must(f"kill -9 {work.pid} {held.pid}")


def group_fills(check, lab):
    """Memory of a version 2 cgroup grows steadily. P22 cgroup-not-reclaimable has a forecast, and
    P17 oom-killed follows."""
    new_group(lab, max=120 * MIB)
    watch = lab.watch("1")
    in_group(lab, "eat", "anon", "300", "--rate", "6")
    waits_for(lab, f"grep -q 'oom_kill [1-9]' {CGROUPS}/test/memory.events", 120)
    lab.vm.must("sleep 2")
    lines = Lines(watch.stop().text)
    fills = [line for line in opened(lines, "P22") if line["place"] == "/test"]
    kills = opened(lines, "P17")
    if not check.that(fills and kills, f"findings {[f['id'] for f in lines.of('finding')]}"):
        return
    ahead = [line for line in fills if line["forecast"]]
    check.that(ahead and kills[0]["t"] - ahead[0]["t"] >= 5,
               f"told at {[round(line['t'], 1) for line in ahead]}, killed {kills[0]['t']:.1f}")
    check.equal("cleared before", [line["t"] for line in lines.of("finding", state="cleared")
                                   if line["id"] == "P22" and line["t"] < kills[0]["t"]], [])
    check.equal("constraint", kills[0]["cause"], "cgroup_memory")
    check.equal("who", kills[0]["comm"], "eat")
    check.that(any("the killed process itself grew" in text for text in remedy_texts(kills[0])), remedy_texts(kills[0]))
    cgroup = lines.of("cgroup")[-1]
    check.equal("limit, version", (cgroup["limit_bytes"], cgroup["version"]), (120 * MIB, 2))


def held_back(check, lab):
    """P07 memory-high-throttling is reported in this case: the usage is above memory.high, and the
    kernel cannot reclaim memory."""
    new_group(lab, high=64 * MIB)
    in_group(lab, "eat", "anon", "200")
    waits_for(lab, f"grep -q 'high [1-9][0-9]' {CGROUPS}/test/memory.events")
    ran, lines = host(lab, seconds=14)
    said = answer_of(lines)
    check.equal("status", ran.status, FOUND)
    check.equal("kind, finding, place", (said["kind"], said["finding"], said["place"]),
                ("cgroup_throttled", "P07", "/test"))


def kill_beside_files(check, lab, limit, files, grows):
    """Returns the finding P17 oom-killed of a cgroup in which an ended process left `files` MiB in
    a tmpfs, or None."""
    new_group(lab, max=limit * MIB)
    lab.vm.must("mkdir -p /shm && mount -t tmpfs -o size=80M none /shm")
    lab.vm.must(f"sh -c 'echo $$ >{CGROUPS}/test/cgroup.procs;"
                f" dd if=/dev/zero of=/shm/file bs=1M count={files} 2>/dev/null'")
    watch = lab.watch("1")
    in_group(lab, "eat", "anon", *grows)
    waits_for(lab, f"grep -q 'oom_kill [1-9]' {CGROUPS}/test/memory.events")
    lab.vm.must("sleep 2")
    lines = Lines(watch.stop().text)
    lab.vm.must("umount /shm")
    kills = opened(lines, "P17")
    check.that(kills, f"findings {[f['id'] for f in lines.of('finding')]}")
    return kills[0] if kills else None


def tmpfs_of_group(check, lab):
    """Files in a tmpfs fill the cgroup, and no kill frees them. The advice of P17 oom-killed says
    that no kill frees these files."""
    kill = kill_beside_files(check, lab, 100, 70, ("200", "--rate", "20"))
    if not kill:
        return
    shmem = [one for one in kill["evidence"] if one["field"].startswith("shared memory")]
    check.that(shmem and shmem[0]["value"] == 70 << 20, f"shmem {kill['evidence']}")
    check.that(any("/dev/shm" in text for text in remedy_texts(kill)), remedy_texts(kill))


def sibling_kills(check, lab):
    """P17 oom-killed is right if the killed process is not the process that grew."""
    killed_at_rest(check, lab)


def nested_kills(check, lab):
    """P17 oom-killed is right if the limit belongs to the parent of both processes' cgroups."""
    killed_at_rest(check, lab, ("/a", "/b"), "+memory")


def nested_kills_without_controller(check, lab):
    """P17 oom-killed is right in nested cgroups if the kernel counts their memory only for the
    parent."""
    killed_at_rest(check, lab, ("/a", "/b"))


def files_kill(check, lab):
    """An ended process has written more than half of the cgroup's limit to a tmpfs. P17 oom-killed
    names these files."""
    kill = kill_beside_files(check, lab, 48, 30, ("40", "--rate", "4"))
    if not kill:
        return
    told = " ".join(remedy_texts(kill))
    # For the statistics of a cgroup, the kernel sums up the counters of its CPUs only every two
    # seconds.
    check.that(re.search(r"(29|30)\.\d MiB of the 48.0 MiB are tmpfs files", told), told)
    check.that("the killed process itself grew" not in told, told)


def machine_kills(check, lab):
    """All memory of a machine without swap is used. P24 memory-nearly-exhausted is reported, then
    P17 oom-killed."""
    # with heuristic overcommit, mmap would fail at once
    lab.write("/proc/sys/vm/overcommit_memory", "1")
    watch = lab.watch("1")
    work = lab.work("eat", "anon", "500", "--rate", "12")
    lab.write(f"/proc/{work.pid}/oom_score_adj", 500)
    waits_for(lab, f"! kill -0 {work.pid}", 120)
    lab.vm.must("sleep 2")
    lines = Lines(watch.stop().text)
    kills = opened(lines, "P17")
    if not check.that(kills, f"findings {[f['id'] for f in lines.of('finding')]}"):
        return
    check.equal("victim", kills[0]["pid"], work.pid)
    check.that("machine's memory" in kills[0]["title"], kills[0]["title"])
    before = [line for line in opened(lines, "P19", "P24") if line["t"] < kills[0]["t"]]
    check.that(before and kills[0]["t"] - before[0]["t"] >= 3,
               f"told {[(f['id'], f['t']) for f in before]}, killed {kills[0]['t']}")
    check.that({"P19", "P24"} & set(kills[0]["caused_by"]), f"because {kills[0]['caused_by']} of " + str(
        [(one["id"], one["state"], one["t"]) for one in lines.of("finding")]))


def strict_commit(check, lab):
    """In overcommit mode 2, memory is committed up to the limit, and one more mmap fails. M30
    commit-limit-near and M15 commit-limit-reached are reported."""
    lab.write("/proc/sys/vm/overcommit_ratio", "90")
    lab.write("/proc/sys/vm/overcommit_memory", "2")
    held = lab.work("eat", "promised", "240", "--hold")
    held.truth()
    ran, lines = host(lab)
    told = lines.of("pressure")[-1]
    check.equal("mode, ratio", (told["overcommit_memory"], told["overcommit_ratio"]), (2, 90))
    check.equal("kind", answer_of(lines)["kind"], "commit")
    check.equal("status", ran.status, FOUND)
    # Releases some of the commit limit, since faultscope itself needs some.
    lab.vm.must(f"kill -9 {held.pid}")
    held = lab.work("eat", "promised", "120", "--hold")
    held.truth()
    refused = lab.faultscope("run", "--json", "-o", "/tmp/lines", "--", lab.workload("eat"), "anon",
                             "300", timeout=180)
    lines = Lines(lab.read("/tmp/lines"))
    check.that(opened(lines, "M15"), f"{[f['id'] for f in lines.of('finding')]} {refused.err}"
                                     f" {lines.of('failed_call')}")
    lab.vm.must(f"kill -9 {held.pid}")


def delays(lab, pid):
    """Returns (uptime, time that the process waited for disks according to delay accounting), both
    in seconds."""
    text = lab.vm.must(f"cat /proc/uptime /proc/{pid}/stat")
    return float(text.split()[0]), int(text.rpartition(")")[2].split()[39]) / 100


def share_of(lab, pid, fields, seconds):
    """Returns two shares of time that faults of a process waited. The first is from the `fields` of
    faultscope, the second from delay accounting."""
    watch = lab.watch("-p", pid, "1", first=3)
    began, waited = delays(lab, pid)
    lab.vm.must(f"sleep {seconds}", seconds * 5)
    ended, more = delays(lab, pid)
    told = Lines(watch.stop().text).of("process", pid)
    first, last = told[1], told[-1]
    ns = sum(field_of(last, name) - field_of(first, name) for name in fields)
    return ns / 1e9 / (last["t"] - first["t"]), (more - waited) / (ended - began)


def stall_of_files(check, lab):
    """faultscope and delay accounting must report the same time that faults waited for reads of a
    file."""
    held = lab.work("eat", "anon", "150", "--hold")
    held.truth()
    work = lab.work("eat", "file", "600", "--rounds", "1000", "--random", "--in", "/files")
    grows(lab, "workingset_refault_file", 5000, 180)
    ours, kernels = share_of(lab, work.pid, ["faults.disk_ns"], 15)
    print(f"# faults wait for the disk {ours:.1%} of the time, by delayacct {kernels:.1%}")
    # faultscope and the kernel are not read at exactly the same times
    check.near("share of the time", ours, kernels, 0.15)
    lab.vm.must(f"kill -9 {work.pid} {held.pid}")


def stall_of_swap(check, lab):
    """faultscope and delay accounting must report the same time that faults waited for swap."""
    lab.write("/proc/sys/vm/overcommit_memory", "1")
    lab.vm.must("swapon /dev/vda")
    work = lab.work("eat", "anon", "480", "--rounds", "100000", "--random")
    swaps(lab)
    ours, kernels = share_of(lab, work.pid, ["faults.disk_ns"], 15)
    print(f"# faults wait for swap {ours:.1%} of the time, by delayacct {kernels:.1%}")
    # faultscope and the kernel are not read at exactly the same times
    check.near("share of the time", ours, kernels, 0.15)
    lab.vm.must(f"kill -9 {work.pid}")


def read_ahead(check, lab):
    """P14 mmap-readahead is reported if touching a few pages of a mapped file makes the kernel read
    1 MiB."""
    lab.vm.must("echo 1024 >/sys/block/vdb/queue/read_ahead_kb")
    work = lab.work("eat", "file", "600", "--rounds", "1000", "--random", "--pairs", "--in",
                    "/files")
    grows(lab, "workingset_refault_file", 5000, 180)
    capture = lab.watch("-p", work.pid, "1", "6").finished()
    lines = Lines(capture.text)
    faults = lines.last(work.pid)["faults"]
    check.that(opened(lines, "P14"), f"{[line['id'] for line in lines.of('finding')]}"
                                     f" {faults['read_bytes']} {faults['served']}")
    lab.vm.must(f"kill -9 {work.pid}; echo 128 >/sys/block/vdb/queue/read_ahead_kb")


def hints(lab):
    return int(lab.vm.must("awk '$1==\"numa_hint_faults\"{print $2}' /proc/vmstat"))


def while_stopped(lab, work, watch):
    """Stops the process for some seconds, so that its counters are at rest. Returns two numbers of
    NUMA hint faults: the kernel's and faultscope's."""
    lab.vm.must(f"kill -STOP {work.pid}; sleep 3")
    said = Lines(watch.said().rpartition("\n")[0]).last(work.pid)
    before = hints(lab)
    lab.vm.must(f"kill -CONT {work.pid}")
    return before, field_of(said, "faults.handled.numa_hint.count")


def numa_hints(check, lab):
    """Compares faultscope's number of NUMA hint faults of a process with the kernel's number for
    the whole machine, which is otherwise idle."""
    lab.write("/proc/sys/kernel/numa_balancing", "1")
    # Limits the period of NUMA scans. For pages that stay on their node, the kernel raises the
    # period up to a minute.
    lab.vm.must("""
mount -t debugfs none /sys/kernel/debug 2>/dev/null
cd /sys/kernel/debug/sched/numa_balancing
echo 200 >scan_period_min_ms
echo 400 >scan_period_max_ms""")
    work = lab.work("eat", "anon", "64", "--rounds", "1000000")
    grows(lab, "numa_hint_faults", 100, 120)
    watch = lab.watch("-p", work.pid, "1", first=2)
    before, ours_before = while_stopped(lab, work, watch)
    # Moves the process between the NUMA nodes, since otherwise all its pages would soon be local.
    lab.vm.must(f"for i in 1 2 3 4 5; do for cpu in 1 2; do taskset -p $cpu {work.pid};"
                f" sleep 2; done; done >/dev/null", 300)
    told, ours = while_stopped(lab, work, watch)
    watch.stop()
    told, ours = told - before, ours - ours_before
    print(f"# {ours} hints, {told} by /proc/vmstat")
    check.that(told > 1000, f"{told} hints alone")
    check.near("hints", ours, told, 0.1)
    lab.vm.must(f"kill -9 {work.pid}")


def redis(lab, *words, seconds=60):
    lab.vm.must(f"redis-cli -s /tmp/redis {_lab.quoted(words)} >/dev/null", seconds)


def saves_while_written(check, lab):
    """A Redis server with huge pages saves in a child process while each page of its values is
    written. P09 copy-on-write-after-fork must be reported."""
    lab.vm.must("echo always >/sys/kernel/mm/transparent_hugepage/enabled")
    server = _lab.GuestProcess(lab, "redis-server --port 0 --unixsocket /tmp/redis --save ''"
                                    " --dir /files --disable-thp no --rdb-key-save-delay 20000"
                                    " --enable-debug-command yes")
    waits_for(lab, "redis-cli -s /tmp/redis ping >/dev/null 2>&1")
    redis(lab, "debug", "populate", REDIS_VALUES, "k", REDIS_BYTES, seconds=300)
    watch = lab.watch("-p", server.pid, "--children", "1")
    redis(lab, "bgsave")
    redis(lab, "eval", f"for i = 0, {REDIS_VALUES - 1} do for at = 0, {REDIS_BYTES - 1}, 4096 do"
                       " redis.call('setrange', 'k:'..i, at, 'y') end end", "0", seconds=300)
    lab.vm.must("sleep 2")
    lines = Lines(watch.stop().text)
    told = opened(lines, "P09")
    copies = [(line["t"], line["pid"], field_of(line, "faults.handled.copy_on_write.count"))
              for line in lines.of("process")]
    if check.that(told, f"{[line['id'] for line in lines.of('finding')]} {copies}"):
        print(f"# {told[0]['title']}: {[one['value'] for one in told[0]['evidence']]}")
        check.that("redis" in evidence_texts(told[0]).get("shares its memory", ""),
                   told[0]["evidence"])
        check.that(any("disable-thp yes" in text for text in remedy_texts(told[0])), remedy_texts(told[0]))
    lab.vm.must(f"killall -9 redis-server; until ! kill -0 {server.pid} 2>/dev/null; do"
                f" usleep 100000; done; rm -f /files/*.rdb /tmp/redis;"
                f" echo madvise >/sys/kernel/mm/transparent_hugepage/enabled")


def captured(scenario):
    """Returns a test that runs a scenario of tests/e2e unchanged."""
    def body(check, lab):
        capture = scenario(lab)
        scenario.expect(check, Lines(capture.text), capture.truth)
    return body


TESTS = {"an idle machine": quiet, "a busy one that is well": busy_and_well,
         "swap thrash": swap_thrash,
         "an incident of swap thrash": incident_of_swap_thrash, "page cache thrash": cache_thrash,
         "a cgroup fills and kills": group_fills, "memory.high": held_back,
         "tmpfs in a cgroup": tmpfs_of_group, "the machine kills": machine_kills,
         "a sibling kills": sibling_kills, "a nested limit kills": nested_kills,
         "a limit above kills": nested_kills_without_controller, "files kill": files_kill,
         "strict commit": strict_commit,
         "read-ahead": read_ahead,
         "a convoy": captured(test_locks.test_threads_wait_for_each_other),
         "its map is read": captured(test_locks.test_process_whose_map_is_read)}


def e2e_tap():
    """Returns the TAP writer of tests/e2e/run.py."""
    path = ROOT / "tests/e2e/run.py"
    spec = importlib.util.spec_from_file_location("e2e_run", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Tap()


def in_guest(check, guest, body):
    if not guest.vm.usable():
        raise Skip("the guest is gone")
    guest.reset()
    lab = guest.lab()
    try:
        body(check, lab)
    finally:
        if guest.vm.usable():
            guest.reset()
            lab.close()


# Tests for a guest with one CPU. With more CPUs, a task that was woken up may wait for its turn on
# another CPU.
STALL_TESTS = {"stall of files": stall_of_files, "stall of swap": stall_of_swap}
# Tests for a guest with two NUMA nodes
NUMA_TESTS = {"NUMA hints": numa_hints}
# Tests for a guest with Redis
REDIS_TESTS = {"Redis saves": saves_while_written}


def test_kernel(tap, kernel, only, tests=TESTS, **machine):
    tests = {name: body for name, body in tests.items() if only in name}
    if not tests:
        return
    try:
        guest = Guest(kernel, **machine)
    except Missing as reason:
        tap.say(f"pressure, {kernel}", skip=str(reason))
        return
    except GuestError as reason:
        tap.say(f"pressure, {kernel}: a guest", [str(reason)])
        return
    try:
        for name, body in tests.items():
            tap.test(f"pressure, {kernel}: {name}", in_guest, guest, body)
        if guest.vm.crash():
            tap.say(f"pressure, {kernel}: the guest lives", [guest.vm.crash()])
    finally:
        guest.vm.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", metavar="NAME,...", default=",".join(KERNELS))
    parser.add_argument("--only", metavar="NAME", default="",
                        help="run only tests whose name contains NAME")
    options = parser.parse_args()
    tap = e2e_tap()
    for kernel in options.kernels.split(","):
        test_kernel(tap, kernel, options.only)
        test_kernel(tap, kernel, options.only, STALL_TESTS, cpus=1)
        test_kernel(tap, kernel, options.only, NUMA_TESTS, nodes=2)
        test_kernel(tap, kernel, options.only, REDIS_TESTS, installed=("redis-server", "redis-cli"))
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
