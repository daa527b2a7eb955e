# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares number, kinds and latency of page faults with getrusage, /proc/PID/stat and the
workload."""

import collections

from harness import LONG, Skip, captures, field_of, idle, proc_faults, proc_sleeps, quiet, until

EXACT = 0.0001
TOUCHED_PAGES = 1_000_000 if LONG else 250_000
KINDS = ("read", "write", "exec")


def sum_of(line, *keys):
    return sum(field_of(line, f"faults.{key}") for key in keys)


def check_split(check, line):
    """Checks that each fault is counted with one mode (user or kernel) and one access (read, write
    or exec)."""
    begun = sum_of(line, "not_present", "protection")
    counted = sum_of(line, "minor", "major", "failed")
    check.equal("user + kernel", sum_of(line, "user", "kernel"), begun)
    check.equal("read + write + exec", sum_of(line, *KINDS), begun)
    # When exec fills the new stack, the kernel counts page faults that no page fault tracepoint
    # reports: six in Linux 5.10.
    check.between("not present + protection", begun, counted - 8, counted + 5)


def expect_touched(check, lines, truth):
    line = lines.final(truth["pid"])
    check.near("minor", line["faults"]["minor"], truth["minflt"], EXACT)
    check.equal("major", line["faults"]["major"], truth["majflt"])
    check.equal("failed", line["faults"]["failed"], 0)
    check_split(check, line)
    check.equal("losses", lines.losses(), {})


@captures(expect_touched, keep=True, cases=[1, 4])
def test_faults_touched_by_threads(lab, threads):
    return lab.run("touch", str(TOUCHED_PAGES), "--threads", str(threads))


def expect_kinds(check, lines, truth):
    """Compares faults by kind of access. For faults outside of the measured work, the workload
    knows only the total."""
    pid, beside = truth["pid"], truth["all_faults"] - truth["minflt_delta"]
    read, write, cow = truth["read"], truth["write"], truth["cow"]
    copied, executed = truth["user_copy"], truth["exec"]
    wanted = {
        "read": read,
        "write": write + cow + copied,
        "exec": executed,
        "user": read + write + cow + executed,
        "kernel": copied,
        "not_present": read + write + copied + executed,
        "protection": cow,
    }
    check.between("faults beside the work", beside, 0, 30)
    for kind, want in wanted.items():
        check.between(kind, lines.growth(pid, f"faults.{kind}"), want, want + beside)
    for kinds in (KINDS, ("user", "kernel"), ("not_present", "protection"), ("minor", "major")):
        got = sum(lines.growth(pid, f"faults.{kind}") for kind in kinds)
        check.equal(" + ".join(kinds), got, truth["all_faults"])


def work_watched(lab, name, *args):
    """Lets a waiting workload run under -p. Returns the workload's true values, and its fault
    counts from /proc."""
    work = lab.work(name, *args, "--wait", "--hold")
    until(lambda: proc_sleeps(work.pid), "its threads to wait")
    before = proc_faults(work.pid)
    watch = lab.watch("-p", str(work.pid))
    work.go()
    truth = work.truth()
    until(lambda: proc_sleeps(work.pid), "its threads to wait again")
    after = proc_faults(work.pid)
    capture = watch.stop()
    work.end()
    minor, major = (after[kind] - before[kind] for kind in ("minor", "major"))
    capture.truth = {**truth, "all_faults": minor + major, "proc_minor": minor,
                     "proc_major": major}
    return capture


@captures(expect_kinds, keep=True)
def test_faults_of_each_kind(lab):
    return work_watched(lab, "kinds")


def expect_sleeping(check, lines, truth):
    """The faults of each thread are in the sum, although no thread has ended."""
    check.that(truth["proc_minor"] > truth["threads"], f"only {truth['proc_minor']} faults")
    check.equal("minor", lines.growth(truth["pid"], "faults.minor"), truth["proc_minor"])


@captures(expect_sleeping, cases=[1, 2, 3, 4])
def test_faults_of_sleeping_threads(lab, threads):
    return work_watched(lab, "lives", "threads", str(threads))


def served(lines, pid, name):
    return lines.growth(pid, f"faults.handled.{name}.count")


def check_served(check, lines, truth):
    """Checks that each handled fault is counted in exactly one class."""
    line = lines.last(truth["pid"])
    total = sum(one["count"] for one in line["faults"]["handled"].values())
    check.equal("of all classes", total, sum_of(line, "latency_ns.minor.total",
                                                "latency_ns.major.total"))
    stall = sum(one["stall_ns"] for one in line["faults"]["handled"].values())
    check.equal("their stall", stall, line["faults"]["stall_ns"])
    for name, one in line["faults"]["handled"].items():
        latency = line["faults"]["handled_latency_ns"][name]
        check.equal(f"{name}, in its bands", sum(n for _, n in latency["buckets"]), one["count"])


def expect_classes(check, lines, truth):
    """Compares faults by class. For faults outside of the measured work, the workload knows only
    the total."""
    pid, beside = truth["pid"], truth["all_faults"] - truth["minflt_delta"]
    small = truth["huge_asked"] - truth["huge"]
    # Faults whose class the workload does not know: on the first stack pages, on libraries, and
    # because of the fork.
    beside += truth["stack"] - truth["stack_grown"] + 12
    swapped = truth.get("swapped", 0)
    swapped_in = served(lines, pid, "swap_in")
    # Some pages may still be in the swap cache. faultscope classifies the faults on such pages by
    # the kind of mapping, not as swap_in.
    check.between("swap_in", swapped_in, swapped * 0.9, swapped)
    beside += swapped - swapped_in
    wanted = {
        "anonymous": truth["anonymous"] + small,
        "zero_page": truth["zero"],
        "copy_on_write": truth["cow"] + truth["file_copied"],
        "file_minor": 0 if truth["tmpfs"] else truth["file"],
        "shared_memory": truth["shared"] + (truth["file"] if truth["tmpfs"] else 0),
    }
    for name, want in wanted.items():
        check.between(name, served(lines, pid, name), want, want + beside)
    check.equal("stack_growth", served(lines, pid, "stack_growth"), truth["stack_grown"])
    huge = served(lines, pid, "huge") + served(lines, pid, "huge_compacted")
    check.equal("huge", huge, truth["huge"])
    check.equal("hugetlb", served(lines, pid, "hugetlb"), truth["hugetlb"])
    for name in ("numa_hint", "userfaultfd", "file_major"):
        check.equal(name, served(lines, pid, name), 0)
    check.between("other", served(lines, pid, "other"), 0, 2)
    check_served(check, lines, truth)


@captures(expect_classes, keep=True, cases=["small", "huge"])
def test_faults_by_class(lab, pages):
    return work_watched(lab, "classes", str(lab.dir), "--huge", "20" if pages == "huge" else "0")


def expect_copies_of_child(check, lines, truth):
    """After a fork, parent and child each get copies of the pages to which both write."""
    child = lines.final(truth["child"])
    copied = field_of(child, "faults.handled.copy_on_write.count")
    check.between("copies of the child", copied, truth["cow"], truth["cow"] + 60)
    own = field_of(lines.final(truth["pid"]), "faults.handled.copy_on_write.count")
    check.between("copies of the parent", own, truth["cow"] + truth["file_copied"],
                  truth["cow"] + truth["file_copied"] + 150)


@captures(expect_copies_of_child, keep=True)
def test_faults_of_both_sides_of_a_fork(lab):
    return lab.run("classes", str(lab.dir), "--cow", "3000")


def expect_lock_waits(check, lines, truth):
    """Some threads of a process map and touch memory at the same time. Each of them waits for
    mmap_lock while another thread holds it."""
    pid = truth["pid"]
    faults, maps = (lines.final(pid)[group] for group in ("faults", "maps"))
    check.that(maps["lock_waits"] > 0, "nobody waited")
    check.that(maps["lock_ns"] >= maps["lock_waits"] * 10000, "waits shorter than what is one")
    check.that(faults["lock_ns"] <= min(maps["lock_ns"], faults["stall_ns"]),
               "more waits in faults than there are, or than faults took")
    holders = collections.Counter()
    for line in lines.of("slow_faults", pid):
        check.that(line["lock_ns"] <= line["total_ns"], "waited longer than the faults took")
        # faultscope itself may hold mmap_lock, because it reads the maps once for each code
        # location that is new.
        if line["holder_comm"] not in (None, "faultscope"):
            holders[line["holder_pid"], line["holder_comm"]] += 1
    # any other program that reads the maps holds it as well, but seldom
    check.equal("who mostly had the lock", [who for who, _ in holders.most_common(1)],
                [(pid, "locks")] if holders else [])
    for holder, name in holders:
        check.equal(f"{holder} is {name}: one of the threads", holder == pid, name == "locks")


@quiet
@captures(expect_lock_waits)
def test_waits_for_the_lock_of_the_address_space(lab):
    return lab.run("locks", "4", "2000")


def expect_major(check, lines, truth):
    pid = truth["pid"]
    check.equal("of files", served(lines, pid, "file_major"), truth["proc_major"])
    check.that(lines.growth(pid, "faults.read_bytes") >= truth["proc_major"] * 4096,
               "fewer bytes read than pages")
    check_served(check, lines, truth)
    check.equal("major", lines.growth(pid, "faults.major"), truth["majflt_delta"])
    check.equal("major, by /proc/PID/stat", lines.growth(pid, "faults.major"), truth["proc_major"])
    check.equal("minor, by /proc/PID/stat", lines.growth(pid, "faults.minor"), truth["proc_minor"])
    check.equal("total of the latency of major faults",
                lines.growth(pid, "faults.latency_ns.major.total"), truth["proc_major"])


@idle
@captures(expect_major, keep=True)
def test_faults_of_file_pages(lab):
    capture = work_watched(lab, "filepages", "10000", str(lab.dir))
    if not capture.truth["majflt_delta"]:
        raise Skip(f"{lab.dir} is on no disk: its pages cannot be dropped")
    return capture


def expect_all_touched(check, lines, truth):
    missing = 0
    for one in truth["workloads"]:
        if not lines.of("process", one["pid"], final=True):
            missing += 1
            continue
        line = lines.final(one["pid"])
        # the workload asks for its count before it prints it and exits
        check.between(f"minor of {one['pid']}", line["faults"]["minor"], one["minflt"],
                      one["minflt"] + 20)
    check.that(missing <= lines.lost(), f"{missing} of them missing, {lines.lost()} told as lost")


def available_pages():
    with open("/proc/meminfo", encoding="ascii") as text:
        return next(int(line.split()[1]) // 4 for line in text if line.startswith("MemAvailable"))


@captures(expect_all_touched, keep=True)
def test_faults_of_twenty_at_once(lab):
    pages = min(50000, available_pages() * 7 // 10 // 20)
    watch = lab.watch("--comm", "^touch$")
    works = [lab.work("touch", str(pages)) for _ in range(20)]
    truths = [work.truth() for work in works]
    for work in works:
        work.end()
    capture = watch.stop()
    capture.truth = {"workloads": truths}
    return capture


def check_waited(check, what, mean_ns, truth):
    """Checks a mean latency: at least the delay of the workload, at most the workload's own
    measurement, which includes preemption."""
    check.between(what, mean_ns, truth["delay_us"] * 1000 * 0.8, truth["mean_ns"] * 1.2)


def expect_latency(check, lines, truth):
    expect_timed(check, lines, truth)
    slow = lines.of("slow_faults", truth["pid"], **{"class": "userfaultfd"})
    if check.that(slow, "no slow faults are told"):
        check.between("slow ones told", slow[-1]["count"], truth["faults"] / 2, truth["faults"])
        # a fault that is not slow may take less time than the mean of all faults
        share = slow[-1]["count"] / truth["faults"]
        check.between("mean of the slow", slow[-1]["total_ns"] / slow[-1]["count"],
                      truth["delay_us"] * 1000 * 0.8, truth["mean_ns"] * 1.2 / share)


def expect_timed(check, lines, truth):
    """Checks the timing of all faults. expect_timed() does not use the list of slow faults."""
    pid = truth["pid"]
    stall = lines.growth(pid, "faults.stall_ns")
    begun = sum(lines.growth(pid, f"faults.{mode}") for mode in ("user", "kernel"))
    check.equal("faults begun", begun, truth["all_faults"])
    # Faults of the workload without a delay take almost no time, but are included in the totals.
    check_waited(check, "mean stall", stall / truth["faults"], truth)
    for kind in ("minor", "major"):
        timed = lines.growth(pid, f"faults.latency_ns.{kind}.total")
        check.equal(f"in the histogram, {kind}", timed, lines.growth(pid, f"faults.{kind}"))
        latency = lines.last(pid)["faults"]["latency_ns"][kind]
        check.equal(f"sum of the buckets, {kind}", sum(n for _, n in latency["buckets"]),
                    latency["total"])
    check.equal("by their handler", served(lines, pid, "userfaultfd"), truth["faults"])
    waited = lines.growth(pid, "faults.handled.userfaultfd.stall_ns")
    check_waited(check, "mean of these", waited / truth["faults"], truth)
    last = lines.last(pid)["faults"]["latency_ns"]
    # The maximum that the workload measures includes time in which it had no CPU.
    check.between("longest", max(last["minor"]["max"], last["major"]["max"]),
                  truth["delay_us"] * 1000, truth["max_ns"] * 1.2)


@quiet
@captures(expect_latency, keep=True, cases=["20ms", "1ms"])
def test_latency_of_delayed_faults(lab, delay):
    faults, delay_us = {"20ms": ("60", "20000"), "1ms": ("200", "1000")}[delay]
    return work_watched(lab, "uffd", faults, "--delay-us", delay_us)
