# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Counters of a process never decrease, whatever its threads do. Processes with random histories
are tested first: they fork, call exec from any thread, share memory, and lose their first thread.
Special cases follow.

If a thread other than the leader calls execve, it replaces the leader, whose task the kernel frees.
In other cases, the leader ends before the other threads.
"""

import json

from harness import (LONG, MOST_TRIES, Lines, Skip, captures, field_of, live, proc_fds, proc_maps,
                     proc_text, until)

HISTORIES = 240 if LONG else 80
SEED = 20
# Maps each way to watch to its command line options. With "children", faultscope watches the parent
# of the processes under test, and its children.
WAYS = {
    "all": [],
    "iterator": ["--probe", "scan=iter/task"],
    "by pid": ["--probe", "state=hash"],
    "proc": ["--probe", "scan=/proc"],
    "children": ["-p", "--children"],
}
# Values of a process that may decrease
MOVING = {("maps", "count"), ("maps", "limit"), ("maps", "peak"), ("fds", "count"),
          ("fds", "limit"), ("fds", "hard_limit"), ("fds", "peak")}
QUANTILES = {"p50", "p99"}
# greatest number of minor faults after the last output line of a process, until it exits
LATE_FAULTS = 60


def values(line):
    return {key: line[key] for key in ("faults", "maps", "fds", "execs", "cpu_ns")}


def counters(told):
    """Returns the counters among the values of a line as {path: value}. The path of a histogram
    bucket contains the bound of the bucket."""
    def walk(value, path):
        if isinstance(value, dict):
            for key, inner in value.items():
                if path + (key,) not in MOVING and key not in QUANTILES:
                    yield from walk(inner, path + (key,))
        elif isinstance(value, list):
            yield from ((path + (bound,), count) for bound, count in value)
        elif value is not None:
            yield path, value

    return dict(walk(told, ()))


def falls(before, now):
    return [f"{'.'.join(map(str, path))}: {value}, then {now.get(path, 0)}"
            for path, value in before.items() if now.get(path, 0) < value]


def expect_monotone(check, lines):
    """Checks that no counter decreases. Returns the number of processes."""
    last, fell = {}, {}
    for line in lines.of("process"):
        of = (line["pid"], line["start_time_ns"])
        now = values(line)
        before = last.get(of, now)
        if now != before:
            found = falls(counters(before), counters(now))
            if found:
                fell.setdefault(of, found)
        last[of] = now
    check.that(len(fell) <= lines.lost(), f"counters of {len(fell)} processes fell: "
                                          f"{list(fell.items())[:3]}")
    return len(last)


def agrees(line, truth):
    """Returns whether the last line of a process counts all of the process's faults."""
    late = line["faults"]["minor"] - truth["minor"]
    return 0 <= late <= LATE_FAULTS and line["faults"]["user"] >= truth["pages"]


def expect_histories(check, lines, truth):
    processes = expect_monotone(check, lines)
    check.that(processes >= HISTORIES, f"only {processes} processes")
    finals = {}
    for line in lines.of("process", final=True):
        finals.setdefault(line["pid"], []).append(line)
    wrong = [one for one in truth["lives"]
             if not any(agrees(line, one) for line in finals.get(one["pid"], []))]
    told = [[(line["start_time_ns"], line["faults"]["minor"], line["faults"]["user"])
             for line in finals.get(one["pid"], [])] for one in wrong[:3]]
    check.that(len(wrong) <= lines.lost(),
               f"{len(wrong)} ended with other figures than the kernel's, such as {wrong[:3]}; "
               f"told by birth, minor and user faults: {told}")
    check.equal("histories", len(truth["lives"]), HISTORIES)


def options_of(way, pid):
    return [word for option in WAYS[way]
            for word in ([option, str(pid)] if option == "-p" else [option])]


def without_misses(take):
    """Repeats a capture in which the kernel skipped events, since skipped events are missing in the
    counts."""
    for _ in range(MOST_TRIES):
        capture = take()
        if not Lines(capture.text).losses().get("missed"):
            break
    return capture


def histories(lab, way):
    helper = lab.for_all(lab.workload("histories"))
    helper.chmod(0o4755)
    work = lab.work("histories", "all", str(HISTORIES), str(SEED), str(helper), "--wait")
    watch = lab.watch(*options_of(way, work.pid), "0.1")
    until(lambda: f'"pid":{work.pid},' in watch.said(), "a line of the first process")
    work.go()
    told = [json.loads(line) for line in work.process.stdout]
    work.process.wait()
    until(lambda: watch.process.poll() is not None or
          f'"pid":{work.pid},' in watch.said().rpartition('"final":true')[0],
          "the end of the first process")
    capture = watch.finished() if way == "children" else watch.stop()
    capture.truth = {"pid": work.pid, "lives": [one for one in told if "minor" in one]}
    return capture


@captures(expect_histories, cases=list(WAYS))
def test_random_histories(lab, way):
    return without_misses(lambda: histories(lab, way))


def expect_timed(check, line):
    """Checks that each fault is timed, including the last fault of each thread."""
    timed = sum(field_of(line, f"faults.latency_ns.{kind}.total") for kind in ("minor", "major"))
    check.equal("faults timed", timed, line["faults"]["user"] + line["faults"]["kernel"])


def expect_exec_by_heir(check, lines, truth):
    line = lines.final(truth["pid"])
    pages = truth["pages_before_exec"] + 2 * truth["pages_after_exec"]
    check.between("faults of all its life", line["faults"]["user"], pages, pages + 300)
    check.that(0 <= line["faults"]["minor"] - line["faults"]["user"] < LATE_FAULTS,
               f"the kernel's own count: {line['faults']['minor']}")
    check.equal("execs", line["execs"], 2)
    expect_timed(check, line)
    check.equal("losses", lines.losses(), {})
    expect_monotone(check, lines)


@captures(expect_exec_by_heir)
def test_exec_after_the_leader_ended(lab):
    return without_misses(lambda: lab.run("lives", "leader-exit-exec"))


HEIRS = 8000 if LONG else 1500
LOOKS = {"best": [], "iterator": ["--probe", "scan=iter/task"], "by pid": ["--probe", "state=hash"],
         "proc": ["--probe", "scan=/proc"]}


@live
def test_execs_by_heirs_during_scans(check, lab):
    """At an exec by another thread, the state of the process moves. A scan at this moment must not
    show a part of the counters as 0."""
    work = lab.work("lives", "heirs", str(HEIRS), "--wait")
    watch = lab.watch("-p", work.pid, "0.01", record=False)
    work.go()
    work.truth()
    lines = Lines(watch.finished().text)
    check.between("execs", lines.final(work.pid)["execs"], HEIRS, HEIRS + 1)
    opened = lines.final(work.pid)["fds"]["by_call"]["open"]["calls"]
    check.that(opened >= HEIRS, f"{opened} calls of open")
    expect_monotone(check, lines)


@live
def test_exec_by_heir_of_an_earlier_leader(check, lab):
    """A process whose first thread ended before the watch keeps its counters at an exec."""
    for name, options in LOOKS.items():
        work = lab.work("lives", "leaderless-exec", "--wait")
        watch = lab.watch(*options, "0.1", record=False)
        work.go()
        truth = work.truth()
        work.end()
        until(lambda: f'"pid":{work.pid},' in watch.said().rpartition('"final":true')[0],
              "the last line of the process")
        line = Lines(watch.stop().text).final(work.pid)
        pages = truth["pages_before_exec"] + truth["pages_after_exec"]
        check.between(f"{name}: faults", line["faults"]["user"], pages, pages + 300)
        check.equal(f"{name}: execs", line["execs"], 1)


THREADS = 10000


def expect_crowd(check, lines, truth):
    line = lines.final(truth["pid"])
    check.between("faults of all threads", line["faults"]["minor"], truth["minor"],
                  truth["minor"] + LATE_FAULTS)
    check.that(line["faults"]["user"] >= truth["minor"] - LATE_FAULTS,
               f"user-mode faults: {line['faults']['user']} of {truth['minor']}")
    expect_timed(check, line)
    check.equal("execs", line["execs"], 2)
    check.equal("losses", lines.losses(), {})


@captures(expect_crowd)
def test_exec_among_many_threads(lab):
    if int(lab.read("/proc/sys/kernel/pid_max")) < 2 * THREADS:
        raise Skip(f"no room for {THREADS} threads")
    return without_misses(lambda: lab.run("histories", "crowd", str(THREADS)))


@live
def test_watched_without_its_leader(check, lab):
    """If the first thread of a process ended before the watch began, faultscope reads the values
    from a living thread."""
    work = lab.work("lives", "leaderless")
    tid = work.truth()["tid"]
    for name, options in LOOKS.items():
        watch = lab.watch("-p", str(work.pid), *options, "-d", "0.5", "0.2", record=False)
        line = Lines(watch.finished().text).last(work.pid)
        check.equal(f"{name}: descriptors", line["fds"]["count"], proc_fds(tid))
        resident = int(proc_text(tid, "statm").split()[1]) * 4096
        check.near(f"{name}: resident", line["memory"]["rss_bytes"], resident, 0.1)
        check.equal(f"{name}: program", line.get("exe"), str(lab.workload("lives")))
        if name != "proc":  # scan=/proc knows the map count only of processes that map memory
            check.equal(f"{name}: maps", line["maps"]["count"], proc_maps(tid))
    said = lab.faultscope("diagnose", "-p", str(work.pid), "-d", "0.5").out
    check.that("/dev/null" in said, f"what it holds is not told: {said}")
    check.that("were not read" not in said, f"it is said not to be read: {said}")
    work.end()
