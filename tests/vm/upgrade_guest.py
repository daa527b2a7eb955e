#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Upgrades, downgrades, removes and purges the Debian packages in guests with a booted Debian.

For each SUITE (bookworm, trixie, sid), build/distros/SUITE/earlier and .../later have two versions of
the packages: tests/distros/run.sh --packages builds them in that release. A guest has the release's
kernel and systemd. All services really run in it, also the flight recorder. Prints TAP. Needs root,
debootstrap and QEMU. On a busy machine, set FS_PATIENCE (tests/e2e/harness.py).
"""
import argparse
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / part) for part in ("tests/e2e", "tests/deploy", "tools")]

from aptroot import Missing  # noqa: E402
from beside import take_signals  # noqa: E402
from booted_debian import KERNELS, Debian, image  # noqa: E402
from deployed import packages  # noqa: E402
from pressure import e2e_tap  # noqa: E402
from upgrade_checks import CHECKS, MIXIN, PROGRAM, SERVICE  # noqa: E402
from vm import GuestError  # noqa: E402

PLACE = ROOT / "build/distros"


def versions(suite):
    """Returns the packages of both versions, as {path in the guest: path}."""
    found = {f"/{version}/{name}.deb": path for version in ("earlier", "later")
             for name, path in packages(PLACE / suite / version).items()}
    if not found:
        raise Missing(f"no packages in {PLACE / suite}: tests/distros/run.sh --packages {suite}")
    return found


def depends(path):
    return subprocess.run(["dpkg-deb", "-f", path, "Depends"], check=True, capture_output=True,
                          text=True).stdout.strip()


class Cleaned:
    """A machine for one check: the guest of all checks, from which the packages are purged after
    the check, because a boot takes minutes on an emulated CPU."""

    def __init__(self, guest):
        self.guest = guest

    def __enter__(self):
        return self.guest

    def __exit__(self, *_):
        if self.guest.usable():
            self.guest.inside("dpkg", "-P", MIXIN, SERVICE, PROGRAM)


def test(check, guest, body):
    try:
        body(check, lambda: Cleaned(guest))
    except GuestError as reason:
        check.that(False, str(reason))


def test_suite(tap, suite, checks):
    try:
        added = versions(suite)
        guest = Debian(suite, image(suite, depends(added[f"/later/{PROGRAM}.deb"])), added)
    except Missing as reason:
        tap.say(f"upgrade in a guest, {suite}", skip=str(reason))
        return
    with guest:
        for name, body in checks:
            tap.test(f"upgrade in a guest, {suite}: {name}", test, guest, body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", metavar="TEXT", default="",
                        help="run only checks whose name contains TEXT")
    parser.add_argument("suites", metavar="SUITE", nargs="+", choices=KERNELS)
    options = parser.parse_args()
    take_signals()
    tap = e2e_tap()
    for suite in options.suites:
        test_suite(tap, suite, [row for row in CHECKS if options.only in row[0]])
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
