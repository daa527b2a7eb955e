/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: error reports of the kernel, counted by kind and module, from lines of its log. Pure. */
#ifndef FS_MODEL_KERNEL_REPORT_H
#define FS_MODEL_KERNEL_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "records/records.h"

enum kernel_report_kind {
	REPORT_WARN,
	REPORT_OOPS,
	REPORT_KASAN,
	REPORT_KFENCE,
	REPORT_UBSAN,
	REPORT_HUNG_TASK,
	REPORT_SOFT_LOCKUP,
	NR_REPORTS,
};

#define REPORT_MODULE 64

/* Where a report was, is said some lines behind what it is. */
#define REPORT_WAIT_NS 2000000000ULL

struct kernel_report {
	enum kernel_report_kind kind;
	char module[REPORT_MODULE]; /* "vmlinux": the kernel's own; empty: not said */
};

/* An oops or a lockup whose place is not known yet. */
struct pending_report {
	bool is;
	uint64_t t_ns; /* CLOCK_MONOTONIC */
	struct kernel_report report;
};

const char *kernel_report_name(enum kernel_report_kind kind);

/*
 * One more line. Returns how many reports are complete by it, of which `ret` has room for two: one
 * that waited, and the line's own.
 */
int kernel_report_take(struct pending_report *p, const struct report_record *r,
		       struct kernel_report ret[2]);

/* Time has passed: whether one that waited is complete, though its place was not said. */
bool kernel_report_expire(struct pending_report *p, uint64_t now_ns, struct kernel_report *ret);

#endif
