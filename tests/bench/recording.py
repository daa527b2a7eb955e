#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Estimates the size of a recording of one day with 1,000 processes, from a run of a few minutes.

usage: recording.py [SECONDS [PROCESSES]]

Starts PROCESSES processes (default: 1000). A tenth of them touch memory and open files all the
time, a third wake up every few seconds, and the others sleep. The script records all processes of
the host every 10 seconds, and extrapolates to a day. A day's recording has 24 key chunks, which can
be read without earlier chunks. For their size, the script takes the size of the first chunk. The
day's recording also has 8,616 other chunks. For their size, the script takes the average size of
the other chunks.
"""
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTSCOPE = ROOT / os.environ.get("BUILD", "build") / "faultscope"
FILE_HEADER = 24
CHUNK = struct.Struct("<IIIIIIQ")  # chunk header, as in src/probe/record_packing.h
KEYS_A_DAY, LOOKS_A_DAY = 24, 8640
INTERVAL = 10


def work(pause):
    """Touches memory, opens a file and sleeps, in an endless loop."""
    while True:
        block = bytearray(random.randrange(1 << 12, 1 << 20))
        with open("/proc/self/stat", "rb") as f:
            f.read()
        del block
        time.sleep(pause * random.uniform(0.5, 1.5))


def spawn(n):
    children = []
    for i in range(n):
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            random.seed(i)
            work(1 if i % 10 == 0 else 7 if i % 3 == 0 else 1e6)
        children.append(pid)
    return children


def chunks(data):
    at = FILE_HEADER
    while at < len(data):
        packed, flags = CHUNK.unpack_from(data, at)[3], CHUNK.unpack_from(data, at)[5]
        yield CHUNK.size + packed, bool(flags & 1)
        at += CHUNK.size + packed


def main(seconds=180, processes=1000):
    children = spawn(processes)
    try:
        time.sleep(2)
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "day.fsr"
            subprocess.run([FAULTSCOPE, "record", "-q", "-i", str(INTERVAL), "-d", str(seconds),
                            "-o", path], check=True)
            told = subprocess.run([FAULTSCOPE, "info", path], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout
            sizes = list(chunks(path.read_bytes()))
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)
    print(told)
    first, others = sizes[0][0], [size for size, _ in sizes[1:-1]]
    mean = sum(others) / len(others)
    day = KEYS_A_DAY * first + (LOOKS_A_DAY - KEYS_A_DAY) * mean
    quiet = KEYS_A_DAY * first + (LOOKS_A_DAY - KEYS_A_DAY) * min(others)
    print(f"first look {first:,} bytes, others {mean:,.0f} ({min(others):,} to {max(others):,}): "
          f"a day {day / 1e6:.1f} MB; {quiet / 1e6:.1f} MB if all looks were as the smallest, "
          "which few processes ended in")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
