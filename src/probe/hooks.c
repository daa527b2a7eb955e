// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/hooks.h"

#include <string.h>

#include "records/records.h"

#define NO_HANDLER                                                                                 \
	"does not see whether the page was present; sees a fault outside of all mappings only by " \
	"its signal; counts stack growth as anonymous"

#define MAJORS "major faults only"
#define FILE_MAJORS                                                                                \
	"major faults only; on a machine without swap space, the first major fault of a process " \
	"that reads no file through the page cache is counted, but not timed"
#define NO_COPIES                                                                                  \
	"sees only faults at bad addresses (arm64); the probe fault_begin counts faults in user "  \
	"copies"

#define SLEEPS_ONLY                                                                                \
	"does not see threads that spin for mmap_lock; a call that holds mmap_lock is measured "   \
	"from the first wait for it to its end, and needs the probe calls"
#define OTHER_SLEEPS                                                                               \
	"counts each sleep in a fault that no other probe measures, also for locks other than "    \
	"mmap_lock; faults of the classes userfaultfd and driver wait for no disk"
#define EACH_SWITCH  "slows each context switch of the host; sees sleeps in iowait only"
#define EACH_MM_SWITCH                                                                             \
	"its attach type raw_tp slows each switch between processes, so it is used only with "     \
	"--overhead all"
#define EACH_LOCKING "slows each mapping call of the host, also without waits"

#define CLASSES_FOLD                                                                               \
	"faults on pages in the swap cache, and NUMA hinting faults on one node, are counted in "  \
	"the class of their mapping; before Linux 6.4, a new mapping may be confused with an old " \
	"mapping of the same size, address and access rights; unless fault_end has the attach "    \
	"type memcg, huge pages are recognised by the growth of resident memory"

#define NOT_EARLIER                                                                                \
	"does not see writes that fail because a tmpfs is full, nor the end of a call that began " \
	"before the probe was attached; unless a watched process has a seccomp filter at the "     \
	"start, does not see calls that such a filter answers"

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
