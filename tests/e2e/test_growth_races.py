# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests many processes and threads that open files or create mappings at the same instant. In
faultscope's output, each process has its own stack, and no growth is lost. If a pid is reused, the
mappings and fds of the first process are not attributed to the second one."""

import re

from harness import INCOMPLETE, Lines, Skip, has_gap, live, workload_path
from test_diagnose import FOUND, Diagnosis
from test_life import LAST_PID

PROCESSES, GROWN = 6, 3000
THREADS, NAMES, TIMES = 2, 3000, 4
HELD = 300
EACH, BRIEF, KEPT = 8, 200, 800


def storm(check, lab, *words):
    """Runs `diagnose` on the workload `storm`. Returns the output lines, the recording and the
    workload's true values."""
    work = lab.work("storm", *words, "--wait", "--hold")
    diagnosis = Diagnosis(lab, work.pid)
    work.go()
    truth = work.truth()
    capture = diagnosis.stop()
    work.end()
    lines = Lines(capture.text)
    check.that(capture.status in ((FOUND, INCOMPLETE) if has_gap(lines) else (0, FOUND)),
               f"status {capture.status}, losses {lines.losses()}: {capture.stderr}")
    return lines, capture, truth


OWN = re.compile(r"own_.")


def check_apart(check, folded, processes):
    """Checks that the output shows each process with its own function and its own files, and with
    no other."""
    seen = set()
    for line in folded.splitlines():
        stack = line.rpartition(" ")[0].split(";")
        whose = next((at for at, part in enumerate(stack[:2]) if OWN.match(part)), None)
        if whose is None:
            continue  # skips stacks of the time before the process set its name
        comm = OWN.match(stack[whose]).group()
        names = {name for frame in stack[whose + 1:] for name in OWN.findall(frame)}
        check.that(names <= {comm}, f"another's function: {line}")
        seen |= {comm} if names else set()
    check.equal("processes", len(seen), processes)


def check_estimate(check, what, got, want, missed):
    """Checks a sum of samples, of which one in EACH was drawn and counts for EACH. It may differ
    from the true value by six standard deviations."""
    off = 6 * (want * (EACH - 1)) ** 0.5
    check.between(what, got, want - off - missed, want + off)


def check_descriptors(check, lines, truth, grown):
    """Checks the number of opened files of each process, of which most are closed again. Events
    that the kernel skipped may be missing in the number of opened files."""
    missed = lines.losses().get("missed", 0)
    for pid in truth["children"]:
        sorts = [sort for line in lines.of("growth", pid, what="fds") for sort in line["groups"]]
        check.equal(f"sorts of descriptors of {pid}", len(sorts), 1)
        for sort in sorts:
            if sort.get("estimated"):
                check_estimate(check, f"descriptors of {pid}", sort["created"], grown, missed)
            else:
                check.between(f"descriptors of {pid}", sort["created"], grown - missed, grown)


@live
def test_stacks_of_many_processes(check, lab):
    lines, capture, truth = storm(check, lab, "apart", str(PROCESSES), str(GROWN))
    for name in ("folded", "folded-faults"):
        check_apart(check, lab.faultscope("report", "--format", name, capture.recording).out,
                    PROCESSES)
    check_descriptors(check, lines, truth, GROWN)


@live
def test_places_that_threads_make_at_once(check, lab):
    """If two threads create one row of the growth table at the same instant, no count is lost."""
    for _ in range(TIMES):
        lines, _, truth = storm(check, lab, "together", str(THREADS), str(NAMES))
        grown = lines.of("growth", truth["pid"], what="fds")[-1]
        missed = lines.losses().get("missed", 0)
        check.between("made", grown["created"], truth["made"] - missed, truth["made"])
        for sort in grown["groups"]:
            if sort["name"].startswith("memfd:"):
                check.between(f"{sort['name']}: made", sort["created"], THREADS - missed, THREADS)
                check.that("open_together (storm)" in sort["stack"], f"a foreign stack: {sort}")


@live
def test_short_lived_files_are_sampled(check, lab):
    """If a process opens and closes many files, a sample of them is counted with a weight. The
    counts are estimates, and the output says so. Files that stay open are counted exactly if no
    others are closed."""
    lines, capture, truth = storm(check, lab, "brief", str(BRIEF), str(KEPT))
    missed = lines.losses().get("missed", 0)
    of = {sort["name"]: sort for line in lines.of("growth", truth["pid"], what="fds")
          for sort in line["groups"]}
    brief, kept = (of.get(f"memfd:{name} (deleted) in tmpfs", {}) for name in ("brief", "kept"))
    check_estimate(check, "opened", brief.get("created"), truth["brief"], missed)
    check.between("open", brief["created"] - brief["removed"], 0, missed)
    check_estimate(check, "kept", kept.get("created"), truth["kept"], missed)
    check.equal("closed", kept["removed"], 0)
    check.equal("estimates", [sort.get("estimated") for sort in (brief, kept)], [True, True])
    said = lab.faultscope("report", capture.recording).out
    check.that("file descriptors (estimated from samples)" in said, said)

    lines, _, truth = storm(check, lab, "brief", "0", str(KEPT))
    missed = lines.losses().get("missed", 0)
    for sort in lines.of("growth", truth["pid"], what="fds")[-1]["groups"]:
        check.between("kept", sort["created"], KEPT - missed, KEPT)
        check.that("estimated" not in sort, f"exact: {sort}")


@live
def test_growth_of_a_process_that_ended_earlier(check, lab):
    """What a process created is told once, also if the process ended several scans before the end
    of the output."""
    said = lab.dir / "ended.jsonl"
    script = f"{lab.workload('fdleak')} 200; sleep 3; true"
    lab.faultscope("run", "--json", "-o", said, "--", "sh", "-c", script)
    lines = Lines(said.read_text())
    pid = next(line["pid"] for line in lines.of("process", None) if line["comm"] == "fdleak")
    grown = lines.of("growth", pid, what="fds")
    check.equal("lines", len(grown), 1)
    check.between("created", grown[0]["created"], 100, 200)


@live
def test_owners_of_a_reused_pid(check, lab):
    """If a pid is reused, the second process closes files. These calls must not reduce the number
    of files that the first process left open."""
    if not LAST_PID.exists():
        raise Skip("this kernel lets nobody choose the next pid")
    lines, _, truth = storm(check, lab, "reused", "1", str(HELD))
    if not truth["reused"]:
        raise Skip("the pid was taken by another process each time")
    of_name = {sort["name"].split()[0]: (sort["created"], sort["removed"])
               for line in lines.of("growth", truth["reused"], what="fds")
               for sort in line["groups"]}
    missed = lines.losses().get("missed", 0)
    if not missed:
        check.equal("made and gone", of_name,
                    {"memfd:first": (HELD, 0), "memfd:second": (HELD, HELD)})


@live
def test_first_calls_at_the_same_instant(check, lab):
    """Two threads create the state of their process at the same instant: neither loses a count."""
    ran = lab.faultscope("run", "--json", "--", workload_path("storm"), "first", "2", "3000")
    losses = Lines(ran.out).losses()
    check.equal("processes lost", losses.get("map", 0), 0)
    check.equal("fault starts lost", losses.get("slot", 0), 0)
