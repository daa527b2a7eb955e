#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the exporter's tests that take seconds, or with --fleet the tests that take minutes. Prints
TAP. BUILD in the environment names the build to test."""
import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import run as e2e  # noqa: E402
from harness import FAULTSCOPE  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fleet", action="store_true", help="run the tests that take minutes")
    parser.add_argument("--only", metavar="NAME", help="run only tests whose name contains NAME")
    parser.add_argument("--no-live", action="store_true", help="run only tests without root")
    parser.add_argument("--keep", action="store_true", help="keep the files of each test")
    e2e.add_jobs(parser)
    options = parser.parse_args()
    options.make_recordings = False
    if not FAULTSCOPE.exists():
        sys.exit(f"{FAULTSCOPE} is not built: make")
    runner = e2e.Runner(options)
    paths = HERE.glob("fleet_*.py" if options.fleet else "test_*.py")
    sys.exit(runner.run_all(e2e.find_tests(options.only, paths)))


if __name__ == "__main__":
    main()
