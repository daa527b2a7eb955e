# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of TLB shootdowns: changes of mappings about which the kernel must notify other CPUs."""

import json

from harness import Lines, Skip, live


@live
def test_tlb_shootdowns(check, lab):
    out = lab.dir / "shootdowns.jsonl"
    rounds = 2000
    ran = lab.faultscope("run", "--json", "-o", out, "--", lab.workload("discard"), str(rounds),
                         "16")
    truth, lines = json.loads(ran.out), Lines(lab.read(out))
    if truth["cpus"] < 2:
        raise Skip("there is one CPU")
    if lines.all[0]["probes"]["tlb"] != "raw_tp":
        raise Skip(f"the probe is unavailable: {lines.all[0]['probes']['tlb']}")
    told = lines.final(truth["pid"])["maps"]["tlb_shootdowns"]
    # While the other thread runs, each round causes one shootdown. A few more shootdowns occur when
    # the other thread starts and ends.
    check.between("shootdowns", told, 1, rounds + 20)
