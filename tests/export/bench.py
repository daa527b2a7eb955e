#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the cost of a scrape of faultscope, and of Debian's process-exporter and node_exporter.

Scrapes alternate, so that other load of the machine affects all alike. The CPU time is that of the
exporter's threads from the request to the end of the answer. For faultscope, this time includes the
scan, which runs in its own system call. `make bench` measures what the probes cost other processes.
"""
import argparse
import gzip
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from exporter import AT_ONCE, FAULTSCOPE, OPENMETRICS, Skip, free_port, program, until
from harness import Lab

ROUNDS = 12
WARM_UP = 3
LEAST_RATIO = 50
MOST_RSS_MIB = 15

# {name of a load: (number of processes, threads in each, mappings and files that each opens, page
# faults that each causes in a second)}
LOADS = {
    "processes here": (0, 1, 0, 0, 0),
    "+1,000 processes": (1000, 1, 0, 0, 0),
    "+1,000 of 500 mappings": (1000, 1, 500, 0, 0),
    "+1,000 of 1,000 descriptors": (1000, 1, 0, 1000, 0),
    "+1,000 of 20 threads": (1000, 20, 0, 0, 0),
    "+20 of 1,000 threads": (20, 1000, 0, 0, 0),
    "+20 of 1,000 threads that fault": (20, 1000, 0, 0, 20),
}

LOAD = """
import ctypes, mmap, os, resource, sys, threading, time
children, threads, maps, fds, faults = map(int, sys.argv[1:])
threading.stack_size(65536)
for i in range(children):
    if os.fork():
        continue
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG: whatever becomes of the bench
    resource.setrlimit(resource.RLIMIT_NOFILE, (fds + 100, max(fds + 100, 4096)))
    keep = [mmap.mmap(-1, 4096, prot=mmap.PROT_READ | (mmap.PROT_WRITE if n % 2 else 0))
            for n in range(maps)]
    keep += [os.dup(0) for n in range(fds)]
    for n in range(threads - 1):
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    os.write(1, b".")
    while faults:
        time.sleep(1 / faults)
        mmap.mmap(-1, 4096)[0] = 1
    time.sleep(3600)
sys.stdin.read()
"""


class Peer:
    def __init__(self, name, pid, url):
        self.name, self.pid, self.url = name, pid, url
        self.cpu_ms, self.wall_ms, self.body = [], [], b""
        self.packed = self.failures = 0

    def ran_ns(self):
        return sum(int(Path(f"/proc/{self.pid}/task/{tid}/schedstat").read_text().split()[0])
                   for tid in os.listdir(f"/proc/{self.pid}/task"))

    def scrape(self):
        request = urllib.request.Request(
            self.url, headers={"Accept": OPENMETRICS + ",*/*;q=0.1", "Accept-Encoding": "gzip"})
        before, begin = self.ran_ns(), time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                body = answer.read()
                packed = answer.headers.get("Content-Encoding") == "gzip"
        except OSError as error:
            self.failures += 1
            print(f"# {self.name}: a scrape failed: {error}", flush=True)
            return
        self.wall_ms.append((time.monotonic() - begin) * 1e3)
        # a garbage collector may run after the answer, and its CPU time counts, too
        time.sleep(0.05)
        self.cpu_ms.append((self.ran_ns() - before) / 1e6)
        self.body = gzip.decompress(body) if packed else body
        self.packed = len(body) if packed else len(gzip.compress(body))

    def row(self):
        series = sum(line[:1] not in (b"#", b"") for line in self.body.split(b"\n"))
        rss = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * 4096 / 2**20
        return (self.name, statistics.quantiles(self.cpu_ms, n=4),
                statistics.median(self.wall_ms), len(self.body), self.packed, series, rss)

    def forget(self):
        self.cpu_ms, self.wall_ms = [], []


def started(lab, name, argv, port, path="/metrics"):
    process = lab.spawn(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peer = Peer(name, process.pid, f"http://127.0.0.1:{port}{path}")

    def answers():
        assert process.poll() is None, f"{name} ended"
        try:
            with urllib.request.urlopen(peer.url, timeout=10):
                return True
        except OSError:
            return False

    until(answers, name)
    return peer


def peers(lab):
    port = free_port()
    yield started(lab, "faultscope export", [FAULTSCOPE, "export", *AT_ONCE,
                                             "--web.listen-address", f"127.0.0.1:{port}"], port)
    port = free_port()
    yield started(lab, "node_exporter", [program("prometheus-node-exporter"),
                                         f"--web.listen-address=127.0.0.1:{port}"], port)
    port = free_port()
    config = lab.dir / "process-exporter.yml"
    config.write_text('process_names:\n  - name: "{{.Comm}}"\n    cmdline: [".*"]\n')
    yield started(lab, "process-exporter", [program("prometheus-process-exporter"),
                                            "--config.path", config,
                                            f"--web.listen-address=127.0.0.1:{port}"], port)


def measure(lab, all_peers, load):
    children = LOADS[load][0]
    process = None
    if children:
        process = lab.spawn(["python3", "-c", LOAD, *LOADS[load]], stdin=subprocess.PIPE,
                            text=False)
        for _ in range(children):
            process.stdout.read(1)
    for peer in all_peers:
        peer.forget()
    for i in range(WARM_UP + ROUNDS):
        if i == WARM_UP:
            for peer in all_peers:
                peer.forget()
        for peer in all_peers:
            peer.scrape()
    rows = [peer.row() for peer in all_peers]
    if process:
        os.killpg(process.pid, 9)
        process.wait()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--load", choices=LOADS, action="append", help="measure only this load")
    options = parser.parse_args()
    if os.geteuid():
        sys.exit("this needs root")
    lab = Lab()
    failed = large = False
    try:
        all_peers = list(peers(lab))
        print("| load | exporter | CPU ms a scrape | quartiles | wall ms | bytes | gzip | series "
              "| RSS MiB |\n|---|---|---:|---|---:|---:|---:|---:|---:|")
        for load in options.load or LOADS:
            rows = measure(lab, all_peers, load)
            for name, (low, cpu, high), wall, size, packed, series, rss in rows:
                print(f"| {load} | {name} | {cpu:.2f} | {low:.2f} to {high:.2f} | {wall:.1f} | "
                      f"{size:,} | {packed:,} | {series:,} | {rss:.1f} |", flush=True)
            ratio = rows[2][1][1] / rows[0][1][1]
            print(f"| | process-exporter to faultscope | {ratio:.0f} x | | | | | | |")
            failed |= load == "+1,000 processes" and ratio < LEAST_RATIO
            large |= rows[0][-1] > MOST_RSS_MIB
    except Skip as reason:
        sys.exit(f"bench-export: {reason}")
    finally:
        lab.close()
        shutil.rmtree(lab.dir, ignore_errors=True)
    if all_peers[0].failures:
        sys.exit(f"{all_peers[0].failures} scrapes of faultscope failed")
    if large:
        sys.exit(f"faultscope had more than {MOST_RSS_MIB} MiB resident")
    if failed:
        sys.exit(f"at 1,000 processes it is less than {LEAST_RATIO} times cheaper")


if __name__ == "__main__":
    main()
