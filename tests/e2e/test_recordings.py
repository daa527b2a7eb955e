# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of `record`, `info`, `replay`, `report` and `diff`: on kept recordings, and live."""

import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import time

import recording_format
from harness import (FAULTSCOPE, GAP, INCOMPLETE, PATIENCE, RECORDINGS, Lines, Skip, idle, live,
                     until)
from page_data import data_of

FAILED, USAGE = 1, 2
FORMATS = ("text", "html", "jsonl", "csv", "csv-time", "folded", "folded-faults", "folded-stall",
           "perf", "pprof", "speedscope", "trace", "textfile", "recording")


def kept(name):
    return RECORDINGS / f"{name}.fsr"


def rewritten(lab, recording, *options):
    """Returns a copy of a recording: `report` reads the recording and writes it as a new one."""
    out = lab.new_output()[1]
    ran = lab.faultscope("report", recording, "-o", out, *options)
    assert ran.returncode == 0, ran.err
    return out


def info(lab, recording):
    return json.loads(lab.faultscope("info", "--json", recording).out)


def said(lab, recording):
    return lab.faultscope("--replay", recording, "--json").out


def test_rewritten_says_the_same(check, lab):
    """Each recording in tests/e2e/recordings gives identical output after `report` has read it and
    written it again."""
    for recording in sorted(RECORDINGS.glob("*.fsr")):
        other = rewritten(lab, recording)
        check.that(said(lab, recording) == said(lab, other), f"{recording.name} says otherwise")
        check.equal(f"mode of {other}", other.stat().st_mode & 0o777, 0o600)


def test_info(check, lab):
    recording = kept("forecast_of_a_leak")
    told = info(lab, recording)
    check.equal("format", told["format"], recording_format.FORMAT)
    check.equal("bytes", told["bytes"], recording.stat().st_size)
    check.equal("damages", (told["damages"], told["damage"]), (0, None))
    other = info(lab, rewritten(lab, recording))
    for key in ("format", "records", "scans", "processes", "events", "seconds", "time"):
        check.equal(key, other[key], told[key])
    text = lab.faultscope("info", recording)
    check.equal("status", text.returncode, 0)
    for word in ("forecast_of_a_leak.fsr", "format", "fdleak", "damage     none"):
        check.that(word in text.out, f"{word!r} is not in {text.out!r}")


def test_truncated_and_damaged(check, lab):
    """From truncated and damaged recordings, faultscope reads the chunks that are whole, and
    reports the loss."""
    recording = kept("forecast_of_a_leak")
    whole = recording.read_bytes()
    middle = len(whole) // 2
    cut, torn = lab.dir / "cut.fsr", lab.dir / "torn.fsr"
    cut.write_bytes(whole[:len(whole) * 2 // 3])
    torn.write_bytes(whole[:middle] + bytes([whole[middle] ^ 0xff]) + whole[middle + 1:])
    for path in (cut, torn):
        ran = lab.faultscope("info", path)
        check.equal(f"status of {path.name}", ran.returncode, INCOMPLETE)
        check.that("bytes were lost" in ran.err and "offset" in ran.err, ran.err)
        check.that("cannot be read" in ran.out, ran.out)
        check.that(info(lab, path)["scans"] > 3, "what was whole")
    before, after = Lines(said(lab, recording)), Lines(said(lab, cut))
    check.equal("what the cut one says", after.of("process"),
                before.of("process")[:len(after.of("process"))])


def pieces(data):
    """Yields the file header of a recording, then its chunks."""
    at = recording_format.FILE_HEADER.size
    yield data[:at]
    while at < len(data):
        head = recording_format.CHUNK_HEADER
        size = head.size + head.unpack_from(data, at)[3]
        yield data[at:at + size]
        at += size


def cut_recordings(lab):
    """Yields (path, expected message) of two recordings. One recording lacks its last chunk, the
    other has only a part of its last chunk."""
    data = kept("forecast_of_a_leak").read_bytes()
    for name, left, reason in (("cut", b"".join(list(pieces(data))[:-1]), "cut off"),
                               ("torn", data[:-5], "truncated or damaged")):
        path = lab.dir / f"{name}.fsr"
        path.write_bytes(left)
        yield path, reason


def check_incomplete(check, name, ran, reason):
    check.equal(f"{name}: status", ran.returncode, INCOMPLETE)
    check.that(re.search(f"^faultscope: incomplete: .*{reason}", ran.err, re.M),
               f"{name}: {ran.err!r}")
    check.that("all is well" not in ran.out, f"{name}: {ran.out!r}")


def test_cut_off_is_incomplete(check, lab):
    """Each command reports a recording as incomplete if the recorder was killed or if bytes are
    missing."""
    for path, reason in cut_recordings(lab):
        for words in (["info"], ["replay"], ["diff", path]):
            ran = lab.faultscope(*words, path)
            check_incomplete(check, f"{path.name}: {words[0]}", ran, reason)
            check.that(reason in " ".join(ran.out.split()), f"{words}: {ran.out!r}")
        for words in (["info", "--json"], ["--json", "--replay"], ["diff", "--json", path]):
            ran = lab.faultscope(*words, path)
            check_incomplete(check, f"{path.name}: {words}", ran, reason)
            gaps = json.loads(ran.out.splitlines()[-1])["incomplete"]
            check.that(any(reason in gap for gap in gaps), f"{path.name}: {words}: {gaps}")
        for name in FORMATS:
            out = lab.new_output()[0]
            ran = lab.faultscope("report", "--format", name, path, "-o", out)
            check_incomplete(check, f"{path.name}: {name}", ran, reason)
            said_so = name not in ("text", "html", "jsonl") or reason in " ".join(
                out.read_text().split())
            check.that(said_so, f"{path.name}: {name} does not say that it is {reason}")
        for words in (["diagnose"], ["host"]):
            # Exit status 3 (findings) takes precedence over exit status 7 (incomplete data).
            ran = lab.faultscope(*words, "--replay", path)
            check.that(ran.returncode in (3, INCOMPLETE), f"{words}: status {ran.returncode}")
            check.that("all is well" not in ran.out, f"{words}: {ran.out!r}")
    ran = lab.faultscope("--replay", kept("forecast_of_a_leak"), "1", "2")
    check.equal("status of one that is not read to its end", ran.returncode, 0)


def test_gaps_are_a_list_in_json(check, lab):
    """The last JSON line has a list of all reasons why data is incomplete; standard error has these
    reasons in one line."""
    whole = kept("forecast_of_a_leak")
    check.equal("of one without gaps", Lines(said(lab, whole)).all[-1]["incomplete"], [])
    check.equal("info", info(lab, whole)["incomplete"], [])
    for words in (["--json", "--replay", whole, "--comm", "nosuch"],
                  ["diagnose", "--json", "--replay", whole, "-p", "1"],
                  ["report", "--format", "jsonl", "--comm", "nosuch", whole]):
        ran = lab.faultscope(*words)
        gaps = Lines(ran.out).all[-1]["incomplete"]
        check.that("no process matched" in gaps, f"{words}: {gaps}")
        check.equal(f"{words}: status", ran.returncode, INCOMPLETE)
        check.equal(f"{words}: standard error", ran.err,
                    f"faultscope: incomplete: {'; '.join(gaps)}\n")


@live
def test_killed_recorder_is_incomplete(check, lab):
    recording = lab.dir / "killed.fsr"
    process = lab.spawn([FAULTSCOPE, "record", str(os.getpid()), "-i", "0.1", "-o", recording])
    until(lambda: recording.exists() and recording.stat().st_size > 3000, "the recording")
    process.kill()
    process.wait(20)
    ran = lab.faultscope("info", "--json", recording)
    check_incomplete(check, "info", ran, "cut off|truncated or damaged")
    check.equal("end", json.loads(ran.out)["end"], "cut off")


def counts(lines):
    """Returns {pid: [(time of the scan, minor faults)]}."""
    found = {}
    for line in lines.of("process", None):
        found.setdefault(line["pid"], []).append((line["time"], line["faults"]["minor"]))
    return found


def n_at(rows, at):
    """Returns the number of the last of the rows (time, number) up to a time."""
    return max((row for row in rows if row[0] <= at), default=(at, 0))[1]


def part(lab, recording, *options):
    ran = lab.faultscope("report", "--format", "jsonl", recording, *options)
    assert ran.returncode in (0, INCOMPLETE), ran.err
    return Lines(ran.out)


def test_parts_of_recordings(check, lab):
    """A part of a recording has the values of the whole one: its scans are at the same times, and
    its counters differ by what was counted before the part."""
    read = 0
    for recording in sorted(RECORDINGS.glob("*.fsr")):
        whole = counts(part(lab, recording))
        scans = sorted({at for rows in whole.values() for at, _ in rows})
        if len(scans) < 4:
            continue
        first, last = scans[len(scans) // 3], scans[2 * len(scans) // 3]
        read += 1
        cut = counts(part(lab, recording, "--from", first, "--to", last))
        for pid, rows in cut.items():
            # a process that did not change has a line only in the first scan of a part
            since = {n_at(whole[pid], at) - n for at, n in rows}
            check.equal(f"{recording.name}, {pid}: counted before the part", len(since), 1)
            check.that(rows[-1][0] <= last, f"{recording.name}: {rows[-1][0]} is after {last}")
    check.that(read > 3, f"only {read} recordings have enough scans")


def test_moments_of_recordings(check, lab):
    """The ways to write a moment, and what is said if a part is empty."""
    recording = kept("forecast_of_a_leak")
    told = info(lab, recording)
    clock = told["time"][11:19]
    whole = part(lab, recording)
    for options in (("--from", "0"), ("--to", "1h"), ("--from", "-1h"), ("--from", told["time"]),
                    ("--from", clock, "--to", "-0")):
        check.equal(f"{options}: processes", sorted(counts(part(lab, recording, *options))),
                    sorted(counts(whole)))
    for words, why in ((("--from", "1h"), "nothing is between --from and --to"),
                       (("--from", "3", "--to", "2"), "nothing is between --from and --to"),
                       (("--to", told["time"][:4] + "-01-01T00:00Z"), "nothing is between")):
        ran = lab.faultscope("report", recording, *words)
        check.equal(f"{words}: status", ran.returncode, FAILED)
        check.that(why in ran.err and "faultscope info" in ran.err, ran.err)
    ran = lab.faultscope("replay", recording, "--from", "noon")
    check.that(ran.returncode == USAGE and "a clock time (14:03)" in ran.err, ran.err)


def test_names_and_files(check, lab):
    recording = kept("forecast_of_a_leak")
    taken = lab.dir / "taken.fsr"
    taken.write_text("precious")
    ran = lab.faultscope("report", recording, "-o", taken)
    check.equal("status where the file exists", ran.returncode, FAILED)
    check.that("--force" in ran.err, ran.err)
    check.equal("the file", taken.read_text(), "precious")
    ran = lab.faultscope("report", "--force", recording, "-o", taken)
    check.equal("status with --force", ran.returncode, 0)
    for words in (["record"], ["record", "-o", "a", "x"], ["info"], ["diff", "a"],
                  ["report", "--format", "nothing", "a"], ["replay", "--speed", "x", "a"],
                  ["record", "-o", "a%x.fsr"], ["report", "--redact", recording],
                  ["record", "-o", "a", "--max-size", "1K"]):
        ran = lab.faultscope(*words)
        check.equal(f"status of {words}", ran.returncode, USAGE)
        check.that(ran.err.startswith("faultscope: ") and not ran.out, f"{words}: {ran.err!r}")


def test_redacted(check, lab):
    """--redact removes host, file and path names from the recording. The findings of the recording
    stay equal."""
    secret = {"signals_of_bad_accesses-fatal", "crash_after_refusal", "refusals-nofile",
              "descriptors_of_each_kind"}
    for name in secret:
        recording = kept(name)
        other = rewritten(lab, recording, "--redact")
        before, after = Lines(said(lab, recording)), Lines(said(lab, other))

        paths = {text for text in recording_format.Values(recording).texts
                 if re.match("/[^/]", text)}
        check.that(paths, f"{name}: paths to hide")
        left = "\n".join(recording_format.Values(other).texts)
        check.equal(f"{name}: paths that are left", [one for one in paths if one in left], [])

        def found(lines):
            return [(line["id"], line["severity"], line["pid"]) for line in lines.of("finding")]

        check.equal(f"{name}: findings", found(after), found(before))
        for kind in ("signal", "failed_call"):
            key = "class" if kind == "signal" else "cause"
            check.equal(f"{name}: {kind}", [line[key] for line in after.of(kind)],
                        [line[key] for line in before.of(kind)])
        for line in after.of("process"):
            check.that("/" not in (line["exe"] or ""), f"{name}: {line['exe']}")
        start = after.of("start")[0]
        check.equal(f"{name}: start", (start["boot_id"], start["target"]), ("", ""))
    recording = kept("signals_of_bad_accesses-fatal")
    options = ["--replay", recording, "--json", "--addresses"]
    addresses = re.findall(r'"address":"(0x[0-9a-f]{9,})"', lab.faultscope(*options).out)
    options[1] = rewritten(lab, recording, "--redact")
    hidden = lab.faultscope(*options).out
    check.that(addresses, "addresses to hide")
    for address in addresses:
        check.that(address not in hidden, f"{address} is still there")


def test_diff(check, lab):
    """`diff` compares the first part of a recorded leak with the whole recording, and shows the
    leak as growth."""
    whole = kept("forecast_of_a_leak")
    small = rewritten(lab, whole)
    cut = lab.dir / "cut.fsr"
    cut.write_bytes(small.read_bytes()[:small.stat().st_size // 2])
    ran = lab.faultscope("diff", "--json", cut, whole)
    rows = [json.loads(line) for line in ran.out.splitlines()]
    check.equal("the last line", rows.pop()["type"], "difference_end")
    check.that(rows, "rows")
    for row in rows:
        check.that(abs(row["to"] - row["from"] - row["growth"]) < 1e-3, f"growth of {row}")
    text = lab.faultscope("diff", whole, whole)
    check.equal("status of no difference", text.returncode, 0)
    check.equal("what did not grow", text.out.count(" nothing"), 3)


def test_replay_at_its_times(check, lab):
    """On a terminal, a replay takes the time of the recording divided by --speed, and waits for q
    at the end."""
    recording = kept("forecast_of_a_leak")
    seconds = info(lab, recording)["seconds"]
    for options, least, most in ((["--speed", "4"], seconds / 4 - 0.5, None),
                                 (["--speed", "0"], 0, None)):
        ours, theirs = pty.openpty()
        began = time.monotonic()
        process = lab.spawn([FAULTSCOPE, "replay", *options, recording], stdin=theirs,
                            stdout=theirs, env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        leave_at_end(ours, process)
        took = time.monotonic() - began
        check.that(took >= least, f"{options}: {took} s, want {least} at least")
        check.equal("status", process.wait(PATIENCE), 0)
        os.close(ours)


def leave_at_end(fd, process):
    """Presses q when the view shows the end of the recording."""
    shown = b""
    while process.poll() is None or select.select([fd], [], [], 0)[0]:
        if select.select([fd], [], [], 0.05)[0]:
            try:
                shown += os.read(fd, 65536)
            except OSError:
                return
        if b"END OF RECORDING" in shown:
            os.write(fd, b"q")
            shown = b""


@live
def test_record_live(check, lab):
    """`record` records a program that leaks, and other commands find the leak in the recording."""
    workload = lab.work("fdleak", "500", "--kind", "eventfd", "--nofile", "5000", "--wait",
                        "--hold")
    out = lab.dir / "%h-%p-%%.fsr"
    process = lab.spawn([FAULTSCOPE, "record", str(workload.pid), "-i", "0.2", "-o", out],
                        stderr=subprocess.PIPE)
    made = lab.dir / f"{socket.gethostname()}-{workload.pid}-%.fsr"
    until(lambda: made.exists() and made.stat().st_size > 3000, "the recording")
    workload.go()
    workload.truth()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE)
    told = process.stderr.read()
    check.equal("status", process.returncode, INCOMPLETE if GAP in told else 0)
    check.that("recorded" in told, told)
    lines = Lines(said(lab, made))
    peak = max(line["fds"]["peak"] for line in lines.of("process", workload.pid))
    check.that(peak >= 500, f"{peak} descriptors at most")
    held = lines.of("holdings", workload.pid, what="fds")
    check.that(held and any(sort["kind"] == "anon_inode" and sort["count"] >= 499
                            for sort in held[0]["groups"]), f"held at the end: {held}")
    again = lab.faultscope("record", str(workload.pid), "-o", out)
    check.equal("status where the file exists", again.returncode, FAILED)
    workload.end()


def page_of(lab, recording):
    """Returns the JSON data of a recording's HTML page."""
    page = lab.dir / "page.html"
    lab.faultscope("report", recording, "-o", page)
    return data_of(page.read_text())


@live
def test_faults_drawn_by_chance(check, lab):
    """Sampled faults of a recording have addresses and stacks. The weights of the sampled faults
    add up to about the true number of faults."""
    workload = lab.work("touch", "60000", "--wait", "--hold")
    out = lab.dir / "touch.fsr"
    process = lab.spawn([FAULTSCOPE, "record", str(workload.pid), "-i", "0.2", "-o", out])
    until(lambda: out.exists() and out.stat().st_size > 3000, "the recording")
    workload.go()
    truth = workload.truth()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE)
    workload.end()
    page = page_of(lab, out)
    drawn = page["sampling"]
    if drawn is None:
        raise Skip("this kernel has no user stacks of faults")
    # The sum of a thousand samples usually deviates by 3 %.
    check.near("faults that those drawn stand for", drawn["together_stand_for"], truth["minflt"], 0.2)
    names = page["profile"]["names"]
    from_it = sum(s["v"][0] for s in page["profile"]["samples"]
                  if any(re.search(r"\(touch(\.c:\d+)?\)", names[i]) for i in s["f"]))
    check.that(from_it > 0.9 * truth["pages"], f"{from_it} faults of {truth} by its own code")
    there = [row for row in page["addresses"] if row["mapping"] == "anonymous"]
    check.near("bytes where they went", sum(row["bytes"] for row in there if row["faults"]),
               truth["pages"] * 4096, 0.25)
    again = lab.dir / "redacted.fsr"
    lab.faultscope("report", "--redact", out, "-o", again)
    check.equal("redacted: where they went", page_of(lab, again)["addresses"], page["addresses"])


def on_terminal(lab, *words, **how):
    """Runs faultscope with a terminal as standard error. Returns its exit status, and what it wrote
    to the terminal."""
    ours, theirs = pty.openpty()
    process = lab.spawn([FAULTSCOPE, *words], stderr=theirs,
                        env={**os.environ, "TERM": "xterm", **how})
    os.close(theirs)
    text = b""
    while select.select([ours], [], [], PATIENCE)[0]:
        try:
            text += os.read(ours, 4096)
        except OSError:  # EIO: the program has closed the terminal
            break
    os.close(ours)
    return process.wait(PATIENCE), text.decode(errors="replace")


@live
def test_record_progress(check, lab):
    """On a terminal, `record` shows in one line how far it is, and at the end what it has recorded
    in which file. A terminal that cannot move its cursor gets only the end."""
    target = lab.work("fdleak", "10", "--hold")
    name = r"\d{8}T\d{6}Z\.fsr"
    for term, options in (("xterm", ()), ("dumb", ()), ("xterm", ("-q",))):
        place = lab.dir / f"{term}{len(options)}"
        place.mkdir()
        status, text = on_terminal(lab, "record", str(target.pid), "-i", "0.1", "-d", "0.5", "-o",
                                   place / "%t.fsr", *options, TERM=term)
        what = f"{term} {options}"
        check.that(status in (0, INCOMPLETE), f"{what}: status {status}")
        progress = re.findall(r"\r\x1b\[K\d+\.\d s of 0\.5 s, (\d+) scans?, 1 process, "
                              r"\d\S+ \S+  \(Ctrl-C stops it\)", text)
        shown = term == "xterm" and not options
        check.that(bool(progress) == shown, f"{what}: progress in {text!r}")
        check.equal(f"{what}: scans", [int(n) for n in progress],
                    list(range(1, len(progress) + 1)))
        end = re.search(rf"faultscope: recorded \d+\.\d s of 0\.5 s, (\d+) scans?, 1 process, "
                        rf"\d.* in {place}/{name}\r\n", text)
        check.that(bool(end) == (not options), f"{what}: end in {text!r}")
        if end and progress:
            check.equal(f"{what}: scans at the end", int(end[1]), len(progress))
        made = [path.name for path in place.iterdir()]
        check.that(len(made) == 1 and re.fullmatch(name, made[0]), f"{what}: {made}")
    target.end()


@idle
@live
def test_record_bounded(check, lab):
    """--max-size ends the recording at this size, and the recording stays readable."""
    out = lab.dir / "bounded.fsr"
    ran = lab.faultscope("record", "-i", "0.05", "--max-size", "64K", "-d", "60", "-o", out)
    check.equal("status", ran.returncode, 0)
    check.that("--max-size" in ran.err, ran.err)
    check.between("bytes", out.stat().st_size, 8 << 10, 64 << 10)
    told = info(lab, out)
    check.equal("damages and end", (told["damages"], told["end"]), (0, "full"))
    check.that("--max-size" in lab.faultscope("info", out).out, "the text says so too")


@idle
@live
def test_record_killed(check, lab):
    """After SIGKILL, the recording is complete except for the last scan."""
    out = lab.dir / "killed.fsr"
    process = lab.spawn([FAULTSCOPE, "record", "-q", "-i", "0.1", "-o", out])
    until(lambda: out.exists() and out.stat().st_size > 60000, "the recording")
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    told = info(lab, out)
    check.that(told["scans"] >= 2 and told["damages"] <= 1, f"{told}")
