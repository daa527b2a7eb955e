# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the tables and sentences of the documents from the results of `make bench`."""
import json
from pathlib import Path

from rows import (ANOTHER, EMPTY, EVENTS, ITSELF, MODES, NOTHING, PEERS, PROGRAM_MODES, PROGRAMS,
                  WATCHED)

DATA = Path(__file__).resolve().parents[2] / "docs/performance.json"
TITLES = {work.name: work.title for work in EVENTS + PROGRAMS}
NO_ROW = "not measured"
ONE_PERCENT = 1  # below this share, the README does not say that -p slows other processes


def whole(value):
    """Writes a number with at most three significant digits and at most one decimal."""
    if abs(value) >= 1000:
        value = round(value, 3 - len(str(int(abs(value)))))
    text = f"{value:,.0f}" if abs(value) >= 10 else f"{value:.1f}"
    return ("0" if not float(text.replace(",", "")) else text).replace("-", "−")


def with_unit(value, unit):
    """Writes a value. Times from 10 µs on are in µs."""
    if unit == "ns" and abs(value) >= 10_000:
        return f"{whole(value / 1000)} µs"
    return f"{whole(value)} %" if unit == "%" else f"{whole(value)} {unit}"


def cell(row, unit=True):
    """Writes the median of a row, with its quartiles in parentheses. A single round has none."""
    if not row or "median" not in row:
        return NO_ROW
    large = row["unit"] == "ns" and abs(row["median"]) >= 10_000
    numbers = [row[name] / (1000 if large else 1) for name in ("median", "q1", "q3")]
    text = whole(numbers[0])
    if row["q1"] != row["q3"]:
        text += f" ({whole(numbers[1])} to {whole(numbers[2])})"
    return f"{text} {'µs' if large else row['unit']}" if large or unit else text


def verdict(row):
    """Says whether a row reaches its goal: only if three quarters of the rounds agree."""
    if "median" not in row:
        return NO_ROW
    return "yes" if row["q3"] <= row["goal"] else "no" if row["q1"] > row["goal"] else "unclear"


def table(heads, lines):
    ruler = ["---"] + ["---:"] * (len(heads) - 1)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, ruler, *lines))


class Tables:
    def __init__(self, data):
        self.data = data
        self.rows = {(row["work"], row["mode"], row.get("of")): row for row in data["rows"]}

    def row(self, work, mode, of=None):
        return self.rows.get((work, mode, of))

    def base(self, work):
        row = self.row(work, EMPTY) or {}
        return with_unit(row["base"], "ns") if "base" in row else NO_ROW

    def when(self):
        """Returns sentences about when, where and with which disturbances `make bench` ran."""
        data, others = self.data, self.data["others"]
        commits = sorted({row["commit"] for row in data["rows"] if "commit" in row})
        foreign = ("No BPF programs of other tools were loaded."
                   if not others["foreign_programs"] else
                   f"**BPF programs of other tools were loaded** in "
                   f"{others['looks_with_foreign_programs']} of {others['looks']} checks, so the "
                   "values are less exact.")
        return (f"Measured on {data['date']} on Linux {data['kernel']}, {data['machine']}; commit "
                f"{', '.join(commits) or 'unknown'}; {data['rounds']} "
                f"round{'s' if data['rounds'] > 1 else ''}. While no tool ran, "
                f"other programs used {others['busy_cpus_of_others']:g} CPUs, and the hypervisor "
                f"took {others['stolen_cpus']:g} CPUs away. {foreign}\n")

    def events(self, of):
        """Returns the table of all events, of the watched process or of another process."""
        modes = [mode for mode in MODES if mode.watches_one or of == WATCHED]
        heads = ["event"] + (["without tracing", NOTHING, EMPTY] if of == WATCHED else [])
        heads += ["all processes" if mode.name == "all" else f"`{mode.name}`" for mode in modes]
        lines = []
        for work in EVENTS:
            cells = [work.title]
            if of == WATCHED:
                cells += [self.base(work.name), *(cell(self.row(work.name, name), False)
                                                  for name in (NOTHING, EMPTY))]
            cells += [cell(self.row(work.name, mode.name, of if mode.watches_one else None), False)
                      for mode in modes]
            lines.append(cells)
        return table(heads, lines)

    def watched(self):
        return self.events(WATCHED)

    def others(self):
        return self.events(ANOTHER)

    def peers(self):
        names = list(dict.fromkeys(peer.name for peer in PEERS))
        has = {(peer.work, peer.name) for peer in PEERS}
        lines = [[work.title] + [cell(self.row(work.name, name), False)
                                 if (work.name, name) in has else "-" for name in names]
                 for work in EVENTS]
        return table(["event", *names], lines)

    def programs(self):
        heads = ["program", NOTHING, "all processes", "`export`", "`-p` of another process",
                 "the program is watched"]
        keys = [(mode, of) for mode in PROGRAM_MODES
                for of in ((ANOTHER, WATCHED) if mode == "-p" else (None,))]
        return table(heads, [[work.title] + [cell(self.row(work.name, *key)) for key in keys]
                             for work in PROGRAMS])

    def itself(self):
        return table(["what", "median (quartiles)"],
                     [[own.title, cell(self.row(own.work, own.mode))] for own in ITSELF])

    def goals(self):
        lines = []
        for row in self.data["rows"]:
            if "goal" not in row:
                continue
            title = next((own.title for own in ITSELF
                          if (own.work, own.mode) == (row["work"], row["mode"])), None)
            if not title:
                title = TITLES[row["work"]] + ", " + (
                    "all processes" if row["mode"] == "all" else f"`{row['mode']}`")
            of = {WATCHED: ", watched", ANOTHER: ", another process"}.get(row.get("of"), "")
            value = with_unit(row["median"], row["unit"]) if "median" in row else NO_ROW
            lines.append([title + of, value, with_unit(row["goal"], row["unit"]), verdict(row)])
        return table(["row", "value", "goal", "reached"], lines)

    def cost(self):
        """Returns the README's sentences about cost."""
        fault = {name: self.row("fault", *key) for name, key in {
            "all": ("all",), "watched": ("-p", WATCHED), "another": ("-p", ANOTHER)}.items()}
        if any(not row or "median" not in row for row in fault.values()):
            return "**Cost.** Not measured ([performance](docs/performance.md)).\n"
        added = {name: with_unit(row["median"], "ns") if row["median"] > 0 else
                 "less than the noise" for name, row in fault.items()}
        text = [f"**Cost.** A minor page fault takes {self.base('fault')}. Watching all processes",
                f"adds {added['all']}. `-p PID` adds {added['watched']} in the watched",
                f"process, and {added['another']} in others."]
        worst = self.slowest_other()
        if worst and worst["median"] >= ONE_PERCENT:
            spread = "" if worst["q1"] == worst["q3"] else (
                f" (median; quartiles {with_unit(worst['q1'], '%')} and "
                f"{with_unit(worst['q3'], '%')})")
            text.append(f"**`-p` of one process also slows others**: "
                        f"{TITLES[worst['work']].split(':')[0]} needs "
                        f"{with_unit(worst['median'], '%')} more CPU time{spread}. Where BPF programs"
                        " can trace kernel functions, on Linux 6.14 and later, `-p` does not slow"
                        " the system calls that it does not count ([probes](docs/probes.md)).")
        return " ".join(text) + " See [performance](docs/performance.md).\n"

    def slowest_other(self):
        """Returns the row of the program that `-p` of another process slows most."""
        found = [self.row(work.name, "-p", ANOTHER) for work in PROGRAMS]
        return max((row for row in found if row and "median" in row),
                   key=lambda row: row["median"], default=None)


def blocks(path=DATA):
    """Returns {name of a table in the documents: its text}."""
    tables = Tables(json.loads(path.read_text(encoding="utf-8")))
    return {f"bench_{name}": getattr(tables, name)() for name in
            ("when", "watched", "others", "peers", "programs", "itself", "goals", "cost")}
