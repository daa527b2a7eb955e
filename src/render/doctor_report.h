/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: the report of `doctor`, as text and as one JSON object. */
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

struct report_hook {
	const char *name;
	unsigned int tier;
	enum hook_use state;
	bool core;	       /* nothing works without it */
	bool degraded;	       /* of the core: works by its last alternate, and measures less */
	const char *mechanism; /* NULL: none */
	const char *feeds, *lost;
	const char *tried;  /* before it, with the kernel's answers; may be empty */
	const char *note;   /* how it differs from the best; NULL: not at all */
	const char *remedy; /* a command; NULL: none is known */
	struct {
		const char *mechanism, *differs; /* NULL: the end; not at all */
	} alternate[REPORT_ALTERNATES];
	struct cost cost[REPORT_COSTS];
	size_t costs;
};

/* A hook of the flight recorder, tried and let go again. */
struct report_recorder {
	const char *name, *feeds, *lost;
	char refused[96]; /* the kernel's answer; empty: it works */
};

/* What the process may still do once all is attached. */
struct report_rights {
	struct {
		char capability[32];
		const char *why;
	} kept[REPORT_KEPT];
	size_t nr_kept;
	bool no_new_privs;
	int landlock_abi;	  /* 0: off */
	const char *landlock_off; /* why; NULL: it is on */
	bool kernel_symbols;
	const char *not_given_up; /* NULL: all else is */
};

struct report {
	const char *version;
	const struct host_record *host;
	struct report_hook hook[REPORT_HOOKS];
	size_t hooks;
	struct report_recorder recorder[REPORT_RECORDER];
	size_t recorders;
	char recorder_lacks[160];	 /* why none of them could be tried; empty: they were */
	bool recorder_holds;		 /* a panic waits for it */
	const char *const *only_counted; /* NULL ends it */
	const char *passed_over;	 /* which events this kernel may pass over; NULL: none */
	struct setting setting[SETTINGS_MAX];
	size_t settings;
	struct origin origin[NR_LIMITS]; /* of the settings that are limits */
	size_t origins;
	struct advice advice[ADVICE_MAX];
	size_t advices;
	struct report_rights rights;
	size_t processes; /* that the look found */
	bool calibrated;
	double seconds; /* that calibrating took */
	unsigned int rounds;
};

void report_text(struct buf *b, const struct view *v, const struct report *r);
void report_json(struct buf *b, const struct report *r);

/* Of a setting; NULL where it is none of the limits. */
const struct origin *report_origin(const struct report *r, const struct setting *s);

const char *hook_state_name(enum hook_use state);

#endif
