#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Whether programs of a BPF object that run within a walk of a stack name files. Prints TAP.

usage: walks.py OBJECT...

bpf_get_stack() takes mmap_lock to name the files of a stack. The tracepoints of that lock fire
within the walk. Where interrupts are disabled, stack_map_get_build_id_offset() of
kernel/bpf/stackmap.c releases the lock by the only irq_work of the CPU. A second walk that names
files would use it again before it ran: one release is lost, and the process hangs for ever. So no
program at these tracepoints may ask for files.
"""
import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(1, str(ROOT / "tests/e2e"))

from bpf_object import CALL, MOV, Object  # noqa: E402
from run import Tap  # noqa: E402

WALKS = 67, 141  # bpf_get_stack, bpf_get_task_stack
NAMES_FILES = 1 << 11  # BPF_F_USER_BUILD_ID
FLAGS = 4  # the register of the helper's fourth argument
CONSTANT = 0xb7, 0xb4  # moves of an immediate, of 64 and of 32 bits
WRITES = 0, 1, 4, 7  # classes LD, LDX, ALU, ALU64: the target register changes
TRACEPOINT = "mmap_lock"


def flags_of_walks(bpf, section, functions):
    """(function, flags) of each walk in a section; the flags are None where they are no constant."""
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
    """All functions that one calls, and itself."""
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
                if TRACEPOINT in bpf.sections[section]]
    check.that(len(programs) >= 3, f"only {len(programs)} programs at the tracepoints of {TRACEPOINT}")
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
