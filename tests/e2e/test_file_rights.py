# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests capabilities of the program file (setcap). faultscope uses them only for BPF. Commands that
only read files drop all capabilities, so they can open only files that their caller may open."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import recording_format
from harness import PATIENCE, Lines, Skip, all_attached, live, until
from test_errors import DONE, FAILED, NOBODY, NOT_PERMITTED, USAGE, check_message
from test_privilege import SETS, status_of

GIVEN = "cap_bpf,cap_perfmon,cap_dac_read_search=ep"
SECRET = "the-first-line-of-a-secret"
AS_NOBODY = ("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--")


def with_capabilities(lab):
    """Returns a copy of the program that has file capabilities and that any user may execute."""
    if not shutil.which("setcap") or not shutil.which("setpriv"):
        raise Skip("setcap or setpriv is missing")
    program = lab.for_all(lab.program)
    ran = lab.call("setcap", GIVEN, program)
    if ran.returncode:
        raise Skip(f"this file system keeps no capabilities: {ran.err.strip()}")
    return program


def own_file(lab, owner, name="secret", text=SECRET + "\n"):
    """Makes a file that only its owner may read."""
    path = lab.new_place_for_all() / name
    path.write_text(text)
    path.chmod(0o600)
    os.chown(path, owner, owner)
    return path


def reading_commands(path):
    yield "triage", path
    yield "report", path
    yield "info", path
    yield "replay", path
    yield "diff", path, path
    yield "diagnose", "--replay", path
    yield "host", "--replay", path
    yield "--replay", path
    yield "blackbox", "read", path
    yield "blackbox", "status", "--ring", path


def check_closed(check, ran, words):
    check.that(ran.returncode in (FAILED, USAGE), f"{words[0]}: status {ran.returncode}")
    check.that("Permission denied" in ran.err, f"{words[0]} {words[1]}: says {ran.err!r}")
    check.that(SECRET not in ran.out + ran.err, f"{words}: it shows what is in the file")


@live
def test_capabilities_of_the_file_open_no_file(check, lab):
    program = with_capabilities(lab)
    path = own_file(lab, 0)
    for words in reading_commands(path):
        check_closed(check, lab.call(*AS_NOBODY, program, *words), words)
    for words in (("--btf", path, "1", "1"), ("export", "--web.config.file", path),
                  ("diagnose", "--ring", path, "-d", "0.1", "-p", "1")):
        ran = lab.call(*AS_NOBODY, program, *words)
        check.that(ran.returncode not in (0, 3), f"{words[0]}: status {ran.returncode}")
        check.that(SECRET not in ran.out + ran.err, f"{words}: it shows what is in the file")


@live
def test_capabilities_of_the_file_serve_bpf(check, lab):
    program = with_capabilities(lab)
    out = lab.new_place_for_all() / "out"
    ran = lab.call(*AS_NOBODY, program, "run", "--json", "-o", out, "--",
                   lab.for_all(lab.workload("touch")), "1000")
    if not check.equal(f"status: {ran.err}", ran.returncode, DONE):
        return
    truth = json.loads(ran.out)
    minor = Lines(lab.read(out)).final(truth["pid"])["faults"]["minor"]
    check.between("minor", minor, truth["minflt"], truth["minflt"] + 15)


@live
def test_command_of_capable_file_gets_none(check, lab):
    program = with_capabilities(lab)
    ran = lab.call(*AS_NOBODY, program, "run", "--quiet", "--", "cat", "/proc/self/status")
    told = status_of(ran.out)
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        check.equal(name, int(told[name], 16), 0)


@live
def test_set_user_id_is_undone(check, lab):
    """A set-user-ID bit on the program does not let its caller read files of root."""
    program = lab.for_all(lab.program)
    program.chmod(0o4755)
    path = own_file(lab, 0)
    for words in reading_commands(path):
        check_closed(check, lab.call(*AS_NOBODY, program, *words), words)


@live
def test_no_advice_to_read_all_files(check, lab):
    """No message about missing rights advises a capability that opens files of other users."""
    script = f"umount /sys/kernel/tracing 2>/dev/null; exec {lab.program} doctor --no-calibrate"
    ran = lab.call(*lab.own_mounts, "sh", "-c", script)
    told = ran.out + ran.err
    for words in ((), ("1", "1")):
        ran = lab.call(*AS_NOBODY, lab.for_all(lab.program), *words or ("doctor",))
        check_message(check, ran, NOT_PERMITTED, "CAP_BPF")
        told += ran.out + ran.err
    for word in ("cap_dac", "setcap"):
        check.that(word not in told, f"{word} is advised: {told!r}")


@live
def test_root_reads_its_own_files_without_capabilities(check, lab):
    """Root's commands read root's files without capabilities. If another user's file cannot be
    opened, the message says why."""
    ran = lab.faultscope("triage", own_file(lab, 0))
    check.that("Permission denied" not in ran.err, f"its own file: {ran.err!r}")
    path = own_file(lab, NOBODY)
    for words in reading_commands(path):
        check_closed(check, lab.faultscope(*words), words)
    ran = lab.faultscope("triage", path)
    check.that("drops root's capabilities" in ran.err, f"message: {ran.err!r}")


def check_without_capabilities(check, lab, words, **how):
    """Checks that a command which waits for its input or output has no capabilities."""
    process = lab.spawn([lab.program, *words], **how)

    def is_confined():  # the command gives up one right after another
        told = status_of(lab.read(f"/proc/{process.pid}/status"))
        return int(told["CapPrm"], 16) == 0 and told["NoNewPrivs"] == "1"
    try:
        until(is_confined, f"{words[0]} without capabilities, and with no_new_privs")
    except AssertionError as error:
        check.that(False, str(error))
        return
    told = status_of(lab.read(f"/proc/{process.pid}/status"))
    for name in SETS:
        check.equal(f"{words[0]}: {name}", int(told[name], 16), 0)


@live
def test_commands_that_read_have_no_capability(check, lab):
    read, write = os.pipe()  # this pipe stays full, because nobody reads from it
    os.set_blocking(write, False)
    while True:
        try:
            os.write(write, b"\n" * 4096)
        except BlockingIOError:
            break
    os.set_blocking(write, True)
    check_without_capabilities(check, lab, ("triage", "-"), stdin=subprocess.PIPE)
    check_without_capabilities(check, lab, ("explain",), stdout=write)
    os.close(read)
    os.close(write)


# Tests of details about other users' processes that must not be shown

SHOWING = """
import ctypes, mmap, os, sys
print(1, flush=True); sys.stdin.readline()
kept = [os.open(sys.argv[1], os.O_RDONLY) for _ in range(400)]
maps = [mmap.mmap(kept[0], 4096, prot=mmap.PROT_READ) for _ in range(1500)]
gone = mmap.mmap(-1, 4096)
address = ctypes.addressof(ctypes.c_char.from_buffer(gone))
child = os.fork()
if not child:
    ctypes.CDLL(None).munmap(ctypes.c_void_p(address), 4096)
    ctypes.string_at(address)
os.waitpid(child, 0)
print(address, flush=True)
sys.stdin.readline()
"""
NAME = "a-name-of-its-own.so"


def watch_showing(lab, program, user):
    """Watches a process of `user` as nobody, with file capabilities. The process opens and maps a
    file, and its child crashes. Returns the bad address, the output, the texts and numbers of the
    recording, and standard error."""
    path = own_file(lab, user, NAME, "x" * 4096)
    become = ("setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--")
    shown = lab.spawn([*become, sys.executable, "-c", SHOWING, path], stdin=subprocess.PIPE)
    shown.stdout.readline()
    place = lab.new_place_for_all()
    watch = lab.spawn([*AS_NOBODY, program, "--json", "--addresses", "-o", place / "out",
                       "--record", place / "rec.fsr", "-p", str(shown.pid), "--children", "0.2"])
    until(lambda: watch.poll() is not None or
          ((place / "out").exists() and all_attached((place / "out").read_text())), "the probes")
    shown.stdin.write("\n")
    shown.stdin.flush()
    address = int(shown.stdout.readline())
    text = until(lambda: (said := lab.read(place / "out")).count('"type":"signal"') and said,
                 "the signal")
    until(lambda: lab.read(place / "out").count("\n") > text.count("\n") + 6, "more looks")
    watch.send_signal(signal.SIGINT)
    err = watch.communicate(timeout=PATIENCE)[1]
    shown.communicate("\n", timeout=PATIENCE)
    return address, lab.read(place / "out"), recording_format.Values(place / "rec.fsr"), err


@live
def test_others_processes_are_withheld(check, lab):
    program = with_capabilities(lab)
    address, text, recording, err = watch_showing(lab, program, 0)
    check.that(f"{address:x}" not in text, "the address of another user's process is told")
    check.that(recording.numbers and address not in recording.numbers, "the address is recorded")
    check.that(NAME not in text, "a file that it has open is named")
    check.that(NAME not in "\n".join(recording.texts), "a file that it has open is recorded by name")
    check.that("may not trace" in err, f"what is withheld is not said: {err!r}")
    lines = Lines(text)
    check.equal("its program", [line["exe"] for line in lines.of("process") if line["exe"]], [])
    check.that(lines.of("signal"), "the signal itself is not told")


@live
def test_own_processes_are_shown(check, lab):
    program = with_capabilities(lab)
    address, text, recording, err = watch_showing(lab, program, NOBODY)
    check.that(f"{address:x}" in text, "the address of an own process is not told")
    check.that(NAME in text, "a file that an own process has open is not named")
    check.that(NAME in "\n".join(recording.texts), "nor is it in the recording")
    check.that(address in recording.numbers, "the address is not in the recording")
    check.equal("standard error", err, "")
