#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that the flight recorder reports nothing of a severity above info on a busy healthy
machine. Prints TAP.

In a guest, Debian's stress-ng runs its stressors as root, each for some seconds. Meanwhile, the
test loads and unloads modules of the kernel, and one out-of-tree module. After the stressors, the
test reads the recorder's file. At the end, the test causes recovered kernel faults, which must be
reported. (Without such faults, a recorder that misses everything would pass the test.)
"""
import argparse
import json
import re
import shlex
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True

import driver  # noqa: E402
import dynamic  # noqa: E402
import fetch  # noqa: E402
import lab  # noqa: E402
import pressure  # noqa: E402
import programs  # noqa: E402
from aptroot import Missing  # noqa: E402
from initrd import modules_wanted  # noqa: E402
from vm import GuestError, Vm  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DRIVER = "crashlab"
STRESS = "/usr/bin/stress-ng"
COME_AND_GO = ("dummy", "tun", "veth", "loop", "zram", "overlay", "squashfs", "xfs", "nbd")
CLASSES = "cpu,cpu-cache,device,filesystem,interrupt,io,memory,network,os,pipe,scheduler,vm"
# stress-ng stressors that are left out, for one of these reasons: they read the guest's serial
# line, use a CPU until the kernel reports it, reboot the machine, do not concern the kernel, or
# poison a page (madvise).
LEFT_OUT = "dev,dev-shm,softlockup,watchdog,smi,gpu,madvise"
STRESSOR_SECONDS = 3
MEMORY_MIB, DISK_MIB = 1024, 512
RING = "/files/ring"
POLL_SECONDS = 10
NEAR_MISSES, NEAR_MISSES_LEAST = "near_misses", 65
INFO = "info"
# Classes of records that may have a severity above info. No record of the classes in GRAVE may be
# lost.
GRAVE = ("fault", "fixup", "report", "hardware", "iommu", "gpu", "oops", "panic")

STRESSING = f"""echo 500 >/proc/self/oom_score_adj
mkdir -p /files/tmp
while :; do
	{STRESS} --sequential 1 --class {CLASSES} --exclude {LEFT_OUT} --timeout {STRESSOR_SECONDS} \
		--temp-path /files/tmp --oomable --verbose
done"""

MODULES = """while :; do
	while read -r module; do insmod /coming/$module.ko && echo $module; done </coming/order
	insmod /coming/crashlab.ko && echo crashlab
	sleep 2
	rmmod crashlab
	while read -r module; do rmmod $module; done </coming/back
	sleep 1
done"""


class Guest:
    def __init__(self, name):
        self.kernel = fetch.kernel(name)
        self.module = driver.module(name, ROOT / "tests/triage/crashlab")
        files = {lab.FAULTSCOPE: programs.static_faultscope(self.kernel.arch),
                 **dynamic.files("stress-ng", STRESS),
                 f"/coming/{DRIVER}.ko": self.module}
        coming = modules_wanted(self.kernel, COME_AND_GO)
        for module, data in coming:
            files[f"/coming/{module}.ko"] = data
        order = [module for module, _ in coming]
        files["/coming/order"] = "".join(f"{one}\n" for one in order).encode()
        files["/coming/back"] = "".join(f"{one}\n" for one in reversed(order)).encode()
        self.vm = Vm(self.kernel, files, modules={"virtio_pci": "", "virtio_blk": ""},
                     memory_mib=MEMORY_MIB, disks_mib=(DISK_MIB,))
        try:
            self.vm.must("mkfs.ext2 /dev/vda && mkdir -p /files && mount /dev/vda /files &&"
                         " ulimit -c 0; for p in $(pidof guest_agent.sh); do"
                         " echo -1000 >/proc/$p/oom_score_adj; done")
            self.lab = lab.VmLab(self.vm)
        except BaseException:
            self.vm.close()
            raise

    def shell(self, script):
        return lab.GuestProcess(self.lab, f"sh -c {shlex.quote(script)}")

    def record(self):
        process = lab.GuestProcess(self.lab, f"{lab.FAULTSCOPE} blackbox run --ring {RING}"
                                             f" --ring-size 32M")
        self.vm.must(f"until {lab.FAULTSCOPE} blackbox status --ring {RING}; do usleep 200000;"
                     f" done >/dev/null 2>&1", 60)
        return process

    def end(self, process, signal):
        """Ends a process by a signal, and waits for it. If the process is a shell, its process
        group ends, too."""
        self.vm.must(f"kill -{signal} {process.pid}; while kill -0 {process.pid} 2>/dev/null; do"
                     f" usleep 100000; done", 120)

    def records(self):
        """Returns (number of records by class and severity, records above info, findings, last
        line)."""
        self.vm.must(f"{lab.FAULTSCOPE} blackbox read --json {RING} >/tmp/read; [ $? != 1 ]", 300)
        counts = self.vm.must("grep '\"type\":\"blackbox\",' /tmp/read | sed 's/.*\"class\":\"\\("
                              "[a-z]*\\)\",\"severity\":\"\\([a-z]*\\)\".*/\\1 \\2/' | sort |"
                              " uniq -c", 120)
        rest = self.vm.must("grep -v '\"type\":\"blackbox\",.*\"severity\":\"info\"' /tmp/read;"
                            " grep '\"class\":\"heartbeat\"' /tmp/read | tail -n 1", 120)
        lines = [json.loads(line) for line in rest.splitlines()]
        of = {kind: [one for one in lines if one["type"] == kind]
              for kind in ("blackbox", "blackbox_finding", "blackbox_end")}
        grave = [one for one in of["blackbox"] if one["severity"] != INFO]
        beat = [one for one in of["blackbox"] if one["class"] == "heartbeat"]
        return counts, grave, of["blackbox_finding"], of["blackbox_end"][0], beat[-1]["text"]


def in_use(guest, seconds):
    """Lets the guest work for some seconds, and checks regularly that its kernel has not crashed.
    """
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        guest.vm.must(f"sleep {POLL_SECONDS}", 20 * POLL_SECONDS)
        if guest.vm.crash():
            raise GuestError(guest.vm.crash())


def is_wanted(record, since):
    """Returns whether a record is an expected recovered fault. Soon after a module was loaded, its
    symbols may be unknown."""
    return (record["class"] in ("fixup", "fault") and record["t"] >= since
            and (f"module={DRIVER}" in record["text"] or "how=again" in record["text"]))


def test(check, guest, seconds):
    recorder = guest.record()
    stress, modules = guest.shell(STRESSING), guest.shell(MODULES)
    began = time.monotonic()
    in_use(guest, seconds)
    lasted = time.monotonic() - began
    for process in stress, modules:
        guest.end(process, "KILL")
    guest.vm.must("killall -9 stress-ng; while pidof stress-ng; do usleep 200000; done; sleep 1;"
                  f" rmmod {DRIVER} 2>/dev/null; insmod /coming/{DRIVER}.ko && sleep 3", 120)
    tried = guest.vm.must(f"echo msr >/proc/{DRIVER}; dmesg | grep 'an MSR that is not there'")
    since = float(guest.vm.must("cat /proc/uptime").split()[0])
    guest.vm.must(f"echo {NEAR_MISSES} >/proc/{DRIVER}; sleep 3", 60)
    guest.end(recorder, "INT")
    counts, grave, findings, end, beat = guest.records()
    said = modules.text("out").split()
    stressors = re.findall(r"debug: +\[\d+\] (\S+): (?:\[\d+\] )?started",
                           stress.text("out") + stress.text("err"))
    print(f"# {lasted:.0f} s; {len(said)} modules came, {said.count(DRIVER)} of them {DRIVER};"
          f" {len(stressors)} stressors began, of {len(set(stressors))} sorts")
    for line in counts.splitlines():
        print(f"# {line.strip()}")
    print(f"# {beat}")
    check.that(len(stressors) > 3 and len(said) > 3, f"too little was done: {stress.text('err')}")
    check.that("-5" in tried, f"rdmsr_safe() of no MSR: {tried}")
    check.equal("above info", [one["text"] for one in grave if not is_wanted(one, since)][:10],
                [])
    check.equal("diagnoses above info", [f"{one['id']} {one['text']}" for one in findings
                                         if one["severity"] != INFO and one["first"] < since], [])
    check.equal("boots, torn, beyond", (len(end["boots"]), end["torn"], end["lost"]), (1, 0, 0))
    check.equal("missing", end["boots"][0]["missing"], 0)
    check.equal("left out", [one for one in GRAVE if f"dropped.{one}=" in beat], [])
    told = max((one["count"] for one in grave if one["class"] == "fixup"), default=0)
    check.that(told >= NEAR_MISSES_LEAST, f"{told} of {NEAR_MISSES_LEAST} near misses were told")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kernels", metavar="NAME,...", default="6.12")
    options = parser.parse_args()
    tap = pressure.e2e_tap()
    for kernel in options.kernels.split(","):
        what = f"the flight recorder, {kernel}: {options.minutes:g} minutes of stress"
        guest = None
        try:
            guest = Guest(kernel)
            tap.test(what, test, guest, options.minutes * 60)
        except Missing as reason:
            tap.say(what, skip=str(reason))
        except GuestError as reason:
            tap.say(what, [str(reason)])
        finally:
            if guest:
                guest.vm.close()
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
