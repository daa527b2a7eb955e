# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `run`: the exit status and the signals of its command, usage errors, and the form of the
output lines."""

import json
import signal
import time
from datetime import datetime

import schema
from harness import (FAULTSCOPE, PATIENCE, RECORDINGS, Lines, Skip, captures, check_form, complaint,
                     live, until)

USAGE, NOT_EXECUTABLE, NOT_FOUND = 2, 126, 127


def run_shell(lab, script):
    return lab.faultscope("run", "-q", "--", "sh", "-c", script)


@live
def test_run_status_of_the_command(check, lab):
    for status in (0, 3, 255):
        check.equal(f"status of exit {status}", run_shell(lab, f"exit {status}").returncode, status)


@live
def test_run_signal_of_the_command(check, lab):
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGUSR1):
        ran = run_shell(lab, f"kill -{number.value} $$")
        check.equal(f"end by {number.name}", ran.returncode, -number)


@live
def test_run_what_cannot_run(check, lab):
    plain = lab.dir / "plain"
    plain.write_text("not a program")
    for command, status in ((lab.dir / "missing", NOT_FOUND), ("no-such-command", NOT_FOUND),
                            (plain, NOT_EXECUTABLE), (lab.dir, NOT_EXECUTABLE)):
        ran = lab.faultscope("run", "--", command)
        check.equal(f"status of {command}", ran.returncode, status)
        check.that(str(command) in ran.err, f"message {ran.err!r}")


def test_wrong_usage(check, lab):
    for words in (["run"], ["--no-such-option"], ["nonsense"], ["-p", "0"], ["-p", "x"], ["-p"],
                  ["1", "0"], ["1", "2", "3"], ["--children"], ["--overhead", "9"],
                  ["--probe", "x=y"], ["--format", "xml"], ["--width", "1"], ["--sort", "nothing"],
                  ["--record", "a", "--replay", "b"], ["run", "--replay", "a", "--", "true"],
                  ["doctor", "-p", "1"]):
        ran = lab.faultscope(*words)
        check.equal(f"status of {words}", ran.returncode, USAGE)
        check.that(ran.err.startswith("faultscope: ") and not ran.out, f"{words}: {ran.err!r}")


@live
def test_run_forwards_signals(check, lab):
    """`run` passes a signal on to the command, and exits with the command's status."""
    ready = lab.dir / "ready"
    for number, status in ((signal.SIGINT, 7), (signal.SIGTERM, 8), (signal.SIGHUP, 9)):
        ready.unlink(missing_ok=True)
        script = (f"trap 'exit {status}' {number.name[3:]}; touch {ready}; "
                  "while :; do sleep 0.05; done")
        process = lab.spawn([FAULTSCOPE, "run", "-q", "--", "sh", "-c", script])
        until(ready.exists, "the command")
        # The command may create this file before the event loop of `run` can handle signals.
        time.sleep(0.3)
        process.send_signal(number)
        check.equal(f"status after {number.name}", process.wait(PATIENCE), status)


@live
def test_run_follows_children(check, lab):
    """`run` measures until the last descendant of the command has ended, not only until the command
    itself has ended."""
    out = lab.dir / "out"
    ran = lab.faultscope("run", "--json", "-o", out, "--", "sh", "-c",
                         "(sleep 0.5; exec true) & echo $!")
    check.equal("status", ran.returncode, 0)
    lines = Lines(out.read_text())
    final = lines.final(int(ran.out))
    check.equal("what the child became", final["comm"], "true")


def times_of(lines):
    """Returns type, `t` and `time` of each line. Lines of type "pressure" are left out, since a
    replay may show one scan of the memory pressure more than the live output."""
    return [(line["type"], line["t"], line["time"]) for line in lines if line["type"] != "pressure"]


@live
def test_every_line_has_its_time(check, lab):
    """In every line, `time` is the wall clock and `t` the time since the start. A replay prints the
    times of the original run."""
    recording = lab.dir / "times.fsr"
    before = time.time()
    ran = lab.faultscope("run", "--json", "--record", recording, "--", "sleep", "1")
    after = time.time()
    lines = [json.loads(line) for line in ran.out.splitlines() if line.startswith("{")]
    starts = set()
    for line in lines:
        at = datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()
        starts.add(at - line["t"])
        check.that(before - 0.1 <= at <= after + 0.1,
                   f"{line['type']} at {line['time']}, the run lasted from {before} to {after}")
    check.that(len(lines) > 4 and max(starts) - min(starts) < 0.1, f"starts: {sorted(starts)}")
    again = lab.faultscope("replay", "--json", recording).out
    check.equal("times of the replay", times_of(map(json.loads, again.splitlines())),
                times_of(lines))


def expect_sane(check, lines, truth):
    check.equal("mode", lines.all[0]["mode"], "all")
    times = [line["t"] for line in lines.all]
    check.that(all(t >= 0 for t in times), "a time before the start")
    check.equal("time of the last line", times[-1], max(times))
    seen = {}
    for line in lines.of("process"):
        name = (line["pid"], line["start_time_ns"])
        was = seen.get(name, line)
        check.that("final" not in was or was is line, f"{name}: a line after its final one")
        for group, keys in (("faults", ("minor", "major", "user", "kernel")),
                            ("maps", ("created", "removed", "failed")),
                            ("fds", ("opened", "closed", "failed"))):
            for key in keys:
                low, high = was[group][key], line[group][key]
                check.that(low is None or high is None or low <= high,
                           f"{name} {line['comm']}: {group}.{key} fell from {low} to {high}")
        seen[name] = line


@captures(expect_sane)
def test_lines_of_all_processes(lab):
    """Captures all processes of this machine for one second, with some workloads among them."""
    watch = lab.watch("0.1")
    for name in ("brief", "lives"):
        args = ["--times", "30"] if name == "brief" else ["fork-storm", "50"]
        work = lab.work(name, *args)
        work.truth()
        work.end()
    time.sleep(0.5)
    return watch.stop()


def test_schema(check, lab):
    try:
        import jsonschema
    except ImportError as error:
        raise Skip("python3-jsonschema is missing") from error
    printed = json.loads(lab.faultscope("schema").out)
    jsonschema.Draft202012Validator.check_schema(printed)
    kinds = [one["properties"]["type"]["const"] for one in printed["oneOf"]]
    check.equal("types", len(kinds), len(set(kinds)))
    for kind in ("start", "process", "failed_call", "threshold", "finding", "signal", "end"):
        check.that(kind in kinds, f"no lines of type {kind}")


def test_wrong_lines_violate_the_schema(check, lab):
    """The comparison of lines with the schema finds a key too many, a key too few, and a value of a
    wrong type, at any depth."""
    if schema.MISSING:
        raise Skip(schema.MISSING)
    replay = lab.faultscope("--json", "--replay", RECORDINGS / "faults_touched_by_threads-1.fsr")
    line = Lines(replay.out).of("process")[-1]
    for wrong, what in ((line, ""), ({**line, "type": "proces"}, "type"), ({**line, "x": 1}, "x"),
                        ({**line, "pid": "1"}, "pid"), ({**line, "comm": 1}, "comm"),
                        ({key: one for key, one in line.items() if key != "pid"}, "pid"),
                        ({**line, "faults": {**line["faults"], "minor": 0.5}}, "minor"),
                        ({**line, "faults": {**line["faults"], "x": 1}}, "x")):
        said = complaint(wrong)
        check.that(what in said if what else not said, f"complaint {said!r}, not about {what!r}")
