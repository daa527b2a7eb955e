#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the post-mortems of OOM kills in real kernels under QEMU. Prints TAP.

Each kill is made by construction (tests/e2e/oom_kills.py), so its true answer is known: which
limit was reached, which kind of memory filled it, and which process held most. Cgroups of both
versions, kills of the whole machine, and kills by a program.
"""
import argparse
import re
import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import fetch  # noqa: E402
import lab as _lab  # noqa: E402
import oom_daemons  # noqa: E402
import oom_kills  # noqa: E402
import programs  # noqa: E402
from aptroot import Missing  # noqa: E402
from oom_kills import kill, last, rests  # noqa: E402
from pressure import e2e_tap  # noqa: E402
from vm import GuestError, Vm  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ("5.10", "6.1", "6.12", "newest")
MEMORY_MIB, DISK_MIB, SWAP_MIB = 384, 256, 64
MODULES = {"virtio_pci": "", "virtio_blk": ""}
RIGHT_OF_100 = 95
STORE = "/var/lib/faultscope/oom"
WAIT_S = 20
SPARES = 40
HUGE_PAGES = 90

# Kills of the whole machine: the processes are in no cgroup with a limit.
HOST_KILLS = [
    # first, while the guest's free memory is not fragmented
    kill("machine: hugetlb pages", [last("anon 500 --name small --adj 500")], "hugetlb", "",
         "hugetlb", needs=("hugetlb",)),
    kill("machine: leak", [last("anon 500 --name hog --adj 500")], "anonymous", "hog", "victim"),
    kill("machine: shared memory", [last("shared 500 --name hog --adj 500")], "shmem", "hog",
         "victim"),
    kill("machine: tmpfs file of an ended process",
         [rests("file 180 --exits --in {tmpfs}"), last("anon 500 --name small --adj 500")],
         "shmem", "", "tmpfs"),
    kill("machine: page tables", [last("tables 500 --name hog --adj 500")], "page_tables", "hog",
         "victim"),
    kill("machine: protected process holds most",
         [rests("anon 220 --name hog --adj -1000"), last("anon 500 --name small --adj 500")],
         "anonymous", "hog", "other_process"),
    kill("machine: pipes of another process",
         [rests("pipes 180 --name quiet --adj -1000"), last("anon 500 --name small --adj 500")],
         "other_kernel", "", "kernel"),
    kill("machine: fork bomb", [last("anon 6 --children 90 --name bomb --adj 500")], "anonymous",
         "bomb", "many_processes"),
]


class Guest:
    def __init__(self, kernel):
        found = fetch.kernel(kernel)
        files = _lab.files(programs.static_faultscope(found.arch),
                           programs.static_workloads(found.arch))
        daemons, self.missing_daemons = oom_daemons.files(found.arch)
        self.vm = Vm(found, {**files, **daemons}, append="psi=1 swapaccount=1", modules=MODULES, memory_mib=MEMORY_MIB,
                     disks_mib=(SWAP_MIB, DISK_MIB), cpus=2)
        self.lab = _lab.VmLab(self.vm)
        self.vm.must("mke2fs -q /dev/vdb || mkfs.ext2 /dev/vdb; mkdir -p /files /var/lib /oomfiles;"
                     " mkswap /dev/vda; swapon /dev/vda;"
                     " mount /dev/vdb /files; mount -t tmpfs -o size=300M oom /oomfiles;"
                     " echo 1 >/proc/sys/vm/overcommit_memory")

    def begin(self):
        """Starts faultscope oom --watch. It is protected: it holds more than other processes."""
        self.vm.must(f"rm -rf {STORE} /tmp/pages; (exec {_lab.FAULTSCOPE} oom --watch --json"
                     " -o /tmp/pages </dev/null >/tmp/watch.log 2>&1 & echo $! >/tmp/watch.pid);"
                     " n=0; until [ -e /tmp/pages ] || [ $n -gt 600 ]; do sleep 0.1; n=$((n + 1));"
                     " done; sleep 2; echo -1000 >/proc/$(cat /tmp/watch.pid)/oom_score_adj", 120)

    def end(self):
        self.vm.must("kill -TERM $(cat /tmp/watch.pid);"
                     " while kill -0 $(cat /tmp/watch.pid) 2>/dev/null; do sleep 0.1; done", 60)

    def protect_agent(self):
        """Protects the agent, which runs the commands of the tests, from kills of the whole
        machine. Programs that it starts are protected too, unless they have --adj."""
        self.vm.must("for p in /proc/[0-9]*; do [ \"$(cat $p/comm)\" != guest_agent.sh ] ||"
                     " echo -1000 >$p/oom_score_adj; done 2>/dev/null; :")

    def add_spares(self):
        """Starts small processes that the kernel may kill while the victim still exits. It panics if
        there is none: the OOM reaper frees no shared memory, which lasts until the victim's exit."""
        self.vm.must(f"n=0; while [ $n -lt {SPARES} ]; do (echo 0 >/proc/self/oom_score_adj;"
                     " exec sleep 3600 </dev/null >/dev/null 2>&1 &); n=$((n + 1)); done")

    def lines(self):
        return oom_kills.lines_of(self.vm.get("/tmp/pages").decode(errors="replace"))

    def waits_for_page(self, pattern):
        self.vm.must(f"n=0; until grep -q '{pattern}' /tmp/pages || [ $n -gt {WAIT_S * 10} ];"
                     " do sleep 0.1; n=$((n + 1)); done", WAIT_S * 4 + 60)

    def has_v1(self):
        """Mounts the memory controller of cgroup v1 if the kernel has it. Before Linux 5.11, a limit
        holds for the cgroups below only if the root says so."""
        ran = self.vm.run("mkdir -p /v1 && mount -t cgroup -o memory none /v1"
                          " && [ -e /v1/memory.limit_in_bytes ] || exit 1;"
                          " echo 1 >/v1/memory.use_hierarchy || :", 20)
        return ran.status == 0


def made_in_cgroups(tap, guest, kernel, place, only):
    kills = [one for one in oom_kills.KILLS if place.can(one) and only in one.name]
    right = dict.fromkeys(("limit", "kind", "holder", "blame"), 0)
    for i, one in enumerate(kills):
        name = f"kill{i}v{place.version}"
        group = place.make(one, name)
        try:
            place.start(one, group, "/tmp/said")
            guest.waits_for_page(f'/{name}["/]')
            page = oom_kills.page_of(guest.lines(), name)
        finally:
            place.end(one, group, "/tmp/said")
        wrong = oom_kills.judge(one, page, name)
        print(f"# {kernel}, v{place.version}, {one.name}: {wrong or 'right'}"
              + (f" {page['memory']}" if wrong and page else ""), flush=True)
        if wrong and not page:
            print("#   last page:", [line for line in guest.lines() if line["type"] == "oom_page"][-1:])
        for topic in right:
            right[topic] += topic not in wrong
    for topic, n in right.items():
        tap.say(f"oom, {kernel}, cgroup v{place.version}: {topic}, {n} of {len(kills)} right",
                [] if n * 100 >= len(kills) * RIGHT_OF_100 else ["too few"])


def stored_of_cgroups(tap, guest, kernel, place, only):
    """The stored pages are right after all processes and cgroups are gone."""
    kills = [one for one in oom_kills.KILLS if place.can(one) and only in one.name]
    # the list begins with the newest page; several kills may have happened in a cgroup
    lines = oom_kills.lines_of(guest.vm.must(f"{_lab.FAULTSCOPE} oom --list --json", 60))[::-1]
    reported = sum(line["type"] == "oom_page" for line in guest.lines())
    print(f"# {kernel}: {len(lines)} pages in the list, {reported} were reported", flush=True)
    right, facts = 0, []
    for i, one in enumerate(kills):
        wrong = oom_kills.judge_stored(one, lines, f"kill{i}v{place.version}")
        right += not wrong
        if wrong:
            print(f"# {kernel}, stored, {one.name}: {wrong}", flush=True)
        facts += [f"{one.name}: {key} {text}" for key, text in wrong.items() if key in one.facts]
    tap.say(f"oom, {kernel}, cgroup v{place.version}: stored pages, {right} of {len(kills)} right",
            facts + ([] if right * 100 >= len(kills) * RIGHT_OF_100 else ["too few"]))


def made_on_host(guest, place, one):
    """Makes a kill of the whole machine. Returns what is wrong in its page."""
    before = len([line for line in guest.lines() if line["type"] == "oom_page"])
    guest.add_spares()
    if "hugetlb" in one.needs:
        guest.vm.must(f"echo {HUGE_PAGES} >/proc/sys/vm/nr_hugepages;"
                      f" grep -q 'HugePages_Total: *{HUGE_PAGES}$' /proc/meminfo")
    for i, process in enumerate(one.processes):
        words = process.words.format(tmpfs=place.tmpfs, disk=place.disk)
        guest.vm.must(f"rm -f /tmp/said.{i}; (ulimit -n {oom_kills.FDS};"
                      f" exec {_lab.WORKLOADS}/oomkill {words} </dev/null"
                      f" >/tmp/said.{i} 2>&1 &)")
        if process.rests:
            guest.vm.must(f"n=0; until [ -s /tmp/said.{i} ] || [ $n -gt 600 ]; do sleep 0.1;"
                          " n=$((n + 1)); done", 120)
    guest.vm.must(f"n=0; until [ $(grep -c '\"type\":\"oom_page\"' /tmp/pages) -gt {before} ] ||"
                  " [ $n -gt 120 ]; do sleep 0.5; n=$((n + 1)); done", 240)
    guest.vm.must(f"killall -9 oomkill hog small quiet bomb 2>/dev/null; rm -f {place.tmpfs}/*;"
                  " echo 0 >/proc/sys/vm/nr_hugepages; echo 3 >/proc/sys/vm/drop_caches;"
                  " for p in /proc/[0-9]*; do case $(readlink $p/exe) in *oomkill) kill -9"
                  " ${p#/proc/};; esac; done 2>/dev/null; killall -9 sleep; sleep 1", 60)
    pages = [line for line in guest.lines() if line["type"] == "oom_page"]
    if len(pages) <= before:
        return {"page": "none"}
    page, wrong = pages[before], {}
    if page["scope"] != "host" or page["limit_cgroup"]:
        wrong["limit"] = f"{page['scope']} {page['limit_cgroup']}"
    if page["kind"] not in one.kinds:
        wrong["kind"] = f"{page['kind']}, not {one.kinds}: {page['memory']}"
    if one.holders and page["holder_comm"].split()[0] not in one.holders:
        wrong["holder"] = f"{page['holder_comm']}, not {one.holders}"
    if page["blame"] not in one.blames:
        wrong["blame"] = f"{page['blame']}, not {one.blames}"
    if wrong:
        print(f"# {one.name}: {page}", flush=True)
    return wrong


def sent_by_daemon(guest):
    """A program with the name of an OOM daemon kills a process: the page names the program."""
    guest.vm.must(f"({_lab.WORKLOADS}/oomkill anon 20 --name target </dev/null >/tmp/said 2>&1 &"
                  " echo $! >/tmp/target.pid); sleep 1;"
                  f" {_lab.WORKLOADS}/oomkill kill $(cat /tmp/target.pid) --exits --name earlyoom",
                  60)
    guest.waits_for_page('"by_comm":"earlyoom"')
    pages = [one for one in guest.lines() if one["type"] == "oom_page" and one["comm"] == "target"]
    if not pages:
        return ["no page"]
    page = pages[-1]
    got = page["scope"], page["signal"], page["by_comm"]
    return [] if got == ("daemon", "SIGKILL", "earlyoom") else [str(got)]


def real_daemons(tap, kernel, guest, v1):
    for package, name, kills in (
            ("earlyoom", "earlyoom sends SIGTERM",
             lambda: oom_daemons.killed_by_earlyoom(guest, "SIGTERM")),
            ("earlyoom", "earlyoom sends SIGKILL",
             lambda: oom_daemons.killed_by_earlyoom(guest, "SIGKILL")),
            ("systemd-oomd", "systemd-oomd kills a cgroup",
             lambda: oom_daemons.killed_by_oomd(guest))):
        skip = guest.missing_daemons.get(package)
        if not skip and v1 and package == "systemd-oomd":
            skip = "systemd-oomd needs cgroup version 2"
        tap.say(f"oom, {kernel}: {name}", **{"skip": skip} if skip else {"wrong": kills()})


def stored(guest):
    """The pages are in the store, and the command shows the newest one without root's rights."""
    names = guest.vm.must(f"ls {STORE}").split()
    shown = guest.vm.run(f"{_lab.FAULTSCOPE} oom", 30)
    listed = guest.vm.run(f"{_lab.FAULTSCOPE} oom --list --json | wc -l", 60)
    wrong = []
    if not names or shown.status or not re.search("OOM-killed|killed by", shown.out):
        wrong.append(f"{len(names)} files, status {shown.status}: {shown.err}")
    if int(listed.out) != len(names):
        wrong.append(f"{listed.out} pages in the list, {len(names)} files")
    return wrong


def test_kernel(tap, kernel, only):
    try:
        guest = Guest(kernel)
    except Missing as reason:
        tap.say(f"oom, {kernel}", skip=str(reason))
        return
    except GuestError as reason:
        tap.say(f"oom, {kernel}: a guest", [str(reason)])
        return
    try:
        workload = f"{_lab.WORKLOADS}/oomkill"
        guest.begin()
        v1 = guest.has_v1()
        if not v1:
            guest.vm.must("echo +memory >/sys/fs/cgroup/cgroup.subtree_control")
        place = oom_kills.Place(guest.vm.must, "/v1" if v1 else "/sys/fs/cgroup", 1 if v1 else 2,
                                workload, "/oomfiles", "/files",
                                has=("threads", "disk", "swap") + (("memsw",) if v1 else ()))
        if any(only in one.name for one in oom_kills.KILLS):
            made_in_cgroups(tap, guest, kernel, place, only)
            stored_of_cgroups(tap, guest, kernel, place, only)
        guest.protect_agent()
        for one in HOST_KILLS:
            if only in one.name:
                wrong = made_on_host(guest, place, one)
                tap.say(f"oom, {kernel}: {one.name}", [f"{k}: {v}" for k, v in wrong.items()])
        if not only:
            tap.say(f"oom, {kernel}: a program kills", sent_by_daemon(guest))
            real_daemons(tap, kernel, guest, v1)
            tap.say(f"oom, {kernel}: the store", stored(guest))
        guest.end()
        if guest.vm.crash():
            tap.say(f"oom, {kernel}: the guest lives", [guest.vm.crash()])
    except GuestError as reason:
        tap.say(f"oom, {kernel}: the guest answers", [str(reason)])
    finally:
        guest.vm.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", metavar="NAME,...", default=",".join(KERNELS))
    parser.add_argument("--only", metavar="NAME", default="",
                        help="make only kills whose name contains NAME")
    options = parser.parse_args()
    # exits normally on SIGTERM, so that guests and their files are removed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    tap = e2e_tap()
    for kernel in options.kernels.split(","):
        test_kernel(tap, kernel, options.only)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
