# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads object files with nm: the symbols that they define and need, and their writable data."""
import os
import re
import shutil
import subprocess

# Symbols that sanitizers and profilers add to any code.
INSTRUMENTS = re.compile(r"_*(asan|lsan|ubsan|tsan|sanitizer|odr_asan|gcov|sancov|llvm_|prof)|\.L")
# Section .data.rel.ro holds constant tables of pointers, so it does not count as writable data.
WRITABLE = re.compile(r"(\.data(?!\.rel\.ro)|\.bss|\.tdata|\.tbss|\*COM\*)(\.|$)")


class Object:
    """The symbols of one object file."""

    def __init__(self, path):
        self.path = path
        self.defines, self.wants, self.state = set(), set(), set()

    def add(self, name, kind, section):
        if INSTRUMENTS.match(name):
            return
        if kind in ("U", "w", "v"):
            self.wants.add(name)
        elif kind.isupper():
            self.defines.add(name)
        if WRITABLE.match(section):
            self.state.add(name)


def has_nm():
    return shutil.which(os.environ.get("NM", "nm")) is not None


def read_objects(paths):
    """Returns an Object for each path."""
    found = {str(path): Object(path) for path in paths}
    if not found:
        return []
    out = subprocess.run([os.environ.get("NM", "nm"), "-A", "-f", "sysv", *found], check=True,
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         env=dict(os.environ, LC_ALL="C")).stdout
    for line in out.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7:
            path, _, name = cells[0].rpartition(":")
            found[path].add(name, cells[2], cells[6])
    return list(found.values())
