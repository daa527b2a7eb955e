#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes the Prometheus rules with other values than those of deploy/prometheus/rules.yml.

values.json lists the values that can be changed, and how they stand in the text of a rule."""
import argparse
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "deploy/prometheus"


def changes(values, chosen):
    """Returns {old text: new text}."""
    pairs = {}
    for name, new in chosen.items():
        row = values[name]
        for place in row["places"]:
            pairs[place.replace("%s", row["default"])] = row.get("new", place).replace("%s", new)
    return pairs


def changed(text, pairs):
    """Replaces all old texts at once, so that no new text is taken for an old one."""
    if not pairs:
        return text
    return re.sub("|".join(map(re.escape, pairs)), lambda found: pairs[found[0]], text)


def main():
    values = json.loads((HERE / "values.json").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="values:\n" + "".join(f"  {name:18}{row['what']} (default: {row['default']})\n"
                                     for name, row in values.items()))
    parser.add_argument("directory", type=Path, help="where rules.yml and rules_test.yml go")
    parser.add_argument("values", nargs="*", metavar="NAME=VALUE")
    options = parser.parse_args()
    chosen = {}
    for one in options.values:
        name, equals, value = one.partition("=")
        if not equals or name not in values:
            sys.exit(f"rules: {one}: not NAME=VALUE with one of {', '.join(values)}")
        chosen[name] = value.rstrip("/") if name == "runbooks" else value
    pairs = changes(values, chosen)
    options.directory.mkdir(parents=True, exist_ok=True)
    for name in ("rules.yml", "rules_test.yml"):
        text = (HERE / name).read_text(encoding="utf-8")
        for old in pairs:
            if name == "rules.yml" and old not in text:
                sys.exit(f"rules: {name} does not contain {old!r}")
        (options.directory / name).write_text(changed(text, pairs), encoding="utf-8")


if __name__ == "__main__":
    main()
