# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A Python program whose functions keep known amounts of memory: see hold.c.

Objects are bytearrays of 1 MiB, which the C library maps one by one, and lists of floats, which
CPython keeps in its own arenas. numpy is used where it is installed.
"""
import ctypes
import json
import sys

try:
    import numpy
except ImportError:
    numpy = None

KEPT = []
TRUTH = {}


def hold_bytearrays_60():
    KEPT.append([bytearray(b"x" * (1 << 20)) for _ in range(60)])


def hold_floats_40():
    # a float takes 24 bytes, for which the allocator gives 32 (obmalloc.c: ALIGNMENT), and its place
    # in the list takes 8
    KEPT.append([i * 0.5 for i in range(1 << 20)])


def free_bytearrays_100():
    one = [bytearray(b"x" * (1 << 20)) for _ in range(100)]
    del one


class Store:
    def __init__(self):
        self.rows = []

    def load_strings_24(self):
        # 47 characters and a header of 49 bytes: 96 bytes in an arena
        for i in range(24 * (1 << 20) // 104):
            self.rows.append(f"{i:047d}")


def hold_array_40():
    KEPT.append(numpy.ones(40 << 17))


def main():
    libc = ctypes.CDLL(None)
    if "huge" not in sys.argv:
        libc.prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE
    store = Store()
    free_bytearrays_100()
    for hold, mib in ((hold_bytearrays_60, 60), (hold_floats_40, 40), (store.load_strings_24, 24),
                      (free_bytearrays_100, 0)):
        hold()
        TRUTH[hold.__name__] = mib
    if numpy:
        hold_array_40()
        TRUTH["hold_array_40"] = 40
    KEPT.append(store)
    print(json.dumps({"holds": TRUTH}), flush=True)
    sys.stdin.read()


main()
