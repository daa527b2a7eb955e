# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A virtual machine with a kernel of tests/vm/fetch.py, and commands that run in it."""
import atexit
import base64
import ctypes
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import namedtuple
from pathlib import Path

import fetch
from initrd import initrd

# Timeout of the boot in seconds. An idle machine needs 4 s for the boot, a busy one three times as
# long.
BOOT_SECONDS = max(60.0, float(os.environ.get("FS_PATIENCE", 60)))
KVM_SECONDS = 15
RUN_SECONDS = float(os.environ.get("FS_PATIENCE", 60))  # see tests/e2e/harness.py
# Greatest number of bytes in a command. A command must fit into the guest's input buffers.
PUT_BYTES = 16384
PR_SET_PDEATHSIG = 1



class Ran(namedtuple("Ran", "status out err")):
    """Exit status and output of a command in the guest."""
    __slots__ = ()

    @property
    def returncode(self):
        """Returns the exit status, under the name that subprocess uses."""
        return self.status


# Console messages after which the results of the guest are worthless.
CRASHES = re.compile(r"Kernel panic|Oops\b|BUG: |kernel BUG at|general protection fault|"
                     r"Unable to handle kernel|WARNING: .*CPU|WARNING: .*\.[ch]:\d")
STALLS = re.compile(r"soft lockup|rcu.*stall|blocked for more than")


class GuestError(Exception):
    """Raised if the guest crashed, hangs or did not boot. The text of the exception has the end of
    the guest's console output."""


class Machine(namedtuple("Machine", "console line options append cpu")):
    """Options for guests of an architecture. console and line are the devices of the console and of
    the command line. options are for QEMU, and append is for the kernel. cpu is the CPU model."""
    __slots__ = ()


MACHINES = {
    "amd64": Machine("ttyS0", "/dev/ttyS1", ("-machine", "pc"),
                     "mitigations=off cryptomgr.notests tsc=reliable no_timer_check",
                     "max,-la57"),
    "arm64": Machine("ttyAMA0", "/dev/ttyAMA1", ("-machine", "virt"),
                     "mitigations=off cryptomgr.notests", "max,pauth=off"),
}


def end_with_parent():
    """Runs in the child process before exec, and makes the kernel kill QEMU when this process ends,
    even by SIGKILL."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def encode(command):
    """Encodes a text for the guest's `printf %b`, on one line."""
    return "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\0{byte:03o}"
                   for byte in command.encode("utf-8", "surrogateescape"))


def node_words(nodes, mib):
    words = []
    for node in range(nodes):
        words += ["-object", f"memory-backend-ram,id=node{node},size={mib}M",
                  "-numa", f"node,nodeid={node},cpus={node},memdev=node{node}"]
    return words


_kvm_works = {}


class Vm:
    """One guest. `with Vm(kernel, files) as vm:` ends the guest's QEMU in any case."""

    def __init__(self, kernel, files=None, append="", modules=None, memory_mib=1024, cpus=2,
                 disks_mib=(), nodes=1, images=(), devices=()):
        self.kernel = kernel
        self.machine = MACHINES[kernel.arch]
        self.qemu = fetch.qemu(kernel.arch)
        self.dir = Path(tempfile.mkdtemp(prefix="faultscope-vm-"))
        self.console_path = self.dir / "console"
        self.size = ["-m", str(memory_mib), "-smp", str(cpus)]
        if nodes > 1:  # each NUMA node gets one CPU
            self.size[-1] += f",sockets={cpus}"
            self.size += node_words(nodes, memory_mib // nodes)
        self.append = append
        self.devices = devices
        # Writes to a disk image go to a temporary file, which is deleted when the guest ends.
        self.disks = [*((path, "") for path in self.make_disks(disks_mib)),
                      *((path, ",snapshot=on") for path in images)]
        self.process = self.channel = None
        self.received = b""
        self.answers = {}
        self.last = 0
        self.boot_seconds = None
        self.hangs = False
        atexit.register(self.close)
        try:
            (self.dir / "initrd").write_bytes(initrd(
                kernel, fetch.busybox(kernel.arch), self.machine.line, files or {},
                modules or {}))
            self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # Functions for the QEMU process

    def make_disks(self, sizes_mib):
        """Makes empty disks as sparse files. In the guest, the disks are /dev/vda and following."""
        for number, mib in enumerate(sizes_mib):
            path = self.dir / f"disk{number}"
            with open(path, "wb") as file:
                file.truncate(mib << 20)
            yield path

    def disk_words(self):
        for number, (path, words) in enumerate(self.disks):
            yield from ("-drive", f"file={path},if=none,id=disk{number},format=raw,cache=unsafe"
                                  f"{words}",
                        "-device", f"virtio-blk-pci,drive=disk{number}")

    def accelerators(self):
        """Yields the options of QEMU for acceleration, the fastest first: KVM if it may work, then
        TCG."""
        program = self.qemu.program
        if (fetch.host_arch() == self.kernel.arch and os.access("/dev/kvm", os.R_OK | os.W_OK)
                and _kvm_works.get(program, True)):
            yield "kvm", ["-accel", "kvm", "-cpu", "host"]
        # TCG runs with a single thread. With several threads, a guest may run code that another CPU
        # has only partly patched.
        cpu = self.machine.cpu
        if self.qemu.version < (8, 0) and self.kernel.arch == "amd64":
            cpu += ",-cx16"  # disables cmpxchg16b (cx16), which QEMU 7 emulates wrongly
        yield "tcg", ["-accel", "tcg,thread=single", "-cpu", cpu]

    def start(self):
        for name, words in self.accelerators():
            try:
                self.boot(words, KVM_SECONDS if name == "kvm" else BOOT_SECONDS)
                self.accelerator = name
                return
            except GuestError as reason:
                self.stop()
                if name != "kvm":
                    raise
                _kvm_works[self.qemu.program] = False
                fetch.say(f"KVM does not work here: {str(reason).splitlines()[0]}")

    def boot(self, accelerator, seconds):
        path = self.dir / "channel"
        path.unlink(missing_ok=True)
        self.console_path.write_bytes(b"")
        append = f"console={self.machine.console} quiet loglevel=5 panic=-1 {self.machine.append}"
        argv = [self.qemu.program, *self.machine.options, *accelerator, *self.size,
                "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                *(word for place in self.qemu.data for word in ("-L", place)),
                "-kernel", self.kernel.vmlinuz, "-initrd", self.dir / "initrd",
                "-append", f"{append} {self.append}",
                *self.disk_words(), *self.devices,
                "-serial", f"file:{self.console_path}",
                "-chardev", f"socket,id=channel,path={path},server=on,wait=off",
                "-serial", "chardev:channel"]
        began = time.monotonic()
        with open(self.dir / "qemu", "wb") as said:
            self.process = subprocess.Popen([str(word) for word in argv], stdout=said,
                                            stderr=said, stdin=subprocess.DEVNULL,
                                            env=self.qemu.env(), preexec_fn=end_with_parent)
        self.connect(path, began + seconds)
        try:
            self.wait_for(0, began + seconds, "the boot")
        except TimeoutError:
            raise GuestError(self.story(f"no boot within {seconds} s")) from None
        self.boot_seconds = time.monotonic() - began

    def connect(self, path, deadline):
        self.channel = socket.socket(socket.AF_UNIX)
        self.channel.settimeout(0.2)
        self.received = b""
        while True:
            try:
                self.channel.connect(str(path))
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise GuestError(self.story("QEMU does not start")) from None
                time.sleep(0.02)

    def stop(self):
        """Ends the QEMU process that this object started."""
        if self.channel:
            self.channel.close()
            self.channel = None
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def close(self):
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)
        atexit.unregister(self.close)

    # Functions for the guest's console

    def console(self):
        try:
            return self.console_path.read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def crash(self):
        """Returns the text of the console around the first sign of a crash. Returns None if the
        console shows no sign of a crash."""
        text = self.console()
        found = CRASHES.search(text)
        if not found:
            return None
        return "\n".join(text[text.rfind("\n", 0, found.start()) + 1:].splitlines()[:30])

    def stalls(self):
        """Returns kernel messages about stalls, which explain a timeout on a busy machine."""
        return [line for line in self.console().splitlines() if STALLS.search(line)]

    def usable(self):
        return not self.hangs and self.process.poll() is None and not self.crash()

    def story(self, what):
        qemu = (self.dir / "qemu").read_text(errors="replace").strip()
        tail = "\n".join(self.console().splitlines()[-15:])
        return f"{self.kernel.name}: {what}\n{qemu}\n{self.crash() or tail}".strip()

    # Functions for commands in the guest

    def receive(self):
        """Receives pending data from the guest. Returns whether the guest is still connected."""
        try:
            data = self.channel.recv(65536)
        except TimeoutError:
            return True
        except OSError:
            return False
        self.received += data
        while self.take_answer():
            pass
        return bool(data)

    def take_answer(self):
        """Moves one complete answer of the guest from the received bytes to the list of answers."""
        start = self.received.find(b"@@ ")
        end = self.received.find(b"\n", start)
        if start < 0 or end < 0:
            return False
        number, status, out, err = map(int, self.received[start + 3:end].split())
        body = self.received[end + 1:end + 1 + out + err]
        if len(body) < out + err:
            return False
        self.received = self.received[end + 1 + out + err:]
        self.answers[number] = Ran(status, body[:out], body[out:])
        return True

    def wait_for(self, number, deadline, what):
        while number not in self.answers:
            alive = self.receive()
            if self.crash():
                time.sleep(0.5)  # wait until the rest of the console's text has arrived
                raise GuestError(self.story(f"the kernel crashed in {what}"))
            if not alive or self.process.poll() is not None:
                raise GuestError(self.story(f"the guest ended in {what}"))
            if time.monotonic() > deadline:
                raise TimeoutError(what)
        return self.answers.pop(number)

    def send(self, line):
        self.channel.settimeout(RUN_SECONDS)
        try:
            self.channel.sendall(line.encode() + b"\n")
        except OSError as reason:
            raise GuestError(self.story(f"no command gets through: {reason}")) from None
        finally:
            self.channel.settimeout(0.2)

    def begin(self, command):
        """Starts a shell command. Returns the command's number for finish()."""
        self.last += 1
        self.send(f"{self.last} {encode(command)}")
        return self.last

    def finish(self, number, timeout=RUN_SECONDS, what="a command"):
        """Waits for a command. After the timeout the command is killed, and GuestError is raised.
        """
        try:
            return self.wait_for(number, time.monotonic() + timeout, what)
        except TimeoutError:
            pass
        self.send(f"-{number}")
        try:
            ran = self.wait_for(number, time.monotonic() + 10, what)
            said = (ran.out + ran.err).decode(errors="replace")[-2000:]
        except TimeoutError:
            said = "and it cannot be killed"
            self.hangs = True
        raise GuestError(self.story(f"after {timeout:g} s still running: {what}\n{said}"))

    def run_bytes(self, command, timeout=RUN_SECONDS):
        return self.finish(self.begin(command), timeout, command[:200])

    def run(self, command, timeout=RUN_SECONDS):
        """Runs a shell command. Returns the command's status and output."""
        ran = self.run_bytes(command, timeout)
        return Ran(ran.status, ran.out.decode(errors="replace"), ran.err.decode(errors="replace"))

    def must(self, command, timeout=RUN_SECONDS):
        """Returns the output of a command that must succeed."""
        ran = self.run(command, timeout)
        if ran.status:
            raise GuestError(f"{self.kernel.name}: status {ran.status} of {command}: {ran.err}")
        return ran.out

    def put(self, path, data):
        """Writes a small file in the guest. Large files should be in the initrd."""
        quoted = shlex.quote(str(path))
        self.must(f": >{quoted}")
        for at in range(0, len(data), PUT_BYTES):
            text = base64.b64encode(data[at:at + PUT_BYTES]).decode()
            self.must(f"echo {text} | base64 -d >>{quoted}")

    def get(self, path):
        ran = self.run_bytes(f"cat {shlex.quote(str(path))}")
        if ran.status:
            raise FileNotFoundError(ran.err.decode(errors="replace").strip())
        return ran.out
