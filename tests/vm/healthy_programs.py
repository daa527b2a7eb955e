#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs healthy Debian programs in real kernels under QEMU, with control groups of version 2.

tests/programs/healthy.py runs inside the guest, in the Debian system that rootfs.py makes. The
guest is emulated and about thirty times slower, so the programs do a small part of their usual
work. Prints TAP. Needs root and tools/setup.sh distros.
"""
import argparse
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True

import fetch  # noqa: E402
import lab as _lab  # noqa: E402
import programs  # noqa: E402
import rootfs  # noqa: E402
from aptroot import Missing  # noqa: E402
from beside import SideBySide, take_signals  # noqa: E402
from harness import Skip  # noqa: E402
from pressure import CGROUPS, MODULES, e2e_tap  # noqa: E402
from vm import GuestError, Vm  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
HEALTHY = ROOT / "tests/programs/healthy.py"
KERNELS = ("6.1", "6.12")
MEMORY_MIB = 3072
SYSTEM = "/system"
# Fraction of a program's usual work to do, and exceptions as {program: fraction}.
SHARE, SHARES = 0.05, {"make -j": 0.1, "Perl": 0.1, "rsync": 0.1, "Emacs": 0.02}
PATIENCE = 1200  # timeout in seconds for a part of a program's work
WORK_SECONDS = 3000
ENVIRONMENT = (f"PATH={rootfs.PATH} BUILD=build TMPDIR=/var/tmp HOME=/root LC_ALL=C.UTF-8"
               f" PATIENCE={PATIENCE}")


def files_of(arch):
    """Returns the files that a guest needs in addition to its Debian system: the tests, and
    faultscope."""
    found = {"/healthy/build/faultscope": programs.static_faultscope(arch)}
    for path in HEALTHY.parent.glob("*.py"):
        found[f"/healthy/tests/programs/{path.name}"] = path
    return found


class Guest:
    """A guest with the Debian system. The guest is rebooted if a program left it unusable."""

    def __init__(self, kernel):
        self.kernel = fetch.kernel(kernel)
        self.image = rootfs.image()
        self.vm = None

    def usable(self):
        if self.vm and not self.vm.usable():
            self.close()
        if not self.vm:
            self.vm = Vm(self.kernel, files_of(self.kernel.arch), append="psi=1", modules=MODULES,
                         memory_mib=MEMORY_MIB, images=[self.image])
            self.vm.must(f"mkdir {SYSTEM} && mount -t ext4 /dev/vda {SYSTEM}"
                         f" && cp -r /healthy/* {SYSTEM}"
                         f" && for d in proc sys dev run; do mount -o rbind /$d {SYSTEM}/$d; done"
                         f" && echo +memory +pids >{CGROUPS}/cgroup.subtree_control"
                         f" && mkdir {CGROUPS}/healthy")
        return self.vm

    def close(self):
        if self.vm:
            self.vm.close()
        self.vm = None


def judge(check, vm, name):
    """Runs one program in a version 2 control group without limits, and checks faultscope's output.
    """
    argv = ["python3", "-B", "/tests/programs/healthy.py", "--amount", SHARES.get(name, SHARE),
            name]
    ran = vm.run(f"echo $$ >{CGROUPS}/healthy/cgroup.procs;"
                 f" exec chroot {SYSTEM} /usr/bin/env {ENVIRONMENT} {_lab.quoted(argv)} 2>&1",
                 WORK_SECONDS)
    lines = ran.out.splitlines()
    for line in lines:
        if line.startswith("# "):
            print(line[:300])
    skipped = re.search(r"^ok .* # SKIP (.*)", ran.out, re.M)
    if skipped:
        raise Skip(skipped[1])
    check.equal("status", ran.status, 0)
    check.that(any(line.startswith("ok ") for line in lines), ran.out[-2000:])
    check.equal("what failed", [line for line in lines if line.startswith("not ok ")], [])
    check.that(not vm.crash(), vm.crash())


def in_guest(check, guest, name):
    try:
        judge(check, guest.usable(), name)
    except GuestError as reason:
        guest.close()
        check.that(False, str(reason))


def test_kernel(kernel, names):
    """Tests all programs on one kernel, and prints the results as TAP. Does not return, but exits.
    """
    tap = e2e_tap()
    try:
        guest = Guest(kernel)
        try:
            for name in names:
                tap.test(f"healthy programs, {kernel}: {name}", in_guest, guest, name)
        finally:
            guest.close()
    except Missing as reason:
        tap.say(f"healthy programs, {kernel}", skip=str(reason))
    print(f"1..{tap.done}")
    sys.exit(tap.failed > 0)


def all_programs():
    return subprocess.run([sys.executable, "-B", HEALTHY, "--list"], check=True,
                          capture_output=True, text=True).stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", metavar="NAME,...", default=",".join(KERNELS))
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count(),
                        help="number of kernels to test in parallel (default: one per CPU)")
    parser.add_argument("only", metavar="NAME", nargs="*",
                        help="run only programs whose name contains NAME")
    options = parser.parse_args()
    names = [name for name in all_programs()
             if not options.only or any(word in name for word in options.only)]
    take_signals()
    try:
        rootfs.image()
    except Missing as reason:
        fetch.say(str(reason))  # ignored here, since each kernel's own test reports a missing file
    kernels = options.kernels.split(",")
    if len(kernels) == 1:
        test_kernel(kernels[0], names)
    beside = SideBySide()
    beside.run([(kernel, partial(test_kernel, kernel, names))
                for kernel in kernels], options.jobs)
    return beside.end()


if __name__ == "__main__":
    sys.exit(main())
