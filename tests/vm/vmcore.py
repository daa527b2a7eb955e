#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `triage` on memory dumps of guests whose kernel crashed. Prints TAP.

A guest starts the flight recorder and loads the broken driver, which crashes the kernel. QEMU then
dumps the guest's memory, as an ELF file and as compressed files. makedumpfile thins the ELF file as
kdump does: it omits free pages, caches and user memory. `triage` must give the same verdict for each
dump as for the log of the guest's console, and find the records of the flight recorder's BPF map.

usage: vmcore.py [--kernels 6.1,6.12,newest] [--faultscope PATH] [--reader PATH] [--keep DIR]

--faultscope is a static program, which runs in the guests. --reader is the program that reads the
dumps: the static program lacks libkdumpfile. With --keep, the dumps stay in DIR.
"""
import argparse
import json
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/vm"), str(ROOT / "tools")]

import blackbox  # noqa: E402
import driver  # noqa: E402
import fetch  # noqa: E402
import pressure  # noqa: E402
from aptroot import Missing  # noqa: E402

KEYS = ("kind", "mechanism", "access", "address", "function", "module", "culprit", "bucket",
        "exact_hash", "stack_hash")
# Options of makedumpfile: zlib, LZO, not compressed, and ELF.
THINNED = {"zlib": ("-c", "-d", "31"), "lzo": ("-l", "-d", "31"), "plain": ("-d", "31"),
           "elf": ("-E", "-d", "31")}
# The driver is loaded after the recorder has begun to write.
INIT = blackbox.INIT.partition("exec >/dev/ttyS1")[0] + """exec >/dev/ttyS1 2>&1
faultscope blackbox run --ring /disk/ring --ring-size 256K --keep file,map --heartbeat 1 &
until faultscope blackbox status --ring /disk/ring >/run/status 2>&1; do usleep 200000; done
insmod /crashlab.ko
sleep 2
echo mmio_late >/proc/crashlab
"""
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")


class Machine(blackbox.Machine):
    def dumps(self, to):
        """Boots until the kernel hangs in its panic. Returns {name: dump} of QEMU's dumps."""
        blackbox.disk_make(self.dir / "disk")
        (self.dir / "initrd").write_bytes(self.archive(INIT))
        # With this device, the guest tells QEMU where VMCOREINFO is, which makedumpfile needs.
        process = self.popen(f"{blackbox.RAMOOPS} panic=0", "-device", "vmcoreinfo")
        made = {"elf": to / "qemu.elf", "zlib": to / "qemu.zlib"}
        try:
            blackbox.wait_until(lambda: "end Kernel panic" in (self.dir / "console").read_text(
                errors="replace"), blackbox.BOOT_PATIENCE, "the panic")
            self.monitor("stop", f"dump-guest-memory {made['elf']}",
                         f"dump-guest-memory -z -R {made['zlib']}")
        finally:
            process.kill()
            process.wait()
        shutil.copy(self.dir / "console", to / "console")
        return made


def for_makedumpfile(path):
    """makedumpfile expects the program headers behind the ELF header. QEMU writes section headers
    there, which are moved away."""
    with open(path, "r+b") as file:
        fields = list(HEADER.unpack(file.read(HEADER.size)))
        file.seek(fields[5])
        headers = file.read(fields[9] * fields[10])
        fields[5], fields[6], fields[8], fields[12], fields[13] = HEADER.size, 0, HEADER.size, 0, 0
        file.seek(0)
        file.write(HEADER.pack(*fields) + headers)


def thinned(path, to):
    """Yields (name, dump) for each way in which makedumpfile thins a dump, and None for the dump if
    makedumpfile does not know this kernel."""
    for name, options in THINNED.items():
        made = to / f"makedumpfile.{name}"
        ran = subprocess.run(["makedumpfile", *options, path, made], capture_output=True, text=True,
                             check=False)
        yield f"makedumpfile {' '.join(options)}", made if not ran.returncode else None


def verdict_of(program, path):
    ran = subprocess.run([program, "triage", "--json", path], capture_output=True, text=True,
                         check=False)
    return json.loads(ran.stdout) if ran.returncode == 3 else {"error": ran.stderr[-300:]}


def records_of(program, path):
    ran = subprocess.run([program, "blackbox", "read", "--json", path], capture_output=True,
                         text=True, check=False)
    return [one for one in map(json.loads, ran.stdout.splitlines()) if one["type"] == "blackbox"]


def judge(program, path, want):
    """Yields what is wrong with the verdict and the records of a dump."""
    said = verdict_of(program, path)
    for key in KEYS:
        if said.get(key) != want.get(key):
            yield f"{key}: {said.get(key)!r}, not {want.get(key)!r} {said.get('error', '')}"
    records = records_of(program, path)
    if not any("event=loaded module=crashlab" in one["text"] for one in records):
        yield f"no record of the module among {len(records)} records"
    if not any(one["class"] == "fault" for one in records):
        yield "no record of the fault"


def test(tap, name, options, to):
    machine = None
    try:
        kernel = fetch.kernel(name)
        blackbox.MODULES = (*blackbox.MODULES, "qemu_fw_cfg")
        machine = Machine(kernel, options.faultscope,
                          driver.module(name, ROOT / "tests/triage/crashlab"))
        made = machine.dumps(to)
    except Missing as reason:
        tap.say(f"{name}: dumps of memory", skip=str(reason)[:200])
        return
    finally:
        if machine:
            machine.close()
    want = verdict_of(options.reader, to / "console")
    tap.say(f"{name}: the console's log has the crash",
            [] if want.get("culprit") == "crashlab" else [str(want)[:300]])
    for form, path in made.items():
        tap.say(f"{name}: QEMU's dump, {form}", list(judge(options.reader, path, want)))
    if not shutil.which("makedumpfile"):
        tap.say(f"{name}: makedumpfile", skip="makedumpfile is missing")
        return
    for_makedumpfile(made["elf"])
    for form, path in thinned(made["elf"], to):
        if path:
            size = path.stat().st_size * 100 // made["elf"].stat().st_size
            print(f"# {name}: {form}: {size} % of the memory")
            tap.say(f"{name}: {form}", list(judge(options.reader, path, want)))
        else:
            tap.say(f"{name}: {form}", skip="makedumpfile does not know this kernel")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", default="6.1,6.12,newest")
    parser.add_argument("--faultscope", type=Path, default=ROOT / "build/static/faultscope")
    parser.add_argument("--reader", type=Path, default=ROOT / "build/faultscope")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the dumps in this directory")
    options = parser.parse_args()
    tap = pressure.e2e_tap()
    for name in options.kernels.split(","):
        with tempfile.TemporaryDirectory(prefix="faultscope-vmcore-") as place:
            to = Path(place)
            try:
                test(tap, name, options, to)
            except blackbox.TooLong as reason:
                tap.say(f"{name}: a guest", [str(reason)])
            if options.keep:
                shutil.copytree(to, options.keep / name, dirs_exist_ok=True)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
