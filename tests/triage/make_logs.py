#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes crash logs: boots a kernel in QEMU once for each fault of crashlab.ko.

usage: make_logs.py --module crashlab.ko [--kernel 6.1] [--to DIR] [FAULT...]

Build the module with the headers of that kernel (Debian: linux-headers-RELEASE):
make -C /usr/src/linux-headers-RELEASE M=tests/triage/crashlab modules
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/vm"), str(ROOT / "tools")]

import fetch  # noqa: E402
import initrd  # noqa: E402

PATIENCE = 90  # timeout of one boot in seconds
AROUND = 150  # number of lines around the crash to keep of a log
COMMANDS = {
    "left_timer": "echo left_timer >/proc/crashlab; rmmod crashlab; sleep 4",
    "left_notifier": "echo left_notifier >/proc/crashlab; rmmod crashlab; poweroff -f; sleep 3",
    "hung": "echo 4 >/proc/sys/kernel/hung_task_timeout_secs; echo hung >/proc/crashlab & sleep 14",
    "soft_lockup": "echo 3 >/proc/sys/kernel/watchdog_thresh;"
                   " echo soft_lockup >/proc/crashlab & sleep 14",
}
OPTIONS = {"uaf": "slub_debug=FZP", "double_free": "slub_debug=FZP"}
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
echo 8 >/proc/sys/kernel/printk
insmod /crashlab.ko
{command}
echo END-OF-RUN
poweroff -f
"""


def archive(fault, module, busybox):
    cpio = initrd.Cpio()
    for path in ("bin", "dev", "proc", "sys"):
        cpio.directory(path)
    cpio.node("dev/console", 5, 1)
    cpio.file("bin/busybox", busybox.read_bytes())
    cpio.file("crashlab.ko", module.read_bytes())
    command = COMMANDS.get(fault, f"(echo {fault} >/proc/crashlab); sleep 2")
    cpio.file("init", INIT.format(command=command).encode())
    return cpio.bytes()


def boot(fault, module, kernel, qemu, busybox):
    with tempfile.NamedTemporaryFile(suffix=".cpio") as disk:
        disk.write(archive(fault, module, busybox))
        disk.flush()
        data = [word for place in qemu.data for word in ("-L", str(place))]
        argv = [qemu.program, *data, "-kernel", kernel.vmlinuz, "-initrd", disk.name, "-append",
                f"console=ttyS0 panic=2 {OPTIONS.get(fault, '')}", "-nographic", "-m", "384",
                "-smp", "2", "-no-reboot", "-cpu", "max", "-net", "none"]
        try:
            ran = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, timeout=PATIENCE, env=qemu.env(),
                                 check=False)
            return ran.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired as late:
            return (late.stdout or b"").decode(errors="replace")


def kept(text):
    """Returns the line with the kernel's version, and all lines after the one that reports the
    loading of the module."""
    lines = [line.rstrip() for line in text.replace("\r", "").splitlines()]
    version = next(line for line in lines if "Linux version" in line)
    first = next(i for i, line in enumerate(lines) if "crashlab: loading" in line)
    last = lines.index("END-OF-RUN") if "END-OF-RUN" in lines else len(lines)
    body = [line for line in lines[first:last] if line.startswith("[")]
    return "\n".join([version, *body[:AROUND]]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", required=True, type=Path)
    parser.add_argument("--kernel", default="6.1", help="name of a kernel in tests/vm/fetch.py")
    parser.add_argument("--to", type=Path, default=ROOT / "tests/triage/logs")
    parser.add_argument("faults", nargs="*")
    options = parser.parse_args()
    source = (ROOT / "tests/triage/crashlab/crashlab.c").read_text()
    faults = options.faults or re.findall(r'\{"(\w+)", lab_', source)
    kernel = fetch.kernel(options.kernel)
    qemu, busybox = fetch.qemu(kernel.arch), fetch.busybox(kernel.arch)
    for fault in faults:
        text = kept(boot(fault, options.module, kernel, qemu, busybox))
        (options.to / f"{options.kernel}_{fault}.log").write_text(text)
        print(f"# {fault}: {len(text.splitlines())} lines", flush=True)


if __name__ == "__main__":
    main()
