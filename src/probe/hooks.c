// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/hooks.h"

#include <string.h>

#include "records/records.h"

#define NO_HANDLER                                                                                 \
	"protection is unknown; a fault that no mapping allows is seen by its signal only; stack " \
	"growth counts as anonymous"

#define MAJORS	  "major faults only"
#define NO_COPIES "only faults at bad addresses (arm64); the probe fault_begin counts user copies"

#define CLASSES_FOLD                                                                               \
	"pages found in the swap cache, and NUMA hints on one node, count for their mapping; "     \
	"before 6.4 a new mapping may count as an old one of equal size, address and rights; "     \
	"where fault_end is not memcg, huge pages are recognised by resident memory"

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
