# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Delay accounting: how long the threads of a process waited. For each thread that ends, the kernel
reports the delays through taskstats (linux/taskstats.h)."""
import collections
import contextlib
import os
import socket
import struct
import threading

SWITCH = "/proc/sys/kernel/task_delayacct"
SO_RCVBUFFORCE = 33  # socket option from asm-generic/socket.h
NETLINK_GENERIC, CTRL_ID, CTRL_GETFAMILY, CTRL_FAMILY_ID, CTRL_FAMILY_NAME = 16, 16, 3, 1, 2
REQUEST = 1
GET, TGID, REGISTER, DEREGISTER = 1, 2, 3, 4
STATS, AGGR_PID, AGGR_TGID = 3, 4, 5
# Offsets in struct taskstats. Later versions of the struct only append members, except version 15,
# which the tests do not support.
TGID_AT, SINCE, MOVED = 368, 12, 15
DELAYS = {"blkio": 40, "swapin": 56, "freepages": 320, "thrashing": 336, "compact": 360}


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def attributes(data):
    at = 0
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("=HH", data, at)
        if size < 4:
            return
        yield kind & 0x3fff, data[at + 4:at + size]
        at += size + -size % 4


def messages(data):
    """Yields (type, payload after the generic netlink header) of each message."""
    at = 0
    while at + 20 <= len(data):
        size, kind = struct.unpack_from("=IH", data, at)
        yield kind, data[at + 20:at + size]
        at += max(16, size + -size % 4)


class Taskstats:
    """A netlink socket to taskstats."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        self.family = CTRL_ID
        self.send(CTRL_GETFAMILY, attribute(CTRL_FAMILY_NAME, b"TASKSTATS\0"))
        family = dict(attributes(next(self.answers())))[CTRL_FAMILY_ID]
        self.family = struct.unpack("=H", family[:2])[0]

    def send(self, command, payload):
        body = struct.pack("=BBH", command, 1, 0) + payload
        self.socket.send(struct.pack("=IHHII", 16 + len(body), self.family, REQUEST, 0, 0) + body)

    def answers(self):
        return (body for kind, body in messages(self.socket.recv(65536)) if kind == self.family)

    def stats(self, sort):
        """Yields the struct taskstats of each netlink message that has this attribute."""
        for body in self.answers():
            found = dict(attributes(dict(attributes(body)).get(sort, b""))).get(STATS, b"")
            version = struct.unpack_from("=H", found)[0] if found else 0
            if version >= SINCE and version != MOVED:
                yield found


def delays_of(stats):
    return collections.Counter({name: struct.unpack_from("=Q", stats, at)[0]
                                for name, at in DELAYS.items()})


class Listener(threading.Thread):
    """Adds up the delays in ns of threads that ended, by process."""

    def __init__(self):
        super().__init__(daemon=True)
        self.of = collections.defaultdict(collections.Counter)
        self.kernel, self.over = Taskstats(), threading.Event()
        with open("/sys/devices/system/cpu/possible", "rb") as file:
            self.cpus = file.read().strip() + b"\0"
        self.kernel.send(GET, attribute(REGISTER, self.cpus))
        self.kernel.socket.settimeout(0.2)
        self.start()

    def now(self, pid):
        """Returns the delays in ns of the living threads of a process."""
        kernel = Taskstats()
        kernel.send(GET, attribute(TGID, struct.pack("=I", pid)))
        told = [delays_of(stats) for stats in kernel.stats(AGGR_TGID)]
        kernel.socket.close()
        return told[0]

    def run(self):
        while not self.over.is_set():
            with contextlib.suppress(TimeoutError):
                for stats in self.kernel.stats(AGGR_PID):
                    self.of[struct.unpack_from("=I", stats, TGID_AT)[0]].update(delays_of(stats))

    def stop(self):
        self.over.set()
        self.join()
        self.kernel.send(GET, attribute(DEREGISTER, self.cpus))
        self.kernel.socket.close()


@contextlib.contextmanager
def delays():
    """Yields a Listener for threads that end during the context. Yields None if the kernel has no
    delay accounting."""
    if not os.path.exists(SWITCH):
        yield None
        return
    with open(SWITCH, encoding="ascii") as file:
        before = file.read()
    listener = None
    try:
        with open(SWITCH, "w", encoding="ascii") as file:
            file.write("1")
        listener = Listener()
    except (OSError, KeyError, StopIteration):
        pass
    try:
        yield listener
    finally:
        if listener:
            listener.stop()
        with contextlib.suppress(OSError), open(SWITCH, "w", encoding="ascii") as file:
            file.write(before)
