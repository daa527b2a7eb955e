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


def programs_of(pid):
    """Returns the ids of the BPF programs that a process holds or has attached."""
    found = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fdinfo"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/fdinfo/{name}",
                                                    encoding="ascii") as file:
                found |= {int(line.split()[1]) for line in file if line.startswith("prog_id:")}
    return found


def _keepers():
    """Returns the pids of processes of this session that remove the tracepoints of a faultscope that
    has ended."""
    found = set()
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            before, _, after = file.read().rpartition(") ")
            state, _, _, session = after.split()[:4]
            if before.endswith(f"({KEEPER}") and state != "Z" and int(session) == os.getsid(0):
                found.add(int(before.split()[0]))
    return found


class Attached:
    """Knows what a tool has attached to events: BPF programs, and tracepoints. It is created before
    the tool starts."""

    def __init__(self):
        self.before, self.programs = _keepers(), set()

    def look(self, pid):
        """Notes which programs the tool has attached. Programs of others do not count."""
        self.programs |= programs_of(pid)

    def _is_left(self):
        return _keepers() - self.before or self.programs & programs_at_events().keys()

    def wait_until_detached(self):
        """Waits until the kernel has removed all of it, after the tool has ended. This takes seconds
        after `faultscope -p`: the process faultscope-keep, which does it, ends last. Gives up after
        a time: Others.look() then reports what is left."""
        give_up = time.monotonic() + DETACH_SECONDS
        while self._is_left() and time.monotonic() < give_up:
            time.sleep(0.02)
