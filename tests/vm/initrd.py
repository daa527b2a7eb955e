# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes a guest's initial file system: busybox, scripts, kernel modules and given files."""
import re
import stat
from pathlib import Path

import btf
from aptroot import Missing

HERE = Path(__file__).resolve().parent
DIRECTORIES = ("bin", "dev", "etc", "modules", "proc", "run", "sys", "tmp")


class Cpio:
    """An archive in the kernel's "newc" cpio format. The archive is not compressed, because
    unpacking is slow under TCG."""

    def __init__(self):
        self.parts = []
        self.known = set()

    def entry(self, path, mode, data=b"", device=(0, 0)):
        name = path.encode() + b"\0"
        fields = (len(self.parts) + 1, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
        self.parts.append(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))

    def directory(self, path):
        if path in self.known or not path:
            return
        self.directory(path.rpartition("/")[0])
        self.known.add(path)
        self.entry(path, stat.S_IFDIR | 0o755)

    def file(self, path, data, mode=0o755):
        path = path.lstrip("/")
        self.directory(path.rpartition("/")[0])
        self.entry(path, stat.S_IFREG | mode, data)

    def link(self, path, target):
        path = path.lstrip("/")
        self.directory(path.rpartition("/")[0])
        self.entry(path, stat.S_IFLNK | 0o777, target.encode())

    def node(self, path, major, minor):
        self.entry(path, stat.S_IFCHR | 0o600, device=(major, minor))

    def bytes(self):
        self.entry("TRAILER!!!", 0)
        return b"".join(self.parts)


def module_name(path):
    return path.name.partition(".ko")[0].replace("-", "_")


def modules_of(kernel):
    """Returns the modules of a kernel as {name: path}, and the names of those that are built in."""
    paths = {module_name(path): path for path in kernel.modules.rglob("*.ko*")}
    builtin = (kernel.modules / "modules.builtin").read_text(encoding="utf-8").splitlines()
    return paths, {module_name(Path(line)) for line in builtin}


def has_module(kernel, name):
    paths, builtin = modules_of(kernel)
    return name in paths or name in builtin


def modules_wanted(kernel, names):
    """Returns (name, bytes) of kernel modules, each after its dependencies. Modules that are built
    in are left out."""
    paths, builtin = modules_of(kernel)
    done = {}

    def add(name):
        name = name.replace("-", "_")
        if name in done or name in builtin:
            return
        if name not in paths:
            raise Missing(f"kernel {kernel.release} has no module {name}")
        data = btf.unpack_module(paths[name])
        found = re.search(rb"\0depends=([^\0]*)\0", data)
        for other in found[1].decode().split(",") if found else ():
            if other:
                add(other)
        done[name] = data

    for name in names:
        add(name)
    return done.items()


def initrd(kernel, busybox, line, files, modules):
    """Returns the initrd. `files` maps guest paths to bytes or to paths on this machine; `modules`
    maps names to arguments."""
    cpio = Cpio()
    for path in DIRECTORIES:
        cpio.directory(path)
    cpio.node("dev/console", 5, 1)
    cpio.file("bin/busybox", busybox.read_bytes())
    cpio.link("init", "bin/busybox")
    cpio.link("bin/sh", "busybox")
    for script in ("guest_init.sh", "guest_agent.sh"):
        cpio.file(f"bin/{script}", (HERE / script).read_bytes())
    cpio.file("etc/inittab", f"""\
::sysinit:/bin/busybox --install -s /bin
::sysinit:/bin/guest_init.sh
::once:/bin/guest_agent.sh {line}
""".encode())
    order = []
    for name, data in modules_wanted(kernel, modules):
        cpio.file(f"modules/{name}.ko", data)
        order.append(f"{name}.ko {modules.get(name, '')}\n")
    cpio.file("modules/order", "".join(order).encode())
    for path, content in files.items():
        cpio.file(path, content if isinstance(content, bytes) else Path(content).read_bytes())
    return cpio.bytes()
