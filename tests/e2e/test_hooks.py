# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests probes that are disabled, that the kernel does not allow, or that use another attach type
than usual. The remaining counts must stay exact, and the output must say which data is missing."""

import json
import subprocess

from harness import Lines, Skip, captures, field_of, live, some_of, status_by, until

# Maps a probe to the fields of a process line that are null while this probe is disabled.
NULL_WITHOUT = {
    "lifecycle": ["execs"],
    "fault_begin": ["faults.read", "faults.not_present"],
    "fault_kernel": ["faults.kernel", "faults.kernel_nofault"],
    "signal": ["faults.failed"],
    "fault_end": ["faults.stall_ns"],
    "calls": ["maps.failed", "fds.opened"],
}


# other probes depend on these probes, so a test disables each of these alone
ALONE = ("state", "lifecycle", "scan", "fault_begin")


def left_out_together(names):
    """Returns groups of probes. Each group is disabled in one run. Each probe of ALONE is a group
    by itself, and all other probes form one group."""
    others = [name for name in names if name not in ALONE]
    return [[name] for name in names if name in ALONE] + ([others] if others else [])


def null_without(name, begins):
    """Returns the fields that are null while a probe is disabled. With some attach types of
    fault_begin, kernel-mode faults are counted without the probe fault_kernel."""
    told = {"faults.kernel"} if begins in ("fentry", "kprobe", "perf_event") else set()
    return [field for field in NULL_WITHOUT.get(name, []) if field not in told]


# probes that only `faultscope memory` uses
OF_MEMORY = {"resident"}


def hooks_here(lab):
    return lab.doctor("--no-calibrate")["probes"]


def run_with(lab, *options):
    out = lab.dir / "hooks.jsonl"
    ran = lab.faultscope("run", "--json", "-o", out, *options, "--", lab.workload("touch"), "50000")
    truth = json.loads(ran.out)
    return ran, Lines(lab.read(out)), truth


def check_exact(check, what, lines, truth):
    """Checks the kernel's own fault counts, for which faultscope needs only the scan and the
    lifecycle probe."""
    final = lines.final(truth["pid"])
    check.near(f"{what}, minor", final["faults"]["minor"], truth["minflt"], 0.001)
    # After printing its true values, the workload may read pages of a library again.
    check.between(f"{what}, major", final["faults"]["major"], truth["majflt"], truth["majflt"] + 2)
    return final


@live
def test_hooks_left_out(check, lab):
    # without the probe `state` there are no counters; without `lifecycle`, `run` does not follow its
    # command
    names = [hook["name"] for hook in hooks_here(lab) if hook["name"] not in ("state", "lifecycle")]
    for name in some_of(names, 7):
        ran, lines, truth = run_with(lab, "--probe", f"{name}=none")
        check.equal(f"{name}=none, status", ran.returncode, 0)
        check.that("off" in lines.all[0]["probes"][name], f"{name}: {lines.all[0]['probes'][name]}")
        final = check_exact(check, f"{name}=none", lines, truth)
        for field in null_without(name, lines.all[0]["probes"]["fault_begin"]):
            check.equal(f"{name}=none, {field}", field_of(final, field), None)


@live
def test_end_without_a_word(check, lab):
    """Without the lifecycle probe, `-p PID` still ends when the process exits, and shows the last
    values of the process."""
    sleeper = lab.spawn(["cat"], stdin=subprocess.PIPE)
    watch = lab.watch("-p", str(sleeper.pid), "--probe", "lifecycle=none", "0.3")
    until(lambda: '"type":"process"' in watch.said(), "its first figures")
    sleeper.stdin.close()
    sleeper.wait()
    ended = watch.finished()
    check.equal("status", ended.status, 0)
    final = Lines(ended.text).final(sleeper.pid)
    check.that(final["maps"]["count"] > 10, f"its last figures: {final['maps']}")


def forced_together(hooks):
    """Yields the attach types to force together, one for each probe. The attach types of state,
    fault_begin and fault_end are forced alone, since other probes depend on these probes."""
    waiting = {hook["name"]: list(hook["attach_types"]) for hook in hooks
               if hook["name"] not in OF_MEMORY}
    for name in ("state", "fault_begin", "fault_end"):
        yield from ({name: mechanism} for mechanism in waiting.pop(name))
    while any(waiting.values()):
        yield {name: left.pop(0) for name, left in waiting.items() if left}


def check_faults_timed(check, what, final, end):
    """Checks that each fault is timed as minor or major, by any attach type of fault_end."""
    begun, major = final["faults"]["user"] + final["faults"]["kernel"], final["faults"]["major"]
    timed = {kind: field_of(final, f"faults.latency_ns.{kind}.total") for kind in ("minor", "major")}
    if end.endswith("_major"):
        begun = major
        check.equal(f"{what}, stall", final["faults"]["stall_ns"], None)
    check.equal(f"{what}, major faults timed", timed["major"], major)
    check.equal(f"{what}, minor faults timed", timed["minor"], begun - major)


@live
def test_each_mechanism(check, lab):
    """An option forces each attach type. Either counts are then exact, or faultscope reports that
    the attach type is unavailable, with a reason."""
    forced = 0
    for group in forced_together(hooks_here(lab)):
        what = " ".join(f"{name}={mechanism}" for name, mechanism in group.items())
        ran, lines, truth = run_with(lab, *(word for pair in what.split()
                                            for word in ("--probe", pair)))
        forced += len(group)
        check.equal(f"{what}, status", ran.returncode, status_by(lines))
        said = lines.all[0]["probes"]
        final = check_exact(check, what, lines, truth)
        blind = [name for name, mechanism in group.items() if said[name] != mechanism]
        for name in blind:
            check.that(said[name].startswith(f"{group[name]}: "),
                       f"{name}={group[name]}: blind, because {said[name]!r}")
            for field in null_without(name, said["fault_begin"]):
                check.equal(f"{what}, {field}", field_of(final, field), None)
        if not {"fault_begin", "fault_kernel", "fault_end"} & set(blind):
            check_faults_timed(check, what, final, said["fault_end"])
        if "calls" not in blind:
            check.that(field_of(final, "maps.by_call.mmap.calls") >= 1, f"{what}: no mmap call")
    check.that(forced >= 8, f"only {forced} mechanisms")


def timed_by(lab, mechanism, name, *args):
    """Runs a workload with this attach type of fault_end. Returns the workload's last JSON line and
    its true values."""
    out = lab.dir / "timed.jsonl"
    ran = lab.faultscope("run", "--json", "-o", out, "--probe", f"fault_end={mechanism}", "--",
                         lab.workload(name), *args)
    truth, lines = json.loads(ran.out), Lines(lab.read(out))
    if lines.all[0]["probes"]["fault_end"] != mechanism:
        return None, truth
    return lines.final(truth["pid"])["faults"], truth


@live
def test_minor_and_major_faults_are_told_apart(check, lab):
    """Each attach type of fault_end must distinguish minor from major faults. Minor faults are
    those on pages in memory. Major faults are those on file pages that were dropped from the page
    cache."""
    ends = next(hook["attach_types"] for hook in hooks_here(lab) if hook["name"] == "fault_end")
    tried = 0
    for mechanism in ends:
        for name, args in (("touch", ["50000"]), ("filepages", ["2000", str(lab.dir)])):
            faults, truth = timed_by(lab, mechanism, name, *args)
            if not faults:
                continue
            tried += 1
            for kind in ("minor", "major")[mechanism.endswith("_major"):]:
                what = f"{name}, fault_end={mechanism}, {kind}"
                timed, asked = faults["latency_ns"][kind]["total"], truth[f"{kind[:3]}flt_delta"]
                # For a few page faults during exec, the kernel reports no end.
                check.between(f"{what}, by the kernel's own count", timed, faults[kind] - 8,
                              faults[kind] + 5)
                check.between(f"{what}, by getrusage", timed, asked, asked + 1000)
    check.that(tried >= 2, f"only {tried} captures")


def expect_probes(check, lines, truth):
    pid = truth["pid"]
    check.equal("reads refused", truth["refused"], truth["reads"])
    check.equal("probing reads", lines.final(pid)["faults"]["kernel_nofault"], truth["reads"])
    check.equal("bad ones", lines.final(pid)["faults"]["kernel_bad_address"], 0)
    told = lines.of("kernel_fault", pid)
    if check.that(told, "no line tells of it"):
        check.equal("survives by design", told[0]["recovered"], True)
        check.equal("class", told[0]["address_class"], "kernel half")
        check.that("copy_from_kernel_nofault" in (told[0]["symbol"] or ""),
                   f"symbol {told[0]['symbol']!r}")
    check.equal("findings", lines.of("finding", pid), [])


@captures(expect_probes, keep=True)
def test_probing_reads_of_the_kernel(lab):
    capture = lab.run("kernelread", "100")
    if not capture.truth["reads"]:
        raise Skip("this kernel does not let BPF read")
    return capture
