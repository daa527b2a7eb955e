# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `triage` on logs whose right verdict is known. The verdict must be equal in every log
format. Other tests check the exit statuses of `triage`."""

import bz2
import gzip
import json
import lzma
import os
import random
import re
import shutil
import subprocess
import zlib

import containers
from harness import FAULTSCOPE, LONG, PATIENCE, ROOT, Skip, complaint, some_of

LOGS = ROOT / "tests/triage/logs"
TRUTH = ROOT / "tests/triage/truth.json"
FORMATS = [ROOT / "tests/triage" / name for name in ("formats.txt", "reports.txt")]
DEVICES = ROOT / "tests/triage/device_reports.txt"
SAME = ("kind", "mechanism", "access", "address", "size", "function", "module", "culprit", "bucket",
        "exact_hash", "stack_hash")
PLAIN = "6.1_null_write.log"
LEFT = "6.1_left_timer.log"
BENIGN = """\
[    1.000000] Linux version 6.1.0-50-amd64 (debian-kernel@lists.debian.org) #1 SMP
[    2.500000] traps: worker[812] general protection fault ip:7f1c2a sp:7ffd01 error:0 in libc.so.6
[    3.000000] demo[901]: segfault at 13db548 ip 000000000013db548 sp 00007ffc04cc error 4
[    4.000000] WARNING: RO_VPD is uninitialized or empty.
[    5.000000] ODEBUG: selftest passed
[    6.000000] INFO: lockdep is turned off.
[    6.100000] tool[77]: unhandled level 2 translation fault (11) at 0x00000010, esr 0x92000006
[    6.100001] CPU: 0 PID: 77 Comm: tool Not tainted 6.1.0 #1
[    6.100002] pc : 0000aaaad0a51774
[    6.100003] lr : 0000ffff9c5d7a3c
[    6.100004] x29: 0000ffffe2c1a3b0 x28: 0000000000000000 x27: 0000000000000000
[    6.200000] sysrq: Show backtrace of all active CPUs
[    6.200001] NMI backtrace for cpu 1
[    6.200002] CPU: 1 PID: 0 Comm: swapper/1 Not tainted 6.1.0 #1
[    6.200003] RIP: 0010:native_safe_halt+0xb/0x10
[    6.200004] Call Trace:
[    6.200005]  default_idle+0x9/0x20
[    7.000000] x86/split lock detection: #AC: app/77 took a split_lock trap at address: 0x401136
"""


def triage(lab, *words, status=3):
    ran = lab.faultscope("triage", "--json", *words)
    assert ran.returncode == status, f"{words}: status {ran.returncode}, {ran.err!r}"
    return json.loads(ran.out)


def test_triage_knows_our_logs(check, lab):
    for name, want in json.loads(TRUTH.read_text()).items():
        said = triage(lab, LOGS / name)
        for key, value in want.items():
            check.equal(f"{name}: {key}", said.get(key), value)


def written_reports():
    """Yields (description, {field: allowed values}, log) of each written report."""
    for part in (part for path in FORMATS
                 for part in re.split(r"^== ", path.read_text(), flags=re.M)[1:]):
        name, wanted, log = part.split("\n", 2)
        pairs = (word.split("=", 1) for word in wanted.split())
        yield name, {key: value.split("|") for key, value in pairs}, log.rstrip("\n").replace("\\x20\n", " \n") + "\n"


def test_triage_knows_what_kernels_print(check, lab):
    path = lab.dir / "report.log"
    reports = list(written_reports())
    check.that(len(reports) > 100, f"{len(reports)} reports")
    for name, wanted, log in reports:
        path.write_text(log)
        said = json.loads(lab.faultscope("triage", "--json", path).out)
        for key, values in wanted.items():
            got = said.get(key)
            check.that(str(got) in values or (not got and "-" in values),
                       f"{name}: {key} is {got!r}, not {' or '.join(values)}")


def device_reports():
    """Yields (description, [(key, value)], log) of each report in device_reports.txt."""
    for part in re.split(r"^== ", DEVICES.read_text(), flags=re.M)[1:]:
        head, log = part.split("\n\n", 1)
        name, *wanted = head.split("\n")
        yield name, [line.split("=", 1) for line in wanted], log.rstrip("\n") + "\n"


def answer(said, key):
    """Returns the value of a key in a verdict or its notice: of the JSON, or of a detail."""
    notice = (said["notices"] or [{}])[0]
    if key.startswith("notice"):
        return str(notice.get(key.partition(" ")[2] or "kind"))
    details = (notice if notice else said).get("details", [])
    found = [one["value"] for one in details if one["name"] == key]
    return found[0] if found else str(said.get(key))


def test_triage_knows_reports_about_devices(check, lab):
    """A report of each kind has the right verdict, details and page of `explain`, in text also."""
    path = lab.dir / "report.log"
    kinds = set()
    for name, wanted, log in device_reports():
        path.write_text(log)
        ran = lab.faultscope("triage", "--json", path)
        said = json.loads(ran.out)
        kinds |= {one.get("kind") for one in [said, *said["notices"]]} - {None, "none"}
        for key, value in wanted:
            check.equal(f"{name}: {key}", answer(said, key), value)
        check.equal(f"{name}: status", ran.returncode, 3 if said["crash"] else 0)
        text = " ".join(lab.faultscope("triage", "--width", "200", path).out.split())
        for said_of in [said, *said["notices"]]:
            for detail in said_of.get("details", []):
                check.that(" ".join(detail["value"].split()) in text, f"{name}: {detail}: {text}")
            if said_of.get("finding"):
                check.that(f"faultscope explain {said_of['finding']}" in text, f"{name}: {text}")
                page = lab.faultscope("explain", said_of["finding"])
                check.equal(f"{name}: status of explain", page.returncode, 0)
    check.that(len(kinds) >= 29, f"only {len(kinds)} kinds: {kinds}")


OOPS = """\
[   20.000001] BUG: kernel NULL pointer dereference, address: 0000000000000030
[   20.000002] #PF: supervisor read access in kernel mode
[   20.000003] #PF: error_code(0x0000) - not-present page
[   20.000004] Oops: 0000 [#1] PREEMPT SMP NOPTI
[   20.000005] CPU: 1 PID: 812 Comm: {comm} Not tainted {release} #1
[   20.000006] RIP: 0010:{function}+0x10/0x40 [{module}]
[   20.000007] Call Trace:
[   20.000008]  <TASK>
[   20.000009]  {function}+0x10/0x40 [{module}]
[   20.000010]  do_one_initcall+0x4e/0x190
[   20.000011]  </TASK>
[   20.000012] Modules linked in: {module}({flags}) other
"""
MACHINE_CHECK = """\
[    1.000000] mce: [Hardware Error]: CPU 2: Machine Check Exception: 5 Bank 9: be0000000080{code:04x}
[    1.000000] Kernel panic - not syncing: Fatal machine check
"""
CODES = {  # error codes of machine checks, and the start of what they mean
    0x0005: "internal parity error of the CPU;", 0x0000: "error code 0x0;",
    0x000b: "error code 0xb;", 0x000c: "cache error, L0;", 0x000e: "cache error, L2;",
    0x000f: "cache error, generic level;", 0x0010: "TLB error, L0;", 0x001d: "TLB error, L1;",
    0x0020: "error code 0x20;", 0x007f: "error code 0x7f;",
    0x0080: "memory controller error, channel 0;", 0x009f: "memory controller error read, channel 15;",
    0x00a1: "memory controller error write, channel 1;",
    0x00b2: "memory controller error address or command, channel 2;",
    0x00c3: "memory controller error scrubbing, channel 3;",
    0x00ff: "memory controller error, channel 15;",
    0x0110: "cache error, L0 read;", 0x0129: "cache error, L1 write;",
    0x0136: "cache error, L2 data read;", 0x014a: "cache error, L2 data write;",
    0x0151: "cache error, L1 instruction fetch;", 0x0160: "cache error, L0 prefetch;",
    0x0172: "cache error, L2 eviction;", 0x018b: "cache error, generic level snoop;",
    0x01f0: "cache error, L0;", 0x0200: "error code 0x200;",
    0x1136: "cache error, L2 data read;", 0x0400: "internal timer error (the CPU was stuck);",
    0x0401: "internal error of the CPU;", 0x0800: "bus or interconnect error, L0;",
    0x0e0f: "bus or interconnect error, generic level;",
    0x0d1b: "bus or interconnect error, generic level read, time-out;"}
WARN = """\
[   20.000001] ------------[ cut here ]------------
[   20.000002] WARNING: CPU: 1 PID: 812 at drivers/misc/store.c:12 store_read+0x10/0x40 [store]
[   20.000003] Modules linked in: store(OE)
[   20.000004] CPU: 1 PID: 812 Comm: sh Not tainted 6.1.0 #1
[   20.000005] RIP: 0010:store_read+0x10/0x40 [store]
[   20.000006] Call Trace:
[   20.000007]  vfs_read+0x10/0x40
[   20.000008] ---[ end trace 0000000000000000 ]---
"""
KASAN = """\
[   20.000001] BUG: KASAN: slab-use-after-free in store_read+0x10/0x40 [store]
[   20.000002] Read of size 8 at addr ffff888107d4c000 by task sh/812
[   20.000003] CPU: 1 PID: 812 Comm: sh Not tainted 6.8.0 #1
[   20.000004] Call Trace:
[   20.000005]  store_read+0x10/0x40 [store]
[   20.000006] Allocated by task 1:
[   20.000007]  store_probe+0x10/0x40 [store]
[   20.000008] Freed by task 2:
[   20.000009]  store_remove+0x10/0x40 [store]
"""


def remedy_of(lab, log):
    path = lab.dir / "remedy.log"
    path.write_text(log)
    return " ; ".join(triage(lab, path)["remedy"])


def oops(module="store", comm="sh", release="6.1.0", flags="OE"):
    return OOPS.format(module=module, comm=comm, release=release, flags=flags,
                       function=f"{module}_read")


def test_triage_gives_no_advice_that_hurts(check, lab):
    """No advice disables a module that the root file system may need, or a module that only caused
    a warning. For KASAN's own reports, no advice tells to use KASAN."""
    said = remedy_of(lab, oops())
    check.that("module_blacklist=store " in said, said)
    said = remedy_of(lab, oops(comm="(udev-worker)", flags="OE+"))
    check.that("modprobe.blacklist=store " in said, said)
    said = remedy_of(lab, oops(comm="insmod", flags="OE+"))
    check.that("module_blacklist=store " in said, said)
    said = remedy_of(lab, oops(release="4.2.0"))
    check.that("modprobe.blacklist=store " in said, said)
    for module in ("ext4", "xfs", "nvme", "ahci", "virtio_blk", "dm_crypt", "megaraid_sas", "zfs",
                   "usb_storage", "nfsv4", "raid456"):
        said = remedy_of(lab, oops(module=module))
        check.that("blacklist" not in said and "previous kernel" in said, f"{module}: {said}")
    for inner in ("scsi_queue_rq+0x10/0x40", "sas_ata_qc_issue+0x10/0x40 [libsas]"):
        said = remedy_of(lab, oops().replace("do_one_initcall+0x4e/0x190", inner))
        check.that("blacklist" not in said and "previous kernel" in said, f"{inner}: {said}")
    said = remedy_of(lab, WARN)
    check.that("blacklist" not in said, said)
    said = remedy_of(lab, KASAN)
    check.that("kernel with KASAN" not in said and "slub_debug" not in said, said)
    check.that("compare the stacks" in said, said)


def test_triage_knows_where_debug_files_are(check, lab):
    boot, modules = "/usr/lib/debug/boot/vmlinux-", "/usr/lib/debug/lib/modules/"
    for release, path, get in (
            ("6.12.107+deb13-amd64", boot + "6.12.107+deb13-amd64",
             "linux-image-6.12.107+deb13-amd64-dbg"),
            ("6.8.0-45-generic", boot + "6.8.0-45-generic", "linux-image-6.8.0-45-generic-dbgsym"),
            ("6.8.0-1015-azure", boot + "6.8.0-1015-azure", "dbgsym"),
            ("6.10.3-200.fc40.x86_64", modules + "6.10.3-200.fc40.x86_64/vmlinux",
             "dnf debuginfo-install kernel-6.10.3-200.fc40.x86_64"),
            ("5.14.0-427.el9.x86_64", modules + "5.14.0-427.el9.x86_64/vmlinux", "dnf"),
            ("6.6.43.1-7.azl3", modules + "6.6.43.1-7.azl3/vmlinux", "dnf"),
            ("6.10.3-arch1-2", "/usr/lib/modules/6.10.3-arch1-2/build/vmlinux", "linux-headers"),
            ("6.4.0-150600.23.14-default",
             "/usr/lib/debug/usr/lib/modules/6.4.0-150600.23.14-default/vmlinux.debug", "zypper"),
            ("6.11.0-rc3-00042-gdeadbeef", "/lib/modules/6.11.0-rc3-00042-gdeadbeef/build/vmlinux",
             "kernel of your own")):
        said = remedy_of(lab, oops(release=release))
        check.that(f" {path} " in said, f"{release}: {said}")
        check.that(get in said, f"{release}: {said}")


def test_triage_uses_what_the_log_has(check, lab):
    """triage shows the source line that the log has, and the text that overwrote a pointer."""
    said = remedy_of(lab, WARN)
    check.that("the log has the source line: drivers/misc/store.c:12" in said, said)
    check.that("faddr2line" not in said, said)
    check.that("faddr2line" in remedy_of(lab, oops()), "no source line in the log")
    for log in ("6.1_string.log", "7.2_string.log", "6.12_arm64_string.log"):
        text = [one["value"] for one in triage(lab, LOGS / log)["details"] if one["name"] == "text"]
        check.equal(f"{log}: the text", text, ['"eth0.net"'])


def same_verdict(check, lab, log, name, files, keys=SAME):
    want = triage(lab, LOGS / log)
    said = triage(lab, *files)
    for key in keys:
        check.equal(f"{log} as {name}: {key}", said.get(key), want.get(key))


def test_triage_takes_any_container(check, lab):
    for log in (PLAIN, LEFT, "arm64_written.log"):
        text = (LOGS / log).read_text()
        for name, convert in containers.ALL.items():
            path = lab.dir / f"{log}.{name}"
            made = convert(text)
            path.write_bytes(made if isinstance(made, bytes) else made.encode())
            same_verdict(check, lab, log, name, [path])


def test_triage_decodes_text_in_json(check, lab):
    """Characters of one to three bytes, and all escape sequences, in a JSON line."""
    log = lab.dir / "journal.json"
    for comm in ("caf\u00e9", "~\u0080\u07ff\u0800\uffee", "a\\b/c", 'say"hi"', "x\u0041y"):
        log.write_text("".join(
            json.dumps({"_TRANSPORT": "kernel", "PRIORITY": "1",
                        "MESSAGE": line.partition("] ")[2]}) + "\n"
            for line in oops(comm=comm).splitlines()))
        check.equal(f"{comm!r}", triage(lab, log)["comm"], comm)
    log.write_text(log.read_text().replace("xAy", "x\\u0041\\/y"))
    check.equal("escape sequences that are not necessary", triage(lab, log)["comm"], "xA/y")


def test_triage_names_machine_checks(check, lab):
    log = lab.dir / "log"
    for code, means in CODES.items():
        log.write_text(MACHINE_CHECK.format(code=code))
        [bank] = triage(lab, log)["details"]
        check.that(bank["value"].startswith(f"9 of CPU 2: {means}"), f"0x{code:04x}: {bank}")


def test_triage_puts_files_of_pstore_in_order(check, lab):
    place = lab.dir / "pstore"
    place.mkdir()
    for name, part in containers.pstore_files((LOGS / PLAIN).read_text()).items():
        (place / name).write_text(part)
    same_verdict(check, lab, PLAIN, "a directory of parts", [place])
    for path in place.iterdir():
        packed = zlib.compress(path.read_bytes())
        path.unlink()
        path.with_name(path.name + ".enc.z").write_bytes(packed)
    same_verdict(check, lab, PLAIN, "a directory of compressed parts", [place])


def test_triage_unpacks(check, lab):
    data = (LOGS / PLAIN).read_bytes()
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = {"gz": gzip.compress(data), "xz": lzma.compress(data), "z": zlib.compress(data),
              "two.gz": gzip.compress(data[:4000]) + gzip.compress(data[4000:]),
              "ramoops": b"====1700000000.123456-C\n" + deflate.compress(data) + deflate.flush()}
    packed["bz2"] = bz2.compress(data)
    packed["two.bz2"] = bz2.compress(data[:4000]) + bz2.compress(data[4000:])
    packed["runs.bz2"] = bz2.compress(b"a" * 70000 + b"\n" + b"abab" * 30000 + b"\n" + data, 1)
    packed["gz.bz2.xz"] = lzma.compress(bz2.compress(gzip.compress(data)))
    if shutil.which("lz4"):
        for name, options in (("lz4", []), ("legacy.lz4", ["-l"]), ("9.lz4", ["-9", "-BD", "-BX"]),
                              ("raw.lz4", ["-B4", "--no-frame-crc"])):
            packed[name] = subprocess.run(["lz4", "-qc", *options], input=data,
                                          capture_output=True, check=True).stdout
    if shutil.which("zstd"):
        packed["zst"] = subprocess.run(["zstd", "-qc"], input=data, capture_output=True,
                                       check=True).stdout
    for name, content in packed.items():
        path = lab.dir / f"log.{name}"
        path.write_bytes(content)
        same_verdict(check, lab, PLAIN, name, [path])


def test_triage_takes_what_is_cut(check, lab):
    for log in (PLAIN, LEFT):
        lines = (LOGS / log).read_text().splitlines(keepends=True)
        first = next(i for i, line in enumerate(lines) if "#PF: error_code" in line)
        last = next(i for i, line in enumerate(lines) if "Call Trace" in line)
        cuts = {"without its head": lines[first:], "without its tail": lines[:last + 4]}
        for name, cut in cuts.items():
            path = lab.dir / "cut.log"
            path.write_text("".join(cut))
            same_verdict(check, lab, log, name, [path], ("access", "address", "function", "bucket"))


def test_triage_reads_standard_input(check, lab):
    with (LOGS / PLAIN).open() as log:
        ran = lab.call(FAULTSCOPE, "triage", "--json", "-", stdin=log)
    check.equal("status", ran.returncode, 3)
    check.equal("files", json.loads(ran.out)["files"], ["-"])


def test_triage_merges_files_of_one_crash(check, lab):
    lines = (LOGS / PLAIN).read_text().splitlines(keepends=True)
    half = next(i for i, line in enumerate(lines) if "Call Trace" in line)
    for name, part in (("a.log", lines[:half]), ("b.log", lines[half:])):
        (lab.dir / name).write_text("".join(part))
    same_verdict(check, lab, PLAIN, "two files", [lab.dir / "a.log", lab.dir / "b.log"])


def test_triage_reads_the_journal(check, lab):
    tools = lab.dir / "bin"
    tools.mkdir()
    export = lab.dir / "export"
    export.write_bytes(containers.journal_export((LOGS / PLAIN).read_text()))
    fake = tools / "journalctl"
    fake.write_text(f"#!/bin/sh\ncat {export}\n")
    fake.chmod(0o755)
    ran = lab.call(FAULTSCOPE, "triage", "--json", "--journal",
                   env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    check.equal("status", ran.returncode, 3)
    check.equal("bucket", json.loads(ran.out)["bucket"], triage(lab, LOGS / PLAIN)["bucket"])
    fake.write_text("#!/bin/sh\nexit 0\n")
    ran = lab.call(FAULTSCOPE, "triage", "--journal",
                   env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    check.equal("status where the journal has nothing", ran.returncode, 1)
    check.that("nothing was read" in ran.err, ran.err)
    fake.write_text("#!/bin/sh\nexit 1\n")
    ran = lab.call(FAULTSCOPE, "triage", "--journal",
                   env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    check.equal("status where journalctl fails", ran.returncode, 1)


def test_triage_exits_as_it_says(check, lab):
    quiet = lab.dir / "quiet.log"
    quiet.write_text(BENIGN)
    check.equal("no crash", triage(lab, quiet, status=0)["crash"], False)
    for words, status in ((["no-such-file"], 1), ([], 2), (["--group", "x", "y"], 2)):
        ran = lab.faultscope("triage", *words)
        check.equal(f"status of {words}", ran.returncode, status)
        check.that(ran.err.startswith("faultscope: "), f"message {ran.err!r}")
    damaged = lab.dir / "damaged.gz"
    damaged.write_bytes(b"\x1f\x8b\x08\0" + b"\xff" * 60)
    check.equal("damaged", lab.faultscope("triage", damaged).returncode, 1)


def unread_logs(lab):
    """Yields (name, arguments, standard input, expected reason) of inputs without any text."""
    empty, nothing = lab.dir / "empty.log", lab.dir / "nothing"
    nothing.mkdir()
    empty.write_bytes(b"")
    yield "empty standard input", ["-"], b"", "nothing was read"
    yield "an empty file", [empty], b"", "nothing was read"
    for name, pack in (("gzip", gzip.compress), ("bzip2", bz2.compress), ("xz", lzma.compress)):
        packed = lab.dir / f"empty.{name}"
        packed.write_bytes(pack(b""))
        yield f"an empty file in {name}", [packed], b"", "nothing was read"
    yield "an empty directory", [nothing], b"", "nothing was read"
    yield "a group of nothing", ["--group", nothing], b"", "nothing was read"
    zeros = lab.dir / "zeros.bin"
    with zeros.open("wb") as file:
        file.truncate(80 << 20)
    yield "a large file of zeros", [zeros], b"", "is no text"
    yield "a program", ["/bin/true"], b"", "is no text"
    noise = lab.dir / "noise.bin"
    noise.write_bytes(random.Random(1).randbytes(20000))
    yield "random bytes", [noise], b"", "is no text"
    group = lab.dir / "group"
    group.mkdir()
    shutil.copy(noise, group / "a.log")
    yield "a group of random bytes", ["--group", group], b"", "not read wholly"


def incomplete_logs(lab):
    """Yields (name, arguments, standard input, expected reason) of incomplete logs, for which
    `triage` must not report that all is well."""
    mixed = lab.dir / "mixed"
    mixed.mkdir()
    (mixed / "noise.bin").write_bytes(random.Random(1).randbytes(20000))
    (mixed / "quiet.log").write_text(BENIGN)
    yield "text and random bytes", [mixed], b"", "is no text"
    cut = lab.dir / "cut.gz"
    cut.write_bytes(gzip.compress((BENIGN * 5000).encode())[:-200])
    yield "a compressed log that is cut off", [cut], b"", "compressed"
    if shutil.which("zstd"):
        cut = lab.dir / "cut.zst"
        quiet = "".join(f"[{n:5}.000000] usb 1-{n % 7}: new device {n * n}\n" for n in range(60000))
        data = subprocess.run(["zstd", "-qc"], input=quiet.encode(), capture_output=True,
                              check=True).stdout
        cut.write_bytes(data[:len(data) // 2])
        yield "a zstd file that is cut off", [cut], b"", "compressed"
    cut = lab.dir / "cut.bz2"
    cut.write_bytes(bz2.compress((BENIGN * 5000).encode(), 1)[:-200])
    yield "a bzip2 file that is cut off", [cut], b"", "compressed"
    dropped = lab.dir / "dropped.log"
    dropped.write_text(BENIGN + "[    9.000000] printk: 120 messages dropped\n"
                       "[    9.100000] ** 120 printk messages dropped **\n")
    yield "a log that the kernel dropped messages of", [dropped], b"", "kernel dropped messages"


def test_triage_fails_if_it_read_nothing(check, lab):
    for name, words, given, reason in unread_logs(lab):
        for form in ([], ["--json"], ["--markdown"]):
            if form == ["--markdown"] and "--group" in words:
                continue
            ran = subprocess.run([FAULTSCOPE, "triage", *form, *words], input=given,
                                 capture_output=True, timeout=PATIENCE)
            out, err = ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace")
            check.equal(f"{name} {form}: status", ran.returncode, 1)
            check.that(err.startswith("faultscope: ") and reason in err, f"{name}: {err!r}")
            check.that("no crash found" not in out, f"{name}: {out!r}")


def test_triage_gives_no_all_clear_of_what_it_did_not_read(check, lab):
    for name, words, given, reason in incomplete_logs(lab):
        for form in ([], ["--json"]):
            ran = subprocess.run([FAULTSCOPE, "triage", *form, *words], input=given,
                                 capture_output=True, timeout=PATIENCE)
            out, err = ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace")
            check.equal(f"{name} {form}: status", ran.returncode, 7)
            check.that("faultscope: incomplete: " in err and reason in err, f"{name}: {err!r}")
            check.that("no crash found" not in out, f"{name}: {out!r}")
            if form and words[0] != "--group":
                check.that(any(reason in gap for gap in json.loads(out)["incomplete"]),
                           f"{name}: {out!r}")


CHATTER = b"[    1.000000] usb 1-1: new device number 7 using xhci_hcd\n"
LARGE = 80 << 20  # bytes of a log that is larger than what triage keeps in memory


def peak_of(words, given):
    """Runs faultscope with chunks of data on its standard input. Returns (output, status, peak of
    its memory in KiB)."""
    with subprocess.Popen([FAULTSCOPE, *words], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as child:
        for chunk in given:
            child.stdin.write(chunk)
        child.stdin.close()
        out = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return out, child.returncode, used.ru_maxrss


def test_triage_reads_large_logs_whole(check, lab):
    """Finds a crash at any place of a log that does not fit into memory, with its line number."""
    crash, block = (LOGS / PLAIN).read_bytes(), CHATTER * 10000
    blocks = LARGE // len(block)
    want = triage(lab, LOGS / PLAIN)
    first = next(row["line"] for row in want["evidence"])
    for name, before in some_of((("middle", blocks // 2), ("begin", 0), ("end", blocks)), 2):
        chunks = [block] * before + [crash] + [block] * (blocks - before)
        out, status, peak = peak_of(["triage", "--json", "-"], chunks)
        said = json.loads(out)
        check.equal(f"{name}: status", status, 3)
        check.equal(f"{name}: bucket", said["bucket"], want["bucket"])
        check.equal(f"{name}: line", said["evidence"][0]["line"], before * 10000 + first)
        check.that(peak < 400 << 10, f"{name}: {peak} KiB of memory")
    large = lab.dir / "large.log"
    with large.open("wb") as file:
        for _ in range(blocks):
            file.write(block)
    check.equal("no crash", triage(lab, large, status=0)["crash"], False)
    if LONG:
        with large.open("ab") as file:
            file.write(crash)
        check.equal("a file", triage(lab, large)["bucket"], want["bucket"])


def test_triage_says_what_to_do_with_a_dump(check, lab):
    place = lab.dir / "crash"
    place.mkdir()
    elf = b"\x7fELF\x02\x01\x01" + bytes(9) + (4).to_bytes(2, "little") + bytes(100)
    for name, head, said in (("vmcore", elf, "its ELF header is damaged"),
                             ("dump", b"KDUMP   " + bytes(100), "makedumpfile --dump-dmesg"),
                             ("flat", b"makedumpfile\0" + bytes(100), "makedumpfile -R")):
        path = place / name
        path.write_bytes(head)
        ran = lab.faultscope("triage", path)
        check.equal(f"{name}: status", ran.returncode, 1)
        check.that(said in ran.err or "built without libkdumpfile" in ran.err,
                   f"{name}: {ran.err!r}")
    shutil.copy(LOGS / PLAIN, place / "dmesg.1")
    same_verdict(check, lab, PLAIN, "beside its dumps", [place])
    text = lab.faultscope("triage", "--group", place).out
    check.that("1 log, 1 bucket," in text, text)


def test_triage_fits_a_screen(check, lab):
    for name in json.loads(TRUTH.read_text()):
        lines = lab.faultscope("triage", "--width", "100", LOGS / name).out.splitlines()
        check.that(len(lines) <= 40, f"{name}: {len(lines)} lines")
        check.that(all(len(line) <= 100 for line in lines), f"{name}: a line over 100 columns")


def test_triage_quotes_the_lines_it_names(check, lab):
    for name in json.loads(TRUTH.read_text()):
        lines = (LOGS / name).read_text(errors="replace").splitlines()
        for row in triage(lab, LOGS / name).get("evidence", []):
            check.that(row["text"].strip() in lines[row["line"] - 1], f"{name}: line {row['line']}")


def test_triage_redacts_reports(check, lab):
    log = lab.dir / "syslog"
    log.write_text(containers.syslog((LOGS / PLAIN).read_text()))
    plain = lab.faultscope("triage", "--markdown", "--explain", "--no-redact", log).out
    report = lab.faultscope("triage", "--markdown", "--explain", log).out
    check.that(re.search(r"0x[0-9a-f]{12}|\b[0-9a-f]{16}\b", plain), "no address to redact")
    found = re.findall(r"\b(?:0x)?[0-9a-f]{9,16}\b", report)
    check.equal("addresses", found, [])
    check.that(containers.HOST not in report, "the host's name is in the report")
    for name in ("journal_french", "journal_russian", "relay", "rfc5424"):
        log.write_text(containers.ALL[name]((LOGS / PLAIN).read_text()))
        report = lab.faultscope("triage", "--markdown", "--explain", log).out
        check.that(containers.HOST not in report, f"{name}: the host's name is in the report")
    check.that("lab_null_write" in report.replace("\\", ""), "the function is not in the report")


def test_triage_groups_a_fleet(check, lab):
    fleet = lab.dir / "fleet"
    (fleet / "web-1").mkdir(parents=True)
    for i in range(3):
        (fleet / "web-1" / f"{i}.log").write_text((LOGS / PLAIN).read_text())
    newer = (LOGS / LEFT).read_text().replace("6.1.0-50-cloud-amd64", "6.12.9-cloud-amd64")
    (fleet / "new.log").write_text(newer)
    (fleet / "quiet.log").write_text(BENIGN)
    ran = lab.faultscope("triage", "--json", "--group", fleet)
    check.equal("status", ran.returncode, 3)
    rows = [json.loads(line) for line in ran.out.splitlines()]
    check.equal("counts", [row["count"] for row in rows], [3, 1])
    check.equal("new", [row["new"] for row in rows], [False, True])
    check.equal("kernels", rows[1]["kernels"], ["6.12.9-cloud-amd64"])
    text = lab.faultscope("triage", "--group", fleet).out
    check.that("5 logs, 2 buckets, 1 without a crash" in text, text)


def test_triage_groups_all_that_is_equal(check, lab):
    """A bucket has the number of its logs, their oldest and newest times, and up to 8 kernels."""
    fleet = lab.dir / "fleet"
    fleet.mkdir()
    for i in range(12):
        path = fleet / f"{i:02}.log"
        path.write_text(OOPS.format(comm="x", release=f"6.{i % 10}.0", module="store", flags="OE",
                                    function="often" if i < 10 else "seldom"))
        os.utime(path, (2000 + i * (-1) ** i,) * 2)
    (fleet / "link").symlink_to(fleet / "00.log")
    rows = [json.loads(line)
            for line in lab.faultscope("triage", "--json", "--group", fleet).out.splitlines()]
    check.equal("buckets", [(row["bucket"], row["count"]) for row in rows],
                [("FS_NULL_DEREF_R_store!often", 10), ("FS_NULL_DEREF_R_store!seldom", 2)])
    check.equal("times", [(row["first_seen"][14:19], row["last_seen"][14:19]) for row in rows],
                [("33:11", "33:28"), ("33:09", "33:30")])
    check.equal("examples", [row["example"] for row in rows],
                [str(fleet / "00.log"), str(fleet / "10.log")])
    check.equal("kernels", [row["kernels"] for row in rows],
                [[f"6.{i}.0" for i in range(8)], ["6.0.0", "6.1.0"]])
    (fleet / "damaged.gz").write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\3 no deflate")
    ran = lab.faultscope("triage", "--group", fleet)
    check.equal("status with a damaged log", ran.returncode, 1)
    check.that("damaged" in ran.err and "7.0 and 2 more" in ran.out, ran.out + ran.err)
    check.that("13 logs, 2 buckets, 0 without a crash, 1 unreadable" in ran.out, ran.out)
    ran = lab.faultscope("triage", "--group", lab.dir / "none")
    check.equal("status of no directory", ran.returncode, 1)


def line_at(second, text):
    return f"[{second:5}.000000] {text}\n"


def noise(count):
    return "".join(line_at(20, f"device eth{number}: link is up") for number in range(count))


def test_triage_joins_lines_that_are_near(check, lab):
    """A report's lines belong together up to an exact number of other lines between them."""
    def has(log, key, want, what):
        path = lab.dir / "report.log"
        path.write_text(log)
        check.equal(what, json.loads(lab.faultscope("triage", "--json", path).out).get(key), want)

    rip = line_at(20, "RIP: 0010:store_read+0x10/0x40 [store]")
    for count in (0, 1, 2, 3, 4):
        has(line_at(20, "------------[ cut here ]------------") + noise(count) +
            line_at(20, "WARNING: store: the disk is slow"),
            "crash", count < 3, f"a warning {count} lines behind its mark")
    header = line_at(20, "BUG: kernel NULL pointer dereference, address: 0000000000000030")
    for count in (0, 119, 120, 121):
        has(header + line_at(20, "Oops: 0000 [#1] SMP") + noise(count) + rip,
            "function", "store_read" if count <= 120 else None, f"{count} lines within a report")
    for count in (0, 398, 399, 400):
        has(noise(count) + rip + line_at(20, "Call Trace:") + line_at(20, " store_read+0x10/0x40 [store]"),
            "crash", count < 400, f"a report without its beginning, after {count} lines")


def test_triage_separates_tasks_and_cpus(check, lab):
    """With CONFIG_PRINTK_CALLER, a line of another task or CPU is no part of a report."""
    report = next(log for name, _, log in device_reports() if name.startswith("OOM kill in a cgroup"))
    lines = report.replace("] ", "][ T5100] ", 1).splitlines()
    lines = [line if "][" in line else line.replace("] ", "][ T5100] ", 1) for line in lines]
    path = lab.dir / "report.log"
    for caller in ("T5100", "C0", "C1", "C12", "T1", "T5101"):
        row = f"[ 2000.000013][{caller:>6}] [   9999]  1000  9999   999999   999999   147456  0  0 foreign"
        path.write_text("\n".join(lines[:-3] + [row] + lines[-3:]) + "\n")
        said = json.loads(lab.faultscope("triage", "--json", path).out)
        largest = answer(said, "largest")
        check.equal(f"largest process with a line of {caller}", largest.split(" ")[0],
                    "foreign" if caller == "T5100" else "worker")


def test_triage_json_follows_the_schema(check, lab):
    for name in json.loads(TRUTH.read_text()):
        check.equal(name, complaint(triage(lab, LOGS / name, status=3)), "")


def test_triage_escapes_what_is_hostile(check, lab):
    text = (LOGS / PLAIN).read_text().replace("Comm: ", "Comm: \u202e\x1b]0;x\x07`")
    path = lab.dir / "hostile.log"
    path.write_text(text)
    for form in ([], ["--markdown"], ["--json"]):
        out = lab.faultscope("triage", *form, path).out
        check.that("\x1b" not in out and "\x07" not in out, f"{form}: a control byte")
        check.that("\u202e" not in out or form == ["--json"], f"{form}: a direction override")
