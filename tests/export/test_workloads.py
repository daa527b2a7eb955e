# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests real processes in cgroups that are named like those of container runtimes. Each process
must get the right workload name."""

import contextlib
import os
import subprocess
import time
import uuid
from pathlib import Path

from exporter import FAULTSCOPE, PATIENCE, Exporter, Samples, until
from harness import Skip, live, proc_maps
from test_errors import as_nobody
from test_figures import label_of, named

AT_ONCE = ("--workload.min-age", "1s", "--limit.workloads", "4000", "--limit.series", "1000000")


def mounts():
    """Returns {"unified" or controller: mount point} of the writable cgroup hierarchies."""
    found = {}
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        left, right = line.split(" - ", 1)
        kind, _, options = right.split(" ", 2)
        point = left.split()[4]
        if kind == "cgroup2":
            found["unified"] = Path(point)
        elif kind == "cgroup":
            for option in options.split(","):
                found.setdefault(option, Path(point))
    return {name: path for name, path in found.items() if os.access(path, os.W_OK)}


def any_mount():
    """Returns the mount point of a writable cgroup hierarchy."""
    points = mounts()
    point = points.get("memory") or points.get("unified")
    if not point:
        raise Skip("no hierarchy that can be written to")
    return point


def new_id():
    """Returns a new ID of a container."""
    return uuid.uuid4().hex + uuid.uuid4().hex


class Cgroups:
    """Cgroup directories in one hierarchy, and processes in these cgroups. Both are removed at the
    end."""

    def __init__(self, root):
        self.root = root
        self.made = []
        self.running = []

    def make(self, path):
        at = self.root
        for part in path.strip("/").split("/"):
            at = at / part
            if not at.exists():
                at.mkdir()
                self.made.append(at)
        return at

    def start(self, path, *argv):
        procs = self.make(path) / "cgroup.procs"
        process = subprocess.Popen(argv, preexec_fn=lambda: procs.write_text(str(os.getpid())))
        self.running.append(process)
        return process

    def clean(self):
        for process in self.running:
            process.kill()
            process.wait(PATIENCE)
        for path in reversed(self.made):
            with contextlib.suppress(FileNotFoundError):
                until(lambda: removed(path), f"{path} to be empty")


def removed(path):
    try:
        path.rmdir()
    except OSError:
        return False
    return True


def layouts():
    """Returns unique cgroup paths, each with the workload name that its processes should get."""
    def one():
        return new_id(), str(uuid.uuid4())

    rows = []
    for pattern, name in (
            ("/docker/{id}", "docker/{short}"),
            ("/system.slice/docker-{id}.scope", "docker/{short}"),
            ("/kubepods/burstable/pod{pod}/{id}", "pod/{pod}/{short}"),
            ("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{under}.slice/"
             "cri-containerd-{id}.scope", "pod/{pod}/{short}"),
            ("/kubepods.slice/kubepods-pod{under}.slice/crio-{id}.scope", "pod/{pod}/{short}"),
            ("/machine.slice/libpod-{id}.scope/container", "podman/{short}"),
            ("/lxc.payload.flt{short}/init.scope", "lxc/flt{short}"),
            ("/system.slice/flt{short}.service", "flt{short}.service"),
            ("/user.slice/user-64999.slice/session-9{number}.scope", "user-64999.slice"),
            ("/user.slice/user-64999.slice/user@64999.service/app.slice/app-flt{short}-4211.scope",
             "user@64999/app-flt{short}-#.scope")):
        ident, pod = one()
        words = {"id": ident, "short": ident[:12], "pod": pod, "under": pod.replace("-", "_"),
                 "number": int(ident[:4], 16)}
        rows.append((pattern.format(**words), name.format(**words)))
    return rows


def check_layouts(check, lab, hierarchy):
    points = mounts()
    if hierarchy not in points:
        raise Skip(f"no {hierarchy} hierarchy that can be written to")
    groups = Cgroups(points[hierarchy])
    try:
        rows = layouts()
        for path, _ in rows[::2]:
            # this cgroup and its process exist before the exporter starts
            groups.start(path, "sleep", "1000")
        exporter = Exporter(lab, *AT_ONCE)
        for path, _ in rows[1::2]:
            groups.start(path, "sleep", "1000")
        exporter.metrics()
        time.sleep(1.5)
        found = exporter.metrics()
        names = found.values("faultscope_worst_process_mappings", "workload")
        for path, name in rows:
            check.that(name in names, f"{path}: no {name}")
            check.that(names.get(name, 0) > 0, f"{name} has no mappings")
        kinds = {labels["workload"]: labels["kind"] for metric, labels, _ in found.all
                 if metric == "faultscope_workload_info"}
        for _, name in rows:
            want = ("pod" if name.startswith("pod/") else "session" if "slice" in name else "unit"
                    if name.endswith(("service", "scope")) else "container")
            check.equal(name, kinds.get(name), want)
    finally:
        groups.clean()


@live
def test_workloads_of_version_1(check, lab):
    check_layouts(check, lab, "memory")


@live
def test_workloads_of_version_2(check, lab):
    check_layouts(check, lab, "unified")


@live
def test_short_lived_cgroups(check, lab):
    """If a process and its cgroup both end before a scrape, the process is still counted under the
    name of the workload."""
    point = any_mount()
    container = new_id()
    name = "docker/" + container[:12]
    exporter = Exporter(lab, *AT_ONCE)
    exporter.metrics()

    def lives():
        groups = Cgroups(point)
        try:
            assert groups.start("/docker/" + container, "true").wait(PATIENCE) == 0
        finally:
            groups.clean()

    for _ in range(16):
        lives()
        time.sleep(0.1)
    exporter.metrics()
    lives()
    faults = exporter.metrics().values("faultscope_page_faults_total", "type", workload=name)
    check.that(faults.get("minor", 0) > 50, f"{name}: {faults}")


# Script that runs a program with hidepid=2, so that /proc shows only the program's own processes.
HIDING = """mount --make-rprivate /proc && mount -t proc -o hidepid=2 none /proc || exit 77
exec "$@" """


def lose_a_look(lab, exporter):
    """Lowers RLIMIT_NOFILE so that the exporter can accept a connection, but its scan fails.
    Returns the samples of the failed scrape."""
    connection = exporter.connect()
    # the request only opens the connection; its answer does not matter
    connection.request("GET", "/healthy")
    connection.getresponse().read()
    numbers = {int(name) for name in os.listdir(f"/proc/{exporter.pid}/fd")}
    free = min(set(range(len(numbers) + 1)) - numbers)
    ran = lab.call(*as_nobody(lab), "prlimit", "--pid", exporter.pid, f"--nofile={free}:")
    assert ran.returncode == 0, ran.err
    time.sleep(0.11)
    connection.request("GET", "/metrics")
    samples = Samples(connection.getresponse().read().decode())
    connection.close()
    return samples


@live
def test_hidden_is_not_gone(check, lab):
    """After events were lost, the exporter checks which processes have ended. It does not use /proc
    for this check, because hidepid may hide living processes."""
    hiding = [*lab.own_mounts, "sh", "-c", HIDING, "sh"]
    if lab.call(*hiding, "true").returncode == 77:
        raise Skip("no /proc with hidepid")
    exporter = Exporter(lab, "--probe", "lifecycle=none", "--probe", "scan=iter/task",
                        "--workload.min-age", "0", program=lab.for_all(FAULTSCOPE),
                        argv=[*hiding, *as_nobody(lab, "bpf", "perfmon")])
    big = named(lab, "fs-hidden", "mapleak", "5000", "--hold")
    big.truth()
    small = named(lab, "fs-hidden", "mapleak", "100", "--hold")
    small.truth()
    label = label_of(exporter.metrics(), "fs-hidden")
    small.process.kill()
    small.process.wait()
    check.equal("without last records", exporter.metrics().of("faultscope_mappings",
                                                              workload=label),
                [proc_maps(big.pid)])
    missed = exporter.metrics().one("faultscope_events_dropped_total", buffer="missed")
    samples = lose_a_look(lab, exporter)
    check.that(samples.one("faultscope_events_dropped_total", buffer="missed") > missed,
               "nothing was lost")
    check.equal("who is there", samples.of("faultscope_mappings", workload=label),
                [proc_maps(big.pid)])


def pid_namespace(lab):
    """Returns a command prefix that runs a program in a new pid namespace with its own /proc."""
    own = ["unshare", "-p", "-f", "--kill-child", "--mount-proc"]
    probe = lab.call(*own, "true")
    if probe.returncode:
        raise Skip(f"no pid namespace with a /proc of its own: {probe.err.strip()}")
    return own


@live
def test_pid_namespace(check, lab):
    """In a container without the host's pids, the exporter still sees the host's processes and
    their end."""
    own = pid_namespace(lab)
    for options in ((), ("--probe", "lifecycle=none")):
        exporter = Exporter(lab, "--workload.min-age", "0", *options, argv=own)
        if exporter.metrics().of("faultscope_probe_info", probe="scan", attach_type="iter/task"):
            raise Skip("this kernel's look is that of the namespace (see below)")
        outside = named(lab, "fs-outside", "mapleak", "3000", "--hold")
        outside.truth()
        samples = exporter.metrics()
        check.equal(f"{options}: outside", samples.of("faultscope_mappings", workload="fs-outside"),
                    [proc_maps(outside.pid)])
        check.equal(f"{options}: processes", collects(samples), 1)
        outside.process.kill()
        outside.process.wait()
        time.sleep(0.11)  # scrapes within 0.1 s share one collection
        check.equal(f"{options}: once it has ended",
                    exporter.metrics().of("faultscope_mappings", workload="fs-outside"), [0])


@live
def test_pid_namespace_of_its_own(check, lab):
    """If the task iterator sees only its own pid namespace, the exporter says that it cannot see
    other processes."""
    own = pid_namespace(lab)
    look = ("--probe", "scan=iter/task")
    check.equal("outside", collects(Exporter(lab, *look).metrics()), 1)
    exporter = Exporter(lab, "--workload.min-age", "0", *look, argv=own)
    named(lab, "fs-unseen", "mapleak", "3000", "--hold").truth()
    samples = exporter.metrics()
    check.equal("who is outside", samples.of("faultscope_mappings", workload="fs-unseen"), [])
    check.equal("processes", collects(samples), 0)
    check.that("--pid=host" in exporter.said(), f"it said {exporter.said()!r}")
    ran = lab.call(*own, FAULTSCOPE, "doctor", "--no-calibrate", *look)
    check.that("--pid=host" in " ".join(ran.out.split()), "doctor does not say it")


def collects(samples):
    return samples.one("faultscope_collector_enabled", collector="processes")


@live
def test_pid_namespace_with_cgroups(check, lab):
    """With the host's cgroups mounted, an exporter in a container can name workloads that started
    before the exporter."""
    own = pid_namespace(lab)
    point = lab.dir / "cgroup2"
    point.mkdir()
    if lab.call("mount", "-t", "cgroup2", "none", point).returncode:
        raise Skip("no cgroups of version 2")
    groups = Cgroups(point)
    try:
        idents = [new_id() for _ in range(2)]
        paths = [f"/fs-{ident[:8]}/docker-{ident}.scope" for ident in idents]
        groups.start(paths[0], "sleep", "infinity")
        exporter = Exporter(lab, "--workload.min-age", "0", "--path.cgroupfs", point, argv=own)
        groups.start(paths[1], "sleep", "infinity")
        samples = exporter.metrics()
        for ident, path in zip(idents, paths):
            check.equal("one there before, one later", samples.of(
                "faultscope_workload_info", workload="docker/" + ident[:12], kind="container",
                cgroup=path), [1])
        wrong = Exporter(lab, "--path.cgroupfs", lab.dir, argv=own)
        check.that("no cgroup version 2 hierarchy there" in wrong.said(), wrong.said())
    finally:
        groups.clean()
        lab.call("umount", "-l", point)
