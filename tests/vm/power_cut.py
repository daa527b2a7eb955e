#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Cuts the power of a guest while an exporter stores incidents on a disk. After each cut, another
guest mounts the disk: every incident that is listed must be complete, and every incident whose path
`faultscope snapshot` has printed must be there. Prints TAP.

The cut ends QEMU by SIGKILL. What the guest's kernel had not written to the disk is lost.
"""
import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

import fetch  # noqa: E402
import lab as _lab  # noqa: E402
import programs  # noqa: E402
from aptroot import Missing  # noqa: E402
from pressure import e2e_tap  # noqa: E402
from vm import GuestError, Vm  # noqa: E402

KERNELS = ("6.1", "6.12")
CUTS = 5
DISK_MIB, STORE = 64, "/disk/incidents"
MODULES = {"virtio_pci": "", "virtio_blk": "", "crc32c_generic": "", "ext4": ""}
SNAPSHOTS = 10  # the exporter stores no more of them at once
LONGEST_S = 6  # the cut comes at most this long after the first incident

MOUNT = f"mkdir -p /disk; mount -t ext4 /dev/vda /disk && mkdir -p {STORE}"
# The words "cut" are put together by the shell, so that the command itself does not contain them.
STORES = f"""
{_lab.FAULTSCOPE} export --web.listen-address 127.0.0.1:1435 --incident.store {STORE} \
	--oom.store /run/oom --incident.after 0 --incident.on none >/run/exporter 2>&1 &
i=0
until grep -q 'metrics at' /run/exporter || [ $i = 1200 ]; do usleep 100000; i=$((i + 1)); done
for i in $(seq {SNAPSHOTS}); do
	path=$({_lab.FAULTSCOPE} snapshot --store {STORE} cut $i) && echo "stored: $path" >/dev/console
done
echo "stored all" >/dev/console
"""


def disk_make(path):
    with open(path, "wb") as file:
        file.truncate(DISK_MIB << 20)
    program = shutil.which("mke2fs") or "/sbin/mke2fs"
    subprocess.run([program, "-q", "-t", "ext4", "-F", path], check=True)


def boot(found, files, disk):
    drive = ("-drive", f"file={disk},if=none,id=store,format=raw,cache=writethrough",
             "-device", "virtio-blk-pci,drive=store")
    vm = Vm(found, files, modules=MODULES, devices=drive)
    try:
        vm.must(MOUNT)
    except BaseException:
        vm.close()
        raise
    return vm


def told_of(vm):
    """Returns the paths that `snapshot` has printed so far."""
    return re.findall(r"stored: (\S+\.fsr)\s*\n", vm.console())


def cut(vm, seconds):
    """Cuts the power some time after the first incident was stored. Returns the paths of those that
    were stored until then."""
    vm.begin(STORES)
    deadline = time.monotonic() + 300
    while not told_of(vm):
        if time.monotonic() > deadline:
            raise GuestError(vm.story("no incident"))
        time.sleep(0.02)
    time.sleep(seconds)
    vm.stop()
    return told_of(vm)


def judge(check, vm, told):
    """Checks the store after a cut. Returns how many incidents it has."""
    ran = vm.run(f"{_lab.FAULTSCOPE} incidents --json --store {STORE}")
    listed = [json.loads(line) for line in ran.out.splitlines()]
    paths = [one["file"] for one in listed]
    check.equal("incidents that cannot be read",
                [one["file"] for one in listed if not one["readable"]], [])
    check.equal("incidents that are missing", sorted(set(told) - set(paths)), [])
    for path in paths:
        about = vm.run(f"{_lab.FAULTSCOPE} report --format jsonl -o /dev/null {path}")
        check.equal(f"status and errors of {path}", (about.status, about.err), (0, ""))
    return len(paths)


def check_cuts(check, found, files, place, seed):
    drawn = random.Random(seed)
    disk = place / "disk"
    disk_make(disk)
    told, before, kept = [], 0, []
    for number in range(CUTS + 1):
        vm = boot(found, files, disk)
        try:
            kept.append(judge(check, vm, told))
            if number < CUTS:
                told = cut(vm, drawn.uniform(0, LONGEST_S))
                before += len(told)
        finally:
            vm.close()
    check.that(before >= CUTS, f"{before} incidents were stored before {CUTS} cuts")
    print(f"# seed {seed}: {before} incidents before {CUTS} cuts; the store had {kept}")


def test_kernel(tap, name, seed):
    what = f"power cuts, {name}"
    try:
        found = fetch.kernel(name)
        files = {_lab.FAULTSCOPE: programs.static_faultscope(found.arch)}
        with tempfile.TemporaryDirectory(prefix="faultscope-cut-") as place:
            tap.test(what, in_guests, found, files, Path(place), seed)
    except Missing as reason:
        tap.say(what, skip=str(reason))


def in_guests(check, found, files, place, seed):
    try:
        check_cuts(check, found, files, place, seed)
    except GuestError as error:
        check.that(False, f"the guest: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", metavar="NAME,...", default=",".join(KERNELS))
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    options = parser.parse_args()
    tap = e2e_tap()
    for kernel in options.kernels.split(","):
        test_kernel(tap, kernel, options.seed)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
