/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: what a number is, as an address of a kernel or as the trace of what wrote it. */
#ifndef FS_TRIAGE_ADDRESS_H
#define FS_TRIAGE_ADDRESS_H

#include "triage/incident.h"

enum region {
	REGION_UNKNOWN,
	REGION_NULL, /* the first page */
	REGION_USER,
	REGION_NON_CANONICAL,
	REGION_DIRECT,
	REGION_VMALLOC,
	REGION_MODULES,
	REGION_IMAGE,
	REGION_SHADOW, /* of KASAN */
	REGION_ERROR,  /* -4095 to -1 */
	REGION_KERNEL, /* the upper half, no more is known */
	NR_REGIONS,
};

const char *region_name(enum region r);
enum region region_of(const struct incident *e, uint64_t address);

/* In the upper half, or what a 32-bit kernel keeps for itself. */
bool is_kernel_address(enum arch arch, uint64_t address);

enum poison {
#define POISON(id, ...) POISON_##id,
#include "triage/poisons.def"
#undef POISON
	NR_POISONS,
};

const char *poison_meaning(enum poison p);

/* Of an address, or of the pointer that it was computed from. */
enum poison poison_of(const struct incident *e, uint64_t value);

/* Whether two pointers differ in one bit of those that choose the region. */
bool one_bit_off(const struct incident *e, uint64_t address, uint64_t *ret_like);

#endif
