#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the Helm chart from the kustomize files in deploy/kubernetes, which are its only source.

usage: chart.py [DIRECTORY]   write the chart (default: deploy/helm/faultscope)
       chart.py --check       exit with 1 if deploy/helm/faultscope is not up to date

The base becomes the templates. Each component becomes a switch in values.yaml: its resources are
rendered if the switch is on, and its patches become conditions at the places that they patch. The
values of VALUES are moved from the base to values.yaml.
"""
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "deploy/kubernetes"
CHART = ROOT / "deploy/helm/faultscope"
POD = "/spec/template/spec"
FROM = "made by tools/chart.py from deploy/kubernetes; do not edit"

# Components and their switches in values.yaml, with an explanation.
SWITCHES = {
    "own-pids": ("ownPids", "No hostPID: Linux 6.7 and later, cgroup v2."),
    "runtime-state": ("runtimeState", "Names also from the state files of container runtimes."),
    "localhost-seccomp": ("localhostSeccomp", "Use the node's seccomp profile faultscope.json."),
    "openshift": ("openshift", "Security context constraints and SELinux type of OpenShift."),
    "podmonitor": ("podMonitor", "A PodMonitor for the Prometheus operator."),
    "servicemonitor": ("serviceMonitor", "A Service and a ServiceMonitor for the Prometheus "
                                         "operator."),
}

# Paths in the DaemonSet whose values become values of the chart.
VALUES = {
    f"{POD}/priorityClassName": "priorityClassName",
    f"{POD}/nodeSelector": "nodeSelector",
    f"{POD}/tolerations": "tolerations",
    f"{POD}/containers/0/resources": "resources",
    "/spec/updateStrategy": "updateStrategy",
}

VALUES_HEAD = f"""\
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# {FROM}
image:
  repository: REPOSITORY
  # Empty: the version of the chart's application.
  tag: ""
  pullPolicy: IfNotPresent
imagePullSecrets: []
# Further options of `faultscope export`, such as --export.detail=host.
extraArgs: []
networkPolicy:
  enabled: true
  # The namespace of Prometheus, which alone may connect.
  prometheusNamespace: NAMESPACE
# Labels of the PodMonitor or ServiceMonitor, by which the Prometheus operator selects it.
monitorLabels: {{}}
"""


def load(path):
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


def walk(node, path):
    """Returns the container of the value at a path such as /spec/args/0, and its key there."""
    *parents, last = path.strip("/").split("/")
    for part in parents:
        node = node[int(part) if isinstance(node, list) else part]
    return node, int(last) if isinstance(node, list) and last != "-" else last


class Marks:
    """Replaces values by marks, which survive yaml.dump(), and marks by template text."""

    def __init__(self):
        self.texts = []

    def mark(self, text):
        """`text` is the template: of a whole line if it begins with a line break, else of a value.
        In it, INDENT is the indentation of the line with the mark."""
        self.texts.append(text)
        return f"@@{len(self.texts) - 1}@@"

    def replace(self, text):
        lines = []
        for line in text.splitlines():
            found = re.match(r"( *)(- |[\w.-]+: )?'?@@(\d+)@@'?$", line)
            if not found:
                lines.append(re.sub(r"@@(\d+)@@", lambda m: self.texts[int(m[1])], line))
                continue
            indent, before, number = found[1], found[2] or "", int(found[3])
            put = self.texts[number]
            if put.startswith("\n"):
                put = put[1:].replace("KEY", before.removesuffix(": "))
                lines += [(indent + one) if one else one
                          for one in put.replace("INDENT", str(len(indent) + 2)).splitlines()]
            else:
                lines.append(indent + before + put)
        return "\n".join(lines) + "\n"


def dump(value):
    return yaml.safe_dump(value, default_flow_style=False, sort_keys=False, width=1000)


def block(text, spaces):
    return "".join(" " * spaces + line + "\n" for line in text.splitlines())


def condition(switch, text, otherwise=""):
    end = "{{- else }}\n" + otherwise if otherwise else ""
    return f"\n{{{{- if .Values.{switch} }}}}\n{text}{end}{{{{- end }}}}\n"


def apply_patch(marks, daemonset, operation, switch):
    """Makes one operation of a component's JSON patch (RFC 6902) a condition in the template."""
    where, key = walk(daemonset, operation["path"])
    value = operation["value"]
    if key == "-":
        where.append(marks.mark(condition(switch, dump([value]))))
        return
    old = {key: where[key]} if key in where else None
    if old and operation["op"] == "add":
        raise SystemExit(f"chart: {operation['path']}: only `replace` may change a value")
    where[key] = marks.mark(condition(switch, dump({key: value}), dump(old) if old else ""))


def place(marks, one):
    """Replaces a resource's namespace by that of the release."""
    if "namespace" in one["metadata"]:
        one["metadata"]["namespace"] = "{{ .Release.Namespace }}"
    if one["kind"].endswith("Monitor"):
        labels = dump(one["metadata"]["labels"])
        one["metadata"]["labels"] = marks.mark(
            "\nKEY:\n" + block(labels, 2) + "{{- with .Values.monitorLabels }}\n"
            "{{- toYaml . | nindent INDENT }}\n{{- end }}\n")
    return one


def template(marks, resources, switch=None):
    text = f"{{{{- /* {FROM} */ -}}}}\n" + "---\n".join(dump(one) for one in resources)
    text = marks.replace(text)
    text = text.replace("system:serviceaccount:faultscope:",
                        "system:serviceaccount:{{ .Release.Namespace }}:")
    text = re.sub(r"^( *(?:- )?namespace: )'?({{ .Release.Namespace }})'?$", r"\1\2", text,
                  flags=re.M)
    return f"{{{{- if .Values.{switch} }}}}\n{text}{{{{- end }}}}\n" if switch else text


def daemonset_template(kustomization, values):
    marks, one = Marks(), load(SOURCE / "base/daemonset.yaml")[0]
    container = one["spec"]["template"]["spec"]["containers"][0]
    for path, name in VALUES.items():
        where, key = walk(one, path)
        values[name] = where[key]
        if isinstance(where[key], str):
            where[key] = marks.mark(f"\n{{{{- with .Values.{name} }}}}\nKEY: {{{{ . }}}}\n"
                                    "{{- end }}\n")
        else:
            where[key] = marks.mark(f"\n{{{{- with .Values.{name} }}}}\nKEY:\n"
                                    "{{- toYaml . | nindent INDENT }}\n{{- end }}\n")
    for component, (switch, _) in SWITCHES.items():
        for patch in load(SOURCE / "components" / component / "kustomization.yaml")[0].get(
                "patches", []):
            for operation in yaml.safe_load(patch["patch"]):
                apply_patch(marks, one, operation, switch)
    container["args"].append(marks.mark(
        "\n{{- range .Values.extraArgs }}\n- {{ . | quote }}\n{{- end }}\n"))
    container["image"] = marks.mark(
        '"{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"')
    container["imagePullPolicy"] = marks.mark("{{ .Values.image.pullPolicy }}")
    one["spec"]["template"]["spec"]["imagePullSecrets"] = marks.mark(
        "\n{{- with .Values.imagePullSecrets }}\nKEY:\n{{- toYaml . | nindent INDENT }}\n"
        "{{- end }}\n")
    one["metadata"]["namespace"] = kustomization["namespace"]
    return template(marks, [place(marks, one)])


def chart():
    """Returns {path: text} of the chart's files."""
    base = load(SOURCE / "base/kustomization.yaml")[0]
    image, values, files = base["images"][0], {}, {}
    files["templates/daemonset.yaml"] = daemonset_template(base, values)
    for name in base["resources"]:
        if name in ("daemonset.yaml", "namespace.yaml"):
            continue  # helm itself makes the namespace
        marks, resources = Marks(), load(SOURCE / "base" / name)
        for one in resources:
            one["metadata"]["namespace"] = base["namespace"]
        text = template(marks, [place(marks, one) for one in resources])
        if name == "networkpolicy.yaml":
            allowed = resources[0]["spec"]["ingress"][0]["from"][0]["namespaceSelector"][
                "matchLabels"]["kubernetes.io/metadata.name"]
            text = text.replace(f"metadata.name: {allowed}",
                                "metadata.name: {{ .Values.networkPolicy.prometheusNamespace }}")
            text = f"{{{{- if .Values.networkPolicy.enabled }}}}\n{text}{{{{- end }}}}\n"
        files[f"templates/{name}"] = text
    for component, (switch, _) in SWITCHES.items():
        directory = SOURCE / "components" / component
        for name in load(directory / "kustomization.yaml")[0].get("resources", []):
            marks = Marks()
            files[f"templates/{name}"] = template(
                marks, [place(marks, one) for one in load(directory / name)], switch)
    files["values.yaml"] = VALUES_HEAD.replace("REPOSITORY", image["newName"]).replace(
        "NAMESPACE", allowed) + "".join(
            f"# {why}\n{switch}: false\n" for switch, why in SWITCHES.values()) + dump(values)
    files["Chart.yaml"] = f"# {FROM}\n" + dump({
        "apiVersion": "v2", "name": "faultscope", "type": "application",
        "description": "Page faults, mappings and file descriptors for Prometheus",
        "version": str(image["newTag"]), "appVersion": str(image["newTag"]),
        "kubeVersion": ">=1.25.0-0"})
    return files


def main():
    files = chart()
    if sys.argv[1:] == ["--check"]:
        there = {str(path.relative_to(CHART)): path.read_text(encoding="utf-8")
                 for path in CHART.rglob("*") if path.is_file()}
        for name in sorted(files.keys() | there.keys()):
            if files.get(name) != there.get(name):
                print(f"chart: {name} is not up to date: run tools/chart.py", file=sys.stderr)
        return files != there
    out = Path(sys.argv[1]) if sys.argv[1:] else CHART
    for name, text in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
