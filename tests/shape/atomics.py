#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Whether kernels before 5.12 take the atomic instructions of a BPF object. Prints TAP.

usage: atomics.py OBJECT...

These kernels know one atomic instruction: an addition without an answer ("BPF_STX uses reserved
fields" is what they say of any other; 5ca419f2864a, 5.12). Compilers differ in when they use it.
"""
import sys

from bpf_object import Object
from object_checks import main

ATOMIC = 0xc3, 0xdb  # BPF_STX | BPF_ATOMIC, of 32 and of 64 bits
ADD = 0  # its immediate; others: exchange, or, and; with 1 in it the instruction answers


def check_atomics(check, path):
    bpf = Object(path)
    found = [one for code in bpf.code.values() for one in bpf.instructions(code)
             if one.opcode in ATOMIC]
    check.that(found, "no atomic instruction at all was found")
    others = [one.immediate for one in found if one.immediate != ADD]
    check.that(not others, f"{len(others)} of {len(found)} are no plain additions:"
                           f" {sorted({hex(one) for one in others})}")


if __name__ == "__main__":
    sys.exit(main(__doc__, "kernels before 5.12 take its atomics", check_atomics))
