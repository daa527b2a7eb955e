# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Confines programs with mutations, so that a wrong condition cannot harm the machine.

If root starts the tests, they run as nobody with no_new_privs. So the tests cannot change files of
other users, devices or settings, nor signal processes of other users. A live test also has two
kinds of capabilities: to load BPF programs, which the kernel verifies, and to read other processes.
A control group limits memory including BPF maps. Processes that a test leaves behind in this
control group are killed.
"""
import os
import resource
import signal
import time
from pathlib import Path

NOBODY = "65534"
LIVE = ("bpf", "perfmon", "sys_ptrace", "dac_read_search", "syslog", "setpcap")
MOST_MEMORY, MOST_FILE, MOST_PROCESSES = 6 << 30, 8 << 30, 8192
MOST_OF_ALL = 8 << 30  # memory limit in bytes for all processes and BPF maps of a test
GROUPS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))


def limit_own(addresses):
    """Sets resource limits in the child, so that runaway memory or files end only the test. The
    address space is limited only if `addresses` is true, since AddressSanitizer reserves terabytes
    of it."""
    if addresses:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_FILE, MOST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (MOST_PROCESSES, MOST_PROCESSES))


class Box:
    def __init__(self):
        self.group = None
        self.is_root = os.geteuid() == 0
        for top, limit in GROUPS if self.is_root else ():
            group = Path(top) / f"faultscope-mutants-{os.getpid()}"
            try:
                group.mkdir()
                if (group / limit).exists():
                    (group / limit).write_text(str(MOST_OF_ALL))
                    self.group = group
                    return
                group.rmdir()
            except OSError:
                continue

    @property
    def may_be_live(self):
        """Returns whether live tests may run. Live tests need a control group that limits the
        memory of BPF maps."""
        return bool(self.group)

    def argv(self, argv, live):
        if not self.is_root:
            return argv
        mine = "".join(f",+{name}" for name in LIVE) if live else ""
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                "--no-new-privs", f"--inh-caps=-all{mine}", f"--ambient-caps=-all{mine}",
                f"--bounding-set=-all{mine}", "--", *argv]

    def enter(self, addresses=True):
        """Confines the child before it executes the program."""
        limit_own(addresses)
        if self.group:
            (self.group / "cgroup.procs").write_text("0")

    def empty(self):
        """Kills processes that a test left behind."""
        end = time.monotonic() + 10
        while self.group and time.monotonic() < end:
            pids = [int(pid) for pid in (self.group / "cgroup.procs").read_text().split()]
            if not pids:
                return
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.01)

    def close(self):
        self.empty()
        if self.group:
            self.group.rmdir()
