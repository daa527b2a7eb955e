# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that values on the metrics page equal the kernel's values, that counters never decrease,
and that names may have any bytes."""

import math
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from exporter import (AT_ONCE, OPENMETRICS, PROTOBUF, RECORDINGS, Exporter, Samples, families_of,
                      promtool, until)
from harness import (FAULTSCOPE, PATIENCE, ROOT, Skip, Workload, live, proc_fds, proc_maps, quiet,
                     workload_path)

STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")


def own_name(which):
    """Returns a process name that only this test uses, since other tests run in parallel."""
    return f"fs-{which}-{os.getpid() % 100000}"


def named(lab, name, program, *args, **how):
    """Starts a workload under this program name. Outside of systemd units, the name becomes its
    workload label."""
    path = lab.dir / program / name
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        shutil.copy(workload_path(program), path)
    process = lab.spawn([path, *args], stdin=subprocess.PIPE, stderr=None, **how)
    return Workload(process, False)


def label_of(samples, name):
    """Returns the workload label of a program, which is its name. In a systemd unit, the label
    would be the unit, so the test is skipped there."""
    if samples.of("faultscope_workload_info", workload=name):
        return name
    raise Skip("this test runs within a unit, whose name its programs are counted under")


@live
def test_gauges(check, lab):
    exporter = Exporter(lab, *AT_ONCE)
    exporter.metrics()
    maps = named(lab, own_name("a"), "mapleak", "5000", "--hold")
    maps.truth()
    small = named(lab, own_name("a"), "mapleak", "100", "--hold")
    small.truth()
    samples = exporter.metrics()
    label = label_of(samples, own_name("a"))
    check.equal("worst", samples.one("faultscope_worst_process_mappings", workload=label),
                proc_maps(maps.pid))
    check.equal("all", samples.one("faultscope_mappings", workload=label),
                proc_maps(maps.pid) + proc_maps(small.pid))
    check.equal("descriptors", samples.one("faultscope_open_fds", workload=label),
                proc_fds(maps.pid) + proc_fds(small.pid))
    check.equal("the limit", samples.one("faultscope_mappings_limit"),
                int(lab.read("/proc/sys/vm/max_map_count")))
    maps.process.kill()
    maps.process.wait()
    samples = exporter.metrics()
    check.equal("when it has ended", samples.one("faultscope_mappings", workload=label),
                proc_maps(small.pid))


@live
def test_descriptors_nearest_the_limit(check, lab):
    """The exporter reports the process that is nearest to its own limit on file descriptors, even
    if another process has more open files."""
    exporter = Exporter(lab, *AT_ONCE)
    most = named(lab, own_name("a"), "fdleak", "200", "--hold")
    most.truth()
    near = named(lab, own_name("a"), "fdleak", "50", "--hold",
                 preexec_fn=lambda: __import__("resource").setrlimit(
                     __import__("resource").RLIMIT_NOFILE, (80, 80)))
    near.truth()
    samples = exporter.metrics()
    label = label_of(samples, own_name("a"))
    check.equal("worst", samples.one("faultscope_worst_process_open_fds", workload=label),
                proc_fds(near.pid))
    check.equal("its limit", samples.one("faultscope_worst_process_fds_limit", workload=label), 80)
    check.equal("all", samples.one("faultscope_open_fds", workload=label),
                proc_fds(near.pid) + proc_fds(most.pid))


@live
def test_faults_of_the_short_lived(check, lab):
    """All faults of processes that start and end between two scrapes are counted."""
    exporter = Exporter(lab, *AT_ONCE)
    keeper = named(lab, own_name("a"), "touch", "1", "--hold")
    keeper.truth()
    label = label_of(exporter.metrics(), own_name("a"))
    metric = "faultscope_page_faults_total"
    before = exporter.metrics().one(metric, workload=label, type="minor")
    sum_of = 0
    for _ in range(5):
        brief = named(lab, own_name("a"), "touch", "3000")
        sum_of += brief.truth()["minflt"]
        brief.end()
    after = exporter.metrics().one(metric, workload=label, type="minor")
    # After printing its counts, each process takes a few more faults until it exits.
    check.between("faults", after - before, sum_of, sum_of + 5 * 200)


@live
def test_faults_of_many_threads(check, lab):
    """For processes with many threads, the exporter does not sum up the fault counters at each
    scrape. When such a process ends, its counters must be complete."""
    process = lab.spawn(["python3", "-c", MANY_THREADS, own_name("b")], stdin=subprocess.PIPE)
    first = int(process.stdout.readline())
    exporter = Exporter(lab, *AT_ONCE, "--workload.retention", "1h")
    label = label_of(exporter.metrics(), own_name("b"))

    def faults():
        time.sleep(0.11)  # a scrape less than 0.1 s after the previous one gets the same values
        return exporter.metrics().one("faultscope_page_faults_total", workload=label,
                                      type="minor")

    def truth():
        process.stdin.write("go\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    begin = faults()
    for _ in range(2):
        late = truth()
        check.that(late - first >= 600 * 10, f"its threads fault too little: {late - first}")
        looks = 0
        # The process took up to 20 more faults while it reported its first count.
        while faults() - begin < late - first - 20 and looks < 40:
            looks += 1
        check.that(looks <= 18, f"late by {looks} looks")
        check.between("faults", faults() - begin, late - first - 20, late - first + 600)
    process.stdin.close()
    process.wait(PATIENCE)
    after = faults()
    check.between("in the end", after - begin, late - first - 20, late - first + 3000)
    check.equal("and no more", faults(), after)


MANY_THREADS = """
import mmap, os, resource, sys, threading
open("/proc/self/comm", "w").write(sys.argv[1])
threading.stack_size(65536)
begin, done = threading.Barrier(601), threading.Barrier(601)
def work():
    while True:
        begin.wait()
        area = mmap.mmap(-1, 10 * 4096)
        for at in range(0, len(area), 4096):
            area[at] = 1
        done.wait()
for _ in range(600):
    threading.Thread(target=work, daemon=True).start()
def tell():
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt, flush=True)
tell()
while sys.stdin.readline():
    begin.wait()
    done.wait()
    tell()
os._exit(0)
"""

OPENS_TOO_MANY = """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
try:
    while True:
        os.dup(0)
except OSError:
    pass
"""


@quiet
@live
def test_faults_by_backing(check, lab):
    """With --export.faults, faults are counted by kind of mapping, also for ended processes."""
    metric = "faultscope_page_faults_by_backing_total"
    exporter = Exporter(lab, *AT_ONCE, "--export.faults")
    before = exporter.metrics().values(metric, "backing")
    check.equal("backings", set(before), {"anon", "file", "shmem", "stack", "hugetlb", "other"})
    least_of_files = math.inf
    for turn in range(10):
        if turn > 1 and least_of_files < 20000:
            break
        lab.spawn(["python3", "-c", MAPPED_IN_THREE_WAYS, FAULTSCOPE]).wait(PATIENCE)
        samples = exporter.metrics()
        after = samples.values(metric, "backing")
        for backing, least in (("anon", 20000), ("file", 3000), ("shmem", 5000)):
            check.that(after[backing] - before[backing] >= least,
                       f"{backing}: {after[backing] - before[backing]}, not {least}")
        for backing, count in after.items():
            check.that(count >= before[backing], f"{backing} goes back")
        least_of_files = min(least_of_files, after["file"] - before["file"])
        before = after
    # Faults of other processes are included. In at least one of ten rounds, there are fewer than
    # 20,000 faults of other processes.
    check.that(least_of_files < 20000, "anonymous memory is told as a file's")
    # One of the two sums includes the page faults that the scrape itself causes; the other does
    # not.
    timed = sum(samples.of("faultscope_page_fault_duration_seconds_count"))
    check.near("as many as were timed", sum(before.values()), timed, 0.02)
    text = exporter.get(Accept=OPENMETRICS).text
    sites = [its.get("site") for name, _, its, _ in Samples(text, openmetrics=True).exemplars
             if name == "faultscope_page_fault_duration_seconds_bucket"]
    check.that(sites and all(sites), f"what the slowest were for: {sites}")
    check.equal("promtool", promtool("check", "metrics", input=exporter.get().text).stdout, "")
    exporter.stop()
    check.equal("unless asked for", Exporter(lab, *AT_ONCE).metrics().of(metric), [])


# Python program that maps memory in three ways. The argument of the program names a file, whose
# first page the program reads in each round.
MAPPED_IN_THREE_WAYS = """
import mmap, sys
def touch(pages, flags):
    area = mmap.mmap(-1, pages * 4096, flags=flags | mmap.MAP_ANONYMOUS)
    area.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, len(area), 4096):
        area[at] = 1
touch(20000, mmap.MAP_PRIVATE)
touch(5000, mmap.MAP_SHARED)
with open(sys.argv[1], "rb") as f:
    for _ in range(3000):
        with mmap.mmap(f.fileno(), 4096, access=mmap.ACCESS_READ) as area:
            area[0]
"""


@live
def test_build(check, lab):
    """faultscope_build_info has the version and the commit of this build. For a recording, the
    commit is unknown."""
    said = lab.call(FAULTSCOPE, "--version").out
    version, revision = re.fullmatch(r"faultscope (\S+) \((\S+)\)\n", said).groups()
    if shutil.which("git") and not lab.call("git", "-C", ROOT, "log", "-1").returncode:
        ran = lab.call("git", "-C", ROOT, "cat-file", "-t", revision.removesuffix("-dirty"))
        check.equal(f"in a clone, {revision} is a", ran.out, "commit\n")
    metric = "faultscope_build_info"
    check.equal("live", Exporter(lab).metrics().of(metric, version=version, revision=revision), [1])
    recording = RECORDINGS / "brief_children_among_all-open.fsr"
    check.equal("replayed", Exporter(lab, "--replay", recording).metrics().of(metric, revision=""),
                [1])


@live
def test_own_programs(check, lab):
    """The exporter exports the number and time of runs of each BPF program only while
    kernel.bpf_stats_enabled is 1."""
    exporter = Exporter(lab, *AT_ONCE)
    metrics = ("faultscope_bpf_runs_total", "faultscope_bpf_run_seconds_total")
    try:
        was = STATISTICS.read_text()
        STATISTICS.write_text("0")
    except OSError as reason:
        raise Skip(f"{STATISTICS}: {reason}") from None
    try:
        samples = exporter.metrics()
        series = len(samples.all)
        for metric in metrics:
            check.equal(f"{metric}, not counted", samples.of(metric), [])
        STATISTICS.write_text("1")
        before = exporter.metrics()
        for _ in range(20):
            lab.spawn(["true"]).wait(PATIENCE)
        after = exporter.metrics()
        runs, seconds = (after.values(metric, "program") for metric in metrics)
        check.equal("programs", set(runs), set(seconds))
        # the exporter shows at most PROM_PROGRAMS programs
        check.between("how many", len(runs), 5, 127)
        check.that(len(after.all) >= series + 2 * len(runs) - 5, "series of others are gone")
        for program, least in (("on_exec", 20), ("on_exit", 20)):
            more = runs[program] - before.one(metrics[0], program=program)
            check.between(f"runs of {program}", more, least, 1e6)
            check.between(f"time of {program}", seconds[program], 20 * 1e-8, PATIENCE)
        check.equal("promtool", promtool("check", "metrics", input=exporter.get().text).stdout, "")
        STATISTICS.write_text("0")
        check.equal("no longer counted", exporter.metrics().of(metrics[0]), [])
    finally:
        STATISTICS.write_text(was)


@live
def test_refusals(check, lab):
    """With --export.calls, failed calls are exported with their reason."""
    exporter = Exporter(lab, *AT_ONCE, "--export.calls")
    keeper = named(lab, own_name("a"), "touch", "1", "--hold")
    keeper.truth()
    label = label_of(exporter.metrics(), own_name("a"))
    maps = named(lab, own_name("a"), "mapleak", "limit", "--unmap")
    maps.truth()
    maps.end()
    fds = lab.spawn(["python3", "-c", OPENS_TOO_MANY])
    fds.wait(PATIENCE)
    text = exporter.get(Accept=OPENMETRICS).text
    time.sleep(0.11)
    text = exporter.get(Accept=OPENMETRICS).text
    samples = Samples(text, openmetrics=True)
    check.between("mappings", samples.one("faultscope_mapping_failures_total", workload=label,
                                          reason="max_map_count"), 1, 3)
    check.equal("for no other reason", samples.of("faultscope_mapping_failures_total",
                                                  workload=label, reason="rlimit_as"), [])
    check.between("descriptors", samples.one("faultscope_fd_failures_total", errno="EMFILE",
                                             workload=label_of(samples, "python3")), 1, 3)
    told = [its for name, labels, its, _ in samples.exemplars
            if name == "faultscope_fd_failures_total" and labels["workload"] == "python3"]
    check.equal("exemplar", [(one["pid"], one.get("site")) for one in told],
                [(str(fds.pid), "dup")])
    check.equal("collector", samples.one("faultscope_collector_enabled", collector="refusals"), 1)


@live
def test_without_calls_nothing_is_claimed(check, lab):
    """Without --export.calls there are no metrics of failed calls, since a 0 would mean that none
    failed."""
    samples = Exporter(lab, *AT_ONCE).metrics()
    check.equal("collector", samples.one("faultscope_collector_enabled", collector="refusals"), 0)
    for name in ("mapping_failures", "fd_failures", "commit_failures"):
        check.equal(name, samples.of(f"faultscope_{name}_total"), [])


@live
def test_signals(check, lab):
    exporter = Exporter(lab, *AT_ONCE)
    before = sum(exporter.metrics().of("faultscope_fatal_signals_total", signal="SIGSEGV",
                                       code="SEGV_MAPERR"))
    for _ in range(3):
        lab.spawn(["python3", "-c", "import ctypes; ctypes.string_at(8)"]).wait(PATIENCE)
    after = sum(exporter.metrics().of("faultscope_fatal_signals_total", signal="SIGSEGV",
                                      code="SEGV_MAPERR"))
    check.equal("signals", after - before, 3)
    lab.spawn(["python3", "-c", "import os; os.abort()"]).wait(PATIENCE)
    samples = exporter.metrics()
    for signal_name, code, want in (("SIGABRT", "SI_TKILL", 1), ("SIGBUS", None, 0)):
        labels = {"signal": signal_name, "workload": "python3", **({"code": code} if code else {})}
        check.equal(f"{labels}", sum(samples.of("faultscope_fatal_signals_total", **labels)), want)
    samples = Samples(exporter.get(Accept=OPENMETRICS).text, openmetrics=True)
    check.equal("exemplar: what the bad access was",
                {its.get("site") for name, labels, its, _ in samples.exemplars
                 if name == "faultscope_fatal_signals_total" and labels["signal"] == "SIGSEGV"
                 and labels["workload"] == "python3"},
                {"near-null"})


@live
def test_kernel_reports(check, lab):
    """The exporter counts kernel log lines of a WARN and of an oops, with the place of the oops. An
    ordinary line of the kernel log is not counted."""
    module = f"fs_none_{os.getpid()}"
    exporter = Exporter(lab, *AT_ONCE)
    samples = exporter.metrics()
    check.equal("collector", samples.one("faultscope_collector_enabled", collector="reports"), 1)
    check.equal("the kernel's own", len(samples.of("faultscope_kernel_reports_total",
                                                   module="vmlinux")), 7)
    log = os.open("/dev/kmsg", os.O_WRONLY)
    for line in (f"WARNING: CPU: 1 PID: 1 at test.c:1 f+0x16/0x30 [{module}]",
                 f"systemd[1]: WARNING: CPU: 1 PID: 1 at test.c:1 f+0x16/0x30 [{module}]",
                 "Oops: 0002 [#1] PREEMPT SMP NOPTI", "Hardware name: none",
                 f"RIP: 0010:f+0x16/0x30 [{module}]", f"RIP: 0010:g+0x16/0x30 [{module}]"):
        os.write(log, b"<6>" + line.encode())
    os.close(log)
    check.equal("reports", exporter.metrics().values("faultscope_kernel_reports_total", "kind",
                                                     module=module), {"warn": 1, "oops": 1})


@live
def test_limits_of_series(check, lab):
    """If there are more workloads than --limit.workloads allows, the remaining ones share one
    series with the name ~other. The exporter also exports their number."""
    many = [named(lab, f"fs-many-{i}", "touch", "1", "--hold") for i in range(12)]
    for one in many:
        one.truth()
    exporter = Exporter(lab, *AT_ONCE, "--limit.workloads", "4")
    samples = exporter.metrics()
    label_of(exporter.metrics(), samples.all and next(
        labels["workload"] for name, labels, _ in samples.all
        if name == "faultscope_workload_info"))
    check.equal("own", samples.one("faultscope_workloads"), 4)
    check.equal("infos", len(samples.of("faultscope_workload_info")), 4)
    check.that(samples.one("faultscope_workloads_aggregated") > 0, "nobody is folded")
    check.that(samples.one("faultscope_mappings", workload="~other") > 0, "~other has no mappings")
    host = Exporter(lab, *AT_ONCE, "--export.detail", "host")
    samples = host.metrics()
    check.equal("of the host", samples.values("faultscope_mappings", "workload").keys(), {"~other"})
    # other programs of the machine may create mappings between the two scrapes
    until(lambda: 0.8 < (host.metrics().one("faultscope_mappings") /
                         sum(exporter.metrics().of("faultscope_mappings"))) < 1.25, "the same sum")
    exporter.stop()
    host.stop()
    few = Exporter(lab, *AT_ONCE, "--limit.series", "150")
    samples = few.metrics()
    check.that(len(samples.all) <= 150, f"{len(samples.all)} series")
    check.that(samples.one("faultscope_series_dropped_total") > 0, "it is not counted")


@live
def test_age(check, lab):
    """Workloads younger than --workload.min-age have no series of their own."""
    exporter = Exporter(lab, "--workload.min-age", "1h")
    young = named(lab, own_name("a"), "touch", "100", "--hold")
    young.truth()
    samples = exporter.metrics()
    check.equal("its own", samples.of("faultscope_workload_info", workload=own_name("a")), [])
    check.that(samples.one("faultscope_page_faults_total", workload="~other", type="minor")
               >= 100, "and is not in ~other")


def counters_of(samples):
    return {(name, tuple(sorted(labels.items()))): value for name, labels, value in samples.all
            if name.endswith(("_total", "_bucket", "_count"))}


@live
def test_consistent_in_a_storm(check, lab):
    """Programs start and end as fast as possible. Meanwhile, counters must never decrease, and sums
    must be consistent."""
    storm = [lab.spawn(["sh", "-c", "while :; do /bin/true; sh -c :; done"]) for _ in range(4)]
    exporter = Exporter(lab, *AT_ONCE, "--workload.retention", "1h")
    before, ends = {}, time.monotonic() + 8
    while time.monotonic() < ends:
        samples = exporter.metrics()
        # any program may switch off the statistics of BPF programs, which belong to the machine
        now = {key: value for key, value in counters_of(samples).items()
               if not key[0].startswith("faultscope_bpf_run")}
        for key, value in before.items():
            if key not in now:
                check.that(False, f"gone: {key}")
            elif now[key] < value:
                check.that(False, f"back from {value} to {now[key]}: {key}")
        worst = samples.values("faultscope_worst_process_mappings", "workload")
        for label, value in samples.values("faultscope_mappings", "workload").items():
            check.that(worst[label] <= value, f"{label}: {worst[label]} of {value}")
        check.equal("up", samples.one("faultscope_up"), 1)
        before = now
    check.that(len(before) > 50, "hardly a counter")
    for one in storm:
        os.killpg(one.pid, signal.SIGKILL)


HOSTILE = (b'"} 1\n# EOF', b"\xff\xfe\xc3(", b"\\\\\\n\n\"", b"{a=\"b\"}", b"~other", b"\x1b]0;x\x07",
           b"\xe2\x80\xae\xf0\x9f\x92\xa9", b" ", b"%s%n%s", b"$(reboot)", b"<script>", b"a,b=c")


@live
def test_hostile_names(check, lab):
    """Hostile names of programs and cgroups break no output format. Each hostile name creates at
    most one workload."""
    places = [make_cgroup(name) for name in HOSTILE]
    try:
        for name, place in zip(HOSTILE, places):
            lab.spawn(["python3", "-c", RENAMED, name.hex(), place or ""])
        exporter = Exporter(lab, *AT_ONCE)
        until(lambda: all_are_renamed(lab), "their names")
        time.sleep(0.2)
        text = exporter.get().text
        samples = Samples(text)
        Samples(exporter.get(Accept=OPENMETRICS).text, openmetrics=True)
        families = families_of(exporter.get(Accept=PROTOBUF).body)
        check.that(families["faultscope_workload_info"][2], "no workload in protobuf")
        check.equal("promtool", promtool("check", "metrics", input=text).returncode, 0)
        labels = [its["workload"] for name, its, _ in samples.all
                  if name == "faultscope_workload_info"]
        check.equal("each once", len(set(labels)), len(labels))
        check.that("~other" not in labels, "somebody calls himself ~other")
        for label in labels:
            check.that(label.isprintable() or "\u202e" in label, f"not to be printed: {label!r}")
    finally:
        for process in lab.started:
            process.kill()
            process.wait()
        for place in places:
            if place:
                until(lambda where=place: remove(where), f"the end of {place}")


RENAMED = """
import ctypes, os, sys, time
name = bytes.fromhex(sys.argv[1])
if sys.argv[2]:
    open(sys.argv[2] + "/cgroup.procs", "w").write(str(os.getpid()))
ctypes.CDLL(None).prctl(15, name[:15], 0, 0, 0)
time.sleep(600)
"""


def all_are_renamed(lab):
    return all(Path(f"/proc/{one.pid}/comm").read_bytes() != b"python3\n" for one in lab.started
                      if one.args[0] == "python3")


def make_cgroup(name):
    """Makes a cgroup with this name, but without any NUL and slash in it. Returns the path of the
    cgroup, or None if cgroups are not writable."""
    if b"\n" in name:
        return None  # cgroup_mkdir() rejects names with a newline
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        if (Path(root) / "cgroup.procs").exists():
            place = os.fsencode(root) + b"/fs-hostile-" + name
            try:
                os.mkdir(place)
                return os.fsdecode(place)
            except OSError:
                return None
    return None


def remove(place):
    try:
        os.rmdir(place)
    except OSError:
        return False
    return True


@live
def test_reclaim(check, lab):
    """Processes run in a memory cgroup that is too small for them. The exporter exports the time of
    direct reclaim and, if the machine has swap, the number of swap-ins."""
    place = memory_cgroup()
    try:
        exporter = Exporter(lab, *AT_ONCE)
        before = exporter.metrics()
        lab.spawn(["python3", "-c", SQUEEZED, place, str(lab.dir / "file")]).wait(PATIENCE)
        after = exporter.metrics()

        def grown(metric):
            return sum(after.of(metric)) - sum(before.of(metric))

        check.equal("collector", after.one("faultscope_collector_enabled", collector="reclaim"), 1)
        check.between("reclaim", grown("faultscope_direct_reclaim_seconds_total"), 1e-6, PATIENCE)
        swapped = len(lab.read("/proc/swaps").splitlines()) > 1
        if swapped:
            check.that(grown("faultscope_swap_in_faults_total") > 0, "nothing was swapped in")
    finally:
        until(lambda: remove(place), "the end of the cgroup")


def memory_cgroup():
    for root, name in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                       ("/sys/fs/cgroup", "memory.max")):
        place = Path(root) / f"fs-squeezed-{os.getpid()}"
        try:
            place.mkdir()
            (place / name).write_text(str(32 << 20))
            return str(place)
        except OSError:
            remove(place)
    raise Skip("no memory cgroup can be made")


# Program that reads more of a file than fits into the cgroup. If the machine has swap, the program
# also uses more memory of its own.
SQUEEZED = """
import os, sys
open(sys.argv[1] + "/cgroup.procs", "w").write(str(os.getpid()))
swap = len(open("/proc/swaps").readlines()) > 1
data = bytearray((48 if swap else 8) << 20)
for again in range(2):
    for at in range(0, len(data), 4096):
        data[at] = 1
with open(sys.argv[2], "wb") as f:
    for i in range(96):
        f.write(bytes(1 << 20))
with open(sys.argv[2], "rb") as f:
    while f.read(1 << 20):
        pass
"""
