# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every number of every output of one recording agrees with every other, or it is left out aloud."""

import csv
import gzip
import io
import json
import re

from harness import BUILD, RECORDINGS, ROOT, Lines, Skip

DONE, INCOMPLETE = 0, 7  # what a recording lost is said, and is no reason to differ
SEEDS = 200
UNSEEN = re.compile("[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
CROWDS = {201: 6000, 202: 9000}  # more than rows
COUNTERS = ("minor", "major", "stall_ns")


def writer():
    path = BUILD / "random_recording"
    if not path.exists():
        raise Skip(f"{path} is not built: make {path}")
    return path


def report(lab, name, recording):
    ran = lab.faultscope("report", "--format", name, recording)
    assert ran.returncode in (DONE, INCOMPLETE), f"{name}: {ran.err}"
    assert not UNSEEN.search(ran.out), f"{name}: a character that hides or moves text"
    return ran.out


def by_json(lab, recording):
    """Sums over the last line of each process: what everything else is compared with."""
    last = {}
    text = lab.faultscope("--replay", recording, "--json").out
    assert not UNSEEN.search(text), "JSON: a character that hides or moves text"
    for line in Lines(text).of("process"):
        last[line["pid"], line["start_time_ns"]] = line
    sums = {key: sum(line["faults"][key] or 0 for line in last.values()) for key in COUNTERS}
    sums["processes"] = len(last)
    sums["ended"] = sum(line.get("final", False) for line in last.values())
    return sums


def by_csv(lab, recording):
    rows = list(csv.DictReader(io.StringIO(report(lab, "csv", recording), newline="")))
    sums = {key: sum(int(row[f"faults.{key}"] or 0) for row in rows) for key in COUNTERS}
    others = [row for row in rows if row["comm"] == "~other"]
    return sums, len(rows) - len(others), bool(others)


def by_csv_time(lab, recording):
    rows = list(csv.DictReader(io.StringIO(report(lab, "csv-time", recording), newline="")))
    names = {"minor": "minor_faults", "major": "major_faults", "stall_ns": "stall_ns"}
    return {key: sum(int(row[names[key]]) for row in rows) for key in COUNTERS}


def page_of(lab, recording):
    """The tiles that are read, and the data that is drawn."""
    page = report(lab, "html", recording)
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.S).group(1))
    tiles = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]*)</dd>", page))
    ended = re.search(r"<dt>processes</dt><dd>[^<]*</dd><dd class=\"more\">(\d+) ended", page)
    return tiles, data, int(ended.group(1))


def plain(text):
    return int(text.replace(",", ""))


def folded(text):
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())


def by_trace(lab, recording):
    """Counters of all processes are rates: each holds until the next point."""
    events = json.loads(report(lab, "trace", recording))["traceEvents"]
    return [(e["ts"], e["args"]) for e in events
            if e["ph"] == "C" and e["name"] == "page faults a second" and e["pid"] == 0]


def by_textfile(lab, recording):
    out = lab.new_output()[0]
    ran = lab.faultscope("report", "--format", "textfile", recording, "-o", out)
    assert ran.returncode in (DONE, INCOMPLETE), ran.err
    sums = {"minor": 0, "major": 0}
    assert not UNSEEN.search(out.read_text()), "textfile: a character that hides or moves text"
    for severity, n in re.findall(r'^faultscope_page_faults_total\{.*severity="(\w+)"\} (\S+)$',
                                  out.read_text(), re.M):
        sums[severity] += int(float(n))
    return sums


def agree(check, lab, recording, name):
    want = by_json(lab, recording)
    faults = want["minor"] + want["major"]
    info = json.loads(lab.faultscope("info", "--json", recording).out)
    for key in ("processes", "ended"):
        check.equal(f"{name}: {key} of info", info[key], want[key])
    sums, rows, others = by_csv(lab, recording)
    check.equal(f"{name}: csv", sums, {key: want[key] for key in COUNTERS})
    check.equal(f"{name}: rows of csv", rows + info["processes_left_out"], want["processes"])
    check.equal(f"{name}: a row of others", others, info["processes_left_out"] > 0)
    check.equal(f"{name}: csv-time", by_csv_time(lab, recording), sums)
    tiles, data, ended = page_of(lab, recording)
    check.equal(f"{name}: tiles", [plain(tiles[key]) for key in
                                   ("minor faults", "major faults", "processes")],
                [want["minor"], want["major"], want["processes"]])
    check.equal(f"{name}: ended of the page", ended, want["ended"])
    check.equal(f"{name}: points of the page",
                {key: sum(p[key] for p in data["points"]) for key in COUNTERS}, sums)
    check.equal(f"{name}: processes of the page", data["processes_seen"], want["processes"])
    measure = {m["key"]: m["total"] for m in data["profile"]["measures"]}
    check.equal(f"{name}: flame graph", (measure["faults"], measure["stall"]),
                (faults, want["stall_ns"]))
    check.equal(f"{name}: folded faults", folded(report(lab, "folded-faults", recording)), faults)
    check.equal(f"{name}: folded stall", folded(report(lab, "folded-stall", recording)),
                want["stall_ns"])
    check.equal(f"{name}: textfile", by_textfile(lab, recording),
                {"minor": want["minor"], "major": want["major"]})
    scope = json.loads(report(lab, "speedscope", recording))["profiles"]
    weights = {p["name"]: sum(p["weights"]) for p in scope}
    check.equal(f"{name}: speedscope", weights.get("page faults", 0), faults)
    perf = re.findall(r": (\d+) faults:$", report(lab, "perf", recording), re.M)
    check.equal(f"{name}: perf", sum(map(int, perf)), faults)
    check_trace(check, lab, recording, name, data)
    packed = lab.dir / f"packed-{name}.fsr"
    ran = lab.faultscope("report", recording, "-o", packed)
    check.equal(f"{name}: packed: {ran.err}", by_json(lab, packed), want)
    packed.unlink()


def check_trace(check, lab, recording, name, data):
    rates = by_trace(lab, recording)
    check.equal(f"{name}: points of the trace", len(rates), len(data["points"]))
    for (_, args), p in zip(rates, data["points"]):
        seconds = p["to"] - p["from"]
        for key in ("minor", "major"):
            want = p[key] / seconds if seconds else 0
            # both have milliseconds
            check.that(abs(args[key] - want) <= 0.02 * want + 0.01,
                       f"{name}: {key} of the trace: {args[key]}, want {want}")


def test_outputs_agree(check, lab):
    """Recordings that a seed makes up: births, ends, pids used again, uneven scans."""
    program = writer()
    recording = lab.dir / "random.fsr"
    for seed in range(SEEDS):
        ran = lab.call(program, seed, 1 + seed * seed % 97, recording)
        assert ran.returncode == 0, ran.err
        agree(check, lab, recording, f"seed {seed}")


def test_outputs_of_crowds_agree(check, lab):
    """More processes than a report has rows, and more than live at once."""
    program = writer()
    recording = lab.dir / "crowd.fsr"
    for seed, processes in CROWDS.items():
        ran = lab.call(program, seed, processes, recording)
        assert ran.returncode == 0, ran.err
        left_out = json.loads(lab.faultscope("info", "--json", recording).out)
        check.that(left_out["processes_left_out"], f"seed {seed}: all have a row: {left_out}")
        agree(check, lab, recording, f"seed {seed}")


def test_outputs_of_kept_recordings_agree(check, lab):
    for recording in (*sorted(RECORDINGS.glob("*.fsr")),
                      *sorted((ROOT / "docs" / "examples").glob("*.fsr"))):
        agree(check, lab, recording, recording.name)


def test_pprof_agrees(check, lab):
    """Its samples are varints; the sum of the first value of each is that of the faults."""
    program = writer()
    recording, out = lab.dir / "p.fsr", lab.dir / "p.pb.gz"
    lab.call(program, 7, 90, recording)
    ran = lab.faultscope("report", "--format", "pprof", recording, "-o", out)
    check.equal(f"status: {ran.err}", ran.returncode, 0)
    want = by_json(lab, recording)
    check.equal("faults", sum_of_pprof(gzip.decompress(out.read_bytes())),
                want["minor"] + want["major"])


def fields_of(data):
    """(number, value) of a protobuf message: varints and bytes."""
    at = 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 0x7f) << shift
            shift += 7
            if not byte & 0x80:
                return n

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2, key
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size


def sum_of_pprof(data):
    total = 0
    for number, sample in fields_of(data):
        if number != 2:
            continue
        for what, values in fields_of(sample):
            if what == 2:
                at = n = shift = 0
                while values[at] & 0x80:
                    n |= (values[at] & 0x7f) << shift
                    shift += 7
                    at += 1
                total += n | values[at] << shift
    return total


def test_nothing_matched_is_no_all_clear(check, lab):
    recording = RECORDINGS / "forecast_of_a_leak.fsr"
    for name in ("text", "html", "jsonl", "csv", "csv-time", "folded", "folded-faults", "trace",
                 "speedscope", "perf", "textfile"):
        out = lab.new_output()[0]
        ran = lab.faultscope("report", "--comm", "nosuch", "--format", name, recording, "-o", out)
        check.equal(f"{name}: status", ran.returncode, INCOMPLETE)
        check.that("incomplete: no process matched" in ran.err, f"{name}: {ran.err!r}")
        said = out.read_text()
        check.that("all is well" not in said and 'class="well"' not in said, f"{name}: all well")
    ran = lab.faultscope("replay", "--comm", "nosuch", recording)
    check.equal("replay: status", ran.returncode, INCOMPLETE)


def test_losses_are_no_all_clear(check, lab):
    """A recording in which the kernel skipped events: each command says so."""
    lossy = [one for one in (*sorted(RECORDINGS.glob("*.fsr")),
                             *sorted((ROOT / "docs" / "examples").glob("*.fsr")))
             if json.loads(lab.faultscope("info", "--json", one).out)["lost"]]
    check.that(lossy, "no recording that is kept has losses")
    for recording in lossy[:1]:
        for words in (["info", recording], ["replay", recording], ["diff", recording, recording],
                      *(["report", "--format", name, recording] for name in
                        ("text", "html", "jsonl", "csv", "folded-faults", "trace"))):
            ran = lab.faultscope(*words)
            check.equal(f"{words}: status", ran.returncode, INCOMPLETE)
            check.that(re.search("incomplete: (.*: )?lost: ", ran.err), f"{words}: {ran.err!r}")
            check.that("all is well" not in ran.out and 'class="well"' not in ran.out,
                       f"{words}: all well")


def test_empty_recordings_are_no_all_clear(check, lab):
    whole = (RECORDINGS / "forecast_of_a_leak.fsr").read_bytes()
    empty = lab.dir / "empty.fsr"
    empty.write_bytes(whole[:24])  # its header alone
    for words in (["info", empty], ["replay", empty], ["report", empty], ["diff", empty, empty],
                  ["report", "--format", "textfile", empty, "-o", lab.dir / "page"],
                  ["diagnose", "--replay", empty]):
        ran = lab.faultscope(*words)
        check.that(ran.returncode not in (DONE, 3), f"{words}: status {ran.returncode}")
        check.that(ran.err, f"{words}: nothing said")
        check.that("all is well" not in ran.out, f"{words}: all well")
