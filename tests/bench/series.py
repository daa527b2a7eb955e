#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Counts the time series of one host, and computes those of a fleet.

Needs root. Creates a node of Kubernetes in miniature: pods with two containers in six layouts of
cgroups, units, and empty cgroups. An exporter watches this machine with each row of OPTIONS. Prints
the samples of a scrape, how many of them are 0, and how many remain after the keep-list of
deploy/prometheus/remote-write.yml, with the recorded rules. Checks nothing.
"""
import argparse
import re
import signal
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path

import yaml

sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/export"))

from exporter import Samples  # noqa: E402
from test_workloads import Cgroups, mounts  # noqa: E402

KEEP_LIST = ROOT / "deploy/prometheus/remote-write.yml"
RULES = ROOT / "deploy/prometheus/rules.yml"
OPTIONS = {
    "--export.detail=host": ["--export.detail=host"],
    "default": [],
    "--export.zeros=yes": ["--export.zeros=yes"],
    "--limit.workloads=50": ["--limit.workloads=50"],
}
LAYOUTS = (
    "/kubepods/burstable/pod{pod}/{id}",
    "/kubepods/besteffort/pod{pod}/{id}",
    "/kubepods.slice/kubepods-pod{under}.slice/crio-{id}.scope",
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{under}.slice/"
    "cri-containerd-{id}.scope",
    "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{under}.slice/"
    "cri-containerd-{id}.scope",
    "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod{under}.slice/"
    "cri-containerd-{id}.scope",
)
# series that Prometheus adds for each target
OF_TARGET = ["up", "scrape_duration_seconds", "scrape_samples_scraped",
             "scrape_samples_post_metric_relabeling", "scrape_series_added"]
RECORDED = re.compile(r"^instance_workload:faultscope_(\w+):\w+$")
# The metric that has one series for each series of a recorded rule with this name. Other recorded
# rules have series only after failures, or a few for the whole cluster.
SOURCES = {
    "owner": "faultscope_workload_info",
    "worst_process_mappings": "faultscope_worst_process_mappings",
    "worst_process_fds": "faultscope_worst_process_fds_limit",
    "page_faults": "faultscope_worst_process_mappings",
    "major_fault_stall_seconds": "faultscope_major_fault_stall_seconds_total",
}


def build_node(groups, pods, units, cgroups):
    """Creates cgroups, most of them without processes."""
    for i in range(pods):
        pod = str(uuid.uuid4())
        for _ in range(2):
            path = LAYOUTS[i % len(LAYOUTS)].format(pod=pod, under=pod.replace("-", "_"),
                                                    id=uuid.uuid4().hex * 2)
            groups.start(path, "sleep", "infinity")
    for i in range(units):
        letters = "".join(chr(ord("a") + int(digit)) for digit in str(i))
        groups.start(f"/system.slice/flt-{letters}.service", "sleep", "infinity")
    for i in range(cgroups):
        groups.make(f"/flt-empty/{i}")


def page_of(faultscope, options):
    exporter = subprocess.Popen(
        [faultscope, "export", "--web.listen-address=127.0.0.1:0", "--workload.min-age=0",
         "--ring", "off", *options], stderr=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+", exporter.stderr.readline())[0]
        for _ in range(3):
            with urllib.request.urlopen(url, timeout=60) as answer:
                page = answer.read().decode()
            time.sleep(0.2)
        return Samples(page)
    finally:
        exporter.send_signal(signal.SIGTERM)
        exporter.communicate()


def recorded(samples):
    """Returns the names of the series of recording rules, one name for each series."""
    names = []
    for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]:
        for rule in group["rules"]:
            found = RECORDED.match(rule.get("record", ""))
            if found:
                names += [rule["record"]] * len(samples.of(SOURCES.get(found[1], "")))
    return names


def kept(names):
    """Returns how many series of the job faultscope leave a Prometheus with the keep-list."""
    config = yaml.safe_load(KEEP_LIST.read_text(encoding="utf-8"))["remote_write"][0]
    return sum(relabelled({"job": "faultscope", "__name__": name},
                          config["write_relabel_configs"]) is not None for name in names)


def relabelled(labels, configs):
    """Returns the labels after relabelling as in Prometheus' documentation; None: dropped. Knows
    the actions of the keep-list."""
    for config in configs:
        value = ";".join(labels.get(name, "") for name in config.get("source_labels", ()))
        action = config.get("action", "replace")
        regex = re.compile(config["regex"])
        if action == "labeldrop":
            labels = {name: one for name, one in labels.items() if not regex.fullmatch(name)}
        elif action == "drop":
            if regex.fullmatch(value):
                return None
        elif action == "replace":
            if regex.fullmatch(value):
                labels = {**labels, config["target_label"]: config["replacement"]}
        else:
            raise ValueError(action)
    return labels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faultscope", default=ROOT / "build/faultscope")
    parser.add_argument("--pods", type=int, default=18)
    parser.add_argument("--units", type=int, default=27)
    parser.add_argument("--cgroups", type=int, default=5000)
    parser.add_argument("--hosts", type=int, default=10000)
    parser.add_argument("--interval", type=float, default=30, help="seconds between two scrapes")
    parser.add_argument("--calls", action="store_true",
                        help="count failed calls, as kernels do by default from 6.14 on")
    options = parser.parse_args()
    groups = Cgroups(mounts()["unified"])
    try:
        build_node(groups, options.pods, options.units, options.cgroups)
        print(f"{options.pods} pods, {options.units} units, {options.cgroups} empty cgroups; "
              f"{options.hosts} hosts, one scrape every {options.interval:g} s\n")
        print("| options | samples of a scrape | of them 0 | recorded | kept for remote write | "
              "series of the fleet | samples/s | series to remote write |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, extra in OPTIONS.items():
            calls = ["--export.calls"] if options.calls else []
            samples = page_of(options.faultscope, [*extra, *calls])
            names = [one for one, _, _ in samples.all] + OF_TARGET
            zeros = sum(not value for _, _, value in samples.all)
            rows = recorded(samples)
            through = kept([*names, *rows])
            series = len(names) + len(rows)
            print(f"| `{name}` | {len(samples.all):,} | {100 * zeros // len(samples.all)} % | "
                  f"{len(rows):,} | {through:,} | {series * options.hosts / 1e6:.1f} M | "
                  f"{series * options.hosts / options.interval:,.0f} | "
                  f"{through * options.hosts / 1e6:.1f} M |")
    finally:
        groups.clean()


if __name__ == "__main__":
    main()
