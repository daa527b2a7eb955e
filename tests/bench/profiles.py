#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures what --export.profiles costs: page faults of a program beside exporters without options,
with --export.detail=full and with --export.profiles, in turns; and CPU time and memory of a request.
Prints minima and medians. Needs root and BPF.

usage: profiles.py [ROUNDS]
"""
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
FAULTSCOPE = ROOT / "build/faultscope"
FAULTS = 12 * 16384
WORK = """import mmap, time
begin = time.process_time()
for _ in range(12):
    area = mmap.mmap(-1, 64 << 20)
    area.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, 64 << 20, 4096):
        area[at] = 1
    area.close()
print(time.process_time() - begin)
"""
WAYS = {"no option": (), "--export.detail=full": ("--export.detail=full",),
        "--export.profiles": ("--export.profiles",)}


def worked():
    return float(subprocess.run([sys.executable, "-c", WORK], stdout=subprocess.PIPE, text=True,
                                check=True).stdout)


def cpu_seconds(pid):
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / 100


def beside(options, place):
    """Returns CPU seconds of the program, CPU seconds of a request, and the exporter's peak memory
    in MB."""
    with subprocess.Popen([FAULTSCOPE, "export", "--web.listen-address", "127.0.0.1:0",
                           "--incident.store", f"{place}/incidents", "--oom.store", f"{place}/oom",
                           "--incident.on", "none", *options], stderr=subprocess.PIPE,
                          text=True) as ran:
        url = None
        while not url:
            url = re.search(r"(http://\S+)/metrics", ran.stderr.readline())
        urllib.request.urlopen(url[0]).read()
        work = worked()
        begin = cpu_seconds(ran.pid)
        path = "/debug/pprof/faults" if "--export.profiles" in options else "/metrics"
        urllib.request.urlopen(url[1] + path).read()
        request = cpu_seconds(ran.pid) - begin
        peak = int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{ran.pid}/status").read_text(
            encoding="utf-8"))[1]) / 1000
        ran.send_signal(signal.SIGTERM)
        time.sleep(0.1)
    return work, request, peak


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    results = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as place:
        for _ in range(rounds):
            for way, options in WAYS.items():
                results[way].append(beside(options, place))
    base = min(one[0] for one in results["no option"])
    for way, all_of in results.items():
        work = [one[0] for one in all_of]
        print(f"{way}: program {min(work):.3f} s (median {statistics.median(work):.3f} s), "
              f"{(min(work) - base) / FAULTS * 1e6:.2f} us more for each fault; "
              f"request {statistics.median(one[1] for one in all_of):.2f} s of CPU time; "
              f"memory {max(one[2] for one in all_of):.0f} MB")


if __name__ == "__main__":
    main()
