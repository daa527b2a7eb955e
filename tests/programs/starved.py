#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Starts a thread when RLIMIT_AS leaves almost no memory. Tries different amounts of free memory,
each in a child process, until a child hangs. In this child, Thread.start() waits forever for a
report from the new thread. The thread has ended for lack of memory before it could report its
start."""
import mmap
import resource
import subprocess
import sys
import threading

AMOUNTS = [*range(50, 1001, 50)] * 3
SECONDS = 9  # a child that lives longer than this hangs


def do_nothing():
    pass


def fill(objects):
    """Takes all free memory: large mappings first, then small objects."""
    maps, size = [], 1 << 20
    while size >= 4096:
        try:
            maps.append(mmap.mmap(-1, size))
        except (OSError, MemoryError):
            size //= 2
    for make in (lambda: bytearray(600), lambda: [None] * 4):
        try:
            while True:
                objects.append(make())
        except MemoryError:
            pass
    return maps


def starve(amount):
    # glibc keeps the stack of this thread, so that the next thread needs no memory for a stack
    first = threading.Thread(target=do_nothing)
    first.start()
    first.join()
    with open("/proc/self/statm", encoding="ascii") as statm:
        size = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))
    objects = []
    kept = fill(objects)
    del objects[-amount:]
    threading.Thread(target=do_nothing).start()
    del kept


def main():
    print("ready", flush=True)
    sys.stdin.readline()
    for amount in AMOUNTS:
        child = subprocess.Popen([sys.executable, __file__, str(amount)], stdin=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            print(f"hangs: {child.pid}", flush=True)
            sys.stdin.read()
            child.kill()
            child.wait()
            return
    print("none of them hangs", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        starve(int(sys.argv[1]))
    else:
        main()
