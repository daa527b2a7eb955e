# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the lifecycle of processes and threads, with vfork, exec by a thread, forks that fail, many
forks at once, and reused pids."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from harness import (FAULTSCOPE, Lines, Skip, captures, field_of, live, proc_maps, proc_sleeps,
                     until)

LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
STORM = 2000
# number of records of process starts and exits that fit into the ring buffer (at least 1 MiB) while
# nobody reads it; the record of a short process takes at most 1,000 bytes
IN_THE_RING = 400


def expect_vfork(check, lines, truth):
    parent, child = lines.last(truth["pid"]), lines.final(truth["child"])
    check.equal("maps of the parent", parent["maps"]["count"], truth["map_count"])
    check.equal("mmap calls of the parent",
                lines.growth(truth["pid"], "maps.by_call.mmap.calls"), truth["parent_maps"])
    check.that(field_of(child, "maps.by_call.mmap.calls") >= truth["child_maps"],
               "the child's mappings before its exec are not its own")
    check.equal("execs of the child", child["execs"], 1)
    check.that("shares_maps" not in child, "the child shares maps after its exec")
    check.between("maps of the child", child["maps"]["count"], 1, 99)


@captures(expect_vfork, keep=True)
def test_vfork_and_exec(lab):
    work = lab.work("lives", "vfork", "--wait", "--hold")
    watch = lab.watch("-p", str(work.pid), "--children")
    work.go()
    truth = work.truth()
    capture = watch.stop()
    work.end()
    capture.truth = truth
    return capture


# The child of vfork stays in the state between vfork and exec, because it opens a FIFO that has no
# writer yet.
STAYING_VFORK = """
import os, sys
sys.stdin.readline()
child = os.posix_spawn("/bin/true", ["true"], {},
                       file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
os.waitpid(child, 0)
print(child, flush=True)
sys.stdin.readline()
"""


def expect_shared(check, lines, truth):
    child = lines.of("process", truth["child"])
    shared = [line for line in child if line.get("shares_maps")]
    if check.that(shared, "it is never said that the child shares the maps of its parent"):
        check.equal("maps while shared", shared[-1]["maps"]["count"], truth["shared_count"])
    final = lines.final(truth["child"])
    check.that("shares_maps" not in final, "the child shares maps after its exec")
    check.between("maps after the exec", final["maps"]["count"], 1, truth["shared_count"] - 1)
    check.equal("maps of the parent", lines.last(truth["pid"])["maps"]["count"],
                truth["own_count"])


def only_child(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return int(text) if text.strip() else 0


@captures(expect_shared, keep=True)
def test_vfork_while_it_shares(lab):
    pipe = lab.dir / "pipe"
    os.mkfifo(pipe)
    parent = lab.spawn([sys.executable, "-c", STAYING_VFORK, pipe], stdin=-1)
    watch = lab.watch("-p", str(parent.pid), "--children", "0.1")
    parent.stdin.write("\n")
    parent.stdin.flush()
    child = until(lambda: only_child(parent.pid), "the child")
    until(lambda: f'"pid":{child},' in watch.said(), "a line of the child")
    shared_count = proc_maps(child)
    os.close(os.open(pipe, os.O_WRONLY))
    assert int(parent.stdout.readline()) == child
    own_count = proc_maps(parent.pid)
    capture = watch.stop()
    parent.stdin.close()
    parent.wait()
    capture.truth = {"pid": parent.pid, "child": child, "shared_count": shared_count,
                     "own_count": own_count}
    return capture


def expect_thread_exec(check, lines, truth):
    check.that(truth["exec_tid"] != truth["pid"], "the workload exec'd in its first thread")
    line = lines.final(truth["pid"])
    pages = truth["pages_before_exec"] + truth["pages_after_exec"]
    check.between("faults before and after exec", line["faults"]["minor"], pages, pages + 300)
    check.equal("execs", line["execs"], 2)
    check.equal("other processes", [p["pid"] for p in lines.of("process", final=True)
                                    if p["pid"] != truth["pid"]], [])


@captures(expect_thread_exec, keep=True)
def test_exec_by_a_thread(lab):
    return lab.run("lives", "thread-exec")


def expect_leader_exit(check, lines, truth):
    line = lines.final(truth["pid"])
    check.between("faults", line["faults"]["minor"], truth["pages"], truth["pages"] + 200)
    check.that(all(one["t"] <= line["t"] for one in lines.of("process", truth["pid"])),
               "the final line is not the last")


@captures(expect_leader_exit, keep=True)
def test_leader_exits_first(lab):
    return lab.run("lives", "leader-exit")


def expect_failed_forks(check, lines, truth):
    """Expects all faults in the last line, also on a kernel that frees BPF task storage of a
    process whose clone() fails."""
    pid = truth["pid"]
    check.between("user faults", field_of(lines.final(pid), "faults.user"), truth["pages"],
                  truth["pages"] + 200)
    calls = lines.of("failed_call", pid)
    check.equal("failed calls", sum(call["count"] for call in calls), truth["failed"])
    check.equal("causes", {call["cause"] for call in calls}, {"rlimit_nproc"})
    check.equal("processes lost", lines.losses().get("map", 0), 0)


@captures(expect_failed_forks, keep=True)
def test_failed_forks(lab):
    return lab.run("lives", "failed-forks")


def expect_uncounted_forks(check, lines, truth):
    """Expects that a process counts as lost if the kernel freed its counters."""
    final = lines.final(truth["pid"])
    check.that(lines.losses().get("map") or field_of(final, "faults.user") >= truth["pages"],
               f"the counters of {final['faults']} started again")


def watched_to_its_end(lab, words, *options):
    """Watches a workload from before its work until after its end."""
    work = lab.work("lives", *words, "--wait", "--hold")
    watch = lab.watch(*options)
    work.go()
    truth = work.truth()
    work.end()
    capture = watch.stop()
    capture.truth = truth
    return capture


@captures(expect_uncounted_forks)
def test_failed_forks_without_calls(lab):
    return watched_to_its_end(lab, ["failed-forks"])


def expect_storm(check, lines, truth):
    children = [line for line in lines.of("process", final=True) if line["ppid"] == truth["pid"]]
    pids = {(line["pid"], line["start_time_ns"]) for line in children}
    check.equal("children told twice", len(children) - len(pids), 0)
    check.between("children told or counted as lost", len(children) + lines.lost(),
                  truth["forks"], truth["forks"] + lines.lost())
    # Lost records may explain missing children, but the ring buffer must have delivered at least
    # IN_THE_RING records.
    check.that(len(children) >= IN_THE_RING,
               f"{len(children)} of {truth['forks']} children are told, {lines.losses()} lost")


@captures(expect_storm)
def test_fork_storm(lab):
    watch = lab.watch("--comm", "^lives$")
    work = lab.work("lives", "fork-storm", str(STORM))
    truth = work.truth()
    work.end()
    capture = watch.stop()
    capture.truth = truth
    return capture


def expect_reused(check, lines, truth):
    finals = lines.of("process", truth["pid"], final=True, comm="brief")
    if check.equal("processes of this pid", len(finals), 2):
        check.that(finals[0]["start_time_ns"] != finals[1]["start_time_ns"], "the same birth")
    for line in finals:
        check.between("faults", line["faults"]["minor"], 500, 700)


def brief_at(lab, pid):
    """Runs a process that ends at once and has the given pid. If another process takes this pid
    first, the process has another pid."""
    if pid:
        LAST_PID.write_text(str(pid - 1), encoding="ascii")
    work = lab.work("brief")
    work.truth()
    work.end()
    return work.pid


@captures(expect_reused, keep=True)
def test_pid_reused(lab):
    if not LAST_PID.exists():
        raise Skip("this kernel lets nobody choose the next pid")
    watch = lab.watch("--comm", "^brief$")
    pid = brief_at(lab, 0)
    for _ in range(50):
        if brief_at(lab, pid) == pid:
            break
    else:
        raise Skip("the pid was taken by another process each time")
    capture = watch.stop()
    capture.truth = {"pid": pid}
    return capture


LIVES = 200
SCANS = {"default": [], "iterator": ["--probe", "scan=iter/task"], "proc": ["--probe", "scan=/proc"],
         "by pid": ["--probe", "scan=/proc", "--probe", "state=hash"]}


def expect_lives(check, lines, truth):
    finals = lines.of("process", truth["same_pid"], ppid=truth["pid"], final=True)
    check.between("lives of this pid", len(finals), truth["lives"] - lines.lost(), truth["lives"])
    check.equal("births", len({line["start_time_ns"] for line in finals}), len(finals))
    check.that(truth["lives"] > 2, f"only {truth['lives']} children got the pid")


@captures(expect_lives, cases=list(SCANS))
def test_lives_of_one_pid(lab, scan):
    """Each life of a pid is told, although many of them begin in one clock tick."""
    if not LAST_PID.exists():
        raise Skip("this kernel lets nobody choose the next pid")
    return watched_to_its_end(lab, ["same-pid", str(LIVES)], *SCANS[scan])


def expect_many(check, lines, truth):
    seen = {line["pid"] for line in lines.of("process", ppid=truth["pid"])}
    check.equal("children not seen", len(set(truth["children"]) - seen), 0)
    check.equal("losses", lines.losses(), {})


PROCESSES = 5000


def room_for_processes():
    """Returns whether the kernel's task limits allow PROCESSES more processes."""
    for name in ("/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"):
        if int(Path(name).read_text(encoding="ascii")) < PROCESSES + 2000:
            return False
    group = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()[-1].split(":")[2]
    limit = Path("/sys/fs/cgroup" + group + "/pids.max")
    text = limit.read_text(encoding="ascii").strip() if limit.exists() else "max"
    return text == "max" or int(text) > PROCESSES + 500


@captures(expect_many)
def test_five_thousand_processes(lab):
    if not room_for_processes():
        raise Skip(f"no room for {PROCESSES} processes under the limits of tasks")
    work = lab.work("lives", "procs", str(PROCESSES))
    truth = work.truth()
    children = Path(f"/proc/{work.pid}/task/{work.pid}/children").read_text(encoding="ascii")
    # Other processes of a busy machine may overflow the ring buffer, but hardly three times. If the
    # scan itself overflows it, it does so each time.
    for _ in range(3):
        capture = lab.watch("--comm", "^lives$").stop()
        if not Lines(capture.text).losses():
            break
    work.end()
    capture.truth = {**truth, "children": [int(pid) for pid in children.split()]}
    assert len(capture.truth["children"]) == PROCESSES
    return capture


@live
def test_two_instances_at_once(check, lab):
    """Two instances that watch one process both count all of its work exactly."""
    work = lab.work("brief", "--wait")
    both = [lab.watch("-p", str(work.pid), record=False) for _ in range(2)]
    work.go()
    truth = work.truth()
    work.end()
    finals = []
    for watch in both:
        capture = watch.finished()
        check.equal("status", capture.status, 0)
        line = Lines(capture.text).final(work.pid)
        finals.append((line["faults"]["minor"], field_of(line, "maps.by_call.mmap.calls"),
                       field_of(line, "fds.by_call.open.calls"), line["maps"]["count"]))
    check.equal("what both say", finals[0], finals[1])
    check.equal("mmap and open calls", finals[0][1:3], (truth["maps"], truth["fds"]))


def unified_mount():
    """Returns the mount point of cgroup version 2."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 ") and before.split()[3] == "/":
            return Path(before.split()[4])
    raise Skip("cgroups of version 2 are not mounted")


@contextlib.contextmanager
def unified_cgroup(lab):
    group = unified_mount() / lab.dir.name
    try:
        group.mkdir()
    except OSError as error:
        raise Skip(f"no cgroup can be made: {error}") from error

    def gone():
        try:
            group.rmdir()
        except OSError:
            return False
        return True
    try:
        yield group
    finally:
        until(gone, "the cgroup's end")


MOVERS = """
for i in 1 2 3 4 5 6 7 8; do
    sh -c 'echo $$ >"$1/cgroup.procs"; exec "$2" 0.01' sh "$1" "$2" &
    "$3" 0.01 &
done
wait
"""


@live
def test_moved_while_records_are_read(check, lab):
    """A process joins a cgroup just after faultscope has read the record of the process. faultscope
    must not show the cgroup's name for another process."""
    mover, other = lab.dir / "mover", lab.dir / "other"
    for copy in (mover, other):
        shutil.copy(shutil.which("sleep"), copy)
    with unified_cgroup(lab) as group:
        watch = lab.watch("0.05", record=False)
        for _ in range(20):
            lab.call("sh", "-c", MOVERS, "sh", group, mover, other)
        lines = Lines(watch.stop().text)
    name = "/" + group.name
    inside = [line for line in lines.of("process", comm="mover") if line["cgroup"] == name]
    outside = [line for line in lines.of("process", comm="other")]
    check.that(inside, "nobody was seen in the cgroup")
    check.that(outside, "nobody was seen outside of it")
    wrong = [line for line in outside if line["cgroup"] == name]
    check.equal("lines of others with that cgroup", len(wrong), 0)


@live
def test_changed_from_outside(check, lab):
    """Limits and cgroup of a sleeping process are changed from outside, and the output shows the
    new values."""
    sleeper = lab.spawn(["sleep", "60"])
    until(lambda: proc_sleeps(sleeper.pid), "the process to sleep")
    with unified_cgroup(lab) as group:
        watch = lab.watch("-p", sleeper.pid, "0.1", record=False)

        def last():
            return Lines(watch.said().rpartition("\n")[0]).last(sleeper.pid)
        until(lambda: '"process"' in watch.said(), "its first line")
        lab.call("prlimit", "--pid", sleeper.pid, "--nofile=77:88")
        until(lambda: last()["fds"]["limit"] == 77, "the limit that was set")
        check.equal("hard limit", last()["fds"]["hard_limit"], 88)
        (group / "cgroup.procs").write_text(str(sleeper.pid), encoding="ascii")
        until(lambda: last()["cgroup"] == "/" + group.name, "the cgroup it was moved to")
        sleeper.kill()
        sleeper.wait()
        watch.stop()


@live
def test_moved_within_version_1(check, lab):
    """faultscope shows a change of the memory cgroup even if the memory controller is on cgroup
    version 1. Such a change does not change the version 2 cgroup id."""
    top = Path("/sys/fs/cgroup/memory")
    if not (top / "cgroup.procs").exists():
        raise Skip("no memory cgroup of version 1")
    sleeper = lab.spawn(["sleep", "60"])
    group = top / lab.dir.name
    group.mkdir()
    try:
        watch = lab.watch("-p", sleeper.pid, "0.1", record=False)

        def last():
            return Lines(watch.said().rpartition("\n")[0]).last(sleeper.pid)
        until(lambda: '"process"' in watch.said(), "its first line")
        (group / "cgroup.procs").write_text(str(sleeper.pid), encoding="ascii")
        until(lambda: last()["cgroup"] == "/" + group.name, "the cgroup it was moved to")
        watch.stop()
    finally:
        sleeper.kill()
        sleeper.wait()
        group.rmdir()


@live
def test_descriptors_before_exec(check, lab):
    """Until the command's child process calls exec, it has copies of faultscope's file descriptors.
    These copies do not count towards the peak of the command's file descriptors."""
    cpu = min(os.sched_getaffinity(0))
    # taskset binds `run` to one CPU: `run` then continues before the kernel has closed faultscope's
    # files at exec.
    for _ in range(5):
        ran = lab.call("sh", "-c", "ulimit -n 200; exec \"$@\"", "sh", "taskset", "-c", str(cpu),
                       FAULTSCOPE, "run", "--fail-on", "fds.peak>60%", "--", "sleep", "0.2")
        check.equal("status", ran.returncode, 0)


@live
def test_peak_under_its_own_limit(check, lab):
    """A peak is compared with the limit at the time of the peak, not with a limit that was lowered
    later."""
    script = ("import os, resource as r; fds = [os.open('/', 0) for _ in range(110)];"
              "[os.close(fd) for fd in fds]; r.setrlimit(r.RLIMIT_NOFILE, (40, 40));"
              "os.close(os.open('/', 0))")
    ran = lab.faultscope("run", "--fail-on", "fds.peak>60%", "--", sys.executable, "-c", script)
    said = [line for line in ran.err.splitlines() + ran.out.splitlines() if "fds.peak>60%" in line]
    check.that(said and said[0].startswith("pass"), f"gates: {said}")


IDLE = 300  # number of idle processes


@live
def test_kernel_memory_of_idle_processes(check, lab):
    """Each idle process adds at most 1 KiB to the kernel memory that faultscope shows."""
    def state_bytes():
        ran = lab.faultscope("doctor", "--no-calibrate", "--json")
        return json.loads(ran.out)["kernel_memory"]

    before = state_bytes()
    if not before["state_bytes"]:
        raise Skip("the state of processes is in hash tables")
    check.between("bytes of an idle process", before["idle_process_bytes"], 1, 1024)
    idle = [subprocess.Popen(["sleep", "1000"]) for _ in range(IDLE)]
    try:
        after = state_bytes()
    finally:
        for process in idle:
            process.kill()
            process.wait()
    check.between("bytes of all of them", after["state_bytes"],
                  IDLE * before["idle_process_bytes"], IDLE * 1024 + 2 * before["state_bytes"])
    check.that(after["maps_bytes"] > 0, "the BPF maps take memory")
