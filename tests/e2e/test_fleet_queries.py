# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the SQL of docs/fleet-queries.md with DuckDB over the JSON lines of 210 hosts, and compares
the results with those computed from the lines. The lines come from a recording: each host has
another name, boot, kernel, time, workload and findings."""
import datetime
import gzip
import json
import re
import shutil
import uuid
from collections import defaultdict

from harness import RECORDINGS, ROOT, Skip, complaint

HOSTS = 210
KERNELS = ("5.10.0-33-amd64", "6.1.0-28-amd64", "6.12.9", "6.18.44")
WORKLOADS = ("redis.service", "trainer.service", "web.service", "db.service", "batch.service")
NOW = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.timezone.utc)
IDENTITY = ("host", "boot_id", "kernel", "program_version")
PAGE = ROOT / "docs/fleet-queries.md"
MODULES = ROOT / "build/report-tools/node_modules"
DAY = 86400
NS = 10**9
# Runs each statement of standard input, which is a JSON list. Prints the rows of each as JSON.
RUNS = """
const {createRequire} = require("module");
const {DuckDBInstance} = createRequire(process.argv[1] + "/x.js")("@duckdb/node-api");
(async () => {
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    for (const sql of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
        const reader = await connection.runAndReadAll(sql);
        console.log(JSON.stringify(reader.getRowObjectsJson()));
    }
})().catch(error => { console.error(String(error)); process.exit(1); });
"""


def base_lines(lab):
    ran = lab.faultscope("report", RECORDINGS / "crossings_of_maps.fsr", "--format", "jsonl")
    return [json.loads(line) for line in ran.out.splitlines()]


def utc(ns):
    at = datetime.datetime.fromtimestamp(ns // NS, datetime.timezone.utc)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{ns % NS // 10**6:03}Z"


def of_host(base, i):
    """Returns the lines of a host. Every third one met M01, in the last 14 days; every fifth one
    will reach a limit, in 1 to 42 hours."""
    ends_ns = int(NOW.timestamp() * NS) - (i % 14) * DAY * NS - i * NS
    shift = ends_ns - base[-1]["time_ns"]
    found = []
    for line in base:
        one = json.loads(json.dumps(line))
        one |= {"host": f"host{i:03}", "kernel": KERNELS[i % len(KERNELS)], "program_version": "0.1.0",
                "boot_id": None if i % 10 == 9 else str(uuid.UUID(int=i)),
                "time_ns": one["time_ns"] + shift, "time": utc(one["time_ns"] + shift)}
        kind = one["type"]
        if kind == "start" and one["boot_id"] is None:
            one["boot_id"] = ""
        if kind == "process":
            one["workload"] = WORKLOADS[i % len(WORKLOADS)]
        if kind == "finding" and one["id"] == "M01" and i % 3:
            continue
        if kind == "finding" and one["id"] in ("M25", "M26"):
            if i % 5 or one["state"] == "cleared":
                continue
            one["forecast"]["seconds"] = (i % 14) * DAY + (1 + i % 42) * 3600
        if kind == "growth":
            for group in one["groups"]:
                group["created"] += i
        found.append(one)
    return found


def queries(place):
    """Returns the SQL of the page, for the files in `place` and a fixed time."""
    blocks = re.findall(r"^```sql\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    text = "\n".join(blocks).replace("recordings/", f"{place}/")
    text = text.replace("now()", f"TIMESTAMPTZ '{NOW.isoformat()}'")
    return ["SET TimeZone = 'UTC'"] + [one.strip() for one in text.split(";") if one.strip()]


def run_duckdb(lab, statements):
    if not shutil.which("node") or not (MODULES / "@duckdb/node-api").exists():
        raise Skip("node or @duckdb/node-api of tools/report_tools.sh is missing")
    path = lab.dir / "statements"
    path.write_text(json.dumps(statements))
    with open(path, encoding="utf-8") as text:
        ran = lab.call("node", "-e", RUNS, MODULES, stdin=text)
    assert ran.returncode == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def seconds_of(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def test_lines_name_their_host(check, lab):
    """Each line has the keys of the page and is valid. Other outputs do not have the keys."""
    base = base_lines(lab)
    start = base[0]
    for line in base:
        check.equal(line["type"], complaint(line), "")
        check.equal("host", [line[key] for key in IDENTITY], [start[key] for key in IDENTITY])
        if line["time"]:
            check.equal("time", utc(line["time_ns"]), line["time"])
    ran = lab.faultscope("--replay", RECORDINGS / "crossings_of_maps.fsr", "--json")
    check.that(not [line for line in map(json.loads, ran.out.splitlines())
                    if "time_ns" in line or ("host" in line and line["type"] != "start")],
               "keys in another output")


def unique(pairs):
    """Returns the object of a line, in which no key may occur twice."""
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key occurs twice: {keys}"
    return dict(pairs)


def test_no_key_occurs_twice(check, lab):
    """The keys of the host are not those of another fact, such as the version of a cgroup."""
    kinds = set()
    for path in sorted(RECORDINGS.glob("*.fsr"), key=lambda one: one.stat().st_size)[:40]:
        ran = lab.faultscope("report", path, "--format", "jsonl")
        for line in ran.out.splitlines():
            kinds.add(json.loads(line, object_pairs_hook=unique)["type"])
    check.that({"start", "process", "finding", "pressure", "end"} <= kinds, f"only {kinds}")


def test_redacted_lines_have_a_pseudonym(check, lab):
    """Two recordings that this machine redacts have the same pseudonym for the same host."""
    names = set()
    for i in range(2):
        path = lab.dir / f"{i}.fsr"
        lab.faultscope("report", "--redact", RECORDINGS / "crossings_of_maps.fsr", "-o", path)
        ran = lab.faultscope("report", path, "--format", "jsonl")
        lines = [json.loads(line) for line in ran.out.splitlines()]
        names |= {line["host"] for line in lines}
        check.equal("boots", {line["boot_id"] for line in lines[1:]}, {None})
    check.equal("names", len(names), 1)
    check.that(re.fullmatch("host-[0-9a-f]{16}", names.pop()), "a pseudonym")


def test_queries_of_the_page(check, lab):
    base = base_lines(lab)
    hosts = [of_host(base, i) for i in range(HOSTS)]
    for i, lines in enumerate(hosts):
        with gzip.open(lab.dir / f"{i}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    statements = queries(lab.dir)
    check.equal("statements of the page", len(statements), 6)
    met, reaching, sites = run_duckdb(lab, statements)[-3:]

    first, on = {}, defaultdict(set)
    limits, held, by = {}, defaultdict(int), defaultdict(set)
    for i, lines in enumerate(hosts):
        workload = WORKLOADS[i % len(WORKLOADS)]
        last = {}
        for line in lines:
            if line["type"] == "growth" and line["what"] == "maps":
                for group in line["groups"]:
                    stack = group["stack"]
                    key = (group["name"], group["user_line"] or (stack[1] if len(stack) > 1 else None))
                    held[key] += group["created"] - group["removed"]
                    by[key].add(i)
            if line["type"] != "finding":
                continue
            last[line["id"]] = line
            at = line["time_ns"] / NS
            if line["id"] == "M01" and line["state"] == "open" and at >= NOW.timestamp() - 7 * DAY:
                key = (workload, line["kernel"])
                first[key] = min(first.get(key, at), at)
                on[key].add(i)
        for line in last.values():
            if line["state"] == "open" and line["forecast"]:
                at = line["time_ns"] / NS + line["forecast"]["seconds"]
                if NOW.timestamp() <= at <= NOW.timestamp() + DAY:
                    limits[line["host"], line["slug"]] = (workload, at)
    check.that(len(first) > 5 and len(limits) > 10 and len(held) >= 2, "the hosts differ")
    check.equal("first met", {(row["workload"], row["kernel"]): int(row["hosts"]) for row in met},
                {key: len(value) for key, value in on.items()})
    for row in met:
        check.near("time", seconds_of(row["first_met"]), first[row["workload"], row["kernel"]], 1e-9)
    check.equal("order", [row["first_met"] for row in met], sorted(row["first_met"] for row in met))
    check.equal("reaching", {(row["host"], row["slug"]): row["workload"] for row in reaching},
                {key: workload for key, (workload, _) in limits.items()})
    for row in reaching:
        check.near("time", seconds_of(row["reached_at"]), limits[row["host"], row["slug"]][1], 1e-9)
    check.equal("sites", [((row["mappings"], row["code"]), int(row["held"]), int(row["hosts"]))
                          for row in sites],
                sorted(((key, value, len(by[key])) for key, value in held.items()),
                       key=lambda one: (-one[1], one[0])))
