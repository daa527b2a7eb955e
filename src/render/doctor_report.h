/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: the report of the command `doctor`, as text and as one JSON object. */
#ifndef FS_RENDER_DOCTOR_REPORT_H
#define FS_RENDER_DOCTOR_REPORT_H

#include "base/cost.h"
#include "base/setting.h"
#include "model/origin.h"
#include "render/render.h"
#include "rules/advice.h"

#define REPORT_HOOKS	  24
#define REPORT_COSTS	  4
#define REPORT_ALTERNATES 8
#define REPORT_KEPT	  4
#define REPORT_RECORDER	  16
#define REPORT_OVERHEADS  16

struct report_hook {
	const char *name;
	unsigned int tier;
	enum hook_use state;
	bool core;	       /* faultscope does not work without this probe */
	bool degraded;	       /* a core probe that uses its last attach type: it measures less */
	const char *mechanism; /* attach type in use; NULL: none */
	const char *feeds, *lost;
	const char *tried; /* attach types that failed, with errors; may be empty */
	/* what this attach type cannot do, compared with the best one; NULL: nothing is missing */
	const char *note;
	const char *remedy; /* a command that may enable the probe; NULL: none is known */
	struct {
		/*
		 * `mechanism`: another attach type of the probe; NULL ends the list. `differs`:
		 * what it cannot do; NULL: nothing is missing
		 */
		const char *mechanism, *differs;
	} alternate[REPORT_ALTERNATES];
	struct cost cost[REPORT_COSTS];
	size_t costs;
};

/* What `faultscope -p` adds to an event: a row of `make bench`. */
struct report_overhead {
	const char *event, *title; /* name for programs, and title for people */
	bool watched; /* the event is in the watched process; false: in another process */
	struct cost cost;
};

/* A probe of the flight recorder. `doctor` attaches and detaches it. */
struct report_recorder {
	const char *name, *feeds, *lost;
	char refused[96]; /* error of the kernel when attaching; empty: the probe works */
};

/* Privileges that the process has after all probes are attached. */
struct report_rights {
	struct {
		char capability[32];
		const char *why;
	} kept[REPORT_KEPT];
	size_t nr_kept;
	bool no_new_privs;
	int landlock_abi;	  /* ABI version of Landlock; 0: Landlock is off */
	const char *landlock_off; /* why Landlock is off; NULL: it is on */
	bool kernel_symbols;
	const char *not_given_up; /* privileges that could not be dropped; NULL: all were dropped */
};

struct report {
	const char *version;
	const struct host_record *host;
	struct report_hook hook[REPORT_HOOKS];
	size_t hooks;
	struct report_overhead overhead[REPORT_OVERHEADS];
	size_t overheads;
	struct report_recorder recorder[REPORT_RECORDER];
	size_t recorders;
	char recorder_lacks[160]; /* why no recorder probe could be tried; empty: all were tried */
	/* at a kernel panic, the kernel waits until the flight recorder has saved its records */
	bool recorder_holds;
	/* ways to open fds that are counted, but not attributed to a system call; ends with NULL */
	const char *const *only_counted;
	/* text about events that this kernel may skip (`missed` counts them); NULL: none */
	const char *passed_over;
	struct setting setting[SETTINGS_MAX];
	size_t settings;
	struct origin origin[NR_LIMITS]; /* who set each setting that is a limit */
	size_t origins;
	struct advice advice[ADVICE_MAX];
	size_t advices;
	/* why native frames have no source lines; NULL: they have, if debug information is there */
	const char *no_source_lines;
	struct report_rights rights;
	size_t processes; /* number of processes that the scan found */
	/* kernel memory: of BPF maps, of the state of all processes, of the state of an idle one */
	uint64_t tables_bytes, state_bytes, idle_bytes;
	bool calibrated;
	double seconds; /* duration of the cost measurement, in seconds */
	unsigned int rounds;
};

/*
 * These write the text in three parts, so that each is printed as soon as it is known: the version
 * and the kernel; how many probes work; the rest.
 */
void report_text_title(struct buf *b, const struct view *v, const struct report *r);
void report_text_summary(struct buf *b, const struct view *v, const struct report *r);
void report_text_rest(struct buf *b, const struct view *v, const struct report *r);
void report_json(struct buf *b, const struct report *r);

/* Returns who set a setting; NULL if it is no limit, or if that is not known. */
const struct origin *report_origin(const struct report *r, const struct setting *s);

const char *hook_state_name(enum hook_use state);

#endif
