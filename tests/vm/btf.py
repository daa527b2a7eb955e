# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Extracts a kernel's BTF from its vmlinuz, without booting it."""
import bz2
import gzip
import lzma
import shutil
import struct
import subprocess
import zlib

from aptroot import Missing

BTF_MAGIC = struct.pack("<HBBI", 0xeb9f, 1, 0, 24)


def unpack_gzip(data):
    return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data)


def unpack_xz(data):
    return lzma.LZMADecompressor().decompress(data)


def unpack_bzip2(data):
    return bz2.BZ2Decompressor().decompress(data)


def unpack_by(*command):
    """Unpacks data with a Debian tool. The tool's warning about data behind the compressed stream
    is ignored."""
    def unpack(data):
        if not shutil.which(command[0]):
            raise Missing(f"{command[0]} is missing, and this kernel is packed by it")
        ran = subprocess.run(command, input=data, capture_output=True, check=False, timeout=120)
        if not ran.stdout:
            raise Missing(f"{' '.join(command)}: {ran.stderr.decode().strip()}")
        return ran.stdout
    return unpack


PACKED = (
    (b"\x1f\x8b\x08", unpack_gzip),
    (b"\xfd7zXZ\0", unpack_xz),
    (b"BZh", unpack_bzip2),
    (b"\x28\xb5\x2f\xfd", unpack_by("zstd", "-dcqq")),
    (b"\x02\x21\x4c\x18", unpack_by("lz4", "-dcqq")),
    (b"\x5d\0\0", unpack_xz),
)


def payload(image):
    """Returns the compressed kernel in a bzImage or an EFI zboot image. If the image is not
    compressed, returns the image itself."""
    if image[0x202:0x206] == b"HdrS":
        start = (image[0x1f1] + 1) * 512 + struct.unpack_from("<I", image, 0x248)[0]
        return image[start:start + struct.unpack_from("<I", image, 0x24c)[0]]
    if image[:2] == b"MZ" and image[4:8] == b"zimg":
        start, size = struct.unpack_from("<II", image, 8)
        return image[start:start + size]
    return image


def unpack_kernel(image):
    packed = payload(image)
    for magic, unpack in PACKED:
        if packed.startswith(magic):
            return unpack(packed)
    return packed


def elf_section(data, wanted):
    """Returns a section of a 64-bit little-endian ELF file, or None."""
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    table = struct.unpack_from("<Q", data, 40)[0]
    entry, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<II8xQQQ", data, table + i * entry)
               for i in range(count)]
    base = headers[names][3]
    for name, _, _, offset, size in headers:
        end = data.index(b"\0", base + name)
        if data[base + name:end] == wanted:
            return data[offset:offset + size]
    return None


def find_btf(data):
    """Returns the largest block of data with a valid BTF header. (An arm64 Image has no ELF
    sections to search.)"""
    best = b""
    at = data.find(BTF_MAGIC)
    while at >= 0:
        types, type_len, strings, string_len = struct.unpack_from("<IIII", data, at + 8)
        end = at + 24 + max(types + type_len, strings + string_len)
        if end <= len(data) and end - at > len(best) and data[at + 24 + strings] == 0:
            best = data[at:end]
        at = data.find(BTF_MAGIC, at + 1)
    return best or None


def extract(vmlinuz):
    kernel = unpack_kernel(vmlinuz.read_bytes())
    found = elf_section(kernel, b".BTF") or find_btf(kernel)
    if not found:
        raise Missing(f"no BTF in {vmlinuz.name}")
    return found


def unpack_module(path):
    """Returns the bytes of a module, however the distribution compressed it."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        return unpack_by("zstd", "-dcqq")(data)
    return data
