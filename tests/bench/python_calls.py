#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures the time to create and remove a mapping below a number of Python calls. Its command line
and its output are those of the workload `bench`.

usage: python_calls.py mapunmap COUNT [--pin CPU] [--frames CALLS] [--wait]
"""
import argparse
import json
import mmap
import os
import sys
import time

BATCHES = 40


def map_and_unmap(count):
    for _ in range(count):
        mmap.mmap(-1, mmap.PAGESIZE).close()


def below(calls, count):
    if calls:
        below(calls - 1, count)
    else:
        map_and_unmap(count)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["mapunmap"])
    parser.add_argument("count", type=int)
    parser.add_argument("--pin", type=int)
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--wait", action="store_true")
    args = parser.parse_args()
    if args.pin is not None:
        os.sched_setaffinity(0, {args.pin})
    if args.wait:
        print(json.dumps({"pid": os.getpid()}), flush=True)
        sys.stdin.readline()
    took = []
    for _ in range(BATCHES):
        start = time.perf_counter_ns()
        below(args.frames, args.count // BATCHES)
        took.append((time.perf_counter_ns() - start) / (args.count // BATCHES))
    print(json.dumps({"pid": os.getpid(), "ns_per_op": sorted(took)[BATCHES // 10]}), flush=True)


if __name__ == "__main__":
    main()
