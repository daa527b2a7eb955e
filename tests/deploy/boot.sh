#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Executes systemd in an overlay over this machine's root. systemd starts the units in the
# arguments. Run this script in new mount, pid, net, ipc, uts and cgroup namespaces. It also needs a
# control group of its own.
#
# usage: boot.sh PLACE PROGRAM UNITS UNIT...
#   PLACE: an empty directory
#   PROGRAM: a program that replaces /usr/bin/faultscope, or "" to keep the installed one
#   UNITS: a directory with unit files to install, or "" to install none
#
# The machine itself stays unchanged: its root is the lower layer of the overlay, sysctls and /sys
# are read-only, and its own units are not started. systemd may not set the clock or load modules.
set -eu
place=$1 program=$2 units=$3
shift 3
root=$place/root

mount -t tmpfs -o mode=755 tmpfs "$place"
mkdir "$place/upper" "$place/work" "$root"
mount -t overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" overlay "$root"
rm -rf "$root"/etc/systemd/system/* "$root"/lib/systemd/system/*.wants
# Debian container images have policy-rc.d, which prevents the start of services.
rm -f "$root/usr/sbin/policy-rc.d"
[ -z "$program" ] || cp "$program" "$root/usr/bin/faultscope"
[ -z "$units" ] || cp "$units"/*.service "$units"/*.socket "$root/etc/systemd/system"
printf '[Unit]\nWants=%s\n' "$*" >"$root/etc/systemd/system/faultscope-test.target"
mkdir -p "$root/var/lib/prometheus/node-exporter" "$root/oldroot"

mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,ro,bind "$root/proc/sys"
mount --rbind /sys "$root/sys"
mount --make-rslave "$root/sys"
mount -o remount,ro,bind "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
	touch "$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"

cd "$root"
pivot_root . oldroot
umount -l /oldroot
exec setpriv --bounding-set -sys_time,-sys_boot,-sys_module,-sys_rawio env -i container=other \
	PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system \
	--unit=faultscope-test.target --log-target=null --show-status=no
