#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The first script of a guest, started by busybox init. Mounts file systems, loads modules, and
# starts guest_agent.sh.
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /tmp /run
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t tmpfs run /run
mount -t debugfs debug /sys/kernel/debug
mount -t tracefs trace /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup /sys/fs/cgroup
[ ! -d /sys/fs/pstore ] || mount -t pstore pstore /sys/fs/pstore
ln -s /proc/self/fd /dev/fd
while read -r module arguments; do
	# shellcheck disable=SC2086 # a list of words
	insmod "/modules/$module" $arguments
done </modules/order
ip link set lo up
