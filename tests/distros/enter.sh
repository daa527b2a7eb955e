#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Mounts this machine's /proc, /sys and /dev in the directory ROOT and changes the root to ROOT.
# Then runs a command in ROOT's clone of faultscope. Run enter.sh in a mount namespace of its own.
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
