#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs a command with a copy of /dev, since a mutant that runs as root may remove or replace the
# device that it writes to. The script also hides the records of this machine's own flight recorder,
# which live tests would report as findings.
#
# usage: unshare --mount own_dev.sh COMMAND...	in a mount namespace of its own
set -eu
old=$(mktemp -d)
mount --rbind /dev "$old"
mount -t tmpfs -o mode=755 tmpfs /dev
cp -ax "$old/." /dev
for inner in pts shm; do
	[ ! -d "$old/$inner" ] || mount --bind "$old/$inner" "/dev/$inner"
done
chmod a+w /dev/kmsg # tests of the flight recorder write to this device
umount -R -l "$old"
rmdir "$old"
[ ! -d /var/lib/faultscope ] || mount -t tmpfs -o mode=755 tmpfs /var/lib/faultscope
exec "$@"
