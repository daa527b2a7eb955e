// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which cause faultscope names if a driver refuses a request of a program. */
#include <string.h>

#include "cause_fixture.h"

#define DEVICE(major, minor) ((major) << 20 | (minor))
#define CREATE_VM	     0xae01

static void begin_device(enum call_id call, int error, const char *name, const char *driver)
{
	begin(call, error);
	is_of(0020666, FMODE_READ | FMODE_WRITE, 0);
	snprintf(r.file.name, sizeof(r.file.name), "%s", name);
	snprintf(r.device.driver, sizeof(r.device.driver), "%s", driver);
	r.device.number = DEVICE(231, 192);
	r.args[1] = CREATE_VM;
}

static const char *about(const char *field)
{
	for (size_t i = 0; i < v.nr_evidence; i++)
		if (!strcmp(v.evidence[i].field, field))
			return v.evidence[i].text;
	return "none";
}

static void test_memlock(void)
{
	begin_device(CALL_IOCTL, ENOMEM, "uverbs0", "ib_uverbs");
	r.memlock_limit_bytes = 64 * PAGE;
	r.device.pinned_pages = 64;
	is_cause("rlimit_memlock", true, "no pinned page is left");
	is_u64(v.need, 0, "how much the call requested is not known");
	is_str(about("device"), "uverbs0", "the device is named");
	r.device.pinned_pages = 63;
	is_cause("rlimit_memlock", false, "some pages are left: the request may have been larger");
	r.call = CALL_WRITE;
	is_cause("rlimit_memlock", false, "older libraries write their requests");
	r.facts = FACT_IPC_LOCK;
	is_cause("device", false, "CAP_IPC_LOCK lifts the limit");
	r.facts = 0;
	r.memlock_limit_bytes = UINT64_MAX;
	is_cause("device", false, "there is no limit");
	begin_device(CALL_IOCTL, ENOMEM, "vfio", "vfio");
	r.memlock_limit_bytes = 64 * PAGE;
	r.locked_vm_pages = 64;
	is_cause("rlimit_memlock", true, "VFIO counts locked pages: none is left");
	r.locked_vm_pages = 63;
	r.device.pinned_pages = 64;
	is_cause("rlimit_memlock", false, "it does not count pinned pages");
	is_u64(v.evidence[0].value, 63 * PAGE, "the evidence is what it counts");
	begin_device(CALL_IOCTL, ENOMEM, "kvm", "kvm");
	r.memlock_limit_bytes = 0;
	is_cause("device", false, "other drivers do not count pinned pages so");
	begin_device(CALL_IOCTL, EPERM, "uverbs0", "ib_uverbs");
	r.memlock_limit_bytes = 0;
	is_cause("device_right", false, "another error");
}

static void test_errors(void)
{
	begin_device(CALL_IOCTL, ENOMEM, "kvm", "kvm");
	is_cause("device", false, "no limit explains it");
	r.memory = (struct level_room){.used = 100, .limit = 100, .known = 1};
	is_cause("cgroup_memory", false, "the cgroup is full");
	NO_NEXT("a driver has no limit of its own");
	begin_device(CALL_IOCTL, EMFILE, "kvm", "kvm");
	hold_fds(&r, r.fd_soft);
	is_cause("rlimit_nofile", true, "no file descriptor is left");
	NO_NEXT("nor has it after RLIMIT_NOFILE");
	begin_device(CALL_IOCTL, EMFILE, "card0", "amdgpu");
	hold_fds(&r, 3);
	is_cause("device", false, "file descriptors are left: the driver has too many contexts");
	begin_device(CALL_IOCTL, EAGAIN, "card0", "amdgpu");
	is_cause("device_busy", false, "EAGAIN");
	begin_device(CALL_WRITE, ENOSPC, "thing", "");
	is_cause("device", false, "a write without space");
	is_str(about("driver"), "in the kernel image", "a driver without a module");
	is_str(about("request"), "none", "a write has no request number");
	is_str(about("device number"), "231:192", "major and minor number");
	r.device.number = 0;
	strcpy(r.device.driver, "kvm");
	is_cause("device", false, "a file that a driver made");
	is_str(about("device number"), "none", "which has no number");
	r.device.driver[0] = 0;
	is_cause("unknown", false, "a record without a device");
}

/* Returns the name of a request to a device file. */
static const char *name(const char *file, uint32_t request)
{
	begin_device(CALL_IOCTL, ENOMEM, file, "");
	r.args[1] = request;
	cause_of(&r, &l, arch, &v);
	return about("request");
}

static void test_names(void)
{
	is_str(name("kvm", CREATE_VM), "KVM_CREATE_VM", "a request of KVM");
	is_str(name("kvm", 0xae02), "0xae02", "one without a name");
	is_str(name("kvmthing", CREATE_VM), "0xae01", "a file of another name");
	is_str(name("renderD128", 0xc01064bf), "DRM_IOCTL_SYNCOBJ_CREATE", "direction and size");
	is_str(name("card", 0xc01064bf), "DRM_IOCTL_SYNCOBJ_CREATE", "no number");
	is_str(name("nvidia3", 0xc020462b), "NV_ESC_RM_ALLOC", "a GPU");
	is_str(name("nvidia-uvm", 0x30000001), "UVM_INITIALIZE", "a request without _IOC()");
	is_str(name("nvidia-uvm", 1), "0x1", "its lower bits are another request");
	is_str(name("nvidia-uvm", 73), "UVM_CREATE_EXTERNAL_RANGE", "a small number");
	is_str(name("007", 0x8038550a), "USBDEVFS_SUBMITURB", "files that are named by numbers");
	is_str(name("usb", 0x8038550a), "0x8038550a", "and no others");
}

int main(void)
{
	test_memlock();
	test_errors();
	test_names();
	return tap_done();
}
