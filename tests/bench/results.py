# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Collects the measured values of each row, and prints and saves them."""
import json
import time
from collections import namedtuple
from statistics import median

from report import number, spread
from rows import Times
from tables import verdict

FAILURES_MOST = 2  # a row that failed this often is not tried again
# If at least this many rounds were free of foreign BPF programs, the other rounds do not count.
CLEAN_LEAST = 3

Round = namedtuple("Round", "value base own clean")


class Results:
    """Rows by key: (work, mode, of). `of` says which process does the work; it may be None."""

    def __init__(self, say, deadline):
        self.say, self.deadline = say, deadline
        self.rows, self.failures, self.notes = {}, {}, {}
        self.about = {}  # {key: (unit, goal, fingerprint)}

    def expect(self, key, unit, goal, fingerprint):
        """Adds a row, whose values follow."""
        self.about[key] = unit, goal, fingerprint
        self.rows.setdefault(key, [])

    def add(self, key, value, base=None, own=None, clean=True):
        """Adds the value of one round. `base` is the value without a tool. `own` is the CPU time
        of the tool for each operation. `clean` is false if foreign BPF programs were loaded."""
        self.rows[key].append(Round(value, base, own, clean))

    def fail(self, key, reason):
        self.failures.setdefault(key, []).append(" ".join(str(reason).split())[-200:])
        self.say(f"{' '.join(filter(None, key))}: {self.failures[key][-1]}")

    def gave_up(self, key):
        """Returns whether a row is not measured again: it failed too often, or the time is over."""
        return time.monotonic() > self.deadline or len(self.failures.get(key, [])) >= FAILURES_MOST

    def note(self, key, text):
        self.notes.setdefault(key, set()).add(text)

    def counted(self, key):
        """Returns the rounds of a row that count."""
        rounds = self.rows.get(key, [])
        clean = [one for one in rounds if one.clean]
        return clean if len(clean) >= CLEAN_LEAST else rounds

    def values(self, key):
        return [one.value for one in self.counted(key)]

    def goal(self, key):
        goal = self.about[key][1]
        if isinstance(goal, Times):
            values = self.values((key[0], goal.mode, None))
            return goal.factor * median(values) if values else None
        return goal

    def _median(self, key, name):
        found = [getattr(one, name) for one in self.counted(key)]
        return round(median(found), 3) if found and None not in found else None

    def as_json(self, commit, date):
        rows = []
        for key, (unit, _, fingerprint) in self.about.items():
            work, mode, of = key
            values, goal = self.values(key), self.goal(key)
            row = {"work": work, "mode": mode, "of": of, "unit": unit}
            if values:
                numbers = spread(values)
                row |= {name: round(numbers[name], 3) for name in ("median", "q1", "q3")}
                row |= {"rounds": len(values), "base": self._median(key, "base"),
                        "own": self._median(key, "own"),
                        "disturbed": sum(not one.clean for one in self.counted(key))}
            else:
                row["why"] = (self.failures.get(key) or ["the time was over"])[-1]
            row |= {"goal": round(goal, 3) if goal is not None else None,
                    "code": fingerprint, "commit": commit, "date": date,
                    "notes": sorted(self.notes.get(key, ()))}
            rows.append({name: value for name, value in row.items() if value not in (None, [])})
        return rows


HEAD = f"{'work':14}{'tool':20}{'process':10}{'base':>10}{'value':>10}{'q1':>10}{'q3':>10}" \
       f"{'n':>4}{'own':>9}{'goal':>10}"


def print_rows(rows):
    """Prints rows in the form of as_json()."""
    unit = None
    for row in rows:
        if row["unit"] != unit:
            unit = row["unit"]
            print(f"\n[{unit}]\n{HEAD}")
        name = f"{row['work']:14}{row['mode']:20}{row.get('of') or '':10}"
        if "median" not in row:
            print(f"{name}not measured: {row['why']}")
            continue
        cells = [number(row[column]) if column in row else "-" for column in
                 ("base", "median", "q1", "q3")]
        goal = row.get("goal")
        print(name + "".join(f"{cell:>10}" for cell in cells) + f"{row['rounds']:>4}"
              + f"{number(row['own']) if 'own' in row else '-':>9}"
              + (f"{number(goal):>10}  reached: {verdict(row)}" if goal is not None else ""))
        if row.get("disturbed"):
            print(f"  note: foreign BPF programs were loaded in {row['disturbed']} of these rounds")
        for note in row.get("notes", ()):
            print(f"  note: {note}")


def save(path, head, rows, older):
    """Writes a data file. Rows that were not measured now keep their older values."""
    new = {(row["work"], row["mode"], row.get("of")) for row in rows}
    kept = [row for row in older if (row["work"], row["mode"], row.get("of")) not in new]
    lines = ",\n".join(json.dumps(row) for row in kept + rows)
    text = json.dumps(head, indent=1)[:-2] + f',\n "rows": [\n{lines}\n ]\n}}\n'
    json.loads(text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
