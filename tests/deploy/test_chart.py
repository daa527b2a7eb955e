# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the Helm chart: helm renders what kustomize renders, for each component and for all."""
import sys
import tempfile
from pathlib import Path

import chart
import yaml
from deployed import DEPLOY, accepts, borrowed, call
from harness import ROOT
from test_kubernetes import with_components

CHART = DEPLOY / "helm/faultscope"
NAMESPACE = "faultscope"


def helm(check, *options, namespace=NAMESPACE):
    ran = call(borrowed("helm"), "template", "release", CHART, "--namespace", namespace, *options)
    check.equal(f"helm {options}: status", ran.returncode, 0)
    check.equal(f"helm {options}: warnings", ran.stderr, "")
    return [one for one in yaml.safe_load_all(ran.stdout) if one]


def by_name(objects):
    """Returns {(kind, name): object}. The namespace is no part of the chart: helm makes it. Its
    imagePullPolicy is the default of a tag other than latest."""
    found = {}
    for one in objects:
        if one["kind"] == "DaemonSet":
            one["spec"]["template"]["spec"]["containers"][0].pop("imagePullPolicy", None)
        if one["kind"] != "Namespace":
            found[one["kind"], one["metadata"]["name"]] = one
    return found


def compare(check, components):
    with tempfile.TemporaryDirectory() as place:
        wanted = by_name(with_components(check, Path(place), components))
    switches = [chart.SWITCHES[name][0] for name in components]
    found = by_name(helm(check, *(word for switch in switches
                                  for word in ("--set", f"{switch}=true"))))
    check.equal(f"{components}: objects", found.keys(), wanted.keys())
    for name in wanted:
        check.equal(f"{components}: {name}", found.get(name), wanted[name])


def test_the_chart_is_made_from_the_kustomize_files(check):
    ran = call(sys.executable, ROOT / "tools/chart.py", "--check")
    check.equal("status", (ran.returncode, ran.stderr), (0, ""))
    there = {path.name for path in (DEPLOY / "kubernetes/components").iterdir()}
    check.equal("components", set(chart.SWITCHES), there)


def test_helm_renders_what_kustomize_renders(check):
    compare(check, ())
    for component in chart.SWITCHES:
        compare(check, (component,))
    compare(check, tuple(chart.SWITCHES))


def test_values_change_the_chart(check):
    objects = {one["kind"]: one for one in helm(
        check, "--set", "image.tag=9.9,image.repository=r.example/f,priorityClassName=,"
        "networkPolicy.prometheusNamespace=watch,podMonitor=true,monitorLabels.release=kps,"
        "extraArgs={--export.detail=host},imagePullSecrets[0].name=key,openshift=true",
        namespace="other")}
    pod = objects["DaemonSet"]["spec"]["template"]["spec"]
    check.equal("image", pod["containers"][0]["image"], "r.example/f:9.9")
    check.equal("options", pod["containers"][0]["args"][-1], "--export.detail=host")
    check.that("priorityClassName" not in pod, "a priority")
    check.equal("secrets", pod["imagePullSecrets"], [{"name": "key"}])
    check.equal("Prometheus", objects["NetworkPolicy"]["spec"]["ingress"][0]["from"][0][
        "namespaceSelector"]["matchLabels"], {"kubernetes.io/metadata.name": "watch"})
    check.equal("labels", objects["PodMonitor"]["metadata"]["labels"],
                {"app.kubernetes.io/name": "faultscope", "release": "kps"})
    for kind, one in objects.items():
        check.equal(f"{kind}: namespace", one["metadata"].get("namespace", "other"), "other")
    check.equal("account", objects["SecurityContextConstraints"]["users"],
                ["system:serviceaccount:other:faultscope"])
    kinds = {one["kind"] for one in helm(check, "--set", "networkPolicy.enabled=false")}
    check.that("NetworkPolicy" not in kinds, "a network policy")


def test_helm_has_no_complaint(check):
    accepts(check, "helm lint", borrowed("helm"), "lint", "--strict", CHART)
