#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that kernels before 5.12 accept the atomic instructions of BPF objects. Prints TAP.

usage: atomics.py OBJECT...

These kernels have one atomic instruction: an addition that returns no value. For other atomic
instructions, the verifier of these kernels prints "BPF_STX uses reserved fields" (5ca419f2864a,
5.12). Compilers differ in when they use other atomic instructions.
"""
import sys

from bpf_object import Object
from object_checks import main

ATOMIC = 0xc3, 0xdb  # opcodes BPF_STX | BPF_ATOMIC for 32 and 64 bits
# immediate of an atomic addition that returns no value; other operations, such as exchange, have
# other values, and bit 0 is set if the instruction returns the old value
ADD = 0


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
