#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Changes the root to a directory with this machine's /proc, /sys and /dev, and runs a command in
# the clone of faultscope in this directory. Run enter.sh in a mount namespace of its own.
#
# usage: enter.sh ROOT COMMAND	COMMAND: for sh -c
set -eu
root=$1 command=$2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
cd "$root"
pivot_root . mnt
umount -l /mnt
cd /root/faultscope
exec env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "$command"
