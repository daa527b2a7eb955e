# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Scenarios for each guest, and the probes that each scenario needs. The sizes of workloads are
chosen for emulated CPUs.

The expect functions are those of tests/e2e: lines from a guest must be as exact as on the host.
"""
from dataclasses import dataclass, field

import lab as _lab  # noqa: F401  puts tests/e2e on the path
import test_counts
import test_faults
import test_hooks
import test_life
import test_limits
import test_signals
from harness import field_of

MOST_MAPS = 5000  # vm.max_map_count in the guest


@dataclass(frozen=True)
class Scenario:
    name: str
    make: object  # function of (lab) that returns a Capture
    expect: object  # function of (check, lines, truth) that judges the capture
    needs: tuple  # probes that must work for `expect` to hold
    # Maps a probe to the expect function that is used if the probe's attach type states a
    # difference from other attach types.
    weaker: dict = field(default_factory=dict)
    alone: bool = False  # the scenario expects no lines of other processes

    def expectation(self, differing):
        """Returns the expect function of the scenario, given the probes whose attach types state a
        difference."""
        return next((self.weaker[hook] for hook in differing if hook in self.weaker), self.expect)


def run(*words):
    return lambda lab: lab.run(*words)


def watched(*words):
    return lambda lab: lab.watched(*words)


def unchanged(test, *args):
    """Returns a scenario of tests/e2e without a change."""
    return lambda lab: test(lab, *args)


def counts(lab):
    works = [lab.work("mapleak", "limit", "--hold"),
             lab.work("fdleak", "1000", "--nofile", "1100", "--holes", "--hold")]
    truths = [work.truth() for work in works]
    capture = lab.counted(works)
    held = capture.truth["held"]
    assert held[0][1] == truths[0]["map_count_now"], (held, truths)
    assert held[1][2] == truths[1]["open_now"], (held, truths)
    for work in works:
        work.end()
    return capture


def swapped_and_pooled(lab):
    """Adds swap on zram, which swaps page by page, and a pool of huge pages. At the end of the
    context, the swap and the pool are removed."""
    lab.vm.must("""
set -e
echo 1 >/sys/block/zram0/reset
echo 64M >/sys/block/zram0/disksize
mkswap /dev/zram0 && swapon /dev/zram0
sysctl -w vm.page-cluster=0 vm.nr_hugepages=8""")
    capture = lab.watched("classes", "/tmp", "--swapped", "300", "--hugetlb", "4")
    lab.vm.must("swapoff /dev/zram0; sysctl -w vm.nr_hugepages=0")
    return capture


def crossings_of_descriptors(kind):
    return lambda lab: test_limits.run_to_limit(lab, kind, "1024")


def descriptors_of_kinds(*kinds):
    """Returns test_limits.test_descriptors_of_each_kind for some kinds."""
    def make(lab):
        works = [lab.work("fdleak", "100", "--kind", kind, "--wait", "--hold") for kind in kinds]
        return test_limits.work_in_turn(
            works, lab.watch("-p", ",".join(str(work.pid) for work in works),
                             first=1 + len(works)))
    return make


def calls_of_32_bit(lab):
    if lab.vm.kernel.arch != "arm64":
        return test_limits.test_calls_of_32_bit(lab)
    capture = lab.run("arm32", "200")
    assert capture.truth["supported"], "this kernel or CPU runs no 32-bit programs"
    return capture


def expect_calls_of_32_bit(check, lines, truth):
    """On x86-64, 32-bit calls must be counted; on arm64, they must not be counted. On neither of
    them may a 32-bit call be counted as the 64-bit call with the same number."""
    if "calls" not in truth:
        test_limits.expect_ia32(check, lines, truth)
        return
    final = lines.final(truth["pid"])
    check.equal("execs", final["execs"], 2)
    for call in ("epoll", "socketpair", "accept"):
        check.equal(f"{call} calls", field_of(final, f"fds.by_call.{call}.calls"), 0)
    check.equal("refused", lines.of("failed_call", truth["pid"]), [])


def expect_area(check, lines, truth):
    """Expects the thresholds that the probe `map_area` reports without the probe `calls`."""
    crossings = lines.of("threshold", truth["pid"], what="maps")
    check.equal("thresholds crossed", [line["percent"] for line in crossings],
                test_limits.THRESHOLDS)
    for line in crossings:
        check.between(f"percent at {line['percent']}", line["value"] / line["limit"] * 100,
                      line["percent"], line["percent"] + 1)
    check.that(field_of(lines.final(truth["pid"]), "maps.created") >= truth["maps_made"],
               "fewer mappings created than made")


def expect_totals(check, lines, truth):
    """Expects only the totals of faults, for attach types that know neither access nor protection
    of a fault."""
    faults = lines.final(truth["pid"])["faults"]
    check.near("minor", faults["minor"], truth["minflt"], test_faults.EXACT)
    check.equal("major", faults["major"], truth["majflt"])
    check.equal("failed", faults["failed"], 0)
    check.equal("losses", lines.losses(), {})


def expect_no_losses(check, lines, truth):
    """Checks that nothing is lost when stacks are read without frame pointers. The program has more
    different false call chains than there are stack ids."""
    check.equal("made", truth["made"], 20000)
    check.equal("losses", lines.losses(), {})


def expect_closes(check, lines, truth):
    """Expects F06 close-loop for a daemon that closes all possible file descriptors at start."""
    check.equal("failed", field_of(lines.final(truth["pid"]), "fds.close_failed"), truth["done"])
    check.that(lines.of("finding", truth["pid"], id="F06"), "no F06")


def expect_known_kinds(check, lines, truth):
    """Checks the number of each kind of fault that is known. If the numbers of other kinds are
    unknown, the sums must still be right."""
    pid, beside = truth["pid"], truth["all_faults"] - truth["minflt_delta"]
    total = sum(lines.growth(pid, f"faults.{kind}") for kind in ("minor", "major"))
    check.equal("minor + major", total, truth["all_faults"])
    wanted = {"read": truth["read"], "exec": truth["exec"],
              "write": truth["write"] + truth["cow"] + truth["user_copy"]}
    told = lines.last(pid)["faults"]
    for kind, want in wanted.items():
        if told[kind] is not None:
            check.between(kind, lines.growth(pid, f"faults.{kind}"), want, want + beside)
    begun = [lines.growth(pid, f"faults.{kind}") for kind in ("not_present", "protection")
             if told[kind] is not None]
    if begun:
        check.equal("faults begun", sum(begun), truth["all_faults"])


def expect_vfork_by_call(check, lines, truth):
    """The map count of a process must not include mappings that a vfork child made in the memory of
    the process."""
    parent, child = lines.last(truth["pid"]), lines.final(truth["child"])
    check.equal("mmap calls of the parent",
                lines.growth(truth["pid"], "maps.by_call.mmap.calls"), truth["parent_maps"])
    check.that(parent["maps"]["count"] <= truth["map_count"], "more maps than there are")
    check.equal("execs of the child", child["execs"], 1)
    check.between("maps of the child", child["maps"]["count"], 1, 99)


def expect_known_counts(check, lines, truth):
    """Expects the right counts of mappings and file descriptors. A map count may be unknown."""
    for pid, (_, maps, fds, _) in truth["alike"]:
        seen = lines.of("process", pid)
        if check.that(seen, f"process {pid} is not seen"):
            check.that(field_of(seen[0], "maps.count") in (None, maps), f"maps of {pid}")
            check.equal(f"descriptors of {pid}", field_of(seen[0], "fds.count"), fds)


def expect_some_classes(check, lines, truth):
    """Checks counts of faults by class, for attach types that do not know access or protection of a
    fault. The counts must be right for classes that follow from the mapping alone. The sums must
    also be right."""
    pid, beside = truth["pid"], truth["all_faults"] - truth["minflt_delta"] + 12
    # fentry and kprobe attach to handle_mm_fault(), which is called after the stack has grown
    late = lines.all[0]["probes"]["fault_begin"] in ("fentry", "kprobe")
    check.equal("stack_growth", test_faults.handled(lines, pid, "stack_growth"),
                0 if late else truth["stack_grown"])
    check.between("huge", test_faults.handled(lines, pid, "huge"), truth["huge"] - 1, truth["huge"])
    check.between("shared_memory", test_faults.handled(lines, pid, "shared_memory"),
                  truth["shared"], truth["shared"] + truth["file"] + truth["file_copied"] + beside)
    test_faults.check_served(check, lines, truth)


ALL = [
    Scenario("touched", run("touch", "20000"), test_faults.expect_touched,
             ("scan", "lifecycle", "fault_begin", "fault_kernel", "signal"),
             {"fault_begin": expect_totals}),
    Scenario("touched by threads", run("touch", "20000", "--threads", "4"),
             test_faults.expect_touched,
             ("scan", "lifecycle", "fault_begin", "fault_kernel", "signal"),
             {"fault_begin": expect_totals}),
    Scenario("kinds of faults", watched("kinds"), test_faults.expect_kinds,
             ("scan", "fault_begin", "fault_kernel"), {"fault_begin": expect_known_kinds}),
    Scenario("latency", watched("uffd", "20", "--delay-us", "20000"),
             test_faults.expect_latency, ("scan", "fault_begin", "fault_kernel", "fault_end"),
             {"state": test_faults.expect_timed}),
    Scenario("classes", watched("classes", "/tmp", "--huge", "5"), test_faults.expect_classes,
             ("scan", "fault_begin", "fault_kernel", "fault_end", "fault_class"),
             {"fault_begin": expect_some_classes}),
    Scenario("classes of swap and hugetlb", swapped_and_pooled, test_faults.expect_classes,
             ("scan", "fault_begin", "fault_kernel", "fault_end", "fault_class"),
             {"fault_begin": expect_some_classes}),
    Scenario("counts", counts, test_counts.expect_counts, ("scan",),
             {"scan": expect_known_counts}),
    Scenario("brief", unchanged(test_counts.test_brief_children_of_run, "close"),
             test_counts.expect_brief, ("lifecycle", "calls")),
    Scenario("brief among all", unchanged(test_counts.test_brief_children_among_all, "open"),
             test_counts.expect_brief, ("lifecycle", "calls")),
    Scenario("vfork", unchanged(test_life.test_vfork_and_exec), test_life.expect_vfork,
             ("scan", "lifecycle", "calls"), {"scan": expect_vfork_by_call}),
    Scenario("exec by a thread", unchanged(test_life.test_exec_by_a_thread),
             test_life.expect_thread_exec, ("lifecycle",), alone=True),
    Scenario("leader exits", unchanged(test_life.test_leader_exits_first),
             test_life.expect_leader_exit, ("lifecycle",)),
    Scenario("failed forks", unchanged(test_life.test_failed_forks),
             test_life.expect_failed_forks, ("lifecycle", "fault_begin", "calls")),
    Scenario("failed forks without calls",
             unchanged(test_life.test_failed_forks_without_calls),
             test_life.expect_uncounted_forks, ("lifecycle", "fault_begin"), alone=True),
    Scenario("signals, fatal", unchanged(test_signals.test_signals_of_bad_accesses, "fatal"),
             test_signals.expect_signals, ("lifecycle", "signal")),
    Scenario("signals, handled", unchanged(test_signals.test_signals_of_bad_accesses, "handled"),
             test_signals.expect_signals, ("lifecycle", "signal")),
    Scenario("probing reads", unchanged(test_hooks.test_probing_reads_of_the_kernel),
             test_hooks.expect_probes, ("lifecycle", "fault_kernel")),
    Scenario("area", lambda lab: lab.run("mapleak", "limit", options=("--probe", "calls=none")),
             expect_area, ("lifecycle", "map_area")),
    Scenario("closes in vain", run("misuse", "close", "--nofile", "1048576"), expect_closes,
             ("lifecycle", "calls")),
    Scenario("code without frames", run("wander", "20000", "--keep", "2000"), expect_no_losses,
             ("lifecycle", "calls")),
    Scenario("crossings of maps", unchanged(test_limits.test_crossings_of_maps),
             test_limits.expect_crossings, ("lifecycle", "calls")),
    Scenario("crossings of files", crossings_of_descriptors("file"),
             test_limits.expect_crossings, ("lifecycle", "calls")),
    Scenario("crossings of passed descriptors", crossings_of_descriptors("scm"),
             test_limits.expect_crossings, ("lifecycle", "calls")),
    Scenario("kinds of descriptors", descriptors_of_kinds("file", "socketpair", "accept", "scm"),
             test_limits.expect_kinds, ("scan", "calls")),
    Scenario("32-bit calls", calls_of_32_bit, expect_calls_of_32_bit, ("lifecycle", "calls")),
    *(Scenario(f"refusal {case}", unchanged(test_limits.test_refusals, case),
               test_limits.expect_refusal, ("lifecycle", "calls")) for case in test_limits.REFUSALS),
]
BY_NAME = {scenario.name: scenario for scenario in ALL}

# Names of scenarios for a kernel with hidden BTF, where every probe uses another attach type than
# with BTF.
HIDDEN_BTF = ["touched", "kinds of faults", "latency", "counts", "brief", "vfork",
              "signals, handled", "area", "crossings of maps", "crossings of files",
              "refusal munmap-split"]

# Names of scenarios for a kernel with only the small BTF of btf-archive. The small BTF has the
# kernel's offsets, but types may be missing.
LITTLE_BTF = ["kinds of faults", "latency", "brief", "signals, handled", "area", "crossings of files",
              "refusal munmap-split"]

# Maps a probe to the scenarios for each of its attach types. The scenarios are few, but cover all
# values of the probe.
OF_HOOK = {
    "state": ["touched", "classes", "counts", "brief", "latency", "signals, handled", "crossings of files",
              "crossings of maps"],
    "scan": ["counts"],
    "lifecycle": ["brief", "vfork"],
    "fault_begin": ["kinds of faults", "touched", "latency", "classes"],
    "fault_kernel": ["kinds of faults", "probing reads"],
    "signal": ["signals, fatal", "signals, handled"],
    "map_area": ["area"],
    "fault_end": ["latency", "classes"],
    "fault_class": ["classes"],
    "calls": ["brief", "crossings of files", "crossings of maps", "kinds of descriptors",
              "refusal munmap-split"],
}


def is_part(mechanism):
    """Returns whether an attach type times only major faults (for the exporter). The scenarios of
    other attach types do not apply to such an attach type."""
    return mechanism.endswith("_major")


def of_mechanism(hook, mechanism):
    return [] if is_part(mechanism) else OF_HOOK.get(hook, [])
