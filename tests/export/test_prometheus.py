# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests Debian's Prometheus as it scrapes the exporter: each format, exemplars, histograms, and an
alert."""

import json
import os
import shutil
import time

from exporter import (AT_ONCE, PROTOBUF, RECORDINGS, Exporter, Prometheus, Samples, families_of, job,
                      until)
from harness import MOST_TRIES, PATIENCE, ROOT, Skip, idle, live, workload_path

REPLAY = ("--replay", RECORDINGS / "brief_children_among_all-open.fsr", *AT_ONCE)
# {format: feature flags with which Prometheus requests this format}. Without a flag, Prometheus
# requests OpenMetrics.
FORMATS = {"openmetrics": (), "protobuf": ("native-histograms",)}


def scraped(prometheus, wanted=3):
    """Waits for `wanted` scrapes of each target without an error."""
    def is_done():
        targets = prometheus.targets()
        assert all(not one["lastError"] for one in targets), targets
        return targets and all(one["health"] == "up" for one in targets) and \
            (prometheus.value("min(count_over_time(up[1m]))") or 0) >= wanted
    until(is_done, "scrapes")


def check_series(check, exporter, prometheus):
    """Checks that Prometheus stored every sample of a scrape, and that later scrapes add no series.
    """
    want = len(Samples(exporter.get().text).all)
    check.equal("samples of a scrape", prometheus.value("scrape_samples_scraped"), want)
    check.equal("series added by the last", prometheus.value("scrape_series_added"), 0)
    check.equal("series stored", prometheus.value('count({job="faultscope",__name__!~"up|scrape_.*"})'),
                want)
    check.equal("up", prometheus.value("up"), 1)
    check.equal("its own", prometheus.value("faultscope_up"), 1)


def test_scraped_as_openmetrics(check, lab):
    exporter = Exporter(lab, *REPLAY)
    prometheus = Prometheus(lab, [job(f"127.0.0.1:{exporter.port}")])
    scraped(prometheus)
    check_series(check, exporter, prometheus)
    metadata = prometheus.api("metadata?metric=faultscope_open_fds")["faultscope_open_fds"][0]
    check.equal("type", metadata["type"], "gauge")


def test_scraped_as_protobuf(check, lab):
    """With native histograms, each histogram is one series instead of classic buckets."""
    recording = RECORDINGS / "latency_of_delayed_faults-1ms.fsr"
    exporter = Exporter(lab, "--replay", recording, *AT_ONCE, "--native-histograms")
    prometheus = Prometheus(lab, [job(f"127.0.0.1:{exporter.port}")],
                            features=("native-histograms",))
    scraped(prometheus)
    name = "faultscope_page_fault_duration_seconds"
    told = families_of(exporter.get(Accept=PROTOBUF).body)
    count = next(value[7][1][0] for labels, value in told[name][2]
                 if labels["type"] == "minor")
    check.equal("count", prometheus.value(f'histogram_count({name}{{type="minor"}})'), count)
    # Compares the median of the native histogram with the classic buckets on the page.
    samples = Samples(exporter.get().text)
    buckets = samples.values(f"{name}_bucket", "le", type="minor")
    half = min(float(le) for le, n in buckets.items() if n >= count / 2)
    got = prometheus.value(f'histogram_quantile(0.5, {name}{{type="minor"}})')
    check.between("the median", got, half / 2, half)


def test_scraped_as_text(check, lab):
    """A client that sends no Accept header gets format 0.0.4. In this test, the client is
    Prometheus behind a proxy that removes the header."""
    exporter = Exporter(lab, *REPLAY)
    proxy = lab.dir / "proxy.py"
    proxy.write_text(PROXY)
    process = lab.spawn(["python3", proxy, str(exporter.port)])
    port = int(process.stdout.readline())
    prometheus = Prometheus(lab, [job(f"127.0.0.1:{port}")])
    scraped(prometheus)
    check_series(check, exporter, prometheus)


PROXY = '''
import http.server, sys, urllib.request
class Proxy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = f"http://127.0.0.1:{sys.argv[1]}{self.path}"
        asked = urllib.request.Request(url, headers={"Accept": "text/plain;version=0.0.4"})
        with urllib.request.urlopen(asked) as answer:
            body = answer.read()
            self.send_response(200)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.end_headers()
            self.wfile.write(body)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
print(server.server_port, flush=True)
server.serve_forever()
'''


@live
def test_exemplars(check, lab):
    """Since no label contains a pid, exemplars name one process of the workload that a counter
    belongs to."""
    exporter = Exporter(lab, *AT_ONCE)
    prometheus = Prometheus(lab, [job(f"127.0.0.1:{exporter.port}")],
                            features=("exemplar-storage",))
    scraped(prometheus)

    def exemplar_of(pid):
        found = prometheus.api("query_exemplars?query=faultscope_fatal_signals_total&start="
                               "2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z")
        labels = [one["labels"] for series in found for one in series["exemplars"]]
        return next((one for one in labels if one.get("pid") == str(pid)), None)

    def crash():
        crashed = lab.spawn(["python3", "-c", "import ctypes; ctypes.string_at(8)"])
        crashed.wait()
        end = time.monotonic() + PATIENCE / MOST_TRIES
        while not (got := exemplar_of(crashed.pid)) and time.monotonic() < end:
            time.sleep(0.2)
        return got

    # A scrape contains only the last crash before the scrape. On a busy machine, the last crash may
    # be that of another program.
    got = next((one for one in (crash() for _ in range(MOST_TRIES)) if one), None)
    if check.that(got, "no crash has its exemplar"):
        check.that(got["comm"].startswith("python3"), f"comm: {got}")


@idle
@live
def test_a_leak_alerts(check, lab):
    """A leaking program triggers the alert of deploy/. The test shortens the `for` duration of the
    alert."""
    rules = ROOT / "deploy" / "prometheus" / "rules.yml"
    rules = shortened(lab, rules)
    limit = int(lab.read("/proc/sys/vm/max_map_count"))
    shutil.copy(workload_path("mapleak"), lab.dir / "leaky")
    exporter = Exporter(lab, *AT_ONCE)
    prometheus = Prometheus(lab, [job(f"127.0.0.1:{exporter.port}")], rules=rules)
    leak = lab.spawn([lab.dir / "leaky", str(limit * 88 // 100), "--wait", "--hold"],
                     stdin=__import__("subprocess").PIPE)
    scraped(prometheus)
    check.equal("before", alerts_of(prometheus), {})
    leak.stdin.write("g")
    leak.stdin.flush()
    states = []

    def is_firing():
        state = alerts_of(prometheus).get("warning")
        if state and state not in states:
            states.append(state)
        return state == "firing"

    until(is_firing, "the alert")
    check.equal("states", states, ["pending", "firing"])
    check.equal("not critical", alerts_of(prometheus).get("critical"), None)
    value = prometheus.query("instance_workload:faultscope_worst_process_mappings:ratio > 0.8")
    check.equal("who", len(value), 1)
    check.near("how much", value[0][1], 0.88, 0.01)
    leak.kill()
    leak.wait()
    until(lambda: not alerts_of(prometheus), "the end of the alert")


def alerts_of(prometheus):
    """Returns {severity: state} of the alert FaultscopeMappingsNearLimit."""
    return {one["labels"]["severity"]: one["state"] for one in prometheus.api("alerts")["alerts"]
            if one["labels"]["alertname"] == "FaultscopeMappingsNearLimit"}


def shortened(lab, rules):
    """Returns a copy of the alerting rules in which each `for` has seconds instead of minutes."""
    if not rules.exists():
        raise Skip("deploy/ has no rules here")
    import re
    path = lab.dir / "rules.yml"
    text = re.sub(r"for: [0-9]+[mh]", "for: 3s", rules.read_text())
    path.write_text(text)
    return path
