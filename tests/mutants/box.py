# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where changed programs run: what a wrong condition does there must harm nobody else.

Where root starts the tests, they run as nobody, without a way back (no_new_privs). So they can
change no file of others, no device and no setting, and can signal nobody else's process. A live test
has, besides, the capabilities to load BPF programs, which the kernel verifies, and to read other
processes. All are in a control group that limits memory, that of BPF maps included; what a test
leaves behind in it is killed.
"""
import os
import resource
import signal
import time
from pathlib import Path

NOBODY = "65534"
LIVE = ("bpf", "perfmon", "sys_ptrace", "dac_read_search", "syslog", "setpcap")
MOST_MEMORY, MOST_FILE, MOST_PROCESSES = 6 << 30, 8 << 30, 8192
MOST_OF_ALL = 8 << 30  # bytes of all processes and BPF maps of a test
GROUPS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))


def limit_own():
    """In the child: what a change lets run away, memory or a file, ends the test alone."""
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
        """Maps of the kernel side count as memory of a control group alone."""
        return bool(self.group)

    def argv(self, argv, live):
        if not self.is_root:
            return argv
        mine = "".join(f",+{name}" for name in LIVE) if live else ""
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                "--no-new-privs", f"--inh-caps=-all{mine}", f"--ambient-caps=-all{mine}",
                f"--bounding-set=-all{mine}", "--", *argv]

    def enter(self):
        """In the child, before it becomes the program."""
        limit_own()
        if self.group:
            (self.group / "cgroup.procs").write_text("0")

    def empty(self):
        """Kills what a test left behind."""
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
