# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the Kubernetes manifests: kustomize renders them, and they request only the rights that
the exporter needs."""
import yaml
from deployed import DEPLOY, RUNBOOKS, borrowed, call, read_yaml
from harness import ROOT

PORT = 10435


def rendered(check, name):
    """Returns {kind: object} of an overlay that kustomize rendered."""
    ran = call(borrowed("kubectl"), "kustomize", DEPLOY / "kubernetes" / name)
    check.equal(f"{name}: status", (ran.returncode, ran.stderr), (0, ""))
    return {one["kind"]: one for one in yaml.safe_load_all(ran.stdout)}


def pod_of(objects):
    return objects["DaemonSet"]["spec"]["template"]["spec"]


def test_kustomize_renders_the_base(check):
    objects = rendered(check, "base")
    check.equal("kinds", set(objects), {"Namespace", "DaemonSet", "NetworkPolicy"})
    for kind in ("DaemonSet", "NetworkPolicy"):
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
