/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of requests that the driver of a character device refuses. */
#include "zoo.h"

#include <linux/btrfs.h>
#include <linux/capability.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>

/* Constants that headers of some distributions lack */
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif

static int device(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		skip("%s: %s", path, strerror(errno));
	return fd;
}

static void makes_machine(void)
{
	int kvm = device("/dev/kvm"), made = ioctl(kvm, KVM_CREATE_VM, 0);

	if (made < 0)
		skip("KVM_CREATE_VM: %s", strerror(errno));
	close(made);
	leave_free(0);
	ASK(ioctl, kvm, KVM_CREATE_VM, 0);
}

static void makes_userfaultfd(void)
{
	int fd = device("/dev/userfaultfd");

	leave_free(0);
	ASK(ioctl, fd, USERFAULTFD_IOC_NEW, O_CLOEXEC);
}

static void makes_interface(void)
{
	static struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = device("/dev/net/tun");

	drop_capability(CAP_NET_ADMIN);
	ASK(ioctl, fd, TUNSETIFF, P(&request));
}

static void get_net_admin(void)
{
	raise_capability(CAP_NET_ADMIN);
}

static void asks_file_system(void)
{
	static struct btrfs_ioctl_feature_flags features[3];
	int fd = device("/dev/btrfs-control");

	drop_capability(CAP_SYS_ADMIN);
	ASK(ioctl, fd, BTRFS_IOC_GET_SUPPORTED_FEATURES, P(features));
}

static void get_sys_admin(void)
{
	raise_capability(CAP_SYS_ADMIN);
}

static void expect_error(long ret, int error, const char *what)
{
	if (ret != -1 || errno != error)
		die("%s did not fail with %s, but returned %ld", what, strerrorname_np(error), ret);
}

/* Requests that fail in normal work */
static long fails_as_usual(void)
{
	int terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int full = device("/dev/full"), files[2];
	char byte = 0;

	if (terminal < 0 || pipe2(files, O_NONBLOCK | O_CLOEXEC))
		die("ptmx and pipe");
	expect_error(ioctl(terminal, KVM_CREATE_VM, 0), ENOTTY, "a request of another driver");
	expect_error(write(full, &byte, 1), ENOSPC, "a write to /dev/full");
	while (write(files[1], &byte, 1) == 1)
		continue;
	expect_error(write(files[1], &byte, 1), EAGAIN, "a write to a full pipe");
	expect_error(ioctl(-1, KVM_CREATE_VM, 0), EBADF, "a request to no file");
	return 0;
}

#define RIGHT(prepare, lift) { "ioctl", EPERM, "device_right" }, prepare, NULL, lift
#define NOFILE(prepare) { "ioctl", EMFILE, "rlimit_nofile" }, prepare, NULL, restore_nofile

const struct zoo_case device_cases[] = {
	{ "kvm-nofile", NOFILE(makes_machine) },
	{ "userfaultfd-nofile", NOFILE(makes_userfaultfd) },
	{ "tun-right", RIGHT(makes_interface, get_net_admin) },
	{ "btrfs-right", RIGHT(asks_file_system, get_sys_admin) },
	{ "control-devices", .make = fails_as_usual, .control = true },
	{ NULL },
};
