/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what a fault signal was sent for, decided from the access and from what is mapped where it
 * went (arch/x86/mm/fault.c, mm/filemap.c, mm/shmem.c, mm/hugetlb.c).
 */
#ifndef FS_RULES_FAULT_H
#define FS_RULES_FAULT_H

#include "rules/cause.h"

/* The class of a signal is `ret->cause`, static. */
void fault_of(const struct signal_record *r, const struct host_limits *l, struct verdict *ret);

/* What is mapped there, as /proc has kinds of it; NULL: nothing, or that is not known. */
const char *fault_mapping(const struct signal_record *r);

/* What a process was killed for want of: the constraint is `ret->cause`; NULL: not known. */
void oom_of(const struct oom_record *r, struct verdict *ret);

#endif
