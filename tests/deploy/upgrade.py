#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Upgrades, downgrades, removes and purges the Debian packages under a booted systemd. Prints TAP.

usage: upgrade.py EARLIER LATER

EARLIER and LATER are directories that `tools/deb.sh` filled with two versions of the packages. The
test machine consists of namespaces over this machine's root (booted.py).
"""
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "e2e"), str(HERE.parents[1] / "tools")]

from booted import Machine  # noqa: E402
from packages import packages  # noqa: E402
from run import Tap  # noqa: E402

SOCKET, EXPORTER = "faultscope-exporter.socket", "faultscope-exporter.service"
RECORDER = "faultscope-blackbox.service"
UNITS = SOCKET, EXPORTER, RECORDER
PROGRAM, SERVICE = "faultscope", "faultscope-exporter"
# Drop-in that replaces the flight recorder by `sleep`. The test only needs a running unit; the
# flight recorder itself would need its own kernel log and tracefs.
IDLE = "[Service]\nExecStart=\nExecStart=/bin/sleep infinity\n"


class Host(Machine):
    """A machine with the packages of both versions."""

    def boot(self):
        super().boot()
        self.root = Path(f"/proc/{self.first}/root")
        for place, where in (("earlier", sys.argv[1]), ("later", sys.argv[2])):
            (self.root / place).mkdir()
            for name, path in packages(Path(where)).items():
                shutil.copy(path, self.root / place / f"{name}.deb")
        drop_in = self.root / f"etc/systemd/system/{RECORDER}.d"
        drop_in.mkdir(parents=True)
        (drop_in / "idle.conf").write_text(IDLE, encoding="ascii")

    def dpkg(self, check, what, *argv):
        ran = self.inside("env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "dpkg", *argv)
        check.that(not ran.returncode, f"{what}: {ran.stdout}{ran.stderr}")

    def install(self, check, version, names=(PROGRAM, SERVICE)):
        self.dpkg(check, f"install {version}", "-i", *(f"/{version}/{name}.deb" for name in names))

    def start_all(self, check):
        ran = self.inside("systemctl", "enable", "--now", *UNITS)
        check.equal("start", ran.returncode, 0)
        self.wait_for("all units", lambda: self.active() == set(UNITS))

    def active(self):
        return {unit for unit in UNITS if self.is_active(unit)}

    def pids(self):
        return {unit: self.main_pid(unit) for unit in (EXPORTER, RECORDER) if self.is_active(unit)}

    def runs_installed(self, unit):
        """Returns whether a service runs the installed program file, not one that was replaced."""
        running = Path(f"/proc/{self.main_pid(unit)}/exe").stat()
        return running.st_ino == (self.root / "usr/bin/faultscope").stat().st_ino


def host():
    return Host(None, None, "basic.target")


def check_installation_starts_nothing(check):
    with host() as machine:
        machine.boot()
        machine.install(check, "later")
        check.equal("active", machine.active(), set())


def check_change(check, first, second):
    """Installing another version of the packages restarts running services, and leaves stopped
    services stopped."""
    with host() as machine:
        machine.boot()
        machine.install(check, first)
        machine.start_all(check)
        before = machine.pids()
        machine.install(check, second)
        machine.wait_for("all units again", lambda: machine.active() == set(UNITS))
        after = machine.pids()
        check.equal("services that were not restarted",
                    {unit for unit in before if before[unit] == after[unit]}, set())
        check.that(machine.runs_installed(EXPORTER), "the exporter runs the replaced program")
        check.that("faultscope_up" in machine.page("/metrics"), "no metrics")
        machine.inside("systemctl", "stop", *UNITS)
        machine.install(check, second)
        check.equal("active, though an administrator stopped them", machine.active(), set())


def check_upgrade(check):
    check_change(check, "earlier", "later")


def check_downgrade(check):
    check_change(check, "later", "earlier")


def check_program_alone(check):
    """An upgrade of the package `faultscope` alone restarts the exporter, which is in another
    package."""
    with host() as machine:
        machine.boot()
        machine.install(check, "later")
        machine.start_all(check)
        machine.install(check, "later", (PROGRAM,))
        machine.wait_for("the exporter again", lambda: machine.is_active(EXPORTER)
                         and machine.runs_installed(EXPORTER))


def check_removal(check):
    with host() as machine:
        machine.boot()
        machine.install(check, "later")
        machine.start_all(check)
        pids = machine.pids().values()
        machine.dpkg(check, "remove", "-r", SERVICE, PROGRAM)
        check.equal("active", machine.active(), set())
        check.equal("processes that go on", {pid for pid in pids if Path(f"/proc/{pid}").exists()},
                    set())
        machine.dpkg(check, "purge", "-P", SERVICE, PROGRAM)
        listed = machine.inside("systemctl", "list-unit-files", "--no-legend", "faultscope*").stdout
        check.equal("unit files", [line for line in listed.splitlines() if "-test" not in line], [])
        machine.install(check, "later")
        check.equal("active after another installation", machine.active(), set())


def main():
    tap = Tap()
    for name, body in (("installation starts nothing", check_installation_starts_nothing),
                       ("an upgrade restarts what runs, and only that", check_upgrade),
                       ("so does a downgrade", check_downgrade),
                       ("an upgrade of the program alone restarts the exporter",
                        check_program_alone),
                       ("removal stops what runs, a purge leaves nothing", check_removal)):
        tap.test(f"upgrade: {name}", body)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
