# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of signals that bad memory accesses cause: the signal number, the code and the class of the
access."""

import re
import signal

from harness import (RECORDINGS, Skip, captures, evidence_texts, guards_have_no_mapping,
                     remedy_texts)

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


# An arm64 CPU may ignore the top byte of an address, and has no exception for non-canonical
# addresses.
CLASSES_ARM64 = {"noncanonical": {"unmapped"}}
# Without task storage, the registers of a bad access are unknown.
CLASSES_HASH = {"noncanonical": {"general protection"}}


def expect_signals(check, lines, truth):
    start = lines.all[0]
    classes = CLASSES | (CLASSES_HASH if start["probes"]["state"] == "hash" else {})
    classes |= CLASSES_ARM64 if start["arch"] == "aarch64" else {}
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


# {case: (signal that ends the child, or 0; whether faultscope reports a stack overflow)}
STACK_ENDS = {
    "fatal": (signal.SIGSEGV, True),
    "aborts": (signal.SIGABRT, True),
    "raises": (signal.SIGSEGV, True),
    "goes-on": (0, False),
    "aborts-later": (signal.SIGABRT, False),
    "handles-null": (0, False),
}


def expect_stack(check, lines, truth):
    ends_by, is_told = STACK_ENDS[truth["case"]]
    check.equal("ended by", truth["signal"], ends_by)
    told = lines.of("finding", id="P18")
    if lines.all[0]["probes"]["state"] == "hash":
        # without task storage, the registers of a bad access are unknown
        is_told = is_told and bool(told)
    if not check.equal("stack overflows", len(told), is_told) or not told:
        return
    check.equal("whose", told[0]["pid"], truth["child"])
    check.equal("severity", told[0]["severity"], "critical")
    check.that("stack overflow of a thread (256 KiB)" in told[0]["title"], told[0]["title"])
    fields = evidence_texts(told[0])
    guard = fields.get("guard below its stack")
    check.that(guard == "4096" or (guard is None and guards_have_no_mapping()), f"guard: {guard}")
    check.equal("ended by its handler", "raised later by the same thread" in fields,
                truth["case"] != "fatal")
    check.that(any(f"RUST_MIN_STACK={truth['stack'] * 4}" in text for text in remedy_texts(told[0])),
               f"remedies {remedy_texts(told[0])}")


@captures(expect_stack, cases=list(STACK_ENDS))
def test_stack_of_a_thread(lab, case):
    capture = lab.run("stacks", case)
    capture.truth["case"] = case
    return capture


def causes_of(finding):
    """Returns the causes of a finding, without M26 max-map-count-growth: on a busy machine, a scan
    may see the map count while it grows."""
    return [cause for cause in finding["caused_by"] if cause != "M26"]


def expect_crash(check, lines, truth):
    """M24 crash-after-enomem names the failed mmap (M01 max-map-count-reached) as the cause of the
    crash, and M01 names its own causes."""
    told = lines.of("finding", truth["pid"], id="M24", state="open")
    if not check.that(told, "no M24"):
        return
    check.equal("severity", told[-1]["severity"], "critical")
    check.equal("because", causes_of(told[-1]), ["M01", "M10", "M25"])
    refused = lines.of("finding", truth["pid"], id="M01", state="open")
    check.equal("because of M01", causes_of(refused[-1]), ["M10", "M25"])
    crashed = lines.of("signal", truth["pid"])
    check.equal("signals", [line["signal"] for line in crashed], ["SIGSEGV"])
    check.that(refused[0]["t"] <= crashed[0]["t"] <= refused[0]["t"] + 1,
               f"refused at {refused[0]['t']} s, crashed at {crashed[0]['t']} s")


@captures(expect_crash, keep=True)
def test_crash_after_refusal(lab):
    capture = lab.run("mapleak", "limit", "--crash")
    assert capture.status == -signal.SIGSEGV, f"ended with {capture.status}"
    # The exit status is that of the crashing workload, so the harness must not compare it with 0.
    capture.status = 0
    return capture


def test_crash_says_why_in_text(check, lab):
    path = RECORDINGS / "crash_after_refusal.fsr"
    if not path.exists():
        raise Skip("the recording crash_after_refusal is not kept")
    text = " ".join(lab.faultscope("--replay", path).out.split())
    check.that(re.search(r"critical\[M24 crash-after-enomem\]: mapleak\[\d+\]: "
                         r"SIGSEGV [\d.]+ [mu]s after mmap failed with ENOMEM",
                         text), "no M24 with its title")
    check.that("= note: because M01 max-map-count-reached (mmap failed with ENOMEM: "
               "vm.max_map_count reached), because M10 mapping-leak (" in text,
               "no chain in the text")
