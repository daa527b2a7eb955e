#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests HTML pages of `faultscope report`, `diff` and `triage` in Chromium without a network.

A page makes no network request and has no script error. It can be used by mouse and keyboard, and
passes axe-core's serious checks. The values of a page equal those of --json for the page's
recording. Prints TAP. Skips if Chromium or the packages of tools/report_tools.sh are missing.

usage: run.py [--shots DIR]    keep screenshots of the pages in DIR
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from page_data import data_of

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
FAULTSCOPE = BUILD / "faultscope"
MODULES = BUILD / "report-tools" / "node_modules"
KEPT = ROOT / "tests" / "e2e" / "recordings"
EXAMPLES = ROOT / "docs" / "examples"
NAMES = ["forecast_of_a_leak", "crash_after_refusal", "signals_of_bad_accesses-fatal",
         "brief_children_among_all-open", "faults_touched_by_threads-4"]
PAGE_MOST = 400_000  # greatest size of a page in bytes
OWN_MOST = 60_000  # greatest size of style and script in a page, in bytes
GRAVE = ("serious", "critical")


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def that(self, name, wrong):
        self.n += 1
        self.failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.n} - {name}")
        for line in wrong[:5]:
            print(f"#   {str(line)[:600]}")
        sys.stdout.flush()

    def end(self):
        print(f"1..{self.n}")
        return 1 if self.failed else 0


def faultscope(*words):
    return subprocess.run([FAULTSCOPE, *words], text=True, capture_output=True, check=False)


def lines_of(recording):
    return [json.loads(line) for line in
            faultscope("--replay", recording, "--json").stdout.splitlines()]


def flat(line):
    """Returns {key: value} of a process line. The keys are those of the page, such as
    "faults.minor" for the key "minor" in "faults"."""
    out = {key: value for key, value in line.items() if not isinstance(value, (dict, list))}
    for group in ("faults", "maps", "fds", "memory"):
        for key, value in line[group].items():
            out[f"{group}.{key}"] = value
    return out


def compare(recording, page):
    """Returns the differences between the data of a page and the output of --json for the same
    recording."""
    data, wrong, last, ids = data_of(page.read_text()), [], {}, set()
    for line in lines_of(recording):
        if line["type"] == "process":
            last[line["pid"], line["start_time_ns"]] = flat(line)
        if line["type"] == "finding":
            ids.add((line["id"], line["pid"] or 0))
    if data["processes_seen"] != len(last):
        wrong.append(f"{data['processes_seen']} processes, want {len(last)}")
    for one in data["processes"]:
        want = last[one["pid"], one["start_time_ns"]]
        for key, value in one["values"].items():
            if want.get(key) != value:
                wrong.append(f"pid {one['pid']}, {key}: {value}, want {want.get(key)}")
    for key, point in (("faults.minor", "minor"), ("faults.major", "major"),
                       ("faults.stall_ns", "stall_ns"), ("faults.failed", "failed")):
        want = sum(one.get(key) or 0 for one in last.values())
        got = sum(p[point] for p in data["points"])
        if got != want:
            wrong.append(f"{key} over time: {got}, want {want}")
    faults = sum((one["faults.minor"] or 0) + (one["faults.major"] or 0) for one in last.values())
    profile = data["profile"]
    if profile["measures"][0]["total"] != faults or \
       sum(s["v"][0] for s in profile["samples"]) != faults:
        wrong.append(f"faults of the flame graph: {profile['measures'][0]}, want {faults}")
    told = {(f["id"], f["pid"]) for f in data["findings"]}
    if told != ids:
        wrong.append(f"findings {sorted(told)}, want {sorted(ids)}")
    return wrong


def not_filtered(seen, points):
    """Returns errors of two kinds: parts of a page that stay unchanged when a time range is
    selected, and parts that are not drawn as at first after the whole recording is selected again.
    """
    wrong = []
    with_faults = sum(p["minor"] + p["major"] > 0 for p in points)
    for part, whole in seen["inAll"].items():
        # if all faults are in one scan, each range with this scan looks like the whole
        if whole and with_faults > 1 and seen["inRange"][part] == whole:
            wrong.append(f"{part}: the same in a range as in the whole")
        # The flame graph is always drawn by the page's script. Other parts are first drawn by
        # faultscope, and the script must draw them equally.
        if part != "flame-svg" and whole != seen["atFirst"][part]:
            wrong.append(f"{part}: as the script draws it, it is not what it was at first")
    return wrong


def used(seen, points):
    """Returns the parts of a page that did not react to mouse and keyboard."""
    wrong = []
    if "whole recording" not in (seen["whole"] or ""):
        wrong.append(f"at first: {seen['whole']}")
    if not re.match(r"[\d:.]+( s)? to [\d:.]+", seen["brushed"] or ""):
        wrong.append(f"brushed: {seen['brushed']}")
    if seen["linked"] != {"text": seen["brushed"], "drawn": seen["inRange"]}:
        wrong.append(f"a link to {seen['brushed']} shows {seen['linked']['text']}")
    wrong += not_filtered(seen, points)
    if seen["keyed"] == seen["brushed"]:
        wrong.append(f"a key moved nothing: {seen['keyed']}")
    if seen["cleared"] != seen["whole"]:
        wrong.append(f"cleared: {seen['cleared']}")
    if "minor" not in seen["tip"] or re.search("NaN|undefined|null", seen["tip"]):
        wrong.append(f"tip: {seen['tip']!r}")
    if "matched" not in seen["matched"] or not seen["marked"]:
        wrong.append(f"search: {seen['matched']!r}, {seen['marked']} marked")
    if "%" not in seen["zoomed"] or "faults" not in seen["inverted"]:
        wrong.append(f"zoom: {seen['zoomed']!r}, inverted: {seen['inverted']!r}")
    if seen["down"] != sorted(seen["down"], reverse=True) or seen["up"] != sorted(seen["up"]):
        wrong.append(f"sorted: {seen['down'][:5]}, {seen['up'][:5]}")
    if seen["filtered"]:
        wrong.append(f"{seen['filtered']} rows of no such process")
    return wrong


def browse(page, shot=None):
    words = ["node", ROOT / "tests" / "report" / "page.mjs", MODULES, shutil.which("chromium"), page]
    ran = subprocess.run([*words, *([shot] if shot else [])], text=True, capture_output=True,
                         check=False, timeout=180)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def judge(tap, name, page, shot, is_report):
    seen = browse(page, shot)
    tap.that(f"{name}: asks the network for nothing", seen["requests"])
    tap.that(f"{name}: no error on the console", seen["errors"])
    for scheme, faults in seen["axe"].items():
        tap.that(f"{name}: axe-core finds no serious fault, {scheme}",
                 [fault for fault in faults if fault["impact"] in GRAVE])
    if not is_report:
        return
    tap.that(f"{name}: mouse and keys", used(seen, data_of(page.read_text())["points"]))
    still = seen["still"]
    tap.that(f"{name}: charts and tables without a script",
             [still] if still["svg"] < 3 or still["areas"] < 2 or still["boxes"] < 3 or
             still["tables"] < 3 or still["tools"] else [])


def report(tap, place, recording, shots):
    page = place / f"{recording.stem}.html"
    ran = faultscope("report", recording, "-o", page)
    tap.that(f"{recording.stem}: a page is made", [ran.stderr] if not page.exists() else [])
    size = page.stat().st_size
    tap.that(f"{recording.stem}: {size} bytes", [size] if size > PAGE_MOST else [])
    tap.that(f"{recording.stem}: what it says is what --json says", compare(recording, page))
    judge(tap, recording.stem, page, shots and shots / recording.stem, True)


# Maps a format to (file extension, text that speedscope shows after it has imported the file).
OPENED = {"speedscope": ("speedscope.json", "page faults"), "perf": ("perf", "faults: "),
          "pprof": ("pb.gz", "minor faults: anonymous]"),
          "folded-faults": ("folded", "minor faults: anonymous]")}


def speedscope(tap, place, recording):
    """Imports each format into speedscope."""
    if not (MODULES / "speedscope").is_dir():
        print("# no speedscope: make check-report installs it")
        return
    files = {}
    for form, (ending, _) in OPENED.items():
        files[form] = place / f"{recording.stem}.{ending}"
        faultscope("report", "--format", form, recording, "-o", files[form])
    ran = subprocess.run(["node", ROOT / "tests" / "report" / "speedscope.mjs", MODULES,
                          shutil.which("chromium"), *files.values()], text=True,
                         capture_output=True, check=False, timeout=180)
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)
    for form, (_, wanted) in OPENED.items():
        one = seen[files[form].name]
        wrong = one["errors"] + ([] if any(wanted in row for row in one["rows"]) else
                                 [f"no {wanted!r}: {one['rows'][:8]}"])
        tap.that(f"speedscope opens {form}", wrong)


def main(args):
    tap = Tap()
    for tool in ("chromium", "node"):
        if not shutil.which(tool):
            print(f"1..0 # SKIP no {tool}: make check-report installs it")
            return 0
    if not (MODULES / "puppeteer-core").is_dir() or not (MODULES / "axe-core").is_dir():
        print("1..0 # SKIP no packages of Node.js: make check-report installs them")
        return 0
    shots = Path(args[1]) if args[:1] == ["--shots"] else None
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    page = ROOT / "src" / "render" / "html"
    own = sum(path.stat().st_size for path in (page / "report.css", *page.glob("script/*.js")))
    tap.that(f"style and script: {own} bytes", [own] if own > OWN_MOST else [])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        recordings = sorted(EXAMPLES.glob("*.fsr")) + [KEPT / f"{name}.fsr" for name in NAMES]
        for recording in recordings:
            report(tap, place, recording, shots)
        page = place / "diff.html"
        faultscope("diff", KEPT / "forecast_of_a_leak.fsr", KEPT / "crash_after_refusal.fsr", "-o",
                   page)
        judge(tap, "diff", page, shots and shots / "diff", False)
        page = place / "triage.html"
        faultscope("triage", "--html", ROOT / "tests" / "triage" / "logs" / "6.1_left_timer.log",
                   "-o", page)
        judge(tap, "triage", page, shots and shots / "triage", False)
        speedscope(tap, place, EXAMPLES / "memory-limit.fsr")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
