/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: counts error reports of the kernel by kind and module, from lines of its log. Pure. */
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

/*
 * Maximum wait for the location of a report: the kernel logs it some lines after the line that
 * shows the kind.
 */
#define REPORT_WAIT_NS 2000000000ULL

struct kernel_report {
	enum kernel_report_kind kind;
	/* Name of the module; "vmlinux": the kernel itself; empty: not known. */
	char module[REPORT_MODULE];
};

/* An oops or lockup report that waits for the line with its location. */
struct pending_report {
	bool is;
	uint64_t t_ns; /* time of the pending report, CLOCK_MONOTONIC */
	struct kernel_report report;
};

const char *kernel_report_name(enum kernel_report_kind kind);

/*
 * Reads a line of the kernel log. Returns the number of reports that this line completes, at most
 * two: one that waited for its location, and one that begins on the line.
 */
int kernel_report_take(struct pending_report *p, const struct report_record *r,
		       struct kernel_report ret[2]);

/* Returns true and the waiting report if REPORT_WAIT_NS passed without a line with its location. */
bool kernel_report_expire(struct pending_report *p, uint64_t now_ns, struct kernel_report *ret);

#endif
