# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests counters while hundreds of cgroups are created and removed: no series decreases, and page
faults of a workload are as many as the kernel counts in its cgroup."""
import subprocess
import sys
import threading
import time
from pathlib import Path

from exporter import Exporter
from harness import Skip, live
from test_slots import Units

STABLE = 3
NAMES = 20  # workloads that end and come again
LIVES = 300
# Touches N pages, each with a fault of its own, for each line N on standard input.
TOUCHES = """import mmap, sys
for line in sys.stdin:
    pages = mmap.mmap(-1, int(line) * 4096)
    pages.madvise(15)  # MADV_NOHUGEPAGE
    for i in range(int(line)):
        pages[i * 4096] = 1
    pages.close()
    print("done", flush=True)
"""


def kernel_faults(cgroups):
    """Returns the page faults that the kernel counted in each cgroup, whose processes rest. The
    kernel adds up the counts of its CPUs each 2 s (FLUSH_TIME in mm/memcontrol.c), and a reader does
    it if there are more than 64 counts for each CPU. Fewer are missing in memory.stat until then."""
    time.sleep(2.5)
    return [int(dict(line.split() for line in
                     Path(cgroup, "memory.stat").read_text(encoding="ascii").splitlines())["pgfault"])
            for cgroup in cgroups]


def counters(samples):
    return {(name, *sorted(labels.items())): value for name, labels, value in samples.all
            if name.endswith("_total")}


class Lives(threading.Thread):
    """Creates cgroups of NAMES workloads, one after another, with a process that ends at once."""

    def __init__(self, units):
        super().__init__(daemon=True)
        self.units, self.wrong = units, None

    def run(self):
        for i in range(LIVES):
            group = Units("memory", "unified")
            group.mark = self.units.mark
            try:
                group.run(100 + i % NAMES, "true").wait()
            except OSError as error:
                self.wrong = error
            finally:
                group.clean()


@live
def test_counters_under_churn(check, lab):
    units = Units("memory", "unified")
    cgroups = [units.make(units.path(i)) for i in range(STABLE)]
    try:
        if not (cgroups[0] / "memory.stat").exists():
            raise Skip("no memory controller")
        running = []
        for i in range(STABLE):
            procs = cgroups[i] / "cgroup.procs"
            running.append(subprocess.Popen([sys.executable, "-c", TOUCHES], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            procs.write_text(str(running[i].pid))
        units.running += running

        def touch(pages):
            for i, process in enumerate(running):
                process.stdin.write(f"{pages * (i + 1)}\n")
                process.stdin.flush()
            for process in running:
                assert process.stdout.readline() == "done\n"

        touch(1)
        exporter = Exporter(lab, "--workload.min-age", "0", "--limit.workloads", "12",
                            "--workload.retention", "1s", "--limit.series", "100000")
        exporter.metrics()
        before = counters(exporter.metrics())
        at_first = kernel_faults(cgroups)
        lives = Lives(units)
        lives.start()
        pages, decreases = 0, []
        while lives.is_alive() or pages < 5:
            touch(200)
            now = counters(exporter.metrics())
            decreases += [key for key in now if key in before and now[key] < before[key]]
            before, pages = now, pages + 1
        lives.join()
        check.equal("errors of the churn", lives.wrong, None)
        check.equal("series that decreased", decreases[:3], [])
        check.that(pages >= 5, f"{pages} pages")
        at_last = kernel_faults(cgroups)
        for i in range(STABLE):
            key = ("faultscope_page_faults_total", ("type", "minor"), ("workload", units.name(i)))
            if not check.that(key in before, f"{units.name(i)} has no series"):
                continue
            got = before[key]
            want = at_last[i] - at_first[i]
            check.that(want >= 200 * pages * (i + 1), f"the kernel counted {want}")
            check.between(f"faults of {units.name(i)}", got, want - 10, want + 10)
    finally:
        units.clean()
