# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that `triage` reads the log, the modules and the flight recorder's records out of memory
dumps. tests/vm/vmcore.py tests it on dumps of guests."""
import json
import random
import struct

from harness import FAULTSCOPE, PATIENCE, Skip, live
from memory_dump import dump_of
from test_blackbox import read, recorder
from test_triage import OOPS, triage

KEYS = ("kind", "mechanism", "access", "address", "function", "module", "culprit", "bucket",
        "exact_hash", "stack_hash", "kernel", "pid")
CRASH = OOPS.format(comm="sh", release="6.12.0", function="store_read", module="store", flags="OE")
HUNG = """\
[   20.000001] INFO: task writer:411 blocked for more than 120 seconds.
[   20.000002] task:writer          state:D stack:0     pid:411   ppid:1      flags:0x00004000
[   20.000003] Call Trace:
[   20.000004]  <TASK>
[   20.000005]  __mutex_lock.constprop.0+0x34d/0x640
[   20.000006]  store_write+0x20/0x40 [store]
[   20.000007]  </TASK>
"""


def write(lab, name, data):
    path = lab.dir / name
    path.write_bytes(data)
    return path


def same(check, name, said, want):
    for key in KEYS:
        check.equal(f"{name}: {key}", said.get(key), want.get(key))


def test_vmcore_has_the_verdict_of_its_log(check, lab):
    """The verdict of a dump equals the verdict of its log, on both architectures, and with both
    formats of the log."""
    log = write(lab, "log", CRASH.encode())
    want = triage(lab, log)
    for arch in ("x86_64", "arm64"):
        for old in (False, True):
            dump = write(lab, "dump", dump_of(CRASH, arch, old=old))
            said = triage(lab, dump)
            same(check, f"{arch}, {'old' if old else 'new'} log", said, want)
            check.equal(f"{arch}, {old}: lines", said["lines"], want["lines"])


def test_vmcore_lists_the_modules(check, lab):
    """If the log has no list of modules, the dump's list is used, as a line of the log."""
    names = ["store", "ext4", "a_module_with_a_long_name"]
    for arch in ("x86_64", "arm64"):
        said = triage(lab, write(lab, "dump", dump_of(HUNG, arch, modules=names)))
        check.equal(f"{arch}: lines", said["lines"], len(HUNG.splitlines()) + 1)
        check.equal(f"{arch}: culprit", said["culprit"], "store")
    said = triage(lab, write(lab, "dump", dump_of(CRASH, modules=names)))
    check.equal("lines, if the log has the list", said["lines"], len(CRASH.splitlines()))


def has_libkdumpfile(lab):
    ran = lab.faultscope("triage", write(lab, "compressed", dump_of(CRASH, form="kdump")))
    if ran.returncode == 1 and "built without libkdumpfile" in ran.err:
        assert "makedumpfile --dump-dmesg" in ran.err, ran.err
        raise Skip("faultscope is built without libkdumpfile")


def test_vmcore_compressed(check, lab):
    """The verdict of a compressed dump without pages of zeros equals the verdict of its log."""
    has_libkdumpfile(lab)
    want = triage(lab, write(lab, "log", CRASH.encode()))
    for arch in ("x86_64", "arm64"):
        data = dump_of(CRASH, arch, form="kdump")
        check.that(len(data) < len(dump_of(CRASH, arch)) / 4, f"{len(data)} bytes")
        same(check, arch, triage(lab, write(lab, "dump", data)), want)
    generator = random.Random(11)
    for number in range(40):
        damaged = bytearray(data)
        if number % 2:
            damaged = damaged[:generator.randrange(20, len(data))]
        for _ in range(30):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        # libkdumpfile allocates what the file claims, which takes long to overwrite
        ran = lab.call("env", "MALLOC_PERTURB_=0", FAULTSCOPE, "triage",
                       write(lab, "damaged", bytes(damaged)))
        check.that(ran.returncode in (1, 3, 7), f"{number}: status {ran.returncode}: {ran.err}")


def test_vmcore_flattened(check, lab):
    """A file in the flattened format is read, or a message says how to convert it."""
    head = struct.pack(">16sqq", b"makedumpfile", 1, 1).ljust(4096, b"\0")
    data = dump_of(CRASH, form="kdump")
    flat = head + struct.pack(">qq", 0, len(data)) + data + struct.pack(">qq", -1, -1)
    ran = lab.faultscope("triage", write(lab, "flat", flat))
    if ran.returncode != 3:
        check.equal("status", ran.returncode, 1)
        check.that("makedumpfile" in ran.err and "FILE" in ran.err, ran.err)


def test_vmcore_damaged(check, lab):
    """A damaged dump gives a message and status 1, not a crash, and never the verdict that there is
    no crash."""
    good = dump_of(CRASH, modules=["store"])
    generator = random.Random(7)
    for number in range(60):
        data = bytearray(good)
        if number % 3 == 0:
            data = data[:generator.randrange(20, len(data))]
        elif number % 3 == 1:  # the ELF header
            for _ in range(4):
                data[generator.randrange(16, 120)] = generator.randrange(256)
        else:  # VMCOREINFO, the page tables, the log
            for _ in range(40):
                data[generator.randrange(120, 120 + (128 << 10))] = generator.randrange(256)
        ran = lab.faultscope("triage", "--json", write(lab, "damaged", bytes(data)))
        check.that(ran.returncode in (1, 3, 7), f"{number}: status {ran.returncode}: {ran.err}")
        if ran.returncode == 1:
            check.that("cannot read" in ran.err and "damaged" in ran.err, f"{number}: {ran.err!r}")
        elif ran.returncode == 3:
            check.that(json.loads(ran.out)["crash"], f"{number}: {ran.out[:200]}")


def test_vmcore_without_description(check, lab):
    data = bytearray(dump_of(CRASH))
    at = data.index(b"OSRELEASE=")
    data[at:at + 10] = b"OSRELEASX="
    ran = lab.faultscope("triage", write(lab, "dump", bytes(data)))
    check.equal("status", ran.returncode, 1)
    check.that("VMCOREINFO" in ran.err, ran.err)
    data = bytearray(dump_of(CRASH))
    data[18:20] = (22).to_bytes(2, "little")  # EM_S390
    ran = lab.faultscope("triage", write(lab, "dump", bytes(data)))
    check.equal("status of s390", ran.returncode, 1)
    check.that("architecture" in ran.err, ran.err)


def test_vmcore_without_architecture(check, lab):
    """If the header of a dump names no architecture, the description of the kernel shows it."""
    want = triage(lab, write(lab, "log", CRASH.encode()))
    for arch in ("x86_64", "arm64"):
        data = bytearray(dump_of(CRASH, arch))
        data[18:20] = bytes(2)  # EM_NONE
        ran = lab.faultscope("triage", "--json", write(lab, "dump", bytes(data)))
        if ran.returncode == 3:
            same(check, arch, json.loads(ran.out), want)
        else:
            check.that(False, f"{arch}: {ran.err}")


@live
def test_vmcore_has_records(check, lab):
    """The records of the flight recorder in a dump are found, in a compressed dump also."""
    ring = lab.dir / "ring"
    process = recorder(lab, ring, "--ring-size", "64K", seconds=1)
    _, err = process.communicate(timeout=PATIENCE)
    check.equal("status", process.returncode, 0)
    want, _ = read(lab, ring)
    check.that(want, f"no records: {err}")
    for form in ("elf", "kdump"):
        if form == "kdump":
            has_libkdumpfile(lab)
        path = write(lab, f"dump.{form}", dump_of(CRASH, form=form, more=ring.read_bytes()))
        found, _ = read(lab, path)
        check.equal(f"{form}: records", [one["sequence"] for one in found],
                    [one["sequence"] for one in want])
        check.equal(f"{form}: bucket", triage(lab, path)["bucket"],
                    triage(lab, write(lab, "log", CRASH.encode()))["bucket"])
