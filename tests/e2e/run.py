#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the end-to-end tests and prints TAP. BUILD in the environment names the build to test."""

import argparse
import contextlib
import importlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import traceback
from functools import partial
from itertools import zip_longest
from pathlib import Path

from apart import stay_apart
from beside import SideBySide
from harness import (BUILD, FAULTSCOPE, MOST_RECORDING_BYTES, MOST_TRIES, RECORDINGS, ROOT,
                     Check, Lab, Lines, Skip, check_form, quiet, use_schema)
from placeless import placeless

HERE = Path(__file__).resolve().parent
MOST_DIAGNOSTICS = 20
MOST_CHARS = 300  # of a line in a diagnostic
SKIPPED = re.compile("events? that the kernel skipped")  # in a message on standard error
MOST_ERRORS = 4  # maximum number of programs whose standard error is printed when a test fails
# The number of tests that run in parallel. A test waits about half of its time, for example for the
# next interval of faultscope; some tests wait for nearly all of it.
LEAST_JOBS, MOST_JOBS = os.cpu_count() * 2, os.cpu_count() * 7
HUNG_SECONDS = 900  # a test that runs longer than this (seconds) counts as hung


class Tap:
    def __init__(self):
        self.done = 0
        self.failed = 0

    def say(self, name, wrong=(), skip=None):
        self.done += 1
        self.failed += bool(wrong)
        reason = f" # SKIP {skip}" if skip and not wrong else ""
        print(f"{'not ok' if wrong else 'ok'} {self.done} - {name}{reason}")
        for line in "\n".join(wrong).splitlines()[:MOST_DIAGNOSTICS]:
            print(f"# {line[:400]}")
        sys.stdout.flush()

    def test(self, name, body, *args):
        """Runs one test, body(check, *args). Returns True if the test could run and passed."""
        check = Check()
        skip = None
        try:
            body(check, *args)
        except Skip as reason:
            skip = str(reason)
        except AssertionError as error:
            check.wrong.append(str(error) or traceback.format_exc())
        except Exception:
            check.wrong.append(traceback.format_exc())
        self.say(name, check.wrong, skip)
        return not check.wrong and not skip


def tell_errors(lab):
    """Prints what the last programs of a failed test wrote to standard error."""
    for error in [one for one in lab.errors if one][-MOST_ERRORS:]:
        print(f"# standard error: {error[:400]!r}")
    sys.stdout.flush()


def keep_recording(name, capture):
    size = capture.recording.stat().st_size
    if size >= MOST_RECORDING_BYTES:
        print(f"# {name}: a recording of {size} bytes is too large to keep")
        return
    RECORDINGS.mkdir(exist_ok=True)
    kept = placeless(capture.recording.read_bytes(), ROOT)
    (RECORDINGS / f"{name}.fsr").write_bytes(kept)
    about = {"options": capture.options, "truth": capture.truth}
    (RECORDINGS / f"{name}.truth.json").write_text(json.dumps(about, indent=1) + "\n")
    print(f"# kept the recording {name}, {size} bytes")


def judge(check, scenario, capture, truth):
    scenario.expect(check, check_form(check, capture), truth)


def kept_lines(capture):
    """Returns those lines of a capture that its recording keeps, in the order of output. `run`
    scans once more when its command has ended, without output. So only the last line of each
    process counts there, without its time: the last digit depends on the scan it is printed with.
    """
    lines = Lines(capture.text)
    processes = lines.of("process")
    if lines.all[0]["mode"] == "run":
        processes = sorted(({**line, "time": None} for line in processes if line.get("final")),
                           key=lambda line: (line["start_time_ns"], line["pid"]))
    return processes


def expect_same_lines(check, live, replayed):
    """Checks that a replay has the lines of the output that was made while it was recorded."""
    for was, now in zip_longest(kept_lines(live), kept_lines(replayed)):
        if not check.that(was == now, f"live: {str(was)[:MOST_CHARS]}\n"
                                      f"replayed: {str(now)[:MOST_CHARS]}"):
            return


def test_live(tap, lab, name, scenario, args, make):
    """Runs one scenario, and checks its capture live and replayed from its recording."""
    taken = []

    def as_it_came(check):
        taken.append(scenario(lab, *args))
        judge(check, scenario, taken[0], taken[0].truth)

    def replayed(check):
        if not taken:
            raise Skip("nothing was captured")
        again = lab.replay(taken[0].recording, taken[0].options)
        judge(check, scenario, again, taken[0].truth)
        expect_same_lines(check, taken[0], again)

    good = tap.test(f"{name}: live", as_it_came)
    good = tap.test(f"{name}: replayed", replayed) and good
    if make and scenario.keep and good:
        keep_recording(name, taken[0])


def test_kept(tap, lab, name, scenario):
    def kept(check):
        about = json.loads((RECORDINGS / f"{name}.truth.json").read_text())
        capture = lab.replay(RECORDINGS / f"{name}.fsr", about["options"])
        judge(check, scenario, capture, about["truth"])

    if (RECORDINGS / f"{name}.fsr").exists():
        tap.test(f"{name}: kept recording", kept)


def end_after(seconds):
    """Ends the test of this process with a traceback after `seconds`."""
    def complain(*_):
        raise TimeoutError(f"the test was not done after {seconds} s")

    signal.signal(signal.SIGALRM, complain)
    signal.alarm(seconds)


class Runner:
    """Runs tests, each in a child process that prints its own TAP."""

    def __init__(self, options):
        self.options = options
        self.tap = None
        self.skipped = False  # whether the kernel skipped events in a failed test
        self.live = not options.no_live and os.geteuid() == 0

    def in_lab(self, do, *args):
        lab = Lab()
        failed = self.tap.failed
        try:
            do(self.tap, lab, *args)
            if self.tap.failed > failed:
                tell_errors(lab)
                self.skipped |= any(SKIPPED.search(str(error)) for error in lab.errors)
        finally:
            lab.close(self.options.keep)
            if self.options.keep:
                print(f"# files of this test: {lab.dir}")

    def run_scenario(self, name, scenario, args):
        if self.live:
            self.in_lab(test_live, name, scenario, args, self.options.make_recordings)
        if not self.options.make_recordings:
            self.in_lab(test_kept, name, scenario)

    def run_test(self, name, test):
        if getattr(test, "needs_live", False) and not self.live:
            self.tap.say(name, skip="needs root and this kernel")
            return
        self.in_lab(lambda tap, lab: tap.test(name, test, lab))

    def bodies(self, name, test):
        """Yields (name, function, arguments) of each part of a test that runs in its own child
        process. A part is either a whole test, or one case of a scenario."""
        if not hasattr(test, "expect"):
            yield name, self.run_test, (name, test)
            return
        for case in test.cases:
            full = name if case is None else f"{name}-{case}"
            yield full, self.run_scenario, (full, test, [] if case is None else [case])

    def with_tap(self, do, args):
        """Runs one test. A capture in which a busy kernel skipped events proves nothing about the
        counts, so a test that fails with such a capture runs again."""
        end_after(HUNG_SECONDS)
        for _ in range(MOST_TRIES):
            self.tap, self.skipped = Tap(), False
            with contextlib.redirect_stdout(io.StringIO()) as said:
                do(*args)
            if not (self.tap.failed and self.skipped):
                break
        print(said.getvalue(), end="", flush=True)

    def run_all(self, tests):
        """Runs the (name, test) pairs, prints TAP, and returns the exit status."""
        bodies = {kind: [] for kind in ("quiet", "aside", "idle", "other")}
        for name, test in tests:
            mine = bodies["quiet" if getattr(test, "wants_quiet", False) else
                          "aside" if getattr(test, "is_aside", False) else
                          "idle" if getattr(test, "is_idle", False) else "other"]
            for full, do, args in self.bodies(name, test):
                if hasattr(test, "expect") or not self.options.make_recordings:
                    mine.append((full, partial(self.with_tap, do, args)))
        use_schema()  # compile the schema once, before the children are forked
        beside = SideBySide()
        beside.run(bodies["other"], self.options.jobs or LEAST_JOBS, bodies["idle"],
                   self.options.jobs or MOST_JOBS)
        beside.run(bodies["quiet"], 1, bodies["aside"], idle_jobs=1)
        return beside.end()


def find_tests(only, paths):
    """Yields the tests of modules whose names contain one of the words of `only` (ONE|TWO).
    The modules must be on sys.path."""
    for path in sorted(paths):
        module = importlib.import_module(path.stem)
        # If another suite had a module of this name, Python would import that module. The tests of
        # this suite would never run.
        assert Path(module.__file__).samefile(path), f"{module.__file__} hides {path}"
        for name, test in list(vars(module).items()):
            short = name.removeprefix("test_")
            if callable(test) and name.startswith("test_") and (
                    any(one in short for one in (only or "").split("|"))):
                yield short, quiet(test) if hasattr(module, "WANTS_QUIET") else test


def make_helpers():
    """Runs make for those helper programs that exist and are older than their sources.

    Only helper programs of the default build are made: this script does not know the compiler flags
    of other builds.
    """
    if BUILD != ROOT / "build" or not shutil.which("make") or not shutil.which("cc"):
        return
    there = [str(path.relative_to(ROOT)) for source in HERE.glob("*.c")
             if (path := BUILD / source.stem).exists()]
    if not there:
        return
    ran = subprocess.run(["make", "-s", *there], cwd=ROOT, capture_output=True, text=True,
                         check=False)
    for line in ran.stderr.splitlines():
        print(f"# make: {line}")


def add_jobs(parser):
    parser.add_argument("--jobs", metavar="N", type=int,
                        help="tests in parallel, except those that run alone (default: "
                             f"{LEAST_JOBS}, and up to {MOST_JOBS} while CPUs are idle)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="run only tests whose name contains NAME")
    parser.add_argument("--no-live", action="store_true",
                        help="run only tests without root: kept recordings, options, documents")
    parser.add_argument("--keep", action="store_true", help="keep the files of each test")
    add_jobs(parser)
    parser.add_argument("--make-recordings", action="store_true",
                        help="rewrite the kept recordings of tests that pass")
    options = parser.parse_args()
    if not FAULTSCOPE.exists():
        sys.exit(f"{FAULTSCOPE} is not built: make")
    make_helpers()
    for place in stay_apart():
        print(f"# {place} is not empty: hidden from the tests")
    runner = Runner(options)
    if not runner.live and options.make_recordings:
        sys.exit("recordings are made live: as root, without --no-live")
    sys.exit(runner.run_all(find_tests(options.only, HERE.glob("test_*.py"))))


if __name__ == "__main__":
    main()
