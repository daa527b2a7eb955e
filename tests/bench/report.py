# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Collects measured values by name, computes their spread, and prints them as tables."""
from statistics import median, quantiles

COLUMNS = "median", "min", "q1", "q3", "max"


def spread(values):
    q1, _, q3 = quantiles(values, method="inclusive") if len(values) > 1 else values * 3
    return {"median": median(values), "min": min(values), "q1": q1, "q3": q3, "max": max(values)}


class Group:
    """A table whose rows have values in one unit. If a row has no values, it has a reason why
    nothing was measured."""

    def __init__(self, name, title, unit):
        self.name, self.title, self.unit = name, title, unit
        self.rows, self.skipped, self.ratios, self.notes = {}, {}, {}, []

    def add(self, row, value):
        self.rows.setdefault(row, []).append(value)

    def set(self, row, values):
        self.rows[row] = values

    def skip(self, row, reason):
        self.skipped[row] = str(reason)

    def is_skipped(self, row):
        return row in self.skipped

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def ratio(self, above, below):
        """Adds the ratio of two rows' medians, unless one of the rows has no values."""
        if above in self.rows and below in self.rows and median(self.rows[below]):
            ratio = median(self.rows[above]) / median(self.rows[below])
            self.ratios[f"{above} / {below}"] = ratio

    def as_json(self):
        return {
            "name": self.name, "title": self.title, "unit": self.unit,
            "rows": {row: {**spread(values), "values": values}
                     for row, values in self.rows.items()},
            "skipped": self.skipped, "ratios": self.ratios, "notes": self.notes,
        }

    def print(self):
        print(f"\n{self.title} [{self.unit}]")
        wide = max(map(len, [*self.rows, *self.skipped, ""])) + 2
        print(" " * wide + "".join(f"{column:>10}" for column in COLUMNS) + "   n")
        for row, values in self.rows.items():
            numbers = spread(values)
            print(f"{row:{wide}}" + "".join(f"{number(numbers[column]):>10}" for column in COLUMNS)
                  + f"{len(values):>4}")
        for row, reason in self.skipped.items():
            print(f"{row:{wide}}skipped: {reason}")
        for text, ratio in self.ratios.items():
            print(f"  {text} = {ratio:.2f}")
        for text in self.notes:
            print(f"  note: {text}")


def number(value):
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
