#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures what the ring of `faultscope export` costs: CPU time and memory.

usage: incidents.py [SECONDS [PROCESSES]]

Starts PROCESSES processes that rest (default: 1000), and two exporters at the same time: one with a
ring of an hour, and one without. Both are scraped every 15 seconds. Each pair of scrapes gives a
pair of CPU times. Prints the median of the pairs, and the memory of both exporters at the end.
"""
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTSCOPE = ROOT / os.environ.get("BUILD", "build") / "faultscope"
SCRAPE = 15


def rest(n):
    """Starts n processes that wake up once a minute."""
    children = []
    for i in range(n):
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            time.sleep(i % 60)
            while True:
                time.sleep(60)
        children.append(pid)
    return children


class Exporter:
    def __init__(self, where, name, *options):
        self.process = subprocess.Popen(
            [FAULTSCOPE, "export", "--web.listen-address", "127.0.0.1:0", "--oom.keep", "0",
             "--incident.store", where / name, *options], stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        while "metrics at" not in line:
            line = self.process.stderr.readline()
        self.url = re.search(r"http://\S+", line)[0]

    def cpu_ms(self):
        with open(f"/proc/{self.process.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e6

    def scrape(self):
        with urllib.request.urlopen(self.url) as page:
            page.read()

    def memory_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            text = file.read()
        return int(re.search(r"RssAnon:\s+(\d+)", text)[1])

    def stop(self):
        self.process.terminate()
        self.process.wait()


def main(seconds=300, processes=1000):
    children = rest(processes)
    where = Path(tempfile.mkdtemp())
    try:
        both = [Exporter(where, "with", "--ring", "16M,1h"), Exporter(where, "off", "--ring", "off")]
        time.sleep(SCRAPE)
        pairs, begin = [], time.monotonic()
        while time.monotonic() < begin + seconds:
            before = [one.cpu_ms() for one in both]
            time.sleep(SCRAPE)
            for one in both if len(pairs) % 2 else both[::-1]:
                one.scrape()
            pairs.append([one.cpu_ms() - was for one, was in zip(both, before)])
        subprocess.run([FAULTSCOPE, "snapshot", "--store", where / "with"], check=True,
                       capture_output=True)
        size = next((where / "with").glob("*-snapshot.fsr")).stat().st_size
        memory = [one.memory_kib() for one in both]
        print(f"CPU time for each {SCRAPE} s, median of {len(pairs)} pairs: with a ring "
              f"{statistics.median(a for a, b in pairs):.2f} ms, without "
              f"{statistics.median(b for a, b in pairs):.2f} ms, difference "
              f"{statistics.median(a - b for a, b in pairs):.2f} ms "
              f"(minima {min(a for a, b in pairs):.2f} and {min(b for a, b in pairs):.2f} ms)")
        print(f"anonymous memory: with a ring {memory[0]} KiB, without {memory[1]} KiB")
        print(f"{size} bytes after {time.monotonic() - begin + SCRAPE:.0f} s")
        for one in both:
            one.stop()
    finally:
        for pid in children:
            os.kill(pid, signal.SIGTERM)
        for pid in children:
            os.waitpid(pid, 0)
        subprocess.run(["rm", "-r", where], check=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
