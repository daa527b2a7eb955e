# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that output files are written completely or not at all. No temporary file may be left
behind, and no symbolic link may be followed."""

import os
import shlex
import signal
import stat
import subprocess
from pathlib import Path

from harness import FAULTSCOPE, RECORDINGS, idle, live, until, workload_path

DONE, FAILED, USAGE, NO_TARGET, RUN_FAILED = 0, 1, 2, 4, 125
LEAK = RECORDINGS / "forecast_of_a_leak.fsr"
GOOD = "the report of yesterday\n"

# One report format for each of four ways to write a file. html is written at the end, jsonl line by
# line. A recording and a textfile are the others.
REPORTS = ("html", "jsonl", "recording", "textfile")


def words_of(name, out):
    force = ["--force"] if name == "recording" else []
    return [FAULTSCOPE, "report", *force, "--format", name, LEAK, "-o", out]


def shell(lab, script):
    return lab.call("sh", "-c", script)


def quoted(words):
    return " ".join(shlex.quote(str(word)) for word in words)


@live
def test_full_disk_keeps_the_good_file(check, lab):
    """On a nearly full tmpfs of 8 KiB, a failed report leaves the existing file unchanged."""
    for name in REPORTS:
        place = lab.dir / f"disk-{name}"
        place.mkdir()
        out = place / "report"
        ran = lab.call(*lab.own_mounts, "sh", "-c", f"""
            mount -t tmpfs -o size=8k none {place} && printf '%s' {shlex.quote(GOOD)} > {out} &&
            head -c 4096 /dev/zero > {place}/filler || exit 99
            {quoted(words_of(name, out))}
            echo "status $?"; cat {out}; ls -A {place}; umount {place}""")
        check.equal(f"{name}: {ran.err}", ran.out, f"status {FAILED}\n{GOOD}filler\nreport\n")
        check.that("No space left on device" in ran.err, f"{name}: {ran.err!r}")


def test_file_size_limit_is_an_error(check, lab):
    """At the file size limit RLIMIT_FSIZE, SIGXFSZ does not kill the program, and the existing file
    stays unchanged."""
    for name in REPORTS:
        out = lab.dir / f"limit-{name}"
        out.write_text(GOOD)
        ran = shell(lab, f"ulimit -f 1; {quoted(words_of(name, out))}")
        check.equal(f"{name}: status", ran.returncode, FAILED)
        check.that("File too large" in ran.err, f"{name}: {ran.err!r}")
        check.equal(f"{name}: the file", out.read_text(), GOOD)
    check.equal("no draft is left", [one for one in os.listdir(lab.dir) if one[0] == "."], [])


def test_links_are_not_followed(check, lab):
    target, link = lab.dir / "target", lab.dir / "link"
    target.write_text(GOOD)
    link.symlink_to(target)
    gate = ["--fail-on", "maps.peak>999999", "--junit", link]
    for words in (*(words_of(name, link) for name in REPORTS),
                  [FAULTSCOPE, "--replay", LEAK, *gate]):
        ran = lab.call(*words)
        check.equal(f"status of {words[1:4]}", ran.returncode, FAILED)
        check.that("symbolic link" in ran.err, f"{words[1:4]}: {ran.err!r}")
        check.equal("what it points to", target.read_text(), GOOD)
        check.that(link.is_symlink(), "the link is there no more")


def test_mode_of_new_files(check, lab):
    want = 0o600 if os.geteuid() == 0 else 0o644
    out, junit = lab.dir / "new.html", lab.dir / "new.xml"
    ran = shell(lab, f"umask 022; {quoted(words_of('html', out))} && "
                     f"{FAULTSCOPE} --replay {LEAK} --fail-on 'maps.peak>999999' --junit {junit}")
    check.equal(f"status: {ran.err}", ran.returncode, DONE)
    for path in (out, junit):
        check.equal(f"mode of {path.name}", stat.S_IMODE(path.stat().st_mode), want)
    # An existing regular file that belongs to the caller keeps its mode.
    out.chmod(0o644)
    check.equal("status", lab.call(*words_of("html", out)).returncode, DONE)
    check.equal("mode", stat.S_IMODE(out.stat().st_mode), 0o644)


def test_dash_is_standard_output(check, lab):
    for name, want in (("html", "<!doctype html>"), ("jsonl", '{"type":"start"'), ("csv", "pid,")):
        ran = lab.call(*words_of(name, "-"), cwd=lab.dir)
        check.equal(f"{name}: status", ran.returncode, DONE)
        check.that(ran.out.startswith(want), f"{name}: {ran.out[:60]!r}")
    for words in (words_of("recording", "-"), words_of("textfile", "-"),
                  [FAULTSCOPE, "record", "-o", "-"], [FAULTSCOPE, "--record", "-", "1", "1"],
                  [FAULTSCOPE, "--replay", LEAK, "--fail-on", "maps.peak>1", "--junit", "-"]):
        ran = lab.call(*words, cwd=lab.dir)
        check.equal(f"{words[1:]}: status", ran.returncode, USAGE)
        check.that(ran.err.startswith("faultscope: -: "), f"{words[1:]}: {ran.err!r}")
    check.that(not (lab.dir / "-").exists(), "a file of the name - was made")


def test_descriptors_and_fifos(check, lab):
    plain = lab.faultscope("report", "--format", "csv", LEAK).out
    for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        check.equal(path, lab.call(*words_of("csv", path)).out, plain)
    check.equal("/dev/null", lab.call(*words_of("csv", "/dev/null")).returncode, DONE)
    ran = lab.call(*words_of("csv", "/dev/full"))
    check.equal("/dev/full", (ran.returncode, "No space left" in ran.err), (FAILED, True))
    fifo = lab.dir / "fifo"
    os.mkfifo(fifo)
    ran = shell(lab, f"cat {fifo} & {quoted(words_of('csv', fifo))}; wait")
    check.equal("a FIFO", ran.out, plain)


def test_reader_that_has_enough(check, lab):
    """If the reader closes the pipe early, as `| head -1` does, no command reports the closed pipe
    as an error."""
    for words in (["report", "--format", "csv", LEAK], ["report", "--format", "html", LEAK],
                  ["report", "--format", "jsonl", LEAK], ["--replay", LEAK, "--json"],
                  ["info", LEAK], ["diff", LEAK, LEAK], ["schema"], ["man"], ["--help"],
                  ["explain"], ["completion", "bash"]):
        reading, writing = os.pipe()
        os.close(reading)
        ran = subprocess.run([FAULTSCOPE, *words], stdout=writing, stderr=subprocess.PIPE,
                             text=True, check=False)
        os.close(writing)
        check.equal(f"{words}: standard error", ran.stderr, "")


def test_what_is_no_recording(check, lab):
    path = lab.dir / "five"
    path.write_text("hello")
    for command in ("info", "report", "replay"):
        ran = lab.faultscope(command, path)
        check.equal(f"{command}: status", ran.returncode, FAILED)
        check.that("not a faultscope recording" in ran.err, f"{command}: {ran.err!r}")


def test_failed_reading_keeps_the_good_file(check, lab):
    bad, out = lab.dir / "bad.fsr", lab.dir / "out"
    bad.write_bytes(b"no recording")
    for name in REPORTS:
        out.write_text(GOOD)
        force = ["--force"] if name == "recording" else []
        ran = lab.faultscope("report", *force, "--format", name, bad, "-o", out)
        check.equal(f"{name}: status", ran.returncode, FAILED)
        check.equal(f"{name}: the file", out.read_text(), GOOD)


@live
def test_failed_start_leaves_nothing(check, lab):
    """If the target process does not exist, no new recording or output file is left behind, and old
    files stay unchanged."""
    recording, out = lab.dir / "none.fsr", lab.dir / "none.jsonl"
    for words in (["record", "-p", "4194303", "-o", recording],
                  ["-p", "4194303", "--json", "-o", out, "--record", recording]):
        ran = lab.faultscope(*words)
        check.equal(f"status: {ran.err}", ran.returncode, NO_TARGET)
        check.equal("files", os.listdir(lab.dir), [])
    recording.write_text(GOOD)
    ran = lab.faultscope("record", "--force", "-p", "4194303", "-o", recording)
    check.equal("status", ran.returncode, NO_TARGET)
    check.equal("what would have been replaced", recording.read_text(), GOOD)


@live
def test_disk_that_fills_later_keeps_the_good_file(check, lab):
    """The disk becomes full while faultscope watches. The old file must stay unchanged, no
    temporary file may be left, and the exit status must be that of an error."""
    place = lab.dir / "filling"
    place.mkdir()
    out, junit = place / "out", place / "junit.xml"
    gate = f"--fail-on 'maps.peak>999999' --junit {junit}"
    for options in ("--json 0.05 600", "--no-unicode 0.05 600", f"--json {gate} 0.05 600",
                    f"run --json {gate} -o {out} -- sleep 600"):
        # The tmpfs of this test has 64 KiB free at first. After the session has begun to write, a
        # file fills the tmpfs.
        ran = lab.call(*lab.own_mounts, "sh", "-c", f"""
            mount -t tmpfs -o size=256k none {place} || exit 99
            for f in {out} {junit}; do printf '%s' {shlex.quote(GOOD)} > $f; done
            head -c 180000 /dev/zero > {place}/filler
            case '{options[:3]}' in
            run) {FAULTSCOPE} {options.replace("sleep 600", "sleep 3")} & ;;
            *) {FAULTSCOPE} -o {out} {options} & ;;
            esac
            until ls -s {place}/.faultscope.*.tmp 2>/dev/null | grep -qv '^0'; do
                kill -0 $! || break; sleep 0.01; done
            cmp -s {out} {junit} || echo 'replaced too soon'
            cat /dev/zero >> {place}/filler
            wait $!; echo "status $?"
            cat {out} {junit}; ls -A {place}; umount {place}""")
        # `run` reports the error only after its command has ended.
        status = RUN_FAILED if options.startswith("run") else FAILED
        want = f"status {status}\n{GOOD}{GOOD}filler\njunit.xml\nout\n"
        check.equal(f"{options}: {ran.err}", ran.out, want)
        check.that("No space left on device; the existing file is unchanged" in ran.err,
                   f"{options}: {ran.err!r}")


@live
def test_live_output_replaces_at_its_end(check, lab):
    """While a new output file is written, it can already be read. An existing output file is
    replaced only at the end."""
    out, junit = lab.dir / "out", lab.dir / "junit.xml"
    gate = ["--fail-on", "maps.peak>999999", "--junit", junit]
    for end in (signal.SIGINT, signal.SIGTERM):
        for path in (out, junit):
            path.write_text(GOOD)
        process = lab.spawn([FAULTSCOPE, "--json", *gate, "-o", out, "-p", str(os.getpid()),
                             "0.05"])
        until(lambda: [one for one in os.listdir(lab.dir) if one[0] == "."
                       and (lab.dir / one).stat().st_size > 2000], "the draft")
        check.equal("meanwhile", (out.read_text(), junit.read_text()), (GOOD, GOOD))
        process.send_signal(end)
        check.equal(f"status: {process.communicate()[1]}", process.returncode, DONE)
        lines = out.read_text().splitlines()
        check.that(lines[0].startswith('{"type":"start"') and '"type":"end"' in lines[-1], "lines")
        check.that(junit.read_text().startswith("<?xml"), "the gates")
        check.equal("files", sorted(os.listdir(lab.dir)), ["junit.xml", "out"])


@live
def test_recording_has_what_came_before_a_signal(check, lab):
    """A signal ends a recording. It contains what happened since the last scan."""
    for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        made = lab.dir / f"{end.name}.fsr"
        recorder = lab.spawn([FAULTSCOPE, "record", "-o", made, "--interval", "1000"])
        # it filters its system calls after the first scan
        until(lambda: "Seccomp:\t2" in Path(f"/proc/{recorder.pid}/status").read_text(),
              f"the first scan: {end.name}")
        name = f"ends-by-{end.name}"[:15]
        program = lab.dir / name
        if not program.exists():
            program.symlink_to("/bin/true")
        lab.call(program)
        recorder.send_signal(end)
        check.equal(f"{end.name}: {recorder.communicate()[1]}", recorder.returncode, DONE)
        report = lab.faultscope("report", "--format", "jsonl", made).out
        check.that(f'"comm":"{name}"' in report, f"{end.name}: the program that ran is missing")


@live
def test_live_output_in_the_directory_of_another_user(check, lab):
    """Root without capabilities may not rename files in another user's directory. In such a
    directory, faultscope replaces the old file at the start, before it drops its capabilities."""
    place = lab.new_place_for_all()
    os.chmod(place, 0o755)
    os.chown(place, 65534, 65534)
    out = place / "out"
    out.write_text(GOOD)
    ran = lab.faultscope("--json", "-o", out, "-p", str(os.getpid()), "0.05", "3")
    check.equal(f"status: {ran.err}", ran.returncode, DONE)
    check.that('"type":"end"' in out.read_text(), "the last line")
    check.equal("files", os.listdir(place), ["out"])


@idle
@live
def test_record_ends_on_a_full_disk(check, lab):
    """`record` writes only a recording. On a full disk `record` ends, and the part of the recording
    that was written is readable."""
    place = lab.dir / "disk"
    place.mkdir()
    ran = lab.call(*lab.own_mounts, "sh", "-c", f"""
        mount -t tmpfs -o size=64k none {place} || exit 99
        {FAULTSCOPE} record -i 0.1 -o {place}/r.fsr -d 60; echo "status $?"
        {FAULTSCOPE} info {place}/r.fsr | grep '^file'; umount {place}""")
    check.equal(f"{ran.err}", ran.out.split("\n")[0], f"status {FAILED}")
    check.that("failed: No space left on device" in ran.err, ran.err)
    check.that("watching goes on" not in ran.err, ran.err)
    check.that("r.fsr" in ran.out, ran.out)
