# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests which overhead levels each command enables, what it says about the overhead of other
processes, and that cheaper attach types count exactly."""
import json
import platform
import struct
import time

from harness import FAULTSCOPE, PATIENCE, Lines, Skip, all_attached, live, until

LOW, ALL = ["scan", "events"], ["scan", "events", "latency", "syscalls"]
TAXED = "faultscope: probes run in "


def start_of(lab, *options):
    ran = lab.faultscope("--json", *options, "0.1", "1")
    return json.loads(ran.out.splitlines()[0])


@live
def test_levels_of_all_processes(check, lab):
    """The view of all processes leaves system calls alone. A recording and --fail-on need the
    failed calls."""
    recording = ("--record", lab.dir / "all.fsr")
    for options, levels in (((), LOW), (("--overhead", "low"), LOW), (("--overhead", "all"), ALL),
                            (recording, [*LOW, "syscalls"]),
                            (("--fail-on", "failed_calls>0"), [*LOW, "syscalls"])):
        check.equal(f"{options}", start_of(lab, *options)["overhead_levels"], levels)
    view = lab.faultscope("--format", "text", "0.1", "1").out
    for word in "not measured: ", "failed calls", "latency of page faults", "--overhead all":
        check.that(word in view, f"{word!r} is not in {view[:400]!r}")
    view = lab.faultscope("--format", "text", "--overhead", "all", "0.1", "1").out
    check.that("not measured: " not in view, f"all levels: {view[:400]!r}")


@live
def test_overhead_of_others_is_said(check, lab):
    other = lab.spawn(["sleep", "100"]).pid
    touch = lab.workload("touch")
    for options, whom in ((("0.1", "1"), "all processes"),
                          (("-p", other, "0.1", "1"), "other processes too"),
                          (("run", "--", touch, "10"), "other processes too")):
        said = [line for line in lab.faultscope(*options).err.splitlines()
                if line.startswith(TAXED)]
        check.equal(f"{options}: lines", len(said), 1)
        check.that(said and said[0].startswith(f"{TAXED}{whom}, at: page faults"), f"{said}")
        check.equal(f"{options}: system calls", "all system calls" in said[0], options[0] != "0.1")
    quiet = lab.faultscope("-q", "-p", other, "0.1", "1").err
    check.that(TAXED not in quiet, f"with -q: {quiet!r}")
    for options, calls in ((), False), (("-p", other), True):
        taxed = start_of(lab, *options)["overhead_for_others"]
        check.equal(f"{options}: JSON", ("page faults" in taxed, "all system calls" in taxed),
                    (True, calls))


@live
def test_kernel_memory_of_tables(check, lab):
    """Tables in the kernel that a command does not need take no memory."""
    pid = str(lab.spawn(["sleep", "100"]).pid)

    def tables_mib(*options):
        last = json.loads(lab.faultscope(*options).out.splitlines()[-1])
        return last["own"]["kernel_maps_bytes"] / (1 << 20)

    check.between("all processes, MiB", tables_mib("--json", "0.1", "1"), 0.5, 6)
    check.between("-p, MiB", tables_mib("--json", "-p", pid, "0.1", "1"), 4, 22)
    check.between("memory, MiB", tables_mib("memory", "--json", "-p", pid, "-d", "0.2"), 16, 40)


def keepers(lab):
    return lab.call("pgrep", "-x", "faultscope-keep").out.split()


@live
def test_calls_of_a_64_bit_process(check, lab):
    """With -p, only the counted system calls have tracepoints. They count exactly, and the process
    that removes them ends."""
    work = lab.work("bench", "openclose", "4000", "--wait")
    before = set(keepers(lab))
    watch = lab.watch("-p", str(work.pid), record=False)
    probes = json.loads(watch.said().splitlines()[0])["probes"]
    if probes["calls"].startswith("tracepoint: "):
        raise Skip(probes["calls"])
    check.equal("attach type", probes["calls"], "tracepoint")
    mine = set(keepers(lab)) - before
    work.go()
    work.truth()
    work.end()
    capture = watch.finished()
    fds = Lines(capture.text).final(work.pid)["fds"]
    check.equal("opened", fds["by_call"]["open"]["calls"], 4000)
    # at its end, the program closes files of its own
    check.between("closed", fds["closed"], 4000, 4010)
    check.that(mine, "no process keeps the tracepoints")
    until(lambda: not mine & set(keepers(lab)), "the keeper to end")


@live
def test_calls_without_mounted_tracefs(check, lab):
    """faultscope finds the tracepoints of system calls also if tracefs is not mounted."""
    pid = lab.spawn(["sleep", "100"]).pid
    script = ("umount /sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug 2>/dev/null;"
              f"ls /sys/kernel/tracing; exec {lab.program} --json -p {pid} 0.1 1")
    mounted = start_of(lab, "-p", str(pid))["probes"]["calls"]
    lines = lab.call(*lab.own_mounts, "sh", "-c", script).out.splitlines()
    check.equal("entries of tracefs before the start line", lines[0][:1], "{")
    check.equal("attach type", json.loads(lines[0])["probes"]["calls"], mounted)


def write_32_bit_program(path):
    """Writes an ELF file for x86 whose code calls pause() in an endless loop."""
    base, code = 0x8048000, bytes.fromhex("b81d000000cd80ebf7")
    headers = 52 + 32
    ident = b"\x7fELF" + bytes((1, 1, 1)).ljust(12, b"\0")
    header = ident + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + headers, 52, 0, 0, 52, 32, 1, 40,
                                 0, 0)
    size = headers + len(code)
    path.write_bytes(header + struct.pack("<8I", 1, 0, base, base, size, size, 5, 4096) + code)
    path.chmod(0o755)
    return path


@live
def test_calls_of_a_32_bit_process(check, lab):
    """The tracepoints of single system calls do not see 32-bit programs."""
    if platform.machine() != "x86_64":
        raise Skip("32-bit programs of x86")
    try:
        ran = lab.spawn([write_32_bit_program(lab.dir / "pause32")])
    except OSError as reason:
        raise Skip(f"this kernel runs no 32-bit programs: {reason}") from reason
    check.equal("attach type", start_of(lab, "-p", str(ran.pid))["probes"]["calls"], "tp_btf")
    check.equal("the program runs on", ran.poll(), None)


FREQUENT = 40_000


def frequent_calls(lab, *program):
    """Watches a process that opens a file FREQUENT times at one place. Returns (output lines,
    seconds that the calls took, process)."""
    work = lab.work(*program, str(FREQUENT), "--wait")
    out = lab.dir / f"diagnosis-{work.pid}.jsonl"
    diagnosis = lab.spawn([FAULTSCOPE, "diagnose", "--json", "-o", out, "-p", str(work.pid), "-d",
                           "600"])
    until(lambda: out.exists() and all_attached(lab.read(out)), "the probes")
    begun = time.monotonic()
    work.go()
    work.truth()
    seconds = time.monotonic() - begun
    work.end()
    diagnosis.communicate(timeout=PATIENCE)
    return Lines(lab.read(out)), seconds, work


def check_frequent_calls(check, lab, *program):
    """Above a rate, only some stacks of a call site are walked. Each other call that is recorded
    counts for the stack of its site. Until faultscope has read the code of the process, all stacks
    are walked; on a busy machine, this may take as long as the calls do."""
    calls = FREQUENT
    for _ in range(5):
        lines, seconds, work = frequent_calls(lab, *program)
        walks = lines.all[-1]["walks"]
        if not walks:
            raise Skip("no unwind tables: the kernel follows frame pointers")
        not_walked = walks.pop("not-walked", 0)
        recorded = not_walked + sum(walks.values())
        # short-lived descriptors are sampled: the first 512 of a second, then one in 8
        check.between("recorded calls", recorded, calls / 8, calls)
        created = sum(one["created"] for one in lines.of("growth", work.pid, what="fds"))
        check.between("estimate", created, calls - 6 * (calls * 7) ** 0.5,
                      calls + 6 * (calls * 7) ** 0.5)
        opened = lines.final(work.pid)["fds"]["by_call"]["open"]["calls"]
        check.equal("every open is counted", opened, calls)
        # SITE_WALKS and SITE_EACH of bpf/call_site.bpf.h: 64 walks a second, and one in 16 of the
        # others
        most = 64 * (seconds + 1) + recorded / 16 + 6 * (recorded / 16) ** 0.5
        if sum(walks.values()) <= most:
            break
    check.that(sum(walks.values()) <= most, f"{walks} of {recorded} walked, at most {most:.0f}")
    check.that(sum(walks.values()) >= 64, f"only {walks} were walked")


@live
def test_stacks_of_a_frequent_call_site(check, lab):
    check_frequent_calls(check, lab, "bench", "openclose")


@live
def test_stacks_of_a_frame_with_numbers(check, lab):
    """Numbers in a frame are no part of the call site."""
    check_frequent_calls(check, lab, "changing_words")
