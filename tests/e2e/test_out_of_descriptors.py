# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests commands with fewer and fewer available file descriptors. Each command either works, or
exits with an error that gives the reason."""
import os
import resource
from functools import partial

from expected import helper
from harness import FAULTSCOPE, RECORDINGS, live

FAILED, RUN_FAILED = 1, 125
# least number of file descriptors with which a program starts: stdin, stdout, stderr, and one for
# libraries
BEGINS = 4


def limited(lab, most, words):
    return lab.call(FAULTSCOPE, *words, cwd=lab.dir, errors="replace",
                    preexec_fn=partial(resource.setrlimit, resource.RLIMIT_NOFILE, (most, most)))


def check_refused(check, ran, status, what):
    check.equal(f"{what}: status", ran.returncode, status)
    check.equal(f"{what}: output", ran.out, "")
    check.that(ran.err.startswith("faultscope: ") and "Too many open files" in ran.err,
               f"{what}: {ran.err!r}")


@live
def test_descriptors_run_out_for_measuring(check, lab):
    """With too few file descriptors, faultscope measures nothing, starts no command, and leaves no
    file behind."""
    made = {"run": (RUN_FAILED, ("run", "--", "touch", "made")),
            "record": (FAILED, ("record", "-o", "made", "-d", "1s")),
            "watch": (FAILED, ("1", "1")),
            "host": (FAILED, ("host",)),
            "doctor": (FAILED, ("doctor",))}
    for name, (status, words) in made.items():
        for most in (BEGINS, 5, 6, 7, 8, 12, 40, 70):
            ran = limited(lab, most, words)
            check_refused(check, ran, status, f"{name}, {most}")
            check.that(not (lab.dir / "made").exists(), f"{name}, {most}: a file was made")
            if most > 8:
                check.that(f"RLIMIT_NOFILE is {most}" in ran.err, f"{name}, {most}: {ran.err!r}")
    for most in (140, 200):
        ran = limited(lab, most, made["run"][1])
        check.equal(f"run, {most}: status", ran.returncode, 0)
        check.that((lab.dir / "made").exists(), f"run, {most}: the command did not run")
        (lab.dir / "made").unlink(missing_ok=True)


def test_descriptors_run_out_for_recordings(check, lab):
    """A command that reads a file needs two file descriptors. If only one file descriptor is
    available, the error names the file that cannot be opened."""
    recording = RECORDINGS / "forecast_of_a_leak.fsr"
    helper(lab, "ring_writer", 1, 40, "ring", "log")
    for words in (("report", recording), ("info", recording), ("triage", "log"),
                  ("diff", recording, recording), ("--replay", recording, "--summary"),
                  ("host", "--replay", recording), ("blackbox", "read", "ring")):
        whole = limited(lab, 64, words)
        check.that(whole.out and not whole.err, f"{words}: {whole.err!r}")
        refused = 0
        for most in range(BEGINS, 9):
            ran = limited(lab, most, words)
            if (ran.returncode, ran.out, ran.err) == (whole.returncode, whole.out, whole.err):
                continue
            refused += 1
            check_refused(check, ran, FAILED, f"{words}, {most}")
        check.that(refused < 3, f"{words}: refused with up to {BEGINS + refused - 1}")


def test_outputs_on_descriptors_that_fail(check, lab):
    """Every command that prints exits with an error if its output is full or closed."""
    recording = RECORDINGS / "forecast_of_a_leak.fsr"
    helper(lab, "ring_writer", 1, 40, "ring", "log")
    full = 'exec "$0" "$@" > /dev/full'
    closed = 'exec "$0" "$@" >&-'
    for how in (full, closed):
        for words in (("report", recording), ("report", "--format", "html", recording),
                      ("report", "--format", "jsonl", recording), ("info", recording),
                      ("diff", recording, recording), ("diff", "--json", recording, recording),
                      ("--replay", recording, "--summary"), ("--replay", recording, "--json"),
                      ("host", "--replay", recording), ("triage", "log"),
                      ("triage", "--json", "log"), ("blackbox", "read", "ring"),
                      ("explain", "M01"), ("schema",), ("completion", "bash"), ("man",),
                      ("--help",), ("--version",)):
            ran = lab.call("sh", "-c", how, FAULTSCOPE, *words, cwd=lab.dir)
            check.equal(f"{words} {how[-9:]}: status", ran.returncode, FAILED)
            check.that(ran.err.startswith("faultscope: ") and
                       ("No space left" in ran.err or "Bad file descriptor" in ran.err),
                       f"{words} {how[-9:]}: {ran.err!r}")


# Shell redirections that close standard files
CLOSED = ("2>&-", ">&- 2>&-", "<&- >&- 2>&-", "<&-")


def check_closed(check, lab, whole, words):
    """Runs a command with some standard files closed. The command writes the file "out". Yields what
    was closed, and the content of the file, which must have no messages: open() may have given the
    file the number of a closed one."""
    for closed in CLOSED:
        (lab.dir / "out").unlink(missing_ok=True)
        ran = lab.call("sh", "-c", f'exec "$0" "$@" {closed}', FAULTSCOPE, *words, cwd=lab.dir)
        check.equal(f"{words} {closed}: status", ran.returncode, whole.returncode)
        yield closed, (lab.dir / "out").read_bytes()


def test_closed_standard_files(check, lab):
    cut = lab.dir / "cut.fsr"
    cut.write_bytes((RECORDINGS / "forecast_of_a_leak.fsr").read_bytes()[:-40])
    for words in (("report", "-o", "out", cut), ("report", "--format", "jsonl", "-o", "out", cut),
                  ("--replay", cut, "--json", "-o", "out"), ("diff", "--json", "-o", "out", cut, cut)):
        whole = lab.call(FAULTSCOPE, *words, cwd=lab.dir)
        check.that("truncated or damaged" in whole.err, f"{words}: {whole.err!r}")
        want = (lab.dir / "out").read_bytes()
        for closed, out in check_closed(check, lab, whole, words):
            check.that(out == want, f"{words} {closed}: {len(out)} bytes, not {len(want)}")


@live
def test_closed_standard_files_of_a_recording(check, lab):
    words = ("record", "-o", "out", "-d", "0.2", "-p", str(os.getpid()))
    whole = lab.call(FAULTSCOPE, *words, cwd=lab.dir)
    check.that("recorded" in whole.err, f"{words}: {whole.err!r}")
    for closed, out in check_closed(check, lab, whole, words):
        read = lab.faultscope("info", lab.dir / "out")
        check.equal(f"{closed}: info of {len(out)} bytes", (read.returncode, read.err), (0, ""))
    files = lab.call("sh", "-c", 'exec "$0" "$@" <&- 2>&-', FAULTSCOPE, "run", "--quiet", "--",
                     "sh", "-c", "ls /proc/$$/fd", cwd=lab.dir)
    check.equal("files of the command", files.out.split(), ["1"])
