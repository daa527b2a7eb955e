#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fetches the libraries of another architecture from Debian and unpacks them; installs nothing.

usage: sysroot.py TRIPLET DIRECTORY

The libraries are of the host's own release, from the mirror that the host itself uses. If the
directory already has the libraries, it stays unchanged.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from aptroot import CACHE, Missing, Suite, locked, os_release  # noqa: E402

DEBIAN = {"x86_64-linux-gnu": "amd64", "aarch64-linux-gnu": "arm64"}
PACKAGES = ("libbpf-dev", "libelf-dev", "zlib1g-dev", "libcap-dev", "libzstd-dev", "liblzma-dev",
            "libbz2-dev", "liblz4-dev", "libiberty-dev", "libmicrohttpd-dev", "libgnutls28-dev",
            "nettle-dev", "libgmp-dev", "libtasn1-6-dev", "libidn2-dev", "libunistring-dev",
            "libyaml-dev", "libcrypt-dev", "libjson-c-dev")
ARCHIVES = ("bpf", "elf", "z", "cap", "lzma", "bz2", "lz4", "iberty", "microhttpd", "gnutls",
            "nettle", "hogweed", "gmp", "tasn1", "idn2", "unistring", "yaml", "crypt", "json-c")
# Matches the packages with shared libraries to which links in development packages point. The names
# differ by release.
SHARED = re.compile(r"lib(bpf|elf|cap|zstd|lzma|bz2|lz4|microhttpd|gnutls|nettle|hogweed|gmp|tasn1-|"
                    r"idn2-|unistring|yaml-|crypt|json-c)\d[\w.-]*|zlib1g")


def point_inside(root):
    """Makes links to /lib/... relative, since absolute links would lead to the host's files."""
    for link in root.rglob("*"):
        if link.is_symlink() and os.readlink(link).startswith("/"):
            target = root / os.readlink(link).lstrip("/")
            link.unlink()
            link.symlink_to(os.path.relpath(target, link.parent))


@locked
def fetch(arch, place):
    suite = Suite(CACHE, (os_release()["VERSION_CODENAME"],), arch)
    suite.update()
    wanted = list(PACKAGES)
    for package in PACKAGES:
        wanted += [name for name in suite.depends(package) if SHARED.fullmatch(name)]
    part = place.with_name(f"{place.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    versions = {package: suite.version(package) for package in dict.fromkeys(wanted)}
    files = []
    for package, version in versions.items():
        suite.unpack(f"{package}={version}", part)
        listed = subprocess.run(["dpkg", "-c", suite.download(f"{package}={version}")],
                                capture_output=True, text=True, check=True).stdout
        files += [f"{package} {line.split()[5].removeprefix('.')}\n"
                  for line in listed.splitlines() if not line.startswith("d")]
    # for the bill of materials: versions of packages, and the package of each file
    (part / "packages.txt").write_text(
        "".join(f"{package}={version}\n" for package, version in versions.items()),
        encoding="utf-8")
    (part / "files.txt").write_text("".join(files), encoding="utf-8")
    point_inside(part)
    shutil.rmtree(place, ignore_errors=True)
    part.rename(place)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in DEBIAN:
        sys.exit(f"usage: sysroot.py {'|'.join(DEBIAN)} DIRECTORY")
    triplet, place = sys.argv[1], Path(sys.argv[2])
    if (place / "files.txt").exists() and all(
            (place / "usr/lib" / triplet / f"lib{name}.a").exists() for name in ARCHIVES):
        return
    try:
        fetch(DEBIAN[triplet], place)
    except Missing as reason:
        sys.exit(f"sysroot: no libraries of {DEBIAN[triplet]}: {reason}")


if __name__ == "__main__":
    main()
