// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols/kernel_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 80
/* maximum size of a function in bytes: kallsyms has no sizes, so the next one may end it earlier */
#define FUNCTION_MOST (1u << 20)
#define LAST_MOST     4096 /* the same for the last function of a table */
#define STEP_LINES    256

static bool add_text(struct name_table *k, const char *s)
{
	size_t n = strlen(s) + 1, room = k->room ? k->room * 2 : 1 << 16;
	char *text;

	if (k->used + n > k->room) {
		text = room <= KERNEL_NAMES_BYTES ? realloc(k->text, room) : NULL;
		if (!text) {
			k->lost++;
			return false;
		}
		k->text = text;
		k->room = room;
	}
	memcpy(k->text + k->used, s, n);
	k->used += n;
	return true;
}

static void table_settle(struct symbol_table *t)
{
	symbol_table_sort(t);
	if (t->n)
		t->e[t->n - 1].bytes = LAST_MOST;
}

static void table_free(struct name_table *t)
{
	symbol_table_free(&t->table);
	free(t->text);
	memset(t, 0, sizeof(*t));
}

/* Adds a function to the table of its module or of the kernel; `kernel` may be NULL. */
static void take_line(const char *line, struct name_table *kernel, struct name_table *modules)
{
	char name[256], module[BB_MODULE_NAME] = "", both[320], type;
	struct name_table *to;
	unsigned long long at;

	if (!kernel && !strchr(line, '['))
		return;
	if (sscanf(line, "%llx %c %255s [%55[^]]]", &at, &type, name, module) < 3 || !at ||
	    (type != 't' && type != 'T'))
		return;
	to = *module ? modules : kernel;
	snprintf(both, sizeof(both), "%s [%s", name, module);
	if (to && add_text(to, both))
		symbol_table_add(&to->table, at, FUNCTION_MOST, to->used - strlen(both) - 1);
}

bool kernel_names_read(struct kernel_names *k)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		take_line(line, &k->kernel, &k->modules);
	if (f)
		fclose(f);
	table_settle(&k->kernel.table);
	table_settle(&k->modules.table);
	return k->kernel.table.n > 0;
}

bool kernel_names_step(struct kernel_names *k)
{
	char line[512];

	if (!k->file)
		k->file = fopen("/proc/kallsyms", "re");
	if (!k->file)
		return true; /* the names that were read before stay valid */
	for (int i = 0; k->file && i < STEP_LINES; i++) {
		if (fgets(line, sizeof(line), k->file)) {
			take_line(line, NULL, &k->next);
			continue;
		}
		fclose(k->file);
		k->file = NULL;
	}
	if (k->file)
		return false;
	table_settle(&k->next.table);
	table_free(&k->modules);
	k->modules = k->next;
	memset(&k->next, 0, sizeof(k->next));
	return true;
}

__u64 kernel_names_lost(const struct kernel_names *k)
{
	return k->kernel.lost + k->kernel.table.cut + k->modules.lost + k->modules.table.cut;
}

void kernel_names_free(struct kernel_names *k)
{
	table_free(&k->kernel);
	table_free(&k->modules);
	table_free(&k->next);
	if (k->file)
		fclose(k->file);
	k->file = NULL;
}

/*
 * Finds the name of an address. If the address has several names, chooses the first, because the
 * others are aliases.
 */
static bool find_name(const struct name_table *k, __u64 ip, char *ret, size_t size,
		      char ret_module[BB_MODULE_NAME])
{
	size_t n;
	const struct symbol_entry *e = symbol_table_find(&k->table, ip, &n);
	const char *both = e ? k->text + e->name : NULL, *module;

	if (!e)
		return false;
	module = strstr(both, " [");
	snprintf(ret, size, "%.*s+0x%llx",
		 (int)(module - both < NAME_MOST ? module - both : NAME_MOST), both,
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
	if (find_name(of ? &k->modules : &k->kernel, ip, ret, size, ret_module) &&
	    (!of || !strcmp(of->name, ret_module)))
		return true;
	ret_module[0] = ret[0] = 0;
	if (!of)
		return false;
	/* the module was loaded after the names were read */
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
