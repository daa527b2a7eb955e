# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A test machine made of namespaces. Its root is an overlay over this machine's root, and systemd
is its process 1."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deployed import PATIENCE, call
from harness import ROOT, Skip
from systemd_machine import SystemdMachine

GET = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=30).read().decode())"


def hierarchy():
    """Returns the mount point of a writable cgroup v2 hierarchy."""
    found = re.search(r"^\S+ \S+ \S+ / (\S+) .* - cgroup2 ", Path("/proc/self/mountinfo").read_text(
        encoding="utf-8"), re.M)
    if not found or not os.access(found[1], os.W_OK):
        raise Skip("there is no control group of version 2 to be written to")
    return Path(found[1])


class Machine(SystemdMachine):
    """Runs systemd as process 1 of new namespaces. The namespaces end with the context."""
    patience = PATIENCE
    pause = 0.1
    reader = sys.executable, "-c", GET

    def __init__(self, program, units, *wanted):
        """Installs `program` and the unit files of directory `units` in the test machine. An
        argument None keeps what the host has installed."""
        for need in ("unshare", "nsenter", "setpriv", "/lib/systemd/systemd"):
            if not shutil.which(need):
                raise Skip(f"{need} is missing")
        if os.geteuid() or "\toverlay\n" not in Path("/proc/filesystems").read_text():
            raise Skip("needs root and overlayfs")
        self.group = hierarchy() / f"faultscope-test-{os.getpid()}"
        self.place = tempfile.TemporaryDirectory()
        self.group.mkdir()
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--fork",
             "--kill-child", ROOT / "tests/deploy/boot.sh", self.place.name, program or "",
             units or "", *wanted],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=self.enter)
        self.first = None

    def __enter__(self):
        return self

    def enter(self):
        (self.group / "cgroup.procs").write_text("0", encoding="ascii")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                for path in sorted(self.group.rglob("*"), reverse=True):
                    if path.is_dir():
                        path.rmdir()
                self.group.rmdir()
                break
            except OSError:
                time.sleep(0.1)  # rmdir() of the cgroup fails until its processes have ended
        self.place.cleanup()

    def inside(self, *argv):
        """Runs a command in the namespaces of the machine."""
        return call("nsenter", "-t", self.first, "-m", "-p", "-n", "-i", "-u", "-C", "-r", "-w",
                    *argv)

    def wait_for(self, what, is_there):
        def is_there_or_never():
            found = is_there()
            if not found and self.process.poll() is not None:
                raise AssertionError(f"it has ended: {self.process.stderr.read()}")
            return found

        return super().wait_for(what, is_there_or_never)

    def boot(self):
        init = self.group / "init.scope/cgroup.procs"
        self.first = self.wait_for("process 1", lambda: init.exists()
                                   and init.read_text().split())[0]
        self.wait_for("systemctl", lambda: not self.inside("systemctl", "list-units").returncode)

    def main_pid(self, unit):
        """Returns the main pid of a unit in the host's pid namespace."""
        return (self.group / "system.slice" / unit / "cgroup.procs").read_text().split()[0]
