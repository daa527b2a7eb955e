/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The plan of a session: which processes to watch, with which probes, what to read and write, and
 * when to end. Each command fills a plan. The session reads only the plan, and does not know which
 * command filled the plan.
 */
#ifndef FS_SESSION_RUN_PLAN_H
#define FS_SESSION_RUN_PLAN_H

#include "cli/options.h"

struct redaction;
struct session;

enum watched {
	WATCH_ALL,
	WATCH_TARGETS, /* the processes of -p; the session ends when all of them have ended */
	WATCH_COMMAND, /* a command that the session starts (`run`) */
};

struct run_plan {
	const struct options *o;
	/* What to watch, and with which probes. */
	enum watched whom;
	const char *mode; /* mode of the session, as recordings name it */
	char target[128]; /* description of the watched processes, to show to users; may be empty */
	bool children;	  /* true: also watch existing and new children of the targets */
	/* bit i: enable overhead level i if --overhead is not given */
	unsigned int tiers;
	const char *const *unused; /* names of probes to leave off, NULL-terminated; NULL: none */
	/* true: count growth by call stack, also if all processes are watched */
	bool attributes;
	/*
	 * count growth by call stack from a process's first mapping and fd on, not only above a
	 * threshold
	 */
	bool attributes_all;
	/* true: count no growth by call stack; `attributes` is for stacks of resident memory */
	bool attributes_pages;
	bool majors, examines; /* settings with the same names in struct live_options */
	/*
	 * true: print the first scan before all probes are attached, unless --probe is given, whose
	 * errors come first
	 */
	bool prompt;
	/* choose one of this many pages (see resident/resident.h); 0: none */
	unsigned int resident_each;
	/* maximum number of processes whose pages are read if all processes are watched */
	size_t resident_most;
	/* true: use the probe `calls` where it costs other system calls nothing */
	bool calls_if_free;
	/*
	 * true: sample the stacks of page faults though nothing is recorded to a file, and keep the
	 * rights to name stacks
	 */
	bool profiles;
	bool tells_overhead;	/* true: say at which events of other processes probes run */
	bool scores;		/* true: read the OOM scores of processes */
	bool works_without_bpf; /* true: if BPF is unavailable, read /proc only */
	/* Names of files to read and write; NULL: no replay, no recording, standard output. */
	const char *replay, *record, *output;
	const struct redaction *redaction; /* redaction of the recording; NULL: none */
	bool records_alone; /* true: compress the recording, and end if recording fails */
	const struct renderer *renderer;
	struct view view; /* initial settings of the output */
	bool may_redraw;  /* true: on a terminal, text may be redrawn in place */
	/*
	 * the command of `run` prints to the terminal, so faultscope's text goes to standard error
	 */
	bool shares_terminal;
	bool reloads; /* SIGHUP reloads the configuration instead of ending the session */
	/* Members that say when to scan, and when to end. */
	/* time between scans and maximum run time, in seconds; duration 0: no end */
	double interval, duration;
	/* live view of a recording: the time at which it opens, paused; 0: at the beginning */
	uint64_t opens_at_ns;
	double speed; /* replay speed: 1 is real time, 0 does not wait */
	/* Callbacks of the command that filled the plan; each may be NULL. */
	/* called before the source is opened; returns 0 or an exit status, printed */
	int (*before_open)(struct session *s);
	/* called after the first scan of a live session, before privileges are dropped */
	void (*before_drop)(struct session *s);
	/*
	 * called when the command (WATCH_COMMAND) was started, by a thread that still has all
	 * privileges, while the main thread waits
	 */
	void (*after_spawn)(struct session *s);
	/* called after the first scan, before the first output */
	void (*after_first_scan)(struct session *s);
	/* called after new events were printed */
	void (*after_events)(struct session *s);
	/* called after each scan but the first, before its values are printed */
	void (*before_output)(struct session *s);
	/* called after each scan, after its values were printed */
	void (*after_scan)(struct session *s);
	/* called after the last scan, before the end of the output is written */
	void (*before_end)(struct session *s);
	void *ctx; /* argument of the callbacks */
};

/* Fills a plan that watches all processes, with the settings of the options. */
void plan_init(struct run_plan *p, const struct options *o);

/* Changes the plan to watch the processes of -p, if given, with all overhead levels. */
void plan_targets(struct run_plan *p);

#endif
