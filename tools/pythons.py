#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Finds interpreters of CPython that tests run besides the installed ones.

usage: pythons.py               prints the command of each, and unpacks packages first if needed
       pythons.py build NAME    builds one from Debian's source package, with these names: {builds}

Packages of other releases are unpacked into a cache, not installed. Such an interpreter runs with
the C library and the loader of its own release. Debian has no packages of some builds, such as the
one without the global interpreter lock; these are built from source, which takes minutes.
"""
import functools
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True

from aptroot import CACHE, Missing, SourceSuite, Suite, host_arch, locked, os_release  # noqa: E402

PLACE = CACHE / "pythons"


@dataclass(frozen=True)
class Packaged:
    """An interpreter in packages of a suite."""
    minor: int
    suite: str
    libraries: tuple


@dataclass(frozen=True)
class Built:
    """An interpreter that is built from a source package of a suite."""
    source: str
    suite: str
    options: tuple
    musl: bool = False  # built with the C library musl


PACKAGED = {
    "3.14": Packaged(14, "sid", ("libc6", "libexpat1", "zlib1g", "libffi8")),
    "3.15": Packaged(15, "sid", ("libc6", "libexpat1", "zlib1g", "libffi8")),
}
# Debian has no libraries for musl, so that configure must not find the ones for glibc.
NO_LIBRARIES = ("PKG_CONFIG=/bin/false",)
# Answers with the name of musl's own folders, which musl-gcc does not know.
MUSL_COMPILER = """\
#!/bin/sh
[ "$*" = --print-multiarch ] && exec echo "$(uname -m)-linux-musl"
exec musl-gcc "$@"
"""
BUILDS = {
    "3.13t": Built("python3.13", "trixie", ("--disable-gil",)),
    "3.13-musl": Built("python3.13", "trixie", NO_LIBRARIES, musl=True),
}


def unpack_packages(name):
    """Returns the command of an interpreter. If the cache lacks its packages, unpacks them first.
    """
    packaged = PACKAGED[name]
    root = PLACE / name
    version = f"python3.{packaged.minor}"
    done = root / "unpacked"
    if not done.exists():
        suite = Suite(CACHE, (packaged.suite,), host_arch())
        suite.update()
        for package in (version, f"{version}-minimal", f"lib{version}-minimal",
                        f"lib{version}-stdlib", *packaged.libraries):
            suite.unpack(package, root)
        done.touch()
    loader = next((path for path in root.glob("usr/lib*/ld-linux-*.so.*")), None)
    if not loader:
        raise Missing(f"the packages of {name} have no loader")
    libraries = next(root.glob("usr/lib/*-linux-gnu"))
    return [str(loader), "--library-path", str(libraries), str(root / "usr/bin" / version)]


@locked
def modules_of(names):
    """Returns the folders with the Python modules, and the ones with the libraries, of packages of
    the host's release. A name may have alternatives: "a | b"."""
    codename = os_release().get("VERSION_CODENAME", "")
    place = PLACE / f"{names[0]}-{codename}"
    if not (place / "unpacked").exists():
        suite = Suite(CACHE, (codename,), host_arch())
        suite.update()
        for name in names:
            suite.unpack(suite.first_of(name), place)
        (place / "unpacked").touch()
    return (sorted(place.glob("usr/lib/python3*/dist-packages")),
            sorted(place.glob("usr/lib/*-linux-gnu")))


def call(argv, where, log):
    with open(where / log, "wb") as out:
        ran = subprocess.run(argv, cwd=where, stdout=out, stderr=subprocess.STDOUT, check=False,
                             stdin=subprocess.DEVNULL)
    if ran.returncode:
        raise Missing(f"{argv[0]} failed: see {where / log}")


def build(name):
    """Builds an interpreter from source into the cache."""
    built = BUILDS[name]
    work = PLACE / f"{name}-build"
    work.mkdir(parents=True, exist_ok=True)
    suite = SourceSuite(CACHE, (built.suite,), host_arch())
    suite.update()
    archive = suite.fetch(built.source, work)
    with tarfile.open(archive) as tar:
        tar.extractall(work)
    source = next(path for path in work.iterdir() if (path / "configure").exists())
    compiler = "gcc"
    if built.musl:
        compiler = work / "musl-compiler"
        compiler.write_text(MUSL_COMPILER, encoding="utf-8")
        compiler.chmod(0o755)
    call(["./configure", "-q", f"--prefix={PLACE / name}", "--without-ensurepip",
          "--disable-test-modules", f"CC={compiler}", "CFLAGS=-O1", *built.options], source,
         "configure.log")
    call(["make", "-s", f"-j{os.cpu_count()}"], source, "make.log")
    call(["make", "-s", "install"], source, "install.log")
    shutil.rmtree(work)


def built_command(name):
    found = sorted(PLACE.glob(f"{name}/bin/python3.[0-9]*[0-9t]"))
    found = [path for path in found if not path.name.endswith("-config")]
    return [str(found[0])] if found else None


@functools.lru_cache(maxsize=None)
@locked
def commands():
    """Returns {name: command} of the interpreters that are available, and {name: reason} of the
    others."""
    found, missing = {}, {}
    for name in PACKAGED:
        try:
            found[name] = unpack_packages(name)
        except Missing as reason:
            missing[name] = str(reason)
    for name in BUILDS:
        command = built_command(name)
        if command:
            found[name] = command
        else:
            missing[name] = f"not built (tools/pythons.py build {name})"
    return found, missing


def main():
    words = sys.argv[1:]
    if words and (words[0] != "build" or len(words) != 2 or words[1] not in BUILDS):
        print(__doc__.format(builds=", ".join(BUILDS)), file=sys.stderr)
        return 2
    try:
        if words:
            build(words[1])
    except Missing as reason:
        print(f"pythons: {reason}", file=sys.stderr)
        return 1
    found, missing = commands()
    for name, command in found.items():
        print(f"{name}: {' '.join(command)}")
    for name, reason in missing.items():
        print(f"{name}: {reason}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
