# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Removes from recordings what identifies the machine: program paths, cgroups, the host name."""

from recording_format import read, write

HOST, NAMES = "host", "names"


def changed(recording, change):
    """Returns a recording's bytes after calling change(name of the kind, fields) on each record."""
    layout, chunks = read(recording)
    for chunk in chunks:
        for kind, _, fields, *_ in chunk.records:
            change(layout.kinds[kind][0], fields)
    return write(layout, chunks)


def placeless(recording, root):
    """Returns a recording's bytes without traces of the machine; `root` is the source checkout."""
    root = str(root).encode()

    def below_root(text):
        return text.replace(root, b"/src")

    def without_place(name, fields):
        if name == HOST:
            fields["host", 0] = b"host"
            fields["boot_id", 0] = b"0" * len(fields.get(("boot_id", 0), b""))
            fields["target", 0] = below_root(fields.get(("target", 0), b""))[:127]
        if name == NAMES:
            exe = fields.get(("exe", 0), b"")
            fields["exe", 0] = below_root(exe)[:255] if exe.startswith(
                (root, b"/src/", b"/usr/", b"/bin/")) else b""
            fields["cgroup", 0] = b"/" if fields.get(("cgroup", 0)) else b""

    return changed(recording, without_place)


def renamed(recording, old, new):
    """Returns a recording's bytes in which each text `old` is replaced by `new` (any bytes)."""
    def rename(_, fields):
        for key, value in fields.items():
            if value == old:
                fields[key] = new[:15].split(b"\0")[0]

    return changed(recording, rename)
