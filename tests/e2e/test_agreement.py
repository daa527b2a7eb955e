# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that all outputs of a recording show equal numbers and say what they leave out."""

import csv
import gzip
import io
import json
import re

from harness import BUILD, INCOMPLETE, LONG, RECORDINGS, ROOT, Lines, Skip, some_of
from page_data import data_of

# Exit statuses of commands that read a recording. DONE means success, and INCOMPLETE means that the
# recording has lost events. All outputs must agree in both cases.
DONE = 0
SEEDS = range(0, 200, 1 if LONG else 8)
UNSEEN = re.compile("[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
# Maps the seed of a recording to the number of processes in it. Each of these recordings has more
# processes than a report has rows.
CROWDS = {201: 5000, 202: 7000} if LONG else {201: 5000}
COUNTERS = ("minor", "major", "stall_ns")
# CSV columns with numbers of calls on mappings and file descriptors
CALLS = ("maps.created", "maps.removed", "maps.failed", "fds.opened", "fds.closed", "fds.failed")
# Values that are summed over all living processes. Each pair has the name of a column of csv-time,
# which is also a key in the HTML page, and a JSON field.
GAUGES = (("mappings", "maps.count"), ("fds", "fds.count"),
          ("rss_bytes", "memory.rss_bytes"), ("swap_bytes", "memory.swap_bytes"),
          ("threads", "threads"))
# Rows of the output of `diff`: (metric, JSON field, whether only living processes count, divisor).
# If the divisor is not 0, the row shows a rate per second.
DIFFERENCES = (("mappings", "maps.count", True, 0), ("file descriptors", "fds.count", True, 0),
               ("threads", "threads", True, 0), ("resident bytes", "memory.rss_bytes", True, 0),
               ("swapped bytes", "memory.swap_bytes", True, 0),
               ("failed mapping calls", "maps.failed", False, 0),
               ("failed fd calls", "fds.failed", False, 0),
               ("minor faults a second", "faults.minor", False, 1),
               ("major faults a second", "faults.major", False, 1),
               ("stall, ms a second", "faults.stall_ns", False, 1e6))


def writer():
    path = BUILD / "random_recording"
    if not path.exists():
        raise Skip(f"{path} is not built: make {path}")
    return path


_reports = {}  # {format: report} of the recording under test, as a cache


def report(lab, name, recording):
    if name not in _reports:
        _reports[name] = make_report(lab, name, recording)
    return _reports[name]


def make_report(lab, name, recording):
    ran = lab.faultscope("report", "--format", name, recording)
    assert ran.returncode in (DONE, INCOMPLETE), f"{name}: {ran.err}"
    assert not UNSEEN.search(ran.out), f"{name}: a character that hides or moves text"
    return ran.out


def value_of(line, path):
    """Returns the value of a CSV column, or None if the value is unknown or there is no limit."""
    for key in path.split("."):
        line = line[key]
    return line


def last_lines(lab, recording):
    """Returns two values: the last JSON line of each process, and the peak of each sum in GAUGES.
    """
    last, now = {}, {}
    text = lab.faultscope("--replay", recording, "--json").out
    assert not UNSEEN.search(text), "JSON: a character that hides or moves text"
    peaks = {column: 0 for column, _ in GAUGES}
    sums = dict(peaks)

    def look_ends():
        for column, _ in GAUGES:
            peaks[column] = max(peaks[column], sums[column])

    at = None
    for line in Lines(text).of("process"):
        if at is not None and line["t"] != at:
            look_ends()
        at = line["t"]
        key = line["pid"], line["start_time_ns"]
        last[key] = line
        for column, path in GAUGES:
            n = 0 if line.get("final") else value_of(line, path) or 0
            sums[column] += n - now.get((key, column), 0)
            now[key, column] = n
    look_ends()
    return last, peaks


def by_json(lab, recording):
    """Returns the sums with which every other output is compared. Each is the sum of a counter over
    the last JSON lines of all processes."""
    return sums_of(last_lines(lab, recording)[0])


def sums_of(last):
    sums = {key: sum(line["faults"][key] or 0 for line in last.values()) for key in COUNTERS}
    sums["processes"] = len(last)
    sums["ended"] = sum(line.get("final", False) for line in last.values())
    return sums


def check_rows(check, name, rows, last):
    """Checks that each column of each CSV row equals the value in the last line of that process."""
    for row in rows:
        if row["comm"] == "~other":
            continue
        line = last[int(row["pid"]), int(row["start_time_ns"])]
        for path, text in row.items():
            if path in ("comm", "exe", "workload", "first_seconds", "last_seconds", "final"):
                continue
            want = value_of(line, path)
            if text != ("" if want is None else str(want)):
                check.that(False, f"{name}: {path} of {row['pid']}: {text!r}, want {want}")
                return
    for path in CALLS:
        check.equal(f"{name}: sum of {path}", sum(int(row[path] or 0) for row in rows),
                    sum(value_of(line, path) or 0 for line in last.values()))


def check_gauges(check, lab, recording, name, page, peaks):
    """Checks that csv-time, the HTML page, the trace and JSON agree on the peak of each sum in
    GAUGES."""
    rows = list(csv.DictReader(io.StringIO(report(lab, "csv-time", recording), newline="")))
    for column, _ in GAUGES:
        got = [int(row[column]) for row in rows]
        check.equal(f"{name}: {column} of the page", [p[column] for p in page["points"]], got)
        if peaks:
            check.equal(f"{name}: peak of {column}", max(got, default=0), peaks[column])
    trace = json.loads(report(lab, "trace", recording))["traceEvents"]
    for column, _ in GAUGES:
        got = [e["args"][column] for e in trace if e["ph"] == "C" and column in e["args"]]
        check.equal(f"{name}: {column} of the trace", got, [int(row[column]) for row in rows])


def check_peaks(check, lab, recording, name, tiles, last):
    """Checks that the page and the text output name the process with the highest peak."""
    text = lab.faultscope("--replay", recording, "--no-unicode").out
    for tile, word, path in (("peak of mappings", "maps", "maps.peak"),
                             ("peak of open fds", "fds", "fds.peak")):
        want = max((value_of(line, path) or 0 for line in last.values()), default=0)
        if tile in tiles:
            check.equal(f"{name}: {tile}", plain(tiles[tile]), want)
        said = re.findall(rf"^  {word} peak ([\d,]+)", text, re.M)
        check.equal(f"{name}: {word} peak of the text", [plain(n) for n in said], [want] * len(said))


def check_page_processes(check, name, page, last):
    for one in page["processes"]:
        if one["comm"] == "~other":
            continue
        line = last[one["pid"], one["start_time_ns"]]
        for path, value in one["values"].items():
            check.that(value == value_of(line, path),
                       f"{name}: {path} of {one['pid']} in the page: {value}")


def differences(lab, before, after):
    ran = lab.faultscope("diff", "--json", before, after)
    assert ran.returncode in (DONE, INCOMPLETE), f"diff: {ran.err}"
    assert not UNSEEN.search(ran.out), "diff: a character that hides or moves text"
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert lines[-1]["type"] == "difference_end" and not lines[-1]["left_out"], lines[-1]
    return lines[:-1]


def check_diff(check, lab, recording, name, last, info):
    """Checks `diff` of a recording with itself. The output must show no growth, and the value of
    each workload must be the sum over the last JSON lines of the workload's processes."""
    seconds = info["seconds"]
    rows = differences(lab, recording, recording)
    for row in rows:
        check.that(row["from"] == row["to"] and not row["growth"], f"{name}: {row}")
    got = {(row["name"], row["metric"]): row["to"] for row in rows if row["by"] == "workload"}
    names = {line["workload"] for line in last.values()} if not info["processes_left_out"] else {None}
    for metric, path, living, per in DIFFERENCES:
        for workload in names:
            want = sum(value_of(line, path) or 0 for line in last.values()
                       if workload in (None, line["workload"])
                       and not (living and line.get("final")))
            if per:
                want = want / per / seconds if seconds else 0
            # `diff` merges all processes without a row of their own into one workload.
            is_it = (lambda one, w=workload: w is None or one == w)
            total = sum(n for (one, of), n in got.items() if of == metric and is_it(one))
            # Tolerance for rounding: the compared values, and the seconds by which a rate is
            # divided, have six decimals each.
            slack = 1e-6 * (len(got) + (want / seconds if per and seconds else 0))
            check.that(abs(total - want) <= slack,
                       f"{name}: {metric} of {workload}: diff has {total}, want {want}")


def by_csv(lab, recording):
    rows = csv_rows(lab, recording)
    sums = {key: sum(int(row[f"faults.{key}"] or 0) for row in rows) for key in COUNTERS}
    return sums, [row["comm"] for row in rows]


def by_csv_time(lab, recording):
    rows = list(csv.DictReader(io.StringIO(report(lab, "csv-time", recording), newline="")))
    names = {"minor": "minor_faults", "major": "major_faults", "stall_ns": "stall_ns"}
    return {key: sum(int(row[names[key]]) for row in rows) for key in COUNTERS}


def page_of(lab, recording):
    """Returns the tiles of the HTML page and the JSON data of its charts."""
    page = report(lab, "html", recording)
    data = data_of(page)
    tiles = dict(re.findall(r"<dt>([^<]+)</dt><dd[^>]*>([^<]*)</dd>", page))
    tiles = {re.sub(" of all threads$", "", key): value for key, value in tiles.items()}
    ended = re.search(r"<dt>processes</dt><dd[^>]*>[^<]*</dd><dd [^>]*>([\d,]+) ended", page)
    return tiles, data, int(ended.group(1).replace(",", ""))


def plain(text):
    return int(text.replace(",", ""))


def folded(text):
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())


def by_trace(lab, recording):
    """Returns (time, rates) for each point of the counters of all processes in the trace. A rate in
    the trace is valid until the next point."""
    events = json.loads(report(lab, "trace", recording))["traceEvents"]
    return [(e["ts"], e["args"]) for e in events
            if e["ph"] == "C" and e["name"] == "page faults a second" and e["pid"] == 0]


def by_textfile(lab, recording):
    out = lab.new_output()[0]
    ran = lab.faultscope("report", "--format", "textfile", recording, "-o", out)
    assert ran.returncode in (DONE, INCOMPLETE), ran.err
    sums = {"minor": 0, "major": 0}
    assert not UNSEEN.search(out.read_text()), "textfile: a character that hides or moves text"
    for severity, n in re.findall(r'^faultscope_page_faults_total\{.*type="(\w+)"\} (\S+)$',
                                  out.read_text(), re.M):
        sums[severity] += int(float(n))
    return sums


def csv_rows(lab, recording):
    return list(csv.DictReader(io.StringIO(report(lab, "csv", recording), newline="")))


def agree(check, lab, recording, name, made=True):
    """Checks that all outputs of a recording agree. `made` is true for recordings by
    random_recording, in which all lines of one scan have equal times."""
    _reports.clear()
    last, peaks = last_lines(lab, recording)
    want = sums_of(last)
    faults = want["minor"] + want["major"]
    info = json.loads(lab.faultscope("info", "--json", recording).out)
    for key in ("processes", "ended"):
        check.equal(f"{name}: {key} of info", info[key], want[key])
    sums, names = by_csv(lab, recording)
    check.equal(f"{name}: csv", sums, {key: want[key] for key in COUNTERS})
    check.equal(f"{name}: rows of csv", len(names), want["processes"])
    check.that("~other" not in names, f"{name}: a row of others")
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
    check_rows(check, name, csv_rows(lab, recording), last)
    check_gauges(check, lab, recording, name, data, peaks if made else None)
    # Processes in recordings of real programs have different limits, and the tile shows the highest
    # share of a limit.
    if made:
        check_peaks(check, lab, recording, name, tiles, last)
    check_page_processes(check, name, data, last)
    check_diff(check, lab, recording, name, last, info)
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
            # The rates of the page and of the trace have three decimals.
            check.that(abs(args[key] - want) <= 0.02 * want + 0.01,
                       f"{name}: {key} of the trace: {args[key]}, want {want}")


def test_outputs_agree(check, lab):
    """Outputs agree for random recordings with births, exits, reused pids and different intervals
    between scans."""
    program = writer()
    recording = lab.dir / "random.fsr"
    for seed in SEEDS:
        ran = lab.call(program, seed, 1 + seed * seed % 97, recording)
        assert ran.returncode == 0, ran.err
        agree(check, lab, recording, f"seed {seed}")


def test_outputs_of_crowds_agree(check, lab):
    """Outputs agree for recordings with so many processes that a report leaves some of them out."""
    program = writer()
    recording = lab.dir / "crowd.fsr"
    for seed, processes in CROWDS.items():
        ran = lab.call(program, seed, processes, recording)
        assert ran.returncode == 0, ran.err
        left_out = json.loads(lab.faultscope("info", "--json", recording).out)
        check.that(left_out["processes_left_out"], f"seed {seed}: all have a row: {left_out}")
        agree(check, lab, recording, f"seed {seed}")


def test_outputs_of_kept_recordings_agree(check, lab):
    for recording in some_of((*sorted(RECORDINGS.glob("*.fsr")),
                              *sorted((ROOT / "docs" / "examples").glob("*.fsr"))), 20):
        agree(check, lab, recording, recording.name, made=False)


def test_pprof_agrees(check, lab):
    """The sum over the first value of each pprof sample equals the number of faults."""
    program = writer()
    recording, out = lab.dir / "p.fsr", lab.dir / "p.pb.gz"
    lab.call(program, 7, 90, recording)
    ran = lab.faultscope("report", "--format", "pprof", recording, "-o", out)
    check.equal(f"status: {ran.err}", ran.returncode, 0)
    want = by_json(lab, recording)
    check.equal("faults", sum_of_pprof(gzip.decompress(out.read_bytes())),
                want["minor"] + want["major"])


def fields_of(data):
    """Yields (field number, value) pairs of a protobuf message of varints and byte strings."""
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


def sum_of_pprof(data, nth=0):
    """Returns the sum of value number `nth` of all samples."""
    def numbers(packed):
        n = shift = 0
        for byte in packed:
            n |= (byte & 0x7f) << shift
            shift += 7
            if not byte & 0x80:
                yield n
                n = shift = 0

    return sum(list(numbers(values))[nth] for number, sample in fields_of(data) if number == 2
               for what, values in fields_of(sample) if what == 2)


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
    """Every command reports a recording as incomplete if the kernel skipped some of its events."""
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
    empty.write_bytes(whole[:24])  # a recording that ends after its file header
    for words in (["info", empty], ["replay", empty], ["report", empty], ["diff", empty, empty],
                  ["report", "--format", "textfile", empty, "-o", lab.dir / "page"],
                  ["diagnose", "--replay", empty]):
        ran = lab.faultscope(*words)
        check.that(ran.returncode not in (DONE, 3), f"{words}: status {ran.returncode}")
        check.that(ran.err, f"{words}: nothing said")
        check.that("all is well" not in ran.out, f"{words}: all well")


def drawn_cells(page):
    """Returns (row, left, right) of each cell in the heat map of processes. `left` and `right` are
    the edges of the cell in seconds."""
    svg = re.search(r'<svg id="heat-svg".*?</svg>', page, re.S).group(0)
    left, right, height = (float(re.search(rf'data-{key}="([\d.]+)"', svg).group(1))
                           for key in ("left", "right", "row"))
    data = data_of(page)
    points = data["points"]
    begin, end = points[0]["from"], points[-1]["to"]

    def seconds(x):
        return begin + (x - left) / (right - left) * (end - begin)

    cells = [(int(float(y) // height), seconds(float(x)), seconds(float(end)))
             for path in re.findall(r'<path class="h\d"[^>]* d="([^"]*)"', svg)
             for x, y, end in re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)", path)]
    return data, cells, seconds(left + 0.5) - begin


def test_heat_maps_go_by_time(check, lab):
    """Even if the intervals between scans differ, the heat map must draw a burst of faults at the
    right second of the time axis, and nowhere else."""
    recording = lab.dir / "heat.fsr"
    seen = 0
    for seed in range(24):
        ran = lab.call(writer(), seed, 5 + seed, recording)
        assert ran.returncode == 0, ran.err
        data, cells, slack = drawn_cells(lab.faultscope("report", "--format", "html",
                                                        recording).out)
        rows = 1 + max((row for row, _, _ in cells), default=-1)
        for row, process in enumerate(data["processes"][:rows]):
            of_row = [(a, b) for r, a, b in cells if r == row]
            faulted = [p for p, n in zip(data["points"], process["faults_by_point"] or []) if n]
            for p in faulted:
                middle = (p["from"] + p["to"]) / 2
                check.that(any(a - slack <= middle <= b + slack for a, b in of_row),
                           f"seed {seed}: {process['pid']} faulted at {middle} s: no cell there")
                seen += 1
            for a, b in of_row:
                check.that(any(p["from"] < b + slack and a < p["to"] + slack for p in faulted),
                           f"seed {seed}: {process['pid']} has a cell from {a} to {b} s")
    check.that(seen > 500, f"{seen} bursts")
