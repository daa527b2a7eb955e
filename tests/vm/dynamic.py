# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prepares a Debian program for guests without libraries: the program is copied with all libraries
that it loads."""
import re
import subprocess
from pathlib import Path

from aptroot import CACHE, Missing, Suite, locked, os_release
from fetch import host_arch

LOADER = "/lib64/ld-linux-x86-64.so.2"
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
PACKAGES_MOST = 60


def needed(path):
    ran = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=False)
    return re.findall(r"\(NEEDED\)[^[]*\[([^]]+)\]", ran.stdout)


def loads(place, program):
    """Returns ({name: path} of libraries that a program loads, names of those that are missing)."""
    found, missing, wanted = {}, set(), needed(program)
    while wanted:
        name = wanted.pop()
        if name in found or name in missing:
            continue
        paths = [*place.glob(f"usr/lib/*-linux-gnu/{name}"), *place.glob(f"lib/*-linux-gnu/{name}")]
        if paths:
            found[name] = paths[0].resolve()
            wanted += needed(paths[0])
        else:
            missing.add(name)
    return found, missing


def unpack_with_libraries(place, program, package):
    """Unpacks a package and its dependencies, nearest dependencies first, until no library of the
    program is missing."""
    suite = Suite(CACHE, (os_release().get("VERSION_CODENAME", ""),), host_arch())
    suite.update()
    wanted, done = [package], set()
    while wanted and len(done) < PACKAGES_MOST:
        name = wanted.pop(0)
        if name in done:
            continue
        done.add(name)
        try:
            suite.unpack(name, place)
            wanted += suite.depends(name)
        except (Missing, TypeError):
            if name == package:
                raise
            continue  # skip a virtual package, which another package provides
        if program.exists() and not loads(place, program)[1]:
            return


@locked
def files(package, program):
    """Returns {path in a guest: path on this machine} of a program and its libraries. The files are
    cached."""
    place = CACHE / "programs" / f"{package}-with-libraries"
    path = place / program.lstrip("/")
    if not path.exists() or loads(place, path)[1]:
        unpack_with_libraries(place, path, package)
    found, missing = loads(place, path) if path.exists() else ({}, {program})
    if missing:
        raise Missing(f"{package} lacks {', '.join(sorted(missing))}")
    guest = {f"{LIBRARIES}/{name}": one for name, one in found.items()}
    loader = found.get(Path(LOADER).name)
    if not loader:
        raise Missing(f"{program} loads no {LOADER}: of another architecture")
    return {program: path, LOADER: loader, **guest}
