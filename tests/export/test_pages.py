# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that the three formats of the metrics page have equal values, and that programs which read
these formats accept them."""

import re

from exporter import (AT_ONCE, OPENMETRICS, PROTOBUF, RECORDINGS, TEXT, Exporter, Samples,
                      families_of, free_port, promtool, samples_of, wrote_all, zigzag)
from harness import FAULTSCOPE, ROOT, Skip, live

REPLAY = ("--replay", RECORDINGS / "brief_children_among_all-open.fsr")
# Prefixes of metrics whose values differ between scrapes.
OWN = ("process_", "faultscope_scrape_duration_seconds")


def replayed(lab, *options):
    return Exporter(lab, *REPLAY, *AT_ONCE, *options)


def plain(samples):
    return {(name, tuple(sorted(labels.items()))): value for name, labels, value in samples.all
            if not name.startswith(OWN)}


def test_text(check, lab):
    answer = replayed(lab).get(Accept=TEXT)
    check.equal("type", answer.headers["content-type"],
                "text/plain; version=0.0.4; charset=utf-8")
    samples = Samples(answer.text)
    check.equal("faultscope_up", samples.one("faultscope_up"), 1)
    check.that(len(samples.all) > 60, f"{len(samples.all)} samples alone")
    for name in samples.types:
        check.that(samples.helps.get(name), f"{name} has no help")


def test_backings_of_a_recording(check, lab):
    """Without --export.faults, the kind of mapping of a fault is derived from the class of the
    fault. In this recording, userfaultfd handled all faults."""
    recording = RECORDINGS / "latency_of_delayed_faults-1ms.fsr"
    samples = Samples(Exporter(lab, "--replay", recording).get().text)
    got = samples.values("faultscope_page_faults_by_backing_total", "backing")
    check.that(got.get("other", 0) > 0, f"{got}")
    check.equal("else", {backing for backing, count in got.items() if count}, {"other"})
    check.equal("all that were timed", sum(got.values()),
                sum(samples.of("faultscope_page_fault_duration_seconds_count")))


def test_promtool_takes_it(check, lab):
    ran = promtool("check", "metrics", input=replayed(lab).get().text)
    check.equal("promtool's status", ran.returncode, 0)
    check.equal("what it said", ran.stdout + ran.stderr, "")


@live
def test_bounded(check, lab):
    """At full detail with ten workloads, promtool counts no more series than the options for limits
    allow."""
    exporter = Exporter(lab, *AT_ONCE, "--export.detail", "full", "--limit.workloads", "10")
    text = exporter.get().text
    ran = promtool("check", "metrics", "--extended", input=text)
    check.equal("promtool's status", ran.returncode, 0)
    rows = re.findall(r"^([a-z]\w+)\s+(\d+)\s+[\d.]+% *$", ran.stdout, re.M)
    sums = sum(int(count) for _, count in rows)
    check.equal("series", sums, len(Samples(text).all))
    check.between("series", sums, 200, 700)
    most = max(rows, key=lambda row: int(row[1]))
    # a workload has at most 8 series of each metric family
    check.between(f"series of {most[0]}", int(most[1]), 10, 11 * 8)


def test_documented(check, lab):
    """docs/metrics.md lists all metric families, types and labels. A metric must not disappear,
    because users' queries would break."""
    text = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    documented = {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in
                  re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", text, re.M)}
    samples = Samples(replayed(lab).get().text)
    for family, kind in samples.types.items():
        check.equal(family, documented.get(family, (None,))[0], kind)
    for name, labels, _ in samples.all:
        family = name if name in documented else re.sub("_(bucket|sum|count)$", "", name)
        check.equal(f"labels of {name}", set(labels) - {"le"}, documented[family][1])


def test_formats_agree(check, lab):
    exporter = replayed(lab)
    text = Samples(exporter.get(Accept=TEXT).text)
    opened = exporter.get(Accept=OPENMETRICS)
    check.equal("type", opened.headers["content-type"],
                "application/openmetrics-text; version=1.0.0; charset=utf-8")
    open_samples = Samples(opened.text, openmetrics=True)
    # OpenMetrics writes the bounds of buckets differently: "1.0" instead of "1".
    want = {key: value for key, value in plain(text).items() if "_bucket" not in key[0]}
    got = {key: value for key, value in plain(open_samples).items() if "_bucket" not in key[0]}
    check.equal("OpenMetrics", got, want)
    check.equal("buckets", [value for name, _, value in open_samples.all if "_bucket" in name],
                [value for name, _, value in text.all if "_bucket" in name])
    binary = exporter.get(Accept=PROTOBUF)
    check.that(binary.headers["content-type"].startswith("application/vnd.google.protobuf"),
               binary.headers["content-type"])
    told = {key: value for key, value in samples_of(families_of(binary.body)).items()
            if not key[0].startswith(OWN)}
    check.equal("protobuf", told, want)


def test_units_end_names(check, lab):
    samples = Samples(replayed(lab).get(Accept=OPENMETRICS).text, openmetrics=True)
    check.that(samples.units, "no unit at all")
    for name, unit in samples.units.items():
        check.that(name.endswith("_" + unit), f"{name} ends not in its unit, {unit}")
    for name in samples.types:
        check.that(not name.endswith(("_total", "_info")), f"the family {name}")


def test_negotiation(check, lab):
    exporter = replayed(lab)
    prometheus = ("application/openmetrics-text;version=1.0.0,"
                  "application/openmetrics-text;version=0.0.1;q=0.75,"
                  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
    for accept, want in (
            (prometheus, "openmetrics"), (PROTOBUF + "," + prometheus, "protobuf"),
            ("text/plain;version=0.0.4;q=0.9, " + OPENMETRICS + ";q=0.2", "text/plain"),
            ("text/html, */*;q=0.8", "text/plain"), ("*/*", "text/plain"), ("", "text/plain"),
            ("application/json", "text/plain"), (",;,;q=;=,q", "text/plain"),
            (OPENMETRICS + ";q=0", "text/plain"),
            ("application/vnd.google.protobuf;proto=other;encoding=delimited", "text/plain"),
            ("a" * 3000 + "/" + "b" * 3000, "text/plain")):
        got = exporter.get(Accept=accept).headers["content-type"]
        check.that(want in got, f"{accept[:80]!r}: {got}")


def test_gzip(check, lab):
    exporter = replayed(lab)
    bare = exporter.get()
    check.that(not bare.is_gzipped, "compressed, though nobody asked")
    for accept, want in (("gzip", True), ("deflate, gzip;q=0.5", True), ("*", True),
                         ("gzip;q=0", False), ("*;q=0, gzip", True), ("*, gzip;q=0", False),
                         ("*;q=0", False), ("identity", False), ("gzipped", False),
                         ("br, GZIP ; q=1.0", True)):
        packed = exporter.get(Accept_Encoding=accept)
        check.equal(f"{accept}", packed.is_gzipped, want)
        check.equal("what is in it", plain(Samples(packed.text)), plain(Samples(bare.text)))
    check.that(len(exporter.get(Accept_Encoding="gzip").body) < len(bare.body) / 3,
               "it does not become less")


def test_native_histograms(check, lab):
    """The buckets of a native histogram have the bounds and counts of the classic histogram, but
    the counts are stored as differences."""
    recording = RECORDINGS / "latency_of_delayed_faults-1ms.fsr"
    for options, native in (((), False), (("--native-histograms",), True)):
        exporter = Exporter(lab, "--replay", recording, *options)
        families = families_of(exporter.get(Accept=PROTOBUF).body)
        for labels, value in families["faultscope_page_fault_duration_seconds"][2]:
            histogram = value[7]
            check.equal("native", 13 in histogram, native)
            if native:
                check_native(check, histogram)
            if labels["type"] == "minor":
                check.that(histogram[1][0] > 0, "nothing was counted")
        check.equal("end", exporter.stop(), 0)


def check_native(check, histogram):
    from exporter import message
    buckets = [message(one) for one in histogram[3]]
    spans = [message(one) for one in histogram[12]]
    check.equal("schema", zigzag(histogram[5][0]), 0)
    check.equal("spans", len(spans), 1)
    check.equal("length", spans[0][2][0], len(histogram[13]))
    count = total = 0
    index = zigzag(spans[0][1][0])
    for delta, bucket in zip(histogram[13], buckets):
        count += zigzag(delta)
        total += count
        check.equal("cumulative", bucket[1][0], total)
        bound = bucket[2][0]
        check.that(bound in (2.0 ** index, float("inf")), f"bound {bound} of bucket {index}")
        index += 1
    check.equal("all of them", total, histogram[1][0])


def test_recording_without_root(check, lab):
    """With --replay, the exporter serves the final state of a recording. It then needs no root, and
    every scrape gives the same page."""
    port = free_port()
    still = Exporter(lab, *REPLAY, *AT_ONCE, port=port)
    first, second = still.metrics(), still.metrics()
    check.that(sum(first.of("faultscope_mappings")) > 0, "no mappings")
    check.that(len(first.of("faultscope_workload_info")) > 0, "no workload")
    check.equal("again", plain(first), plain(second))


@live
def test_textfile(check, lab):
    """--textfile writes a metrics file once, or at each interval. The file is written as a whole or
    not at all, and promtool accepts it."""
    path = lab.dir / "faultscope.prom"
    ran = lab.faultscope("export", "--textfile", path, *AT_ONCE)
    wrote_all(check, "once", ran)
    samples = Samples(path.read_text())
    check.that(len(samples.of("faultscope_mappings")) > 0, "no workload in it")
    check.equal("promtool", promtool("check", "metrics", input=path.read_text()).returncode, 0)
    check.equal("mode", path.stat().st_mode & 0o777, 0o644)
    check.equal("left beside it", [one.name for one in lab.dir.glob("*.tmp")], [])
    ran = lab.faultscope("export", "--textfile", lab.dir / "no" / "such.prom")
    check.equal("status without the directory", ran.returncode, 1)
    check.that("such.prom" in ran.err, ran.err)


@live
def test_textfile_leaves_the_drafts_of_others(check, lab):
    """The exporter writes to a shared directory, where another user has a file with the name of the
    exporter's temporary file. The exporter does not change the other user's file."""
    path = lab.dir / "faultscope.prom"
    ran = lab.call("sh", "-c", f'for name in "$$" "$$.0"; do echo theirs > {path}.$name.tmp; done; '
                   f'exec {FAULTSCOPE} export --textfile {path}')
    wrote_all(check, "beside other files", ran)
    check.that("faultscope_up 1" in path.read_text(), "no metrics")
    check.equal("theirs", [one.read_text() for one in lab.dir.glob("*.tmp")], ["theirs\n"] * 2)


@live
def test_textfile_without_a_probe(check, lab):
    """If --textfile writes its file only once, the exporter then exits. The exit status is 7 if a
    requested attach type is unavailable, and 0 if a probe is disabled."""
    ran = lab.faultscope("export", "--textfile", lab.dir / "a.prom", "--probe", "signal=none")
    wrote_all(check, "signal=none", ran)
    for mechanism in ("kprobe", "fentry"):
        told = lab.doctor("--no-calibrate", "--probe", f"fault_kernel={mechanism}")
        if any(hook["name"] == "fault_kernel" and hook["state"] == "on" for hook in told["probes"]):
            continue
        ran = lab.faultscope("export", "--textfile", lab.dir / "b.prom", "--probe",
                             f"fault_kernel={mechanism}")
        check.equal(f"{mechanism}: status", ran.returncode, 7)
        check.that("incomplete: not measured: fault_kernel (" in ran.err, ran.err)
        return
    raise Skip("this kernel refuses no mechanism")
