# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `make bench`: a failing row does not stop the others, disturbances are reported, and rows
that were not measured now keep their older results. No time is checked."""

import json
import os
import shutil
import sys
import time

from harness import BUILD, FAULTSCOPE, ROOT, Skip, live, needs_long, some_of, until

sys.path.append(str(ROOT / "tests/bench"))

from procs import Running, Setup  # noqa: E402
from rows import MODES  # noqa: E402

LEAST_PROGRAMS = 10  # BPF programs that each mode of faultscope attaches
BROKEN = "#!/bin/sh\necho broken on purpose >&2\nexit 1\n"
PATIENCE = 600  # seconds


def bench(lab, *words, **how):
    for name in ("clang", "perf", "bpftrace", "sqlite3"):
        if not shutil.which(name):
            raise Skip(f"no {name}: tools/setup.sh bench")
    return lab.call(ROOT / "tests/bench/run.py", "--build", BUILD, "--rounds", "1", "--divisor",
                    "100", *words, timeout=PATIENCE, **how)


def broken(lab, *names):
    """Returns an environment in which these programs fail."""
    place = lab.dir / "broken"
    place.mkdir()
    for name in names:
        (place / name).write_text(BROKEN, encoding="ascii")
        (place / name).chmod(0o755)
    return {**os.environ, "PATH": f"{place}:{os.environ['PATH']}"}


@live
def test_bench_goes_on_after_failures(check, lab):
    needs_long()
    foreign = lab.spawn([FAULTSCOPE, "--json"], stdout=lab.dir.joinpath("foreign").open("w"))
    until(lambda: (lab.dir / "foreign").stat().st_size, "the other faultscope")
    data = lab.dir / "data.json"
    ran = bench(lab, "--rows", "signal,sqlite,size", "--save", data,
                env=broken(lab, "bpftrace", "sqlite3"))
    foreign.terminate()
    check.equal("status", ran.returncode, 0)
    result = json.loads(data.read_text(encoding="utf-8"))
    rows = {(row["work"], row["mode"], row.get("of")): row for row in result["rows"]}
    for key, row in rows.items():
        fails = key[0] == "sqlite" or key[1] == "bpftrace"
        check.equal(f"{key} is measured", "median" in row, not fails)
        check.equal(f"{key}: broken", "broken on purpose" in row.get("why", ""), fails)
    check.equal("modes for events that watch one process",
                sorted({mode for work, mode, of in rows if work == "signal" and of == "another"}),
                ["-p", "-p --children", "diagnose", "record -p", "run"])
    check.that(rows["signal", "-p", "watched"]["base"] > 0, "a base without time")
    check.that("signal        bpftrace                      not measured: " in ran.out, ran.out)
    check.that("on_signal" in result["others"]["foreign_programs"], f"{result['others']}")
    check.equal("disturbed rounds", rows["signal", "-p", "watched"]["disturbed"], 1)
    check.that("warning: foreign BPF programs were loaded" in ran.out, ran.out[-600:])
    # lab.call() starts the benchmark in a session of its own.
    # The process that holds tracepoints ends when the kernel has removed them, which takes seconds.
    until(lambda: not lab.call("pgrep", "-s", ran.pid).out, "the end of all programs")


@live
def test_bench_waits_until_attached(check, _):
    """A value is only measured when the tool has attached all its probes."""
    setup = Setup(str(ROOT), str(BUILD))
    try:
        # run starts the workload when its probes are attached
        for mode in some_of([mode for mode in MODES if not mode.tool.wraps], 3):
            with Running(setup, mode.tool, setup.other) as running:
                early = running.own_programs()
                time.sleep(0.5)
                late = running.own_programs()
            check.that(len(early) >= LEAST_PROGRAMS, f"{mode.name}: only {len(early)} programs")
            check.equal(f"{mode.name}: programs that came later", late - early, set())
    finally:
        setup.close()


@live
def test_bench_keeps_other_rows(check, lab):
    needs_long()
    data = lab.dir / "data.json"
    for name in "size", "report":
        check.equal(f"status of {name}", bench(lab, "--rows", name, "--save", data).returncode, 0)
    rows = json.loads(data.read_text(encoding="utf-8"))["rows"]
    check.equal("rows", [row["work"] for row in rows], ["size", "report"])
    check.that(all(row["median"] > 100 for row in rows), f"{rows}")
    data.write_text("{}", encoding="ascii")
    ran = bench(lab, "--rows", "size", "--save", data)
    check.equal("status with a file of something else", ran.returncode, 1)
    check.that("is not a file of results" in ran.err, ran.err)
    check.equal("the file", data.read_text(encoding="ascii"), "{}")


def test_bench_refuses_unknown_rows(check, lab):
    ran = lab.call(ROOT / "tests/bench/run.py", "--rows", "fault,nonsense")
    check.equal("status", ran.returncode, 2)
    check.that("no row nonsense; there are: fault getppid" in ran.err, ran.err)
    ran = lab.call(ROOT / "tests/bench/run.py", "--rounds", "0")
    check.equal("status of no round", ran.returncode, 2)
