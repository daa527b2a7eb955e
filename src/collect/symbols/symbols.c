// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols/symbols.h"

/* Reads the next function of /proc/kallsyms; false: the end. The kernel itself has module "". */
static bool next_function(FILE *f, unsigned long long *address, char *name, char *module)
{
	char line[512], type;

	while (fgets(line, sizeof(line), f)) {
		module[0] = 0;
		if (sscanf(line, "%llx %c %255s [%63[^]]]", address, &type, name, module) >= 3 &&
		    (type == 't' || type == 'T'))
			return true;
	}
	return false;
}

void symbols_open(struct symbols *s)
{
	unsigned long long address = 0;
	char name[256], module[64];

	s->f = fopen("/proc/kallsyms", "re");
	while (s->f && !address && next_function(s->f, &address, name, module))
		;
	if (!address)
		symbols_close(s);
}

void symbols_close(struct symbols *s)
{
	if (s->f)
		fclose(s->f);
	s->f = NULL;
}

/* Reads /proc/kallsyms for each new address: there are few, and a table would take megabytes. */
bool symbols_find(struct symbols *s, __u64 ip, struct symbol_record *ret)
{
	unsigned long long address, best = 0;
	char name[256], module[64];

	if (!s->f)
		return false;
	rewind(s->f);
	while (next_function(s->f, &address, name, module)) {
		if (address > ip || address <= best)
			continue;
		best = address;
		snprintf(ret->symbol, sizeof(ret->symbol), "%.44s+0x%llx", name, ip - address);
		snprintf(ret->module, sizeof(ret->module), "%s", module);
	}
	return best && ip - best < (16 << 20);
}
