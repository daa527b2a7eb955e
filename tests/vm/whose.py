# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests workload names of the exporter in a guest that has only cgroup version 2."""
import re
import time

import harness
from lab import FAULTSCOPE, quoted

ID = "0123456789abcdef" * 4
DOCKERS = "00112233445566778899aabbccddeeff" * 2
OTHER = "fedcba9876543210" * 4
POD = "11111111-2222-3333-4444-555555555555"
UNDER = POD.replace("-", "_")
CGROUPS = "/sys/fs/cgroup"
WORKLOADS = {
    f"/system.slice/docker-{DOCKERS}.scope": "docker/001122334455",
    f"/kubepods.slice/kubepods-pod{UNDER}.slice/cri-containerd-{ID}.scope": "shop/cart/app",
    "/system.slice/flt-demo.service": "flt-demo.service",
    "/user.slice/user-1000.slice/session-3.scope": "user-1000.slice",
}
LOG = f"/var/log/containers/cart-7d9f8b6c5d-x2x9v_shop_app-{ID}.log"


def samples_of(text, name):
    """Returns {workload: value} of a metric. If a workload has several series, the value is their
    sum."""
    found = {}
    for workload, value in re.findall(rf'^{name}{{workload="([^"]*)"[^}}]*}} (\S+)$', text, re.M):
        found[workload] = found.get(workload, 0) + float(value)
    return found


def until(vm, path, good, what):
    deadline = time.monotonic() + 2 * harness.PATIENCE
    text = ""
    while time.monotonic() < deadline:
        text = vm.run(f"cat {path} 2>/dev/null").out
        if good(text):
            return text
        time.sleep(0.2)
    raise AssertionError(f"no {what}: {text[-2000:]}")


def workloads(check, lab):
    """Workload names come from cgroup ids, both for living processes and for processes that end
    before a scan."""
    vm = lab.vm
    page = f"{lab.new_dir()}/page.prom"
    family = "faultscope_worst_process_mappings"
    vm.must(f"mkdir -p /var/log/containers; : >{LOG}")
    vm.must(" ".join(f"mkdir -p {CGROUPS}{path}; (echo 0 >{CGROUPS}{path}/cgroup.procs;"
                     " exec sleep 1000) >/dev/null 2>&1 & echo $! >>/tmp/sleepers;"
                     for path in WORKLOADS))
    exporter = vm.begin("echo $$ >/tmp/exporter; exec " + quoted(
        [FAULTSCOPE, "export", "--textfile", page, "--workload.min-age", "1s", "1"]))
    try:
        text = until(vm, page, lambda text: set(WORKLOADS.values()) <= set(
            samples_of(text, family)), "series of all")
        maps = samples_of(text, family)
        for name in WORKLOADS.values():
            check.that(maps[name] > 0, f"{name} has no mappings")
        kinds = dict(re.findall(r'^faultscope_workload_info{workload="([^"]*)",kind="([^"]*)"', text,
                                re.M))
        check.equal("kinds", [kinds.get(name) for name in WORKLOADS.values()],
                    ["container", "pod", "unit", "session"])
        brief = f"{CGROUPS}/system.slice/docker-{OTHER}.scope"
        vm.must("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do"
                f" mkdir {brief}; (echo 0 >{brief}/cgroup.procs; exec true);"
                f" until rmdir {brief}; do usleep 10000; done; usleep 200000; done 2>/dev/null")
        until(vm, page, lambda text: "docker/fedcba987654" in samples_of(text, family),
              "series of what lives for a moment at a time")
    finally:
        vm.must("kill $(cat /tmp/exporter) $(cat /tmp/sleepers); rm /tmp/sleepers")
        vm.finish(exporter)
        vm.must(" ".join(f"until rmdir {CGROUPS}{path} 2>/dev/null; do usleep 10000; done;"
                         for path in WORKLOADS))


ALL = {"workloads of cgroups": workloads}
