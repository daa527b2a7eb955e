# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests which workloads have series of their own: places are kept for those near a limit, or with
failed calls. Each workload of a test is a real process in a cgroup with the name of a unit."""
import sys
import time
import uuid

from exporter import Exporter, until
from harness import Skip, idle, live
from test_workloads import Cgroups, mounts

IDLE = 27
FAILURES = 500
# Opens files up to a limit, then fails FAILURES times, and says so.
AT_THE_LIMIT = f"""import os, resource, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
failed = 0
while failed < {FAILURES}:
    try:
        os.dup(0)
    except OSError:
        failed += 1
print("full", flush=True)
time.sleep(1000)
"""
# Has N threads.
THREADS = """import sys, threading, time
ended = threading.Event()
for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=ended.wait, daemon=True).start()
print("full", flush=True)
time.sleep(1000)
"""
# Allocates and touches N MiB.
HOLDS = """import sys, time
held = b"x" * (int(sys.argv[1]) << 20)
print("held", flush=True)
time.sleep(1000)
"""


class Units(Cgroups):
    """Cgroups with names of units that no other test uses."""

    def __init__(self, *hierarchies):
        points = [mounts()[name] for name in hierarchies if name in mounts()]
        if not points:
            raise Skip(f"no hierarchy {hierarchies} that can be written to")
        super().__init__(points[0])
        self.mark = "flt" + uuid.uuid4().hex[:8]

    def name(self, number):
        letters = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        return f"{self.mark}-{letters}.service"

    def path(self, number):
        return f"/system.slice/{self.name(number)}"

    def run(self, number, *argv):
        return self.start(self.path(number), *argv)

    def idle(self, count):
        for i in range(count):
            self.run(i, "sleep", "1000")


def owned(samples):
    return {labels["workload"] for name, labels, _ in samples.all
            if name == "faultscope_workload_info"}


def says(lab, units, number, *argv):
    """Starts a program in a unit, and waits until it has printed a line."""
    out = lab.dir / f"{number}.out"
    units.run(number, "sh", "-c", f'exec "$@" > {out}', "sh", *argv)
    until(lambda: out.exists() and out.read_text(), f"{argv[0]} of unit {number}")


def limit_memory(units, number, size):
    group = units.make(units.path(number))
    limits = [path for path in (group / "memory.limit_in_bytes", group / "memory.max")
              if path.exists()]
    if not limits:
        raise Skip("no memory controller")
    limits[0].write_text(str(size))


@live
def test_a_unit_at_its_limit_displaces_an_idle_one(check, lab):
    """Another workload of the machine may displace one too, or end and leave its place."""
    units = Units("unified")
    try:
        units.idle(IDLE)
        exporter = Exporter(lab, "--workload.min-age", "0", "--limit.workloads", str(IDLE),
                            "--export.calls")
        before = owned(exporter.metrics())
        check.equal("all series are taken", len(before), IDLE)
        says(lab, units, IDLE, sys.executable, "-c", AT_THE_LIMIT)
        samples, unit = exporter.metrics(), units.name(IDLE)
        check.equal("file descriptors",
                    samples.of("faultscope_worst_process_open_fds", workload=unit), [1024])
        check.equal("failed calls", samples.of("faultscope_fd_failures_total", workload=unit,
                                               errno="EMFILE"), [FAILURES])
        check.that(before - owned(samples), "no workload lost its series")
        check.equal("workloads with series", samples.one("faultscope_workloads"), IDLE)
    finally:
        units.clean()


@live
def test_a_unit_near_its_memory_limit_displaces_an_idle_one(check, lab):
    units = Units("memory", "unified")
    try:
        units.idle(4)
        limit_memory(units, 4, 64 << 20)
        exporter = Exporter(lab, "--workload.min-age", "0", "--limit.workloads", "4")
        exporter.metrics()
        says(lab, units, 4, sys.executable, "-c", HOLDS, "52")
        until(lambda: units.name(4) in owned(exporter.metrics()), "series of the unit")
    finally:
        units.clean()


@live
def test_an_oom_kill_before_any_scan_is_of_the_unit(check, lab):
    """The process is gone before faultscope can read its cgroup."""
    units = Units("memory", "unified")
    try:
        limit_memory(units, 0, 16 << 20)
        exporter = Exporter(lab, "--workload.min-age", "0", "--limit.workloads", "200",
                            "--oom.store", lab.dir / "oom", "--incident.store", lab.dir / "in")
        exporter.metrics()
        killed = units.run(0, "sh", "-c", f'exec {sys.executable} -c "b = bytearray(64 << 20)"')
        check.equal("end of the process", killed.wait(60), -9)
        for name in ("faultscope_oom_kills_total", "faultscope_oom_kill_causes_total"):
            until(lambda: sum(exporter.metrics().of(name, workload=units.name(0))) == 1,
                  f"{name} of the unit")
    finally:
        units.clean()


def limit_tasks(units, number, tasks):
    group = units.make(units.path(number))
    if not (group / "pids.max").exists():
        raise Skip("no controller for pids")
    (group / "pids.max").write_text(str(tasks))
    return group


@live
def test_a_unit_near_its_limit_of_tasks_displaces_an_idle_one(check, lab):
    """At the next scrape. A unit with the same number of threads and a higher limit gets none."""
    units = Units("pids", "unified")
    try:
        units.idle(4)
        limit_tasks(units, 4, 20)
        limit_tasks(units, 5, 200)
        exporter = Exporter(lab, "--workload.min-age", "0", "--limit.workloads", "4")
        exporter.metrics()
        says(lab, units, 5, sys.executable, "-c", THREADS, "18")
        check.that(units.name(5) not in owned(exporter.metrics()), "far from its limit")
        says(lab, units, 4, sys.executable, "-c", THREADS, "18")
        after = owned(exporter.metrics())
        check.that(units.name(4) in after, f"no series of {units.name(4)}: {after}")
        check.that(units.name(5) not in after, f"series of {units.name(5)}")
    finally:
        units.clean()


@live
def test_a_unit_whose_forks_failed_displaces_an_idle_one(check, lab):
    """Its other processes have ended when it is scraped, so that it is not near its limit."""
    units = Units("pids", "unified")
    try:
        units.idle(4)
        group = limit_tasks(units, 4, 20)
        exporter = Exporter(lab, "--workload.min-age", "0", "--limit.workloads", "4")
        exporter.metrics()
        says(lab, units, 4, sys.executable, "-c", THREADS, "12")
        check.that(units.name(4) not in owned(exporter.metrics()), "series before a fork failed")
        units.run(4, "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.3 & done; wait").wait()
        check.that("max 0" not in (group / "pids.events").read_text(), "no fork failed")
        until(lambda: units.name(4) in owned(exporter.metrics()), "series of the unit")
    finally:
        units.clean()


@idle
@live
def test_programs_that_live_under_a_second(check, lab):
    """Programs outside of units and containers get no series if each process is short."""
    exporter = Exporter(lab, "--workload.min-age", "2s", "--limit.workloads", "4000",
                        "--limit.series", "100000")
    short, long = lab.dir / "flt-short", lab.dir / "flt-long"
    for link in (short, long):
        link.symlink_to("/bin/sleep")
    lab.spawn([long, "1000"])
    for _ in range(12):
        lab.spawn([short, "0.5"]).wait()
        found = owned(exporter.metrics())
    until(lambda: any("long" in one for one in owned(exporter.metrics())), "the long program")
    check.that(not any("short" in one for one in found), f"{found}")


@live
def test_nodes_of_kubernetes_have_more_series(check, lab):
    units = Units("unified")
    try:
        exporter = Exporter(lab, "--workload.min-age", "0")
        for i in range(60):
            units.start(f"/kubepods/besteffort/pod{uuid.uuid4()}/{uuid.uuid4().hex * 2}",
                        "sleep", "1000")
        time.sleep(0.2)
        exporter.metrics()
        pods = [one for one in owned(exporter.metrics()) if one.startswith("pod/")]
        check.equal("pods", len(pods), 60)
    finally:
        units.clean()


@live
def test_zeros(check, lab):
    """Counters of failures begin with the first one; ~other always has them."""
    for way, count in (("no", 0), ("yes", 1)):
        exporter = Exporter(lab, "--workload.min-age", "0", f"--export.zeros={way}",
                            "--limit.workloads", "20", "--export.calls")
        samples = exporter.metrics()
        one = sorted(owned(samples))[0]
        for name, label in (("faultscope_fd_failures_total", {"errno": "EMFILE"}),
                            ("faultscope_commit_failures_total", {}),
                            ("faultscope_oom_kills_total", {"scope": "memcg"})):
            check.equal(f"{way}: {name}", len(samples.of(name, workload=one, **label)), count)
            check.equal(f"{way}: {name} of ~other", len(samples.of(name, workload="~other",
                                                                   **label)), 1)
