#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Finds Debian programs that tests call: the host's own program, or one unpacked from a package.

usage: borrow.py PROGRAM...     prints the path of each

Packages are unpacked into a cache, not installed, for two reasons. Installed packages of Prometheus
and its exporters would start services. Packages of the host's release may be too old: bookworm's
kubectl has the kustomize of 2018.
"""
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True

from aptroot import CACHE, Missing, Suite, host_arch, locked, os_release  # noqa: E402


@dataclass(frozen=True)
class Source:
    """The package that contains a program, and the package's suite ("" is the host's). `older` is
    the package in releases that lack `package`."""
    package: str
    suite: str = ""
    older: str = ""


PROGRAMS = {
    "apparmor_parser": Source("apparmor"),
    "prometheus": Source("prometheus"),
    # promtool has a package of its own since Debian 13
    "promtool": Source("promtool", older="prometheus"),
    "prometheus-alertmanager": Source("prometheus-alertmanager"),
    "prometheus-node-exporter": Source("prometheus-node-exporter"),
    "prometheus-process-exporter": Source("prometheus-process-exporter"),
    "kubectl": Source("kubectl", "trixie"),
}


def unpacked(name, package, codename):
    """Returns the path of a program. If the host does not have the program, unpacks its package
    first."""
    place = CACHE / "programs" / f"{package}-{codename}"
    program = place / "usr/bin" / name
    if not program.exists():
        suite = Suite(CACHE, (codename,), host_arch())
        suite.update()
        suite.unpack(package, place)
    if not os.access(program, os.X_OK):
        raise Missing(f"{package} of {codename} has no {name}")
    return program


def fetched(name, source):
    codename = source.suite or os_release().get("VERSION_CODENAME", "")
    try:
        return unpacked(name, source.package, codename)
    except Missing:
        if not source.older:
            raise
        return unpacked(name, source.older, codename)


@locked
def program(name):
    """Returns the path of a program in PROGRAMS. Raises Missing with the reason if the program is
    not available."""
    source = PROGRAMS.get(name)
    if not source:
        raise Missing(f"no such program in the table: {name} ({', '.join(PROGRAMS)})")
    installed = not source.suite and shutil.which(name)
    return Path(installed) if installed else fetched(name, source)


def main():
    if not sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        for name in sys.argv[1:]:
            print(program(name))
    except Missing as reason:
        print(f"borrow: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
