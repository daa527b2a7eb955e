# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests recordings in three other versions of the format: the first version, a version with more
fields, and a version with fewer fields.

Later releases must still read these files. The file formats/first.fsr is of the first version. The
file formats/newer.fsr has fields, a longer array and a kind of record that no version knows. The
file formats/lacking.fsr lacks three counters and the last five values of the host.
"""

import json
from pathlib import Path

from recording_format import read, write

FORMATS = Path(__file__).resolve().parent / "formats"
PROCESS, HOST, SHORTAGE, QUANTUM = 1, 64, 96, 200
LACKING = ("sigbus", "close_failed", "selects_wide")


def lines(lab, name):
    ran = lab.faultscope("replay", FORMATS / f"{name}.fsr", "--speed", "0", "--json")
    assert ran.returncode == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def differences(one, other, path=()):
    """Compares two JSON values, and yields (path, value in the first, value in the second) for each
    difference."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], path + (key,))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, both in enumerate(zip(one, other)):
            yield from differences(*both, path + (i,))
    elif one != other:
        yield path, one, other


def told(data, kind, *fields):
    layout, chunks = read(data)
    del layout
    return [tuple(record[2].get(field) for field in fields) for chunk in chunks
            for record in chunk.records if record[0] == kind]


def test_first_recording(check, lab):
    data = (FORMATS / "first.fsr").read_bytes()
    check.equal("its outputs are those of the same recording as it is kept now", lines(lab, "first"),
                [json.loads(line) for line in lab.faultscope(
                    "replay", FORMATS.parent / "recordings/crossings_of_maps.fsr", "--speed", "0",
                    "--json").out.splitlines()])
    layout, chunks = read(data)
    again = lab.dir / "again.fsr"
    again.write_bytes(write(layout, chunks))
    ran = lab.faultscope("replay", again, "--speed", "0", "--json")
    check.equal("a writer of its description alone makes a recording",
                [json.loads(line) for line in ran.out.splitlines()], lines(lab, "first"))


def test_newer_recording(check, lab):
    check.equal("what is known is as in the first one", lines(lab, "newer"), lines(lab, "first"))
    out = lab.dir / "again.fsr"
    ran = lab.faultscope("report", FORMATS / "newer.fsr", "-o", out)
    check.equal("it is recorded again", ran.returncode, 0)
    before, after = (FORMATS / "newer.fsr").read_bytes(), out.read_bytes()
    for kind, *fields in (
            (PROCESS, ("g.future_pages", 0), ("c.map_size", 38), ("future_signed", 2)),
            (HOST, ("owner", 0)), (QUANTUM, ("state", 0), ("label", 0))):
        kept = told(after, kind, *fields)
        check.equal(f"kind {kind}: what is not known is carried along", kept,
                    told(before, kind, *fields))
        check.equal(f"kind {kind}: and is there", bool(kept) and None not in kept[0], True)
    private = lab.dir / "private.fsr"
    lab.faultscope("report", FORMATS / "newer.fsr", "-o", private, "--redact")
    check.equal("but not where names are left out", b"somebody new" in repr(
        read(private.read_bytes())[1][0].records).encode(), False)


def test_lacking_recording(check, lab):
    found = list(differences(lines(lab, "first"), lines(lab, "lacking")))
    check.equal("it is null, not 0", {new for _, _, new in found}, {None})
    check.equal("which", {path[-1] for path, *_ in found} >= set(LACKING), True)
