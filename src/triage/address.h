/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: classifies numbers of a report: regions of kernel addresses, and poison values. */
#ifndef FS_TRIAGE_ADDRESS_H
#define FS_TRIAGE_ADDRESS_H

#include "triage/incident.h"

enum region {
	REGION_UNKNOWN,
	REGION_NULL, /* the first page of the address space */
	REGION_USER,
	REGION_NON_CANONICAL,
	REGION_DIRECT,
	REGION_VMALLOC,
	REGION_MODULES,
	REGION_IMAGE,
	REGION_SHADOW, /* shadow memory of KASAN */
	REGION_ERROR,  /* addresses -4095 to -1: error codes */
	REGION_KERNEL, /* in the upper half, but the region is not known */
	NR_REGIONS,
};

const char *region_name(enum region r);
enum region region_of(const struct incident *e, uint64_t address);

/*
 * Returns whether an address is in the kernel's part of the address space. On 64-bit machines, this
 * is the upper half.
 */
bool is_kernel_address(enum arch arch, uint64_t address);

enum poison {
#define POISON(id, ...) POISON_##id,
#include "triage/poisons.def"
#undef POISON
	NR_POISONS,
};

const char *poison_meaning(enum poison p);

/* Returns which poison value a pointer is, or is computed from; POISON_NONE: none. */
enum poison poison_of(const struct incident *e, uint64_t value);

/* Finds a register with a kernel pointer whose page differs from that of `address` in one bit. */
bool one_bit_off(const struct incident *e, uint64_t address, uint64_t *ret_like);

#endif
