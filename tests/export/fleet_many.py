# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests many exporters that one Prometheus scrapes, and one exporter that runs for a long time."""

import json
import subprocess
import time
import urllib.parse
from pathlib import Path

from exporter import AT_ONCE, RECORDINGS, Exporter, Prometheus, free_ports, job, until
from harness import FAULTSCOPE, live

WANTS_QUIET = "hundreds of processes are enough at a time"
RECORDING = RECORDINGS / "brief_children_among_all-open.fsr"
REPLAYED = 200
REAL = 5
CHURN_S = 180
FORKS_PER_S = 100


def own_kib(pid):
    """Returns a process's private memory in KiB, without shared pages of programs and libraries."""
    return sum(int(line.split()[1]) for line in
               Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
               if line.startswith(("Private_Clean", "Private_Dirty")))


@live
def test_two_hundred_exporters(check, lab):
    targets = [f"127.0.0.1:{port}" for port in free_ports(REPLAYED)]
    processes = [lab.spawn([FAULTSCOPE, "export", "--replay", RECORDING, *AT_ONCE,
                            "--web.listen-address", target], stdout=subprocess.DEVNULL)
                 for target in targets]
    # All exporters must listen before any connection is made, because each connection may take a
    # port that an exporter needs.
    for process in processes:
        line = process.stderr.readline()
        assert "metrics at" in line, f"an exporter ended: {line.strip()}"
    real = [Exporter(lab) for _ in range(REAL)]
    prometheus = Prometheus(lab, [job(*targets, name="replayed"),
                                  job(*[f"127.0.0.1:{one.port}" for one in real], name="real")],
                            interval="5s")
    until(lambda: prometheus.value("sum(up)") == REPLAYED + REAL, "all of them", 120)
    # Each exporter must have been scraped five times, including exporters that started late.
    until(lambda: (prometheus.value("min(count_over_time(up[10m]))") or 0) >= 5, "scrapes", 120)
    check.equal("errors", [one["lastError"] for one in prometheus.targets() if one["lastError"]],
                [])
    check.equal("up at every scrape",
                prometheus.value("min(min_over_time(up[10m] offset 15s))"), 1)
    check.equal("faultscope_up", prometheus.value("min(faultscope_up)"), 1)
    counts = {value for _, value in
              prometheus.query('scrape_samples_scraped{job="replayed"}')}
    check.equal("series of each replay", len(counts), 1)
    own = sorted(own_kib(one.pid) for one in processes)
    print(f"# {REPLAYED} exporters: {sum(own) // 1024} MiB of their own, "
          f"the largest {own[-1]} KiB; {int(min(counts))} series each")
    check.between("KiB of one", own[-1], 1, 8 << 10)


@live
def test_churn(check, lab):
    """A hundred new processes a second, each with another name, add no series and no memory."""
    exporter = Exporter(lab)
    prometheus = Prometheus(lab, [job(f"127.0.0.1:{exporter.port}")])
    churn = lab.dir / "churn.py"
    churn.write_text(CHURN)
    # Series of older processes must exist before the churn starts.
    until(lambda: (prometheus.value("count_over_time(up[10m])") or 0) >= 40, "a beginning", 120)
    begin, before = time.time(), set(workloads(prometheus, time.time() - 60))
    process = lab.spawn(["python3", churn, str(FORKS_PER_S), str(CHURN_S)])
    # The exporter remembers process names for --workload.min-age. After 75 s, old names expire as
    # fast as new names come.
    time.sleep(75)
    early = exporter.rss_bytes()
    process.wait(CHURN_S * 4)  # a machine with other load forks more slowly
    late = exporter.rss_bytes()
    forks = int(process.stdout.read())
    window = int(time.time() - begin) + 2
    added = prometheus.value(f"sum_over_time(scrape_series_added[{window}s])")
    # Workloads of programs that others started during the test, and that ran long enough to have
    # series of their own.
    others = set(workloads(prometheus, begin)) - before
    foreign = sum(len(series(prometheus, f"{{workload={json.dumps(name)}}}", begin))
                  for name in others)
    print(f"# {forks} processes in {window} s: {added:g} series added, {foreign} of them of "
          f"{len(others)} other workloads; RSS {early >> 10} to {late >> 10} KiB")
    check.equal("churn with series", [name for name in others if name.startswith("churn")], [])
    check.that(added - foreign < 100, f"{added:g} series were added")
    check.that(late <= early + (1 << 20), f"RSS grew from {early} to {late}")
    check.between("RSS", late, 1 << 20, 15 << 20)
    check.equal("never down", prometheus.value(f"min_over_time(up[{window}s])"), 1)
    dropped = exporter.metrics().values("faultscope_events_dropped_total", "buffer")
    # On a busy machine the kernel may skip events of any process.
    missed = dropped.pop("missed")
    check.equal("events dropped where something was full", sum(dropped.values()), 0)
    check.that(missed <= forks / 1000, f"the kernel passed over {missed:g} events")


def series(prometheus, selector, since):
    return prometheus.api("series?" + urllib.parse.urlencode(
        {"match[]": selector, "start": str(since)}))


def workloads(prometheus, since):
    return [one["workload"] for one in series(prometheus, "faultscope_workload_info", since)]


# Each child has a unique name and lives for some milliseconds.
CHURN = """
import os, sys, time
rate, seconds = int(sys.argv[1]), int(sys.argv[2])
begin, n = time.monotonic(), 0
while n < rate * seconds:
    pid = os.fork()
    if not pid:
        with open("/proc/self/comm", "w") as f:
            f.write(f"churn{n}")
        bytearray(100000)
        os._exit(0)
    os.waitpid(pid, 0)
    n += 1
    ahead = n / rate - (time.monotonic() - begin)
    if ahead > 0:
        time.sleep(ahead)
print(n)
"""
