# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that in the JSON of all kept recordings, evidence and remedies are records with fields, not
sentences."""

import re

from harness import RECORDINGS, Lines

UNITS = {"count", "bytes", "pages", "seconds", "percent", "per_second", "bytes_per_second"}
REMEDY_KEYS = ["kind", "text", "command", "scope", "persistent", "risk"]
# Text that nobody can paste into a shell: a placeholder, or a sentence in place of a command.
PLACEHOLDER = re.compile(r"\b(PID|UNIT|NAME|CONTAINER|COMMAND|BYTES)\b|\.\.\.|<[a-z]+>")


def lines_of_kept(lab):
    for recording in sorted(RECORDINGS.glob("*.fsr")):
        ran = lab.faultscope("--replay", recording, "--json")
        for line in Lines(ran.out).all:
            yield recording.name, line


def check_evidence(check, where, one):
    unit, value, limit = one["unit"], one["value"], one["limit"]
    if unit is None:
        check.that(isinstance(value, str) and value, f"{where}: no text: {one}")
        check.equal(f"{where}: limit of a text", limit, None)
        return
    check.that(unit in UNITS, f"{where}: unit {unit!r}")
    check.that(isinstance(value, (int, float)) and not isinstance(value, bool),
               f"{where}: no number: {one}")
    check.that(limit is None or isinstance(limit, int), f"{where}: limit {limit!r}")


def check_remedy(check, where, one):
    check.equal(f"{where}: keys", list(one), REMEDY_KEYS)
    check.that(one["kind"] in ("workaround", "fix", "check"), f"{where}: {one}")
    check.that(one["scope"] in ("process", "cgroup", "host"), f"{where}: {one}")
    check.that(isinstance(one["persistent"], bool), f"{where}: {one}")
    check.that(one["text"] and not re.match(r"(fix|to gain time|workaround)\b.*:", one["text"]),
               f"{where}: the kind is in the text: {one}")
    if one["command"] is not None:
        check.that(one["command"] and not PLACEHOLDER.search(one["command"]),
                   f"{where}: not to be pasted: {one['command']}")


def test_evidence_and_remedies_are_data(check, lab):
    findings = numbers = commands = 0
    for name, line in lines_of_kept(lab):
        where = f"{name}, {line['type']} {line.get('id', '')}"
        if line["type"] not in ("triage", "triage_bucket"):
            for one in line.get("evidence", []):
                check_evidence(check, where, one)
                numbers += one["unit"] is not None
        if line["type"] == "finding":
            findings += 1
            for one in line["remedies"]:
                check_remedy(check, where, one)
                commands += one["command"] is not None
    check.that(findings > 50 and numbers > 100 and commands > 50,
               f"only {findings} findings, {numbers} numbers, {commands} commands")
