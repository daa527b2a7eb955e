# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The units as systemd runs them, booted in namespaces of its own over this machine's root."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deployed import DEPLOY, PATIENCE, borrowed, call
from harness import FAULTSCOPE, ROOT, Skip

EXPORTER = "faultscope-exporter.service"
TEXTFILE = "faultscope-textfile.service"
DYNAMIC_UIDS = range(61184, 65520)  # of DynamicUser=
GET = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=30).read().decode())"


def hierarchy():
    """Where control groups of version 2 are, and can be made."""
    found = re.search(r"^\S+ \S+ \S+ / (\S+) .* - cgroup2 ", Path("/proc/self/mountinfo").read_text(
        encoding="utf-8"), re.M)
    if not found or not os.access(found[1], os.W_OK):
        raise Skip("there is no control group of version 2 to be written to")
    return Path(found[1])


class Machine:
    """systemd as process 1 of namespaces; ends with them."""

    def __init__(self, *units):
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
             "--kill-child", ROOT / "tests/deploy/boot.sh", self.place.name, FAULTSCOPE,
             DEPLOY / "systemd", *units],
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
                time.sleep(0.1)  # processes that are ending
        self.place.cleanup()

    def inside(self, *argv):
        """Runs a command beside process 1."""
        return call("nsenter", "-t", self.first, "-m", "-p", "-n", "-i", "-u", "-C", "-r", "-w",
                    *argv)

    def wait_for(self, what, is_there):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = is_there()
            if found:
                return found
            if self.process.poll() is not None:
                raise AssertionError(f"it has ended: {self.process.stderr.read()}")
            time.sleep(0.1)
        raise AssertionError(f"after {PATIENCE} s, not yet: {what}")

    def boot(self):
        init = self.group / "init.scope/cgroup.procs"
        self.first = self.wait_for("process 1", lambda: init.exists()
                                   and init.read_text().split())[0]
        self.wait_for("systemctl", lambda: not self.inside("systemctl", "list-units").returncode)

    def is_active(self, unit):
        return self.inside("systemctl", "is-active", unit).stdout.strip() == "active"

    def main_pid(self, unit):
        """As seen from out here."""
        return (self.group / "system.slice" / unit / "cgroup.procs").read_text().split()[0]

    def page(self, path):
        return self.inside(sys.executable, "-c", GET, f"http://127.0.0.1:10435{path}").stdout


def status_of(pid):
    return dict(re.findall(r"^(\w+):\s+(.*)$", Path(f"/proc/{pid}/status").read_text(), re.M))


def judge_rights(check, machine):
    pid = machine.main_pid(EXPORTER)
    status = status_of(pid)
    check.that(int(status["Uid"].split()[0]) in DYNAMIC_UIDS, f"Uid {status['Uid']}")
    for name in ("CapPrm", "CapEff", "CapAmb"):
        check.equal(name, int(status[name], 16), 0)
    check.equal("NoNewPrivs, Seccomp", (status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
    networks = [os.readlink(f"/proc/{one}/ns/net") for one in (pid, machine.first)]
    check.that(networks[0] != networks[1], "it has the network of the machine")


def judge_page(check, page):
    told = dict(re.findall(r"^(faultscope_\S+) (\S+)$", page, re.M))
    check.equal("faultscope_up", told.get("faultscope_up"), "1")
    for name in ("processes", "faults", "signals"):
        check.equal(name, told.get(f'faultscope_collector_enabled{{collector="{name}"}}'), "1")


def test_systemd_runs_the_exporter_as_its_unit_says(check):
    """Scraped through the socket, without a capability or a network; reloaded; restarted."""
    with Machine("faultscope-exporter.socket", EXPORTER) as machine:
        machine.boot()
        machine.wait_for("the exporter", lambda: machine.is_active(EXPORTER))
        machine.wait_for("an answer", lambda: machine.page("/-/ready"))
        judge_page(check, machine.page("/metrics"))
        judge_rights(check, machine)
        pid = machine.main_pid(EXPORTER)
        check.equal("reload", machine.inside("systemctl", "reload", EXPORTER).returncode, 0)
        judge_page(check, machine.page("/metrics"))
        check.equal("pid after the reload", machine.main_pid(EXPORTER), pid)
        check.equal("stop", machine.inside("systemctl", "stop", EXPORTER).returncode, 0)
        judge_page(check, machine.page("/metrics"))  # the socket starts it again
        check.that(machine.main_pid(EXPORTER) != pid, "it was not stopped")


def test_systemd_writes_the_textfile(check):
    promtool = borrowed("promtool")
    with Machine("basic.target") as machine:
        machine.boot()
        ran = machine.inside("systemctl", "start", TEXTFILE)
        check.equal("start", (ran.returncode, ran.stderr), (0, ""))
        path = Path(f"/proc/{machine.first}/root/var/lib/prometheus/node-exporter/faultscope.prom")
        check.equal("mode", oct(path.stat().st_mode & 0o777), "0o644")
        page = path.read_text(encoding="utf-8")
    judge_page(check, page)
    ran = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True, text=True,
                         check=False)
    check.equal("promtool", (ran.returncode, ran.stdout + ran.stderr), (0, ""))
