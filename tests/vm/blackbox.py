#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The flight recorder in real kernels: a broken driver crashes them, and the record is read after.

Each fault is two boots of one QEMU: the first arms the recorder, loads the driver and commits the
fault; the panic reboots the machine warm, and the second reads what survived. Prints TAP, and a
table of what was right.

usage: blackbox.py [--kernels 6.1,6.12,newest] [--only FAULT,...] [--faultscope PATH] [--cuts N]

With --cuts the power goes instead, N times: a guest whose recorder writes all the time is stopped
once, and from there run on and killed at a random moment, again and again.
"""
import argparse
import json
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/vm"), str(ROOT / "tools")]

import driver  # noqa: E402
import fetch  # noqa: E402
import initrd  # noqa: E402
from aptroot import Missing  # noqa: E402
from vm import end_with_parent  # noqa: E402

PATIENCE = 120  # seconds for both boots of a fault
DISK_MIB = 16
SHARE_NEEDED = 0.95
DRIVER = "crashlab"

# What is right: mechanisms that name it, and whether the machine dies of it.
Fault = namedtuple("Fault", "mechanisms fatal command", defaults=(True, None))
REMOVE = "echo {name} >/proc/crashlab; rmmod crashlab; sleep 5"
FAULTS = {
    "null_read": Fault(("null_deref",)),
    "null_write": Fault(("null_deref",)),
    "null_far": Fault(("near_null",)),
    "null_call": Fault(("null_call",)),
    "err_ptr": Fault(("err_ptr",)),
    "list_twice": Fault(("list_corruption", "list_poison")),
    "list_poison": Fault(("list_poison",)),
    "uaf": Fault(("slab_poison", "uaf")),
    "ro_write": Fault(("ro_write",)),
    "nx": Fault(("nx_exec",)),
    "smap": Fault(("smap",)),
    "smep": Fault(("smep",)),
    "non_canonical": Fault(("non_canonical",)),
    "string": Fault(("string_pointer",)),
    "int_pointer": Fault(("truncated_pointer", "smap")),
    "vmalloc_past": Fault(("vmalloc_guard", "out_of_bounds")),
    "vmalloc_freed": Fault(("vmalloc_uaf",)),
    "vmalloc_late": Fault(("vmalloc_uaf",)),
    "mmio_freed": Fault(("mmio_uaf",)),
    "mmio_late": Fault(("mmio_uaf",)),
        "bug": Fault(("as_reported", "bug")),
    "recursion": Fault(("recursion", "stack_overflow")),
    "stack_smash": Fault(("stack_corruption",)),
    "work": Fault(("null_deref",)),
    "timer": Fault(("null_deref",)),
    "in_irq": Fault(("null_deref",)),
    "holding_lock": Fault(("null_deref",)),
    "warn_first": Fault(("null_deref",)),
    "alloc_failed": Fault(("null_deref",)),
    "near_then_fatal": Fault(("null_deref",)),
    "left_timer": Fault(("freed_text", "freed_module"), True, REMOVE),
    "left_work": Fault(("freed_text", "freed_module"), True, REMOVE),
    "left_notifier": Fault(("freed_text", "freed_module"), True,
                           "echo {name} >/proc/crashlab; rmmod crashlab; sleep 1; reboot -f"),
    "near_misses": Fault((), False),
    "refcount": Fault((), False),
    "warn": Fault((), False),
    "double_free": Fault((), False),
}
SURVIVES = {"6.12", "newest"}  # a warm reboot, by a trace instance
# reserve_mem= is not always found again where the kernel moves itself about (KASLR)
INSTANCE = "memmap=8M$0x10000000 trace_instance=boot_map@0x10000000:8M"
OPTIONS = {"uaf": "slub_debug=FZP", "double_free": "slub_debug=FZP"}
MODULES = ("virtio_pci", "virtio_blk", "ext4")

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tracefs trace /sys/kernel/tracing
while read -r module; do insmod /modules/$module; done </modules/order
mkdir -p /disk /run
until [ -e /dev/vda ]; do usleep 50000; done
mount -t ext4 /dev/vda /disk || echo NO-DISK
exec >/dev/ttyS1 2>&1
if [ -e /disk/crashed ]; then
	faultscope blackbox read --ring /disk/ring --json >/run/found
	echo "@@found $?"
	cat /run/found
	t=/sys/kernel/tracing/instances/boot_map/trace
	[ ! -e $t ] || cp $t /run/trace
	echo "@@triage"
	faultscope triage --json --ring /disk/ring $([ ! -e /run/trace ] || echo /run/trace)
	echo "@@text"
	faultscope triage --ring /disk/ring $([ ! -e /run/trace ] || echo /run/trace)
	echo "@@trace"
	[ ! -e /run/trace ] || cat /run/trace
else
	: >/disk/crashed
	sync
	faultscope blackbox run --ring /disk/ring --ring-bytes 256K --heartbeat 1 &
	i=0
	until faultscope blackbox status --ring /disk/ring >/run/status 2>&1 || [ $i = 300 ]; do
		usleep 200000
		i=$((i + 1))
	done
	insmod /crashlab.ko
	sleep 2
	{command}
	sleep 3
	kill %1
	wait
	echo "@@found 0"
	faultscope blackbox read --ring /disk/ring --json
fi
echo "@@end"
sync
poweroff -f
"""


CUT_INIT = INIT.partition("exec >/dev/ttyS1")[0] + """exec >/dev/ttyS1 2>&1
faultscope blackbox run --ring /disk/ring --ring-bytes 256K --heartbeat 0.1 --keep file &
until faultscope blackbox status --ring /disk/ring >/run/status 2>&1; do usleep 200000; done
i=0
echo "@@ready"
while :; do
	echo "<4>cut: PCIe Bus Error: number $i" >/dev/kmsg
	i=$((i + 1))
	usleep 3000
done
"""
CUT_SECONDS = (0.05, 1.5)
BOOT_PATIENCE = 90


def disk_make(path):
    subprocess.run(["truncate", "-s", f"{DISK_MIB}M", path], check=True)
    program = shutil.which("mke2fs") or "/sbin/mke2fs"
    subprocess.run([program, "-q", "-t", "ext4", "-F", path], check=True)


class Machine:
    """A QEMU whose memory outlives the crash of its kernel."""

    def __init__(self, kernel, faultscope, module):
        self.kernel = kernel
        self.qemu = fetch.qemu(kernel.arch)
        self.busybox = fetch.busybox(kernel.arch)
        self.faultscope = faultscope
        self.module = module
        self.dir = Path(tempfile.mkdtemp(prefix="faultscope-blackbox-"))

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def archive(self, script):
        cpio = initrd.Cpio()
        for path in (*initrd.DIRECTORIES, "modules", "disk"):
            cpio.directory(path)
        cpio.node("dev/console", 5, 1)
        cpio.file("bin/busybox", self.busybox.read_bytes())
        cpio.file("bin/faultscope", self.faultscope.read_bytes())
        cpio.file("crashlab.ko", self.module.read_bytes())
        order = []
        for name, data in initrd.modules_wanted(self.kernel, MODULES):
            cpio.file(f"modules/{name}.ko", data)
            order.append(f"{name}.ko\n")
        cpio.file("modules/order", "".join(order).encode())
        cpio.file("init", script.encode())
        return cpio.bytes()

    def argv(self, append):
        data = [word for place in self.qemu.data for word in ("-L", str(place))]
        console, out = self.dir / "console", self.dir / "out"
        words = [self.qemu.program, *data, "-accel", "tcg", "-cpu", "max,-la57", "-m", "384",
                 "-smp", "2", "-nodefaults", "-no-user-config", "-display", "none", "-net", "none",
                 "-kernel", self.kernel.vmlinuz, "-initrd", self.dir / "initrd",
                 "-drive", f"file={self.dir / 'disk'},format=raw,if=virtio,cache=writethrough",
                 "-serial", f"file:{console}", "-serial", f"file:{out}", "-append",
                 f"console=ttyS0 quiet oops=panic panic=1 mitigations=off cryptomgr.notests "
                 f"tsc=reliable no_timer_check printk.devkmsg=on {append}"]
        return [str(word) for word in words]

    def start(self, script, append):
        (self.dir / "initrd").write_bytes(self.archive(script))
        return subprocess.Popen(self.argv(append), stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                env=self.qemu.env(), preexec_fn=end_with_parent)

    # Power cuts

    def monitor(self, *lines):
        """Says lines to QEMU's monitor; what it answers."""
        said = b""
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(30)
            channel.connect(str(self.dir / "monitor"))
            for line in ("", *lines):
                if line:
                    channel.sendall(line.encode() + b"\n")
                while not said.endswith(b"(qemu) "):
                    more = channel.recv(65536)
                    if not more:
                        return said.decode(errors="replace")
                    said += more
                said += b"\n" if line != lines[-1] else b""
        return said.decode(errors="replace")

    def popen(self, *more):
        words = [*self.argv(""), *map(str, more), "-monitor",
                 f"unix:{self.dir / 'monitor'},server=on,wait=off"]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env=self.qemu.env(),
                                preexec_fn=end_with_parent)

    def stopped_state(self):
        """Boots until the recorder writes; keeps memory and disk of that moment."""
        disk_make(self.dir / "disk")
        (self.dir / "initrd").write_bytes(self.archive(CUT_INIT))
        process = self.popen()
        try:
            wait_until(lambda: "@@ready" in (self.dir / "out").read_text(errors="replace"),
                       BOOT_PATIENCE, "the boot")
            time.sleep(1)
            self.monitor("stop", f"migrate exec:cat>{self.dir / 'state'}")
            wait_until(lambda: "completed" in self.monitor("info migrate"), 60, "the snapshot")
            shutil.copy(self.dir / "disk", self.dir / "disk.then")
        finally:
            process.kill()
            process.wait()

    def cut(self, seconds):
        """Goes on from there for some seconds; what is then on the disk of the recorder's file."""
        shutil.copy(self.dir / "disk.then", self.dir / "disk")
        process = self.popen("-incoming", f"exec:cat {self.dir / 'state'}")
        try:
            wait_until(lambda: "paused" in self.monitor("info status") and
                       "inmigrate" not in self.monitor("info status"), 60, "the state's return")
            self.monitor("cont")
            time.sleep(seconds)
        finally:
            process.kill()
            process.wait()
        ring = self.dir / "ring"
        # as the next mount would: the journal goes first
        subprocess.run([shutil.which("e2fsck") or "/sbin/e2fsck", "-fy", self.dir / "disk"],
                       check=False, capture_output=True)
        program = shutil.which("debugfs") or "/sbin/debugfs"
        subprocess.run([program, "-R", f"dump /ring {ring}", self.dir / "disk"], check=True,
                       capture_output=True)
        return ring

    def run(self, name, fault):
        disk_make(self.dir / "disk")
        command = (fault.command or "echo {name} >/proc/crashlab").format(name=name)
        append = f"{INSTANCE if self.kernel.name in SURVIVES else ''} {OPTIONS.get(name, '')}"
        process = self.start(INIT.replace("{command}", command), append)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return (self.dir / "out").read_text(errors="replace")


def wait_until(true, seconds, what):
    deadline = time.monotonic() + seconds
    while True:
        try:
            if true():
                return
        except OSError:
            pass  # not there yet
        if time.monotonic() > deadline:
            raise Missing(f"{what} takes more than {seconds} s")
        time.sleep(0.1)


def part(out, name):
    found = re.search(rf"^@@{name}\b[^\n]*\n(.*?)(?=^@@|\Z)", out.replace("\r", ""), re.S | re.M)
    return found[1] if found else ""


def lines_of(text):
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            pass


class Judge:
    """What a run said, and what of it was right."""

    def __init__(self, name, fault, out):
        self.name, self.fault = name, fault
        records = list(lines_of(part(out, "found")))
        self.records = [one for one in records if one.get("type") == "blackbox"]
        self.verdict = next(iter(lines_of(part(out, "triage"))), {})
        self.text = part(out, "text")
        self.ended = "@@end" in out

    def held(self):
        """The fatal fault itself, or the oops as it was logged: triage has what survived alone."""
        return bool(self.verdict.get("crash")) or any(one["class"] in ("fault", "oops", "panic") and one["severity"] == "critical" or
                   one["class"] == "fault" for one in self.records)

    def module(self):
        suspects = self.verdict.get("suspects", [])
        accused = (self.verdict.get("recorded") or {}).get("accused")
        return accused or (suspects[0]["module"] if suspects else None)

    def mechanism(self):
        return self.verdict.get("mechanism") or self.verdict.get("kind")

    def near_misses(self):
        return max((one["count"] for one in self.records if one["class"] == "fixup"), default=0)


def judge_fatal(judge):
    wrong = []
    if not judge.held():
        wrong.append("the record does not hold the fault")
    if judge.mechanism() not in judge.fault.mechanisms:
        wrong.append(f"mechanism {judge.mechanism()}, not {'/'.join(judge.fault.mechanisms)}")
    if judge.module() != DRIVER:
        wrong.append(f"module {judge.module()}")
    return wrong


def judge_survived(judge):
    found = {one["class"] for one in judge.records}
    if judge.name == "near_misses":
        return [] if judge.near_misses() >= 65 else [f"near misses: {judge.near_misses()} of 65"]
    return [] if "report" in found else [f"no report: {sorted(found)}"]


def say(number, name, wrong, skip=None):
    print(f"{'not ok' if wrong else 'ok'} {number} - {name}{f' # SKIP {skip}' if skip else ''}")
    for line in wrong:
        print(f"#   {line}")
    sys.stdout.flush()


def test_kernel(name, options, number):
    try:
        kernel = fetch.kernel(name)
        module = driver.module(name, ROOT / "tests/triage/crashlab")
    except Missing as reason:
        say(number + 1, f"{name}: the kernel and its driver", [], skip=str(reason)[:200])
        return number + 1, 0
    machine = Machine(kernel, options.faultscope, module)
    held = named = fatal = failed = 0
    try:
        for fault_name, fault in FAULTS.items():
            if options.only and fault_name not in options.only:
                continue
            began = time.monotonic()
            judge = Judge(fault_name, fault, machine.run(fault_name, fault))
            wrong = judge_fatal(judge) if fault.fatal else judge_survived(judge)
            if options.show:
                for one in ("out", "console"):
                    print((machine.dir / one).read_text(errors="replace"))
            if fault.fatal:
                fatal += 1
                held += judge.held()
                named += not [one for one in wrong if not one.startswith("the record")]
                print(f"# {name}: {fault_name}: {'; '.join(wrong) or 'right'}, "
                      f"{time.monotonic() - began:.0f} s", flush=True)
            else:
                number += 1
                failed += bool(wrong)
                say(number, f"{name}: {fault_name}", wrong)
    finally:
        machine.close()
    for what, count in (("the record holds the fault", held), ("mechanism and module", named)):
        number += 1
        good = fatal == 0 or count >= SHARE_NEEDED * fatal
        failed += not good
        say(number, f"{name}: {what}: {count} of {fatal}",
            [] if good else [f"less than {SHARE_NEEDED:.0%}"])
    return number, failed


def read_ring(faultscope, ring):
    ran = subprocess.run([faultscope, "blackbox", "read", "--json", ring], capture_output=True,
                         text=True, check=False)
    lines = list(lines_of(ran.stdout))
    return [one for one in lines if one["type"] == "blackbox"], lines[-1]


def test_cuts(name, options, number):
    """Records are synced in their order: what is on the disk is all up to some moment."""
    machine = wrong = None
    torn = most = 0
    try:
        kernel = fetch.kernel(name)
        machine = Machine(kernel, options.faultscope, Path(__file__))
        machine.stopped_state()
        began = len(read_ring(options.faultscope, machine.cut(0))[0])
        wrong = []
        for i in range(options.cuts):
            seconds = random.uniform(*CUT_SECONDS)
            records, end = read_ring(options.faultscope, machine.cut(seconds))
            kept = [one["sequence"] for one in records if one["class"] != "heartbeat"]
            torn += end["torn"]
            most = max(most, len(kept))
            if kept != list(range(kept[0], kept[0] + len(kept))) or len(kept) + 3 < began:
                wrong.append(f"cut {i} after {seconds:.2f} s: {len(kept)} records of {began},"
                             f" {end['boots']}")
    except Missing as reason:
        say(number + 1, f"{name}: power cuts", [], skip=str(reason)[:200])
        return number + 1, 0
    finally:
        if machine:
            machine.close()
    print(f"# {name}: {options.cuts} cuts, {began} records before, {most} at most, {torn} torn")
    say(number + 1, f"{name}: {options.cuts} power cuts: every record before the last is there",
        wrong)
    return number + 1, bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", default="6.1,6.12,newest")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--cuts", type=int, metavar="N", default=0,
                        help="cut the power N times, instead of faults")
    parser.add_argument("--show", action="store_true", help="print all that the guest said")
    parser.add_argument("--faultscope", type=Path, default=ROOT / "build/static/faultscope")
    options = parser.parse_args()
    number = failed = 0
    for name in options.kernels.split(","):
        test = test_cuts if options.cuts else test_kernel
        number, more = test(name, options, number)
        failed += more
    print(f"1..{number}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
