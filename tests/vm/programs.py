# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Builds static programs for guests, which have no shared libraries."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from aptroot import Missing
from fetch import host_arch

ROOT = Path(__file__).resolve().parents[2]
MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}
CROSS = {"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"}


def compiler(arch):
    if arch == host_arch():
        return os.environ.get("CC", "cc")
    if not shutil.which(CROSS[arch]):
        raise Missing(f"{CROSS[arch]} is missing: apt-get install gcc-{CROSS[arch][:-4]}".replace(
            "_", "-"))
    return CROSS[arch]


def with_libraries(*names):
    """Returns the files that a guest of this architecture needs to run dynamically linked programs
    of this machine."""
    found = {}
    for name in names:
        program = shutil.which(name)
        if not program:
            raise Missing(f"{name} is not installed: tools/setup.sh programs")
        found[f"/bin/{name}"] = program
        found.update((path, path) for path in libraries([program]))
    return found


def libraries(programs):
    """Returns the paths of all libraries that these programs load, directly or through other
    libraries."""
    ran = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False)
    return set(re.findall(r"(/\S+) \(0x", ran.stdout))


def place_of(arch):
    return ROOT / "build" / ("static" if arch == host_arch() else f"static-{arch}")


def static_workloads(arch, place=None):
    """Rebuilds those static workloads that are older than their sources. Returns the directory of
    the workloads."""
    place = place or place_of(arch) / "workloads"
    place.mkdir(parents=True, exist_ok=True)
    headers = max(path.stat().st_mtime for path in (ROOT / "tests/workloads").glob("*.h"))
    for source in sorted((ROOT / "tests/workloads").glob("*.c")):
        target = place / source.stem
        newest = max(source.stat().st_mtime, headers)
        if target.exists() and target.stat().st_mtime >= newest:
            continue
        ran = subprocess.run([compiler(arch), "-std=gnu11", "-O2", "-g", "-static", "-pthread",
                              source, "-lm", "-o", target], capture_output=True, text=True, check=False)
        if ran.returncode:
            raise Missing(f"{source.name} does not build for {arch}: {ran.stderr.strip()[:500]}")
    return place


def little_btf(kernel):
    """Returns the BTF file that `make btf-archive` makes for a kernel."""
    machine = MACHINE[kernel.arch]
    bpftool = shutil.which("bpftool", path=f"{os.environ['PATH']}:/usr/sbin")
    if not bpftool:
        raise Missing("bpftool is missing")
    objects = ROOT / "build" / ("" if kernel.arch == host_arch() else kernel.arch)
    # Each kernel has a directory of its own, since kernels are tested in parallel.
    place = place_of(kernel.arch) / f"btf-{kernel.name}"
    ran = subprocess.run([ROOT / "tools/btf_archive.sh", bpftool, place, machine,
                          f"{objects}/faultscope.bpf.o {objects}/faultscope_hash.bpf.o",
                          f"{kernel.release}={kernel.btf}"],
                         capture_output=True, text=True, check=False)
    if ran.returncode:
        raise Missing(f"no little BTF of {kernel.release}: {ran.stderr.strip()[:500]}")
    return place / machine / f"{kernel.release}.btf"


def static_faultscope(arch, path=None):
    path = Path(path) if path else place_of(arch) / "faultscope"
    if not path.exists():
        raise Missing(f"no static faultscope for {arch}: make ARCH={arch} static")
    return path
