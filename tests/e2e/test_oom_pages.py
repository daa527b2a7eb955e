# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the command oom: the post-mortems of OOM kills that are made here."""

import contextlib
import os
import subprocess
import time
from pathlib import Path

import oom_kills
from harness import Skip, aside, live, until

V1 = Path("/sys/fs/cgroup/memory")
V2 = Path("/sys/fs/cgroup")
RIGHT_OF_100 = 95  # at least this share of all answers must be right
# The kernel logs at most 10 reports in 5 seconds: oom_kill_process() in mm/oom_kill.c. A kill in
# which many processes end uses up several of them.
PAUSE, LONG_PAUSE = 0.7, 6
MANY = ("fork bomb", "twenty workers")


def shell(script):
    ran = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=120,
                         check=False)
    if ran.returncode:
        raise Skip(f"{script.strip().splitlines()[0]}: {ran.stderr.strip()}")


def place_of(lab):
    v1 = (V1 / "memory.limit_in_bytes").exists()
    if not v1 and not (V2 / "cgroup.controllers").exists():
        raise Skip("no cgroup with memory limits")
    tmpfs = Path(f"/dev/shm/oomkill-{os.getpid()}")
    tmpfs.mkdir(exist_ok=True)
    return oom_kills.Place(shell, V1 if v1 else V2, 1 if v1 else 2, lab.workload("oomkill"), tmpfs,
                           lab.dir, has=("threads", "disk"))


@contextlib.contextmanager
def watching(lab):
    """Runs faultscope oom --watch. Yields a function that returns its lines so far."""
    out, store = lab.dir / "pages", lab.dir / "store"
    process = lab.spawn([lab.program, "oom", "--watch", "--json", "-o", out, "--store", store])
    try:
        until(out.exists, "the first scan")
        time.sleep(1)
        yield lambda: oom_kills.lines_of(out.read_text()), store
    finally:
        process.terminate()
        process.wait(20)


@live
@aside  # kills of other tests would be among the newest
def test_oom_store_of_the_exporter(check, lab):
    """The exporter stores the newest kills, without privileges and within its bound."""
    place, one = place_of(lab), oom_kills.KILLS[0]
    store = lab.dir / "kept"
    process = lab.spawn([lab.program, "export", "--web.listen-address", "127.0.0.1:0",
                         "--oom.store", store, "--oom.keep", "2"])
    process.stderr.readline()
    time.sleep(2)
    for i in range(3):
        group = place.make(one, f"faultscope-oom-{os.getpid()}-{i}")
        stored = set(store.glob("*.fsr"))
        try:
            place.start(one, group, lab.dir / "said")
            until(lambda stored=stored: set(store.glob("*.fsr")) - stored, "a stored page")
        finally:
            place.end(one, group, lab.dir / "said")
    process.terminate()
    process.wait(20)
    place.tmpfs.rmdir()
    check.equal("stored pages", len(list(store.glob("*.fsr"))), 2)
    page = lab.faultscope("oom", "--store", store).out
    check.that("hog" in page and "the killed process itself" in page, f"{page!r}")


@live
def test_oom_kill_of_a_recording(check, lab):
    """A recording has the page of a kill after the cgroup is gone."""
    place = place_of(lab)
    one = next(kill for kill in oom_kills.KILLS if kill.name == "PID 1 of a container")
    name, file = f"faultscope-oom-{os.getpid()}-recorded", lab.dir / "kill.fsr"
    process = lab.spawn([lab.program, "record", "-o", file])
    until(file.exists, "the recording")
    time.sleep(3)
    group = place.make(one, name)
    try:
        place.start(one, group, lab.dir / "said")
        until(lambda: "oom_kill 1" in (Path(group) / "memory.oom_control").read_text()
              if place.version == 1 else
              "oom_kill 1" in (Path(group) / "memory.events").read_text(), "the kill")
        time.sleep(1)
    finally:
        place.end(one, group, lab.dir / "said")
    process.terminate()
    process.wait(20)
    place.tmpfs.rmdir()
    check.that(not Path(group).exists(), "the cgroup is gone")
    lines = oom_kills.lines_of(lab.faultscope("oom", "--json", file).out)
    check.equal("what is wrong", oom_kills.judge_stored(one, lines, name), {})


@live
def test_oom_kills(check, lab):
    """Limit, kind of memory and holder are right for nearly all kills of the table."""
    place = place_of(lab)
    kills = [one for one in oom_kills.KILLS if place.can(one)]
    right = dict.fromkeys(("limit", "kind", "holder", "blame"), 0)
    with watching(lab) as (lines, store):
        for i, one in enumerate(kills):
            name = f"faultscope-oom-{os.getpid()}-{i}"
            group = place.make(one, name)
            try:
                place.start(one, group, lab.dir / "said")
                with contextlib.suppress(AssertionError):
                    until(lambda name=name: oom_kills.page_of(lines(), name), one.name, 20)
                page = oom_kills.page_of(lines(), name)
            finally:
                place.end(one, group, lab.dir / "said")
            time.sleep(LONG_PAUSE if one.name in MANY else PAUSE)
            wrong = oom_kills.judge(one, page, name)
            print(f"# {one.name}: {wrong or 'right'}")
            for topic in right:
                right[topic] += topic not in wrong
        stored = sorted(store.glob("*.fsr"))
    with contextlib.suppress(OSError):
        place.tmpfs.rmdir()
    check.that(len(stored) >= len(kills) * RIGHT_OF_100 // 100, f"{len(stored)} pages are stored")
    for topic, n in right.items():
        check.that(n * 100 >= len(kills) * RIGHT_OF_100, f"{topic}: {n} of {len(kills)} right")
