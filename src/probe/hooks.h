/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the hook table. One row a hook; the loader, `doctor` and the README read it. */
#ifndef FS_PROBE_HOOKS_H
#define FS_PROBE_HOOKS_H

#include <stddef.h>

#define HOOK_ALTERNATES 3
#define HOOK_PROGRAMS	3

enum attach_kind {
	ATTACH_TRACEPOINT,   /* libbpf knows the target from the program's section */
	ATTACH_RUN,	     /* nothing to attach: user space runs it */
	ATTACH_PERF_FAULTS,  /* program 0 on PAGE_FAULTS_MIN, program 1 on _MAJ, on each CPU */
	ATTACH_MEMCG_FAULTS, /* program 0 a tracepoint, program 1 on PAGE_FAULTS_MAJ */
	ATTACH_CALL_EXITS,   /* one program on the classic exit tracepoint of each call */
};

struct hook_alternate {
	const char *mechanism; /* NULL ends the list */
	enum attach_kind attach;
	const char *program[HOOK_PROGRAMS];
	const char *differs; /* from the best alternate; NULL: not at all */
};

struct hook {
	const char *name;
	int tier;
	const char *feeds;
	const char *lost; /* without it */
	struct hook_alternate alternate[HOOK_ALTERNATES + 1];
};

extern const struct hook hooks[];
extern const size_t nr_hooks;

/* Index of a hook by name, -1 where there is none. */
int hook_find(const char *name);

#endif
