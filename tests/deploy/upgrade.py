#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Upgrades, downgrades, removes and purges the Debian packages under a booted systemd. Prints TAP.

usage: upgrade.py EARLIER LATER

EARLIER and LATER are directories that `tools/deb.sh` filled with two versions of the packages. The
test machine consists of namespaces over this machine's root (booted.py). tests/vm/upgrade_guest.py
does the same in a guest with a kernel of its own.
"""
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "e2e"), str(HERE.parents[1] / "tools")]

from booted import Machine  # noqa: E402
from deployed import packages  # noqa: E402
from run import Tap  # noqa: E402
from upgrade_checks import CHECKS, RECORDER  # noqa: E402

# Drop-in that replaces the flight recorder by `sleep`. The test only needs a running unit; the
# flight recorder itself would need its own kernel log and tracefs.
IDLE = "[Service]\nExecStart=\nExecStart=/bin/sleep infinity\n"


class Host(Machine):
    """A machine with the packages of both versions."""

    def __init__(self):
        super().__init__(None, None, "basic.target")

    def boot(self):
        super().boot()
        root = Path(f"/proc/{self.first}/root")
        for place, where in (("earlier", sys.argv[1]), ("later", sys.argv[2])):
            (root / place).mkdir()
            for name, path in packages(Path(where)).items():
                shutil.copy(path, root / place / f"{name}.deb")
        drop_in = root / f"etc/systemd/system/{RECORDER}.d"
        drop_in.mkdir(parents=True)
        (drop_in / "idle.conf").write_text(IDLE, encoding="ascii")
        self.inside("mkdir", "-p", "/var/lib/faultscope/incidents")


def main():
    tap = Tap()
    for name, body in CHECKS:
        tap.test(f"upgrade: {name}", body, Host)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
