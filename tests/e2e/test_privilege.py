# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Rights: what is given up once all is attached, what works on without them, what is said where
they lack, and what the kernel's settings of them change."""

import contextlib
import json
import os
import re
import shutil
import signal
import sys
from pathlib import Path

import test_hooks
from harness import (FAULTSCOPE, Lines, Skip, live, proc_fds, proc_maps, proc_text, until,
                     workload_path)
from test_errors import DONE, FAILED, NOT_PERMITTED, as_nobody, check_message

LOOKS = [["look=task-iterator"], ["look=iter/task"], ["look=/proc"], ["state=hash"]]
RUN_KEEPS = 1 << 5 | 1 << 19  # CAP_KILL, CAP_SYS_PTRACE: include/uapi/linux/capability.h
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def status_of(text):
    """The lines of a /proc/PID/status by their keys."""
    return dict(re.findall(r"^(\w+):\s*(.*)$", text, re.M))


def check_minor(check, what, line, truth):
    """The workload counts before it tells, which takes some faults more."""
    check.between(what, line["faults"]["minor"], truth["minflt"], truth["minflt"] + 15)


def check_touched(check, lines, truth):
    line = lines.final(truth["pid"])
    check_minor(check, "minor", line, truth)
    check.equal("major", line["faults"]["major"], truth["majflt"])
    check.equal("losses", lines.losses(), {})


# What is given up

def check_given_up(check, pid, kept=0):
    status = status_of(proc_text(pid, "status"))
    for name in SETS:
        check.equal(name, int(status[name], 16), kept if name in ("CapPrm", "CapEff") else 0)
    check.equal("no_new_privs", status["NoNewPrivs"], "1")


@live
def test_rights_are_given_up(check, lab):
    for options in ([], ["-p", str(os.getpid())]):
        watch = lab.watch("0.1", *options)
        check_given_up(check, watch.process.pid)
        capture = watch.stop()
        check.equal("status", capture.status, DONE)
        check.equal("standard error", capture.stderr, "")


@live
def test_run_keeps_what_passes_signals_on(check, lab):
    """A command that became another user still gets the signals that come for it. Beside that only
    the right to name user stacks by what the command maps is kept."""
    if not shutil.which("setpriv"):
        raise Skip("setpriv is missing")
    ready = lab.dir / "ready"
    os.mkfifo(ready)
    ran = lab.spawn([FAULTSCOPE, "run", "--", "sh", "-c",
                     f"exec 9>{ready}; exec setpriv --reuid 65534 --clear-groups sleep 60"])
    with open(ready, encoding="ascii"):
        until(lambda: int(status_of(proc_text(ran.pid, "status"))["CapPrm"], 16) == RUN_KEEPS,
              "all but CAP_KILL and CAP_SYS_PTRACE to be given up")
        child = int(proc_text(ran.pid, f"task/{ran.pid}/children"))
        until(lambda: proc_text(child, "comm") == "sleep\n", "the command as another user")
    check_given_up(check, ran.pid, RUN_KEEPS)
    ran.send_signal(signal.SIGTERM)
    err = ran.communicate(timeout=10)[1]
    check.equal("status", ran.returncode, -signal.SIGTERM)
    check.that("killed by SIGTERM" in err, f"summary: {err!r}")


@live
def test_command_of_run_keeps_its_rights(check, lab):
    mine = status_of(proc_text("self", "status"))
    ran = lab.faultscope("run", "--quiet", "--", "sh", "-c",
                         f"sleep 0.5; cat /proc/self/status; echo written >{lab.dir}/file")
    its = status_of(ran.out)
    for name in (*SETS, "NoNewPrivs", "Seccomp"):
        check.equal(name, its[name], mine[name])
    check.equal("what it wrote", (lab.dir / "file").read_text(), "written\n")


@live
def test_doctor_tells_rights(check, lab):
    told = lab.doctor()["privileges"]
    check.equal("kept", [one["capability"] for one in told["kept"]],
                ["cap_bpf"] if keeps_bpf() else [])
    check.equal("not given up", told["not_given_up"], None)
    text = lab.faultscope("doctor").out
    for word in ("privileges", "capabilities", "no_new_privs", "landlock", "kernel symbols"):
        check.that(word in text, f"{word} is not told")


# What works on

def look_options(look):
    return [word for one in look for word in ("--hook", one)]


def alike(path):
    """A program by its path, however the way there is named."""
    return path and os.path.realpath(path)


def check_newcomer(check, lab, look):
    """A process that comes when all rights are gone: its figures, its limits and its name."""
    watch = lab.watch("0.1", *look_options(look))
    work = lab.work("touch", "20000", "--hold")
    truth = work.truth()
    pid = work.pid
    until(lambda: Lines(whole(watch.said())).of("process", pid), f"a line of it with {look}")
    maps, fds = proc_maps(pid), proc_fds(pid)
    until(lambda: Lines(whole(watch.said())).last(pid)["faults"]["minor"] >= truth["minflt"],
          f"its faults with {look}")
    lines = Lines(watch.stop().text)
    work.end()
    line = lines.last(pid)
    check_minor(check, f"{look}: minor", line, truth)
    check.equal(f"{look}: maps", line["maps"]["count"], maps)
    check.equal(f"{look}: descriptors", line["fds"]["count"], fds)
    check.that(line["memory"]["rss_bytes"] > 0, f"{look}: no memory")
    check.equal(f"{look}: program", alike(line["exe"]), alike(workload_path("touch")))
    check.equal(f"{look}: losses", lines.losses(), {})


def whole(text):
    return text[:text.rfind("\n") + 1]


@live
def test_looks_without_rights(check, lab):
    here = {one["name"]: one["alternates"] for one in lab.doctor()["hooks"]}
    for look in LOOKS:
        hook, mechanism = look[0].split("=")
        if mechanism in here[hook]:
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
    """Of a script its interpreter, of a fork what its parent ran: all gone before a look."""
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


# Settings of the kernel

@contextlib.contextmanager
def sysctl(name, value):
    """A setting for a while; what was set before is set again, come what may."""
    path = Path("/proc/sys", *name.split("."))
    if not path.exists():
        raise Skip(f"this kernel has no {name}")
    was = path.read_text().strip()
    try:
        try:
            path.write_text(str(value))
        except OSError as error:
            raise Skip(f"{name} cannot be set to {value}: {error.strerror}") from error
        yield
    finally:
        path.write_text(was)


def keeps_bpf(disabled=None, release=None):
    """Whether this kernel refuses bpf(2) as a whole to those without rights."""
    if disabled is None:
        disabled = int(Path("/proc/sys/kernel/unprivileged_bpf_disabled").read_text())
    numbers = re.findall(r"\d+", release or os.uname().release)
    return disabled != 0 and (int(numbers[0]), int(numbers[1])) < (5, 19)


def check_bpf_disabled(check, lab, disabled, release):
    """With kernel.unprivileged_bpf_disabled set to that: exact, and no more is kept than needed.

    The lab may be one of tests/vm: there 1 can be tried too, which only a boot undoes.
    """
    capture = lab.run("touch", "20000")
    check.equal(f"status at {disabled}", capture.status, DONE)
    check.equal(f"standard error at {disabled}", capture.stderr, "")
    check_touched(check, Lines(capture.text), capture.truth)
    kept = {one["capability"]: one["why"] for one in lab.doctor()["privileges"]["kept"]}
    check.equal(f"kept at {disabled}", sorted(kept),
                ["cap_bpf"] if keeps_bpf(disabled, release) else [])
    for why in kept.values():
        check.that("unprivileged_bpf_disabled" in why, f"why at {disabled}: {why!r}")


@live
def test_unprivileged_bpf_disabled(check, lab):
    name = "kernel.unprivileged_bpf_disabled"
    if Path("/proc/sys", *name.split(".")).read_text().strip() == "1":
        raise Skip(f"{name} is 1, which cannot be undone")
    for value in (0, 2):
        with sysctl(name, value):
            check_bpf_disabled(check, lab, value, os.uname().release)
            ran = lab.call(*as_nobody(lab), lab.dir / "faultscope", "1", "1", cwd=lab.dir)
            check_message(check, ran, NOT_PERMITTED, "CAP_BPF", "CAP_PERFMON")


@live
def test_perf_event_paranoid(check, lab):
    for value in (-1, 0, 1, 2, 3):
        with sysctl("kernel.perf_event_paranoid", value):
            ran, lines, truth = test_hooks.run_with(lab, "--hook", "fault_end=perf_event")
            check.equal(f"status at {value}", ran.returncode, DONE)
            check_touched(check, lines, truth)
            hook = lines.all[0]["hooks"]["fault_end"]
            check.that("perf_event" in json.dumps(hook), f"at {value}: fault_end by {hook}")
            words = as_nobody(lab, "bpf", "perfmon")
            place = lab.dir / "for-all"
            place.mkdir(exist_ok=True)
            place.chmod(0o777)
            ran = lab.call(*words, lab.dir / "faultscope", "run", "--json", "-o",
                           place / f"out{value}", "--hook", "fault_end=perf_event", "--",
                           lab.dir / "touch", "20000", cwd=lab.dir)
            check.equal(f"status as nobody at {value}", ran.returncode, DONE)
            check_touched(check, Lines((place / f"out{value}").read_text()),
                                       json.loads(ran.out))


@live
def test_kptr_restrict(check, lab):
    """Addresses are named where the kernel shows them to us, long after our rights are gone."""
    for value in (0, 1, 2):
        with sysctl("kernel.kptr_restrict", value):
            watch = lab.watch("0.1")
            ran = lab.call(workload_path("kernelread"), "100")
            if ran.returncode:
                raise Skip(f"kernelread: {ran.err.strip()}")
            until(lambda: Lines(whole(watch.said())).of("kernel_fault"), "a kernel fault")
            capture = watch.stop()
            symbol = Lines(capture.text).of("kernel_fault")[0]["symbol"]
            check.equal(f"known at {value}", symbol is not None, value < 2)
            check.that(value == 2 or "copy_from_kernel_nofault" in symbol, f"symbol {symbol!r}")
            told = lab.faultscope("doctor", "--no-calibrate").out
            check.equal(f"doctor names kptr_restrict at {value}", "kptr_restrict hides them" in told,
                        value == 2)
            check.equal(f"as JSON at {value}", lab.doctor()["privileges"]["kernel_symbols"],
                        value < 2)


# Namespaces

def in_pid_namespace(lab, script):
    """Runs a shell script as the first process of a pid namespace with its own /proc."""
    probe = lab.call("unshare", "-p", "-f", "--mount-proc", "true")
    if probe.returncode:
        raise Skip(f"no pid namespace with a /proc of its own: {probe.err.strip()}")
    return lab.call("unshare", "-p", "-f", "--mount-proc", "sh", "-c", script)


@live
def test_target_in_pid_namespace(check, lab):
    """-p names a pid of the namespace; its figures are its own, not those of a namesake."""
    out = lab.dir / "out"
    ran = in_pid_namespace(lab, f"""
        {workload_path('touch')} 20000 --hold <{fifo(lab)} >{lab.dir}/truth & sleep 0.1
        until [ -s {lab.dir}/truth ]; do sleep 0.1; done
        echo $! $(awk '$1 == "NSpid:" {{print NF}}' /proc/$!/status)
        {FAULTSCOPE} --json -o {out} -p $! 0.2 2; echo status $?; kill $!""")
    inside = ran.out.split()[0]
    check.that("status 0" in ran.out, f"it said {ran.out!r} {ran.err!r}")
    truth = json.loads((lab.dir / "truth").read_text())
    lines = Lines(out.read_text())
    told = lines.of("process")
    if not check.that(told, "no line of the target"):
        return
    check.equal("processes told", len({line["pid"] for line in told}), 1)
    check.equal("the workload's own pid", str(truth["pid"]), inside)
    check.equal("comm", told[-1]["comm"], "touch")
    check.equal("program", alike(told[-1]["exe"]), alike(workload_path("touch")))
    check.that(told[-1]["memory"]["rss_bytes"] > 20000 * 4096, "not its memory")
    check.that(told[-1]["pid"] != truth["pid"], "the pid is not the initial namespace's")
    check.that(f"{inside} here is {told[-1]['pid']}" in ran.err, f"it does not say so: {ran.err!r}")


def fifo(lab):
    path = lab.dir / "never"
    os.mkfifo(path)
    lab.spawn(["sh", "-c", f"exec 9<>{path}; sleep 60"])
    return path


@live
def test_run_in_pid_namespace(check, lab):
    for options in ([], ["--hook", "state=hash"]):
        out = lab.dir / f"run{len(options)}"
        ran = in_pid_namespace(lab, f"{FAULTSCOPE} run --json -o {out} {' '.join(options)} -- "
                                    f"{workload_path('touch')} 20000")
        check.equal(f"{options}: status", ran.returncode, DONE)
        truth = json.loads(ran.out)
        lines = Lines(out.read_text())
        finals = lines.of("process", final=True)
        if check.equal(f"{options}: processes", len(finals), 1):
            check_minor(check, f"{options}: minor", finals[0], truth)
            check.equal(f"{options}: program", alike(finals[0]["exe"]),
                        alike(workload_path("touch")))
            check.that(finals[0]["pid"] != truth["pid"], "the pid is not the initial namespace's")


@live
def test_what_a_pid_namespace_cannot(check, lab):
    for options, words in ((["--hook", "look=/proc", "0.1", "1"], ["iterators", "--pid=host"]),
                           (["--hook", "state=hash", "-p", "1"], ["state", "outside of it"])):
        ran = in_pid_namespace(lab, " ".join([str(FAULTSCOPE), *options]))
        check_message(check, ran, 6, "pid namespace", *words)
    ran = lab.call("unshare", "-p", "-f", FAULTSCOPE, "-p", "1")
    check_message(check, ran, FAILED, "/proc", "--mount-proc")


@live
def test_user_namespace(check, lab):
    probe = lab.call("unshare", "-Ur", "true")
    if probe.returncode:
        raise Skip(f"no user namespace: {probe.err.strip()}")
    ran = lab.call("unshare", "-Ur", FAULTSCOPE, "1", "1")
    check_message(check, ran, NOT_PERMITTED, "user namespace", "CAP_BPF", "CAP_PERFMON", "try:")


# Filters of system calls

def filtered(lab, error, calls, *options):
    return lab.call(workload_path("filtered"), str(error), *calls, "--", FAULTSCOPE, *options)


@live
def test_bpf_refused_by_a_filter(check, lab):
    for error in (1, 13, 38):  # EPERM, EACCES, ENOSYS
        ran = filtered(lab, error, ["bpf"], "1", "1")
        check_message(check, ran, NOT_PERMITTED, "seccomp", "bpf(2)", os.strerror(error), "docker",
                      "systemd")


@live
def test_perf_events_refused_by_a_filter(check, lab):
    ran = filtered(lab, 1, ["perf_event_open"], "run", "--json", "-o", lab.dir / "out", "--",
                   workload_path("touch"), "20000")
    check.equal("status", ran.returncode, DONE)
    truth = json.loads(ran.out)
    line = Lines((lab.dir / "out").read_text()).final(truth["pid"])
    check_minor(check, "minor", line, truth)


@live
def test_dropping_refused_by_a_filter(check, lab):
    ran = filtered(lab, 1, ["capset"], "--json", "0.1", "2")
    check.equal("status", ran.returncode, DONE)
    check.equal("times it is said", ran.err.count("given up"), 1)
    check.that("capabilities: Operation not permitted" in ran.err, f"message {ran.err!r}")
    check.equal("looks", len({line["t"] for line in Lines(ran.out).of("end")}), 1)
    ran = filtered(lab, 38, ["landlock_create_ruleset"], "doctor", "--json")
    check.equal("standard error without landlock", ran.err, "")
    told = json.loads(ran.out)["privileges"]
    check.equal("ABI of landlock", told["landlock_abi"], 0)
    check.that("none" in told["landlock_off"], f"why: {told['landlock_off']!r}")


# Hidden processes

@live
def test_hidden_processes(check, lab):
    """/proc that shows nobody else's processes: to be read on, CAP_SYS_PTRACE is kept."""
    proc = lab.dir / "proc"
    proc.mkdir()
    script = ("mount --make-rprivate / 2>/dev/null; mount -t proc -o hidepid=2 none /proc || "
              f"exit 77; {FAULTSCOPE} doctor --json; status=$?; umount -l /proc; exit $status")
    ran = lab.call("unshare", "-m", "--propagation", "unchanged", "sh", "-c", script)
    if ran.returncode == 77:
        raise Skip(f"no /proc with hidepid: {ran.err.strip()}")
    told = json.loads(ran.out)["privileges"]
    check.that("cap_sys_ptrace" in [one["capability"] for one in told["kept"]], f"kept: {told}")
    check.that("CAP_SYS_PTRACE" in (told["landlock_off"] or ""), f"landlock: {told}")


# Control groups

def cgroup_mounts():
    """Mount points of the v1 memory controller and of v2."""
    found = {}
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup" and "memory" in options.split(","):
            found.setdefault("v1", Path(where))
        if kind == "cgroup2":
            found.setdefault("v2", Path(where))
    return found


@live
def test_cgroup_of_each_hierarchy(check, lab):
    mounts = cgroup_mounts()
    if not mounts:
        raise Skip("no control groups")
    for version, mount in mounts.items():
        name = f"faultscope-{lab.dir.name}"
        group = mount / name
        try:
            group.mkdir()
        except OSError as error:
            raise Skip(f"no control group can be made: {error.strerror}") from error
        work = lab.work("touch", "100", "--hold")
        try:
            work.truth()
            (group / "cgroup.procs").write_text(str(work.pid))
            lines = Lines(lab.watch("-p", str(work.pid), "0.1", "1").finished().text)
            check.equal(f"cgroup by {version}", lines.last(work.pid)["cgroup"], f"/{name}")
            lines = Lines(lab.watch("--cgroup", group, "0.1", "1").finished().text)
            check.equal(f"processes of the {version} cgroup",
                        {line["pid"] for line in lines.of("process")}, {work.pid})
        finally:
            work.end()
            until(lambda: not (group / "cgroup.procs").read_text(), "the end of its processes")
            group.rmdir()
