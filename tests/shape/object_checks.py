# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a check on each BPF object of the command line, and prints TAP."""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "e2e"))

from run import Tap  # noqa: E402


def main(about, name, check):
    """Runs `check` on each BPF object of the command line, and returns whether one failed. The
    first line of `about` is the help text.
    """
    parser = argparse.ArgumentParser(description=about.split("\n", 1)[0])
    parser.add_argument("objects", metavar="OBJECT", nargs="+")
    tap = Tap()
    for path in parser.parse_args().objects:
        tap.test(f"{Path(path).name}: {name}", check, path)
    print(f"1..{tap.done}")
    return tap.failed > 0
