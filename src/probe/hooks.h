/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the table of probes, one row each. The loader, `doctor` and the README use this table. */
#ifndef FS_PROBE_HOOKS_H
#define FS_PROBE_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#define HOOK_ALTERNATES 7
#define HOOK_PROGRAMS	4

enum attach_kind {
	ATTACH_NOTHING,	    /* no program is attached, or user space runs it */
	ATTACH_AUTO,	    /* libbpf attaches each program by the section name of the program */
	ATTACH_ITERATOR,    /* user space reads program 0, which is an iterator */
	ATTACH_PERF_BEGIN,  /* attaches program 0 to perf event PAGE_FAULTS of each CPU */
	ATTACH_PERF_MAJORS, /* attaches program 0 to perf event PAGE_FAULTS_MAJ of each CPU */
	/* attaches program 0 to perf event PAGE_FAULTS_MIN, program 1 to PAGE_FAULTS_MAJ */
	ATTACH_PERF_FAULTS,
	/* attaches program 0 to a tracepoint, program 1 to perf event PAGE_FAULTS_MAJ */
	ATTACH_MEMCG_FAULTS,
	/* attaches program 0 to perf event PAGE_FAULTS_MAJ, program 1 to a tracepoint */
	ATTACH_FILE_MAJORS,
	ATTACH_CALL_EXITS, /* attaches program 0 to the exit tracepoint of each system call */
	ATTACH_CALL_RETURNS, /* attaches program 0 to the return of each system call's function */
};

/* The build of the BPF programs that an attach type needs: see bpf/compat.bpf.h. */
enum hook_state { STATE_ANY, STATE_TASK, STATE_KFUNCS, STATE_HASH };

struct hook_alternate {
	const char *mechanism; /* name of the attach type; NULL: end of the array */
	enum attach_kind attach;
	enum hook_state state;
	const char *program[HOOK_PROGRAMS];
	unsigned int lacks;  /* LACKS_* and SEES_* bits of the attach type */
	const char *differs; /* difference from the best attach type; NULL: none */
	/* used only if --overhead enables its level, or --probe requests it; then has `differs` */
	bool on_request;
};

/* The attach type of calls at the returns of kernel functions. */
#define CALL_RETURNS "kprobe_multi"

/* The attach type of disk_wait that reads counters, and attaches no program. */
#define SCHEDULER_COUNTERS "counters"

struct hook {
	const char *name;
	int tier;
	bool core; /* faultscope cannot do its job without this probe */
	const char *feeds;
	const char *lost; /* values that are missing without this probe */
	/* An event whose overhead `doctor` cannot measure, the text to print, and the reason. */
	struct {
		const char *per, *said, *why;
	} unmeasured;
	struct hook_alternate alternate[HOOK_ALTERNATES + 1];
};

extern const struct hook hooks[];
extern const size_t nr_hooks;

/* Returns the index of a probe by name, or -1 if there is none. */
int hook_find(const char *name);

/* Returns the index of an attach type of a probe, or -1 if there is none. */
int hook_alternate_find(const struct hook *h, const char *mechanism);

/* Returns whether a core probe uses its last attach type, which measures less than the first. */
bool hook_is_degraded(const struct hook *h, const struct hook_alternate *used);

#endif
