#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures the cost of metrics exporters, and of a Prometheus server that scrapes many of them.

Needs root. At each level of detail, one exporter watches this machine, on which 220 programs of
different names run. An HTTP server then offers a copy of the exporter's page for each of many
hosts. Debian's Prometheus scrapes these hosts; the counters differ at each scrape. Prints a table
and checks nothing.
"""
import argparse
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import namedtuple
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from borrow import program  # noqa: E402

LEVELS = {
    "host": ["--export.detail=host"],
    "workload, 50": ["--limit.workloads=50"],
    "workload, 200": ["--limit.workloads=200", "--limit.series=9000"],
}
WORKLOADS = 220  # number of programs of different names that the benchmark starts
SCRAPES = 30  # number of scrapes from which the average CPU time is computed
SAMPLE = re.compile(rb"^([a-z_]+_(?:total|bucket|sum|count)(?:\{.*\})?) (\S+)$", re.M)

Level = namedtuple("Level", "name series bytes packed cpu_ms rss_mib page")


def get(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def value(page, name):
    return float(re.search(rf"^{name} (\S+)$".encode(), page, re.M)[1])


class Programs:
    """Starts idle processes, each of which has a different name."""

    def __init__(self, place, number):
        self.running = []
        sleep = shutil.which("sleep")
        for i in range(number):
            path = Path(place) / f"program-{i}"
            shutil.copy(sleep, path)
            self.running.append(subprocess.Popen([path, "infinity"]))

    def end(self):
        for one in self.running:
            one.kill()
        for one in self.running:
            one.wait()


def measure_level(faultscope, name, options):
    """Measures one exporter at one level of detail."""
    exporter = subprocess.Popen(
        [faultscope, "export", "--web.listen-address=127.0.0.1:0", "--workload.min-age=0",
         *options], stderr=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+", exporter.stderr.readline())[0]
        get(url)
        time.sleep(1)
        before = value(get(url), "process_cpu_seconds_total")
        for _ in range(SCRAPES):
            # for 0.1 s after a scrape, every scrape gets the values of that scrape
            time.sleep(0.15)
            page = get(url)
        cpu = value(page, "process_cpu_seconds_total") - before
        series = len([line for line in page.splitlines() if line and not line.startswith(b"#")])
        return Level(name, series, len(page), len(gzip.compress(page, 1)), cpu / SCRAPES * 1000,
                     value(page, "process_resident_memory_bytes") / 2**20, page)
    finally:
        exporter.send_signal(signal.SIGTERM)
        exporter.communicate()


def replica(page):
    """Starts an HTTP server that answers every path with this page. So Prometheus can use each path
    as the page of another host. The counters on the page are larger at each scrape."""
    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            moved = time.time() % 1e6 * random.uniform(0.9, 1.1)
            text = SAMPLE.sub(lambda m: b"%s %.3f" % (m[1], float(m[2]) + moved), page)
            body = gzip.compress(text, 1)
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    # when Prometheus ends, it closes connections even in the middle of a scrape
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def configuration(port, hosts, interval):
    targets = [{"targets": [f"127.0.0.1:{port}"],
                "labels": {"__metrics_path__": f"/{i}", "instance": f"host-{i:05}"}}
               for i in range(hosts)]
    return json.dumps({"global": {"scrape_interval": f"{interval}s"}, "scrape_configs": [
        # Prometheus reads YAML, which includes JSON
        {"job_name": "faultscope", "static_configs": targets}]})


def measure_prometheus(page, hosts, interval, seconds):
    """Lets Prometheus scrape for some time. Returns (series in its head block, resident MiB, hosts
    down)."""
    with tempfile.TemporaryDirectory() as place:
        server = replica(page)
        path = Path(place) / "prometheus.yml"
        path.write_text(configuration(server.server_port, hosts, interval), encoding="utf-8")
        port = server.server_port + 1 if server.server_port < 65000 else 39090
        prometheus = subprocess.Popen(
            [program("prometheus"), f"--config.file={path}", f"--storage.tsdb.path={place}/data",
             f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"], cwd=place)
        try:
            time.sleep(seconds)
            own = get(f"http://127.0.0.1:{port}/metrics")
            query = f"http://127.0.0.1:{port}/api/v1/query?query=count(up==0)%20or%20vector(0)"
            down = json.loads(get(query))["data"]["result"][0]["value"][1]
            return (int(value(own, "prometheus_tsdb_head_series")),
                    value(own, "process_resident_memory_bytes") / 2**20, int(down))
        finally:
            prometheus.terminate()
            prometheus.wait()
            server.shutdown()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--hosts", type=int, default=100,
                        help="number of hosts that Prometheus scrapes (100)")
    parser.add_argument("--interval", type=int, default=5, help="seconds between scrapes (5)")
    parser.add_argument("--seconds", type=int, default=60,
                        help="seconds of scraping for each level of detail (60)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="DIR")
    return parser.parse_args()


def main():
    options = arguments()
    if os.geteuid():
        print("fleet: needs root", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as place:
        programs = Programs(place, WORKLOADS)
        try:
            levels = [measure_level(options.build / "faultscope", name, words)
                      for name, words in LEVELS.items()]
        finally:
            programs.end()
    idle = measure_prometheus(b"", 0, options.interval, 10)[1]
    print("| detail | series | bytes | gzip | CPU ms a scrape | RSS MiB | Prometheus, KiB a host |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for one in levels:
        series, rss, down = measure_prometheus(one.page, options.hosts, options.interval,
                                               options.seconds)
        print(f"| {one.name} | {one.series:,} | {one.bytes:,} | {one.packed:,} | {one.cpu_ms:.2f} |"
              f" {one.rss_mib:.1f} | {(rss - idle) * 1024 / options.hosts:,.0f} |")
        print(f"# Prometheus: {series:,} series, {rss:.0f} MiB ({idle:.0f} without a host), "
              f"{down} of {options.hosts} hosts down", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
