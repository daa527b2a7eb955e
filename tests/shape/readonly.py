#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that BPF programs only observe. Prints TAP.

BPF objects may call only allowed helpers, and may contain only allowed program types. They must not
pin anything, so that nothing outlives the process.

usage: readonly.py OBJECT...
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(1, str(ROOT / "tests/e2e"))

from bpf_object import Object  # noqa: E402
from harness import Skip  # noqa: E402
from run import Tap  # noqa: E402

# Helpers that read kernel data, or write to the program's own maps, ring buffers and iterator files.
HELPERS = set("""map_lookup_elem map_update_elem map_delete_elem task_storage_get
    task_storage_delete seq_write ringbuf_output ringbuf_reserve ringbuf_submit ringbuf_discard ringbuf_query
    ktime_get_ns ktime_get_boot_ns get_prandom_u32 get_smp_processor_id get_current_pid_tgid
    get_attach_cookie get_current_comm get_current_task get_current_task_btf get_stack task_pt_regs loop
    probe_read_user probe_read_kernel probe_read_user_str probe_read_kernel_str""".split())
# Helper with which the flight recorder writes to its own trace instance.
MORE = {"blackbox.bpf.o": {"trace_vprintk"}}
# Helpers that change the kernel or other processes; none may be in HELPERS or MORE.
CHANGING = {"probe_write_user", "override_return", "send_signal", "send_signal_thread",
            "sys_bpf", "sys_close", "set_retval", "sysctl_set_new_value", "redirect"}
FUNCTIONS = {"bpf_rcu_read_lock", "bpf_rcu_read_unlock", "bpf_iter_task_new", "bpf_iter_task_next",
             "bpf_iter_task_destroy", "bpf_rdonly_cast"}
# Section prefixes of program types that observe events and cannot decide their outcome.
KINDS = {"tp_btf", "raw_tp", "tp", "tracepoint", "fentry", "fexit", "kprobe", "kretprobe",
         "kretprobe.multi", "perf_event", "iter", "syscall", ".text"}
DEFINITIONS = Path("/usr/include/bpf/bpf_helper_defs.h")
NUMBERS = ROOT / "bpf/wire_functions.h"
PIN = re.compile(r"LIBBPF_PIN|bpf_obj_pin|bpf_(?:map|link|program|object)__pin|BPF_OBJ_PIN")

def helper_names():
    if not DEFINITIONS.exists():
        raise Skip(f"{DEFINITIONS} is missing")
    text = DEFINITIONS.read_text(encoding="utf-8")
    return {int(number): name for name, number in
            re.findall(r"\(\* ?(?:const )?bpf_(\w+)\)\(.*?\) = \(void \*\) ?(\d+);", text)}


def numbered_functions():
    """Returns {number: name} of the kernel's functions that programs call by a number."""
    text = NUMBERS.read_text(encoding="utf-8")
    first, = re.findall(r"^#define KERNEL_FUNCTION_FIRST (\w+)$", text, re.M)
    return dict(enumerate(re.findall(r"^\tX\((\w+)\)", text, re.M), int(first, 0)))


def check_helpers(check, path):
    names = helper_names()
    check.that(CHANGING <= set(names.values()), CHANGING - set(names.values()))
    called = {names.get(number, f"helper {number}") for number in Object(path).helpers()
              if number not in numbered_functions()}
    check.that(len(called) > 5, f"only {called} are called")
    allowed = HELPERS | MORE.get(Path(path).name, set())
    check.equal("helpers that are on the list and change others", allowed & CHANGING, set())
    check.equal("helpers that are not on the list", called - allowed, set())


def check_kinds(check, path):
    obj = Object(path)
    check.equal("kinds of programs", {name.lstrip("?").split("/")[0] for name in obj.code} - KINDS,
                set())
    functions = numbered_functions()
    called = {functions[number] for number in obj.helpers() if number in functions}
    check.equal("functions of the kernel",
                called | {name for name in obj.wanted if name}, FUNCTIONS & called)


def check_pins(check):
    found = [str(path.relative_to(ROOT)) for room in ("src", "bpf")
             for path in sorted((ROOT / room).rglob("*.[ch]"))
             if PIN.search(path.read_text(encoding="utf-8"))]
    check.equal("pins", found, [])


def main():
    tap = Tap()
    for path in sys.argv[1:]:
        name = Path(path).name
        tap.test(f"{name} calls only what reads, or writes to its own maps", check_helpers, path)
        tap.test(f"{name} is told, and decides nothing", check_kinds, path)
    tap.test("no map, link or program is pinned", check_pins)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
