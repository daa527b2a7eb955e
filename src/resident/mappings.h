/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* resident: the mappings of a process that can have resident pages. */
#ifndef FS_RESIDENT_MAPPINGS_H
#define FS_RESIDENT_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records/records.h"

struct mapping {
	__u64 from, to;		  /* page numbers; `to` is the first page after the mapping */
	__u32 kind;		  /* enum holding_kind */
	bool filed;		  /* the mapping is of a file, or of shared memory */
	bool shared;		  /* not private (MAP_SHARED) */
	bool shmem;		  /* pages of a file are in RssShmem, not in RssFile */
	bool device;		  /* the kernel does not count the pages as resident memory */
	char file[FILE_NAME_LEN]; /* last part of the name; empty: none */
};

/* File systems whose pages the kernel counts apart from those of other files. */
enum file_system {
	FILES_OTHER,
	FILES_TMPFS,   /* RssShmem */
	FILES_HUGETLB, /* HugetlbPages, and no other total */
};

struct device_type {
	uint64_t device; /* as mountinfo_device() makes it */
	enum file_system is;
};

/* The mappings of one process, except those of hugetlb pages. */
struct mappings {
	struct mapping *one; /* in order of addresses; owned */
	size_t n, room;
	struct device_type *device; /* first the hidden ones of the kernel; owned */
	size_t devices, devices_room, hidden;
};

/* Finds hidden file systems of the kernel. Call it once, before mappings_read(). */
void mappings_begin(struct mappings *m);

/*
 * Reads /proc/PID/maps. Returns 0 or -errno; -ESRCH: the process has ended. Free with
 * mappings_free(), after an error too.
 */
int mappings_read(struct mappings *m, __u32 pid);
void mappings_free(struct mappings *m);

#endif
