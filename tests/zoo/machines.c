/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of virtual machines of KVM, in a guest whose CPU has an emulated SVM. */
#include "zoo.h"

#include <linux/kvm.h>
#include <sys/ioctl.h>

/* With shadow page tables, the kernel needs 8 bytes of its own for each page of the machine. */
#define TOO_LARGE (4096 * GIB)

static struct kvm_userspace_memory_region memory = { .userspace_addr = GIB };

static void maps_too_much(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), machine;

	if (kvm < 0)
		skip("/dev/kvm: %s", strerror(errno));
	machine = ioctl(kvm, KVM_CREATE_VM, 0);
	if (machine < 0)
		skip("KVM_CREATE_VM: %s", strerror(errno));
	memory.memory_size = TOO_LARGE;
	ASK(ioctl, machine, KVM_SET_USER_MEMORY_REGION, P(&memory));
}

static void map_little(void)
{
	memory.memory_size = MIB;
}

const struct zoo_case machine_cases[] = {
	{ "kvm-memory", { "ioctl", ENOMEM, "device", .undecidable = true }, maps_too_much, NULL,
	  map_little, .guest = true },
	{ 0 },
};
