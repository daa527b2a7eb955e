// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/incident.h"

#include <stdlib.h>

#include "base/array.h"

const char *kind_name(enum kind k)
{
	static const char *const names[NR_KINDS] = {
#define KIND(id, name, mechanism) [KIND_##id] = name,
#include "triage/kinds.def"
#undef KIND
	};

	return names[k];
}

const char *access_name(enum access a)
{
	static const char *const names[] = {"", "read", "write", "exec"};

	return names[a];
}

const char *arch_name(enum arch a)
{
	static const char *const names[NR_ARCHES] = {
		"", "x86_64", "i386", "arm64", "arm", "riscv", "ppc", "s390", "loongarch", "mips",
	};

	return names[a];
}

bool kind_is_precursor(enum kind k)
{
	switch (k) {
	case KIND_ALLOC_FAILURE:
	case KIND_OOM:
	case KIND_EDAC:
	case KIND_AER:
	case KIND_IOMMU:
	case KIND_IRQ:
		return true;
	default:
		return kind_is_of_device(k);
	}
}

bool kind_is_of_device(enum kind k)
{
	switch (k) {
	case KIND_GPU_XID:
	case KIND_GPU_TIMEOUT:
	case KIND_GPU_HANG:
	case KIND_GPU_FAULT:
	case KIND_PCIE_FATAL:
	case KIND_NVME_DOWN:
	case KIND_DISK_LOST:
	case KIND_IO_ERROR:
	case KIND_EXT4:
	case KIND_XFS:
	case KIND_BTRFS:
	case KIND_ZFS:
	case KIND_FILE_SYSTEM:
	case KIND_NIC_HANG:
	case KIND_FIRMWARE:
	case KIND_USB_DEAD:
	case KIND_THERMAL:
	case KIND_RAID:
	case KIND_VERITY:
	case KIND_SUSPEND:
		return true;
	default:
		return false;
	}
}

void incident_free(struct incident *e)
{
	free(e->frame);
	free(e->module);
	memset(e, 0, sizeof(*e));
}

struct frame *incident_frame_add(struct incident *e)
{
	struct frame *frame =
		array_grow(e->frame, e->nr_frames, &e->room_frames, FRAMES_MAX, sizeof(*frame));

	if (!frame) {
		e->lost_frames++;
		return NULL;
	}
	e->frame = frame;
	frame = &e->frame[e->nr_frames++];
	memset(frame, 0, sizeof(*frame));
	return frame;
}

void incident_state(struct incident *e, uint32_t line)
{
	if (e->nr_stated && e->stated[e->nr_stated - 1] == line)
		return;
	if (e->nr_stated < STATED_MAX)
		e->stated[e->nr_stated++] = line;
}
