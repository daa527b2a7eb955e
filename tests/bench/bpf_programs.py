# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Lists the loaded BPF programs that run at events, and waits until a tool is detached."""
import contextlib
import ctypes
import glob
import os
import platform
import struct
import time

SYS_BPF = {"x86_64": 321, "aarch64": 280}.get(platform.machine())
# commands of bpf(2)
BPF_PROG_GET_NEXT_ID, BPF_PROG_GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD = 11, 13, 15
# Types of BPF programs that run at events: kprobe, tracepoint, perf event, raw tracepoint (two
# types), tracing, LSM.
AT_EVENTS = {2, 5, 7, 17, 24, 26, 29}
INFO_BYTES, NAME_AT = 80, 64  # of struct bpf_prog_info: the part up to the name
LIBC = ctypes.CDLL(None, use_errno=True)
KEEPER = "faultscope-keep"
DETACH_SECONDS = 20


def _bpf(command, attr):
    buffer = ctypes.create_string_buffer(attr, 128)
    result = LIBC.syscall(SYS_BPF, command, buffer, len(attr))
    return result, buffer.raw


def _name_at_events(number):
    """Returns the name of a program that runs at events; None for other programs."""
    fd, _ = _bpf(BPF_PROG_GET_FD_BY_ID, struct.pack("<III", number, 0, 0))
    if fd < 0:
        return None
    try:
        info = ctypes.create_string_buffer(INFO_BYTES)
        result, _ = _bpf(BPF_OBJ_GET_INFO_BY_FD,
                         struct.pack("<IIQ", fd, INFO_BYTES, ctypes.addressof(info)))
    finally:
        os.close(fd)
    if result < 0 or struct.unpack_from("<I", info.raw)[0] not in AT_EVENTS:
        return None
    return info.raw[NAME_AT:].split(b"\0")[0].decode(errors="replace") or "a program without a name"


def programs_at_events():
    """Returns {id: name} of all loaded BPF programs that run at events."""
    found, number = {}, 0
    while SYS_BPF:
        result, attr = _bpf(BPF_PROG_GET_NEXT_ID, struct.pack("<III", number, 0, 0))
        if result < 0:
            break
        number = struct.unpack_from("<I", attr, 4)[0]
        name = _name_at_events(number)
        if name:
            found[number] = name
    return found


def _keepers():
    """Returns the pids of processes that remove the tracepoints of a faultscope that has ended."""
    found = set()
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
            if f"({KEEPER}) " in text and f"({KEEPER}) Z" not in text:
                found.add(int(text.split()[0]))
    return found


class Attached:
    """Knows what was attached to events before a tool started: BPF programs, and tracepoints."""

    def __init__(self):
        self.before = self._now()

    @staticmethod
    def _now():
        return {*programs_at_events(), *(("keeper", pid) for pid in _keepers())}

    def wait_until_detached(self):
        """Waits until the kernel has removed what was attached since. This takes seconds after
        `faultscope -p`: the process faultscope-keep, which does it, ends last. If others attach
        something meanwhile, gives up after a time: Others.look() then reports it."""
        give_up = time.monotonic() + DETACH_SECONDS
        while self._now() - self.before and time.monotonic() < give_up:
            time.sleep(0.02)
