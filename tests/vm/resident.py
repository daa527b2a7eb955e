#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `faultscope memory` in real kernels under QEMU, with memory that needs settings of the whole
machine: swap, a pool of huge pages, large folios. Also runs tests of tests/e2e/test_memory.py there.
The kernel for arm64 needs `make ARCH=arm64 static`. Under emulation on a busy machine, set FS_PATIENCE
(tests/e2e/harness.py). Prints TAP.
"""
import argparse
import sys

sys.dont_write_bytecode = True

import fetch  # noqa: E402
import lab as _lab  # noqa: E402
import programs  # noqa: E402
from aptroot import Missing  # noqa: E402
from pressure import MODULES, e2e_tap  # noqa: E402
from harness import PATIENCE, Lines, Skip  # noqa: E402
from test_memory import KNOWN, MIB, check_amount, check_sum, sum_of  # noqa: E402
from vm import GuestError, Vm  # noqa: E402

KERNELS = ("6.1", "6.12", "newest", "6.12-arm64")
MEMORY_MIB, SWAP_MIB = 768, 512
FOLIOS = "/sys/kernel/mm/transparent_hugepage"


class GuestMemory(_lab.GuestWatch):
    """A `faultscope memory` of a process in the guest."""

    def __init__(self, lab, pid):
        self.options = []
        out = f"{lab.top}/{lab.places + 1}/lines"
        _lab.GuestProcess.__init__(self, lab, _lab.quoted([
            _lab.FAULTSCOPE, "memory", "--json", "-o", out, "-p", pid, "-d",
            str(int(10 * PATIENCE))]))
        self.wait(1)

    def wait(self, readings):
        """Waits for further readings of the process."""
        path, seen = f"{self.dir}/lines", f"grep -c '\"type\":\"memory\"' {self.dir}/lines"
        self.vm.must(f"n=$({seen}); until [ -e {path} ] && [ $({seen}) -ge $((n + {readings})) ] ||"
                     f" ! kill -0 {self.pid}; do {_lab.POLL}; done 2>/dev/null", PATIENCE)


def reading(lab, *words):
    """Runs a workload under `memory`. Returns its last reading, and its truth."""
    work = lab.work(*words, "--wait", "--hold")
    watch = GuestMemory(lab, work.pid)
    work.go()
    truth = work.truth()
    watch.wait(3)
    got = watch.stop()
    work.end()
    lines = [line for line in Lines(got.text).all
             if line["type"] == "memory" and line["pid"] == work.pid]
    assert lines, f"no reading, status {got.status}: {got.stderr}"
    return lines[-1], truth["holds"]


def swapped_of(line, name):
    return sum(row["swapped_bytes"] for row in line["holders"] if row["by"] in KNOWN and
               any(name in frame for frame in row["stack"]))


def test_amounts(check, lab, *words):
    line, holds = reading(lab, *words)
    check_sum(check, line)
    for name, mib in holds.items():
        if name != "unseen_":
            check_amount(check, name, sum_of(line, name), mib)


def test_functions(check, lab):
    test_amounts(check, lab, "hold")


def test_kinds(check, lab):
    test_amounts(check, lab, "hold_kinds")


def test_swap(check, lab):
    """What is in swap, and what was swapped in, belongs to the code that first touched it."""
    lab.vm.must("mkswap /dev/vda && swapon /dev/vda")
    line, holds = reading(lab, "hold_settings", "swap")
    lab.vm.must("swapoff /dev/vda")
    amount, half = sum_of(line, "hold_swapped_60")
    swapped, reader = swapped_of(line, "hold_swapped_60"), sum_of(line, "swap_in_20")[0]
    check_amount(check, "swapped out or in", (amount + swapped, half + 6 * MIB),
                 holds["hold_swapped_60"])
    check.that(swapped > 20 * MIB, f"only {swapped} bytes are in swap")
    check.that(amount > 10 * MIB, f"only {amount} bytes were swapped in")
    check.that(reader < 1.5 * MIB, "code that swapped in holds memory")


def test_hugetlb(check, lab):
    """hugetlb pages are only in a total."""
    lab.vm.must("echo 8 >/proc/sys/vm/nr_hugepages")
    line, holds = reading(lab, "hold_settings", "hugetlb")
    lab.vm.must("echo 0 >/proc/sys/vm/nr_hugepages")
    check.equal("the total", line["hugetlb_bytes"], holds["hold_hugetlb_16"] * MIB)
    check.that(sum_of(line, "hold_hugetlb_16")[0] < MIB, "hugetlb pages are in a row")
    check_sum(check, line)


def test_folios(check, lab):
    """Pages of a large folio belong to the code that first touched the range of 2 MiB."""
    size = f"{FOLIOS}/hugepages-64kB/enabled"
    if lab.vm.run(f"[ -e {size} ]").status:
        raise Skip("no large folios of anonymous memory (Linux 6.8)")
    lab.vm.must(f"echo madvise >{FOLIOS}/enabled; echo always >{size}")
    line, holds = reading(lab, "hold_settings", "folios")
    lab.vm.must(f"echo never >{size}")
    check_sum(check, line)
    amount, half = sum_of(line, "hold_folios_32")
    # the first range and the last may share their 2 MiB with other mappings
    check_amount(check, "large folios", (amount, half + 4 * MIB), holds["hold_folios_32"])


def test_numa(check, lab):
    """Pages that NUMA balancing marks and moves keep their owner."""
    lab.vm.must("echo 1 >/proc/sys/kernel/numa_balancing")
    line, holds = reading(lab, "hold_settings", "numa")
    check_sum(check, line)
    amount, half = sum_of(line, "hold_numa_40")
    user = sum_of(line, "use_numa_40")[0]
    check_amount(check, "the function", (amount, half), holds["hold_numa_40"])
    check.that(user < 1.5 * MIB, f"code that used pages holds {user / MIB:.1f} MiB of them")


# Each list of tests runs in a guest with this number of NUMA nodes.
TESTS = {1: (test_functions, test_kinds, test_swap, test_hugetlb, test_folios),
         2: (test_numa,)}


def in_guest(check, vm, test):
    try:
        test(check, _lab.VmLab(vm))
    except GuestError as error:
        check.that(False, f"the guest: {error}")


def test_kernel(tap, name, nodes, tests):
    try:
        found = fetch.kernel(name)
        files = _lab.files(programs.static_faultscope(found.arch),
                           programs.static_workloads(found.arch))
        vm = Vm(found, files, modules=MODULES, memory_mib=MEMORY_MIB, disks_mib=(SWAP_MIB,),
                nodes=nodes)
    except Missing as reason:
        tap.say(f"resident memory, {name}", skip=str(reason))
        return
    except GuestError as reason:
        tap.say(f"resident memory, {name}: a guest", [str(reason)])
        return
    try:
        vm.must("mkdir -p /var/tmp && mount -t tmpfs none /var/tmp")
        for test in tests:
            tap.test(f"resident memory, {name}: {test.__name__[5:]}", in_guest, vm, test)
    finally:
        vm.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", metavar="NAME,...", default=",".join(KERNELS))
    parser.add_argument("--only", metavar="NAME", default="",
                        help="run only tests whose name contains NAME")
    options = parser.parse_args()
    tap = e2e_tap()
    for kernel in options.kernels.split(","):
        for nodes, tests in TESTS.items():
            chosen = [test for test in tests if options.only in test.__name__]
            if chosen:
                test_kernel(tap, kernel, nodes, chosen)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
