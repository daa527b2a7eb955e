/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One measurement, from its source to its last line: what the files of this room share. A command
 * makes a plan, and session_measure() carries it out; session_end() frees.
 */
#ifndef FS_SESSION_SESSION_H
#define FS_SESSION_SESSION_H

#include <sys/types.h>

#include "base/loop.h"
#include "base/output_file.h"
#include "cli/messages.h"
#include "collect/collector.h"
#include "collect/pressure/pressure_reader.h"
#include "collect/process_ends.h"
#include "probe/rights.h"
#include "session/run_plan.h"

struct viewing;

/* From records to findings. */
struct session_input {
	struct source *src;
	struct model m;
	struct findings findings;
	struct collector collector;
	struct ends ends;		 /* of a live source */
	struct pressure_reader pressure; /* of a live source */
	struct filter filter;		 /* the one of the options, as this source needs it */
	struct rights_scope scope;	 /* what is to be left beside them */
	struct rights rights;		 /* that are left, once they were dropped */
	uint64_t origin_want[MODEL_ORIGINS_MAX]; /* what each of m.origin was looked up for */
};

/* What is said of it, and where. */
struct session_output {
	const struct renderer *renderer;
	struct view view;
	struct buf text; /* that is not written yet */
	int fd;
	struct output_file file; /* of --output */
	bool last_lines;	 /* there is no text but these */
	bool redraws;		 /* in place, on a terminal */
	struct viewing *viewing; /* where it does, once it began; owned */
	char note[192];		 /* for the foot of the view; empty: none */
	bool began;		 /* the first scan is over: what is written has its names */
	bool flushed;		 /* something was written, be it nothing */
	bool mute;		 /* the reader went away: nothing more is written */
	int write_error;	 /* -errno; 0: none */
	const char *record_path;
	bool rec_error_reported; /* that the recording failed */
	size_t told;		 /* events of this window told at once */
	uint64_t frames;
	struct gates gates;	  /* of --fail-on */
	uint64_t gated_ns;	  /* what they have looked at so far */
	struct output_file junit; /* where JUnit's XML goes */
	struct buf gaps;	  /* render/completeness.h: those that the model cannot know */
};

/* The command of `run`. */
struct session_child {
	pid_t pid;  /* 0: none, or gone */
	int status; /* of wait() once it is gone */
	bool gone;
	char ending[64];
};

struct session {
	struct run_plan plan;
	const struct options *o;
	struct session_input in;
	struct session_output out;
	struct session_child child;
	struct loop loop;
	uint64_t ends_ns; /* --duration; 0: none */
	unsigned int interrupts;
	int status; /* enum exit_status */
};

/* ---- measure.c ---- */

/* All return 0 or an exit status. */
int session_begin(struct session *s, const struct run_plan *plan);
int session_start(struct session *s); /* host and hooks, the first look, the first lines */
int session_loop(struct session *s);
/* All of that, up to the end; what kept it from beginning is the status. */
void session_measure(struct session *s, const struct run_plan *plan);
int session_end(struct session *s); /* the last lines; returns the exit status */

/* ---- replay_view.c ---- */

/* A recording in the live view, at its own pace until it is left. Returns as source_ops.look. */
int viewing_replay(struct session *s);

/* ---- window.c ---- */

/* A whole look, shown and over. Returns as source_ops.look; then the next one may begin. */
int session_take_window(struct session *s, bool show);
void session_next_window(struct session *s);
/* Events and the findings they lead to, at once. */
void session_report_events(struct session *s);
/* What the renderer shows of a look. */
void session_render_frame(struct session *s);

/* ---- session_input.c ---- */

/* What session_open_live() opens with. */
struct live_options session_live_options(struct session *s);
/* Both open the loop too, and watch the targets of the plan. They return 0 or an exit status, and
 * have said why. */
int session_open_live(struct session *s);
int session_open_replay(struct session *s);
/* Host and hooks, and a look, to the sink; then rights are dropped. The same. */
int session_first_scan(struct session *s, const struct sink *sink);
/* A look, and who is gone without a word since the last one. Returns as source_ops.look. */
int session_scan(struct session *s);
struct sink session_sink(struct session *s);
/* What remains alive of what is watched. */
size_t session_alive(const struct session *s);
/* Says why the source failed, and returns the exit status. */
int session_fail(struct session *s, int err);

/* ---- session_signals.c ---- */

/* Opens the loop, with the signals that end or interrupt the session. Ignored signals stay so.
 * Returns 0 or -errno. */
int session_open_loop(struct session *s);

/* ---- session_gaps.c ---- */

/*
 * Adds to the gaps what the recording lacks: bytes that cannot be read, or its end. `err` is what
 * reading it returned. Returns `err`, but 1 in place of -EBADMSG, which is reported on standard
 * error.
 */
int session_note_end(struct session *s, int err);

/* Where something may have been missed, the status is not 0, whatever the output says. */
void session_judge_gaps(struct session *s);

/* ---- session_view.c ---- */

/* Sets what is printed and how, from the plan, the options and the terminal. */
void session_set_view(struct session *s);
/* Sets width and height of the output, from the options or the terminal. */
void session_measure_view(struct session *s);

/* ---- session_output.c ---- */

/* Where output goes: opened at the beginning, named once the first scan is over, and closed. */
int session_open_output(struct session *s);
int session_publish(struct session *s);
void session_end_output(struct session *s);

/* Writes what was rendered. A reader that went away ends the view, not a command or a recording. */
void session_flush(struct session *s);

/* A word at the foot of the live view, in place of standard error: false where there is none. */
bool session_message(struct session *s, const char *text);

/* Opens the recording that the plan names. Returns 0 or an exit status. */
int session_open_recording(struct session *s);

/* Says once that the recording failed, and ends what makes nothing else. */
void session_check_recording(struct session *s);

/* With its last record; one that never began is removed. */
void session_end_recording(struct session *s);

/* Removes what was begun of its files. Nothing else may use them meanwhile. */
void session_discard(struct session *s);

/* ---- gating.c: opened with the session, judged before its last lines, told behind them ---- */

int gating_begin(struct session *s);
void gating_judge(struct session *s);
void gating_report(struct session *s);

#endif
