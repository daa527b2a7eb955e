# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that the names on which programs and dashboards rely still exist (docs/compatibility.md).

Each file of compatible/ lists the names of the last release, one on a line. New names are allowed.
FS_MAKE_COMPATIBLE=1 in the environment rewrites the files, for a release.
"""

import json
import os
import subprocess
from pathlib import Path

from harness import BUILD, Skip, command_names

KEPT = Path(__file__).resolve().parent / "compatible"


def keys_of(schema, path):
    """Yields `path type,type` for each key of a JSON Schema, and `path = value` for each value that
    the schema lists."""
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    values = [json.dumps(schema["const"])] if "const" in schema else schema.get("enum", [])
    yield f"{path} {','.join(types)}".strip()
    for value in values:
        yield f"{path} = {value}"
    for key, value in schema.get("properties", {}).items():
        yield from keys_of(value, f"{path}.{key}")
    for part, mark in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(part), dict):
            yield from keys_of(schema[part], path + mark)
    for one in schema.get("oneOf", []) + schema.get("anyOf", []):
        yield from keys_of(one, path)


def json_keys(lab):
    for one in json.loads(lab.faultscope("schema").out)["oneOf"]:
        yield from keys_of(one, one["properties"]["type"]["const"])


def tables(name):
    program = BUILD / "tables"
    if not program.exists():
        raise Skip("build/tables is not built: make build/tables")
    return subprocess.run([program, name], capture_output=True, text=True, check=True).stdout


def rows(name, columns):
    """Yields the first columns of each row of a Markdown table, without the header."""
    for line in tables(name).splitlines()[2:]:
        cells = [cell.strip().replace("`", "") for cell in line.split("|")[1:]]
        yield " ".join(cells[:columns]).strip()


def findings(lab):
    for line in lab.faultscope("explain", "--json").out.splitlines():
        one = json.loads(line)
        yield f"{one['id']} {one['slug']}"


NAMES = {
    "json": json_keys,
    "metrics": lambda lab: rows("metrics", 3),
    "options": lambda lab: tables("options").splitlines(),
    "commands": lambda lab: command_names(lab.faultscope("--help").out),
    "findings": findings,
    "conditions": lambda lab: rows("gates", 1),
    "limits": lambda lab: rows("limits", 1),
    "formats": lambda lab: rows("formats", 2),
}


def test_compatible_names(check, lab):
    for name, of in NAMES.items():
        has, path = sorted(set(of(lab))), KEPT / f"{name}.txt"
        if os.environ.get("FS_MAKE_COMPATIBLE"):
            KEPT.mkdir(exist_ok=True)
            path.write_text("\n".join(has) + "\n", encoding="utf-8")
        kept = path.read_text(encoding="utf-8").splitlines()
        check.that(len(kept) > 9, f"{name}: only {len(kept)} names are kept")
        for gone in sorted(set(kept) - set(has)):
            check.that(False, f"{name}: {gone!r} is gone, or is another")
