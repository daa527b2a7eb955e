#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a minimal Debian in a directory, from the mirror of this machine's apt sources. enter.sh
# runs commands in this Debian. Needs root and debootstrap.
#
# usage: bootstrap.sh SUITE ROOT	SUITE: bookworm, trixie, sid
set -eu
suite=$1 root=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$PATH:/usr/sbin:/sbin
command -v debootstrap >/dev/null || {
	echo "debootstrap is missing: tools/setup.sh distros" >&2
	exit 1
}
mirror=$(cd "$top/tools" && python3 -B -c 'import aptroot; print(aptroot.mirrors()[0][0])')
debootstrap --variant=minbase --include=ca-certificates,git "$suite" "$root" "$mirror"
# If a mirror was not updated for some days, its Release file has expired. With this setting, apt
# accepts it nevertheless.
echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90mirror"
for file in resolv.conf hosts; do
	cp "/etc/$file" "$root/etc/$file"
done
