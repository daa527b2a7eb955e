# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the Kubernetes manifests: kustomize renders them, and they request only the rights that
the exporter needs."""
import os
import re
import shutil
import tempfile
from pathlib import Path

import yaml
from deployed import DEPLOY, RUNBOOKS, borrowed, call, read_yaml
from harness import FAULTSCOPE, ROOT, Skip, same_verdict

PORT = 10435


def rendered(check, name):
    """Returns {kind: object} of an overlay that kustomize rendered."""
    ran = call(borrowed("kubectl"), "kustomize", DEPLOY / "kubernetes" / name)
    check.equal(f"{name}: status", (ran.returncode, ran.stderr), (0, ""))
    return {one["kind"]: one for one in yaml.safe_load_all(ran.stdout)}


def with_components(check, place, components, resources=("base",)):
    """Returns the objects that kustomize renders for an overlay in the directory `place`."""
    shutil.copytree(DEPLOY / "kubernetes", place / "kubernetes", dirs_exist_ok=True)
    overlay = place / "kubernetes/overlay"
    overlay.mkdir(exist_ok=True)
    (overlay / "kustomization.yaml").write_text(yaml.safe_dump({
        "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
        "resources": [f"../{name}" for name in resources],
        "components": [f"../components/{name}" for name in components]}), encoding="utf-8")
    ran = call(borrowed("kubectl"), "kustomize", overlay)
    check.equal(f"{components}: status", (ran.returncode, ran.stderr), (0, ""))
    return list(yaml.safe_load_all(ran.stdout))


def pod_of(objects):
    return objects["DaemonSet"]["spec"]["template"]["spec"]


def test_kustomize_renders_the_base(check):
    objects = rendered(check, "base")
    check.equal("kinds", set(objects),
                {"Namespace", "DaemonSet", "NetworkPolicy", "ResourceQuota"})
    for kind in ("DaemonSet", "NetworkPolicy", "ResourceQuota"):
        check.equal(f"{kind}: namespace", objects[kind]["metadata"]["namespace"],
                    objects["Namespace"]["metadata"]["name"])
    for name in ("Role", "ClusterRole", "ServiceAccount"):
        check.that(name not in objects, f"it asks no API, and has a {name}")


def test_selectors_fit_the_pods(check):
    objects = rendered(check, "base")
    labels = objects["DaemonSet"]["spec"]["template"]["metadata"]["labels"]
    for where, wanted in (("DaemonSet", objects["DaemonSet"]["spec"]["selector"]),
                          ("NetworkPolicy", objects["NetworkPolicy"]["spec"]["podSelector"])):
        check.that(wanted["matchLabels"].items() <= labels.items(), f"{where}: {wanted}")


def test_own_pids_differs_from_the_base_in_names_alone(check):
    """The overlay own-pids differs from the base in two points: hostPID is missing, and
    --path.cgroupfs names a mount of the host's cgroups."""
    base, own = rendered(check, "base"), rendered(check, "own-pids")
    check.equal("hostPID", (pod_of(base).pop("hostPID"), pod_of(own).pop("hostPID")), (True, False))
    container = pod_of(own)["containers"][0]
    volume, mount = pod_of(own)["volumes"].pop(), container["volumeMounts"].pop()
    check.equal("volume", volume["hostPath"]["path"], "/sys/fs/cgroup")
    check.equal("mount", mount["name"], volume["name"])
    check.equal("argument", container["args"].pop(), f"--path.cgroupfs={mount['mountPath']}")
    check.that(base == own, "they differ in more")


# pages of OOM kills, and incidents, which outlive the pod
STORES = ("/var/lib/faultscope/oom", "/var/lib/faultscope/incidents")


def test_the_pod_has_two_capabilities_and_writes_only_its_store(check):
    for name in ("base", "own-pids"):
        pod = pod_of(rendered(check, name))
        check.equal("token", pod["automountServiceAccountToken"], False)
        for word in ("hostNetwork", "hostIPC", "serviceAccountName", "initContainers"):
            check.that(word not in pod, f"{word} is set")
        check.equal("containers", len(pod["containers"]), 1)
        container = pod["containers"][0]
        check.equal("security", container["securityContext"], {
            "privileged": False, "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
            "runAsUser": 0, "runAsGroup": 0, "seccompProfile": {"type": "RuntimeDefault"},
            "capabilities": {"drop": ["ALL"], "add": ["BPF", "PERFMON"]}})
        volumes = {one["name"] for one in pod["volumes"]}
        check.equal("mounts", {one["name"] for one in container["volumeMounts"]}, volumes)
        paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}
        for mount in container["volumeMounts"]:
            check.that(mount.get("readOnly") is True or paths[mount["name"]] in STORES,
                       f"{mount['name']} may be written")
        for path in paths.values():
            check.that(path in STORES or path.startswith(("/sys/", "/var/log/")),
                       f"{path} of the host is mounted")
        for volume in pod["volumes"]:
            path, kind = volume["hostPath"]["path"], volume["hostPath"]["type"]
            check.that(kind == "DirectoryOrCreate" or path == "/sys/fs/cgroup",
                       f"{path} must exist on each node")


def test_the_pod_runs_on_every_linux_node(check):
    pod = pod_of(rendered(check, "base"))
    quota = rendered(check, "base")["ResourceQuota"]["spec"]["scopeSelector"]["matchExpressions"]
    check.equal("priority", pod["priorityClassName"], "system-node-critical")
    check.equal("priority that the quota admits", quota[0]["values"], [pod["priorityClassName"]])
    check.equal("nodes", pod["nodeSelector"], {"kubernetes.io/os": "linux"})
    check.equal("taints", pod["tolerations"], [{"operator": "Exists"}])


def test_the_pod_has_bounds_and_probes(check):
    container = pod_of(rendered(check, "base"))["containers"][0]
    check.equal("bounds", (set(container["resources"]["requests"]),
                           set(container["resources"]["limits"])), ({"cpu", "memory"}, {"memory"}))
    paths = {name: container[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")}
    check.equal("probes", paths, {
        "livenessProbe": {"path": "/-/healthy", "port": "metrics"},
        "readinessProbe": {"path": "/-/ready", "port": "metrics"}})


def test_the_port_is_one_everywhere(check):
    container = pod_of(rendered(check, "base"))["containers"][0]
    check.equal("pod", container["ports"], [{"name": "metrics", "containerPort": PORT}])
    check.that(f"--web.listen-address=:{PORT}" in container["args"], container["args"])
    policy = rendered(check, "base")["NetworkPolicy"]["spec"]["ingress"][0]["ports"]
    check.equal("policy", policy, [{"protocol": "TCP", "port": "metrics"}])
    for path in ("prometheus/prometheus.yml", "systemd/faultscope-exporter.socket",
                 "container/Containerfile"):
        check.that(str(PORT) in (DEPLOY / path).read_text(encoding="utf-8"), path)


def test_image_and_version_are_the_builds(check):
    """The image tag is the Makefile's version."""
    version = next(line.split(":=")[1].strip() for line in
                   (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
                   if line.startswith("VERSION "))
    image = pod_of(rendered(check, "base"))["containers"][0]["image"]
    check.that(image.endswith(f"/faultscope:{version}"), image)


def test_prometheus_looks_for_what_the_pod_has(check):
    """Prometheus' configuration has the namespace, label and port of the manifests."""
    objects = rendered(check, "base")
    job = read_yaml(DEPLOY / "prometheus/kubernetes.yml")["scrape_configs"][0]
    check.equal("namespace", job["kubernetes_sd_configs"][0]["namespaces"]["names"],
                [objects["Namespace"]["metadata"]["name"]])
    kept = {one["source_labels"][0]: one["regex"] for one in job["relabel_configs"]
            if one.get("action") == "keep"}
    labels = objects["DaemonSet"]["spec"]["template"]["metadata"]["labels"]
    check.equal("what is kept", kept, {
        "__meta_kubernetes_pod_label_app_kubernetes_io_name": labels["app.kubernetes.io/name"],
        "__meta_kubernetes_pod_container_port_name":
            pod_of(objects)["containers"][0]["ports"][0]["name"]})
    check.that(f"-n {objects['Namespace']['metadata']['name']} " in
               (RUNBOOKS / "README.md").read_text(encoding="utf-8"), "the runbooks")


def objects_of(check, *components):
    with tempfile.TemporaryDirectory() as place:
        return {one["kind"]: one for one in with_components(check, Path(place), components)}


def test_the_state_of_runtimes_is_mounted_where_faultscope_reads_it(check):
    """The component mounts the directories that faultscope reads, and nothing may be written."""
    read = set(re.findall(r'{"(/[^"]+)"( TASKS)?', (
        ROOT / "src/collect/names/runtime_state.c").read_text(encoding="utf-8")))
    read = {(path + "io.containerd.runtime.v2.task" if tasks else path).rstrip("/")
            for path, tasks in read}
    base = {one["mountPath"]
            for one in pod_of(rendered(check, "base"))["containers"][0]["volumeMounts"]}
    pod = pod_of(objects_of(check, "runtime-state"))
    paths = {one["name"]: one["hostPath"]["path"] for one in pod["volumes"]}
    added = [one for one in pod["containers"][0]["volumeMounts"] if one["mountPath"] not in base]
    check.equal("number of mounts", len(added), 4)
    for one in added:
        check.that(one["mountPath"] in read, f"faultscope does not read {one['mountPath']}")
        check.equal("path of the host", paths[one["name"]], one["mountPath"])
        check.equal("read-only", one["readOnly"], True)


def test_openshift_admits_the_pod_and_nothing_more(check):
    objects = objects_of(check, "openshift")
    scc, pod = objects["SecurityContextConstraints"], pod_of(objects)
    container = pod["containers"][0]["securityContext"]
    account = objects["ServiceAccount"]["metadata"]
    check.equal("account", pod["serviceAccountName"], account["name"])
    check.equal("user", scc["users"],
                [f"system:serviceaccount:{account['namespace']}:{account['name']}"])
    check.equal("capabilities", (scc["allowedCapabilities"], scc["requiredDropCapabilities"]),
                (container["capabilities"]["add"], container["capabilities"]["drop"]))
    check.equal("hostPID", scc["allowHostPID"], pod["hostPID"])
    for name in ("HostIPC", "HostNetwork", "HostPorts", "PrivilegeEscalation",
                 "PrivilegedContainer"):
        check.equal(f"allow{name}", scc[f"allow{name}"], False)
    check.equal("volumes", set(scc["volumes"]), {"hostPath"})
    check.equal("SELinux", container["seLinuxOptions"], {"type": "spc_t"})


def test_monitors_select_the_pods(check):
    objects = objects_of(check, "podmonitor", "servicemonitor")
    labels = objects["DaemonSet"]["spec"]["template"]["metadata"]["labels"]
    pod, service = objects["PodMonitor"], objects["ServiceMonitor"]
    check.that(pod["spec"]["selector"]["matchLabels"].items() <= labels.items(), "PodMonitor")
    check.that(service["spec"]["selector"]["matchLabels"].items() <=
               objects["Service"]["metadata"]["labels"].items(), "ServiceMonitor")
    check.that(objects["Service"]["spec"]["selector"].items() <= labels.items(), "Service")
    scrape = read_yaml(DEPLOY / "prometheus/kubernetes.yml")["scrape_configs"][0]
    for monitor, endpoints in ((pod, "podMetricsEndpoints"), (service, "endpoints")):
        spec = monitor["spec"]
        endpoint = spec[endpoints][0]
        check.equal("job", labels[spec["jobLabel"]], scrape["job_name"])
        check.equal("limits", (spec["sampleLimit"], spec["labelLimit"], spec["labelNameLengthLimit"],
                               spec["labelValueLengthLimit"]),
                    tuple(scrape[name] for name in (
                        "sample_limit", "label_limit", "label_name_length_limit",
                        "label_value_length_limit")))
        check.equal("labels of the workload", endpoint["honorLabels"], scrape["honor_labels"])
        check.equal("port", endpoint["port"], "metrics")
        check.equal("instance", endpoint["relabelings"], [{
            "sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "instance"}])


def test_the_seccomp_profile_lets_faultscope_run(check):
    """Runs the program under the profile, as container runtimes install it."""
    profile = DEPLOY / "kubernetes/seccomp/faultscope.json"
    pod = pod_of(objects_of(check, "localhost-seccomp"))
    check.equal("profile", pod["containers"][0]["securityContext"]["seccompProfile"],
                {"type": "Localhost", "localhostProfile": profile.name})
    confined = (Path(__file__).with_name("confined.py"), profile)
    ran = call(*confined, "true")
    if ran.returncode == 77:
        raise Skip("libseccomp.so.2 is missing")
    check.equal("a program", (ran.returncode, ran.stderr), (0, ""))
    check.that("not implemented" in call(*confined, "unshare", "-U", "true").stderr,
               "a program makes a user namespace")
    if os.geteuid():
        raise Skip("needs root")
    for command in (("doctor", "--no-calibrate"), ("host", "-d", "1"), ("oom",), ("incidents",)):
        free, held = (call(*before, FAULTSCOPE, *command) for before in ((), confined))
        check.that(same_verdict(free, held),
                   f"{command}: status {held.returncode}, not {free.returncode}")
        check.equal(f"{command}: messages", held.stderr, free.stderr)
    free, held = (call(*before, FAULTSCOPE, "doctor", "--no-calibrate").stdout.splitlines()[1]
                  for before in ((), confined))
    check.equal("probes", held, free)
