# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the names of pods and containers. Each layout is a real cgroup with a real process, and the
files that the kubelet and the container runtime of that layout keep on the disk of a node."""

import itertools
import json
import shutil
import subprocess
import time
import uuid

from exporter import Exporter
from harness import ROOT, Skip, live
from test_workloads import AT_ONCE, Cgroups, any_mount, mounts, new_id, pid_namespace

# Directories of a node that the exporter reads names from. In a mount namespace of its own, the test
# replaces the machine's directories above them.
COVERED = ("var/log", "var/lib", "var/snap", "run")
COVER = """for dir in %s; do
    [ ! -d "/$dir" ] || mount --bind "$0/$dir" "/$dir" || exit 77
done
exec "$@" """ % " ".join(COVERED)

TASKS = "io.containerd.runtime.v2.task/k8s.io"
numbers = itertools.count()
LABEL = 200  # maximum length of a label's value in bytes
ROUNDS = 3  # number of comparisons of metrics that other programs may change


class Layout:
    """One pod or task: `path` is its container's cgroup, `files` are {path: text} of the node, and
    `want` are the labels of its workload."""

    def __init__(self, what, runtime="containerd", uid=None, container="app"):
        self.what, self.runtime, self.container = what, runtime, container
        self.number = next(numbers)
        self.uid, self.id = uid or str(uuid.uuid4()), new_id()
        self.namespace, self.pod = f"ns{self.number}", f"web{self.number}-7d9f8b6c5d-x2x9v"
        self.files, self.argv, self.path = {}, ("sleep", "1000"), None
        self.want = {"workload": f"{self.namespace}/web{self.number}/{container}", "kind": "pod",
                     "namespace": self.namespace, "pod": self.pod, "container": container,
                     "pod_uid": self.uid, "container_id": self.id, "cgroup": None}

    def at(self, pattern):
        self.path = pattern.format(uid=self.uid, under=self.uid.replace("-", "_"), id=self.id,
                                   outer=new_id())
        self.want["cgroup"] = self.path[:LABEL]
        return self

    # files of the kubelet

    def logs(self):
        self.files[f"var/log/containers/{self.pod}_{self.namespace}_{self.container}-{self.id}"
                   ".log"] = ""
        return self

    def log_dirs(self, *containers):
        for name in containers or (self.container,):
            self.files[f"var/log/pods/{self.namespace}_{self.pod}_{self.uid}/{name}/0.log"] = ""
        return self

    # files of runtimes

    def containerd_state(self, below="run/containerd", sandbox=False):
        told = {"io.kubernetes.cri.container-type": "sandbox" if sandbox else "container",
                "io.kubernetes.cri.sandbox-name": self.pod,
                "io.kubernetes.cri.sandbox-namespace": self.namespace,
                "io.kubernetes.cri.sandbox-uid": self.uid}
        if not sandbox:
            told["io.kubernetes.cri.container-name"] = self.container
        self.files[f"{below}/{TASKS}/{self.id}/config.json"] = json.dumps(
            {"ociVersion": "1.1.0", "process": {"args": ["x"], "env": ["A=\"annotations\""]},
             "annotations": told})
        return self

    def crio_state(self):
        self.files[f"run/containers/storage/overlay-containers/{self.id}/userdata/config.json"] = (
            json.dumps({"annotations": {
                "io.kubernetes.cri-o.Annotations": json.dumps({"io.kubernetes.pod.name": "no"}),
                "io.kubernetes.cri-o.ContainerType": "container",
                "io.kubernetes.container.name": self.container,
                "io.kubernetes.pod.name": self.pod, "io.kubernetes.pod.namespace": self.namespace,
                "io.kubernetes.pod.uid": self.uid}}))
        return self

    def docker_state(self, **labels):
        labels = labels or {
            "io.kubernetes.container.name": self.container, "io.kubernetes.pod.name": self.pod,
            "io.kubernetes.pod.namespace": self.namespace, "io.kubernetes.pod.uid": self.uid,
            "io.kubernetes.docker.type": "container"}
        self.files[f"var/lib/docker/containers/{self.id}/config.v2.json"] = json.dumps(
            {"Config": {"Labels": labels}, "Name": "/k8s_x"}, separators=(",", ":"))
        return self

    # what is no pod

    def no_pod(self, workload, **labels):
        self.want = {"workload": workload, "kind": "container", "namespace": "", "pod": "",
                     "container": "", "pod_uid": "", "container_id": self.id, "cgroup": self.path[:LABEL],
                     **labels}
        return self


def ecs_task(what, pattern, fargate=False):
    task = uuid.uuid4().hex
    one = Layout(what, uid=task)
    if fargate:
        one.id = f"{task}-{2495160603 + one.number}"
    one.at(pattern)
    if fargate:
        return one.no_pod(f"ecs/{task[:12]}/{one.id[33:45]}", pod_uid=task)
    family = f"cart{one.number}"
    one.docker_state(**{
        "com.amazonaws.ecs.container-name": "app",
        "com.amazonaws.ecs.task-arn": f"arn:aws:ecs:us-west-2:1:task/default/{task}",
        "com.amazonaws.ecs.task-definition-family": family})
    return one.no_pod(f"ecs/{family}/app", container="app", pod_uid=task)


def podman(lab):
    """Podman's monitor, conmon, has the name of a container in its command line."""
    one = Layout("podman").at("/machine.slice/libpod-{id}.scope/container")
    script = lab.dir / "monitor"
    script.write_text("sleep 1000 & wait\n", encoding="utf-8")
    one.argv = ("conmon", script, "-c", one.id, "-n", f"db{one.id[:8]}")
    return one.no_pod(f"podman/db{one.id[:8]}", container=f"db{one.id[:8]}")


def pause(lab):
    one = Layout("the sandbox of a pod", container="pause").at(
        "/kubepods/burstable/pod{uid}/{id}").log_dirs("app")
    program = lab.dir / "pause"
    shutil.copy(shutil.which("sleep"), program)
    one.argv = (program, "1000")
    return one


SLICE = "/kubepods.slice/kubepods-{qos}.slice/kubepods-{qos}-pod{{under}}.slice/"
BURSTABLE, BEST_EFFORT = (SLICE.format(qos=qos) for qos in ("burstable", "besteffort"))
GUARANTEED = "/kubepods.slice/kubepods-pod{under}.slice/"


def layouts(lab):
    return [
        Layout("kubelet with cgroupfs, containerd, Burstable").at(
            "/kubepods/burstable/pod{uid}/{id}").logs(),
        Layout("kubelet with cgroupfs, containerd, Guaranteed").at(
            "/kubepods/pod{uid}/{id}").log_dirs(),
        Layout("kubelet with systemd, containerd, BestEffort").at(
            BEST_EFFORT + "cri-containerd-{id}.scope").logs(),
        Layout("kubelet with systemd, containerd, Guaranteed, state of containerd").at(
            GUARANTEED + "cri-containerd-{id}.scope").containerd_state(),
        Layout("kubelet with systemd, CRI-O, Burstable, below the container's own cgroup").at(
            BURSTABLE + "crio-{id}.scope/container").crio_state(),
        Layout("kubelet with cgroupfs, CRI-O, BestEffort").at(
            "/kubepods/besteffort/pod{uid}/crio-{id}").logs(),
        Layout("kubelet with systemd, cri-dockerd").at(
            BURSTABLE + "docker-{id}.scope").docker_state(),
        Layout("kubelet with cgroupfs, cri-dockerd").at(
            "/kubepods/besteffort/pod{uid}/{id}").docker_state(),
        Layout("kind: the kubelet of a node that is a container").at(
            "/system.slice/docker-{outer}.scope/kubelet.slice/kubelet-kubepods.slice/"
            "kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod{under}.slice/"
            "cri-containerd-{id}.scope").containerd_state(),
        Layout("k3s").at("/kubepods/burstable/pod{uid}/{id}").containerd_state(
            "run/k3s/containerd").log_dirs("app", "sidecar"),
        Layout("k0s").at("/kubepods/besteffort/pod{uid}/{id}").containerd_state(
            "run/k0s/containerd"),
        Layout("a static pod: its UID is a hash", uid=uuid.uuid4().hex).at(
            BURSTABLE + "cri-containerd-{id}.scope").log_dirs(),
        Layout("containerd with cgroupfs, kubelet with systemd").at(
            "/system.slice/containerd.service/kubepods-burstable-pod{under}.slice:"
            "cri-containerd:{id}").logs(),
        Layout("the second container of a pod", container="sidecar").at(
            BURSTABLE + "cri-containerd-{id}.scope").log_dirs("app", "sidecar").containerd_state(),
        pause(lab),
        Layout("a sandbox that is not called pause", container="pause").at(
            GUARANTEED + "cri-containerd-{id}.scope").containerd_state(sandbox=True),
        ecs_task("Amazon ECS on EC2, cgroupfs", "/ecs/{uid}/{id}"),
        ecs_task("Amazon ECS on EC2, systemd",
                 "/ecstasks.slice/ecstasks-{uid}.slice/docker-{id}.scope"),
        ecs_task("Amazon ECS on Fargate", "/ecs/{uid}/{id}", fargate=True),
        podman(lab),
    ]


def write_node(root, rows):
    for directory in COVERED:
        (root / directory).mkdir(parents=True)
    for row in rows:
        for path, text in row.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")


def covering(lab, root):
    argv = [*lab.own_mounts, "sh", "-c", COVER, root]
    if lab.call(*argv, "true").returncode:
        raise Skip("no bind mounts")
    return argv


def start(groups, row):
    """Starts a row's process. Podman's container has its monitor as parent."""
    if row.argv[0] == "conmon":
        cgroup = groups.make(row.path)
        process = subprocess.Popen(row.argv, executable="/bin/sh", start_new_session=True)
        groups.running.append(process)
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        for _ in range(500):
            with open(children, encoding="ascii") as file:
                child = file.read().split()
            if child:
                break
            time.sleep(0.01)
        (cgroup / "cgroup.procs").write_text(child[0])
        return int(child[0])
    return groups.start(row.path, *row.argv).pid


def labels_of(samples, cgroup):
    found = [labels for name, labels, _ in samples.all
             if name == "faultscope_workload_info" and labels.get("cgroup") == cgroup[:LABEL]]
    return found[0] if found else {}


def check_names(check, lab, hierarchy, options=(), own=()):
    points = mounts()
    if hierarchy not in points:
        raise Skip(f"no {hierarchy} hierarchy that can be written to")
    rows = [row for row in layouts(lab) if not own or row.what != "podman"]
    write_node(lab.dir / "node", rows)
    groups, inner = Cgroups(points[hierarchy]), []
    try:
        argv = [*covering(lab, lab.dir / "node"), *own]
        for row in rows[::2]:
            inner.append(start(groups, row))
        exporter = Exporter(lab, *AT_ONCE, *options, argv=argv)
        for row in rows[1::2]:
            inner.append(start(groups, row))
        exporter.metrics()
        time.sleep(1.5)
        found = exporter.metrics()
        for row in rows:
            labels = labels_of(found, row.path)
            check.equal(f"{row.what} ({row.path})",
                        {name: labels.get(name) for name in row.want}, row.want)
            check.that(found.one("faultscope_mappings", workload=row.want["workload"]) > 0,
                       f"{row.what} has no mappings")
    finally:
        lab.call("kill", "-KILL", *inner)
        groups.clean()


@live
def test_pod_names_with_cgroups_of_version_1(check, lab):
    check_names(check, lab, "memory")


@live
def test_pod_names_with_cgroups_of_version_2(check, lab):
    check_names(check, lab, "unified")


@live
def test_pod_names_without_pids_of_the_node(check, lab):
    """In a pod without hostPID, the exporter knows only the IDs of cgroups."""
    points = mounts()
    if "unified" not in points:
        raise Skip("no cgroups of version 2")
    check_names(check, lab, "unified", ("--path.cgroupfs", points["unified"]), pid_namespace(lab))


@live
def test_pods_of_one_set_keep_common_labels(check, lab):
    """Two pods of one Deployment are one workload: only the labels in which both agree remain."""
    point = any_mount()
    pods = [Layout("pods of a set").at(BURSTABLE + "cri-containerd-{id}.scope") for _ in range(2)]
    for end, pod in zip("vw", pods):
        pod.namespace, pod.pod = "shop", f"cart-7d9f8b6c5d-x2x9{end}"
        pod.logs()
    write_node(lab.dir / "node", pods)
    groups = Cgroups(point)
    try:
        argv = covering(lab, lab.dir / "node")
        start(groups, pods[0])
        exporter = Exporter(lab, *AT_ONCE, argv=argv)
        exporter.metrics()
        time.sleep(1.5)
        one = labels_of(exporter.metrics(), pods[0].path)
        check.equal("one pod", (one.get("workload"), one.get("pod"), one.get("container")),
                    ("shop/cart/app", pods[0].pod, "app"))
        start(groups, pods[1])
        exporter.metrics()
        time.sleep(1.5)
        both = [labels for name, labels, _ in exporter.metrics().all
                if name == "faultscope_workload_info" and labels["workload"] == "shop/cart/app"]
        check.equal("two pods", both, [{
            "workload": "shop/cart/app", "kind": "pod", "namespace": "shop", "pod": "",
            "container": "app", "pod_uid": "", "container_id": "", "cgroup": ""}])
    finally:
        groups.clean()


@live
def test_processes_of_a_container(check, lab):
    """--container selects the processes of a container, by the ID that Kubernetes shows."""
    point = any_mount()
    pod = Layout("a pod").at(BURSTABLE + "cri-containerd-{id}.scope")
    groups = Cgroups(point)
    try:
        pids = {groups.start(pod.path, "sleep", "1000").pid for _ in range(2)}
        for name in (f"containerd://{pod.id}", pod.id[:12]):
            ran = lab.faultscope("diagnose", "--json", "--container", name, "-d", "0.5")
            check.equal(f"{name}: status", (ran.returncode, ran.err), (0, ""))
            check.equal(f"{name}: processes",
                        {one["pid"] for one in map(json.loads, ran.out.splitlines())
                         if one["type"] == "process"}, pids)
        for name, said in ((pod.id[::-1], "no process of this container"),
                           ("web", "expected the ID of a container")):
            ran = lab.faultscope("diagnose", "--container", name, "-d", "0.5")
            check.equal(f"{name}: status", ran.returncode, 2)
            check.that(said in ran.err, ran.err)
    finally:
        groups.clean()


@live
def test_exporter_under_the_seccomp_profile_of_kubernetes(check, lab):
    """The exporter shows the same metrics with and without the profile of deploy/kubernetes. A metric
    of rare events may be there in one of two scrapes, so the comparison is repeated."""
    runner = ROOT / "tests/deploy/confined.py"
    profile = ROOT / "deploy/kubernetes/seccomp/faultscope.json"
    if lab.call(runner, profile, "true").returncode == 77:
        raise Skip("libseccomp.so.2 is missing")
    differ = None
    for _ in range(ROUNDS):
        families = [{name for name, _, _ in Exporter(lab, *AT_ONCE, argv=argv).metrics().all
                     if not name.startswith("faultscope_incident")}
                    for argv in ((), (runner, profile))]
        now = families[0] ^ families[1]
        differ = now if differ is None else differ & now
        if not differ:
            break
    check.equal("metrics that differ in each round", differ, set())
    check.that(len(families[0]) > 20, f"only {sorted(families[0])}")
