# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `export --export.resident`: for programs whose functions keep known amounts of memory, the
metrics show these amounts, and all rows of a workload add up to the kernel's totals."""

import re
import subprocess
import sys
from pathlib import Path

from exporter import AT_ONCE, OPENMETRICS, Exporter, Samples, until
from harness import FAULTSCOPE, live
from test_errors import as_nobody
from test_figures import label_of, named, own_name

MIB = 1 << 20
RESIDENT = "faultscope_resident_bytes"
EACH = "faultscope_resident_sampling_interval"
# Standard errors by which an estimate may differ: a test compares many amounts, and must almost
# never fail by chance.
ERRORS = 4.5
# Functions of workloads/hold.c, without those whose memory several rows show.
HOLDS = ("hold_mapping_120", "hold_heap_60", "hold_small_blocks_40", "hold_random_order_24",
         "hold_every_eighth_page_16", "hold_read_into_25", "hold_in_thread_20", "hold_shared_32",
         "hold_file_48", "hold_touched_again_18", "hold_mapped_by_another_30")
FREED = ("free_mapping_200", "free_by_advice_100", "free_heap_50")


def rows_of(samples, **labels):
    return [(its, value) for name, its, value in samples.all if name == RESIDENT
            and all(its[key] == want for key, want in labels.items())]


def sum_of(samples, **labels):
    return sum(value for _, value in rows_of(samples, **labels))


def held_by(samples, function):
    return sum(value for its, value in rows_of(samples) if its["code"].startswith(function))


def rss_of(pid):
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return sum(int(kib) << 10 for kib in re.findall(r"^Rss\w+:\s+(\d+)", text, re.M))


def held_program(lab, exporter, name, *words, label=None):
    """Starts a workload that the exporter reads once before its functions run. Returns the workload
    and its truth."""
    work = named(lab, name, *words, "--wait", "--hold")
    assert work.process.stdout.readline()
    if not label:
        label_of(exporter.metrics(), name)
    until(lambda: rows_of(exporter.metrics(), workload=label or name), "a reading of the program")
    work.go()
    return work, work.truth().get("holds")


def last(exporter, work, name):
    """Returns the samples of a reading after the program has touched all its memory."""
    kept = []

    def is_settled():
        kept[:] = [exporter.metrics()]
        return abs(sum_of(kept[0], workload=name) - rss_of(work.pid)) <= 0.01 * rss_of(work.pid)
    until(is_settled, "a reading that adds up to the kernel's totals")
    return kept[0]


def is_near(samples, amount, mib):
    """Returns whether an amount is as near to the truth as the chosen pages allow."""
    each = samples.one(EACH)
    error = (each * 4096 * mib * MIB) ** 0.5
    return abs(amount - mib * MIB) <= ERRORS * error + MIB / 4


@live
def test_resident_amounts(check, lab):
    name = own_name("r")
    exporter = Exporter(lab, *AT_ONCE, "--export.resident", f"^{name}$", "--limit.resident", "40")
    work, truth = held_program(lab, exporter, name, "hold")
    samples = last(exporter, work, label_of(exporter.metrics(), name))
    check.equal("collector", samples.one("faultscope_collector_enabled", collector="resident"), 1)
    for function in HOLDS:
        amount = held_by(samples, function)
        check.that(is_near(samples, amount, truth[function]),
                   f"{function}: {amount / MIB:.1f} MiB, but holds {truth[function]}")
    for function in FREED:
        check.that(held_by(samples, function) < 2 * MIB, f"{function} holds nothing")
    check.equal("workloads", {its["workload"] for its, _ in rows_of(samples)}, {name})
    # malloc() also writes to pages of the C library
    check.equal("kinds", {its["kind"] for its, amount in rows_of(samples) if amount > MIB and
                          its["code"].startswith("hold_heap_60")}, {"heap"})
    check.that(samples.one("faultscope_resident_read_seconds_total") > 0, "no cost of readings")
    check.equal("lost", samples.one("faultscope_events_dropped_total", buffer="resident_pages"), 0)


@live
def test_resident_after_the_end(check, lab):
    """A process that has ended holds nothing; one that starts later is read like the first."""
    name = own_name("r")
    exporter = Exporter(lab, *AT_ONCE, "--export.resident", f"^{name}$")
    first, _ = held_program(lab, exporter, name, "hold")
    label = label_of(exporter.metrics(), name)
    last(exporter, first, label)
    second, _ = held_program(lab, exporter, name, "hold")
    until(lambda: sum_of(exporter.metrics(), workload=label) > 0.99 * 2 * rss_of(second.pid),
          "rows of both processes")
    first.process.kill()
    first.process.wait()
    samples = last(exporter, second, label)
    check.that(is_near(samples, held_by(samples, "hold_mapping_120"), 120), "the second one stays")
    second.process.kill()
    second.process.wait()
    check.equal("rows", rows_of(exporter.metrics()), [])
    check.equal("the exporter runs", exporter.stop(), 0)


@live
def test_resident_of_a_child(check, lab):
    """What a child inherited belongs to the code of its parent, and its copies to its own code, also
    those that it makes right after the fork."""
    name = own_name("r")
    exporter = Exporter(lab, *AT_ONCE, "--export.resident", f"^{name}$", "--limit.resident", "40")
    held_program(lab, exporter, name, "hold_fork", "child")
    label = label_of(exporter.metrics(), name)

    def held(samples, code, by):
        return sum(value for its, value in rows_of(samples, workload=label, by=by)
                   if its["code"].startswith(code))
    until(lambda: held(exporter.metrics(), "copy_third", "copied"), "rows of the child")
    samples = exporter.metrics()
    for code, amount, mib in (
            ("hold_first touched", held(samples, "hold_first", "touched"), 60),
            ("hold_second touched", held(samples, "hold_second", "touched"), 40),
            ("copy_third in the child", held(samples, "copy_third", "copied"), 20),
            ("hold_first in the child", held(samples, "hold_first", "inherited"), 40),
            ("hold_second in the child", held(samples, "hold_second", "inherited"), 40)):
        check.that(is_near(samples, amount, mib),
                   f"{code}: {amount / MIB:.1f} MiB, but holds {mib}")


@live
def test_resident_of_nothing(check, lab):
    exporter = Exporter(lab, *AT_ONCE, "--export.resident", "^no such workload$")
    for _ in range(2):
        samples = exporter.metrics()
        check.equal("rows", rows_of(samples), [])
        check.equal("collector", samples.one("faultscope_collector_enabled",
                                             collector="resident"), 1)
        check.equal("up", samples.one("faultscope_up"), 1)
    check.equal("no pages are chosen", samples.of(EACH), [])


@live
def test_resident_is_off(check, lab):
    """Without the option, neither the probe nor the metrics exist, and user stacks are not read."""
    exporter = Exporter(lab, *AT_ONCE)
    samples = exporter.metrics()
    check.equal("probe", samples.of("faultscope_probe_info", probe="resident", attach_type="none"),
                [1])
    check.equal("collector", samples.one("faultscope_collector_enabled", collector="resident"), 0)
    for family in samples.types:
        check.that("resident" not in family or family.startswith("process_"), f"family {family}")
    check.equal("capabilities", capabilities_of(exporter), 0)
    on = Exporter(lab, *AT_ONCE, "--export.resident", "^$").metrics()
    memory = [one.one("faultscope_kernel_memory_bytes", of="maps") for one in (samples, on)]
    check.that(memory[0] + 7 * MIB < memory[1], f"the maps of memory exist: {memory}")


def capabilities_of(exporter):
    text = Path(f"/proc/{exporter.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"^CapEff:\s*(\w+)", text, re.M)[1], 16)


@live
def test_resident_bound(check, lab):
    """The number of rows is bounded, and what has no row is in other rows."""
    name = own_name("r")
    exporter = Exporter(lab, *AT_ONCE, "--export.resident", f"^{name}$", "--limit.resident", "2")
    work, _ = held_program(lab, exporter, name, "hold")
    label = label_of(exporter.metrics(), name)
    samples = last(exporter, work, label)
    codes = [its["code"] for its, _ in rows_of(samples) if not its["code"].startswith("~")]
    check.equal("places", len(codes), 2)
    check.that(codes[0].startswith("hold_mapping_120"), f"the largest is first: {codes}")
    check.that(sum_of(samples, code="~other") > 200 * MIB, "the rest is in one row")
    named_rows = [its["code"] for its, _ in rows_of(samples) if its["code"].startswith("~")]
    check.that(set(named_rows) <= {"~other", "~not_attributed", "~not_read"}, f"{named_rows}")


@live
def test_resident_in_other(check, lab):
    """A workload without series of its own is counted in ~other, also here."""
    name = own_name("r")
    exporter = Exporter(lab, *AT_ONCE, "--export.resident", f"^{name}$", "--export.detail", "host")
    work, _ = held_program(lab, exporter, name, "hold", label="~other")
    last(exporter, work, "~other")
    check.equal("workloads", {its["workload"] for its, _ in rows_of(exporter.metrics())},
                {"~other"})


SCRIPT = """
import sys, time
open("/proc/self/comm", "w").write(sys.argv[1])
print("ready", flush=True)
keep = []
for line in sys.stdin:
    keep += [bytearray(1 << 16) for _ in range(int(line))]
    print("done", flush=True)
"""


@live
def test_resident_hostile_names(check, lab):
    """Names of programs, files and functions may have any characters."""
    comm, file = 'r"\\\n~\x1b', lab.dir / 'a"\\\n\x1b{b}.py'
    file.write_text(SCRIPT, encoding="utf-8")
    exporter = Exporter(lab, *AT_ONCE, "--export.resident", '^r"')
    work = lab.spawn([sys.executable, file, comm], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                     text=True)
    work.stdout.readline()

    def held():
        samples = exporter.metrics()
        return sum(value for its, value in rows_of(samples) if 'a"' in its["code"])

    def hold_more(blocks):
        work.stdin.write(f"{blocks}\n")
        work.stdin.flush()
        work.stdout.readline()
        return held()
    # Stacks are short until the exporter has made the unwind tables of the program.
    until(lambda: hold_more(16), "memory of the line of the script")
    before = held()
    hold_more(640)
    until(lambda: abs(held() - before - 40 * MIB) < 16 * MIB, "40 MiB of the line of the script")
    page = Samples(exporter.get(Accept=OPENMETRICS).text, openmetrics=True)
    for its, _ in rows_of(page):
        for value in its.values():
            check.that(not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", value), f"raw: {value!r}")
            check.that(len(value.encode()) <= 200, f"{len(value)} characters")


@live
def test_resident_without_rights(check, lab):
    """Without the right to read other users' memory, the exporter says so, and says what was not
    read."""
    name = own_name("r")
    exporter = Exporter(lab, *AT_ONCE, "--export.resident", f"^{name}$",
                        argv=as_nobody(lab, "bpf", "perfmon"), program=lab.for_all(FAULTSCOPE))
    check.that("CAP_SYS_PTRACE" in exporter.said(), f"no warning: {exporter.said()}")
    work = named(lab, name, "hold", "--hold")
    work.truth()
    samples = exporter.metrics()
    label = label_of(samples, name)
    check.equal("codes", {its["code"] for its, _ in rows_of(samples)}, {"~not_read"})
    rss = rss_of(work.pid)
    check.that(abs(sum_of(samples, workload=label) - rss) <= 0.01 * rss + 4 * MIB,
               f"{sum_of(samples, workload=label)} bytes, RSS {rss}")


def test_resident_bad_pattern(check, lab):
    ran = lab.call(FAULTSCOPE, "export", "--replay", "/dev/null", "--export.resident", "(")
    check.equal("status", ran.returncode, 2)
    check.that("--export.resident" in ran.err, ran.err)


@live
def test_resident_replay(check, lab):
    """A recording of `memory` shows the same rows as the live measurement."""
    work = lab.work("hold", "--wait", "--hold")
    recording = lab.dir / "memory.fsr"
    watch = lab.spawn([FAULTSCOPE, "memory", "--json", "-p", work.pid, "--record", recording,
                       "-o", lab.dir / "lines", "-d", "60"])
    until(lambda: '"memory"' in ((lab.dir / "lines").read_text() if (lab.dir / "lines").exists()
                                 else ""), "a reading")
    work.go()
    truth = work.truth()["holds"]
    begun = (lab.dir / "lines").read_text().count('"type":"memory"')
    until(lambda: (lab.dir / "lines").read_text().count('"type":"memory"') > begun + 2, "readings")
    watch.terminate()
    watch.wait()
    exporter = Exporter(lab, "--replay", recording, *AT_ONCE, "--export.resident", ".",
                        "--limit.resident", "40")
    samples = exporter.metrics()
    for function in HOLDS:
        check.that(is_near(samples, held_by(samples, function), truth[function]),
                   f"{function}: {held_by(samples, function) / MIB:.1f} MiB")
    work.end()
