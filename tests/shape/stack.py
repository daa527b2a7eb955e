#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks how much stack each call chain in BPF objects takes. Prints TAP; --list prints the chains.

usage: stack.py [--list] OBJECT...

The verifier rejects a program if the frames of a chain exceed 512 bytes, each rounded up to 32
(check_max_stack_depth() in kernel/bpf/verifier.c). Compilers differ in what they keep on the stack,
so BUDGET is below 512 bytes, as a margin for other compilers.
"""
import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(1, str(ROOT / "tests/e2e"))

from bpf_object import Object  # noqa: E402
from run import Tap  # noqa: E402

BUDGET = 384  # allowed bytes of stack in a call chain
FRAME_UNIT = 32


def frame(function):
    return max(FRAME_UNIT, -(-function.stack // FRAME_UNIT) * FRAME_UNIT)


def deepest(function):
    """Returns (bytes, functions) of the call chain that takes the most stack, beginning with this
    function."""
    below = max((deepest(one) for one in function.calls), key=lambda chain: chain[0],
                default=(0, []))
    return frame(function) + below[0], [function, *below[1]]


def chains(path):
    """Returns one call chain for each function that no other function calls: the chain that takes
    the most stack. The chain with the most stack is first."""
    functions = Object(path).functions().values()
    called = {id(one) for function in functions for one in function.calls}
    found = [deepest(one) for one in functions if id(one) not in called]
    return sorted(found, key=lambda chain: -chain[0])


def told(chain):
    frames = " -> ".join(f"{one.name} {one.stack}" for one in chain[1])
    return f"{chain[0]:4} {frames}"


def check_budget(check, path):
    found = chains(path)
    check.that(len(found) > 5, f"only {len(found)} programs")
    check.that(found and found[0][0] > 0, "no stack at all was found")
    check.equal("chains beyond the budget", [told(one) for one in found if one[0] > BUDGET], [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--list", action="store_true", help="print each call chain, deepest first")
    parser.add_argument("objects", metavar="OBJECT", nargs="+")
    options = parser.parse_args()
    if options.list:
        for path in options.objects:
            print(path)
            for chain in chains(path):
                print(told(chain))
        return 0
    tap = Tap()
    for path in options.objects:
        tap.test(f"{Path(path).name}: each chain of calls takes at most {BUDGET} bytes of stack",
                 check_budget, path)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
