/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declarations shared by the files of src/session. A session is one measurement, from opening its
 * source to printing its last line. A command fills a struct run_plan, session_measure() runs it,
 * and session_end() prints the last lines and frees everything.
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
#include "session/event_log.h"
#include "session/incident_watch.h"
#include "session/phase_marks.h"
#include "session/run_plan.h"
#include "session/view_settings.h"
#include "unwind/unwinder.h"

struct viewing;

/* The input of a session: what turns the records of a source into findings. */
struct session_input {
	struct source *src;
	int part; /* the part of the recording that --from and --to name; -1: none; owned */
	struct model m;
	struct findings findings;
	struct collector collector;
	struct ends ends;		 /* live only: processes that ended without a last record */
	struct pressure_reader pressure; /* memory pressure of the machine; live source only */
	struct filter filter;		 /* filter of the options, adapted to the source */
	struct rights_scope scope;	 /* what faultscope may still do without privileges */
	struct rights rights;		 /* capabilities that remain after privileges are dropped */
	/*
	 * for each origin in m.origin: finding.want (the needed limit) when the origin was looked
	 * up
	 */
	uint64_t origin_want[MODEL_ORIGINS_MAX];
	/* makes unwind tables for a live source; NULL: stacks are walked by frame pointers */
	struct unwinder *unwinder;
	struct resident *resident;   /* reads who holds resident memory; NULL: not in use */
	struct session_lines *lines; /* finds source lines of native code; NULL: not in use */
};

/* The output of a session: what is printed, and where. */
struct session_output {
	const struct renderer *renderer;
	struct view view;
	struct buf text; /* rendered output that is not written yet */
	int fd;
	struct output_file file; /* the file that --output names */
	/* text output of `run`: print only the summary at the end, no intervals */
	bool last_lines;
	bool redraws;		 /* the output is a live view, redrawn in place */
	bool opened;		 /* the first lines were rendered */
	bool pending; /* the first lines say that probes are not attached yet */
	struct viewing *viewing; /* state of the live view; NULL: not started; owned */
	struct view_settings settings; /* of the live view */
	char note[192];		 /* message for the bottom of the live view; empty: none */
	/* the first scan succeeded; if it failed, the recording is removed */
	bool began;
	/* session_flush() was called, so that the output, even if empty, is valid */
	bool flushed;
	bool incomplete; /* the text of an interval is missing, for want of memory */
	bool mute;	 /* a write failed (EPIPE, …): write nothing more */
	int write_error; /* -errno of the failed write; 0: none */
	const char *record_path;
	bool rec_error_reported; /* the failure of the recording was reported */
	bool held;		 /* true: events wait for stacks */
	size_t told;		 /* number of events of this interval that were already printed */
	uint64_t frames;
	struct gates gates; /* the conditions of --fail-on */
	/* CLOCK_MONOTONIC time of the last interval for which gates were checked */
	uint64_t gated_ns;
	struct output_file junit; /* output file of --junit */
	struct buf gaps; /* reasons for an incomplete result, in addition to those of the model */
};

/* The command that `run` starts. */
struct session_child {
	pid_t pid;  /* process id of the command; 0: not started, or it has ended */
	int status; /* exit status of the command from waitpid(), valid if `gone` */
	bool gone;
	char ending[64];
};

struct session {
	struct run_plan plan;
	const struct options *o;
	struct session_input in;
	struct session_output out;
	struct session_child child;
	struct incident_watch *incidents; /* ring and triggers; NULL: not in use; owned */
	struct event_log *log; /* log lines about findings and incidents; NULL: none; owned */
	struct phase_marks marks; /* phases of the command; closed without --phases */
	struct loop loop;
	uint64_t ends_ns; /* CLOCK_MONOTONIC time at which --duration ends; 0: no --duration */
	unsigned int interrupts; /* number of SIGINTs; the second one ends faultscope at once */
	bool stopped;	  /* a signal ended the session */
	bool ending;	  /* the interval that is read is the last one */
	bool scan_is_due; /* the scan of the interval waits for source lines of stacks */
	int status; /* exit status of the session: enum exit_status */
};

/* Functions of measure.c */

/* session_begin(), session_start() and session_loop() return 0 or an exit status. */
int session_begin(struct session *s, const struct run_plan *plan);
int session_start(struct session *s); /* sends host and probe records, scans once, and prints */
int session_loop(struct session *s);
/*
 * Runs a session up to its last lines: calls session_begin(), opens the source, and calls
 * session_start() and session_loop(). Stores the exit status of a step that failed in s->status.
 */
void session_measure(struct session *s, const struct run_plan *plan);
int session_end(struct session *s); /* prints the last lines, frees all, returns the exit status */

/* Functions of replay_view.c */

/*
 * Shows a recording in the live view at the recorded speed until the user quits. Returns 0 or
 * -errno.
 */
int viewing_replay(struct session *s);

/* Functions of window.c */

/*
 * Scans, evaluates the rules and prints the interval. If `show` is false, session_take_window()
 * prints only events and findings. Returns 0, 1 at the end of a recording, or -errno. Call
 * session_next_window() before the next interval.
 */
int session_take_window(struct session *s, bool show);
void session_next_window(struct session *s);
/* Prints new events and the findings that they cause, without waiting for a scan. */
void session_report_events(struct session *s);
/*
 * Does the same, unless a copied stack waits for its unwind tables, or a stack waits for its source
 * lines: events then wait for the stack, at most until the next scan. session_report_held() reports
 * them when the stack is complete.
 */
void session_report_urgent(struct session *s);
void session_report_held(struct session *s);
/*
 * Gives copied stacks a short time to be walked before their events are printed. This is rare:
 * stacks are copied only when a program starts or loads a library.
 */
void session_settle_stacks(struct session *s);
/* If all probes are attached now, but were not before, prints that. */
void session_report_attached(struct session *s);
/* Renders the values of the last scan. */
void session_render_frame(struct session *s);

/* Functions of session_input.c */

/* Returns the options with which session_open_live() opens the probes. */
struct live_options session_live_options(struct session *s);
/*
 * Both functions open the source and the event loop. session_open_live() also starts to watch the
 * targets of the plan. They print errors, and return 0 or an exit status.
 */
int session_open_live(struct session *s);
int session_open_replay(struct session *s);
/*
 * Sends records of the host, of the probes and of a first scan to the sink (the consumer of
 * records). Drops privileges after that, unless probes are not attached yet. Prints errors. Returns
 * 0 or an exit status.
 */
int session_first_scan(struct session *s, const struct sink *sink);
/*
 * Attaches the probes that are not attached yet, scans again, so that intervals begin when all
 * values are known, and drops privileges. Prints errors. Returns 0 or an exit status.
 */
int session_attach_rest(struct session *s, const struct sink *sink);
/*
 * Scans, and finds processes whose end was not reported. Returns 0, 1 at the end of a recording, or
 * -errno.
 */
int session_scan(struct session *s);
struct sink session_sink(struct session *s);
/* Opens the recording of the plan, or its part, as another source. Returns 0 or -errno. */
int session_replay_source(const struct session *s, struct source **ret, char *error, size_t size);
/*
 * Makes a piece of the unwind tables. Returns the number of milliseconds until there is more to do;
 * -1: nothing until more records arrive.
 */
int session_unwind(struct session *s);
/* Returns how many watched processes are alive. */
size_t session_alive(const struct session *s);
/* Prints why the source failed, and returns the exit status. */
int session_fail(struct session *s, int err);

/* Functions of session_signals.c */

/*
 * Opens the event loop with the signals that end or interrupt the session. Signals that faultscope
 * inherited as ignored stay ignored. Returns 0 or -errno.
 */
int session_open_loop(struct session *s);

/* Functions of session_gaps.c */

/*
 * Adds to s->out.gaps what the recording lacks: unreadable bytes, or its end record. `err` is the
 * result of reading the recording. If it is -EBADMSG (damaged recording), prints this and returns
 * 1; otherwise returns `err`.
 */
int session_note_end(struct session *s, int err);

/*
 * Adds a reason why the output is incomplete, such as "not read: resident memory: No such process".
 * A reason that is already known is not added again. `err` is -errno.
 */
void session_note_gap(struct session *s, const char *how, const char *what, int err);

/*
 * If data may be missing, prints the reasons, and changes an exit status of 0 to EXIT_INCOMPLETE.
 */
void session_judge_gaps(struct session *s);

/* Functions of session_view.c */

/* Sets the contents and style of the output, from the plan, the options and the terminal. */
void session_set_view(struct session *s);
/* Sets width and height of the output, from the options or the terminal. */
void session_measure_view(struct session *s);

/* Functions of session_output.c */

/*
 * Functions that open the output, give its file the final name after the first scan, and close it.
 * session_open_output() and session_publish() return 0 or an exit status.
 */
int session_open_output(struct session *s);
int session_publish(struct session *s);
void session_end_output(struct session *s);

/*
 * Writes the rendered output. If the reader has closed the pipe, the session ends, unless it runs a
 * command or makes a recording.
 */
void session_flush(struct session *s);

/*
 * Shows a message at the bottom of the live view. Returns false if there is no live view; in that
 * case the caller prints the message to standard error.
 */
bool session_message(struct session *s, const char *text);

/* Opens the recording that the plan names. Returns 0 or an exit status. */
int session_open_recording(struct session *s);

/* Reports once that recording failed, and ends a session that only records. */
void session_check_recording(struct session *s);

/* Writes the end record and closes the recording. Removes a recording that has no complete scan. */
void session_end_recording(struct session *s);

/*
 * Removes unfinished output files and the recording. While session_discard() runs, nothing else may
 * use the files.
 */
void session_discard(struct session *s);

/*
 * Functions of gating.c, for --fail-on. Call gating_begin() with session_begin(), gating_judge()
 * before the last lines are printed, and gating_report() after them.
 */

int gating_begin(struct session *s);
void gating_judge(struct session *s);
void gating_report(struct session *s);

#endif
