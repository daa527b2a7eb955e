# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks of an upgrade, a downgrade, a removal and a purge of the Debian packages in a machine whose
process 1 is systemd.

Each check gets a function that makes a new machine: a context manager with the functions boot(),
inside(command...), wait_for(what, function), is_active(unit) and page(path). The machine's
directories /earlier and /later have two versions of the packages.
"""
SOCKET, EXPORTER = "faultscope-exporter.socket", "faultscope-exporter.service"
RECORDER = "faultscope-blackbox.service"
UNITS = SOCKET, EXPORTER, RECORDER
PROGRAM, SERVICE, MIXIN = "faultscope", "faultscope-exporter", "faultscope-mixin"
# Directories to which packages and services write
PLACES = "/etc", "/usr", "/lib/systemd", "/var/lib", "/var/cache", "/var/log"


def dpkg(check, machine, what, *argv):
    ran = machine.inside("env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "dpkg", *argv)
    check.that(not ran.returncode, f"{what}: {ran.stdout}{ran.stderr}")


def install(check, machine, version, names=(PROGRAM, SERVICE, MIXIN)):
    dpkg(check, machine, f"install {version}", "-i", *(f"/{version}/{name}.deb" for name in names))


def active(machine):
    return {unit for unit in UNITS if machine.is_active(unit)}


def start_all(check, machine):
    ran = machine.inside("systemctl", "enable", "--now", *UNITS)
    check.equal("start", ran.returncode, 0)
    machine.wait_for("all units", lambda: active(machine) == set(UNITS))


def main_pid(machine, unit):
    """Returns the main pid of a unit, as the machine numbers it."""
    return machine.inside("systemctl", "show", "-p", "MainPID", "--value", unit).stdout.strip()


def pids(machine):
    return {unit: main_pid(machine, unit) for unit in (EXPORTER, RECORDER)}


def runs_installed(machine, unit):
    """Returns whether a service runs the installed program file, not one that was replaced."""
    ran = machine.inside("stat", "-L", "-c", "%d:%i", f"/proc/{main_pid(machine, unit)}/exe",
                         "/usr/bin/faultscope")
    files = ran.stdout.split()
    return len(files) == 2 and files[0] == files[1]


def left(machine):
    """Returns the files with the program's name in the places that packages and services use."""
    return machine.inside("find", *PLACES, "-xdev", "-name", "*faultscope*", "-not", "-name",
                          "faultscope-test*").stdout.split()


def check_installation(check, host):
    with host() as machine:
        machine.boot()
        install(check, machine, "later")
        check.equal("active", active(machine), set())


def check_change(check, host, first, second):
    """Installing another version of the packages restarts running services, and leaves stopped
    services stopped."""
    with host() as machine:
        machine.boot()
        install(check, machine, first)
        start_all(check, machine)
        before = pids(machine)
        install(check, machine, second)
        machine.wait_for("all units again", lambda: active(machine) == set(UNITS))
        after = pids(machine)
        check.equal("services that were not restarted",
                    {unit for unit in before if before[unit] == after[unit]}, set())
        check.that(runs_installed(machine, EXPORTER), "the exporter runs the replaced program")
        check.that("faultscope_up 1" in machine.page("/metrics"), "no metrics")
        machine.inside("systemctl", "stop", *UNITS)
        install(check, machine, second)
        check.equal("active, though an administrator stopped them", active(machine), set())


def check_upgrade(check, host):
    check_change(check, host, "earlier", "later")


def check_downgrade(check, host):
    check_change(check, host, "later", "earlier")


def check_program_alone(check, host):
    """An upgrade of the package `faultscope` alone restarts the exporter, which is in another
    package."""
    with host() as machine:
        machine.boot()
        install(check, machine, "later")
        start_all(check, machine)
        before = main_pid(machine, EXPORTER)
        install(check, machine, "later", (PROGRAM,))
        machine.wait_for("the exporter again", lambda: machine.is_active(EXPORTER)
                         and main_pid(machine, EXPORTER) != before
                         and runs_installed(machine, EXPORTER))


def check_removal(check, host):
    with host() as machine:
        machine.boot()
        there = set(left(machine))
        install(check, machine, "later")
        start_all(check, machine)
        check.that("faultscope_up 1" in machine.page("/metrics"), "no metrics")
        running = pids(machine).values()
        dpkg(check, machine, "remove", "-r", MIXIN, SERVICE, PROGRAM)
        check.equal("active", active(machine), set())
        check.equal("processes that go on", {pid for pid in running if not machine.inside(
            "test", "-e", f"/proc/{pid}").returncode}, set())
        dpkg(check, machine, "purge", "-P", MIXIN, SERVICE, PROGRAM)
        check.equal("files that stay after a purge", set(left(machine)) - there, set())
        listed = machine.inside("systemctl", "list-units", "--all", "--no-legend", "--plain",
                                "faultscope*").stdout
        check.equal("units", [line for line in listed.splitlines() if "-test" not in line], [])
        install(check, machine, "later")
        check.equal("active after another installation", active(machine), set())


CHECKS = (("installation starts nothing", check_installation),
          ("an upgrade restarts what runs, and only that", check_upgrade),
          ("so does a downgrade", check_downgrade),
          ("an upgrade of the program alone restarts the exporter", check_program_alone),
          ("removal stops what runs, a purge leaves nothing", check_removal))
