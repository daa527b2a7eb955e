# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests privileges. The tests check what faultscope drops once its probes are attached, and what
works afterwards. They also check the messages if rights are missing, and the effect of sysctls.
tests/vm/privilege.py runs most of these tests on other kernels."""

import contextlib
import json
import os
import re
import sys
from pathlib import Path

import test_hooks
from harness import MOST_TRIES, Lines, Skip, live, map_lines, quiet, status_by, until
from test_errors import (DONE, FAILED, KERNEL_LACKS, NOBODY, NOT_PERMITTED, call_as_nobody,
                         check_message)

# Maps each option for `scan` or `state` to the overhead levels at which its counts are exact.
# scan=/proc counts mappings through the probe `calls`, which level 3 enables.
LOOKS = {"scan=task-iterator": "0,1", "scan=iter/task": "0,1", "scan=/proc": "0,1,3",
         "state=hash": "0,1"}
# On an emulated CPU a start takes seconds, most of them in the verifier. To save time, tests that
# are not about probes attach only a few probes.
FEW = ("--overhead", "0,1", "--probe", "scan=iter/task")
# options that make `doctor` fast
BRIEFLY = ("--no-calibrate", "--overhead", "0", "--probe", "scan=iter/task")
CAP_SYS_PTRACE = 19  # from include/uapi/linux/capability.h
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
CAP_BPF, CAP_KILL = 39, 5
BPF_DISABLED = "kernel.unprivileged_bpf_disabled"


def status_of(text):
    """Returns {key: value} of the lines of /proc/PID/status."""
    return dict(re.findall(r"^(\w+):\s*(.*)$", text, re.M))


def check_minor(check, what, line, truth):
    """Compares minor faults. The workload prints its number of faults first; printing takes a few
    more faults."""
    check.between(what, line["faults"]["minor"], truth["minflt"], truth["minflt"] + 15)


def check_losses(check, what, lines):
    """Checks that no event was lost. Events that a busy kernel skipped (missed) are allowed."""
    check.equal(what, lines.losses().keys() - {"missed"}, set())


def check_touched(check, lines, truth):
    line = lines.final(truth["pid"])
    check_minor(check, "minor", line, truth)
    check.equal("major", line["faults"]["major"], truth["majflt"])
    check_losses(check, "losses", lines)


# Tests of privileges that are dropped

def check_given_up(check, status, kept=0):
    for name in SETS:
        check.equal(name, int(status[name], 16), kept if name in ("CapPrm", "CapEff") else 0)
    check.equal("no_new_privs", status["NoNewPrivs"], "1")


@live
def test_rights_are_given_up(check, lab):
    kept = 1 << CAP_BPF if keeps_bpf(lab) else 0
    work = lab.work("touch", "10", "--hold")
    for options in (FEW, ["-p", str(work.pid)]):
        watch = lab.watch("0.1", *options)
        check_given_up(check, status_of(lab.read(f"/proc/{watch.pid}/status")), kept)
        capture = watch.stop()
        check.equal("status", capture.status, DONE)
        check.equal("standard error", capture.stderr, "")


@live
def test_run_keeps_what_passes_signals_on(check, lab):
    """`run` passes signals to a command that runs as another user. To send these signals, `run`
    keeps CAP_KILL. To walk and name user stacks from the maps of the command, it keeps CAP_BPF and
    CAP_SYS_PTRACE."""
    asuser = lab.for_all(lab.workload("asuser"))
    ran = lab.call("sh", "-c", f"""
        {lab.program} run -- {asuser} {NOBODY} -- sleep 60 &
        until grep -q '^CapEff:.*0080020$' /proc/$!/status &&
              cat $(printf '/proc/%s/comm ' $(cat /proc/$!/task/$!/children)) | grep -q sleep; do
            sleep 0.1
        done
        cat /proc/$!/status; kill -TERM $!; wait $!; echo "ended: $?" """)
    status = status_of(ran.out)
    kept = 1 << CAP_KILL | 1 << CAP_SYS_PTRACE
    check_given_up(check, status, kept | (1 << CAP_BPF if walk_keeps_bpf(lab) else 0))
    check.equal("status of one killed by SIGTERM", status["ended"], "143")
    check.that("killed by SIGTERM" in ran.err, f"summary: {ran.err!r}")


@live
def test_command_of_run_keeps_its_rights(check, lab):
    mine = status_of(lab.call("cat", "/proc/self/status").out)
    ran = lab.faultscope("run", "--quiet", "--", "sh", "-c",
                         f"sleep 0.5; cat /proc/self/status; echo written >{lab.dir}/file")
    its = status_of(ran.out)
    for name in (*SETS, "NoNewPrivs", "Seccomp"):
        check.equal(name, its[name], mine[name])
    check.equal("what it wrote", lab.read(lab.dir / "file"), "written\n")


@live
def test_doctor_tells_rights(check, lab):
    told = lab.doctor(*BRIEFLY)["privileges"]
    check.equal("kept", [one["capability"] for one in told["kept"]],
                ["cap_bpf"] if keeps_bpf(lab) else [])
    check.equal("not given up", told["not_dropped"], None)
    text = lab.faultscope("doctor", *BRIEFLY).out
    for word in ("privileges", "capabilities", "no_new_privs", "landlock", "kernel symbols"):
        check.that(word in text, f"{word} is not told")


# Tests of what works without privileges

def alike(path):
    """Returns the path of a program with all links resolved."""
    return path and os.path.realpath(path)


def check_newcomer(check, lab, look):
    """Checks values, limits and name of a process that starts after faultscope dropped its rights.
    """
    watch = lab.watch("0.3", "--overhead", LOOKS[look], "--probe", look)
    work = lab.work("touch", "20000", "--hold")
    truth = work.truth()
    pid = work.pid
    maps = map_lines(lab.read(f"/proc/{pid}/maps"))
    fds = len(lab.call("ls", f"/proc/{pid}/fd").out.split())
    lines = Lines(watch.stop().text)
    work.end()
    line = lines.last(pid)
    check_minor(check, f"{look}: minor", line, truth)
    check.equal(f"{look}: maps", line["maps"]["count"], maps)
    check.equal(f"{look}: descriptors", line["fds"]["count"], fds)
    check.that(line["memory"]["rss_bytes"] > 0, f"{look}: no memory")
    check.equal(f"{look}: program", alike(line["exe"]), alike(lab.workload("touch")))
    check_losses(check, f"{look}: losses", lines)


@live
def test_looks_without_rights(check, lab):
    for look in LOOKS:
        if look != "scan=task-iterator" or version_of(lab) >= (6, 7):
            check_newcomer(check, lab, look)


PROGRAMS = """
import os, subprocess, sys
print(1, flush=True); sys.stdin.readline()
subprocess.run([sys.argv[1]], check=True)
middle = os.fork()
if not middle:
    if not os.fork():
        os._exit(0)
    os._exit(0)
os.waitpid(middle, 0)
subprocess.run(["/bin/true"], check=True)
"""


@live
def test_programs_of_brief_processes(check, lab):
    """A process may end before faultscope scans it. faultscope must still show its program. The
    program of a script is the interpreter. The program of a forked child that did not call exec is
    that of its parent."""
    script = lab.dir / "script"
    script.write_text("#!/bin/sh\n:\n")
    script.chmod(0o755)
    parent = lab.spawn([sys.executable, "-c", PROGRAMS, script], stdin=-1)
    parent.stdout.readline()
    watch = lab.watch("-p", str(parent.pid), "--children", "5")
    parent.communicate("\n", timeout=30)
    lines = Lines(watch.finished().text)
    told = [(line["comm"], alike(line["exe"])) for line in lines.of("process", final=True)]
    own = next(exe for _, exe in told if exe and "python" in exe)
    for want in (("script", os.path.realpath("/bin/sh")), ("true", os.path.realpath("/bin/true"))):
        check.that(want in told, f"{want} is not among {told}")
    check.equal("processes that run the parent's program", [exe for _, exe in told].count(own), 3)
    check.equal("processes without a name", [one for one in told if not one[1]], [])


# Tests of sysctls, which run alone, because the values apply to the whole machine

def path_of(name):
    return Path("/proc/sys", *name.split("."))


def setting(lab, name):
    try:
        return int(lab.read(path_of(name)))
    except FileNotFoundError:
        raise Skip(f"this kernel has no {name}") from None


@contextlib.contextmanager
def sysctl(lab, name, value):
    """Sets a sysctl inside the context and restores its value afterwards."""
    was = setting(lab, name)
    try:
        try:
            lab.write(path_of(name), value)
        except OSError as error:
            raise Skip(f"{name} cannot be set to {value}: {error}") from error
        yield
    finally:
        lab.write(path_of(name), was)


def version_of(lab):
    return tuple(int(number) for number in re.findall(r"\d+", lab.release)[:2])


def keeps_bpf(lab):
    """Returns whether faultscope must keep CAP_BPF, because this kernel allows bpf(2) only with
    that capability."""
    return setting(lab, BPF_DISABLED) != 0 and version_of(lab) < (5, 19)


def walk_keeps_bpf(lab):
    """Returns whether `run` and `diagnose` keep CAP_BPF. Stack walks with unwind tables (since Linux
    5.17) need new BPF maps for files that a process maps later."""
    return keeps_bpf(lab) or version_of(lab) >= (5, 17)


def check_bpf_disabled(check, lab):
    """Checks two things for the current value of kernel.unprivileged_bpf_disabled: counts are
    exact, and faultscope keeps no capability that it does not need."""
    disabled = setting(lab, BPF_DISABLED)
    ran, lines, truth = test_hooks.run_with(lab, *FEW)
    check.equal(f"status at {disabled}", ran.returncode, DONE)
    check.equal(f"standard error at {disabled}", ran.err, "")
    check_touched(check, lines, truth)
    told = lab.doctor(*BRIEFLY)["privileges"]["kept"]
    kept = {one["capability"]: one["why"] for one in told}
    check.equal(f"kept at {disabled}", sorted(kept),
                ["cap_bpf"] if keeps_bpf(lab) else [])
    for why in kept.values():
        check.that("unprivileged_bpf_disabled" in why, f"why at {disabled}: {why!r}")
    ran = call_as_nobody(lab, [], "1", "1")
    check_message(check, ran, NOT_PERMITTED, "CAP_BPF", "CAP_PERFMON")


@live
@quiet
def test_unprivileged_bpf_disabled(check, lab):
    if setting(lab, BPF_DISABLED) == 1:
        raise Skip(f"{BPF_DISABLED} is 1, which cannot be undone")
    for value in (0, 2):
        with sysctl(lab, BPF_DISABLED, value):
            check_bpf_disabled(check, lab)


def touch_as_nobody(check, lab, *options):
    """Runs a workload as nobody with CAP_BPF and CAP_PERFMON, and checks exact counts. Returns
    {probe: attach type}."""
    out = lab.new_place_for_all() / "out"
    for _ in range(MOST_TRIES):
        ran = call_as_nobody(lab, ["bpf", "perfmon"], "run", "--json", "-o", out, *options, "--",
                             lab.for_all(lab.workload("touch")), "20000")
        check.equal("status as nobody", ran.returncode, DONE)
        check.equal("standard error as nobody", ran.err, "")
        lines = Lines(lab.read(out))
        if "missed" not in lines.losses():
            break
    check_touched(check, lines, json.loads(ran.out))
    return lines.all[0]["probes"]


WITH_EVENTS = ("--overhead", "0,1,2", "--probe", "scan=iter/task", "--probe", "fault_end=perf_event")
PARANOID = "perf_event: kernel.perf_event_paranoid above 2 wants CAP_SYS_ADMIN (EACCES)"


def check_paranoid(check, lab, value, answers):
    """Checks how faultscope attaches `fault_end` when it runs as nobody with CAP_BPF and
    CAP_PERFMON. `answers` lists the accepted attach types and reasons."""
    with sysctl(lab, "kernel.perf_event_paranoid", value):
        told = touch_as_nobody(check, lab, *WITH_EVENTS)["fault_end"]
        check.that(told in answers, f"at {value} as nobody: fault_end {told!r}, not of {answers}")


def check_paranoid_of_root(check, lab, value):
    """Checks that kernel.perf_event_paranoid has no effect on root."""
    with sysctl(lab, "kernel.perf_event_paranoid", value):
        ran, lines, truth = test_hooks.run_with(lab, *WITH_EVENTS)
        check.equal(f"status at {value}", ran.returncode, DONE)
        check_touched(check, lines, truth)
        check.equal(f"fault_end at {value}", lines.all[0]["probes"]["fault_end"], "perf_event")


@live
@quiet
def test_perf_event_paranoid(check, lab):
    for value in (-1, 0, 1, 2):
        check_paranoid(check, lab, value, ["perf_event"])
    # kernels with Debian's patch restrict perf_event_open at value 3, other kernels do not
    check_paranoid(check, lab, 3, ["perf_event", PARANOID])
    check_paranoid_of_root(check, lab, 3)


@live
@quiet
def test_kptr_restrict(check, lab):
    """kptr_restrict has a value that shows kernel addresses. faultscope must then find the symbol
    of a kernel address, even long after it has dropped its rights."""
    for value in (0, 1, 2):
        with sysctl(lab, "kernel.kptr_restrict", value):
            watch = lab.watch("0.3", *FEW)
            ran = lab.call(lab.workload("kernelread"), "100")
            if ran.returncode:
                raise Skip(f"kernelread: {ran.err.strip()}")
            told = Lines(watch.stop().text).of("kernel_fault")
            if not check.that(told, f"no kernel fault at {value}"):
                continue
            symbol = told[0]["symbol"]
            check.equal(f"known at {value}", symbol is not None, value < 2)
            check.that(value == 2 or "copy_from_kernel_nofault" in symbol, f"symbol {symbol!r}")
            told = lab.doctor(*BRIEFLY)["privileges"]["kernel_symbols"]
            check.equal(f"doctor at {value}", told, value < 2)


def symbols_as_nobody(lab, *capabilities):
    """Returns what `doctor` says about kernel symbols to nobody with few capabilities."""
    ran = call_as_nobody(lab, ["bpf", "perfmon", *capabilities], "doctor", *BRIEFLY,
                         "--width", "200")
    return next((line.split("symbols", 1)[1].strip() for line in ran.out.splitlines()
                 if line.startswith("  kernel symbols")), f"nothing, but {ran.err!r}")


@live
@quiet
def test_symbols_without_rights(check, lab):
    """Tests who may see kernel symbols. If kptr_restrict is 0, everybody who may use perf events
    may see them. If it is 1, only processes with CAP_SYSLOG may see them."""
    known, hidden = "can be read", "hidden: CAP_SYSLOG is missing"
    for kptr, paranoid, capabilities, want in ((0, 1, [], known), (0, 2, [], hidden),
                                               (1, 1, [], hidden), (1, 2, ["syslog"], known),
                                               (2, 1, ["syslog"], "hidden by kernel.kptr_restrict")):
        with sysctl(lab, "kernel.kptr_restrict", kptr), \
                sysctl(lab, "kernel.perf_event_paranoid", paranoid):
            told = symbols_as_nobody(lab, *capabilities)
            check.that(told.startswith(want),
                       f"kptr_restrict {kptr}, perf_event_paranoid {paranoid}, {capabilities}:"
                       f" {told!r}, not {want!r}")


# Tests of namespaces

def in_pid_namespace(lab, script):
    """Runs a shell script as the first process of a pid namespace with its own /proc."""
    probe = lab.call("unshare", "-p", "-f", "--mount-proc", "true")
    if probe.returncode:
        raise Skip(f"no pid namespace with a /proc of its own: {probe.err.strip()}")
    return lab.call("unshare", "-p", "-f", "--mount-proc", "sh", "-c", script)


@live
def test_target_in_pid_namespace(check, lab):
    """In a pid namespace, -p takes a pid of the namespace, and shows that process."""
    out = lab.dir / "out"
    ran = in_pid_namespace(lab, f"""
        mkfifo {lab.dir}/never; exec 9<>{lab.dir}/never
        {lab.workload('touch')} 20000 --hold <&9 >{lab.dir}/truth & sleep 0.1
        until [ -s {lab.dir}/truth ]; do sleep 0.1; done
        echo $!
        {lab.program} --json -o {out} -p $! 0.2 2; echo status $?; kill $!""")
    inside = ran.out.split()[0]
    if version_of(lab) < (5, 17):
        check.that("status 6" in ran.out, f"it said {ran.out!r} {ran.err!r}")
        check.that("pid namespace" in ran.err and "5.17" in ran.err, f"message {ran.err!r}")
        return
    check.that("status 0" in ran.out, f"it said {ran.out!r} {ran.err!r}")
    truth = json.loads(lab.read(lab.dir / "truth"))
    lines = Lines(lab.read(out))
    told = lines.of("process")
    if not check.that(told, "no line of the target"):
        return
    check.equal("processes told", len({line["pid"] for line in told}), 1)
    check.equal("the workload's own pid", str(truth["pid"]), inside)
    check.equal("comm", told[-1]["comm"], "touch")
    check.equal("program", alike(told[-1]["exe"]), alike(lab.workload("touch")))
    check.that(told[-1]["memory"]["rss_bytes"] > 20000 * 4096, "not its memory")
    check.that(told[-1]["pid"] != truth["pid"], "the pid is not the initial namespace's")
    check.that(f"{inside} here is {told[-1]['pid']}" in ran.err, f"it does not say so: {ran.err!r}")


@live
def test_run_in_pid_namespace(check, lab):
    for options in ([], ["--probe", "state=hash"]):
        out = lab.dir / f"run{len(options)}"
        ran = in_pid_namespace(lab, f"{lab.program} run --json -o {out} {' '.join(options)} -- "
                                    f"{lab.workload('touch')} 20000")
        check.equal(f"{options}: status", ran.returncode, DONE)
        truth = json.loads(ran.out)
        lines = Lines(lab.read(out))
        finals = lines.of("process", final=True)
        if check.equal(f"{options}: processes", len(finals), 1):
            check_minor(check, f"{options}: minor", finals[0], truth)
            check.equal(f"{options}: program", alike(finals[0]["exe"]),
                        alike(lab.workload("touch")))
            check.that(finals[0]["pid"] != truth["pid"], "the pid is not the initial namespace's")


@live
def test_what_a_pid_namespace_cannot(check, lab):
    for options, words in ((["--probe", "scan=/proc", "0.1", "1"], ["iterators", "--pid=host"]),
                           (["--probe", "state=hash", "-p", "1"], ["task storage", "outside of the namespace"])):
        ran = in_pid_namespace(lab, " ".join([str(lab.program), *options]))
        check_message(check, ran, KERNEL_LACKS, "pid namespace", *words)
    ran = lab.call("unshare", "-p", "-f", lab.program, "-p", "1")
    check_message(check, ran, FAILED, "/proc", "--mount-proc")


@live
def test_user_namespace(check, lab):
    probe = lab.call("unshare", "-Ur", "true")
    if probe.returncode:
        raise Skip(f"no user namespace: {probe.err.strip()}")
    ran = lab.call("unshare", "-Ur", lab.program, "1", "1")
    check_message(check, ran, NOT_PERMITTED, "user namespace", "CAP_BPF", "CAP_PERFMON", "try:")


# Tests of system call filters

def filtered(lab, error, calls, *options):
    return lab.call(lab.workload("filtered"), str(error), *calls, "--", lab.program, *options)


@live
def test_bpf_refused_by_a_filter(check, lab):
    for error in (1, 13, 38):  # errno values EPERM, EACCES, ENOSYS
        ran = filtered(lab, error, ["bpf"], "1", "1")
        check_message(check, ran, NOT_PERMITTED, "seccomp", "bpf(2)", os.strerror(error), "docker",
                      "systemd")


@live
def test_perf_events_refused_by_a_filter(check, lab):
    ran = filtered(lab, 1, ["perf_event_open"], "run", "--json", "-o", lab.dir / "out", "--",
                   lab.workload("touch"), "20000")
    truth = json.loads(ran.out)
    lines = Lines(lab.read(lab.dir / "out"))
    check.equal("status", ran.returncode, status_by(lines))
    check_minor(check, "minor", lines.final(truth["pid"]), truth)


@live
def test_dropping_refused_by_a_filter(check, lab):
    ran = filtered(lab, 1, ["capset"], "--json", "0.1", "2")
    check.equal("status", ran.returncode, DONE)
    check.equal("times it is said", ran.err.count("more privileges than necessary"), 1)
    check.that("capabilities: Operation not permitted" in ran.err, f"message {ran.err!r}")
    check.equal("looks", len({line["t"] for line in Lines(ran.out).of("end")}), 1)
    ran = filtered(lab, 38, ["landlock_create_ruleset"], "doctor", "--json", *BRIEFLY)
    check.equal("standard error without landlock", ran.err, "")
    told = json.loads(ran.out)["privileges"]
    check.equal("ABI of landlock", told["landlock_abi"], 0)
    check.that("none" in told["landlock_off"], f"why: {told['landlock_off']!r}")


# Tests of hidden processes

@live
def test_hidden_processes(check, lab):
    """With hidepid=2, /proc hides the processes of other users. faultscope keeps CAP_SYS_PTRACE,
    with which it can still read the /proc files of these processes."""
    script = ("mount --make-rprivate / 2>/dev/null; mount -t proc -o hidepid=2 none /proc || "
              f"exit 77; {lab.program} doctor --json {' '.join(BRIEFLY)}; status=$?; umount -l /proc; exit $status")
    ran = lab.call(*lab.own_mounts, "sh", "-c", script)
    if ran.returncode == 77:
        raise Skip(f"no /proc with hidepid: {ran.err.strip()}")
    if not check.that(ran.out, f"it said {ran.err!r}"):
        return
    told = json.loads(ran.out)["privileges"]
    check.that("cap_sys_ptrace" in [one["capability"] for one in told["kept"]], f"kept: {told}")
    check.that("CAP_SYS_PTRACE" in (told["landlock_off"] or ""), f"landlock: {told}")


# Tests of control groups

def cgroup_mounts(lab):
    """Returns the mount points of those cgroup hierarchies that can identify a process. These are
    cgroup v2 and some v1 hierarchies. The preferred one is first."""
    found = {}
    for line in lab.read("/proc/mounts").splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup2":
            found.setdefault("v2", where)
        for controller in {"memory", "pids"} & set(options.split(",")) if kind == "cgroup" else ():
            found.setdefault(controller, where)
    return found


@contextlib.contextmanager
def cgroup(lab, mount):
    """Makes a cgroup in a hierarchy for the duration of the context."""
    group = f"{mount}/faultscope-{lab.dir.name}"
    made = lab.call("mkdir", group)
    if made.returncode:
        raise Skip(f"no control group can be made: {made.err.strip()}")
    try:
        yield group
    finally:
        until(lambda: not lab.read(f"{group}/cgroup.procs"), "the end of its processes")
        lab.call("rmdir", group)


def check_cgroup(check, lab, what, mount):
    """Checks that faultscope shows a process with its cgroup, and finds the process by --cgroup. The
    cgroup is neither a unit nor a container, so the workload has the name of the program."""
    with cgroup(lab, mount) as group:
        name = group.rpartition("/")[2]
        work = lab.work("touch", "100", "--hold")
        try:
            work.truth()
            lab.write(f"{group}/cgroup.procs", work.pid)
            ran = lab.faultscope("--json", *FEW, "--cgroup", group, "0.1", "1")
            told = {(line["pid"], line["cgroup"], line["workload"])
                    for line in Lines(ran.out).of("process")}
            check.equal(f"processes of the cgroup of {what}", told,
                        {(work.pid, f"/{name}", "touch")})
        finally:
            work.end()


@live
def test_cgroup_of_each_hierarchy(check, lab):
    mounts = cgroup_mounts(lab)
    if not mounts:
        raise Skip("no control groups")
    if "memory" in mounts:
        # If several v1 hierarchies exist, faultscope takes cgroup names from the hierarchy of the
        # memory controller.
        mounts.pop("pids", None)
    for what, mount in mounts.items():
        check_cgroup(check, lab, what, mount)
