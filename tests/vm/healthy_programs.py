#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Healthy programs of Debian in real kernels under QEMU, with control groups of version 2.

tests/programs/healthy.py runs inside the guest, with the programs' own files of this machine. The
guest is emulated, about thirty times slower than a machine of its own, so the programs do a small
part of their usual work. Not run here: PostgreSQL, which does not start from these files alone;
Chromium, the JVM, MariaDB, PyTorch, ffmpeg, Go and buildah, which are too large or too slow for an
emulated CPU; and apt, because a guest has no network.
Prints TAP. Needs tools/setup.sh healthy.
"""
import argparse
import re
import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import fetch  # noqa: E402
import lab as _lab  # noqa: E402
import programs  # noqa: E402
from aptroot import Missing  # noqa: E402
from harness import Skip  # noqa: E402
from pressure import CGROUPS, e2e_tap  # noqa: E402
from vm import Vm  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ("6.1", "6.12")
MEMORY_MIB, FILES_MIB = 2560, 2048
MODULES = {"virtio_pci": "", "virtio_blk": ""}
BASE = r"libc6|util-linux|(lib)?python3(\.\d+)?(-minimal|-stdlib)?|media-types"
C = (r"(gcc|cpp|binutils|libc6-dev|linux-libc-dev|libcrypt-dev|libgcc-\d+-dev)(-\d+)?"
     r"|binutils-(common|x86-64-linux-gnu|aarch64-linux-gnu)")
# name in tests/programs/healthy.py: the packages that it needs, and its share of the usual work
ROWS = {
    "nginx": (r"nginx(-light|-common)?", 0.05),
    "Redis": (r"redis-(server|tools)", 0.05),
    "pytest": (r"python3-(pytest|pluggy|iniconfig|packaging|attr|py|more-itertools|_pytest)", 0.05),
    "make -j": (C + "|make", 0.1),
    "git gc": ("git", 0.05),
    "SQLite": ("sqlite3", 0.05),
    "Perl": (r"(lib)?perl(-base|-modules-[\d.]+|5\.\d+)?", 0.1),
    "cc of a large file": (C, 0.05),
    "rsync": ("rsync", 0.1),
    "xz": ("xz-utils|tar", 0.05),
    "Ruby": (r"(lib)?ruby[\d.]*|ruby-(rubygems|did-you-mean)|rubygems-integration", 0.05),
    "php-fpm": (r"php[\d.]*-(fpm|opcache|common)", 0.05),
    "Node.js": ("nodejs|libnode.*", 0.05),
    "Emacs": (r"emacs-(nox|common|bin-common|el)", 0.02),
}
USERS = {"/etc/passwd": b"root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
                        b"www-data:x:33:33::/:/bin/sh\n",
         "/etc/group": b"root:x:0:\nnogroup:x:65534:\nwww-data:x:33:\n"}
WORK_SECONDS = 1500
ENVIRONMENT = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin BUILD=build"
               " TMPDIR=/files LC_ALL=C")


def files_of(pattern, arch):
    """What a guest has to hold: a Python, the tests, and the packages that match."""
    found = programs.of_packages(f"{BASE}|{pattern}")
    found.update(USERS)
    found["/build/faultscope"] = programs.static_faultscope(arch)
    for path in (ROOT / "tests/programs").glob("*.py"):
        found[f"/tests/programs/{path.name}"] = path
    return found


class Guest:
    """A machine that has one of the programs."""

    def __init__(self, kernel, pattern):
        found = fetch.kernel(kernel)
        self.vm = Vm(found, files_of(pattern, found.arch), append="psi=1", modules=MODULES,
                     memory_mib=MEMORY_MIB, disks_mib=(FILES_MIB,))
        try:
            self.vm.must(f"mke2fs -q /dev/vda || mkfs.ext2 /dev/vda; mkdir -p /files"
                         f" && mount /dev/vda /files && chmod 1777 /files;"
                         f" grep -q cgroup2 /proc/mounts || mount -t cgroup2 none {CGROUPS};"
                         f" echo +memory +pids >{CGROUPS}/cgroup.subtree_control;"
                         f" mkdir {CGROUPS}/healthy")
        except BaseException:
            self.vm.close()
            raise


def judge(check, vm, name, share):
    """One program, in a control group of version 2 that has no limit."""
    argv = ["python3", "-B", "/tests/programs/healthy.py", "--amount", share, name]
    ran = vm.run(f"echo $$ >{CGROUPS}/healthy/cgroup.procs;"
                 f" {ENVIRONMENT} {_lab.quoted(argv)} 2>&1", WORK_SECONDS)
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


def in_guest(check, kernel, name):
    pattern, share = ROWS[name]
    try:
        guest = Guest(kernel, pattern)
    except Missing as reason:
        raise Skip(str(reason)) from None
    try:
        judge(check, guest.vm, name, share)
    finally:
        guest.vm.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", metavar="NAME,...", default=",".join(KERNELS))
    parser.add_argument("only", metavar="NAME", nargs="*", help="programs whose name contains it")
    options = parser.parse_args()
    names = [name for name in ROWS
             if not options.only or any(word in name for word in options.only)]
    tap = e2e_tap()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that a guest and its files go
    for kernel in options.kernels.split(","):
        for name in names:
            tap.test(f"healthy programs, {kernel}: {name}", in_guest, kernel, name)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
