# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `diagnose`. For programs in trouble, `diagnose` reports the right finding with growth
pattern, stack, process tree and remedy. For healthy programs, `diagnose` reports that nothing is
wrong."""

import os
import re
import shlex
import shutil
import subprocess
import sys

from harness import (FAULTSCOPE, FOUND, PATIENCE, Lines, Skip, Watch, Workload, check_schema,
                     evidence_texts, guards_have_no_mapping, live, proc_maps, proc_stat,
                     remedy_texts, until, workload_path)

USAGE, NO_TARGET = 2, 4
LONG = ("-d", str(PATIENCE))
SHARE = ["share_tensor (growth)", "collate_batch (growth)", "make_all (growth)"]


class Diagnosis(Watch):
    """A `faultscope diagnose` in the background, and its output at the end."""

    def __init__(self, lab, pid, *options, wait=True):
        out, recording = lab.new_output()
        argv = [FAULTSCOPE, "diagnose", "--json", "-o", out, "--record", recording,
                *(("-p", pid) if pid else ()), *(LONG if wait else ()), *options]
        super().__init__(lab.spawn(argv), out, recording, [str(word) for word in options],
                         lab.errors)


def check_lines(check, capture, status):
    """Checks the first and last line of a capture, and every line against the schema."""
    check.equal("status", capture.status, status)
    check.equal("standard error", capture.stderr, "")
    lines = Lines(capture.text)
    check.equal("first and last", [lines.all[0]["type"], lines.all[-1]["type"]], ["start", "end"])
    check_schema(check, lines.all)
    return lines


def diagnose(check, lab, *words, status=0, options=()):
    """Runs `diagnose` on a workload while the workload works. Returns the output lines, the
    recording of the run, and the workload's true values."""
    work = lab.work(*words, "--wait", "--hold")
    diagnosis = Diagnosis(lab, work.pid, *options)
    work.go()
    truth = work.truth()
    capture = diagnosis.stop()
    work.end()
    return check_lines(check, capture, status), capture, truth


def ids(lines, pid=None):
    """Returns the ids of those findings of a process that are still open at the end."""
    last = {}
    for line in lines.of("finding"):
        last[line["id"], line["pid"]] = line
    return sorted({line["id"] for line in last.values() if line["state"] == "open"
                   and pid in (None, line["pid"])})


def last_finding(check, lines, name, pid):
    found = lines.of("finding", pid, id=name, state="open")
    assert found, f"no {name} of {pid}, but {ids(lines)}"
    return found[-1]


def evidence(finding, what):
    return evidence_texts(finding).get(what, "")


def made_from(finding):
    """Returns the evidence `from` of a workload with "function (program)" for each function. Source
    lines of workloads, "function (program.c:12)", arrive while faultscope already prints."""
    return without_lines(evidence(finding, "from"))


def without_lines(text):
    text = re.sub(r"[^ ]+ \([^()]*, inlined\) <- ", "", re.sub(r"\s+", " ", text))
    return re.sub(r" \((\w+)\.c:\d+\)", r" (\1)", text)


def advice(finding):
    return "\n".join(remedy_texts(finding))


def text_of(lab, capture, *options):
    return lab.faultscope("diagnose", "--replay", capture.recording, *options)


def check_verdict(check, text, first):
    """Checks that the first line of the report names the process and the cause, and that the last
    line sums up the findings."""
    check.that(text.startswith(first), f"begins {text[:90]!r}, not {first!r}")
    check.that(re.search(r"^\d+ findings? \(\d+ critical, \d+ warning, \d+ info\)\.  More: "
                         r"faultscope\n?\s*explain [A-Z]\d\d$", text, re.M), "no sum at the end")
    check.that("\nchecked: limits of mappings" in text, "it does not say what was checked")


# Tests of a growth table that fills up

# ROWS is the number of rows that the workload creates in the growth table; they do not all fit into
# it. RATE is the number of rows per second. LEAKED is the number of files that the workload leaks
# afterwards.
ROWS, RATE, LEAKED = 10000, 2500, 2000


def crowd(check, lab, kind, *options, status=0):
    """Runs a workload that fills the growth table and then leaks. Returns the output lines, the
    workload's true values, the number of fds opened for each file name, and the capture."""
    work = lab.work("crowd", kind, str(ROWS), "--rate", str(RATE), "--leak", str(LEAKED), *options,
                    "--wait", "--hold")
    diagnosis = Diagnosis(lab, work.pid)
    work.go()
    truth = work.truth()
    capture = diagnosis.stop()
    work.end()
    lines = check_lines(check, capture, status)
    grown = lines.of("growth", truth["pid"], what="fds")
    sorts = grown[0]["groups"] if grown else []
    return lines, truth, {one["name"]: one["created"] for one in sorts}, capture


def check_leak(check, lab, kind):
    """Checks that a leak is attributed to its call stack, although other rows filled the growth
    table before."""
    lines, truth, made, capture = crowd(check, lab, kind)
    check.equal("leaked", truth["leaked"], LEAKED)
    # after many closes, one new descriptor in 8 counts for 8: six standard deviations
    off = 6 * (LEAKED * 7) ** 0.5 if kind == "closed" else 0
    attributed = [n for name, n in made.items() if name.startswith("null")]
    check.equal(f"{kind}: rows of the leak", len(attributed), 1)
    check.between(f"{kind}: attributed", sum(attributed), LEAKED - off, LEAKED + off)
    check.equal(f"{kind}: losses", {key: n for key, n in lines.losses().items() if key != "missed"},
                {})
    again = Lines(lab.faultscope("diagnose", "--json", "--replay", capture.recording).out)
    check.equal(f"{kind}: the recording agrees", again.of("growth", truth["pid"], what="fds"),
                lines.of("growth", truth["pid"], what="fds"))


@live
def test_rows_of_the_ended(check, lab):
    """The growth table frees the rows of ended processes."""
    check_leak(check, lab, "ended")


@live
def test_rows_of_the_closed(check, lab):
    """The growth table frees the rows of files that a living process has closed again."""
    check_leak(check, lab, "closed")


@live
def test_rows_that_are_held(check, lab):
    """If every row of the growth table is in use, findings report the growth that has no row as
    unattributed."""
    lines, truth, made, capture = crowd(check, lab, "held", "--nofile", str(ROWS + LEAKED - 500),
                                        status=FOUND)
    check.that(truth["leaked"] < LEAKED, f"no descriptor was failed: {truth}")
    check.that(lines.losses().get("growth", 0) > LEAKED - 600, f"losses {lines.losses()}")
    found = lines.of("finding", truth["pid"], state="open")
    check.that(any("growth table was full" in evidence(one, "not attributed") for one in found),
               f"no finding says so: {[(one['id'], one['evidence']) for one in found]}")
    text = text_of(lab, capture).out
    check.that("all is well" not in text, "all is well")
    check.that("growth table" in text, f"the text does not say so: {text[-600:]}")


# Tests of the findings for each pattern of growth

@live
def test_tensors(check, lab):
    """A workload creates files with PyTorch's names in /dev/shm. `diagnose` reports M03
    pytorch-shared-tensors with the pattern, the stack, the sharing strategy and the remedy."""
    lines, capture, truth = diagnose(check, lab, "growth", "tensor", "3000", "--before", "2000")
    finding = last_finding(check, lines, "M03", truth["pid"])
    check.equal("findings", ids(lines), ["M03"])
    check.that(finding["title"].startswith("5,000 of 5,0"), finding["title"])
    check.that(evidence(finding, "holds").startswith("/dev/shm/torch_# (deleted)"),
               f"pattern {finding['evidence']}")
    check.that(" <- ".join(SHARE) in made_from(finding), made_from(finding))
    check.that(evidence(finding, "sharing strategy").startswith("file_system"), "strategy")
    for words in ("torch.stack()", "multiprocessing_context='fork'", "sysctl -w vm.max_map_count="):
        check.that(words in advice(finding), f"{words!r} is not advised: {advice(finding)}")
    check.that(finding["set_by"], "nobody set the limit")
    made = lines.of("growth", truth["pid"], what="maps")[0]["groups"][0]
    check.equal("made", (made["name"], made["created"]), ("torch_# (deleted) in tmpfs", 3000))
    check.equal("its stack", made["stack"][1:4], SHARE)
    held = lines.of("holdings", truth["pid"], what="maps")[0]["groups"][0]
    check.equal("held", (held["count"], held["kind"], held["pattern"]),
                (2000, "shared memory", True))
    text = text_of(lab, capture).out
    check_verdict(check, text,
                  f"info[M03 pytorch-shared-tensors]: growth[{truth['pid']}]: 5,000 of 5,0")
    check.that("<- share_tensor (growth) <- collate_batch (growth)" in without_lines(text), text)


@live
def test_tensors_with_descriptors(check, lab):
    lines, _, truth = diagnose(check, lab, "growth", "tensor", "2000", "--keep-fds")
    check.equal("findings", ids(lines), ["F10", "M03"])
    finding = last_finding(check, lines, "M03", truth["pid"])
    check.that(evidence(finding, "sharing strategy").startswith("file_descriptor"), "strategy")
    check.that("set_sharing_strategy('file_system')" in
               advice(last_finding(check, lines, "F10", truth["pid"])),
               f"no other strategy advised: {advice(last_finding(check, lines, 'F10', truth['pid']))}")


@live
def test_tree(check, lab):
    """Child processes start later and grow. For each child, `diagnose` reports a finding with the
    process tree."""
    lines, capture, truth = diagnose(check, lab, "growth", "tensor", "4000", "--children", "2")
    pids = [truth["pid"], truth["child0"], truth["child1"]]
    for pid in pids:
        finding = last_finding(check, lines, "M03", pid)
        tree = evidence(finding, "its process tree")
        check.that(tree.startswith("3 processes: ")
                   and f"growth[{pids[0]}] 4,000" in tree
                   and all(f"growth[{child}] 2,000, child of {pids[0]}" in tree
                           for child in pids[1:]), f"tree {tree!r}")
    text = text_of(lab, capture).out
    for child in pids[1:]:
        check.that(f"growth[{child}], child of growth[{pids[0]}]" in text, f"{child}: whose child?")


@live
def test_leak_of_one_place(check, lab):
    lines, _, truth = diagnose(check, lab, "growth", "leak", "3000")
    check.equal("findings", ids(lines), ["M10"])
    finding = last_finding(check, lines, "M10", truth["pid"])
    check.that("3,000 of 3,000 mappings created while watched are from one call stack" in
               finding["title"], finding["title"])
    check.that("leak_mapping (growth) <- make_all (growth)" in made_from(finding),
               made_from(finding))


@live
def test_growth_by_munmap(check, lab):
    """Mappings that munmap splits off are attributed to the caller of munmap."""
    lines, _, truth = diagnose(check, lab, "growth", "split", "3000")
    finding = last_finding(check, lines, "M10", truth["pid"])
    check.that("mappings created while watched are pieces of larger mappings" in finding["title"],
               finding["title"])
    check.that(evidence(finding, "created").startswith("split by munmap"), f"{finding}")
    check.that("cut_hole (growth) <- make_all (growth)" in made_from(finding),
               made_from(finding))


@live
def test_leak_without_frames(check, lab):
    """Without frame pointers, recorded stacks of one call site differ. `diagnose` merges them."""
    lines, _, truth = diagnose(check, lab, "mapleak", "3000")
    finding = last_finding(check, lines, "M10", truth["pid"])
    check.that("main (mapleak)" in made_from(finding), made_from(finding))


@live
def test_code_that_leads_astray(check, lab):
    """A program without frame pointers causes more different stacks than there are stack ids.
    `diagnose` merges them."""
    lines, _, truth = diagnose(check, lab, "wander", "20000")
    finding = last_finding(check, lines, "M10", truth["pid"])
    # Without frame pointers, the recorded call chains are accidental. A few of the 20,000 chains
    # may end in code with another function name.
    attributed = re.match(r"([\d,]+) of 20,000 mappings", finding["title"])
    check.that(attributed and int(attributed[1].replace(",", "")) >= 19990, finding["title"])
    check.that("map_astray (wander)" in made_from(finding), made_from(finding))
    check.equal("made", truth["made"], 20000)
    check.equal("losses", lines.losses(), {})


@live
def test_near_the_limit(check, lab):
    """`diagnose` is started for a process that already holds many mappings and is near the limit.
    M25 max-map-count-near names the limit, who set the limit, and the cause M03
    pytorch-shared-tensors."""
    before = 55000
    lines, capture, truth = diagnose(check, lab, "growth", "tensor", "2000", "--before",
                                     str(before), status=FOUND)
    check.equal("findings", ids(lines), ["M03", "M25"])
    finding = last_finding(check, lines, "M25", truth["pid"])
    check.equal("severity", finding["severity"], "warning")
    check.equal("because", finding["caused_by"], ["M03"])
    check.equal("of the pattern", last_finding(check, lines, "M03", truth["pid"])["severity"],
                "warning")
    text = text_of(lab, capture)
    check.equal("status of its replay", text.returncode, FOUND)
    check.that("because M03 pytorch-shared-tensors (" in text.out, "no chain in the text")


@live
def test_threads(check, lab):
    if guards_have_no_mapping():
        raise Skip("the C library's stacks of threads share one mapping")
    lines, _, truth = diagnose(check, lab, "growth", "thread", "300", "--before", "300")
    finding = last_finding(check, lines, "M04", truth["pid"])
    check.equal("findings", ids(lines), ["M04"])
    check.equal("threads", evidence(finding, "threads"), "601")
    check.that(evidence(finding, "holds").startswith("---p") or guards_have_no_mapping(),
               "no guard")
    check.that("pthread_create" in made_from(finding), made_from(finding))


@live
def test_class_of_descriptors(check, lab):
    for kind, name in (("eventfd", "[eventfd]"), ("epoll", "[eventpoll]"),
                       ("timerfd", "[timerfd]"), ("memfd", "memfd:fdleak")):
        lines, _, truth = diagnose(check, lab, "fdleak", "300", "--kind", kind, "--nofile", "5000")
        finding = last_finding(check, lines, "F08", truth["pid"])
        check.equal("findings", ids(lines), ["F08"])
        check.that(evidence(finding, "created").startswith(name), f"{kind}: {finding}")
        check.that(f"make_{kind} (fdleak)" in made_from(finding),
                   f"{kind}: from {evidence(finding, 'from')}")


@live
def test_connections_not_closed(check, lab):
    lines, _, truth = diagnose(check, lab, "growth", "socket", "100", "--before", "200")
    finding = last_finding(check, lines, "F09", truth["pid"])
    check.that(evidence(finding, "holds").startswith("tcp CLOSE_WAIT to 127.0.0.1"), f"{finding}")
    check.that("forget_connection (growth)" in made_from(finding),
               made_from(finding))


@live
def test_calls_that_misuse(check, lab):
    """If the workload repeats accept at the fd limit, `diagnose` reports F05 accept-emfile-loop. If
    the workload passes select() too large fd numbers, `diagnose` reports F07 select-fd-setsize,
    even if the program aborts because of them. With --mildly, the workload misuses fds too rarely,
    and `diagnose` reports neither finding."""
    for kind, nofile, name in (("accept", 64, "F05"), ("select", 4096, "F07"),
                               ("abort", 4096, "F07")):
        for mildly in ((), ("--mildly",)):
            work = lab.work("misuse", kind, "--nofile", str(nofile), *mildly, "--wait", "--hold")
            diagnosis = Diagnosis(lab, work.pid)
            work.go()
            if kind == "abort" and not mildly:
                work.process.wait(PATIENCE)
                capture = diagnosis.finished()
            else:
                work.truth()
                capture = diagnosis.stop()
            lines = check_lines(check, capture, capture.status)
            work.end()
            check.equal(f"{kind} {mildly}: {name} is told", bool(lines.of("finding", id=name)),
                        not mildly)
            if name == "F05" and not mildly:
                finding = lines.of("finding", work.pid, id=name)[-1]
                check.that("F01" in finding["caused_by"], f"because {finding['caused_by']}")


@live
def test_limit_reached(check, lab):
    """A call that fails under `diagnose` gives the critical finding F01 nofile-reached, caused by
    F08 fd-leak."""
    lines, _, truth = diagnose(check, lab, "fdleak", "limit", "--kind", "eventfd", "--nofile",
                               "300", status=FOUND)
    finding = last_finding(check, lines, "F01", truth["pid"])
    check.that("F08" in finding["caused_by"], f"because {finding['caused_by']}")
    check.that(f"prlimit --pid {truth['pid']} --nofile=" in advice(finding), advice(finding))


# Tests of healthy programs

@live
def test_all_is_well(check, lab):
    work = lab.work("touch", "10", "--wait", "--hold")
    ran = lab.faultscope("diagnose", "-p", work.pid, "-d", "0.3")
    work.end()
    check.equal("status", (ran.returncode, ran.err), (0, ""))
    check.that(ran.out.endswith("no finding: all is well as far as it was checked\n"),
               ran.out[-200:])
    check.that("\nchecked: limits of mappings, file descriptors" in ran.out,
               "it does not say what it checked")
    check.that(f"touch[{work.pid}]" in ran.out, "it does not say of whom")


@live
def test_blind_hook_is_named(check, lab):
    work = lab.work("touch", "10", "--wait", "--hold")
    ran = lab.faultscope("diagnose", "-p", work.pid, "-d", "0.2", "--probe", "signal=none")
    work.end()
    check.that(re.search(r"^incomplete: .*not measured: signal \(", ran.out, re.M), ran.out)
    check.that("all is well" not in ran.out, ran.out)
    check.equal("status", ran.returncode, 7)


@live
def test_churn_is_no_leak(check, lab):
    lines, _, truth = diagnose(check, lab, "growth", "churn", "20000")
    check.equal("findings", ids(lines), [])
    made = lines.of("growth", truth["pid"], what="maps")[0]["groups"][0]
    check.equal("made and gone", (made["created"], made["removed"]), (20000, 20000))


# Tests of exit status and options

@live
def test_min_severity_decides(check, lab):
    work = lab.work("growth", "leak", "0", "--before", "40000", "--wait", "--hold")
    for level, status, told in (((), 0, True), (("--min-severity", "info"), FOUND, True),
                                (("--min-severity", "warning"), 0, False),
                                (("--min-severity", "critical"), 0, False)):
        ran = lab.faultscope("diagnose", "-p", work.pid, "-d", "0.3", *level)
        check.equal(f"status with {level}", ran.returncode, status)
        check.equal(f"told with {level}", "info[M25 max-map-count-near]" in ran.out, told)
    work.end()


def test_usage(check, lab):
    for words in ((), ("--json",), ("-p", "x"), ("-p", "1", "--min-severity", "grave")):
        ran = lab.faultscope("diagnose", *words)
        check.equal(f"status of {words}", ran.returncode, USAGE)
        check.that(ran.err.startswith("faultscope: ") and not ran.out, f"{words}: {ran.err!r}")


@live
def test_nobody_there(check, lab):
    gone = lab.call("true")
    ran = lab.faultscope("diagnose", "-p", gone.pid)
    check.equal("status", ran.returncode, NO_TARGET)
    check.that(f"no process {gone.pid}" in ran.err, ran.err)


@live
def test_assumed_limit(check, lab):
    work = lab.work("growth", "leak", "0", "--before", "2000", "--wait", "--hold")
    ran = lab.faultscope("diagnose", "-p", work.pid, "-d", "0.3", "--assume",
                         "vm.max_map_count=2100")
    well = lab.faultscope("diagnose", "-p", work.pid, "-d", "0.3")
    work.end()
    check.equal("status", (ran.returncode, well.returncode), (FOUND, 0))
    check.that(ran.out.startswith(f"critical[M25 max-map-count-near]: growth[{work.pid}]: 2,0"), ran.out[:100])
    check.that("of an assumed" in ran.out and "2,100 (assumed)" in ran.out, ran.out[:400])
    check.that("set by" not in ran.out, "nobody set an assumed limit")


# Tests with recordings

@live
def test_replay_finds_the_same(check, lab):
    lines, capture, truth = diagnose(check, lab, "growth", "tensor", "3000", "--before",
                                     "40000", "--children", "1", status=FOUND)
    again = lab.faultscope("diagnose", "--json", "--replay", capture.recording)
    check.equal("status", again.returncode, capture.status)
    replayed = Lines(again.out)
    for kind in ("finding", "holdings", "growth"):
        check.equal(f"lines of {kind}", sorted(map(str, replayed.of(kind))),
                    sorted(map(str, lines.of(kind))))
    check.that(lines.of("finding", truth["child0"]), "nothing of the child")


@live
def test_recording_of_a_run(check, lab):
    """A recording of `run` does not contain holdings (existing mappings and fds by call stack).
    `diagnose` reports this and still reports the findings of the recording."""
    recording = lab.dir / "run.fsr"
    ran = lab.faultscope("run", "-q", "--record", recording, "--", workload_path("growth"),
                         "tensor", "3000")
    check.equal("status of run", ran.returncode, 0)
    text = lab.faultscope("diagnose", "--replay", recording).out
    check.that(text.startswith("info[M03 pytorch-shared-tensors]: growth["), text[:100])
    check.that("share_tensor (growth)" in without_lines(text), text)
    check.that(re.search(r"^not checked: .*held \(mappings and file descriptors were not read\)",
                         text, re.M), text)


@live
def test_run_reports_the_pattern(check, lab):
    ran = lab.faultscope("run", "--", workload_path("growth"), "tensor", "3000", "--children",
                         "1", "--sleep-ms", "1500")
    for words in ("[M03 pytorch-shared-tensors]: growth[", "torch_# (deleted) in tmpfs", "collate_batch (growth",
                  "its process tree: 2 processes", "torch.stack()"):
        check.that(words in ran.err, f"no {words!r} in the summary of run: {ran.err}")


# Tests of folded stacks

FOLDED = re.compile(r"^[^;]+(;[^;]+)* \d+$")


@live
def test_folded(check, lab):
    """Each line of the folded format is a stack, outermost frame first, frames separated by
    semicolons, then a space and a count."""
    _, capture, truth = diagnose(check, lab, "growth", "tensor", "1500")
    ran = text_of(lab, capture, "--format", "folded")
    check.equal("status", (ran.returncode, ran.err), (0, ""))
    rows = ran.out.splitlines()
    check.that(rows and all(map(FOLDED.match, rows)), f"not folded: {rows}")
    counts = {}
    for row in rows:
        stack, _, count = row.rpartition(" ")
        frames = tuple(frame.split(" (")[0] for frame in stack.split(";")
                       if not frame.endswith(", inlined)"))
        counts[frames] = counts.get(frames, 0) + int(count)
    want = ("growth", "__libc_start_call_main", "main", "make_all", "collate_batch",
            "share_tensor", "mmap", "[maps] torch_#")
    check.equal("tensors", [n for frames, n in counts.items() if frames[-4:] == want[-4:]], [1500])


# Tests of the effect on the watched process

@live
def test_target_is_not_disturbed(check, lab):
    """`diagnose` leaves the map count of the watched process unchanged, and reads /proc/PID/maps of
    this process once."""
    work = lab.work("growth", "leak", "0", "--before", "5000", "--wait", "--hold")
    before, size = proc_maps(work.pid), len(open(f"/proc/{work.pid}/maps", "rb").read())
    if not shutil.which("strace"):
        raise Skip("strace is missing")
    trace = lab.dir / "trace"
    # LeakSanitizer cannot work in a process that strace traces.
    ran = lab.call("env", "ASAN_OPTIONS=detect_leaks=0", "strace", "-f", "-o", trace, "-e", "trace=openat,read,close", FAULTSCOPE,
                   "diagnose", "-p", work.pid, "-d", "0.5")
    check.equal("status", ran.returncode, 0)
    check.equal("map count", proc_maps(work.pid), before)
    work.end()
    opened, taken, smaps = set(), 0, 0
    for line in trace.read_text().splitlines():
        call = line.split(maxsplit=1)[1]
        got = re.search(r"= (-?\d+)", call)
        if call.startswith("openat"):
            smaps += "smaps" in call
            if f"/proc/{work.pid}/maps" in call and got:
                opened.add(got[1])
        number = re.match(r"(?:read|close)\((\d+)", call)
        if number and number[1] in opened:
            if call.startswith("close"):
                opened.discard(number[1])
            else:
                taken += int(got[1])
    check.equal("reads of smaps", smaps, 0)
    check.between("bytes of its maps", taken, size - 4096, size + 8192)


@live
def test_target_dies(check, lab):
    """If the watched process exits early, `diagnose` reports its findings up to the exit."""
    work = lab.work("growth", "leak", "3000", "--before", "40000", "--wait")
    diagnosis = Diagnosis(lab, work.pid)
    work.go()
    work.truth()
    work.end()
    lines = check_lines(check, diagnosis.finished(), FOUND)
    check.that({"M10", "M25"} <= set(ids(lines, work.pid)), f"findings {ids(lines)}")
    check.that(lines.final(work.pid), "no last line")


@live
def test_hostile_names(check, lab):
    """Control characters in command and file names never reach the terminal."""
    for case in range(6):
        work = lab.work("hostile", "--case", str(case), "--wait")
        ran = lab.faultscope("diagnose", "-p", work.pid, "-d", "0.2", "--min-severity", "info")
        check.equal(f"status of case {case}", ran.returncode, 0)
        check.that(not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", ran.out),
                   f"case {case}: {ran.out!r}")
        work.go()
    prefix = "torch_1\x1b[31m\x1b]0;owned\x07\n;x"
    _, capture, _ = diagnose(check, lab, "growth", "tensor", "1500", "--prefix", prefix)
    for form in ((), ("--format", "folded")):
        ran = text_of(lab, capture, *form)
        check.that("\\x1b[" in ran.out and not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", ran.out),
                   f"{form}: {ran.out[:300]!r}")


@live
def test_pid_namespace(check, lab):
    """In a pid namespace, `diagnose` cannot name the functions of stack frames and cannot read
    maps. It reports the missing data and continues."""
    script = (f"{workload_path('growth')} leak 2000 --wait --hold < \"$1\" > \"$2\" & "
              f"exec {shlex.quote(str(FAULTSCOPE))} diagnose -p $! -d 1")
    pipe, out = lab.dir / "in", lab.dir / "truth"
    os.mkfifo(pipe)
    out.touch()
    ran = lab.spawn(["unshare", "-p", "-f", "--mount-proc", "sh", "-c", script, "sh", pipe, out])
    with open(pipe, "w", encoding="utf-8") as go:
        until(lambda: "ready" in out.read_text(), "the workload")
        go.write("g")
        go.flush()
        text, err = ran.communicate(timeout=PATIENCE)
    check.equal("status", ran.returncode, 0)
    check.that("in a pid namespace: pids in the output are those of the initial namespace" in err, err)
    check.that("growth[" in text and "maps 2,0" in text, text)
    check.that(re.search(r"^not checked: .*what processes held", text, re.M), text)


@live
def test_script_is_a_process_too(check, lab):
    """For a Python script, the stack of a finding has at least the frames of the interpreter."""
    code = ("import os, sys\nsys.stdin.readline()\nkeep = [os.eventfd(0) for _ in range(400)]\n"
            "print('{}', flush=True)\nsys.stdin.readline()")
    process = lab.spawn([sys.executable, "-c", code], stdin=subprocess.PIPE)
    work = Workload(process, False)
    diagnosis = Diagnosis(lab, work.pid)
    process.stdin.write("\n")
    process.stdin.flush()
    work.truth()
    lines = check_lines(check, diagnosis.stop(), 0)
    work.end()
    finding = last_finding(check, lines, "F08", work.pid)
    check.that("eventfd" in made_from(finding), made_from(finding))


LEADER_GONE = """
import ctypes, os, socket, threading, time
listening = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=time.sleep, args=(120,)).start()
print(os.getpid(), flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""


@live
def test_sockets_where_the_first_thread_has_ended(check, lab):
    """If the first thread of a process has exited, `diagnose` reads the kind of the process's
    sockets through a living thread."""
    process = lab.spawn([sys.executable, "-c", LEADER_GONE])
    pid = int(process.stdout.readline())
    until(lambda: proc_stat(pid)[3] == "Z", "the end of the first thread")
    ran = lab.faultscope("diagnose", "--json", "-p", str(pid), "-d", "0.3")
    held = Lines(ran.out).of("holdings", pid, what="fds")
    names = [sort["name"] for line in held for sort in line["groups"] if sort["kind"] == "socket"]
    check.that(any("listen" in name.lower() for name in names), f"sockets: {names}, {ran.err}")
