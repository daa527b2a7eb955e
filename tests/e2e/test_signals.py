# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Signals of bad accesses: number, code and class of each."""

import signal

from harness import captures

CLASSES = {
    "null": {"null"},
    "near-null": {"near-null"},
    "unmapped": {"unmapped"},
    "readonly": {"read-only"},
    "protnone": {"guard page", "no access", "protection"},
    "past-eof": {"past end of file"},
    "kernel-address": {"kernel address"},
    "noncanonical": {"non-canonical"},
    "stack": {"stack overflow"},
}


# Its CPU ignores the top byte of an address, and has no exception for one out of range.
CLASSES_ARM64 = {"noncanonical": {"unmapped"}}
# Without task storage neither the mapping nor the stack pointer of an access is known.
CLASSES_HASH = {"readonly": {"protection"}, "protnone": {"protection"},
                "stack": {"unmapped"}}


def expect_signals(check, lines, truth):
    start = lines.all[0]
    classes = CLASSES | (CLASSES_ARM64 if start["arch"] == "aarch64" else {})
    classes |= CLASSES_HASH if start["hooks"]["state"] == "hash" else {}
    for access in truth["accesses"]:
        mode, child = access["mode"], access["child"]
        told = lines.of("signal", child)
        if not check.equal(f"{mode}, signal lines", len(told), 1):
            continue
        name = signal.Signals(access["signal"]).name
        check.equal(f"{mode}, signal", told[0]["signal"], name)
        check.equal(f"{mode}, code", told[0]["code"], access["code"])
        check.that(told[0]["class"] in classes[mode],
                   f"{mode}: class {told[0]['class']!r}, want one of {sorted(classes[mode])}")
        check.that("address" not in told[0], f"{mode}: an address, without --addresses")
        check.equal(f"{mode}, failed", lines.final(child)["faults"]["failed"], 1)


@captures(expect_signals, keep=True, cases=["fatal", "handled"])
def test_signals_of_bad_accesses(lab, ending):
    return lab.run("badaccess", "all", *(["--handled"] if ending == "handled" else []))
