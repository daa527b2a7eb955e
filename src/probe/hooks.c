// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/hooks.h"

#include <string.h>

#include "records/records.h"

#define NO_HANDLER                                                                                 \
	"protection is not told apart, a fault that no mapping allows is told by its signal "      \
	"alone, and the stack has grown by then: its pages are anonymous ones"

#define MAJORS	  "of major faults alone, as in export"
#define NO_COPIES "bad addresses alone (arm64); user copies are told by fault_begin"

#define CLASSES_FOLD                                                                               \
	"a page found in the swap cache counts as its mapping's, as do NUMA hints on one node; "   \
	"before 6.4 what takes the place of a mapping of the same size and rights may count as "   \
	"that one; where fault_end is not memcg, huge pages are told by resident memory"

const struct hook hooks[] = {
#define HOOK(...) {__VA_ARGS__},
#include "probe/hooks.def"
#undef HOOK
};

const size_t nr_hooks = sizeof(hooks) / sizeof(hooks[0]);

int hook_find(const char *name)
{
	for (size_t i = 0; i < nr_hooks; i++)
		if (!strcmp(hooks[i].name, name))
			return i;
	return -1;
}

int hook_alternate_find(const struct hook *h, const char *mechanism)
{
	for (int i = 0; h->alternate[i].mechanism; i++)
		if (!strcmp(h->alternate[i].mechanism, mechanism))
			return i;
	return -1;
}

bool hook_is_degraded(const struct hook *h, const struct hook_alternate *used)
{
	return h->core && used && used != h->alternate && used->differs && !used[1].mechanism;
}
