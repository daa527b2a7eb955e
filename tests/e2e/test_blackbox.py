# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the flight recorder on this kernel: the records that it writes, its errors, and reading its
ring file."""
import json
import os
import re
import subprocess
import time

from harness import FAULTSCOPE, PATIENCE, check_schema, live

MARK = "faultscope-e2e: PCIe Bus Error: severity=Corrected, number"


def recorder(lab, ring, *options, seconds=4, within=()):
    """Starts a flight recorder that ends after some seconds and returns its process."""
    return subprocess.Popen([*within, str(FAULTSCOPE), "blackbox", "run", "--ring", str(ring),
                             "--keep", "file,map", "--heartbeat", "0.5", "-d", str(seconds),
                             *options], stderr=subprocess.PIPE, text=True)


def wait_for_start(ring, process):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if ring.exists() and b"version=" in ring.read_bytes():
            return
        time.sleep(0.05)
    raise AssertionError(f"the recorder does not start: {process.stderr.read()}")


def log(count, whose="of many"):
    """Writes lines to the kernel log. All tests share the kernel log, and some run in parallel. So
    each line contains `whose`, which identifies the test."""
    with open("/dev/kmsg", "w", encoding="ascii") as kmsg:
        for number in range(count):
            kmsg.write(f"<4>{MARK} {number} {whose}\n")
            kmsg.flush()


def read(lab, *files, status=0):
    ran = lab.faultscope("blackbox", "read", "--json", *files)
    assert ran.returncode == status, f"status {ran.returncode}: {ran.err}{ran.out}"
    lines = [json.loads(line) for line in ran.out.splitlines()]
    return [one for one in lines if one["type"] == "blackbox"], lines[-1]


@live
def test_blackbox_records_the_log(check, lab):
    ring = lab.dir / "blackbox" / "ring"
    process = recorder(lab, ring)
    wait_for_start(ring, process)
    whose = f"of {os.getpid()} alone"
    log(3, whose)
    _, err = process.communicate(timeout=PATIENCE)
    check.equal("status", process.returncode, 0)
    check.equal("message", err, "")
    records, end = read(lab, ring)
    found = [one for one in records if MARK in one["text"] and whose in one["text"]]
    check.equal("lines", [one["class"] for one in found], ["hardware"] * 3)
    check.equal("severity", {one["severity"] for one in found}, {"warning"})
    check.equal("sequence", [one["sequence"] for one in records if one["class"] != "heartbeat"],
                list(range(1, 1 + sum(one["class"] != "heartbeat" for one in records))))
    boot_id = open("/proc/sys/kernel/random/boot_id", encoding="ascii").read().strip()
    check.equal("boots", [one["boot_id"] for one in end["boots"]], [boot_id.replace("-", "")])
    check.equal("ended", (end["boots"][0]["clean_stop"], end["torn"]), (True, 0))
    said = lab.faultscope("blackbox", "status", "--ring", ring)
    check.that("last sign of life" in said.out and "cpu_ms=" in said.out, said.out)
    text = lab.faultscope("blackbox", "read", ring).out
    check.that(MARK in " ".join(text.split()), text)


@live
def test_blackbox_tells_of_itself(check, lab):
    """The ring file shows the recorder's version, heartbeats and cost, and that the recorder was
    stopped normally."""
    ring = lab.dir / "ring"
    process = recorder(lab, ring, seconds=2)
    wait_for_start(ring, process)
    _, err = process.communicate(timeout=PATIENCE)
    check.equal("end", (process.returncode, err), (0, ""))
    records, end = read(lab, ring)
    told = [one for one in records if one["class"] != "heartbeat"]
    check.equal("first and last", (told[0]["class"], told[-1]["class"]), ("start", "stop"))
    start = dict(word.split("=", 1) for word in told[0]["text"].split())
    version = lab.faultscope("--version").out.split()[1]
    check.equal("start", (start["version"], start["kernel"]), (version, os.uname().release))
    beats = [dict(word.split("=", 1) for word in one["text"].split())
             for one in records if one["class"] == "heartbeat"]
    check.that(beats and all(int(one["cpu_ms"]) < 60_000 for one in beats), f"beats: {beats}")
    times = [one["t"] for one in told]
    check.equal("times", times, sorted(times))
    check.that(0 < times[0] <= time.clock_gettime(time.CLOCK_BOOTTIME), f"since the boot: {times}")
    check.equal("boots", [one["clean_stop"] for one in end["boots"]], [True])
    refused = recorder(lab, lab.dir / "none" / "none" / "ring", seconds=1)
    check.that("nothing is kept there" in refused.communicate(timeout=PATIENCE)[1], "no directory")


@live
def test_blackbox_overruns_its_ring(check, lab):
    ring = lab.dir / "ring"
    process = recorder(lab, ring, "--ring-size", "8K")
    wait_for_start(ring, process)
    for _ in range(4):
        # devkmsg_write() accepts ten lines in five seconds from one open file (printk_devkmsg)
        log(10)
    process.communicate(timeout=PATIENCE)
    records, end = read(lab, ring, status=7)
    kept = [one["sequence"] for one in records if one["class"] != "heartbeat"]
    check.equal("kept", len(kept), 13)
    check.equal("in order", kept, list(range(kept[0], kept[0] + 13)))
    check.equal("overwritten", end["boots"][0]["missing"], kept[0] - 1)
    check.that(ring.stat().st_size == 8192, "the ring grew")


@live
def test_blackbox_finds_a_torn_record(check, lab):
    ring = lab.dir / "ring"
    process = recorder(lab, ring, seconds=2)
    wait_for_start(ring, process)
    process.communicate(timeout=PATIENCE)
    before, _ = read(lab, ring)
    data = bytearray(ring.read_bytes())
    at = data.find(b"version=")
    data[at] ^= 1
    ring.write_bytes(data)
    after, end = read(lab, ring, status=7)
    check.equal("torn", end["torn"], 1)
    check.equal("others", len(after), len(before) - 1)


@live
def test_blackbox_says_where_it_cannot_write(check, lab):
    for options, why in (("size=16k", "No space left on device"), ("ro", "Read-only file system")):
        place = lab.dir / options.replace("=", "-")
        place.mkdir()
        within = ["unshare", "-m", "sh", "-c",
                  f'mount -t tmpfs -o {options} none {place} && exec "$@"', "sh"]
        process = recorder(lab, place / "ring", "--ring-size", "64K", seconds=2, within=within)
        _, err = process.communicate(timeout=PATIENCE)
        check.equal(f"{options}: status", process.returncode, 0)
        check.that(f"file: nothing is kept there: {why}" in err, f"{options}: {err}")


@live
def test_blackbox_reads_what_is_in_logs(check, lab):
    ring = lab.dir / "ring"
    process = recorder(lab, ring, seconds=2)
    wait_for_start(ring, process)
    process.communicate(timeout=PATIENCE)
    wrapped = lab.dir / "dump"
    wrapped.write_bytes(os.urandom(70000) + ring.read_bytes() + os.urandom(5000))
    check.equal("in a dump", len(read(lab, wrapped)[0]), len(read(lab, ring)[0]))
    ran = lab.faultscope("blackbox", "read", lab.dir / "none")
    check.equal("status of no file", ran.returncode, 1)
    noise = lab.dir / "noise"
    noise.write_bytes(os.urandom(5000))
    for words in (("read", noise), ("read", "/dev/null")):
        ran = lab.faultscope("blackbox", *words)
        check.equal(f"status of {words}", ran.returncode, 7)
        check.that("nothing was read" in ran.err, f"{words}: {ran.err!r}")
    check.equal("status of no action", lab.faultscope("blackbox", "fly").returncode, 2)
    said = lab.faultscope("blackbox", "arm", "--keep", "map").out
    for name in ("file", "kmsg", "pmsg", "instance", "map", "kernel.panic"):
        check.that(re.search(rf"^{name} ", said, re.M), f"arm says nothing of {name}: {said}")


@live
def test_triage_live_shows_records(check, lab):
    process = subprocess.Popen([str(FAULTSCOPE), "triage", "--live", "--keep", "map", "-d", "3"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    check.that("start" in line, f"first line {line!r}")
    log(1)
    out, err = process.communicate(timeout=PATIENCE)
    check.that(MARK in " ".join(out.split()), f"no record of the line: {out} {err}")
    # The kernel log of this machine may contain other problems, so the status may also be 3
    # (findings).
    check.that("read" in out.splitlines()[-1], f"no verdict at the end: {out}")
    blind = not re.search(r"\bblind=-( |$)", out, re.M)
    check.that(process.returncode in (7 if blind else 0, 3), f"status {process.returncode}")
    if process.returncode == 7:
        check.that("no crash found" not in out and "not measured: " in err, f"{out} {err}")


@live
def test_diagnose_tells_what_records_come_to(check, lab):
    """`diagnose` reports findings about the kernel (K01 kernel-bad-address and following) whatever
    process it watches. It uses only records of this boot."""
    ring = lab.dir / "ring"
    process = recorder(lab, ring, seconds=3)
    wait_for_start(ring, process)
    log(2)
    process.communicate(timeout=PATIENCE)
    work = lab.work("touch", "10", "--wait", "--hold")
    words = ("diagnose", "-p", work.pid, "-d", "0.2", "--ring", ring)
    ran = lab.faultscope(*words)
    check.equal("status", (ran.returncode, ran.err), (3, ""))
    text = " ".join(ran.out.split())
    check.that(f"warning[K11 hardware-errors-before]: the hardware reported errors before the crash: {MARK}" in text, ran.out)
    check.that("flight recorder's records of this boot" in text, ran.out)
    check.that("1 finding (0 critical, 1 warning, 0 info)" in text, ran.out)
    ran = lab.faultscope(*words, "--json", "--min-severity", "critical")
    check.equal("status of critical", ran.returncode, 0)
    said = [json.loads(line) for line in ran.out.splitlines()]
    check.equal("lines", [(one["type"], one.get("id")) for one in said[-2:]],
                [("blackbox_finding", "K11"), ("end", None)])
    check.that(said[-2].get("count", 0) >= 2, f"of two lines: {said[-2]}")
    check_schema(check, said)
    check.equal("status without a ring", lab.faultscope(*words[:-1], lab.dir / "none").returncode, 1)
    ring.write_bytes(os.urandom(4096) + ring.read_bytes()[:700])
    ran = lab.faultscope(*words)
    check.that("K11" not in ran.out, ran.out)
    ring.write_bytes(os.urandom(5000))
    ran = lab.faultscope(*words)
    check.equal("status of noise", ran.returncode, 7)
    check.that("all is well" not in ran.out and "no record of this boot" in ran.out, ran.out)
    work.end()
