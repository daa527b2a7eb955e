# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads the numbers in the texts of an HTML report."""
import math
import re

UNITS = {"B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "TiB": 2 ** 40, "PiB": 2 ** 50,
         "EiB": 2 ** 60, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
SPAN = {"d": 86400, "h": 3600, "m": 60, "s": 1}
ROUNDED = 0.011  # greatest relative error of a text with a unit


def parse(text):
    """Returns the value of a text such as "12,480", "412 MiB", "1.3 us" or "95.3%", and whether the
    text is exact."""
    text = text.strip().lstrip("+<-").replace("from ", "").strip()
    if text in ("?", "unlimited"):
        return None, True
    m = re.fullmatch(r"([\d,]+(?:\.\d+)?) ?(\w+|%)?(?:/s)?", text)
    assert m, f"not a number: {text!r}"
    value = float(m[1].replace(",", ""))
    return value * UNITS.get(m[2] or "", 1), not m[2] and "." not in m[1]


def parse_span(text):
    """Returns the seconds of a text such as "1h 21m" or "0.9 s", and the unit of its last part."""
    parts = re.findall(r"([\d.]+) ?(ms|us|[dhms])", text)
    assert parts, f"not a time span: {text!r}"
    units = dict(SPAN, ms=1e-3, us=1e-6)
    last = units[parts[-1][1]]
    return sum(float(n) * units[unit] for n, unit in parts), \
        last * (0.06 if "." in parts[-1][0] else 1)


def plain(text):
    """Returns a text with the bytes that a page shows as escapes, such as \\xe2."""
    return re.sub(r"(?:\\x[0-9a-f]{2})+", lambda m: bytes.fromhex(
        m[0].replace("\\x", "")).decode("utf-8", "replace"), text)


def sizes_of(text):
    """Returns the numbers of a text, with their units; numbers in names are left out."""
    text = re.sub(r"[^\s(),]*[a-zA-Z_#\[][^\s(),]*\d[^\s(),]*", " ", text)
    return [parse(n)[0] for n in
            re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?: ?(?:[KMGTPE]i?B|B|ns|us|ms|s)\b)?", text)]


def near(a, b, exact=False):
    if a is None or b is None:
        return a == b
    return a == b if exact else math.isclose(a, b, rel_tol=ROUNDED, abs_tol=0.06)
