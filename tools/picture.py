#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Turns a screen with ANSI colours on standard input into an SVG picture on standard output.

usage: picture.py TITLE		TITLE is the alternative text of the picture
"""
import re
import sys
from html import escape

# width of a character, height of a line, margin and font size in pixels
CELL, LINE, MARGIN, SIZE = 8.4, 18, 12, 14
BACK, FORE, DIM = "#14171c", "#d7dce2", "#8b949e"
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff"}
CODE = re.compile(r"\x1b\[([0-9;]*)m")


def runs(line):
    """Yields (first column, text, codes) of each part of a line with equal colours."""
    column, codes = 0, set()
    for i, part in enumerate(CODE.split(line)):
        if i % 2:
            for code in part.split(";"):
                codes = set() if code in ("", "0") else codes | {code}
        elif part:
            yield column, part, frozenset(codes)
            column += len(part)


def drawn(row, column, text, codes):
    """Yields the SVG of one part of a line. This is the background, if colours are reversed, and
    the text, which is stretched to the width of its columns."""
    fore = next((COLOURS[code] for code in sorted(codes) if code in COLOURS),
                DIM if "2" in codes else FORE)
    x, y = MARGIN + column * CELL, MARGIN + row * LINE
    width = len(text) * CELL
    if "7" in codes:
        yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{LINE}" fill="{fore}"/>'
        fore = BACK
    if text.strip():
        weight = ' font-weight="bold"' if "1" in codes else ""
        yield (f'<text x="{x:.1f}" y="{y + 13}" textLength="{width:.1f}" fill="{fore}"{weight}'
               f' xml:space="preserve">{escape(text)}</text>')


def main():
    title = escape(sys.argv[1])
    lines = sys.stdin.read().splitlines()
    columns = max(len(CODE.sub("", line)) for line in lines)
    width, height = round(2 * MARGIN + columns * CELL), 2 * MARGIN + len(lines) * LINE
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
          f'height="{height}" role="img"\n font-family="DejaVu Sans Mono, Menlo, Consolas, '
          f'monospace" font-size="{SIZE}">')
    print(f"<title>{title}</title>")
    print(f'<rect width="{width}" height="{height}" rx="6" fill="{BACK}"/>')
    for row, line in enumerate(lines):
        for column, text, codes in runs(line):
            for one in drawn(row, column, text, codes):
                print(one)
    print("</svg>")


if __name__ == "__main__":
    main()
