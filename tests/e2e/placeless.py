# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Takes the machine out of a recording that is kept: where its programs lay, its cgroups and name.

The layout is that of src/probe/recording.c and bpf/wire.h; a recording of another one is refused.
"""

import struct
import zlib

FILE_HEADER = 24
FRAME = struct.Struct("<II")  # length, checksum
HOST, NAMES = 64, 67  # enum fs_record_kind
LENGTHS = {HOST: 432, NAMES: 544}
# Offset and size of texts.
HOST_NAME, HOST_BOOT_ID, HOST_TARGET = (184, 64), (248, 40), (304, 128)
NAMES_EXE, NAMES_CGROUP = (32, 256), (288, 256)


def change(block, where, new):
    """Replaces a NUL-padded text by what new() makes of it."""
    at, size = where
    text = new(block[at:at + size].split(b"\0")[0].decode(errors="surrogateescape"))
    block[at:at + size] = text.encode(errors="surrogateescape")[:size - 1].ljust(size, b"\0")


def without_place(block, root):
    kind = struct.unpack_from("<I", block)[0]
    assert len(block) == LENGTHS.get(kind, len(block)), f"a record of kind {kind} has another size"

    def below_root(text):
        return text.replace(str(root), "/src")

    if kind == HOST:
        change(block, HOST_NAME, lambda _: "host")
        change(block, HOST_BOOT_ID, lambda text: "0" * len(text))
        change(block, HOST_TARGET, below_root)
    if kind == NAMES:
        change(block, NAMES_EXE, lambda exe: below_root(exe) if exe.startswith(
            (str(root), "/src/", "/usr/", "/bin/")) else "")
        change(block, NAMES_CGROUP, lambda cgroup: cgroup and "/")


def changed(recording, change_block):
    """The bytes of a recording after change_block(block) of each record, which keeps its size."""
    out, at = bytearray(recording[:FILE_HEADER]), FILE_HEADER
    while at < len(recording):
        length = FRAME.unpack_from(recording, at)[0]
        at += FRAME.size
        block = bytearray(recording[at:at + length])
        at += length
        change_block(block)
        out += FRAME.pack(length, zlib.crc32(block)) + block
    return bytes(out)


def placeless(recording, root):
    """The bytes of a recording without the place it was made in; root is the checkout."""
    return changed(recording, lambda block: without_place(block, root))


def renamed(recording, old, new):
    """The bytes of a recording in which a process has another name (comm), of any bytes."""
    def rename(block):
        block[:] = block.replace(old.ljust(16, b"\0"), new[:15].ljust(16, b"\0"))

    return changed(recording, rename)
