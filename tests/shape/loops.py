#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that kernels before 6.2 accept the loops of BPF objects. Prints TAP.

usage: loops.py OBJECT...

In these kernels, check_cfg() of kernel/bpf/verifier.c searches the instructions of a function
depth-first. It rejects the function ("back-edge from insn A to B") in this case: an instruction
that is no jump is followed by an instruction whose search has not finished yet. So check_cfg()
rejects a loop if the compiler placed the head of the loop behind its body: the body then falls
through to the head.
"""
import sys

from bpf_object import CALL, FUNCTION, Object
from object_checks import main

# opcodes of exit and of jumps without condition; classes JMP and JMP32
EXIT, ALWAYS, JUMPS = 0x95, (0x05, 0x06), (5, 6)


def is_jump(one):
    return one.opcode & 7 in JUMPS and one.opcode != CALL


def next_of(one):
    """Returns the offsets of an instruction's successors, in the order in which the kernel visits
    them."""
    behind = one.at + one.size
    if one.opcode == EXIT:
        return []
    if not is_jump(one):
        return [behind]
    target = one.at + 8 * (one.offset + 1)
    return [target] if one.opcode in ALWAYS else [behind, target]


def refused(begin, by_offset):
    """Returns the offsets of those instructions of a function that check_cfg() of the kernel would
    reject."""
    found, below, done = [], {begin}, set()
    path = [(by_offset[begin], iter(next_of(by_offset[begin])))]
    while path:
        one, following = path[-1]
        at = next(following, None)
        if at is None:
            path.pop()
            below.discard(one.at)
            done.add(one.at)
        elif at in below:
            if not is_jump(one):
                found.append(one.at)
        elif at not in done:
            below.add(at)
            path.append((by_offset[at], iter(next_of(by_offset[at]))))
    return found


def check_loops(check, path):
    bpf = Object(path)
    functions = [(name, section, at) for name, kind, section, at in bpf.symbols
                 if kind == FUNCTION and section in bpf.sections]
    check.that(len(functions) > 5, f"only {len(functions)} functions")
    for name, section, begin in functions:
        by_offset = {one.at: one for one in bpf.instructions(bpf.content(section))}
        for at in refused(begin, by_offset):
            check.that(False, f"{name}: the head of a loop is behind its instruction {(at - begin) // 8}")


if __name__ == "__main__":
    sys.exit(main(__doc__, "kernels before 6.2 take its loops", check_loops))
