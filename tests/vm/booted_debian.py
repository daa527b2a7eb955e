# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A guest with a minimal Debian system of a release, whose process 1 is systemd."""
from pathlib import Path
from subprocess import CompletedProcess

import fetch
import rootfs
from lab import quoted
from systemd_machine import SystemdMachine
from vm import MACHINES, Vm

HERE = Path(__file__).resolve().parent
KERNELS = {"bookworm": "6.1", "trixie": "6.12", "sid": "newest"}
MODULES = {"virtio_pci": "", "virtio_blk": ""}
FIRST = "/bin/guest_systemd.sh"
PATIENCE = 900  # timeout of a command in seconds; an emulated CPU unpacks packages slowly
# Units that need D-Bus, a terminal or udev, and units that only prolong the boot
MASKED = ("systemd-logind.service", "getty.target", "systemd-modules-load.service",
          "proc-sys-fs-binfmt_misc.automount", "systemd-binfmt.service", "timers.target",
          "systemd-journal-flush.service", "systemd-random-seed.service",
          "systemd-update-utmp.service")
# systemd's own timeouts are too short for an emulated CPU on a busy machine.
PATIENT = f"systemd.service_watchdogs=0 systemd.default_timeout_start_sec={PATIENCE}"
# What follows the installation of the packages. Services start in the guest because policy-rc.d is
# removed. AppArmor loads no profiles of other programs, because compiling them takes minutes. The
# agent of guests calls usleep, which is in busybox.
PREPARE = """$apt satisfy '{depends}'
rm /usr/sbin/policy-rc.d
find /etc/apparmor.d -maxdepth 1 -type f -delete
ln -s busybox /bin/usleep
"""
PACKAGES = "systemd-sysv", "apparmor", "busybox-static"


def image(suite, depends):
    """Returns the path of the image of a system that has the packages of a Depends field."""
    return rootfs.kept_image(f"{suite}-systemd", suite, [*PACKAGES, depends],
                             rootfs.install_script(PACKAGES, PREPARE.format(depends=depends)))


class Debian(SystemdMachine):
    """A guest with a copy of an image. `added` has files to copy into the system, as {path in the
    system: path here}."""
    patience = PATIENCE
    pause = 1
    reader = "busybox", "wget", "-q", "-O", "-"

    def __init__(self, suite, system, added):
        self.kernel = fetch.kernel(KERNELS[suite])
        self.system = system
        self.files = {FIRST: HERE / FIRST.rpartition("/")[2],
                      **{f"/added{path}": file for path, file in added.items()}}
        self.vm = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.vm:
            self.vm.close()

    def usable(self):
        return self.vm and self.vm.usable()

    def boot(self):
        """Boots the guest, unless it runs already."""
        if self.usable():
            return
        self.__exit__()
        masks = " ".join(f"systemd.mask={unit}" for unit in MASKED)
        line = MACHINES[self.kernel.arch].line
        self.vm = Vm(self.kernel, self.files, modules=MODULES, images=[self.system],
                     append=f"rdinit={FIRST} agent_line={line} systemd.unit=multi-user.target"
                            f" {PATIENT} {masks}")
        self.wait_for("the end of the boot", lambda: self.inside(
            "systemctl", "is-system-running").stdout.strip() in ("running", "degraded"))

    def inside(self, *argv):
        """Runs a command in the system."""
        ran = self.vm.run(f"PATH={rootfs.PATH} {quoted(argv)}", PATIENCE)
        return CompletedProcess(argv, ran.status, ran.out, ran.err)
