// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Checks of requests to the driver of a character device: ioctl() and write(). Kernel sources:
 * drivers/infiniband/core/umem.c, drivers/vfio/vfio_iommu_type1.c,
 * include/uapi/asm-generic/ioctl.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rules/request.h"

/* Bits of _IOC_TYPE() and _IOC_NR(), equal on every architecture that faultscope supports */
#define TYPE_AND_NUMBER 0xffff

static const struct {
	const char *file;
	uint32_t mask, value; /* the bits of a request that matter, and their value */
	const char *name;
} requests[] = {
#define REQUEST(file, type, number, name) {file, TYPE_AND_NUMBER, (type) << 8 | (number), name},
#define REQUEST_VALUE(file, value, name)  {file, UINT32_MAX, value, name},
#include "rules/device_requests.def"
};

/* Returns whether the name of a device file is `stem`, or `stem` and digits. */
static bool is_numbered(const char *name, const char *stem)
{
	size_t len = strlen(stem);

	return !strncmp(name, stem, len) && !name[len + strspn(name + len, "0123456789")];
}

/* Writes the name of a request, or its number if faultscope does not know the name. */
static void name_request(const char *file, uint32_t request, char *ret, size_t size)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if ((request & requests[i].mask) == requests[i].value &&
		    is_numbered(file, requests[i].file)) {
			snprintf(ret, size, "%s", requests[i].name);
			return;
		}
	snprintf(ret, size, "0x%x", request);
}

/* Says which device it was, and what the call requested. */
static void say_device(const struct request *q, struct verdict *v)
{
	const struct refused_record *r = q->r;
	char text[48];

	verdict_text(v, "device", r->file.name);
	if (r->device.number) {
		snprintf(text, sizeof(text), "%u:%u", r->device.number >> 20,
			 r->device.number & ((1U << 20) - 1));
		verdict_text(v, "device number", text);
	}
	verdict_text(v, "driver", r->device.driver[0] ? r->device.driver : "in the kernel image");
	if (r->call == CALL_IOCTL) {
		name_request(r->file.name, r->args[1], text, sizeof(text));
		verdict_text(v, "request", text);
	}
}

/* Counts of pages that drivers hold for a process. RLIMIT_MEMLOCK limits each of them by itself. */
enum held_count { HELD_PINNED, HELD_LOCKED };

static const struct {
	const char *file;
	enum held_count count;
} memlock_devices[] = {
	{"uverbs", HELD_PINNED}, /* ib_umem_get() in drivers/infiniband/core/umem.c */
	/* vfio_pin_pages_remote() in drivers/vfio/vfio_iommu_type1.c counts in locked_vm */
	{"vfio", HELD_LOCKED},
};

static uint64_t held_pages(const struct request *q, enum held_count count)
{
	return count == HELD_LOCKED ? q->r->locked_vm_pages : q->r->device.pinned_pages;
}

static void say_held(const struct request *q, enum held_count count, struct verdict *v)
{
	verdict_count(v, count == HELD_LOCKED ? "locked memory" : "pinned memory", IN_BYTES,
		      held_pages(q, count) * q->l->page_bytes, q->r->memlock_limit_bytes);
}

/*
 * These drivers fail if the process would have more such pages than RLIMIT_MEMLOCK, unless it has
 * CAP_IPC_LOCK. How many pages the call requested is in memory of the program that faultscope does
 * not read. So the cause is certain only if the limit is used up.
 */
bool past_memlock_of_device(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = limit_pages(q, q->r->memlock_limit_bytes);
	size_t i = 0, n = sizeof(memlock_devices) / sizeof(memlock_devices[0]);

	while (i < n && !is_numbered(q->r->file.name, memlock_devices[i].file))
		i++;
	if (!q->r->device.number || i == n || has_fact(q, FACT_IPC_LOCK) || limit == UINT64_MAX)
		return false;
	*ret_sure = held_pages(q, memlock_devices[i].count) >= limit;
	say_held(q, memlock_devices[i].count, v);
	say_device(q, v);
	return true;
}

/*
 * No limit that faultscope reads explains the errno, so it is the driver's own. No value proves
 * that: the driver may have reached a limit that faultscope does not read, or a security module
 * denied the request.
 */
bool refused_by_driver(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!q->r->device.number && !q->r->device.driver[0])
		return false;
	*ret_sure = false;
	say_device(q, v);
	if (q->r->device.pinned_pages)
		say_held(q, HELD_PINNED, v);
	return true;
}

bool lacks_right_of_driver(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return q->r->error == EPERM && refused_by_driver(q, v, ret_sure);
}

bool is_driver_busy(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return q->r->error == EAGAIN && refused_by_driver(q, v, ret_sure);
}
