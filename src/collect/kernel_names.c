// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/kernel_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MOST (1u << 20) /* bytes; beyond it is no function */

static bool add_text(struct kernel_names *k, const char *s)
{
	size_t n = strlen(s) + 1, room = k->room ? k->room * 2 : 1 << 20;
	char *text;

	if (k->used + n > k->room) {
		text = room <= KERNEL_NAMES_BYTES ? realloc(k->text, room) : NULL;
		if (!text)
			return false;
		k->text = text;
		k->room = room;
	}
	memcpy(k->text + k->used, s, n);
	k->used += n;
	return true;
}

/* Each function goes as far as the next. */
static void size_functions(struct symbol_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		__u64 bytes = i + 1 < t->n ? t->e[i + 1].start - t->e[i].start : 4096;

		t->e[i].bytes = bytes < FUNCTION_MOST ? bytes : FUNCTION_MOST;
	}
}

bool kernel_names_read(struct kernel_names *k)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	struct kernel_names now = {};
	char line[512], name[256], module[BB_MODULE_NAME], both[320], type;
	unsigned long long at;
	bool any = false;

	while (f && fgets(line, sizeof(line), f)) {
		module[0] = 0;
		if (sscanf(line, "%llx %c %255s [%55[^]]]", &at, &type, name, module) < 3 ||
		    (type != 't' && type != 'T'))
			continue;
		snprintf(both, sizeof(both), "%s [%s", name, module);
		any |= at != 0;
		if (!any || !add_text(&now, both))
			break;
		symbol_table_add(&now.table, at, 0, now.used - strlen(both) - 1);
	}
	if (f)
		fclose(f);
	if (!any) {
		kernel_names_free(&now);
		return false;
	}
	symbol_table_sort(&now.table);
	size_functions(&now.table);
	kernel_names_free(k);
	*k = now;
	return true;
}

void kernel_names_free(struct kernel_names *k)
{
	symbol_table_free(&k->table);
	free(k->text);
	memset(k, 0, sizeof(*k));
}

/* Of several names of one address the first: aliases come behind. */
static bool find_name(const struct kernel_names *k, __u64 ip, char *ret, size_t size,
		      char ret_module[BB_MODULE_NAME])
{
	size_t n;
	const struct symbol_entry *e = symbol_table_find(&k->table, ip, &n);
	const char *both = e ? k->text + e->name : NULL, *module;

	if (!e || ip - e->start >= FUNCTION_MOST)
		return false;
	module = strstr(both, " [");
	snprintf(ret, size, "%.*s+0x%llx", (int)(module - both < 80 ? module - both : 80), both,
		 (unsigned long long)(ip - e->start));
	snprintf(ret_module, BB_MODULE_NAME, "%s", module + 2);
	return true;
}

bool kernel_names_find(const struct kernel_names *k, const struct bb_modules *m, __u64 ip,
		       char *ret, size_t size, char ret_module[BB_MODULE_NAME])
{
	const struct bb_module *of = bb_module_of(m, ip);

	ret_module[0] = ret[0] = 0;
	if (of && of->unloaded_ns) {
		snprintf(ret, size, "+0x%llx", (unsigned long long)(ip - of->start[0]));
		snprintf(ret_module, BB_MODULE_NAME, "%s", of->name);
		return true;
	}
	if (find_name(k, ip, ret, size, ret_module) && (!of || !strcmp(of->name, ret_module)))
		return true;
	ret_module[0] = ret[0] = 0;
	if (!of)
		return false;
	/* loaded since the names were read */
	snprintf(ret, size, "+0x%llx", (unsigned long long)(ip - of->start[0]));
	snprintf(ret_module, BB_MODULE_NAME, "%s", of->name);
	return true;
}

void kernel_modules_read(struct bb_modules *m)
{
	FILE *f = fopen("/proc/modules", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		struct bb_module one = {};
		unsigned long long start = 0, bytes = 0;

		if (sscanf(line, "%55s %llu %*u %*s %*s %llx", one.name, &bytes, &start) != 3 ||
		    !start)
			continue;
		one.start[0] = start;
		one.bytes[0] = bytes;
		bb_module_loaded(m, &one);
	}
	if (f)
		fclose(f);
}
