#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fetches what the virtual machines need: QEMU, kernels and busybox.

Packages come from the Debian mirror that the host uses. Packages are unpacked, not installed, and
kept in $FAULTSCOPE_VM_CACHE (default ~/.cache/faultscope-vm). A package that is not available is
reported; all other packages are fetched.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import btf  # noqa: E402
from aptroot import CACHE, Missing, Suite, host_arch, locked, os_release  # noqa: E402

AGE = 7 * 24 * 3600  # seconds after which the newest version is looked up again
WORKS = 10  # timeout of `qemu --version` in seconds


@dataclass(frozen=True)
class Source:
    """A row of KERNELS: the package of a kernel, and the suites that may have this package,
    likeliest first."""
    name: str
    arch: str
    package: str
    suites: tuple


KERNELS = {source.name: source for source in (
    Source("5.10", "amd64", "linux-image-cloud-amd64", ("bullseye", "bullseye-security")),
    Source("6.1", "amd64", "linux-image-cloud-amd64", ("bookworm", "bookworm-security")),
    Source("6.12", "amd64", "linux-image-cloud-amd64", ("trixie", "bookworm-backports")),
    Source("newest", "amd64", "linux-image-cloud-amd64", ("sid", "trixie-backports")),
    Source("6.12-arm64", "arm64", "linux-image-cloud-arm64", ("trixie", "bookworm-backports")),
)}
# Kernels with drivers that the kernels above lack, such as soft-RoCE: only for cases of these
# drivers.
SOURCES = {**KERNELS, **{source.name: source for source in (
    Source("6.12-drivers", "amd64", "linux-image-amd64", ("trixie", "bookworm-backports")),
)}}


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel."""
    name: str
    arch: str
    release: str
    vmlinuz: Path
    modules: Path
    btf: Path


@dataclass(frozen=True)
class Qemu:
    program: Path
    version: tuple
    data: tuple  # directories of QEMU's firmware files
    libraries: str

    def env(self):
        return {**os.environ, "LD_LIBRARY_PATH": self.libraries} if self.libraries else None


def say(text):
    print(f"# {text}", file=sys.stderr, flush=True)


class Kept:
    """A directory of the cache with a list of its packages. The directory is valid only if it
    contains the list."""

    def __init__(self, *parts):
        self.dir = CACHE.joinpath(*parts)
        self.note = self.dir / "packages.json"

    def packages(self):
        try:
            return json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def fresh(self):
        return self.packages() and time.time() - self.note.stat().st_mtime < AGE

    def unpack(self, suite, packages):
        """Unpacks packages in exact versions into the directory, unless the directory already
        contains them."""
        if self.packages() != packages:
            shutil.rmtree(self.dir, ignore_errors=True)
            for package in packages:
                suite.unpack(package, self.dir)
        self.note_packages(packages)

    def note_packages(self, packages):
        self.note.write_text(json.dumps(packages), encoding="utf-8")


# Kernels

def kernel_packages(suite, package):
    """Returns the packages that contain the files of the kernel to which a meta-package points. A
    kernel may have several packages."""
    wanted, found = [package], []
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.append(name)
            wanted += [one for one in suite.depends(name)
                       if re.match(r"linux-(image|base|binary|modules)-\d", one)]
    return [f"{name}={suite.version(name)}" for name in found if name != package]


def find_kernel(source, place):
    """Finds the files of an unpacked kernel, in boot/ or below usr/lib/modules."""
    images = [*place.glob("boot/vmlinuz-*"), *place.glob("usr/lib/modules/*/vmlinuz")]
    if not images:
        raise Missing(f"no vmlinuz in the packages of {source.package}")
    image = images[0]
    release = image.name.removeprefix("vmlinuz-")
    release = image.parent.name if release == "vmlinuz" else release
    modules = next((place / top / "modules" / release for top in ("usr/lib", "lib")
                    if (place / top / "modules" / release / "kernel").is_dir()), None)
    if not modules:
        raise Missing(f"no modules of {release} in the packages of {source.package}")
    types = place / "vmlinux.btf"
    if not types.exists():
        types.write_bytes(btf.extract(image))
    return Kernel(source.name, source.arch, release, image, modules, types)


@locked
def kernel(name, update=False):
    """Returns a kernel of SOURCES in the newest version that its suites have."""
    if name not in SOURCES:
        raise Missing(f"no such kernel in the table: {name} ({', '.join(SOURCES)})")
    source = SOURCES[name]
    kept = Kept("kernels", name)
    if update or not kept.fresh():
        reasons = []
        for suite_name in source.suites:
            try:
                suite = Suite(CACHE, (suite_name,), source.arch)
                suite.update(update)
                packages = kernel_packages(suite, source.package)
                if not packages:
                    raise Missing(f"{source.package} of {suite_name} names no kernel")
                kept.unpack(suite, packages)
                break
            except Missing as reason:
                reasons.append(str(reason))
        else:
            if not kept.packages():
                raise Missing(f"kernel {name}: {'; '.join(reasons)}")
            say(f"kernel {name}: the one in the cache, because {'; '.join(reasons)}")
    return find_kernel(source, kept.dir)


# QEMU and busybox

QEMU_PACKAGE = {"amd64": "qemu-system-x86", "arm64": "qemu-system-arm"}
QEMU_PROGRAM = {"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64"}
# QEMU before 8 corrupts guests under TCG; bookworm has 7.2, its backports 10.
QEMU_SUITES = {"bookworm": (("bookworm", "bookworm-backports"), "bookworm-backports")}


def try_qemu(program, data, libraries):
    """Returns a Qemu that runs on this machine, or raises Missing."""
    found = Qemu(program, (), tuple(data), libraries)
    try:
        ran = subprocess.run([program, "--version"], capture_output=True, text=True, check=False,
                             timeout=WORKS, env=found.env())
    except (OSError, subprocess.TimeoutExpired) as reason:
        raise Missing(f"{program} does not run: {reason}") from None
    version = re.search(r"version (\d+)\.(\d+)", ran.stdout)
    if not version:
        raise Missing(f"{program} does not run: {ran.stderr.strip()[:300]}")
    return Qemu(program, (int(version[1]), int(version[2])), tuple(data), libraries)


def unpacked_qemu(arch, place):
    program = place / "usr/bin" / QEMU_PROGRAM[arch]
    if not program.exists():
        raise Missing(f"no {program.name} in {place}")
    data = [place / "usr/share" / name for name in ("qemu", "seabios")]
    libraries = ":".join(str(path) for path in (*place.glob("usr/lib/*-linux-gnu*"),
                                                *place.glob("lib/*-linux-gnu*")))
    return try_qemu(program, [path for path in data if path.is_dir()], libraries)


def kept_qemu(arch, kept, _update):
    return unpacked_qemu(arch, kept.dir)


def fetched_qemu(arch, kept, update):
    codename = os_release().get("VERSION_CODENAME", "")
    suites, release = QEMU_SUITES.get(codename, ((codename,), None))
    suite = Suite(CACHE, suites, host_arch())
    suite.update(update)
    packages = [QEMU_PACKAGE[arch], "qemu-system-common", "qemu-system-data"]
    packages += ["seabios"] if arch == "amd64" else []
    if release:
        packages = [f"{name}/{release}" if name != "seabios" else name for name in packages]
    kept.unpack(suite, sorted(suite.wanted_besides(packages, release)))
    return unpacked_qemu(arch, kept.dir)


def installed_qemu(arch, _kept, _update):
    program = shutil.which(QEMU_PROGRAM[arch])
    if not program:
        raise Missing(f"{QEMU_PROGRAM[arch]} is not installed either")
    return try_qemu(Path(program), (), "")


@locked
def qemu(arch, update=False):
    """Returns a QEMU for guests of an architecture: the cached one, or if there is none, the host's
    own."""
    kept = Kept("qemu", arch)
    if kept.fresh() and not update:
        try:
            return unpacked_qemu(arch, kept.dir)
        except Missing:
            pass  # another host, which has more libraries, may have unpacked the cached QEMU
    reasons = []
    for get in fetched_qemu, kept_qemu, installed_qemu:
        try:
            found = get(arch, kept, update)
        except Missing as reason:
            reasons.append(str(reason))
            continue
        if reasons:
            say(f"QEMU for {arch}: {found.program}, because {'; '.join(reasons)}")
        return found
    raise Missing(f"QEMU for {arch}: {'; '.join(reasons)}")


@locked
def busybox(arch, update=False):
    kept = Kept("busybox", arch)
    if update or not kept.fresh():
        suite = Suite(CACHE, ("trixie" if arch != host_arch() else
                              os_release().get("VERSION_CODENAME", "trixie"),), arch)
        try:
            suite.update(update)
            kept.unpack(suite, [f"busybox-static={suite.version('busybox-static')}"])
        except Missing as reason:
            if not kept.packages():
                raise
            say(f"busybox: the one in the cache, because {reason}")
    return next(path for path in (kept.dir / "bin/busybox", kept.dir / "usr/bin/busybox")
                if path.exists())


@locked
def unpacked(package):
    """Returns the directory of an unpacked package of this machine's own release."""
    kept = Kept("packages", package)
    if not kept.fresh():
        suite = Suite(CACHE, (os_release().get("VERSION_CODENAME", ""),), host_arch())
        try:
            suite.update()
            kept.unpack(suite, [f"{package}={suite.version(package)}"])
        except Missing as reason:
            if not kept.packages():
                raise
            say(f"{package}: the one in the cache, because {reason}")
    return kept.dir


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("kernels", nargs="*", metavar="KERNEL",
                        help=f"kernel to fetch: {', '.join(KERNELS)} (default: all)")
    parser.add_argument("--update", action="store_true",
                        help="look for newer versions than the cached ones")
    options = parser.parse_args()
    missing = 0
    names = options.kernels or list(KERNELS)
    archs = dict.fromkeys(KERNELS[name].arch for name in names if name in KERNELS)
    for what, fetch, keys in (("kernel", kernel, names), ("qemu", qemu, archs),
                              ("busybox", busybox, archs)):
        for key in keys:
            try:
                print(f"{what} {key}: {fetch(key, options.update)}")
            except Missing as reason:
                missing += 1
                print(f"{what} {key}: MISSING: {reason}")
    return missing > 0


if __name__ == "__main__":
    sys.exit(main())
