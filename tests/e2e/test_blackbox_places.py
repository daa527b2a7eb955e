# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the places for records of the flight recorder, on a machine that is described by files:
what `blackbox arm` says and does, and where `blackbox read` and `status` find records."""
import calendar
import json
import re
import stat
import time

from harness import BUILD
from own_machine import OwnMachine, put

MIB = 1 << 20
GIB = 1 << 30
SPARE = 64 * MIB
EVENTS = ("printk/console", "module/module_load", "module/module_free",
          "error_report/error_report_end", "bpf_trace/bpf_trace_printk")


def rows(text):
    """Parses the output of `blackbox arm`: returns {name: {"state": ..., "survives": ...}}."""
    found, name = {}, None
    for line in text.splitlines():
        more = re.fullmatch(r" {23}(survives|for more|lost): (.*)", line)
        if more and name:
            found[name][more[1]] = more[2]
        elif line[:1].strip():
            name, state = re.match(r"(probe \S+|\S+) +(.*)", line).groups()
            found[name] = {"state": state}
    return found


class Machine(OwnMachine):
    """A machine with a trace instance that survives reboots, and with pstore."""

    def __init__(self, lab):
        super().__init__(lab)
        self.kernel = self.cover("/sys/kernel")
        self.instance = self.kernel / "tracing/instances/boot_map"
        self.sysctl = self.cover("/proc/sys/kernel")
        self.modules = self.cover("/sys/module")
        self.devices = self.cover("/dev")
        put(self.instance, {"trace": "# tracer: nop\n#\n", "trace_marker": "", "tracing_on": "",
                            "last_boot_info": "", **{f"events/{one}/enable": "" for one in EVENTS}})
        put(self.sysctl, {"random/boot_id": "99999999-9999-9999-9999-999999999999\n",
                          "printk_devkmsg": "", "panic_on_oops": "0\n", "panic": "10\n",
                          "hung_task_timeout_secs": "120\n"})
        put(self.modules, {"pstore/parameters/backend": "ramoops\n",
                           "kfence/parameters/sample_interval": "0\n"})
        put(self.kernel, {"kexec_crash_loaded": "1\n"})
        put(self.devices, {"pmsg0": "", "null": ""})
        self.cmdline = self.cover("/proc/cmdline", "quiet slub_debug=FZ page_owner=on x\n")
        self.iomem = self.cover("/proc/iomem", "")

    def armed(self, *options):
        ran = self.faultscope("blackbox", "arm", "--ring", self.lab.dir / "ring", *options)
        assert ran.returncode == 0, f"status {ran.returncode}: {ran.err}"
        return rows(ran.out)

    def instance_is_on(self):
        return self.instance.joinpath("tracing_on").read_text() == "1"


def test_arm_of_a_ready_machine(check, lab):
    machine = Machine(lab)
    (lab.dir / "ring").write_text("")
    found = machine.armed()
    for name, state in {
            "kmsg": "/dev/kmsg; kernel.printk_devkmsg=on", "pmsg": "on", "instance": "on",
            "file": f"{lab.dir / 'ring'}", "map": "with run; kdump is loaded",
            "pstore": "on: ramoops; read by: blackbox read, triage", "kernel.panic_on_oops": "0",
            "kernel.panic": "10", "kfence": "0", "kernel.hung_task_timeout": "120",
            "slub_debug=": "slub_debug=FZ", "page_owner=": "page_owner=on"}.items():
        check.equal(name, found[name]["state"], state)
    check.equal("advice", sorted(name for name, row in found.items() if "for more" in row),
                ["file", "kernel.panic_on_oops", "kfence"])
    check.equal("order", list(found)[:6], ["kmsg", "file", "pmsg", "instance", "map", "pstore"])
    check.that(machine.instance_is_on(), "the instance is off")
    for event in EVENTS:
        check.equal(event, (machine.instance / f"events/{event}/enable").read_text(), "1")
    check.equal("probes", found["probes"]["state"], "this kernel has no BTF: "
                "/sys/kernel/btf/vmlinux is missing (CONFIG_DEBUG_INFO_BTF)")
    survives = {name: row.get("survives") for name, row in found.items()}
    check.equal("survives", survives["pmsg"], "a panic and a warm reboot")
    check.equal("of pstore", survives["pstore"],
                "a panic and a warm reboot: the kernel's log of it")


def test_arm_of_a_bare_machine(check, lab):
    machine = Machine(lab)
    put(machine.modules, {"pstore/parameters/backend": "(null)\n"})
    put(machine.sysctl, {"panic": "0\n", "hung_task_timeout_secs": "0\n",
                         "printk_devkmsg": "off\n"})
    put(machine.kernel, {"kexec_crash_loaded": "0\n"})
    (machine.devices / "pmsg0").unlink()
    (machine.modules / "kfence/parameters/sample_interval").unlink()
    machine.cmdline.write_text("noslub_debug=1 xpage_owner=on\n")
    (machine.instance / "last_boot_info").unlink()
    found = machine.armed("--keep", "file")
    for name, state in {
            "kmsg": "/dev/kmsg; kernel.printk_devkmsg=off", "pmsg": "no /dev/pmsg0",
            "instance": "an instance, but in memory that a reboot clears",
            "file": f"{lab.dir / 'ring'}, made by run",
            "map": "with run; no kdump, so no dump to find it in", "pstore": "no backend",
            "kernel.panic": "0", "kfence": "not in this kernel", "kernel.hung_task_timeout": "0",
            "slub_debug=": "not set", "page_owner=": "not set"}.items():
        check.equal(name, found[name]["state"], state)
    check.equal("advice", {name for name, row in found.items() if "for more" in row},
                set(found) - {"kfence", "probes"})
    check.that(not machine.instance_is_on(), "the instance is on")
    put(machine.modules, {"pstore/parameters/backend": ""})
    check.equal("no backend", machine.armed()["pstore"]["state"], "no backend")


def test_arm_does_only_what_it_is_asked_for(check, lab):
    machine = Machine(lab)
    found = machine.armed("--keep", "map,file")
    check.equal("instance", found["instance"]["state"], "there, and off")
    check.that(not machine.instance_is_on(), "the instance is on")
    check.equal("kmsg", (machine.sysctl / "printk_devkmsg").read_text(), "")
    found = machine.armed("--keep", "kmsg")
    check.equal("only kmsg", (found["kmsg"]["state"], found["instance"]["state"]),
                ("/dev/kmsg; kernel.printk_devkmsg=on", "there, and off"))
    put(machine.kernel / "tracing/instances/mine", {"trace_marker": "", "last_boot_info": "",
                                                    "trace": "", "tracing_on": ""})
    found = machine.armed("--keep", "instance", "--instance", "mine")
    check.equal("another instance", found["instance"]["state"], "on")
    check.that(not machine.instance_is_on(), "the wrong instance is on")
    check.equal("on", (machine.kernel / "tracing/instances/mine/tracing_on").read_text(), "1")
    found = machine.armed("--instance", "none")
    check.equal("no instance", found["instance"]["state"], "no trace instance none")
    (machine.instance / "last_boot_info").rename(machine.instance / "other")
    check.equal("no memory", machine.armed()["instance"]["state"],
                "an instance, but in memory that a reboot clears")


def test_arm_says_why_the_instance_stays_off(check, lab):
    machine = Machine(lab)
    event = machine.instance / "events/module/module_load/enable"
    event.unlink()
    check.equal("an event that is missing", machine.armed()["instance"]["state"], "on")
    (machine.instance / "tracing_on").write_text("")
    event.mkdir()
    found = machine.armed()
    check.equal("an event that fails", found["instance"]["state"],
                "there, and off: Is a directory")
    check.that(not machine.instance_is_on(), "the instance is on")
    event.rmdir()
    (machine.instance / "trace").unlink()
    check.equal("no trace", machine.armed()["instance"]["state"],
                "there, and off: No such file or directory")


def spare(ranges):
    """Returns the address that `arm` should suggest: the last 64 MiB, aligned, of the largest range
    of RAM that ends below 4 GiB."""
    most, best = SPARE, 0
    for start, end in ranges:
        if end < 4 * GIB and end - start >= most:
            most, best = end - start, (end + 1 - SPARE) // SPARE * SPARE
    return best


def test_arm_suggests_an_address(check, lab):
    machine = Machine(lab)
    put(machine.modules, {"pstore/parameters/backend": "(null)\n"})
    for ranges in ([(0, GIB - 1), (2 * GIB, 4 * GIB - 1), (4 * GIB, 64 * GIB - 1)],
                   [(MIB, MIB + SPARE)], [(MIB, MIB + SPARE - 1)], [],
                   [(GIB, 4 * GIB)], [(GIB, 2 * GIB - 1), (2 * GIB, 7 * GIB // 2)],
                   [(0, 2 * GIB - 1), (2 * GIB, 4 * GIB - 1)],
                   [(0, 2 * GIB), (2 * GIB + 5, 4 * GIB - 1)], [(MIB, GIB + 12345)]):
        # an indented line is a part of the range above it
        lines = [f"{start:08x}-{end:08x} : System RAM\n  00000000-eeeeeeee : System RAM\n"
                 for start, end in ranges]
        machine.iomem.write_text(f"00000000-ffffffff : Reserved\n{''.join(lines)}")
        found = machine.armed("--keep", "map", "--instance", "none")
        at = spare(ranges)
        first, second = (f"0x{at:x}", f"0x{at + 16 * MIB:x}") if at else ("ADDRESS", "ADDRESS")
        check.that(f"memmap=12M${first} trace_instance=boot_map@{first}:12M " in
                   found["instance"]["for more"], f"{ranges}: {at:x}: {found['instance']}")
        check.that(f"memmap=1M${second} ramoops.mem_address={second} " in
                   found["pstore"]["for more"], f"{ranges}: {at:x}: {found['pstore']}")


# ---- records ----

def boots_of(lab, seed=1, count=10):
    """Writes records of three boots. Returns the ring file, and the same records as a trace."""
    ring, log = lab.dir / f"ring{seed}", lab.dir / f"log{seed}"
    assert lab.call(BUILD / "ring_writer", seed, count, ring, log).returncode == 0
    text = log.read_text(errors="replace")
    trace = "".join(f"  <...>-1 [000] d..1. {i}.000000: tracing_mark_write: "
                    f"{line[line.index('faultscope: '):]}\n"
                    for i, line in enumerate(text.splitlines()) if "faultscope: " in line)
    return ring, f"# tracer: nop\n#\n{trace}"


def test_arm_saves_the_trace_of_the_boot_before(check, lab):
    machine = Machine(lab)
    _, trace = boots_of(lab)
    boot_id = machine.sysctl / "random/boot_id"
    saved = lab.dir / "ring.trace"
    for name, text, boot, wanted in (
            ("the boot before", trace, "99999999-9999-9999-9999-999999999999", True),
            ("this boot too", trace, "12121212-1212-1212-1212-121212121212", False),
            ("an unknown boot", trace, "", False),
            ("no boot id", trace, "12121212", False),
            ("no record", "# tracer: nop\n#\n", "99999999-9999-9999-9999-999999999999", False)):
        (machine.instance / "trace").write_text(text)
        boot_id.write_text(f"{boot}\n")
        check.equal(f"{name}: state", machine.armed()["instance"]["state"], "on")
        if check.equal(f"{name}: saved", saved.exists(), wanted) and wanted:
            check.equal(f"{name}: text", saved.read_text(), text)
            check.equal(f"{name}: mode", stat.S_IMODE(saved.stat().st_mode), 0o600)
        saved.unlink(missing_ok=True)
    boot_id.write_text("99999999-9999-9999-9999-999999999999\n")
    (machine.instance / "trace").write_text(trace)
    (machine.instance / "tracing_on").write_text("")
    ran = machine.faultscope("blackbox", "arm", "--ring", lab.dir / "none/ring")
    check.equal("a place that is missing", rows(ran.out)["instance"]["state"],
                "there, and off: No such file or directory")
    check.that(not machine.instance_is_on(), "the trace is lost")


def found_by(ran):
    """Returns the number of records and the boot ids in the output of `blackbox read --json`."""
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert lines and lines[-1]["type"] == "blackbox_end", f"{ran.out}{ran.err}"
    return len(lines) - 1, [one["boot_id"] for one in lines[-1]["boots"]]


def test_records_are_found_wherever_they_survive(check, lab):
    machine = Machine(lab)
    pstore = machine.cover("/sys/fs/pstore")
    saved = machine.cover("/var/lib")
    ring, trace = boots_of(lab)
    wanted = found_by(lab.faultscope("blackbox", "read", "--json", ring))
    check.equal("boots", [one[:2] for one in wanted[1]], ["10", "11", "12"])
    words = ("blackbox", "read", "--json", "--ring", lab.dir / "ring")
    nothing = machine.faultscope(*words)
    check.that(nothing.returncode == 7 and "nothing was read" in nothing.err, nothing.err)
    (machine.instance / "trace").unlink()
    nothing = machine.faultscope(*words)
    check.equal("nothing is there", (nothing.returncode, nothing.err.splitlines()[0]),
                (1, f"faultscope: nothing survived here: no {lab.dir / 'ring'}, nothing in pstore, "
                    "no trace instance"))
    places = {"ring": lab.dir / "ring", "a saved trace": lab.dir / "ring.trace",
              "pstore": pstore / "pmsg-ramoops-0", "systemd's pstore":
              saved / "systemd/pstore/1/pmsg", "the instance": machine.instance / "trace"}
    for name, path in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if name == "ring":
            path.write_bytes(ring.read_bytes())
        else:
            path.write_text(trace)
        check.equal(name, found_by(machine.faultscope(*words)), wanted)
        path.unlink()
    (saved / "faultscope").mkdir()
    (saved / "faultscope/blackbox.ring").write_bytes(ring.read_bytes())
    check.equal("the default", found_by(machine.faultscope("blackbox", "read", "--json")), wanted)
    put(machine.kernel / "tracing/instances/mine", {"trace": trace})
    check.equal("an instance", found_by(machine.faultscope(*words, "--instance", "mine")), wanted)


def test_status_tells_of_the_last_boot(check, lab):
    ring, _ = boots_of(lab, count=40)
    out = lab.faultscope("blackbox", "read", "--json", ring).out
    beat = [json.loads(line) for line in out.splitlines() if '"class":"heartbeat"' in line][-1]
    check.equal("boot", beat["boot_id"][:2], "12")
    words = dict(word.split("=", 1) for word in beat["text"].split())
    ran = lab.faultscope("blackbox", "status", "--ring", ring)
    age = time.time() - calendar.timegm(time.strptime(beat["time"][:19], "%Y-%m-%dT%H:%M:%S"))
    said = re.match(r"last sign of life (\d+) s ago(; ended in order)?\n", ran.out)
    if check.that(said, ran.out):
        check.between("age", int(said[1]), age - 60, age + 2)
        check.equal("the last boot did not end", said[2], None)
    check.that(f"cpu_ms={words['cpu_ms']}" in ran.out, ran.out)
    lost = [f"lost: {words[key]} record{'' if words[key] == '1' else 's'} {what}" for key, what in (
        ("dropped.fault", "of class fault"), ("failed.kmsg", "that kmsg could not keep"))
        if words.get(key, "0") != "0"]
    check.equal("status", ran.returncode, 7 if lost else 0)
    check.equal("losses", [one for one in lost if one not in ran.err], [])
    check.that("[K01 " in ran.out, "no finding of the last boot")
    none = lab.faultscope("blackbox", "status", "--ring", lab.dir / "none")
    check.equal("no ring", (none.returncode, none.out, none.err),
                (1, "", "faultscope: no recorder has written here: cannot read "
                        f"{lab.dir / 'none'}: No such file or directory\n"
                        "  try:  faultscope blackbox run\n"))
    (lab.dir / "noise").write_bytes(b"\0noise" * 900)
    none = lab.faultscope("blackbox", "status", "--ring", lab.dir / "noise")
    check.equal("no record", (none.returncode, none.out, none.err),
                (1, "", f"faultscope: {lab.dir / 'noise'} holds no record\n"))
    none = lab.faultscope("blackbox", "fly")
    check.equal("no such action", (none.returncode, none.err.splitlines()[0]),
                (2, "faultscope: blackbox fly: not understood"))
