/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the hook table. One row a hook; the loader, `doctor` and the README read it. */
#ifndef FS_PROBE_HOOKS_H
#define FS_PROBE_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#define HOOK_ALTERNATES 6
#define HOOK_PROGRAMS	4

enum attach_kind {
	ATTACH_NOTHING,	     /* it is not attached: the object is built so, or user space runs it */
	ATTACH_AUTO,	     /* libbpf knows the target from the program's section */
	ATTACH_ITERATOR,     /* program 0: user space reads it */
	ATTACH_PERF_BEGIN,   /* program 0 on PAGE_FAULTS, on each CPU */
	ATTACH_PERF_MAJORS,  /* program 0 on PAGE_FAULTS_MAJ, on each CPU */
	ATTACH_PERF_FAULTS,  /* program 0 on PAGE_FAULTS_MIN, program 1 on _MAJ, on each CPU */
	ATTACH_MEMCG_FAULTS, /* program 0 a tracepoint, program 1 on PAGE_FAULTS_MAJ */
	ATTACH_CALL_EXITS,   /* one program on the classic exit tracepoint of each call */
};

/* Which build of the kernel side an alternate works with: see bpf/compat.bpf.h. */
enum hook_state { STATE_ANY, STATE_TASK, STATE_KFUNCS, STATE_HASH };

struct hook_alternate {
	const char *mechanism; /* NULL ends the list */
	enum attach_kind attach;
	enum hook_state state;
	const char *program[HOOK_PROGRAMS];
	unsigned int lacks;  /* LACKS_*, SEES_* */
	const char *differs; /* from the best alternate; NULL: not at all */
};

struct hook {
	const char *name;
	int tier;
	bool core; /* without it faultscope does not do its job */
	const char *feeds;
	const char *lost; /* without it */
	/* for each of which events there is overhead that no work of `doctor` measures, and why */
	struct {
		const char *per, *said, *why;
	} unmeasured;
	struct hook_alternate alternate[HOOK_ALTERNATES + 1];
};

extern const struct hook hooks[];
extern const size_t nr_hooks;

/* Index of a hook by name, -1 where there is none. */
int hook_find(const char *name);

/* Index of a hook's alternate by mechanism, -1 where there is none. */
int hook_alternate_find(const struct hook *h, const char *mechanism);

/* Whether a core hook works by the last of its alternates, which measures less than the first. */
bool hook_is_degraded(const struct hook *h, const struct hook_alternate *used);

#endif
