# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every number on the page of a recording equals the JSON output of the same recording.

tests/report/page_numbers.py finds the numbers, and compares them. The recordings are the kept ones,
the examples of the documentation, and made-up ones, some with more processes than a report has rows.
"""
import csv
import io
import json
import re

from harness import BUILD, LONG, ROOT, Skip
from page_numbers import Checker, Page, Truth, compare

KEPT = ("forecast_of_a_leak", "crash_after_refusal", "signals_of_bad_accesses-fatal",
        "brief_children_among_all-open", "faults_touched_by_threads-4", "pid_reused",
        "crossings_of_maps", "crossings_of_descriptors-socket", "descriptors_of_each_kind",
        "latency_of_delayed_faults-20ms", "faults_of_both_sides_of_a_fork", "calls_of_32_bit",
        "refusals-nofile", "refusals-fdupfd-past-limit", "refusals-as", "faults_by_class-huge")
EXAMPLES = ("memory-limit", "too-many-mappings")
# {name: words of a command that writes the recording, without the file}
MADE = {
    "events-3": ("event_recording", 3, 30), "events-8": ("event_recording", 8, 30),
    "all-5": ("event_recording", 5, 20, "FILE", "all"),
    "all-6": ("event_recording", 6, 20, "FILE", "all"),
    "patterns-4": ("pattern_recording", 4, 200), "patterns-7": ("pattern_recording", 7, 90),
    "resident-2": ("resident_recording", 2, 4), "resident-5": ("resident_recording", 5, 9),
    "random-9": ("random_recording", 9, 30), "random-21": ("random_recording", 21, 60),
    "busy-3": ("busy_recording", 3, 300, 900, 8, 60),
    "busy-4": ("busy_recording", 4, 1000, 40, 12, 600),
    "busy-5": ("busy_recording", 5, 200, 0, 400, 5), "busy-6": ("busy_recording", 6, 5, 3000, 3, 1),
}
FEW = ("all-5", "resident-5", "busy-3")


def made(lab, name):
    program, *words = MADE[name]
    path = lab.dir / f"{name}.fsr"
    if not (BUILD / program).exists():
        raise Skip(f"{program} is not built: make {BUILD / program}")
    path.unlink(missing_ok=True)
    words = [path if word == "FILE" else word for word in words]
    written = lab.call(BUILD / program, *map(str, words if path in words else [*words, path]))
    assert written.returncode == 0, written.err
    return path


def page_of(lab, path):
    return lab.faultscope("report", "--html", path).out


def json_lines(ran):
    return [json.loads(line) for line in ran.out.splitlines()]


def lines_of(lab, path):
    return json_lines(lab.faultscope("report", "--format", "jsonl", path))


def truth_of(lab, path):
    """Returns the JSON outputs with which a page is compared (page_numbers.compare())."""
    return (lines_of(lab, path), json.loads(lab.faultscope("info", "--json", path).out),
            json_lines(lab.faultscope("diagnose", "--json", "--replay", path)))


def expect_equal(check, lab, path):
    n, wrong = compare(page_of(lab, path), *truth_of(lab, path))
    check.that(n > 40, f"{path.name}: only {n} numbers")
    check.that(not wrong, f"{path.name}: {len(wrong)} of {n}: {wrong[:4]}")


def test_numbers_of_kept_recordings(check, lab):
    for name in KEPT:
        expect_equal(check, lab, ROOT / "tests" / "e2e" / "recordings" / f"{name}.fsr")
    for name in EXAMPLES:
        expect_equal(check, lab, ROOT / "docs" / "examples" / f"{name}.fsr")


def test_numbers_of_made_recordings(check, lab):
    for name in MADE if LONG else FEW:
        expect_equal(check, lab, made(lab, name))


def test_numbers_without_a_source(check, lab):
    """The comparison finds a number that is wrong, and one that has no source."""
    path = made(lab, "random-9")
    text, truth = page_of(lab, path), Truth(*truth_of(lab, path))

    def wrong_in(changed):
        assert changed != text
        return Checker(Page(changed), truth).run()[1]

    check.equal("as it is", wrong_in(text + " "), [])
    total = re.search(r'(data-is="total:faults.minor") (data-v="\d+")>([\d,]+)<', text)
    check.that(wrong_in(text.replace(total[0], f"{total[1]} {total[2]}>1<")), "another text")
    check.that(wrong_in(text.replace(total[0], f'{total[1]} data-v="1">1<')), "another value")
    check.that(any("no source" in one for one in
                   wrong_in(text.replace(total[0], f"{total[2]}>{total[3]}<"))), "no source")
    check.that(any("no such source" in one for one in wrong_in(text.replace(
        'data-is="total:faults.minor"', 'data-is="guess"'))), "an unknown source")
    check.that(any("no source" in one for one in wrong_in(text.replace(
        ' data-of="span:minor"', ""))), "a column without a source")
    for number in re.findall(r'<dd>(?:<[^>]*>)*([\d,]{2,})', text)[:4]:
        check.that(wrong_in(re.sub(rf"(<dd>(?:<[^>]*>)*){number}", rf"\g<1>{number}1", text, count=1)),
                   f"evidence {number} that is wrong")


def test_totals_of_all_formats(check, lab):
    """Sums are equal in all formats, with more processes than a report has rows."""
    path = made(lab, "busy-3")
    last = {(line["pid"], line["start_time_ns"]): line["faults"]["minor"]
            for line in lines_of(lab, path) if line["type"] == "process"}
    rows = list(csv.DictReader(io.StringIO(lab.faultscope("report", "--format", "csv", path).out)))
    spans = list(csv.DictReader(io.StringIO(
        lab.faultscope("report", "--format", "csv-time", path).out)))
    data = Page(page_of(lab, path)).data
    check.that(len(last) > 4096, f"only {len(last)} processes")
    check.equal("processes in CSV", {(int(row["pid"]), int(row["start_time_ns"])) for row in rows},
                set(last))
    want = sum(last.values())
    check.equal("minor faults in CSV", sum(int(row["faults.minor"]) for row in rows), want)
    check.equal("minor faults over time", sum(int(row["minor_faults"]) for row in spans), want)
    check.equal("minor faults of the page", sum(p["minor"] for p in data["points"]), want)
    check.equal("page faults of the flame graph", data["profile"]["measures"][0]["total"], want)


def cells_of(text, drawing):
    """Returns (left, right, row) of each cell of a heat map, in its coordinates."""
    svg = re.search(rf'<svg id="{drawing}".*?</svg>', text, re.S)[0]
    height = float(re.search(r'data-row="(\d+)"', svg)[1])
    return [(float(x), float(end), int(float(y) // height))
            for x, y, end in re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)", svg)]


def test_bursts_in_heat_maps(check, lab):
    """A burst is drawn where it was, also if the time between two scans differs."""
    path = made(lab, "patterns-4")
    text = page_of(lab, path)
    data = Page(text).data
    begin, end = data["points"][0]["from"], data["points"][-1]["to"]
    cells = cells_of(text, "heat-svg")
    rows = [p for p in data["processes"] if p["faults_by_point"]]
    for row, one in enumerate(rows[:len({cell[2] for cell in cells})]):
        for point, n in zip(data["points"], one["faults_by_point"]):
            if not n:
                continue
            middle = (point["from"] + point["to"]) / 2
            x = 132 + (988 - 132) * (middle - begin) / (end - begin)
            check.that(any(left - 0.2 <= x <= right + 0.2 for left, right, at in cells if at == row),
                       f"{one['comm']}: {n} faults at {middle:.2f} s are not drawn at x = {x:.1f}")


def test_classes_have_styles(check, lab):
    """Each class on a page is named in the styles or the script."""
    page = ROOT / "src" / "render" / "html"
    files = page / "report.css", *page.glob("script/*.js")
    known = set(re.findall(r"[.\"' ]([a-z][\w-]*)", "".join(
        path.read_text(encoding="utf-8") for path in files)))
    for path in [made(lab, name) for name in ("events-3", "busy-3", "patterns-4", "resident-2")]:
        used = {word for node in Page(page_of(lab, path)).root.walk()
                for word in node.attrs.get("class", "").split()}
        check.equal(f"{path.name}: classes without a style", used - known, set())


def test_crashes_in_the_verdict(check, lab):
    """The verdict lists each process that ended by its last signal, and is no all-clear then."""
    kept = ROOT / "tests" / "e2e" / "recordings"
    listed = 0
    for path in [kept / f"{name}.fsr" for name in
                 ("signals_of_bad_accesses-fatal", "crash_after_refusal", "pid_reused")] + \
            [made(lab, name) for name in ("events-3", "events-8", "all-5", "all-6")]:
        text, signals, ended = page_of(lab, path), {}, set()
        for line in lines_of(lab, path):
            if line["type"] == "signal":
                signals[line["pid"]] = line["signal"]
            elif line["type"] == "process" and line.get("final"):
                ended.add(line["pid"])
        crashed = {pid for pid in signals if pid in ended}
        shown = re.search(r'<ol class="next" id="crashed">(.*?)</ol>', text, re.S)
        pids = re.findall(r'data-is="process" data-pid="(\d+)"', shown[1]) if shown else []
        check.that({int(pid) for pid in pids} <= crashed, f"{path.name}: {pids}, not {crashed}")
        check.equal(f"{path.name}: crashes", len(pids), min(len(crashed), 8))
        check.that(not crashed or 'class="well"' not in text, f"{path.name}: all is well")
        listed += len(pids)
    check.that(listed > 2, f"only {listed} crashes")


def test_kills_come_first(check, lab):
    """Among the cards of one severity, OOM kills come first."""
    kills = 0
    for name in ("events-3", "events-8", "all-5", "all-6"):
        cards = re.findall(r'<article class="finding (\w+)" data-finding="(\w+)"',
                           page_of(lab, made(lab, name)))
        for severity in ("critical", "warning", "info"):
            ids = [one == "P17" for found, one in cards if found == severity]
            check.equal(f"{name}: {severity}", ids, sorted(ids, reverse=True))
            kills += sum(ids)
    check.that(kills > 1, f"only {kills} kills")
