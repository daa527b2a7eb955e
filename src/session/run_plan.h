/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a command asks of a session: whom to watch and by which probes, what to read and write, and
 * when to end. Each command fills one; a session asks its plan, and never which command it serves.
 */
#ifndef FS_SESSION_RUN_PLAN_H
#define FS_SESSION_RUN_PLAN_H

#include "cli/options.h"

struct redaction;
struct session;

enum watched {
	WATCH_ALL,
	WATCH_TARGETS, /* those of -p; it ends when none of them is alive */
	WATCH_COMMAND, /* what the session starts itself */
};

struct run_plan {
	const struct options *o;
	/* whom to watch, and by which probes */
	enum watched whom;
	const char *mode;	   /* the word for it in recordings */
	char target[128];	   /* names them, for people; may be empty */
	bool children;		   /* of targets too: those alive, and those to come */
	unsigned int tiers;	   /* bit i: overhead level i, unless the options name the levels */
	const char *const *unused; /* hooks that nothing of it needs, up to a NULL; NULL: none */
	bool attributes;	   /* who grows is kept, of all processes too */
	bool attributes_all;	   /* who grows is kept from the first mapping and descriptor on */
	bool majors, examines;	   /* as in struct live_options */
	unsigned int ring_bytes;   /* the same */
	bool scores;		   /* of the OOM killer are read */
	bool works_without_bpf;	   /* from /proc alone, where the kernel or the rights lack it */
	/* what to read and write; NULL: this machine, no recording, standard output */
	const char *replay, *record, *output;
	const struct redaction *redaction; /* of the recording; NULL: none */
	bool records_alone; /* nothing is made but the recording: it is packed, and ends all */
	const struct renderer *renderer;
	struct view view;     /* what is to be shown of it, to begin with */
	bool may_redraw;      /* text, in place, on a terminal */
	bool shares_terminal; /* with a command: text is the last lines, on standard error */
	bool reloads;	      /* by SIGHUP, in place of ending */
	/* when to look, and when to end */
	double interval, duration; /* seconds; no duration: 0 */
	double speed;		   /* of a recording that is told at its pace; 0: at once */
	/* hooks, each may be NULL */
	void (*after_first_scan)(struct session *s); /* before anything is said */
	void (*after_scan)(struct session *s);	     /* after each, once it is shown */
	void *ctx;				     /* what these need of their command */
};

/* Watches all processes, as the options say. */
void plan_init(struct run_plan *p, const struct options *o);

/* Watches the processes of -p where the options name some, with all levels of overhead. */
void plan_targets(struct run_plan *p);

#endif
