#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests faultscope in real kernels under QEMU: every probe, and every attach type. Prints TAP.

Kernels are tested in parallel, each by a process of its own. Results are kept for the table of
docs/kernel-tests.md (table.py).
"""
import argparse
import importlib.util
import os
import signal
import sys
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True

import fetch  # noqa: E402
import kernel  # noqa: E402
import programs  # noqa: E402
from aptroot import Missing  # noqa: E402
from beside import SideBySide  # noqa: E402
from table import Cells, markdown, saved  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
RESULTS = {False: ROOT / "build/kernels", True: ROOT / "build/kernels-brief"}
ZOO = ROOT / "tests/zoo/run.py"


def e2e_tap():
    """Returns the TAP writer of tests/e2e/run.py. (That file has the same name as this file, so it
    is loaded by path.)"""
    path = ROOT / "tests/e2e/run.py"
    spec = importlib.util.spec_from_file_location("e2e_run", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Tap()


def test_here(name, options):
    """Tests one kernel in this process."""
    tap, cells = e2e_tap(), Cells(name)
    kernel.test_kernel(tap, cells, name, options)
    if cells.rows and not options.only:
        cells.save(options.results)
    print(f"1..{tap.done}")
    return tap.failed > 0


def fetch_for(names):
    """Fetches and builds what the tests of several kernels share, before these tests run in
    parallel."""
    for name in names:
        try:
            found = fetch.kernel(name)
            fetch.qemu(found.arch)
            fetch.busybox(found.arch)
            programs.static_workloads(found.arch)
        except Missing:
            pass  # ignored here, since the kernel's own test reports what is missing


def program(name, *argv):
    """Returns (name, function that executes a Python program of this directory)."""
    return name, partial(os.execv, sys.executable, [sys.executable, *(str(word) for word in argv)])


def show(text):
    for line in text.splitlines():
        print(f"# {line}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", metavar="NAME,...", default=",".join(fetch.KERNELS),
                        help=f"kernels to test, of {', '.join(fetch.KERNELS)} (default: all)")
    parser.add_argument("--only", metavar="NAME",
                        help="run only scenarios and attach types (PROBE=TYPE) that contain NAME")
    parser.add_argument("--brief", action="store_true",
                        help="fewer tests: attach types in common starts only, with BTF and rights")
    parser.add_argument("--zoo", metavar="NAME", action="append", default=[],
                        help="also run the failing calls of tests/zoo on this kernel")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count(),
                        help="number of kernels to test in parallel (default: one per CPU)")
    parser.add_argument("--results", metavar="DIRECTORY", type=Path,
                        help="directory that keeps results for the table (default: build/kernels,"
                        " or build/kernels-brief)")
    parser.add_argument("--table", metavar="FILE", type=Path,
                        help="write all kept results as a Markdown table")
    parser.add_argument("--faultscope", metavar="ARCH=PATH", action="append", default=[],
                        help="static faultscope for guests of an architecture (amd64, arm64)")
    options = parser.parse_args()
    options.results = options.results or RESULTS[options.brief]
    unknown = {*options.kernels.split(",")} - set(fetch.KERNELS) | \
        {*options.zoo} - set(fetch.SOURCES)
    if unknown:
        parser.error(f"no such kernel: {', '.join(sorted(unknown))}"
                     f" (there are {', '.join(fetch.SOURCES)})")
    return options


def main():
    options = arguments()
    # exits normally on SIGTERM, so that guests and their files are removed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    names = options.kernels.split(",")
    if len(names) == 1 and not options.zoo:
        good = not test_here(names[0], options)
    else:
        fetch_for({*names, *options.zoo})
        words = ["--results", options.results]
        words += ["--only", options.only] if options.only else []
        words += ["--brief"] if options.brief else []
        words += [word for one in options.faultscope for word in ("--faultscope", one)]
        beside = SideBySide()
        beside.run([*(program(name, __file__, *words, "--kernels", name) for name in names),
                    *(program(f"zoo {name}", ZOO, "--vm", name) for name in options.zoo)],
                   options.jobs)
        good = not beside.end()
    if options.table:
        text = markdown(saved(options.results, fetch.KERNELS))
        options.table.write_text(text, encoding="utf-8")
        show(text)
    return not good


if __name__ == "__main__":
    sys.exit(main())
