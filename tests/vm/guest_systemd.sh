#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The first program of a guest whose process 1 becomes systemd. Mounts the Debian system of the first
# disk, copies the files below /added into it, and executes systemd there. systemd starts
# guest_agent.sh, which the unit guest-agent.service names. The kernel's command line sets agent_line.
# shellcheck shell=dash
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
while read -r module arguments; do
	# shellcheck disable=SC2086 # a list of words
	insmod "/modules/$module" $arguments
done </modules/order
mkdir /system
mount -t ext4 /dev/vda /system
cp -r /added/* /system
mount -t tmpfs -o mode=755 run /system/run
wants=/system/run/systemd/system/sysinit.target.wants
mkdir -p $wants
cp /bin/guest_agent.sh /system/run
cat >/system/run/systemd/system/guest-agent.service <<END
[Unit]
Description=Agent that runs the commands of the test
DefaultDependencies=no
[Service]
ExecStart=/run/guest_agent.sh ${agent_line:-}
END
ln -s ../guest-agent.service $wants
umount /proc /dev
exec switch_root /system /sbin/init
