#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes a Debian system for guests, as an image of an ext4 file system.

The system has the release of this machine and the packages of `tools/setup.sh healthy torch`. In
the guest's system, the directory /mirror is a Debian mirror that apt reads without a network. It
has the package lists of the whole release, and one package. The image is kept in the cache of
tests/vm/fetch.py until the list of packages changes. Guests write to a copy. Making the image needs
root and debootstrap, downloads about 1 GB and takes some minutes.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import fetch  # noqa: E402
from aptroot import Missing, os_release  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DISTROS = ROOT / "tests/distros"
GROUPS = ("healthy", "torch")
FREE_MIB = 3072  # free space in MiB for files that the programs write
# PATH of programs in a guest's Debian system
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Script that fills the directory of the system. The file policy-rc.d keeps services from starting in
# this directory.
INSTALL = r"""set -e
export DEBIAN_FRONTEND=noninteractive
apt="apt-get -q -y --no-install-recommends -o DPkg::Options::=--force-unsafe-io"
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d
apt-get -q update
$apt install {packages}
{then}apt-get clean
rm -rf /var/lib/apt/lists/*
"""
# Makes the mirror. It contains the package lists that apt has verified. It cannot contain Debian's
# own Release file, because that file names only compressed lists, and apt keeps none.
MIRROR = r"""file=$(apt-cache show --no-all-versions coreutils | sed -n 's/^Filename: //p')
arch=$(dpkg --print-architecture)
list=main/binary-$arch/Packages
mkdir -p "/mirror/dists/{suite}/main/binary-$arch" "/mirror/$(dirname "$file")"
cd "/mirror/$(dirname "$file")"
apt-get -q -o APT::Sandbox::User=root download coreutils
[ -e "/mirror/$file" ] || mv coreutils_*.deb "/mirror/$file"
cd /mirror/dists/{suite}
cp /var/lib/apt/lists/*_Packages $list
cat >Release <<END
Suite: {suite}
Codename: {suite}
Date: $(date -u '+%a, %d %b %Y %H:%M:%S UTC')
Components: main
Architectures: $arch
SHA256:
 $(sha256sum <$list | cut -d' ' -f1) $(stat -c %s $list) $list
END
echo 'deb [trusted=yes] file:/mirror {suite} main' >/etc/apt/sources.list
rm -f /etc/apt/sources.list.d/*
"""


def install_script(packages, then):
    """Returns a script for make(), which installs packages and then runs the lines `then`."""
    return INSTALL.format(packages=" ".join(packages), then=then)


def wanted_packages():
    return sorted(subprocess.run([ROOT / "tools/setup.sh", "--print", *GROUPS], check=True,
                                 capture_output=True, text=True).stdout.split())


def call(log, *words):
    with open(log, "ab") as out:
        ran = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False)
    if ran.returncode:
        end = " | ".join(log.read_text(errors="replace").splitlines()[-3:])
        raise Missing(f"{Path(words[0]).name} ended with {ran.returncode}: {end}")


def make(suite, script, image, log):
    """Makes an image of a Debian system in which a script ran."""
    with tempfile.TemporaryDirectory(prefix="faultscope-root-", ignore_cleanup_errors=True) as place:
        root = Path(place, "root")
        call(log, DISTROS / "bootstrap.sh", suite, root)
        (root / "root/faultscope").mkdir()  # enter.sh runs commands in this directory
        call(log, "unshare", "--mount", DISTROS / "enter.sh", root, script)
        used = int(subprocess.run(["du", "-sxm", root], check=True, capture_output=True,
                                  text=True).stdout.split()[0])
        new = image.with_suffix(".new")
        new.unlink(missing_ok=True)
        call(log, "mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", root, new,
             f"{used * 11 // 10 + FREE_MIB}M")
        new.rename(image)


def kept_image(name, suite, packages, script, update=False):
    """Returns the path of an image in the cache. Makes the image if there is none with this list of
    packages. Raises Missing if the image cannot be made."""
    kept = fetch.Kept("roots", name)
    path = kept.dir / "root.ext4"
    if not update and path.exists() and kept.packages() == packages:
        return path
    if os.geteuid():
        raise Missing("a Debian system can be made by root alone")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for name in ("debootstrap", "mke2fs"):
        if not shutil.which(name):
            raise Missing(f"{name} is missing: tools/setup.sh distros test")
    kept.dir.mkdir(parents=True, exist_ok=True)
    log = kept.dir / "log"
    log.write_bytes(b"")
    fetch.say(f"a Debian system for guests is made in {path}, which takes some minutes")
    make(suite, script, path, log)
    kept.note_packages(packages)
    return path


def image(update=False):
    suite, packages = os_release().get("VERSION_CODENAME", ""), wanted_packages()
    return kept_image(suite, suite, packages,
                      install_script(packages, MIRROR.format(suite=suite)), update)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--update", action="store_true", help="make a current image again, too")
    try:
        print(image(parser.parse_args().update))
    except Missing as reason:
        sys.exit(f"rootfs: {reason}")


if __name__ == "__main__":
    main()
