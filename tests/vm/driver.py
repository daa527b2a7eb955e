# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Builds an out-of-tree module for a kernel of tests/vm/fetch.py with Debian's headers.

The headers and the build tools come from the kernel's own Debian suite, unpacked in the cache.
Build tools that need a newer libc than the host's run with the libraries of their suite.
"""
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import fetch  # noqa: E402
from aptroot import CACHE, Missing, Suite, locked  # noqa: E402

LIBRARIES = ("libc6", "libelf1t64", "libelf1", "zlib1g", "libzstd1", "libgcc-s1")
PATIENCE = 300  # timeout of one build in seconds


def versions_of(suite, packages):
    for name in packages:
        try:
            yield f"{name}={suite.version(name)}"
        except (Missing, TypeError):
            continue  # the suite lacks this package


def wanted(suite, release):
    headers = f"linux-headers-{release}"
    needs = [name for name in suite.depends(headers)
             if re.match(r"linux-(headers-.*-common|kbuild-)", name)]
    if not needs:
        raise Missing(f"{headers} names no headers in common")
    return [*versions_of(suite, [headers, *needs]), *versions_of(suite, LIBRARIES)]


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def runs(path):
    """Returns whether the host can run a program. If the host's libc is too old, the program fails
    before main()."""
    ran = subprocess.run([path, "--version"], capture_output=True, text=True, check=False,
                         stdin=subprocess.DEVNULL, timeout=20)
    return "GLIBC_" not in ran.stderr and "error while loading" not in ran.stderr


def wrap(path, place):
    """Replaces a program by a script that runs it with the libraries of its own suite."""
    loader = next(iter((*place.glob("usr/lib/*/ld-linux*"), *place.glob("lib/*/ld-linux*"))))
    libraries = ":".join(str(one) for one in (*place.glob("usr/lib/*-linux-gnu"),
                                              *place.glob("lib/*-linux-gnu")))
    real = path.with_name(path.name + ".elf")
    path.rename(real)
    path.write_text(f'#!/bin/sh\nexec {loader.resolve()} --library-path {libraries} {real} "$@"\n',
                    encoding="utf-8")
    path.chmod(0o755)


def make_usable(place, release):
    """Makes unpacked headers usable: replaces absolute paths, wraps programs for a newer libc."""
    source, done = place / "usr/src", place / "usable"
    if done.exists():
        return source / f"linux-headers-{release}"
    for path in (*source.glob("*/Makefile"), *source.glob("*/scripts/*.sh")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "/usr/src/" in text and str(place) not in text:
            path.write_text(text.replace("/usr/src/", f"{source}/"), encoding="utf-8")
    for path in [*place.glob("usr/lib/linux-kbuild-*/**/*")]:
        if path.is_symlink() or not path.is_file() or not path.stat().st_mode & stat.S_IXUSR:
            continue
        if is_elf(path) and not runs(path):
            wrap(path, place)
    done.touch()
    return source / f"linux-headers-{release}"


@locked
def headers(name):
    kernel_source = fetch.KERNELS[name]
    release = fetch.find_kernel(kernel_source, fetch.Kept("kernels", name).dir).release
    kept = fetch.Kept("headers", name)
    reasons = []
    for suite_name in kernel_source.suites:
        try:
            suite = Suite(CACHE, (suite_name,), kernel_source.arch)
            suite.update()
            packages = wanted(suite, release)
            kept.unpack(suite, packages)
            return make_usable(kept.dir, release)
        except Missing as reason:
            reasons.append(f"{suite_name}: {reason}")
    raise Missing(f"no headers of {release}: {'; '.join(reasons)}")


def module(name, source):
    """Builds a module from a directory of sources with a Makefile. Returns the module's path in the
    cache."""
    source = Path(source)
    release = fetch.kernel(name).release
    text = b"".join(path.read_bytes() for path in sorted(source.iterdir()))
    mark = hashlib.sha256(text + release.encode()).hexdigest()[:16]
    built = CACHE / "drivers" / f"{source.name}-{name}-{mark}"
    found = built / f"{source.name}.ko"
    if found.exists():
        return found
    tree = headers(name)
    shutil.rmtree(built, ignore_errors=True)
    shutil.copytree(source, built)
    compilers = [one for one in ("gcc-12", "gcc") if shutil.which(one)]
    words = ["make", "-C", tree, f"M={built}", f"CC={write_compiler(built, compilers[0])}",
             "CONFIG_DEBUG_INFO_BTF_MODULES=", "KBUILD_MODPOST_WARN=1", "modules"]
    if (tree / "include/config/auto.conf").exists():
        words.insert(-1, f"KBUILD_OUTPUT={tree}")
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                         check=False, timeout=PATIENCE, env={**os.environ, "LC_ALL": "C"})
    if ran.returncode or not found.exists():
        shutil.rmtree(built)
        raise Missing(f"{source.name} for {release}: {(ran.stdout + ran.stderr)[-2000:]}")
    return found


def write_compiler(place, compiler):
    """Writes a compiler wrapper that drops options which only newer compilers know."""
    path = place / "cc.sh"
    path.write_text(f"""#!/bin/sh
for word; do
	shift
	case $word in
	-fmin-function-alignment=* | -fstrict-flex-arrays* | -fzero-init-padding-bits=* | \\
	-Wno-default-const-init-unsafe | -fdiagnostics-show-context=* | -std=gnu11-extensions) ;;
	-fms-anonymous-structs) set -- "$@" -fms-extensions ;;
	*) set -- "$@" "$word" ;;
	esac
done
exec {compiler} "$@"
""", encoding="utf-8")
    path.chmod(0o755)
    return path


if __name__ == "__main__":
    for one in sys.argv[2:]:
        print(module(one, sys.argv[1]))
