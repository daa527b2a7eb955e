# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests commands with less and less available memory, and with calls of the C library that fail. A
command either prints its complete output, or exits with an error that gives the reason."""
import resource
from functools import partial

from expected import helper, made
from harness import BUILD, FAULTSCOPE, INCOMPLETE, RECORDINGS, ROOT, Skip, some_of

# Values of RLIMIT_DATA in bytes. MOST is the largest value to try. CLOSE is the precision of the
# search for the smallest value that suffices.
MOST, CLOSE = 1 << 29, 1 << 13
STEPS = 12
FAILED = 1


def limited(lab, most, words):
    """Runs a command with RLIMIT_DATA, which does not limit the stack: a process whose stack cannot
    grow is killed by SIGSEGV."""
    return lab.call(FAULTSCOPE, *words, cwd=lab.dir, errors="replace",
                    preexec_fn=partial(resource.setrlimit, resource.RLIMIT_DATA, (most, most)))


def least_that_is_enough(lab, words, low=0):
    """Returns two values: the run with complete output, and the smallest RLIMIT_DATA in bytes that
    suffices."""
    whole, high = limited(lab, MOST, words), MOST
    while high - low > CLOSE:
        middle = (low + high) // 2
        ran = limited(lab, middle, words)
        if (ran.returncode, ran.out) == (whole.returncode, whole.out):
            high = middle
        else:
            low = middle
    return whole, high


def check_ever_less(check, lab, begins, *words):
    """Runs a command repeatedly with less and less memory. The first amount of memory suffices; the
    last one is what the program needs to start."""
    whole, enough = least_that_is_enough(lab, words, begins)
    check.that(len(whole.out) > 100 and enough < MOST, f"{words}: {whole.err!r}, {enough} bytes")
    failed = 0
    for i in range(1, STEPS):
        most = enough - (enough - begins) * i * i // (STEPS * STEPS)
        ran = limited(lab, most, words)
        if ran.returncode == whole.returncode:
            # If events are lost, `host` and `diff` may exit with the same status as in the run
            # `whole`, although their output differs.
            told = "incomplete: lost: " in ran.err + ran.out
            check.that(ran.out == whole.out or told,
                       f"{words} with {most} of {enough} bytes: {len(ran.out)} of "
                       f"{len(whole.out)} characters; {ran.err!r}")
            continue
        failed += 1
        check.that(ran.returncode in (FAILED, INCOMPLETE) and "faultscope: " in ran.err,
                   f"{words} with {most} of {enough} bytes: {ran.returncode}, {ran.err!r}")
    check.that(failed >= 2, f"{words}: failed {failed} times with less than {enough} bytes")


def bytes_to_begin(lab):
    if BUILD.name == "san":
        raise Skip("AddressSanitizer takes memory of its own")
    return least_that_is_enough(lab, ("--version",))[1]


def test_memory_runs_out_for_reports(check, lab):
    begins = bytes_to_begin(lab)
    recording = f"{made(lab, 1)}.fsr"
    for one in some_of(("text", "jsonl", "html", "csv", "trace", "folded", "speedscope"), 3):
        check_ever_less(check, lab, begins, "report", "--format", one, recording)
    check_ever_less(check, lab, begins, "--replay", recording, "--summary")
    check_ever_less(check, lab, begins, "diff", recording, RECORDINGS / "forecast_of_a_leak.fsr")
    check_ever_less(check, lab, begins, "host", "--replay", recording)


def test_memory_runs_out_for_crashes(check, lab):
    begins = bytes_to_begin(lab)
    helper(lab, "ring_writer", 1, 40, "ring", "log")
    log = sorted((ROOT / "tests/triage/corpus").glob("*.log"))[0]
    check_ever_less(check, lab, begins, "triage", log)
    check_ever_less(check, lab, begins, "triage", "--json", "log")
    # a large ring, since the C library may start with enough free memory for a small one
    helper(lab, "ring_writer", 1, 2000, "large", "large_log", 1024)
    check_ever_less(check, lab, begins, "blackbox", "read", "large")


CHAINS, ALL_CHAINS = 120, 4096  # most chains of callers to try for each command
FORMATS = ("text", "jsonl", "html", "csv", "csv-time", "trace", "folded-faults", "speedscope")


def check_each_fails_once(check, lab, most, *words, calls="memory", least=2):
    """Lets each call fail once in a command. At least `least` of the runs must fail."""
    said = helper(lab, "failing_calls", calls, most, *words)
    check.that("wrong" not in said, f"{words}: {said}")
    check.that(int(said.splitlines()[-1].split()[0]) >= least, f"{words}: {said}")


def test_each_call_for_files_fails_once(check, lab):
    """Lets each call that uses files, memory maps or events fail once with EIO."""
    log = sorted((ROOT / "tests/triage/corpus").glob("*.log"))[0]
    events, leak = f"{made(lab, 1)}.fsr", RECORDINGS / "forecast_of_a_leak.fsr"
    helper(lab, "ring_writer", 1, 40, "ring", "log")
    for words in (("report", "--format", "html", "-o", "made.html", events), ("info", events),
                  ("--json", "--replay", events), ("host", "--replay", events, "--no-unicode"),
                  ("diff", events, leak), ("triage", log), ("triage", "--html", "log"),
                  ("blackbox", "read", "ring"), ("explain", "M01"),
                  ("report", "--format", "folded", "-o", "made.txt", leak),
                  ("settings",), ("settings", "--json"),
                  ("oom", "--list", "--store", lab.dir), ("incidents", "--store", lab.dir),
                  ("oom", leak), ("memory", "--replay", leak), ("report", "--from", "1", leak),
                  ("report", "--redact", leak, "-o", "made.fsr", "--force"),
                  ("report", "--format", "pprof", "-o", "made.pb.gz", leak),
                  ("triage", log, "log"), ("blackbox", "status", "--ring", "ring")):
        check_each_fails_once(check, lab, ALL_CHAINS, *words, calls="files", least=1)


def test_no_evidence_is_dropped_silently(check, lab):
    """Lets each allocation fail once in reports that have growth by call stack, top consumers of
    memory, holdings, titles of limits, and remedies."""
    if BUILD.name == "san":
        raise Skip("AddressSanitizer has allocations of its own")
    events, leak = f"{made(lab, 1)}.fsr", RECORDINGS / "forecast_of_a_leak.fsr"
    splits = RECORDINGS / "refusals-munmap-split.fsr"
    commands = (("diagnose", "--replay", leak, "--no-unicode"),
                ("host", "--replay", events, "--no-unicode"), ("report", "--format", "html", leak),
                ("report", events), ("--json", "--replay", splits),
                ("host", "--json", "--replay", events))
    for words in some_of(commands, 3):
        check_each_fails_once(check, lab, ALL_CHAINS, *words)


def test_each_allocation_fails_once(check, lab):
    """Lets one allocation fail in each run of a command: the first one of each chain of callers."""
    if BUILD.name == "san":
        raise Skip("AddressSanitizer has allocations of its own")
    kept = RECORDINGS / "faults_of_each_kind.fsr"
    log = sorted((ROOT / "tests/triage/corpus").glob("*.log"))[0]
    commands = (*(("report", "--format", one, kept) for one in FORMATS), ("info", kept),
                ("info", "--json", kept), ("--replay", kept, "--summary", "--no-unicode"),
                ("triage", "--json", log), ("triage", "--html", log), ("explain", "M01", "F05"),
                ("explain", "--json", "M01"), ("schema",), ("man", "run"), ("completion", "bash"))
    for words in some_of(commands, 9):
        check_each_fails_once(check, lab, CHAINS, *words)
