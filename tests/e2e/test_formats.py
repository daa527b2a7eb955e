# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the output formats of `report`. Programs that are not part of faultscope read each format.
"""

import csv
import io
import json
import re
import shutil
import sqlite3
import subprocess

from harness import RECORDINGS, ROOT, Lines, Skip

LEAK = RECORDINGS / "forecast_of_a_leak.fsr"
REFUSED = RECORDINGS / "refusals-nofile.fsr"
# members that each line of `report --format jsonl` has
ADDED = {"time_ns", "host", "boot_id", "kernel", "program_version"}
KEPT = (LEAK, REFUSED, RECORDINGS / "faults_touched_by_threads-4.fsr",
        RECORDINGS / "brief_children_among_all-open.fsr")


def made(lab, recording, name):
    out = lab.dir / f"out.{name}"
    ran = lab.faultscope("report", "--format", name, recording, "-o", out)
    assert ran.returncode == 0, ran.err
    return out


def told(lab, recording):
    """Returns the last JSON line of each process of a recording."""
    lines = Lines(lab.faultscope("--replay", recording, "--json").out)
    last = {}
    for line in lines.of("process"):
        last[line["pid"], line["start_time_ns"]] = line
    return last


def sum_of(last, group, key):
    return sum(line[group][key] or 0 for line in last.values())


def faults_of(last):
    return sum_of(last, "faults", "minor") + sum_of(last, "faults", "major")


def tool(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f"no {name}")
    return path


def module(name):
    """Returns the path of a Node.js package that tools/report_tools.sh installed."""
    at = ROOT / "build" / "report-tools" / "node_modules" / name
    if not at.is_dir():
        raise Skip(f"no package {name}: make check-report installs it")
    return at


def test_folded(check, lab):
    for recording in KEPT:
        total = 0
        for line in made(lab, recording, "folded-faults").read_text().splitlines():
            m = re.fullmatch(r"([^;\n]+(?:;[^;\n]+)*) (\d+)", line)
            check.that(m, f"{line!r}")
            total += int(m.group(2))
        check.equal(f"{recording.name}: faults", total, faults_of(told(lab, recording)))
        stall = [int(line.rsplit(" ", 1)[1])
                 for line in made(lab, recording, "folded-stall").read_text().splitlines()]
        check.equal(f"{recording.name}: stall", sum(stall),
                    sum_of(told(lab, recording), "faults", "stall_ns"))


def test_pprof(check, lab):
    go = tool("go")
    for recording in KEPT:
        path = made(lab, recording, "pprof")
        check.equal("gzip", path.read_bytes()[:2], b"\x1f\x8b")
        ran = subprocess.run([go, "tool", "pprof", "-raw", path], text=True, capture_output=True,
                             env={"HOME": str(lab.dir), "PATH": "/usr/bin:/bin"}, check=False)
        check.equal(f"status, {ran.stderr[:200]}", ran.returncode, 0)
        # pprof shows the first sample type by default.
        check.that("faults/count[dflt] stall/nanoseconds bytes/bytes" in ran.stdout,
                   ran.stdout[:300])
        rows = re.findall(r"^ +(\d+) +(\d+) +(\d+) +(\d+) +(\d+):", ran.stdout, re.M)
        check.equal(f"{recording.name}: faults", sum(int(row[0]) for row in rows),
                    faults_of(told(lab, recording)))


def test_json_by_jq(check, lab):
    jq = tool("jq")
    for name, query in (("speedscope", "[.profiles[0].weights[]]|add"),
                        ("trace", '[.traceEvents[]|select(.ph=="C")]|length'),
                        ("jsonl", "select(.type==\"end\")|.losses.ring")):
        for recording in KEPT:
            ran = lab.call(jq, "-e", query, made(lab, recording, name))
            check.equal(f"{name} of {recording.name}: {ran.err}", ran.returncode, 0)
            if name == "speedscope":
                check.equal(f"{recording.name}: faults", int(ran.out),
                            faults_of(told(lab, recording)))


def test_jsonl_is_the_json(check, lab):
    """The lines are those of --json. Each names the host, too: docs/fleet-queries.md."""
    for recording in KEPT:
        lines = [json.loads(line) for line in
                 made(lab, recording, "jsonl").read_text().splitlines()]
        plain = [json.loads(line) for line in
                 lab.faultscope("--replay", recording, "--json").out.splitlines()]
        check.equal(f"{recording.name}: lines", len(lines), len(plain))
        for got, want in zip(lines, plain):
            added = {key for key in ADDED if key not in want}
            check.that(added <= set(got), f"{recording.name}: a line lacks {added - set(got)}")
            check.equal(recording.name, {key: got[key] for key in got if key not in added}, want)


def test_csv(check, lab):
    """Reads the CSV with Python's csv module, and with SQLite, which computes the sums of columns.
    """
    for recording in KEPT:
        rows = list(csv.reader(io.StringIO(made(lab, recording, "csv").read_text(), newline="")))
        check.that(all(len(row) == len(rows[0]) for row in rows), "columns")
        last = told(lab, recording)
        check.equal(f"{recording.name}: rows", len(rows) - 1, len(last))
        table = sqlite3.connect(":memory:")
        names = ", ".join(f'"{name}"' for name in rows[0])
        table.execute(f"create table t ({names})")
        table.executemany(f"insert into t values ({','.join('?' * len(rows[0]))})", rows[1:])
        for group, key in (("faults", "minor"), ("faults", "major"), ("maps", "failed"),
                           ("fds", "count"), ("memory", "rss_bytes")):
            total = table.execute(f'select sum("{group}.{key}") from t').fetchone()[0]
            check.equal(f"{recording.name}: {group}.{key}", int(total or 0),
                        sum_of(last, group, key))
        over = csv.DictReader(io.StringIO(made(lab, recording, "csv-time").read_text(), newline=""))
        minor = sum(int(row["minor_faults"]) for row in over)
        check.equal(f"{recording.name}: faults over time", minor, sum_of(last, "faults", "minor"))


def test_textfile_by_promtool(check, lab):
    promtool = tool("promtool")
    for recording in KEPT[:2]:
        path = made(lab, recording, "textfile")
        with path.open("rb") as f:
            ran = subprocess.run([promtool, "check", "metrics"], stdin=f, text=True,
                                 capture_output=True, check=False)
        check.equal(f"promtool says {ran.stdout}{ran.stderr}", ran.returncode, 0)


def test_trace_by_a_parser(check, lab):
    package = module("@nearform/trace-events-parser")
    script = f"""
        const parse = require({json.dumps(str(package))});
        const seen = {{}};
        require('fs').createReadStream(process.argv[1]).pipe(parse())
            .on('data', e => {{ seen[e.ph] = (seen[e.ph] || 0) + 1; }})
            .on('end', () => console.log(JSON.stringify(seen)));
    """
    for recording in KEPT:
        path = made(lab, recording, "trace")
        ran = lab.call(tool("node"), "-e", script, path)
        check.equal(f"status, {ran.err[:300]}", ran.returncode, 0)
        events = json.loads(path.read_text())["traceEvents"]
        for phase, n in json.loads(ran.out).items():
            check.equal(f"{recording.name}: events {phase}", n,
                        sum(event["ph"] == phase for event in events))
        check.that(all(event["ts"] >= 0 for event in events), "times")


def test_hostile_names(check, lab):
    """Names with arbitrary bytes never break out of their CSV cell, stack frame or JSON string."""
    from placeless import renamed
    path = lab.dir / "hostile.fsr"
    for name in (b"a;b c\n\x1b[2J", b'=cmd|"x",y', b"\xff\xfe</script>", b"(x) (y)"):
        path.write_bytes(renamed(LEAK.read_bytes(), b"fdleak", name))
        for form in ("folded-faults", "perf", "speedscope", "trace", "csv", "pprof", "text"):
            data = made(lab, path, form).read_bytes()
            if form == "pprof":
                continue
            check.that(b"\x1b" not in data, f"{form}: an escape sequence of {name!r}")
            text = data.decode()
            if form in ("speedscope", "trace"):
                json.loads(text)
            if form == "csv":
                check.equal("rows", len(list(csv.reader(io.StringIO(text, newline="")))), 2)
            if form == "folded-faults":
                check.equal("lines", len(text.splitlines()), 1)
