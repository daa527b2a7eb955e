// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/kernel_report.h"

#include <ctype.h>
#include <string.h>

#define KERNEL "vmlinux" /* name of the kernel itself, as in node.h */

const char *kernel_report_name(enum kernel_report_kind kind)
{
	static const char *const name[NR_REPORTS] = {
		[REPORT_WARN] = "warn",
		[REPORT_OOPS] = "oops",
		[REPORT_KASAN] = "kasan",
		[REPORT_KFENCE] = "kfence",
		[REPORT_UBSAN] = "ubsan",
		[REPORT_HUNG_TASK] = "hung_task",
		[REPORT_SOFT_LOCKUP] = "soft_lockup",
	};

	return name[kind];
}

static const char *skip(const char *s, const char *of)
{
	return s + strspn(s, of);
}

/* Returns whether a line is "comm[pid]: segfault at …". Users choose the names in such lines. */
static bool is_of_process(const char *line)
{
	for (int i = 0; i <= COMM_LEN && line[i]; i++) {
		const char *end;

		if (line[i] != '[')
			continue;
		end = skip(line + i + 1, "0123456789");
		if (end > line + i + 1 && end[0] == ']' && end[1] == ':')
			return true;
	}
	return false;
}

/*
 * Returns whether a line is like "Oops: 0002 [#1] PREEMPT SMP NOPTI": only capitals and digits
 * follow "[#1]".
 */
static bool is_oops(const char *line)
{
	const char *number = strstr(line, "[#"), *end;

	if (!number)
		return false;
	end = skip(number + 2, "0123456789");
	if (end == number + 2 || *end != ']')
		return false;
	end = skip(end + 1, " _:0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return !*end || *end == '\n';
}

static bool starts(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

/* Returns whether a line begins with `start` and then contains `then` and `last`, in this order. */
static bool is_like(const char *line, const char *start, const char *then, const char *last)
{
	const char *at = starts(line, start) ? strstr(line + strlen(start), then) : NULL;

	return at && strstr(at + strlen(then), last);
}

/* Lines of the kernel log that begin a report. A kind of report may have several rows. */
static const struct {
	enum kernel_report_kind kind;
	const char *start, *then, *last; /* texts in a line, from left to right; "": none */
	bool place_follows;
} forms[] = {
	{REPORT_WARN, "WARNING: CPU: ", " PID: ", " at "},
	{REPORT_WARN, "WARNING: ", " at ", ", CPU#"}, /* format of Linux 6.19 and later */
	{REPORT_KASAN, "BUG: KASAN: ", " in ", ""},
	{REPORT_KFENCE, "BUG: KFENCE: ", " in ", ""},
	{REPORT_UBSAN, "UBSAN: ", " in ", ":"},
	{REPORT_HUNG_TASK, "INFO: task ", " blocked ", "for more than "},
	{REPORT_SOFT_LOCKUP, "watchdog: BUG: soft lockup - CPU#", " stuck for ", "", true},
	{REPORT_SOFT_LOCKUP, "BUG: soft lockup - CPU#", " stuck for ", "", true},
};

static bool find_kind(const char *line, enum kernel_report_kind *ret, bool *ret_place_follows)
{
	if (is_of_process(line))
		return false;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (is_like(line, forms[i].start, forms[i].then, forms[i].last)) {
			*ret = forms[i].kind;
			*ret_place_follows = forms[i].place_follows;
			return true;
		}
	if (!is_oops(line))
		return false;
	*ret = REPORT_OOPS;
	*ret_place_follows = true;
	return true;
}

/* Finds the module in "function+0x16/0x30 [module]", where a build-id may follow the name. */
static void find_module(const char *line, char *ret)
{
	const char *at = strstr(line, "+0x"), *end;
	size_t n = 0;

	if (!at)
		return;
	end = skip(at + 3, "0123456789abcdef");
	if (!starts(end, "/0x"))
		return;
	end = skip(end + 3, "0123456789abcdef");
	if (!starts(end, " [")) {
		strcpy(ret, KERNEL);
		return;
	}
	for (end += 2; isalnum((unsigned char)*end) || *end == '_' || *end == '-'; end++)
		if (n < REPORT_MODULE - 1)
			ret[n++] = *end;
	ret[n] = 0;
}

static bool is_place(const char *line)
{
	return starts(line, "RIP: ") || starts(line, "pc : ") || starts(line, "epc : ");
}

bool kernel_report_expire(struct pending_report *p, uint64_t now_ns, struct kernel_report *ret)
{
	if (!p->is || now_ns - p->t_ns < REPORT_WAIT_NS)
		return false;
	p->is = false;
	*ret = p->report;
	return true;
}

int kernel_report_take(struct pending_report *p, const struct report_record *r,
		       struct kernel_report ret[2])
{
	struct kernel_report own = {};
	bool place_follows;
	int n = 0;

	if (is_place(r->line)) {
		if (!p->is)
			return 0;
		find_module(r->line, p->report.module);
		p->is = false;
		ret[0] = p->report;
		return 1;
	}
	if (!find_kind(r->line, &own.kind, &place_follows))
		return 0;
	if (p->is)
		ret[n++] = p->report;
	p->is = place_follows;
	if (place_follows) {
		p->t_ns = r->h.t_ns;
		p->report = own;
	} else {
		find_module(r->line, own.module);
		ret[n++] = own;
	}
	return n;
}
