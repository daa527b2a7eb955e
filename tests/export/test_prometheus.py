# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debian's Prometheus scrapes it: each format, its exemplars and histograms, and an alert."""

import json
import os
import shutil
import time

from exporter import (AT_ONCE, PROTOBUF, RECORDINGS, Exporter, Prometheus, Samples, families_of, job,
                      until)
from harness import MOST_TRIES, PATIENCE, ROOT, Skip, live, workload_path

REPLAY = ("--replay", RECORDINGS / "brief_children_among_all-open.fsr", *AT_ONCE)
# by what Prometheus asks for: its default is OpenMetrics
FORMATS = {"openmetrics": (), "protobuf": ("native-histograms",)}


def scraped(prometheus, wanted=3):
    """Waits for some scrapes without an error."""
    def is_done():
        targets = prometheus.targets()
        assert all(not one["lastError"] for one in targets), targets
        return targets and all(one["health"] == "up" for one in targets) and \
            (prometheus.value("min(count_over_time(up[1m]))") or 0) >= wanted
    until(is_done, "scrapes")


def check_series(check, exporter, prometheus):
    """What one scrape has is what it stored, and nothing is added later on."""
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
    """With native histograms classic buckets give way to one series a histogram."""
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
    # the quantile by the classic buckets of the same page
    samples = Samples(exporter.get().text)
    buckets = samples.values(f"{name}_bucket", "le", type="minor")
    half = min(float(le) for le, n in buckets.items() if n >= count / 2)
    got = prometheus.value(f'histogram_quantile(0.5, {name}{{type="minor"}})')
    check.between("the median", got, half / 2, half)


def test_scraped_as_text(check, lab):
    """What asks for nothing else gets 0.0.4: Prometheus through a proxy that strips Accept."""
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
    """From a counter of a workload to the process: the one way there, for no label is a pid."""
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

    # a scrape tells of the last crash before it: on a busy machine that may be somebody else's
    got = next((one for one in (crash() for _ in range(MOST_TRIES)) if one), None)
    if check.that(got, "no crash has its exemplar"):
        check.that(got["comm"].startswith("python3"), f"comm: {got}")


@live
def test_a_leak_alerts(check, lab):
    """A leaking program, and the alert as it is deployed but for its patience."""
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
    """{severity: state} of the alert at hand."""
    return {one["labels"]["severity"]: one["state"] for one in prometheus.api("alerts")["alerts"]
            if one["labels"]["alertname"] == "FaultscopeMappingsNearLimit"}


def shortened(lab, rules):
    """The rules with another `for`: minutes as seconds."""
    if not rules.exists():
        raise Skip("deploy/ has no rules here")
    import re
    path = lab.dir / "rules.yml"
    text = re.sub(r"for: [0-9]+[mh]", "for: 3s", rules.read_text())
    path.write_text(text)
    return path
