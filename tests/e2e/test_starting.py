# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the start of faultscope. In some tests, a signal interrupts it. In others, files or memory
are scarce, arguments are unknown, or the parent process ignores signals."""

import json
import os
import re
import signal
import subprocess

from harness import (BUILD, PATIENCE, RECORDINGS, ROOT, Lines, Skip, all_attached, check_form,
                     field_of, idle, live, same_verdict, until)
from test_errors import DONE, FAILED, USAGE, check_message
from test_origin import MIB, Groups

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def loads(process):
    """Returns whether a process has begun to load: it has a BPF map or program open."""
    place = f"/proc/{process.pid}/fd"
    try:
        return any("bpf" in os.readlink(f"{place}/{fd}") for fd in os.listdir(place))
    except FileNotFoundError:
        return False


@live
def test_signals_end_a_start(check, lab):
    """A signal ends faultscope at any point of its start. The exit status says which signal ended
    faultscope, and no file is left behind."""
    place = lab.dir / "files"
    place.mkdir()
    modes = (["--json", "-o", place / "out", "--record", place / "a.fsr"],
             ["record", "-o", place / "b.fsr"],
             ["run", "--junit", place / "j", "--fail-on", "fds.peak>60%", "--", "touch",
              place / "ran"])
    for number in ENDING:
        for words in modes:
            process = lab.spawn([lab.program, *words])
            until(lambda: loads(process) or process.poll() is not None, "the load")
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
            check.equal(f"{words[0]}: status by {number.name}", process.returncode, -number)
            check.equal(f"{words[0]}: output", (out, err), ("", ""))
            check.equal(f"{words[0]}: files left", [one.name for one in place.iterdir()], [])


def ignoring(numbers):
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


@live
def test_ignored_signals_stay_ignored(check, lab):
    """nohup or a shell may start faultscope with some signals ignored. These signals stay ignored
    in faultscope. Any other signal ends faultscope."""
    for words in (["--json", "0.2"], ["run", "--json", "--", "sleep", "60"]):
        process = lab.spawn([lab.program, *words], stdout=subprocess.PIPE,
                            preexec_fn=lambda: ignoring([signal.SIGHUP, signal.SIGINT]))
        until(lambda: loads(process), "the load")
        process.send_signal(signal.SIGHUP)
        process.stdout.readline()
        for number in (signal.SIGHUP, signal.SIGINT):
            process.send_signal(number)
        for _ in range(6):
            check.that(process.stdout.readline(), f"{words}: it ended by an ignored signal")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        check.that(process.returncode in (DONE, -signal.SIGTERM), f"status {process.returncode}")


@live
def test_command_inherits_ignored_signals(check, lab):
    """The command of `run` ignores exactly those of HUP, INT, PIPE and XFSZ that were ignored when
    faultscope started."""
    show = ["grep", "SigIgn", "/proc/self/status"]
    of_glibc = 3 << 31  # posix_spawn() ignores signals 32 and 33, which glibc's threads use

    def ignored(ran):
        return int(ran.out.split()[1], 16) & ~of_glibc

    for numbers in ([], [signal.SIGHUP], [signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ]):
        plain = lab.call(*show, preexec_fn=lambda n=numbers: ignoring(n), restore_signals=False)
        ran = lab.call(lab.program, "run", "--quiet", "--", *show,
                       preexec_fn=lambda n=numbers: ignoring(n), restore_signals=False)
        check.equal(f"ignored with {numbers}", ignored(ran), ignored(plain))


@live
def test_child_signal_ignored_by_the_parent(check, lab):
    ran = lab.call(lab.program, "run", "--quiet", "--", "sh", "-c", "exit 7",
                   preexec_fn=lambda: ignoring([signal.SIGCHLD]))
    check.equal("status of the command", ran.returncode, 7)


# Tests of a start with few files or little memory

@live
def test_start_with_few_files(check, lab):
    for words in (("0.1", "1"), ("-p", str(os.getpid()), "0.1", "1"), ("doctor",),
                  ("blackbox", "run", "--ring", lab.dir / "ring")):
        for most in (16, 24):
            ran = lab.call("prlimit", f"--nofile={most}", lab.program, *words)
            check_message(check, ran, FAILED, "EMFILE", "RLIMIT_NOFILE", str(most), "ulimit -n")
    ran = lab.call("prlimit", "--nofile=64", lab.program, "-p", str(os.getpid()), "0.1", "1")
    check_message(check, ran, FAILED, "EMFILE", "RLIMIT_NOFILE")


@live
def test_few_files_load_no_program(check, lab):
    """With a file limit that is obviously too low, the error is reported before any BPF program is
    loaded. Programs of two instructions only ask for what the kernel can do."""
    ran = lab.call("strace", "-f", "-e", "trace=bpf", "prlimit", "--nofile=64", lab.program,
                   "-p", str(os.getpid()), "0.1", "1")
    loads = [line for line in ran.err.splitlines() if "BPF_PROG_LOAD" in line]
    check.equal("programs loaded", [one for one in loads if "insn_cnt=2," not in one], [])


@live
def test_start_with_little_memory(check, lab):
    if BUILD.name == "san":
        raise Skip("a sanitizer needs more memory than that by itself")
    for kib in (2000, 2500, 3000, 4000, 8000, 9500):
        ran = lab.call("prlimit", f"--data={kib * 1024}", lab.program, "0.1", "1")
        # how much is enough depends on the versions of the libraries
        if kib == 2000 or ran.returncode:
            check_message(check, ran, FAILED, "ENOMEM", "RLIMIT_DATA", "ulimit -d")


@live
def test_memory_of_a_start(check, lab):
    """The kernel charges the memory of the BPF verifier to the process that loads a program, so the
    start needs this memory."""
    if BUILD.name == "san":
        raise Skip("a sanitizer needs more memory itself")
    with Groups(lab, "memory", "memory.limit_in_bytes", 96 * MIB, None) as groups:
        ran = groups.doctor(lab)
        check.that(ran.out, f"status {ran.returncode} within 96 MiB: {ran.err}")


# Tests of arguments

def test_words_that_no_command_takes(check, lab):
    words = (("1", "1", "extra"), ("record", "-o", "/dev/null", "1", "extra"),
             ("diagnose", "extra"), ("diagnose", "-p", "1", "extra"),
             ("memory", "-p", "1", "extra"), ("oom", "--list", "--watch"), ("host", "1", "1", "extra"),
             ("doctor", "extra"), ("export", "1", "extra"), ("info", "a", "extra"),
             ("replay", "a", "extra"), ("report", "a", "extra"), ("diff", "a", "b", "extra"),
             ("schema", "extra"), ("settings", "extra"), ("man", "extra"), ("mcp", "extra"),
             ("completion", "bash", "extra"),
             ("blackbox", "extra"), ("blackbox", "run", "extra"), ("blackbox", "arm", "extra"),
             ("blackbox", "status", "extra"), ("triage", "--live", "extra"),
             ("incidents", "nonsense"), ("incidents", "show", "extra"),
             ("incidents", "open", "extra"), ("incidents", "open", "1", "2"))
    for one in words:
        ran = lab.faultscope(*one)
        check_message(check, ran, USAGE)
    rows = (ROOT / "src" / "cli" / "options_commands.c").read_text(encoding="utf-8")
    commands = set(re.findall(r'\[CMD_\w+\] =\s*\{"(\w+)"', rows))
    # Left out: `run`, where any argument belongs to the command, and `explain` and `snapshot`, which
    # accept any text.
    check.equal("commands that are not tried", commands - {one[0] for one in words},
                {"run", "explain", "snapshot"})


# Tests of the time that a start takes

@live
def test_sockets_are_read_of_who_has_some(check, lab):
    """If no watched process has a socket, faultscope does not read /proc/PID/net/tcp, for which the
    kernel walks all sockets of the machine."""
    targets = [lab.work("touch", "10", "--hold") for _ in range(3)]
    calls = lab.dir / "calls"
    lab.call("strace", "-f", "-o", calls, "-e", "trace=openat", lab.program, "record", "-d", "0.3",
             "-o", lab.dir / "r.fsr", ",".join(str(one.pid) for one in targets))
    text = calls.read_text(errors="replace")
    check.that("/fd" in text, "no descriptors were read")
    check.equal("tables of sockets", re.findall(r"/proc/\d+/net/\w+", text), [])
    for one in targets:
        one.end()


@idle
@live
def test_duration_begins_with_the_first_look(check, lab):
    """The duration of -d includes the time to read /proc before the event loop. If reading /proc
    alone takes longer than this duration, the event loop ends at once."""
    target = lab.work("touch", "10", "--hold")
    calls = lab.dir / "calls"
    lab.call("strace", "-f", "-o", calls, "-e", "trace=openat,epoll_wait,epoll_pwait", "-e",
             "inject=openat:delay_exit=15000", lab.program, "record", "-d", "0.02", "-o",
             lab.dir / "r.fsr", str(target.pid))
    lines = calls.read_text(errors="replace").splitlines()
    # Keeps the system calls of the first thread. (Another thread of faultscope waits for signals
    # during the start.)
    lines = [line for line in lines if line.split()[0] == lines[0].split()[0]]
    opened = max(i for i, line in enumerate(lines) if re.search(r"/proc/\d+/(fd|maps)", line))
    waits = [line for line in lines[:opened] if re.match(r"\d+ +epoll_", line)]
    check.equal("waits of the loop that take time", [line for line in waits
                if not re.search(r", 0(, NULL, \d+)?\) ", line)], [])
    target.end()


# Tests of the first scan, which -p prints before all probes are attached

# A value of a process that is known from the first scan on, and values of later probes
AT_ONCE, LATER = "maps.count", ("faults.user", "fds.opened", "maps.created", "memory.reclaims")


@live
def test_first_scan_comes_before_all_probes(check, lab):
    """With -p, the first lines say which probes are not attached yet. The values of these probes
    are null until a line says that all probes are attached, and are exact from then on."""
    work = lab.work("bench", "openclose", "4000", "--wait")
    watch = lab.watch("-p", str(work.pid))
    work.go()
    work.truth()
    work.end()
    capture = watch.finished()
    for lines in (check_form(check, capture), Lines(lab.replay(capture.recording).text)):
        start, kinds = lines.all[0], [line["type"] for line in lines.all]
        check.equal("core probes that are pending", {"state", "scan", "lifecycle"} &
                    set(start["pending_probes"]), set())
        check.equal("lines that say that all probes are attached", kinds.count("probes"), 1)
        check.equal("attach types", lines.of("probes")[0]["probes"], start["probes"])
        at = kinds.index("probes")
        before, after = ([line for line in part if line["type"] == "process"]
                         for part in (lines.all[:at], lines.all[at:]))
        check.that(before and after, f"processes before: {before}, after: {after}")
        for line in before:
            check.that(field_of(line, AT_ONCE), f"first scan: {AT_ONCE} {field_of(line, AT_ONCE)}")
            for path in LATER:
                check.equal(f"first scan: {path}", field_of(line, path), None)
        for path in LATER:
            check.equal(f"{path} when all probes are attached", field_of(after[0], path), 0)
        check.equal("opened", after[-1]["fds"]["by_call"]["open"]["calls"], 4000)


@live
def test_attach_type_fails_after_the_first_scan(check, lab):
    """If an attach type fails after the first scan, the next one is used, and the processes are
    still watched."""
    work = lab.work("bench", "openclose", "4000", "--wait")
    out = lab.dir / "out"
    ran = lab.spawn(["strace", "-f", "--seccomp-bpf", "-o", lab.dir / "calls", "-e",
                     "trace=perf_event_open", "-e", "inject=perf_event_open:error=EACCES",
                     lab.program, "--json", "-o", out, "-p", work.pid])
    until(lambda: ran.poll() is not None or (out.exists() and all_attached(out.read_text())),
          "the probes", 3 * PATIENCE)
    work.go()
    work.truth()
    work.end()
    err = ran.communicate(timeout=PATIENCE)[1]
    check.that("not measured: fault_end" in err, f"standard error {err!r}")
    lines = Lines(out.read_text())
    probes = lines.of("probes")[0]["probes"]
    check.equal("attach type of calls", probes["calls"], "tp_btf")
    check.that("EACCES" in probes["fault_end"], f"fault_end: {probes['fault_end']}")
    final = lines.final(work.pid)
    check.equal("opened", final["fds"]["by_call"]["open"]["calls"], 4000)
    check.equal("latency", final["faults"]["stall_ns"], None)
    check.equal("lost", lines.losses(), {})


def without_input(lab, *words):
    """Runs a command with standard input closed, so that the first file that it opens gets fd 0."""
    return lab.faultscope(*words, preexec_fn=lambda: os.close(0))


def test_standard_input_is_closed(check, lab):
    """Descriptor 0 is as good as any other: a command that reads files has the same output."""
    log = sorted((ROOT / "tests/triage/corpus").glob("*.log"))[0]
    one, other = (RECORDINGS / f"{name}.fsr" for name in ("forecast_of_a_leak",
                                                          "crash_after_refusal"))
    for words in (("report", one), ("report", "--format", "html", one), ("info", one),
                  ("diff", one, other), ("host", "--replay", one), ("triage", log),
                  ("triage", "--json", log), ("diagnose", "--replay", one),
                  ("report", "--format", "trace", "-o", "-", one)):
        usual, closed = lab.faultscope(*words), without_input(lab, *words)
        check.equal(f"{words}: output", (closed.out, closed.err, closed.returncode),
                    (usual.out, usual.err, usual.returncode))


TRIES = 3


def unknown_in(value, path=""):
    """Yields the paths of all values in a JSON value that are null, without the indices of lists."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from unknown_in(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from unknown_in(inner, path)
    elif value is None:
        yield path


def unknown_of(ran):
    return {path for line in ran.out.splitlines() for path in unknown_in(json.loads(line))}


@live
def test_standard_input_is_closed_for_measuring(check, lab):
    """What faultscope measures with descriptor 0 in use is known as in any other run."""
    work = lab.work("touch", "10", "--hold")
    work.truth()
    for words in (("--json", "-p", str(work.pid), "0.3", "1"), ("host", "--json"),
                  ("doctor", "--json")):
        more = None
        for _ in range(TRIES):  # a value that is sometimes unknown is no difference
            usual, closed = lab.faultscope(*words), without_input(lab, *words)
            check.that(same_verdict(usual, closed),
                       f"{words}: status {closed.returncode}, not {usual.returncode}")
            new = unknown_of(closed) - unknown_of(usual)
            more = new if more is None else more & new
            if not more:
                break
        check.that(not more, f"{words}: unknown with standard input closed: {sorted(more)}")
