# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of TLB shootdowns: changes of mappings about which the kernel must notify other CPUs."""

import json

from harness import Lines, Skip, live


@live
def test_tlb_shootdowns(check, lab):
    out = lab.dir / "shootdowns.jsonl"
    rounds = 2000
    ran = lab.faultscope("run", "--json", "--overhead", "all", "-o", out, "--",
                         lab.workload("discard"), str(rounds), "16")
    truth, lines = json.loads(ran.out), Lines(lab.read(out))
    if truth["cpus"] < 2:
        raise Skip("there is one CPU")
    if lines.all[0]["probes"]["tlb"] != "raw_tp":
        raise Skip(f"the probe is unavailable: {lines.all[0]['probes']['tlb']}")
    told = lines.final(truth["pid"])["maps"]["tlb_shootdowns"]
    # While the other thread runs, each round causes one shootdown. A few more shootdowns occur when
    # the other thread starts and ends.
    check.between("shootdowns", told, 1, rounds + 20)


@live
def test_switches_are_spared(check, lab):
    """The attach type at each switch between processes is used only if the user asks for it. The
    output then says so."""
    for options, used in ((), False), (("--overhead", "all"), True), (("--probe", "tlb=raw_tp"), True):
        out = lab.dir / "switches.jsonl"
        lab.faultscope("run", "--json", "-o", out, *options, "--", "true")
        start = Lines(lab.read(out)).all[0]
        said = start["probes"]["tlb"]
        if said == "fentry":
            raise Skip("this kernel allows tracing of functions")
        check.equal(f"{options}: raw_tp", said == "raw_tp", used)
        check.that(used or said.startswith("off: "), f"{options}: {said}")
        check.equal(f"{options}: switches", "switches between processes" in
                    start["overhead_for_others"], used)
