# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the counts of mappings and file descriptors with /proc, and compares the counts of calls
with the number of calls that the workload made."""

import resource

from harness import (all_pids, captures, field_of, proc_fds, proc_maps, proc_ran,
                     proc_stat, proc_text)


def counts_of_all():
    """Returns {pid: [start time, maps, fds, CPU time]} of every process that can be read."""
    found = {}
    for pid in all_pids():
        try:
            found[pid] = [int(proc_stat(pid)[22]), proc_maps(pid), proc_fds(pid), proc_ran(pid)]
        except OSError:
            continue  # the process exited while its files in /proc were read
    return found


def expect_counts(check, lines, truth):
    """Compares only processes whose values in /proc were equal before and after the scan."""
    missing = []
    for pid, (_, maps, fds, _) in truth["alike"]:
        seen = lines.of("process", pid)
        if not seen:
            missing.append(pid)
            continue
        check.equal(f"maps of {pid}", field_of(seen[0], "maps.count"), maps)
        check.equal(f"descriptors of {pid}", field_of(seen[0], "fds.count"), fds)
    check.equal("processes not seen", missing, [])
    for pid, maps, fds in truth["held"]:
        check.equal(f"maps of the workload {pid}", lines.last(pid)["maps"]["count"], maps)
        check.equal(f"descriptors of the workload {pid}", lines.last(pid)["fds"]["count"], fds)


CAP_SYS_RESOURCE = 24


def most_descriptors():
    """Returns the hard limit on file descriptors, or the value to which root may raise it."""
    capabilities = next(line for line in proc_text("self", "status").splitlines()
                        if line.startswith("CapEff:"))
    if int(capabilities.split()[1], 16) >> CAP_SYS_RESOURCE & 1:
        return int(proc_text("sys", "fs/nr_open"))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


@captures(expect_counts)
def test_counts_of_every_process(lab):
    made = min(20000, most_descriptors() - 100)
    works = [lab.work("mapleak", "limit", "--hold"),
             lab.work("fdleak", str(made), "--nofile", str(made + 100), "--holes", "--hold")]
    truths = [work.truth() for work in works]
    assert truths[0]["errno_name"] == "ENOMEM" and truths[1]["made"] == made, truths
    before = counts_of_all()
    capture = lab.watch("0.2", "1").finished()
    after = counts_of_all()
    # Kernel threads and zombies have no mappings, and no line in the output. The counts of a
    # process that ran between the two readings of /proc may have changed.
    alike = [[pid, one] for pid, one in before.items() if one[1] and after.get(pid) == one]
    held = [[work.pid, before[work.pid][1], before[work.pid][2]] for work in works]
    assert held[0][1] == truths[0]["map_count_now"], (held, truths)
    assert held[1][2] == truths[1]["open_now"], (held, truths)
    capture.truth = {"alike": alike, "held": held}
    for work in works:
        work.end()
    return capture


FAULTS, MAPS, FDS = 500, 40, 30


def expect_brief(check, lines, truth):
    """All counted calls of the children belong to the measured work, since the workload `brief`
    forks children that do not call exec."""
    parent = truth["pid"]
    children = [line for line in lines.of("process", final=True) if line["ppid"] == parent]
    check.equal("children", len(children), truth["times"])
    closed = truth["closed"]
    for line in children:
        name = f"child {line['pid']}:"
        check.that(line["faults"]["minor"] >= FAULTS, f"{name} {line['faults']['minor']} faults")
        for path, want in (("maps.by_call.mmap.calls", MAPS), ("maps.created", MAPS),
                           ("fds.by_call.open.calls", FDS), ("fds.opened", FDS),
                           ("maps.by_call.munmap.calls", MAPS * closed),
                           ("maps.removed", MAPS * closed), ("fds.closed", FDS * closed),
                           ("fds.by_call.close.calls", FDS * closed),
                           ("maps.failed", 0), ("fds.failed", 0), ("execs", 0)):
            check.equal(f"{name} {path}", field_of(line, path), want)
    last = lines.final(truth["child"])
    check.equal("minor of the last", last["faults"]["minor"], truth["ru_minflt"])
    check.equal("major of the last", last["faults"]["major"], truth["ru_majflt"])


@captures(expect_brief, keep=True, cases=["open", "close"])
def test_brief_children_of_run(lab, ending):
    return lab.run("brief", "--times", "5", *(["--close"] if ending == "close" else []))


@captures(expect_brief, keep=True, cases=["open", "close"])
def test_brief_children_among_all(lab, ending):
    watch = lab.watch("--comm", "^brief$", "--overhead", "all")
    work = lab.work("brief", "--times", "5", *(["--close"] if ending == "close" else []))
    truth = work.truth()
    work.end()
    capture = watch.stop()
    capture.truth = truth
    return capture
