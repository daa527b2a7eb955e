# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares outputs line by line with the checksums of expected outputs in expected.txt.

expected.txt has only 16 bits of the CRC of each line, so that all outputs fit into one file. After
an intended change of an output, FS_MAKE_EXPECTED=1 in the environment updates the checksums:
FS_MAKE_EXPECTED=1 tests/e2e/run.py --no-live --only kept_ FS_MAKE_EXPECTED=1 tests/export/run.py
--no-live --only kept_ FS_SHOW_EXPECTED=DIR writes the outputs to files, to compare them with those
of an earlier build.
"""
import fcntl
import functools
import os
import re
import zlib
from pathlib import Path

from harness import BUILD, FAULTSCOPE, RECORDINGS, Skip

KEPT = Path(__file__).resolve().parent / "expected.txt"
PROCESSES = 30  # number of processes in a recording that event_recording makes
# Environment variables that a tested command inherits. All other variables are removed, since
# outputs depend on time zone, language and terminal.
INHERITED = {"PATH", "GCOV_PREFIX", "ASAN_OPTIONS", "UBSAN_OPTIONS"}

# A plural after the number 1, such as "1 files". A colon follows the names of events in perf script.
PLURAL = re.compile(
    r"(?<![\w.,:%/+=-])1 (?:(?:more|other|older|further) )?([a-z]+[^sui\W]s)\b(?!:)")


def sums_of(text):
    return "".join(f"{zlib.crc32(line.encode()) & 0xffff:04x}" for line in text.splitlines())


def kept():
    """Returns {name of an output: checksums of its lines} from expected.txt."""
    lines = KEPT.read_text(encoding="ascii").splitlines() if KEPT.exists() else []
    return {name: sums for name, _, sums in (line.partition(":") for line in lines)}


# For comparisons, which need the file as it was at first.
kept_at_first = functools.cache(kept)


def keep(name, sums):
    # tests run in parallel, so a lock on this source file protects expected.txt
    with open(__file__, encoding="ascii") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        known = kept() | {name: sums}
        KEPT.write_text("".join(f"{one}:{known[one]}\n" for one in sorted(known)),
                        encoding="ascii")


def check_plurals(check, name, text):
    """Checks that no plural follows the number 1."""
    found = PLURAL.search(text)
    check.that(not found, found and f"{name}: 1 {found[1]}")


def compare(check, name, text):
    """Compares the checksum of each line of an output with the expected checksum."""
    check_plurals(check, name, text)
    shown, sums = os.environ.get("FS_SHOW_EXPECTED"), sums_of(text)
    if shown:
        (Path(shown) / name.replace("/", "_")).write_text(text)
    if os.environ.get("FS_MAKE_EXPECTED"):
        keep(name, sums)
        return
    want = kept_at_first().get(name)
    if not check.that(want is not None, f"{name}: no output of that name is kept"):
        return
    for i, line in enumerate(text.splitlines()):
        if sums[4 * i:4 * i + 4] != want[4 * i:4 * i + 4]:
            check.that(False, f"{name}: line {i + 1} is not as kept (if that is meant: see the "
                              f"beginning of {Path(__file__).name}): {line[:300]!r}")
            return
    check.equal(f"{name}: lines", len(sums) // 4, len(want) // 4)


def compare_sum(check, name, text):
    """Compares a whole output with one checksum. Tests with many similar outputs use one checksum
    for each output, because checksums of each line would take too much space."""
    check_plurals(check, name, text)
    if os.environ.get("FS_SHOW_EXPECTED"):
        (Path(os.environ["FS_SHOW_EXPECTED"]) / name.replace("/", "_")).write_text(text)
    elif os.environ.get("FS_MAKE_EXPECTED"):
        keep(name, sums_of(sums_of(text)))
    else:
        check.that(kept_at_first().get(name) == sums_of(sums_of(text)),
                   f"{name} is not as kept (if that is meant: see the beginning of "
                   f"{Path(__file__).name}): {text[:300]!r}")


def environment():
    kept = {name: os.environ[name] for name in INHERITED & set(os.environ)}
    return {**kept, "TZ": "UTC", "LC_ALL": "C.UTF-8"}


def said_by(lab, *words, cwd=RECORDINGS, **how):
    """Returns the output of a faultscope command without its version and without the styles and
    scripts of HTML pages."""
    ran = lab.call(FAULTSCOPE, *words, cwd=cwd, env=environment(), errors="replace", **how)
    text = ran.out + "".join(f"stderr: {line}\n" for line in ran.err.splitlines())
    text = re.sub(r"(?s)<(style|script)>.*?</\1>", r"<\1>", text)
    return re.sub(r"(faultscope |\"version\":\")\d+\.\d+\.\d+", r"\1VERSION", text)


def helper(lab, program, *words):
    """Runs a helper program of the tests from the build directory and returns its output."""
    path = BUILD / program
    if not path.exists():
        raise Skip(f"{path} is not built: make {path}")
    ran = lab.call(path, *words, cwd=lab.dir, env=environment())
    assert ran.returncode == 0, f"{path} ended with {ran.returncode}: {ran.err}"
    return ran.out


def made(lab, seed, *probes):
    """Writes a recording of events to the test's directory and returns its name. If `probes` is
    "all", the recording has the values of all probes."""
    name = "-".join(["events", *probes, str(seed)])
    helper(lab, "event_recording", seed, PROCESSES, f"{name}.fsr", *probes)
    return name
