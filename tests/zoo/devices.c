/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of requests that the driver of a character device refuses. */
#include "zoo.h"

#include <dirent.h>
#include <linux/btrfs.h>
#include <linux/capability.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/kvm.h>
#include <linux/udmabuf.h>
#include <linux/vfio.h>
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

/* A buffer of a sealed memfd: each one needs a file descriptor. */
static void makes_buffer(void)
{
	static struct udmabuf_create request = { .size = PAGE_BYTES };
	int fd = device("/dev/udmabuf"), file = memfd_create("zoo", MFD_ALLOW_SEALING);

	if (file < 0 || ftruncate(file, PAGE_BYTES) || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK))
		die("memfd");
	request.memfd = file;
	leave_free(0);
	ASK(ioctl, fd, UDMABUF_CREATE, P(&request));
}

/*
 * Test cases of VFIO, which maps memory of a process for a device. The guest has an unused PCI
 * device behind an emulated IOMMU.
 */
#define PCI_DEVICES "/sys/bus/pci/devices"
#define UNUSED_DEVICE "0x1b360005" /* vendor and device of QEMU's pci-testdev */
#define VFIO_ENTRIES "/sys/module/vfio_iommu_type1/parameters/dma_entry_limit"

static struct vfio_iommu_type1_dma_map wanted_map = {
	.argsz = sizeof(wanted_map),
	.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
};

static unsigned long read_hex(const char *device, const char *file)
{
	char path[512], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/%s", device, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		die("%s", path);
	close(fd);
	return strtoul(text, NULL, 16);
}

/* Finds the unused PCI device. Writes its name. */
static void find_device(char ret[NAME_MAX + 1])
{
	DIR *all = opendir(PCI_DEVICES);
	struct dirent *one;

	while (all && (one = readdir(all)))
		if ((read_hex(one->d_name, "vendor") << 16 | read_hex(one->d_name, "device")) ==
		    strtoul(UNUSED_DEVICE, NULL, 16)) {
			strcpy(ret, one->d_name);
			closedir(all);
			return;
		}
	skip("no unused PCI device");
}

/* Opens the group of the device, which gets the driver vfio-pci. */
static int open_group(const char *name)
{
	char path[512], target[512], group[64];
	ssize_t len;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/driver_override", name);
	if (!write_text(path, "vfio-pci"))
		die("%s", path);
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/driver", name);
	if (access(path, F_OK) && !write_text("/sys/bus/pci/drivers_probe", name))
		die("drivers_probe");
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/iommu_group", name);
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		skip("the PCI device has no IOMMU");
	target[len] = '\0';
	snprintf(group, sizeof(group), "/dev/vfio/%.32s", strrchr(target, '/') + 1);
	return device(group);
}

/* Opens a VFIO container, and asks it to map `bytes` of memory. */
static int open_container(size_t bytes)
{
	int container = device("/dev/vfio/vfio"), group;
	char name[NAME_MAX + 1];

	find_device(name);
	group = open_group(name);
	if (ioctl(group, VFIO_GROUP_SET_CONTAINER, &container) ||
	    ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU))
		skip("VFIO_SET_IOMMU: %s", strerror(errno));
	wanted_map.vaddr = P(map_anon(bytes, RW, 0));
	wanted_map.iova = wanted_map.size = bytes;
	ASK(ioctl, container, VFIO_IOMMU_MAP_DMA, P(&wanted_map));
	return container;
}

static void maps_beyond_memlock(void)
{
	open_container(MIB);
	room_memlock(MIB - PAGE_BYTES);
}

static int full_container;

static void maps_beyond_entries(void)
{
	machine_setting(VFIO_ENTRIES, 1);
	full_container = open_container(PAGE_BYTES);
	if (ioctl(full_container, VFIO_IOMMU_MAP_DMA, &wanted_map))
		die("VFIO_IOMMU_MAP_DMA");
	wanted_map.iova += PAGE_BYTES;
}

static void unmap_entry(void)
{
	struct vfio_iommu_type1_dma_unmap entry = {
		.argsz = sizeof(entry),
		.iova = PAGE_BYTES,
		.size = PAGE_BYTES,
	};

	if (ioctl(full_container, VFIO_IOMMU_UNMAP_DMA, &entry))
		die("VFIO_IOMMU_UNMAP_DMA");
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
	{ "udmabuf-nofile", NOFILE(makes_buffer) },
	{ "vfio-memlock", { "ioctl", ENOMEM, "rlimit_memlock" }, maps_beyond_memlock, NULL,
	  raise_ipc_lock, .guest = true },
	{ "vfio-entries", { "ioctl", ENOSPC, "device" }, maps_beyond_entries, NULL, unmap_entry,
	  .guest = true },
	{ "control-devices", .make = fails_as_usual, .control = true },
	{ NULL },
};
