#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures CPU and output of the live view with many processes, at an interval of 1 s.

usage: view.py [--processes N] [--seconds N] [--limit PERCENT]

The view runs on a pseudo-terminal of 200 columns and 50 lines. It is measured twice: with N
processes that sleep, and with N processes that each fault ten pages a second. The script measures
each tab, then the tree, the page of one process, and a paused view. The CPU time is that of the
whole faultscope process in /proc/PID/schedstat. This CPU time does not include the BPF programs,
which run in the watched processes. Exits with 1 if CPU exceeds --limit.
"""
import argparse
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTSCOPE = ROOT / os.environ.get("BUILD", "build") / "faultscope"
# Python program that forks idle or busy children
LOAD = """
import mmap, os, sys, time
busy = sys.argv[2] == "busy"
for _ in range(int(sys.argv[1])):
    if not os.fork():
        area = mmap.mmap(-1, 40960)
        while True:
            time.sleep(1 if busy else 1000)
            area.madvise(mmap.MADV_DONTNEED)
            for page in range(10):
                area[page * 4096] = 1
print("ready", flush=True)
time.sleep(1000)
"""
STATES = [("table", b""), ("maps", b"2"), ("fds", b"3"), ("memory", b"4"), ("kernel", b"5"),
          ("findings", b"6"), ("tree", b"1t"), ("one process", b"t\r"), ("paused", b"\033 ")]


class View:
    def __init__(self):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen([FAULTSCOPE, "1"], stdin=theirs, stdout=theirs, env=env,
                                        start_new_session=True)
        os.close(theirs)

    def drain(self, seconds):
        """Reads the output for some seconds. Returns the number of bytes that were read."""
        n, end = 0, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.ours], [], [], left)[0]:
                try:
                    n += len(os.read(self.ours, 65536))
                except OSError:  # read() fails with EIO when faultscope has exited
                    break
        return n

    def cpu_s(self):
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]) / 1e9

    def resident_mib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def close(self):
        os.write(self.ours, b"q")
        self.drain(0.5)
        self.process.wait(10)
        os.close(self.ours)


def measure(load, seconds):
    view, worst = View(), 0
    view.drain(3)
    for name, keys in STATES:
        os.write(view.ours, keys)
        view.drain(1.5)
        start, cpu = time.monotonic(), view.cpu_s()
        n = view.drain(seconds)
        took = time.monotonic() - start
        percent = (view.cpu_s() - cpu) / took * 100
        worst = max(worst, percent)
        print(f"{load:22} {name:12} {percent:5.2f} % of a CPU {n / took / 1024:7.1f} KiB/s",
              flush=True)
    print(f"{load:22} resident     {view.resident_mib():5.1f} MiB")
    view.close()
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--limit", type=float, default=3)
    options = parser.parse_args()
    worst = 0
    for kind in "idle", "busy":
        load = subprocess.Popen([sys.executable, "-c", LOAD, str(options.processes), kind],
                                stdout=subprocess.PIPE, text=True, start_new_session=True)
        load.stdout.readline()
        try:
            worst = max(worst, measure(f"{options.processes} {kind} processes", options.seconds))
        finally:
            os.killpg(load.pid, 9)
            load.wait()
    if worst > options.limit:
        sys.exit(f"{worst:.2f} % is more than {options.limit:g} %")


if __name__ == "__main__":
    main()
