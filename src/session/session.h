/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One measurement, from its source to its last line: the event loop of `watch` and `run`. */
#ifndef FS_SESSION_SESSION_H
#define FS_SESSION_SESSION_H

#include <sys/types.h>

#include "base/loop.h"
#include "base/output_file.h"
#include "collect/collector.h"
#include "collect/process_ends.h"
#include "collect/pressure/pressure_reader.h"
#include "cli/messages.h"
#include "probe/rights.h"

struct session {
	const struct options *o;
	struct source *src;
	struct model m;
	struct findings findings;
	struct collector collector;
	struct ends ends;		 /* of a live source */
	struct pressure_reader pressure; /* of a live source */
	struct filter filter;		 /* the one of the options, as this source needs it */
	struct rights_scope scope;	 /* what is to be left beside them */
	struct rights rights;		 /* that are left, once they were dropped */
	struct view view;
	const struct renderer *renderer;
	struct buf out;
	int fd;			   /* where output goes */
	struct output_file output; /* where that is --output */
	bool redraws;		   /* in place, on a terminal */
	struct viewing *viewing;   /* where it does, once it began; owned */
	const char *record_path;
	bool attributes_all; /* who grows is kept from the first mapping and descriptor on */
	void (*after_first_look)(struct session *s); /* before anything is said; NULL: nothing */
	void (*at_look)(struct session *s); /* after each, once it is shown; NULL: nothing */
	void *of_command;		    /* what these need of their command */
	bool began;	 /* the first scan is over: what is written has its names */
	bool flushed;	 /* something was written, be it nothing */
	int write_error; /* -errno of the output; 0: none */
	bool mute;	 /* the reader went away: nothing more is written */
	bool rec_told;
	int status;				 /* enum exit_status */
	size_t told;				 /* events of this window told at once */
	uint64_t origin_want[MODEL_ORIGINS_MAX]; /* what each of m.origin was looked up for */
	uint64_t frames;
	uint64_t gated_ns; /* what gates have looked at so far */
	char mode[16], target[128];
	struct loop loop;
	uint64_t ends_ns;	  /* --duration; 0: none */
	unsigned int interrupts;
	/* run */
	pid_t child;	  /* 0: none, or gone */
	int child_status; /* of wait() once it is gone */
	bool child_gone;
	char ending[64];
	struct buf gaps; /* render/completeness.h: those that the model cannot know */
	/* --fail-on */
	struct gates gates;
	struct output_file junit; /* where JUnit's XML goes */
};

int command_watch(const struct options *o);
int command_run(const struct options *o);
int command_diagnose(const struct options *o);
int command_host(const struct options *o);
int command_doctor(const struct options *o);
int command_record(const struct options *o);
int command_info(const struct options *o);
int command_replay(const struct options *o);
/* write_metrics() makes the file of --format textfile: command_export(). */
int command_report(const struct options *o, int (*write_metrics)(const struct options *o));
int command_diff(const struct options *o);
int command_explain(const struct options *o, struct buf *b); /* what it says goes to b */

/* What session_open_live() opens with: the mode's, as far as options do not say otherwise. */
struct live_options session_live_options(struct session *s, bool watch_all, unsigned int tiers);

/* For the commands above. All return 0 or an exit status; session_end() frees. */
int session_begin(struct session *s, const struct options *o);
int session_open_live(struct session *s, const struct live_options *lo);
int session_open_replay(struct session *s);
/* Host and hooks, and a look, to the sink; then rights are dropped. */
int session_first_look(struct session *s, const struct sink *sink);
int session_start(struct session *s); /* host and hooks, the first look, the first lines */
int session_loop(struct session *s);
/* What was typed where there is no live view: q ends it. The loop forgets a keyboard that is gone. */
int session_on_keys(void *ctx);
/* All of that, up to the end; what kept it from beginning is the status. */
void session_measure(struct session *s, const struct options *o,
		     int (*open_live)(struct session *s));
/* Writes what was rendered. A reader that went away ends the view, not a command or a recording. */
void session_flush(struct session *s);
int session_end(struct session *s); /* the last lines; returns the exit status */

/* Removes what was begun of its files. Nothing else may use them meanwhile. */
void session_discard(struct session *s);

/* Opens the loop, with the signals that end or interrupt the session. Ignored signals stay so.
 * Returns 0 or -errno. */
int session_open_loop(struct session *s);
/* How large the terminal is. */
void session_measure_view(struct session *s);

/* A whole look, shown and over. Returns as source_ops.look; then the next one may begin. */
int session_take_window(struct session *s, bool show);
void session_next_window(struct session *s);

/*
 * Adds to s->gaps what the recording lacks: bytes that cannot be read, or its end. `err` is what
 * reading it returned. Returns `err`, but 1 in place of -EBADMSG, which is reported on standard
 * error.
 */
int session_note_end(struct session *s, int err);

/* Where something may have been missed, the status is not 0, whatever the output says. */
void session_judge_gaps(struct session *s);

/* Where output goes: opened at the beginning, named once the first scan is over, and closed. */
int session_open_output(struct session *s);
int session_publish(struct session *s);
void session_end_output(struct session *s);

/* Says once that the recording failed, and ends what makes nothing else. */
void session_check_recording(struct session *s);

/* With its last record; one that never began is removed. */
void session_end_recording(struct session *s);

/* Its gates: opened with it, judged before its last lines, told behind them. */
int gating_begin(struct session *s);
void gating_judge(struct session *s);
void gating_tell(struct session *s);

#endif
