#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes src/triage/exports.def: the functions that many kernel modules call, and modules that many
others use.

usage: library_symbols.py [--releases bullseye,bookworm,trixie] > src/triage/exports.def

If the kernel crashes in a function that hundreds of modules call, the caller is suspect, not the
function. `triage` therefore needs to know such functions. This program counts them in the module
trees of Debian kernels (package linux-image-amd64 of each release): it reads the symbol tables of
all modules, and counts for each exported symbol how many modules import it. A symbol that no module
exports is exported by the kernel image. The imports also show which of two modules uses the other:
a call in the other direction is a callback. Packages are fetched as for tests/vm, but not unpacked.
"""
import argparse
import collections
import lzma
import os
import re
import struct
import subprocess
import sys
import tarfile
import textwrap
from datetime import datetime, timezone

sys.dont_write_bytecode = True

from aptroot import CACHE, Missing, Suite  # noqa: E402

LEAST = 8  # a symbol that fewer modules import is no row of the table
LIBRARY = 4  # a module whose symbols at least so many modules import is a library
KO = re.compile(r".*/kernel/(?:.*/)?([^/]+)\.ko(\.xz)?$")
SHT_SYMTAB = 2
EXPORT = "__ksymtab_"
NO_FUNCTION = re.compile(r"__SC[KT]__|__tracepoint_|__probestub_|__mod_|param_ops_|__x86_|__per_cpu_")


def sections(data):
    """Yields (type, offset, size, link) of the sections of a 64-bit little-endian ELF file."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no 64-bit ELF file")
    (start,) = struct.unpack_from("<Q", data, 40)
    size, number = struct.unpack_from("<HH", data, 58)
    for i in range(number):
        row = struct.unpack_from("<IIQQQQII", data, start + i * size)
        yield row[1], row[4], row[5], row[6]


def symbols(data):
    """Yields (name, whether the file defines the symbol) of a module."""
    table = list(sections(data))
    for kind, offset, size, link in table:
        if kind != SHT_SYMTAB:
            continue
        names = table[link][1]
        for at in range(offset, offset + size, 24):
            name, _info, _other, section = struct.unpack_from("<IBBH", data, at)
            if name:
                end = data.index(b"\0", names + name)
                yield data[names + name:end].decode("ascii", "replace"), section != 0


class Tree:
    """The modules of one kernel: who exports a symbol, and which modules import it."""

    def __init__(self):
        self.owner = {}
        self.importers = collections.defaultdict(set)
        self.modules = 0

    def take(self, module, data):
        self.modules += 1
        for name, defined in symbols(data):
            if not defined:
                self.importers[name].add(module)
            elif name.startswith(EXPORT):
                self.owner[name.removeprefix(EXPORT)] = module


def read_tree(deb):
    tree = Tree()
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as unpack:
        with tarfile.open(fileobj=unpack.stdout, mode="r|") as files:
            for member in files:
                found = KO.match(member.name)
                if not found or not member.isfile():
                    continue
                data = files.extractfile(member).read()
                if found[2]:
                    data = lzma.decompress(data)
                tree.take(found[1].replace("-", "_"), data)
    if unpack.returncode or not tree.modules:
        raise Missing(f"{deb} has no modules")
    return tree


def fetch(release):
    """Returns (kernel release, path of the package) of a Debian release's newest kernel."""
    suite = Suite(CACHE, (release,), "amd64")
    suite.update()
    image = next((one for one in suite.depends("linux-image-amd64")
                  if re.match(r"linux-image-\d", one)), None)
    if not image:
        raise Missing(f"linux-image-amd64 of {release} names no kernel")
    return image.removeprefix("linux-image-"), suite.debs / suite.download(image)


def counted(trees):
    """Returns {(symbol, module that exports it or ""): most importers in one tree},
    {library module: most modules that import one of its symbols}, and {module: the modules from
    which it imports symbols}."""
    rows, libraries, uses = collections.Counter(), collections.Counter(), {}
    for tree in trees:
        users = collections.defaultdict(set)
        for name, modules in tree.importers.items():
            owner = tree.owner.get(name, "")
            rows[name, owner] = max(rows[name, owner], len(modules))
            if owner:
                users[owner] |= modules
        for owner, modules in users.items():
            libraries[owner] = max(libraries[owner], len(modules))
            for module in modules - {owner}:
                uses.setdefault(module, set()).add(owner)
    return rows, libraries, uses


def closure(module, uses):
    """Returns all modules that must be loaded before a module."""
    found, left = set(), [module]
    while left:
        fresh = uses.get(left.pop(), set()) - found
        found |= fresh
        left += fresh
    return found - {module}


def print_provider(name, importers, uses):
    used = textwrap.wrap(" ".join(sorted(uses)), 80) or [""]
    lines = [f'"{line} "' for line in used[:-1]] + [f'"{used[-1]}"']
    if len(lines) == 1 and len(lines[0]) + len(name) < 60:
        print(f'PROVIDER("{name}", {importers}, {lines[0]})')
        return
    print(f'PROVIDER("{name}", {importers},\n\t' + "\n\t".join(lines) + ")")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", default="bullseye,bookworm,trixie")
    options = parser.parse_args()
    trees, said = [], []
    for release in options.releases.split(","):
        kernel, deb = fetch(release)
        trees.append(read_tree(deb))
        said.append(f"{release}: Linux {kernel}, {trees[-1].modules} modules")
        print(f"# {said[-1]}", file=sys.stderr, flush=True)
    rows, libraries, uses = counted(trees)
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(epoch), timezone.utc) if epoch else datetime.now(timezone.utc)
    print(f"""/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exported kernel functions that many modules import, and modules that many others use. Generated
 * by tools/library_symbols.py on {now:%Y-%m-%d} from the module trees of Debian:
 *""")
    for line in said:
        print(f" *	{line}")
    print(f""" *
 * EXPORT(name, owner, importers), sorted by name
 *	owner		the module that exports the function; "": the kernel image
 *	importers	number of modules that import it, if at least {LEAST}
 * PROVIDER(name, importers, uses), sorted by name
 *	importers	number of modules that import at least one function of this module, if at
 *			least {LIBRARY}
 *	uses		those of these modules from which this module imports functions, directly
 *			or indirectly; separated by blanks
 */
#ifndef EXPORT
#define EXPORT(...)
#endif
#ifndef PROVIDER
#define PROVIDER(...)
#endif
""")
    names = collections.defaultdict(list)
    for (name, owner), importers in rows.items():
        if importers >= LEAST and not NO_FUNCTION.match(name):
            names[name].append((importers, owner))
    for name in sorted(names):
        importers, owner = max(names[name])
        print(f'EXPORT("{name}", "{owner}", {importers})')
    print()
    providers = {name for name, importers in libraries.items() if importers >= LIBRARY}
    for name in sorted(providers):
        print_provider(name, libraries[name], closure(name, uses) & providers)
    print("\n#undef EXPORT\n#undef PROVIDER")


if __name__ == "__main__":
    try:
        main()
    except Missing as reason:
        sys.exit(f"library_symbols.py: {reason}")
