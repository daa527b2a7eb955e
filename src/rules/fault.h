/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: finds why the kernel sent SIGSEGV or SIGBUS. The cause follows from the access and from
 * the mapping at its address (arch/x86/mm/fault.c, mm/filemap.c, mm/shmem.c, mm/hugetlb.c).
 */
#ifndef FS_RULES_FAULT_H
#define FS_RULES_FAULT_H

#include "rules/cause.h"

/* Stores why the signal was sent in ret->cause, a static string. */
void fault_of(const struct signal_record *r, const struct host_limits *l, struct verdict *ret);

/*
 * Returns the name of the mapping at the fault address, as it stands in the list of the process's
 * mappings; NULL if nothing is mapped there, or if that is not known.
 */
const char *fault_mapping(const struct signal_record *r);

/* Stores the constraint of the OOM killer ("memcg", "cpuset", ...) in ret->cause; NULL: unknown. */
void oom_of(const struct oom_record *r, struct verdict *ret);

#endif
