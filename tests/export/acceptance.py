#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that the right alerts arrive at an Alertmanager in time, and none while all is well.

Needs root. Debian's Prometheus and Alertmanager watch one exporter on this host. During the whole
test, containers begin and end. First comes a healthy time, in which no alert may fire. Then one
workload leaks file descriptors to its limit and beyond, one leaks mappings, and one is OOM-killed in
its cgroup. Each expected alert must arrive in the time that its rule states (`for`) and SLACK_S, and
its text must name host, workload and command. Prints one line per alert, and exits with 1 if
something is missing or too much. Alerts about other workloads of this host are failures too, unless
--shared is given.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/export"), str(ROOT / "tests/e2e")]

from exporter import PATIENCE, free_port, program  # noqa: E402
from harness import FAULTSCOPE  # noqa: E402
from test_workloads import Cgroups, mounts  # noqa: E402

RULES = ROOT / "deploy/prometheus/rules.yml"
INTERVAL_S = 10
# Scrape, evaluation of recorded rules, evaluation of alerts, and sending: each takes an interval at
# most. The programs of this test and a busy machine take the rest.
SLACK_S = 120

LEAKS_FDS = """import os, resource, time
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
seconds = float(os.environ["SECONDS"])
while True:
    try:
        os.dup(0)
        time.sleep(seconds / 1024)
    except OSError:
        time.sleep(0.2)
"""
LEAKS_MAPPINGS = """import mmap, os, time
seconds, held = float(os.environ["SECONDS"]), []
while True:
    try:
        for _ in range(300):
            prot = mmap.PROT_READ | (mmap.PROT_WRITE if len(held) % 2 else 0)
            held.append(mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=prot))
        time.sleep(seconds / 220)
    except OSError:
        time.sleep(5)
"""
EATS_MEMORY = "x = []\nwhile True:\n    x.append(b'x' * (1 << 20))\n"


class Received:
    """A receiver of Alertmanager's webhooks. Keeps the first arrival of each alert."""

    def __init__(self):
        self.port = free_port()
        self.alerts = {}  # {(name, severity, workload): (time of arrival, alert)}
        received = self

        class Answer(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for alert in body["alerts"]:
                    if alert["status"] == "firing":
                        labels = alert["labels"]
                        key = (labels["alertname"], labels.get("severity"),
                               labels.get("workload", ""))
                        received.alerts.setdefault(key, (time.time(), alert))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Answer)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


# Debian's Alertmanager reads its templates below /usr/share. An unpacked package has them elsewhere:
# in a mount namespace of its own, the program gets them at the place that it expects.
WITH_TEMPLATES = """mount -t tmpfs none /usr/share && mkdir /usr/share/prometheus &&
cp -r "$1" /usr/share/prometheus/ && shift && exec "$@" """


def alertmanager():
    """Returns the words of a command that runs Alertmanager."""
    path = program("prometheus-alertmanager")
    templates = Path(path).parents[1] / "share/prometheus/alertmanager"
    if templates.is_relative_to("/usr/share"):
        return [path]
    return ["unshare", "-m", "sh", "-c", WITH_TEMPLATES, "sh", templates, path]


class Stack:
    """Exporter, Prometheus and Alertmanager in a directory."""

    def __init__(self, place, received):
        self.running = []
        self.place = place
        self.exporter, self.prometheus, manager = free_port(), free_port(), free_port()
        self.start("exporter", FAULTSCOPE, "export", "--export.calls", "--web.listen-address",
                   f"127.0.0.1:{self.exporter}", "--incident.store", place / "incidents",
                   "--oom.store", place / "oom")
        self.write("alertmanager.yml", {
            "route": {"receiver": "test", "group_wait": "1s", "group_interval": "10s",
                      "group_by": ["alertname", "instance", "namespace", "workload", "severity"]},
            "receivers": [{"name": "test", "webhook_configs": [
                {"url": f"http://127.0.0.1:{received.port}/"}]}]})
        self.start("alertmanager", *alertmanager(),
                   f"--config.file={place}/alertmanager.yml", f"--storage.path={place}/am",
                   f"--web.listen-address=127.0.0.1:{manager}", "--cluster.listen-address=",
                   "--log.level=warn")
        self.write("prometheus.yml", {
            "global": {"scrape_interval": f"{INTERVAL_S}s", "scrape_timeout": f"{INTERVAL_S}s",
                       "evaluation_interval": f"{INTERVAL_S}s"},
            "rule_files": [str(RULES)],
            "alerting": {"alertmanagers": [{"static_configs": [
                {"targets": [f"127.0.0.1:{manager}"]}]}]},
            "scrape_configs": [{"job_name": "monitoring/faultscope", "static_configs": [
                {"targets": [f"127.0.0.1:{self.exporter}"]}]}]})
        self.start("prometheus", program("prometheus"), f"--config.file={place}/prometheus.yml",
                   f"--storage.tsdb.path={place}/data",
                   f"--web.listen-address=127.0.0.1:{self.prometheus}",
                   "--web.console.templates=/nonexistent",
                   "--web.console.libraries=/nonexistent", "--log.level=warn")

    def write(self, name, config):
        # YAML includes JSON
        (self.place / name).write_text(json.dumps(config), encoding="utf-8")

    def start(self, name, *argv):
        log = (self.place / f"{name}.log").open("w", encoding="utf-8")
        self.running.append(subprocess.Popen([str(word) for word in argv], stdout=log, stderr=log))

    def check(self):
        for process in self.running:
            if process.poll() is not None:
                logs = "".join(path.read_text() for path in self.place.glob("*.log"))
                sys.exit(f"{process.args[0]} ended: {logs[-2000:]}")

    def end(self):
        for process in reversed(self.running):
            process.terminate()
            process.wait(PATIENCE)


class Churn(threading.Thread):
    """Starts two containers a second, each of which lives for half a second."""

    def __init__(self, root):
        super().__init__(daemon=True)
        self.root, self.done, self.count = root, threading.Event(), 0

    def run(self):
        while not self.done.wait(0.5):
            groups = Cgroups(self.root)
            try:
                groups.start(f"/docker/{uuid.uuid4().hex * 2}", "sleep", "0.3").wait()
            finally:
                groups.clean()
            self.count += 1


def begin_incidents(groups, minutes):
    """Starts what alerts must report. Returns {workload: {(alert, severity)}}; `may` are alerts
    that the same incident can cause."""
    mark = "".join(chr(ord("a") + int(digit, 16)) for digit in uuid.uuid4().hex[:6])
    names = {kind: f"flt{kind}-{mark}.service" for kind in ("fds", "maps", "oom")}
    env = f"SECONDS={min(120, minutes * 20)}"
    groups.start(f"/system.slice/{names['fds']}", "env", env, sys.executable, "-c", LEAKS_FDS)
    groups.start(f"/system.slice/{names['maps']}", "env", env, sys.executable, "-c",
                 LEAKS_MAPPINGS)
    group = groups.make(f"/system.slice/{names['oom']}")
    for name in ("memory.limit_in_bytes", "memory.max"):
        if (group / name).exists():
            (group / name).write_text(str(32 << 20))
    groups.start(f"/system.slice/{names['oom']}", sys.executable, "-c", EATS_MEMORY)
    want = {
        names["fds"]: {("FaultscopeFdFailures", "critical"), ("FaultscopeFdsNearLimit", "warning")},
        names["maps"]: {("FaultscopeMappingFailures", "critical"),
                        ("FaultscopeMappingsNearLimit", "critical"),
                        ("FaultscopeMappingsNearLimit", "warning")},
        names["oom"]: {("FaultscopeOomKill", "warning")},
    }
    may = {names["fds"]: {("FaultscopeFdsWillExhaust", "warning")},
           names["maps"]: {("FaultscopeMappingsWillExhaust", "warning"),
                           ("FaultscopeFdsWillExhaust", "warning")},
           names["oom"]: {("FaultscopeMajorFaultStall", "warning")}}
    return want, may


def for_seconds():
    """Returns {(alert, severity): seconds of `for`}."""
    units = {"s": 1, "m": 60, "h": 3600}
    found = {}
    for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]:
        for rule in group["rules"]:
            if "alert" in rule:
                wait = rule.get("for", "0s")
                found[rule["alert"], rule["labels"]["severity"]] = int(wait[:-1]) * units[wait[-1]]
    return found


def wrong_text(alert, host, workload):
    told = alert["annotations"]
    text = told["summary"] + told["description"]
    return [what for what, there in (
        ("host", host in text), ("workload", workload in text),
        ("cgroup", f"/system.slice/{workload}" in told["where"]),
        ("two numbers", len(re.findall(r"\b\d[\d.]*\b", text.replace(host, ""))) >= 2),
        ("command", "faultscope" in told.get("command", ""))) if not there]


def wait(stack, seconds):
    end = time.time() + seconds
    while time.time() < end:
        stack.check()
        time.sleep(1)


def judge(received, begun, want, may, minutes, shared, host):
    """Prints what arrived and what did not. Returns the number of failures."""
    failed, waits = 0, for_seconds()
    leak_s = min(120, minutes * 20)
    for workload, alerts in want.items():
        for name, severity in sorted(alerts):
            allowed = waits[name, severity] + leak_s + SLACK_S
            found = received.alerts.get((name, severity, workload))
            if not found and allowed > minutes * 60:
                print(f"skip: {name} ({severity}) needs up to {allowed} s")
                continue
            took = found[0] - begun if found else 0
            wrong = wrong_text(found[1], host, workload) if found else []
            good = found and took <= allowed and not wrong
            failed += not good
            print(f"{'ok' if good else 'FAILED'}: {name} ({severity}) of {workload}: "
                  + (f"after {took:.0f} s, allowed {allowed} s"
                     + (f", its text lacks {wrong}" if wrong else "")
                     + "".join(f"\n    {key}: {value}" for key, value
                               in sorted(found[1]["annotations"].items()))
                     if found else "missing"))
    for (name, severity, workload), (_, alert) in sorted(received.alerts.items()):
        if (name, severity) in want.get(workload, set()) | may.get(workload, set()):
            continue
        ours = not shared or not workload or workload in want
        failed += ours
        print(f"{'FAILED' if ours else 'other workload'}: {name} ({severity}) of "
              f"{workload or 'no workload'}: {alert['annotations']['summary']}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="minutes with incidents")
    parser.add_argument("--healthy", type=float, help="minutes before them (default: --minutes)")
    parser.add_argument("--shared", action="store_true",
                        help="alerts about other workloads of this host are no failures")
    options = parser.parse_args()
    healthy = options.minutes if options.healthy is None else options.healthy
    points = mounts()
    root = points.get("memory") or points["unified"]
    groups, received = Cgroups(root), Received()
    churn = Churn(root)
    with tempfile.TemporaryDirectory() as place:
        stack = Stack(Path(place), received)
        try:
            churn.start()
            for i in range(18):
                groups.start(f"/kubepods/burstable/pod{uuid.uuid4()}/{uuid.uuid4().hex * 2}",
                             "sleep", "infinity")
            wait(stack, healthy * 60)
            failed = judge(received, 0, {}, {}, 0, options.shared, "")
            print(f"{'FAILED' if failed else 'ok'}: {healthy:g} healthy minutes, "
                  f"{churn.count} containers", flush=True)
            received.alerts.clear()
            begun = time.time()
            want, may = begin_incidents(groups, options.minutes)
            wait(stack, options.minutes * 60)
            failed += judge(received, begun, want, may, options.minutes, options.shared,
                            f"127.0.0.1:{stack.exporter}")
            print(f"{churn.count} containers began and ended")
        finally:
            churn.done.set()
            churn.join(PATIENCE)
            stack.end()
            groups.clean()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
