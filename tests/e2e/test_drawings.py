# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the SVG charts of an HTML page: everything lies within the frame, rows have labels, and
bars have the right length."""

import html.parser
import math
import re

from harness import ROOT
from page_data import data_of

EXAMPLES = sorted((ROOT / "docs/examples").glob("*.fsr"))
LINE = 12  # greatest height of a text, in SVG units


class Drawings(html.parser.HTMLParser):
    """Parser of a page's SVG drawings: {id or number: (width, height, attributes, [elements])}."""

    def __init__(self, page):
        super().__init__()
        self.all, self.now = {}, None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "svg":
            width, height = map(float, attrs["viewbox"].split()[2:])
            self.now = self.all.setdefault(attrs.get("id", len(self.all)),
                                           (width, height, attrs, []))
        elif self.now:
            self.now[3].append((tag, attrs))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        if tag == "svg":
            self.now = None


def drawings(lab, recording):
    return Drawings(lab.faultscope("report", "--html", recording).out).all


def numbers(attrs, *names):
    return [float(attrs.get(name, 0)) for name in names]


def check_inside(check, what, width, height, elements):
    for tag, attrs in elements:
        if tag == "rect":
            x, y, wide, high = numbers(attrs, "x", "y", "width", "height")
            check.that(x >= 0 and y >= 0 and wide >= 0 and x + wide <= width and y + high <= height,
                       f"{what}: a {tag} is outside: {attrs}")
        elif tag == "text":
            x, y = numbers(attrs, "x", "y")
            check.that(0 <= x <= width and 0 < y <= height, f"{what}: a text is outside: {attrs}")


def check_apart(check, what, elements):
    """Checks that no two rectangles overlap."""
    boxes = sorted(tuple(numbers(attrs, "y", "x", "width", "height"))
                   for tag, attrs in elements if tag == "rect" and float(attrs["width"]))
    for (y, x, wide, high), (next_y, next_x, _, _) in zip(boxes, boxes[1:]):
        check.that(next_y >= y + high or (next_y == y and next_x >= x + wide - 0.1),
                   f"{what}: rectangles at {x},{y} and {next_x},{next_y}")


def test_drawings_stay_in_their_frames(check, lab):
    for recording in EXAMPLES:
        for name, (width, height, _, elements) in drawings(lab, recording).items():
            what = f"{recording.name}, {name}"
            check_inside(check, what, width, height, elements)
            if str(name) in ("flame-svg", "latency-svg"):
                check_apart(check, what, elements)


def test_rows_of_drawings_have_their_labels(check, lab):
    """Each row of the heat map has one label. The label of a heat map row is at the middle of the
    row's height, to the left of the cells."""
    for recording in EXAMPLES:
        _, height, attrs, elements = drawings(lab, recording)["heat-svg"]
        rows, row, left = (float(attrs[f"data-{name}"]) for name in ("rows", "row", "left"))
        labels = [numbers(attrs, "x", "y") for tag, attrs in elements
                  if tag == "text" and attrs["class"] == "label"]
        check.equal(f"{recording.name}: labels", len(labels), rows)
        for nth, (x, y) in enumerate(labels):
            check.that(nth * row < y - LINE / 4 < (nth + 1) * row, f"label {nth} at {y}")
            check.between("its end", x, left - 12, left - 4)
        check.that(height >= rows * row, "the drawing ends before its last row")


def test_axes_of_drawings(check, lab):
    """The labels of a time axis are at round times, in equal steps. No label is missing at an edge,
    and all are below the chart."""
    for recording in EXAMPLES:
        for name, (_, height, attrs, elements) in drawings(lab, recording).items():
            if "data-right" not in attrs:
                continue
            left, right = float(attrs["data-left"]), float(attrs["data-right"])
            ticks = [float(one["x"]) for tag, one in elements if tag == "text"
                     and one["class"] == "tick" and float(one["y"]) > height - LINE
                     and float(one["x"]) >= left]
            what = f"{recording.name}, {name}: ticks at {ticks}"
            if not check.that(len(ticks) >= 3, what):
                continue
            grid = [float(one["y1"]) for tag, one in elements
                    if tag == "line" and one["y1"] == one["y2"]]
            check.that(all(y <= height - LINE for y in grid),
                       f"{recording.name}, {name}: a line at {grid} crosses the axis at {height}")
            steps = [b - a for a, b in zip(ticks, ticks[1:])]
            check.that(max(steps) - min(steps) < 0.3, what)
            check.that(left <= ticks[0] < left + steps[0] and
                       right - steps[0] < ticks[-1] <= right, f"{what} of {left} to {right}")


def test_flame_graph_adds_up(check, lab):
    """Each frame of the flame graph lies horizontally within its parent frame."""
    for recording in EXAMPLES:
        _, _, _, elements = drawings(lab, recording)["flame-svg"]
        frames = [numbers(attrs, "y", "x", "width") for tag, attrs in elements if tag == "rect"]
        rows = sorted({y for y, _, _ in frames})
        check.equal("the lowest is one frame", sum(y == rows[0] for y, _, _ in frames), 1)
        for below, above in zip(rows, rows[1:]):
            for y, x, wide in frames:
                if y == above:
                    check.that(any(low == below and x >= at - 0.6 and x + wide <= at + room + 0.6
                                   for low, at, room in frames), f"a frame at {x},{y} hangs")


def test_bars_of_latency(check, lab):
    """The longest latency bar fills the width, and the lengths follow log(1 + number of faults)."""
    for recording in EXAMPLES:
        page = lab.faultscope("report", "--html", recording).out
        _, _, attrs, elements = Drawings(page).all["latency-svg"]
        room, left = float(attrs["data-width"]), float(attrs["data-left"])
        bars = [attrs for tag, attrs in elements if tag == "rect"]
        widths = [float(attrs["width"]) for attrs in bars]
        check.equal(f"{recording.name}: the longest bar", max(widths), room)
        check.that(all(float(attrs["x"]) == left for attrs in bars), "bars begin at the left")
        drawing = re.search(r'<svg id="latency-svg".*?</svg>', page, re.S)[0]
        counts = [int(n.replace(",", "")) for n in re.findall(r'tick count"[^>]*>([\d,]+)<', drawing)]
        # A bar for 0 faults has no width and no number.
        shown = sorted(wide for wide in widths if wide)
        check.equal(f"{recording.name}: bars with a number", len(shown), len(counts))
        check.that(all(abs(wide - room * math.log2(1 + n) / math.log2(1 + max(counts))) < 0.2
                       for wide, n in zip(shown, sorted(counts))),
                   f"{recording.name}: {shown} of {sorted(counts)}")


def test_levels_of_colours(check, lab):
    """The legend of the heat map shows each colour once. The colours are side by side."""
    page = lab.faultscope("report", "--html", EXAMPLES[0]).out
    legend = re.search(r'<svg viewBox="0 0 (\d+) 12".*?</svg>', page, re.S)
    boxes = re.findall(r'class="h(\d)" x="(\d+)" width="(\d+)"', legend[0])
    check.equal("colours", [int(level) for level, _, _ in boxes], list(range(1, 8)))
    check.equal("places", [int(x) for _, x, _ in boxes], [16 * i for i in range(7)])
    check.equal("width", int(legend[1]), 16 * 7)


def test_script_reads_what_the_page_has(check, lab):
    """The data of a page contains every value of a timeline point that the page's script reads."""
    script = "".join(path.read_text(encoding="utf-8")
                     for path in ROOT.glob("src/render/html/script/*.js"))
    page = lab.faultscope("report", "--html", EXAMPLES[0]).out
    points = data_of(page)["points"]
    read = set(re.findall(r"\bp\.([a-z]+(?:_[a-z]+)*)\b", script)) - {
        # these names are fields of other objects, not of a timeline point
        "weights", "faults_by_point", "remove"}
    check.equal("values that no point has", read - set(points[0]), set())
    check.that(len(read) > 5, f"read: {read}")
