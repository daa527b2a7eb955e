# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the counters of memory that a process releases with madvise."""

import json

from harness import Lines, live


@live
def test_discarded_bytes(check, lab):
    out = lab.dir / "discards.jsonl"
    rounds, pages = 300, 16
    ran = lab.faultscope("run", "--json", "-o", out, "--", lab.workload("discard"), str(rounds),
                         str(pages))
    truth = json.loads(ran.out)
    final = Lines(lab.read(out)).final(truth["pid"])
    check.equal("discarded", final["memory"]["discarded_bytes"], truth["given_bytes"])
    # MADV_DONTNEED removes pages at once. After MADV_FREE, the kernel may keep the pages until it
    # needs memory.
    check.that(final["faults"]["minor"] >= rounds // 2 * pages,
               f"it was there all the same: {final['faults']['minor']} faults")
