#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that BPF programs at tracepoints of mmap_lock never ask for file names of stacks. Prints TAP.

usage: walks.py OBJECT...

With BPF_F_USER_BUILD_ID, bpf_get_stack() takes mmap_lock to find the files of a stack, and the
tracepoints of mmap_lock fire during this time. If interrupts are disabled,
stack_map_get_build_id_offset() of kernel/bpf/stackmap.c releases the lock through the only irq_work
of the CPU. A second call of bpf_get_stack() with this flag would reuse the irq_work before the
irq_work ran. Then mmap_lock would be released only once, although it was taken twice, and the
process would hang for ever.
"""
import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(1, str(ROOT / "tests/e2e"))

from bpf_object import CALL, MOV, Object  # noqa: E402
from run import Tap  # noqa: E402

WALKS = 67, 141  # helper numbers of bpf_get_stack and bpf_get_task_stack
NAMES_FILES = 1 << 11  # the flag BPF_F_USER_BUILD_ID
FLAGS = 4  # number of the register that holds the fourth argument of a helper
CONSTANT = 0xb7, 0xb4  # opcodes that move an immediate to a register, 64 and 32 bits
WRITES = 0, 1, 4, 7  # instruction classes LD, LDX, ALU, ALU64, which change the target register
TRACEPOINTS = "mmap_lock", "contention_"


def flags_of_walks(bpf, section, functions):
    """Yields (function, flags) of each stack helper call in a section. The value of flags is None
    if it is not a constant."""
    current, known = None, {}
    for one in bpf.instructions(bpf.content(section)):
        if (section, one.at) in functions:
            current, known = functions[section, one.at], {}
        if one.opcode in CONSTANT:
            known[one.target] = one.immediate
        elif one.opcode == MOV:
            known[one.target] = known.get(one.source)
        elif one.opcode == CALL:
            if not one.source and one.immediate in WALKS:
                yield current, known.get(FLAGS)
            known = {}
        elif one.opcode & 7 in WRITES:
            known.pop(one.target, None)


def reached(function, found):
    """Returns a function itself and all functions that it calls directly or indirectly."""
    if function not in found:
        found.add(function)
        for called in function.calls:
            reached(called, found)
    return found


def check_walks(check, path):
    bpf = Object(path)
    functions = bpf.functions()
    walks = [walk for section in bpf.sections
             for walk in flags_of_walks(bpf, section, functions)]
    check.that(any(flags is not None and flags & NAMES_FILES for _, flags in walks),
               "no walk that names files was found in the whole object")
    programs = [function for (section, _), function in functions.items()
                if any(name in bpf.sections[section] for name in TRACEPOINTS)]
    check.that(len(programs) >= 5, f"only {len(programs)} programs at {TRACEPOINTS}")
    for program in programs:
        within = reached(program, set())
        for function, flags in walks:
            if function in within:
                check.that(flags is not None and not flags & NAMES_FILES,
                           f"{program.name} may name files in {function.name}: flags {flags}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("objects", metavar="OBJECT", nargs="+")
    tap = Tap()
    for path in parser.parse_args().objects:
        tap.test(f"{Path(path).name}: no walk that names files within another", check_walks, path)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
