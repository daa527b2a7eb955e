// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "blackbox/log_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The first that a line has decides. */
static const struct {
	const char *has, *and; /* `and` NULL: nothing more */
	enum bb_class class;
	enum bb_severity severity;
} signs[] = {
	{BB_LINE_BEGINS, NULL, BB_NONE, BB_INFO}, /* our own */
	{"Kernel panic", NULL, BB_PANIC, BB_CRITICAL},
	{"BUG: soft lockup", NULL, BB_REPORT, BB_WARNING},
	{"BUG: unable to handle", NULL, BB_OOPS, BB_CRITICAL},
	{"BUG: kernel NULL pointer", NULL, BB_OOPS, BB_CRITICAL},
	{"stack guard page", NULL, BB_OOPS, BB_CRITICAL},
	{"Unable to handle kernel", NULL, BB_OOPS, BB_CRITICAL},
	{"Oops: ", NULL, BB_OOPS, BB_CRITICAL},
	{"general protection fault", "ip:", BB_NONE, BB_INFO}, /* of a program */
	{"general protection fault", NULL, BB_OOPS, BB_CRITICAL},
	{"kernel BUG at", NULL, BB_OOPS, BB_CRITICAL},
	{"invalid opcode:", NULL, BB_OOPS, BB_CRITICAL},
	{"double fault", NULL, BB_OOPS, BB_CRITICAL},
	{"Internal error:", NULL, BB_OOPS, BB_CRITICAL},
	{"stack-protector:", NULL, BB_OOPS, BB_CRITICAL},
	{"kernel tried to execute", NULL, BB_OOPS, BB_CRITICAL},
	{"unable to execute userspace", NULL, BB_OOPS, BB_CRITICAL},
	{"BUG: KASAN", NULL, BB_REPORT, BB_CRITICAL},
	{"BUG: KFENCE", NULL, BB_REPORT, BB_CRITICAL},
	{"BUG: Bad ", NULL, BB_REPORT, BB_CRITICAL},
	{"list_add corruption", NULL, BB_REPORT, BB_CRITICAL},
	{"list_del corruption", NULL, BB_REPORT, BB_CRITICAL},
	{"usercopy: ", NULL, BB_REPORT, BB_CRITICAL},
	{"refcount_t: ", NULL, BB_REPORT, BB_WARNING},
	{"UBSAN: ", NULL, BB_REPORT, BB_WARNING},
	{"BUG: scheduling while atomic", NULL, BB_REPORT, BB_WARNING},
	{"BUG: sleeping function", NULL, BB_REPORT, BB_WARNING},
	{"BUG kmalloc-", NULL, BB_REPORT, BB_CRITICAL},
	{"BUG: ", NULL, BB_REPORT, BB_WARNING},
	{"WARNING: ", NULL, BB_REPORT, BB_WARNING},
	{"blocked for more than", NULL, BB_REPORT, BB_WARNING},
	{"detected stall", NULL, BB_REPORT, BB_WARNING},
	{"page allocation failure", NULL, BB_ALLOCATION, BB_INFO},
	{"[Hardware Error]", NULL, BB_HARDWARE, BB_WARNING},
	{"Memory failure:", NULL, BB_HARDWARE, BB_WARNING},
	{"EDAC ", " CE ", BB_HARDWARE, BB_WARNING},
	{"EDAC ", " UE ", BB_HARDWARE, BB_CRITICAL},
	{"PCIe Bus Error", NULL, BB_HARDWARE, BB_WARNING},
	{"IO_PAGE_FAULT", NULL, BB_IOMMU, BB_WARNING},
	{"DMAR: [DMA", NULL, BB_IOMMU, BB_WARNING},
	{"NVRM: Xid", NULL, BB_GPU, BB_WARNING},
	{"[gfxhub", "page fault", BB_GPU, BB_WARNING},
	{"[mmhub", "page fault", BB_GPU, BB_WARNING},
	{"taints kernel", NULL, BB_TAINT, BB_INFO},
	{"module verification failed", NULL, BB_TAINT, BB_INFO},
	{"Out of memory", NULL, BB_OOM, BB_INFO},
	{"oom-kill:", NULL, BB_OOM, BB_INFO},
	{"invoked oom-killer", NULL, BB_OOM, BB_INFO},
};

bool bb_line_parse(const char *record, size_t size, struct bb_line *ret)
{
	char head[64] = {};
	unsigned int level;
	uint64_t us;
	size_t at = 0, n = 0;

	memcpy(head, record, size < sizeof(head) - 1 ? size : sizeof(head) - 1);
	if (sscanf(head, "%u,%*u,%" SCNu64, &level, &us) != 2)
		return false;
	while (at < size && record[at] != ';')
		at++;
	ret->level = level & 7;
	ret->us = us;
	for (at++; at < size && record[at] != '\n' && n < sizeof(ret->text) - 1; at++)
		ret->text[n++] = record[at];
	ret->text[n] = 0;
	return true;
}

enum bb_class bb_line_class(int level, const char *text, enum bb_severity *ret_severity)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strstr(text, signs[i].has) && (!signs[i].and || strstr(text, signs[i].and))) {
			*ret_severity = signs[i].severity;
			return signs[i].class;
		}
	*ret_severity = BB_INFO;
	return level <= BB_LEVEL_WARNING ? BB_CONSOLE : BB_NONE;
}

bool bb_line_ends_oops(const char *text)
{
	return strstr(text, "end trace") || strstr(text, "end Kernel panic");
}
