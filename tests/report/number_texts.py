# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes values of JSON lines as the texts of a report, to compare them with a page."""
import math

BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
DURATION = ("ns", "us", "ms", "s")


def scaled(value, step, units):
    """Returns three significant digits of a value, in the largest unit in which it is at least 1."""
    i = 0
    while i < len(units) - 1 and value >= step * 0.9995:
        value, i = value / step, i + 1
    whole = value >= 99.95 or value == 0 or (i == 0 and value == math.floor(value))
    return f"{value:.{0 if whole else 1 if value >= 9.995 else 2}f} {units[i]}"


def span(seconds):
    whole = int(seconds + 0.5)
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f} s"
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60}m {whole % 60:02}s"
    if whole < 172800:
        return f"{whole // 3600}h {whole // 60 % 60:02}m"
    return f"{whole // 86400}d {whole // 3600 % 24:02}h"


def amount(value, unit):
    """Returns the text of a number in a unit of evidence, such as bytes or percent."""
    if unit == "seconds":
        return scaled(int(value * 1e9), 1000, DURATION) if value < 1 else span(value)
    if unit == "percent":
        return f"{value:.1f} %" if value < 10 else f"{value:.0f} %"
    if unit == "bytes_per_second":
        return scaled(int(value), 1024, BYTES) + "/s"
    if unit == "per_second":
        return (f"{value:.1f}" if 0 < value < 9.95 else f"{int(value + 0.5):,}") + "/s"
    return scaled(value, 1024, BYTES) if unit == "bytes" else f"{value:,}"


def evidence(e, value):
    """Returns the text of evidence in a JSON line, with `value` in place of its value."""
    if e["unit"] is None:
        return value
    text = f"{e['about']}: " if "about" in e else ""
    text += amount(value, e["unit"])
    if "asked" in e:
        text += f" + {amount(e['asked'], e['unit'])}"
    if e.get("at_least"):
        text += " or more"
    if e["limit"] is not None:
        text += f" of {amount(e['limit'], e['unit'])}"
    return text + " (assumed)" * e.get("assumed", False) + " pages" * (e["unit"] == "pages")


def evidence_texts(e):
    """Returns the texts that evidence may have. A JSON line has a real number with six digits or
    more, and may thus round to another last digit. A limit of null may be unlimited."""
    values = [e["value"]]
    if isinstance(e["value"], float) or e["unit"] in ("seconds", "percent", "per_second",
                                                     "bytes_per_second"):
        values = [e["value"] * (1 + part) for part in (0, 1e-6, -1e-6)]
    texts = {evidence(e, value) for value in values}
    return texts | {f"{text} of unlimited" for text in texts if e["unit"] and e["limit"] is None}
