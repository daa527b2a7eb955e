#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the flight recorder in real kernels that a broken driver crashes. Prints TAP and a table.

A guest starts the flight recorder and loads the driver, and the guest's state is saved once. Each
fault continues from that saved state. The panic reboots the machine warm. The second boot copies to
the disk what survived: the synced file, the trace instance if the kernel has one, and the log of
ramoops. The test judges each of these sources alone, and all of them together.

usage: blackbox.py [--kernels 6.1,6.12,newest] [--only FAULT,...] [--faultscope PATH]
       [--keep DIR] [--cuts N | --dump]

With --keep, files that survived stay in DIR if they are not judged right. With --dump, the script
does another test. It dumps the memory of a guest that hangs in its panic, as kdump would. Then it
searches the dump for the records of the BPF map. With --cuts, the script only makes N power cuts.
For each, it continues a guest from its saved state, and kills it at a random moment. The flight
recorder of this guest writes all the time.
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
import pressure  # noqa: E402
from aptroot import Missing  # noqa: E402
from vm import end_with_parent  # noqa: E402

PATIENCE = 150  # seconds from a fault to the end of the second boot
DISK_MIB = 16
SHARE_NEEDED = 0.95
DRIVER = "crashlab"

# Expected result of a fault. mechanisms: kinds of crash that `triage` may name; fatal: whether the
# machine crashes; command: shell command that causes the fault, if it differs from the usual one.
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
    "panic": Fault(("panic",)),
    "near_misses": Fault((), False),
    "refcount": Fault((), False),
    "warn": Fault((), False),
    "double_free": Fault((), False),
}
SURVIVES = {"6.12", "newest"}  # kernels whose trace instance keeps its data over a warm reboot
# With KASLR, reserve_mem= may get another address after a reboot, so memmap= is used.
INSTANCE = "memmap=8M$0x10000000 trace_instance=boot_map@0x10000000:8M"
RAMOOPS = "memmap=1M$0x14000000"
RAMOOPS_ARGUMENTS = "mem_address=0x14000000 mem_size=0x100000 record_size=0x20000 ecc=1 max_reason=2"
SOURCES = ("file", "instance", "pstore")
OPTIONS = {"uaf": "slub_debug=FZP", "double_free": "slub_debug=FZP"}
MODULES = ("virtio_pci", "virtio_blk", "ext4", "ramoops")

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tracefs trace /sys/kernel/tracing
while read -r module arguments; do insmod /modules/$module $arguments; done </modules/order
mount -t pstore pstore /sys/fs/pstore
mkdir -p /disk /run
until [ -e /dev/vda ]; do usleep 50000; done
mount -t ext4 /dev/vda /disk || echo NO-DISK
exec >/dev/ttyS1 2>&1
if [ -e /disk/crashed ]; then
	cp /sys/kernel/tracing/instances/boot_map/trace /disk/trace
	mkdir /disk/pstore
	cp /sys/fs/pstore/* /disk/pstore
else
	: >/disk/crashed
	sync
	faultscope blackbox run --ring /disk/ring --ring-size 256K --heartbeat 1 &
	i=0
	until faultscope blackbox status --ring /disk/ring >/run/status 2>&1 || [ $i = 300 ]; do
		usleep 200000
		i=$((i + 1))
	done
	[ $i != 300 ] || echo "@@deaf"
	insmod /crashlab.ko
	echo "@@ready"
	read -r command </dev/ttyS1
	sleep 2
	eval "$command"
	sleep 3
	kill %1
	wait
fi
echo "@@end"
umount /disk
poweroff -f
"""


CUT_INIT = INIT.partition("exec >/dev/ttyS1")[0] + """exec >/dev/ttyS1 2>&1
faultscope blackbox run --ring /disk/ring --ring-size 256K --heartbeat 0.1 --keep file &
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

DUMP_INIT = INIT.partition("exec >/dev/ttyS1")[0] + """exec >/dev/ttyS1 2>&1
faultscope blackbox run --keep map --heartbeat 1 >/run/said 2>&1 &
until pidof faultscope; do usleep 200000; done
sleep 8
insmod /crashlab.ko
sleep 2
echo mmio_late >/proc/crashlab
"""
BOOT_PATIENCE = 180
HEAD_BYTES, MAGIC = 64, b"FSbb"  # header of a record, as in src/blackbox/ring_record.h


def disk_make(path):
    subprocess.run(["truncate", "-s", f"{DISK_MIB}M", path], check=True)
    program = shutil.which("mke2fs") or "/sbin/mke2fs"
    subprocess.run([program, "-q", "-t", "ext4", "-F", path], check=True)


class TooLong(Exception):
    """Raised if a guest does not reach the expected state in time."""


class Machine:
    """A QEMU guest whose memory outlives the crash of its kernel."""

    def __init__(self, kernel, faultscope, module):
        self.kernel = kernel
        self.qemu = fetch.qemu(kernel.arch)
        self.busybox = fetch.busybox(kernel.arch)
        self.faultscope = faultscope
        self.module = module
        self.stopped = None  # kernel arguments of the saved guest, or None
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
            order.append(f"{name}.ko {RAMOOPS_ARGUMENTS if name == 'ramoops' else ''}\n")
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
                 "-serial", f"file:{console}", "-serial", "chardev:out", "-chardev",
                 f"socket,id=out,path={self.dir / 'in'},server=on,wait=off,logfile={out}",
                 "-monitor", f"unix:{self.dir / 'monitor'},server=on,wait=off", "-append",
                 f"console=ttyS0 quiet oops=panic panic=1 mitigations=off cryptomgr.notests "
                 f"tsc=reliable no_timer_check printk.devkmsg=on {append}"]
        return [str(word) for word in words]

    def monitor(self, *lines):
        """Sends lines to QEMU's monitor and returns the answer."""
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

    def popen(self, append, *more):
        return subprocess.Popen([*self.argv(append), *map(str, more)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env=self.qemu.env(), preexec_fn=end_with_parent)

    def said(self):
        return (self.dir / "out").read_text(errors="replace")

    def stop_at_ready(self, script, append):
        """Boots until the flight recorder writes records, and saves the memory and the disk of that
        moment."""
        disk_make(self.dir / "disk")
        (self.dir / "initrd").write_bytes(self.archive(script))
        process = self.popen(append)
        try:
            wait_until(lambda: "@@ready" in self.said(), BOOT_PATIENCE, "the boot")
            if "@@deaf" in self.said():
                raise TooLong(f"the recorder does not start: {self.said()[-500:]}")
            time.sleep(1)
            self.monitor("stop", f"migrate exec:cat>{self.dir / 'state'}")
            wait_until(lambda: "completed" in self.monitor("info migrate"), 60, "the snapshot")
            shutil.copy(self.dir / "disk", self.dir / "disk.then")
        finally:
            process.kill()
            process.wait()
        self.stopped = append

    def dump(self, script, append):
        """Boots until the kernel hangs in its panic. Returns the file with the dump of the guest's
        memory."""
        disk_make(self.dir / "disk")
        (self.dir / "initrd").write_bytes(self.archive(script))
        process = self.popen(append)
        try:
            wait_until(lambda: "end Kernel panic" in (self.dir / "console").read_text(
                errors="replace"), BOOT_PATIENCE, "the panic")
            self.monitor("stop", f"dump-guest-memory {self.dir / 'memory'}")
        finally:
            process.kill()
            process.wait()
        return self.dir / "memory"

    def go_on(self):
        """Starts the guest from its saved state and returns its process."""
        shutil.copy(self.dir / "disk.then", self.dir / "disk")
        process = self.popen(self.stopped, "-incoming", f"exec:cat {self.dir / 'state'}")
        try:
            wait_until(lambda: "paused" in self.monitor("info status") and
                       "inmigrate" not in self.monitor("info status"), 60, "the state's return")
            self.monitor("cont")
        except BaseException:
            process.kill()
            process.wait()
            raise
        return process

    def from_disk(self, *commands):
        """Runs debugfs commands on the disk. The disk's journal is replayed before the commands
        run, as a mount would do."""
        subprocess.run([shutil.which("e2fsck") or "/sbin/e2fsck", "-fy", self.dir / "disk"],
                       check=False, capture_output=True)
        program = shutil.which("debugfs") or "/sbin/debugfs"
        for command in commands:
            subprocess.run([program, "-R", command, self.dir / "disk"], check=True,
                           capture_output=True)

    def cut(self, seconds):
        """Continues the saved guest for some seconds and kills it. Returns the recorder's file from
        the guest's disk."""
        process = self.go_on()
        time.sleep(seconds)
        process.kill()
        process.wait()
        self.from_disk(f"dump /ring {self.dir / 'ring'}")
        return self.dir / "ring"

    def run(self, name, fault):
        """Triggers a fault in the saved guest. Returns a directory with the files that survived the
        crash."""
        command = (fault.command or "echo {name} >/proc/crashlab").format(name=name)
        instance = INSTANCE if self.kernel.name in SURVIVES else ""
        append = f"{RAMOOPS} {instance} {OPTIONS.get(name, '')}"
        if self.stopped != append:
            self.stop_at_ready(INIT, append)
        process = self.go_on()
        try:
            with socket.socket(socket.AF_UNIX) as channel:
                channel.connect(str(self.dir / "in"))
                channel.sendall(command.encode() + b"\n")
                process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pass  # a timeout is no error, because the disk shows how far the guest came
        finally:
            process.kill()
            process.wait()
        found = self.dir / "found"
        shutil.rmtree(found, ignore_errors=True)
        found.mkdir()
        self.from_disk(f"dump /ring {found / 'ring'}", f"dump /trace {found / 'trace'}",
                       f"rdump /pstore {found}")
        return found


def wait_until(true, seconds, what):
    deadline = time.monotonic() + seconds
    while True:
        try:
            if true():
                return
        except OSError:
            pass  # the file or socket for which the condition waits does not exist yet
        if time.monotonic() > deadline:
            raise TooLong(f"{what} takes more than {seconds} s")
        time.sleep(0.1)


def lines_of(text):
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            pass


class Judge:
    """Judges for each source whether the records of a fault survived."""

    def __init__(self, name, fault, found, faultscope):
        self.name, self.fault, self.faultscope = name, fault, faultscope
        ring = ["--ring", found / "ring"]
        self.records = [one for one in self.lines("blackbox", "read", found / "ring")
                        if one.get("type") == "blackbox"]
        self.inputs = {"file": ring}
        for source, path in (("instance", found / "trace"), ("pstore", found / "pstore")):
            if path.exists() and (path.is_file() or any(path.iterdir())):
                self.inputs[source] = [path]
        alone = self.inputs.items() if fault.fatal else ()
        self.alone = {source: self.triage(words) for source, words in alone}
        self.verdict = self.triage(self.all_inputs())

    def all_inputs(self):
        return [word for words in self.inputs.values() for word in words]

    def lines(self, *words):
        ran = subprocess.run([self.faultscope, *words, "--json"], capture_output=True, text=True,
                             check=False, errors="replace")
        return list(lines_of(ran.stdout))

    def triage(self, words):
        return next(iter(self.lines("triage", *words)), {})

    def show(self):
        for words in (("blackbox", "read", *self.inputs["file"][1:]),
                      ("triage", *self.all_inputs())):
            subprocess.run([self.faultscope, *words], check=False)

    def file_holds(self):
        """Returns whether the recorder's file has a record of the fatal fault, or of the oops in
        the log."""
        return any(one["class"] in ("fault", "oops", "panic") for one in self.records)

    def named_by(self, verdict):
        return (mechanism_of(verdict) in self.fault.mechanisms and module_of(verdict) == DRIVER)

    def near_misses(self):
        return max((one["count"] for one in self.records if one["class"] == "fixup"), default=0)


def mechanism_of(verdict):
    return verdict.get("mechanism") or verdict.get("kind")


def module_of(verdict):
    suspects = verdict.get("suspects", [])
    accused = (verdict.get("recorded") or {}).get("suspect")
    return accused or (suspects[0]["module"] if suspects else None)


def judge_fatal(judge):
    wrong = []
    if not judge.file_holds():
        wrong.append("the file does not hold the fault")
    for name, verdict in (*judge.alone.items(), ("all", judge.verdict)):
        if verdict and not judge.named_by(verdict):
            wrong.append(f"{name}: {mechanism_of(verdict)} of {module_of(verdict)}")
    if not judge.verdict:
        wrong.append("no verdict")
    return wrong


def judge_survived(judge):
    found = {one["class"] for one in judge.records}
    if judge.name == "near_misses":
        return [] if judge.near_misses() >= 65 else [f"near misses: {judge.near_misses()} of 65"]
    return [] if "report" in found else [f"no report: {sorted(found)}"]


def keep(machine, place):
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(machine.dir / "found", place)
    for name in "console", "out":
        shutil.copy(machine.dir / name, place)


def test_kernel(tap, name, options):
    try:
        kernel = fetch.kernel(name)
        module = driver.module(name, ROOT / "tests/triage/crashlab")
    except Missing as reason:
        tap.say(f"{name}: the kernel and its driver", skip=str(reason)[:200])
        return
    machine = Machine(kernel, options.faultscope, module)
    fatal = 0
    good = dict.fromkeys(("held", "all", *SOURCES), 0)
    try:
        for fault_name, fault in FAULTS.items():
            if options.only and fault_name not in options.only:
                continue
            began = time.monotonic()
            judge = Judge(fault_name, fault, machine.run(fault_name, fault), options.faultscope)
            wrong = judge_fatal(judge) if fault.fatal else judge_survived(judge)
            if wrong and options.keep:
                keep(machine, options.keep / f"{name}-{fault_name}")
            if options.show:
                judge.show()
                print((machine.dir / "console").read_text(errors="replace"))
            if fault.fatal:
                fatal += 1
                good["held"] += judge.file_holds()
                good["all"] += judge.named_by(judge.verdict)
                for source, verdict in judge.alone.items():
                    good[source] += judge.named_by(verdict)
                print(f"# {name}: {fault_name}: {'; '.join(wrong) or 'right'}, "
                      f"{time.monotonic() - began:.0f} s", flush=True)
            else:
                tap.say(f"{name}: {fault_name}", wrong)
    finally:
        machine.close()
    print("# mechanism and module named by each alone: " +
          ", ".join(f"{source} {good[source]} of {fatal}" for source in SOURCES))
    for what, count in (("the file holds the fault", good["held"]),
                        ("mechanism and module", good["all"])):
        short = count < SHARE_NEEDED * fatal
        tap.say(f"{name}: {what}: {count} of {fatal}",
                [f"less than {SHARE_NEEDED:.0%}"] if short else [])


def test_dump(tap, name, options):
    """Tests that a memory dump (vmcore) contains the records of the recorder's BPF map."""
    machine = None
    wrong = []
    try:
        kernel = fetch.kernel(name)
        module = driver.module(name, ROOT / "tests/triage/crashlab")
        machine = Machine(kernel, options.faultscope, module)
        records, end = read_ring(options.faultscope, machine.dump(DUMP_INIT, f"{RAMOOPS} panic=0"))
        faults = [one for one in records if one["class"] == "fault"]
        print(f"# {name}: {len(records)} records in the dump, {end['torn']} torn")
        if not any("module=crashlab" in one["text"] and "area=ioremap" in one["text"]
                   for one in faults):
            wrong.append(f"no record of the fault: {sorted({one['class'] for one in records})}")
        if not any("event=loaded module=crashlab" in one["text"] for one in records):
            wrong.append("no record of the module")
    except Missing as reason:
        tap.say(f"{name}: a dump of memory", skip=str(reason)[:200])
        return
    finally:
        if machine:
            machine.close()
    tap.say(f"{name}: the map's records are found in a dump of memory", wrong)


def read_ring(faultscope, ring):
    ran = subprocess.run([faultscope, "blackbox", "read", "--json", ring], capture_output=True,
                         text=True, check=False)
    lines = list(lines_of(ran.stdout))
    return [one for one in lines if one["type"] == "blackbox"], lines[-1]


def judge_cut(records, began):
    """Returns what is missing after a power cut, or "" if nothing is missing. What is missing may
    be a record between others, older records, or a record that a heartbeat on the disk already
    counts."""
    kept = [one["sequence"] for one in records if one["class"] != "heartbeat"]
    beats = [one["sequence"] for one in records if one["class"] == "heartbeat"]
    if kept != list(range(kept[0], kept[0] + len(kept))):
        return "a gap"
    if len(kept) + 3 < began:
        return f"{len(kept)} records of {began}"
    return f"a heartbeat behind {max(beats)}, records to {kept[-1]}" if max(beats) > kept[-1] else ""


def tear(ring, records):
    """Cuts the newest record at a random byte, as an interrupted write would."""
    newest = [one for one in records if one["class"] != "heartbeat"][-1]["text"].encode()
    data = bytearray(ring.read_bytes())
    begins = data.find(newest) - HEAD_BYTES
    if begins < 0 or data[begins:begins + len(MAGIC)] != MAGIC:
        raise AssertionError(f"no slot has {newest}")
    cut = begins + random.randrange(len(MAGIC), HEAD_BYTES + len(newest))
    data[cut:begins + HEAD_BYTES + len(newest)] = bytes(begins + HEAD_BYTES + len(newest) - cut)
    ring.write_bytes(data)


def test_cuts(tap, name, options):
    """After a power cut, the file has all records up to some moment, because records are synced in
    order. `blackbox read` reports torn records. Only few power cuts interrupt a write. So the test
    also damages the newest record itself."""
    machine, wrong = None, []
    torn = by_hand = most = 0
    try:
        kernel = fetch.kernel(name)
        machine = Machine(kernel, options.faultscope, Path(__file__))
        machine.stop_at_ready(CUT_INIT, RAMOOPS)
        began = len(read_ring(options.faultscope, machine.cut(0))[0])
        for i in range(options.cuts):
            seconds = random.uniform(*CUT_SECONDS)
            ring = machine.cut(seconds)
            records, end = read_ring(options.faultscope, ring)
            torn += end["torn"]
            most = max(most, len(records))
            missing = judge_cut(records, began)
            if missing:
                wrong.append(f"cut {i} after {seconds:.2f} s: {missing}, {end['boots']}")
            tear(ring, records)
            left, end_torn = read_ring(options.faultscope, ring)
            if (len(left), end_torn["torn"]) == (len(records) - 1, end["torn"] + 1):
                by_hand += 1
            else:
                wrong.append(f"cut {i}, torn: {len(left)} of {len(records)}, {end_torn['torn']}"
                             f" told as torn")
    except Missing as reason:
        tap.say(f"{name}: power cuts", skip=str(reason)[:200])
        return
    finally:
        if machine:
            machine.close()
    print(f"# {name}: {options.cuts} cuts, {began} records before, {most} at most, {torn} torn;"
          f" torn by hand and told: {by_hand}")
    tap.say(f"{name}: {options.cuts} power cuts: every record before the last is there, a torn one"
            f" is told", wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", default="6.1,6.12,newest")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--cuts", type=int, metavar="N", default=0,
                        help="test N power cuts instead of faults")
    parser.add_argument("--dump", action="store_true",
                        help="test that a memory dump has the records, instead of faults")
    parser.add_argument("--keep", type=Path, metavar="DIR",
                        help="keep files of wrong results in this directory")
    parser.add_argument("--show", action="store_true", help="print the guest's output")
    parser.add_argument("--faultscope", type=Path, default=ROOT / "build/static/faultscope")
    options = parser.parse_args()
    test = test_cuts if options.cuts else test_dump if options.dump else test_kernel
    tap = pressure.e2e_tap()
    for name in options.kernels.split(","):
        try:
            test(tap, name, options)
        except TooLong as reason:
            tap.say(f"{name}: a guest", [str(reason)])
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
