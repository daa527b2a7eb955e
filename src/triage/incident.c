// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/incident.h"

#include <stdlib.h>

#include "base/array.h"

const char *kind_name(enum kind k)
{
	static const char *const names[NR_KINDS] = {
		[KIND_NONE] = "none",
		[KIND_NULL_DEREF] = "null_deref",
		[KIND_NEAR_NULL] = "near_null",
		[KIND_PAGING_REQUEST] = "paging_request",
		[KIND_GPF] = "gpf",
		[KIND_STACK_SEGMENT] = "stack_segment",
		[KIND_USER_ACCESS] = "user_access",
		[KIND_NX_EXEC] = "nx_exec",
		[KIND_RO_WRITE] = "ro_write",
		[KIND_RSVD_BIT] = "rsvd_bit",
		[KIND_EXT_ABORT] = "ext_abort",
		[KIND_INTERNAL_ERROR] = "internal_error",
		[KIND_UNHANDLED_FAULT] = "unhandled_fault",
		[KIND_ALIGNMENT] = "alignment",
		[KIND_STACK_OVERFLOW] = "stack_overflow",
		[KIND_DOUBLE_FAULT] = "double_fault",
		[KIND_KASAN_UAF] = "kasan_uaf",
		[KIND_KASAN_OOB] = "kasan_oob",
		[KIND_KASAN_OTHER] = "kasan_other",
		[KIND_KFENCE_UAF] = "kfence_uaf",
		[KIND_KFENCE_OOB] = "kfence_oob",
		[KIND_KFENCE_CORRUPTION] = "kfence_corruption",
		[KIND_KFENCE_INVALID] = "kfence_invalid",
		[KIND_INVALID_FREE] = "invalid_free",
		[KIND_KMSAN] = "kmsan",
		[KIND_KCSAN] = "kcsan",
		[KIND_UBSAN] = "ubsan",
		[KIND_SLAB_CORRUPTION] = "slab_corruption",
		[KIND_LIST_CORRUPTION] = "list_corruption",
		[KIND_USERCOPY] = "usercopy",
		[KIND_BAD_PAGE] = "bad_page",
		[KIND_REFCOUNT] = "refcount",
		[KIND_STACK_CORRUPTION] = "stack_corruption",
		[KIND_BUG] = "bug",
		[KIND_WARNING] = "warning",
		[KIND_INVALID_OPCODE] = "invalid_opcode",
		[KIND_UNDEF_INSN] = "undef_insn",
		[KIND_DIVIDE] = "divide",
		[KIND_PANIC] = "panic",
		[KIND_LOCKDEP] = "lockdep",
		[KIND_ATOMIC_SLEEP] = "atomic_sleep",
		[KIND_HANG] = "hang",
		[KIND_LEAK] = "leak",
		[KIND_MCE] = "mce",
		[KIND_EDAC] = "edac",
		[KIND_IOMMU] = "iommu_fault",
		[KIND_AER] = "aer",
		[KIND_ALLOC_FAILURE] = "alloc_failure",
		[KIND_OOM] = "oom",
		[KIND_IRQ] = "irq",
		[KIND_REBOOT] = "reboot",
		[KIND_OTHER] = "other",
		[KIND_UNKNOWN] = "unknown",
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
