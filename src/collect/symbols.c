// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols.h"

#include <stdio.h>

/*
 * The file is read through for each new address: seldom, for such addresses are few and coalesced,
 * and nothing is kept in memory for it (a parsed table would be megabytes).
 */
bool symbols_find(struct symbols *s, __u64 ip, struct fs_symbol_record *ret)
{
	FILE *f = s->unreadable ? NULL : fopen("/proc/kallsyms", "re");
	char line[512], name[256], module[64];
	unsigned long long address, best = 0;

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		char type;
		int n = sscanf(line, "%llx %c %255s [%63[^]]]", &address, &type, name, module);

		if (n < 3 || address > ip || address <= best || (type != 't' && type != 'T'))
			continue;
		best = address;
		snprintf(ret->symbol, sizeof(ret->symbol), "%.44s+0x%llx", name, ip - address);
		snprintf(ret->module, sizeof(ret->module), "%s", n == 4 ? module : "");
	}
	fclose(f);
	if (!best)
		s->unreadable = 1;
	return best && ip - best < (16 << 20);
}
