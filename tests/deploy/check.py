#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the files of deploy/ with the programs that read them. Prints TAP.

usage: check.py [NAME...]   runs only tests whose name contains a NAME
"""
import importlib
import sys
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "e2e"), str(HERE.parents[1] / "tools")]

from run import Tap  # noqa: E402


def tests():
    """Yields every function test_* of every module test_*.py in this directory."""
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        # list() makes a copy, since a test may add names to its module
        for name, value in list(vars(module).items()):
            if name.startswith("test_") and callable(value):
                yield name.removeprefix("test_").replace("_", " "), value


def main():
    tap = Tap()
    for name, body in tests():
        if not sys.argv[1:] or any(word in name for word in sys.argv[1:]):
            tap.test(name, body)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
