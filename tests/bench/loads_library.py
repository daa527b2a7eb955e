#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Loads a library, and then maps memory once in each millisecond, for one second, in a function that
the library calls back: call_back(function).

usage: loads_library.py LIBRARY [--wait]
"""
import ctypes
import json
import mmap
import os
import sys
import time


def main():
    print(json.dumps({"pid": os.getpid()}), flush=True)
    if "--wait" in sys.argv:
        sys.stdin.readline()
    kept = []
    function = ctypes.CFUNCTYPE(None)(lambda: kept.append(mmap.mmap(-1, mmap.PAGESIZE)))
    library = ctypes.CDLL(sys.argv[1])
    for _ in range(1000):
        library.call_back(function)
        time.sleep(0.001)
    print(json.dumps({"pid": os.getpid(), "maps": len(kept)}), flush=True)


if __name__ == "__main__":
    main()
