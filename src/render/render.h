/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: writes the content of the model, and findings, into a buffer. A renderer reads no other
 * data and does not change the model. A new output is one file and one row of renderers.c.
 */
#ifndef FS_RENDER_RENDER_H
#define FS_RENDER_RENDER_H

#include "base/buf.h"
#include "model/fields.h"
#include "model/model.h"
#include "model/resources.h"
#include "rules/gates.h"
#include "rules/rules.h"

#define WHO_BYTES 192 /* size of the buffer for finding_who() */

struct crash_signs;

enum layout { LAYOUT_TABLE, LAYOUT_BLOCKS };

/* Settings of an output: what it shows, and in which form. */
struct view {
	const struct model *m;
	const struct findings *findings;
	const struct gates *gates; /* results of gates (--fail-on); NULL: no gates */
	enum layout layout;
	int width;  /* width of the output in columns, at least 40 */
	int height; /* height of the screen in lines; 0: the output is not a screen */
	bool unicode, colour;
	bool light; /* colours for a light background */
	bool host; /* command `host`: show the machine, not its processes */
	bool once; /* `host` without an interval: a single report at the end */
	/* the command gives a verdict (`diagnose`): "no finding" means that all is well */
	bool verdict;
	/* text on a pipe: write a table in each interval (--top, --sort), not one line */
	bool tables;
	uint64_t frames; /* number of windows that were written before */
	bool addresses; /* also show the memory addresses of faults */
	/* `run`, `diagnose`: at the end, also show findings that were cleared in the meantime */
	bool command;
	bool summary; /* at the end of the text, write findings and histograms */
	/* `run --summary`: at the end of the text, list waits and top processes */
	bool page;
	/* JSON lines name the host and its kernel, and have the time as a number */
	bool identifies;
	enum severity min_severity;	/* the text omits findings below this severity */
	size_t top;			/* maximum number of rows of the process table */
	const struct field *sort;	/* sort the table by this field; NULL: by activity */
	const struct process_key *only; /* show this process only; NULL: all */
	uint64_t child_rss_bytes; /* `run`: peak RSS of the largest child process; 0: not known */
	/* reasons why data may be missing, in addition to those in the model; NULL: none */
	const struct buf *gaps;
	const char *ending; /* `run`: how the command ended, such as "exit 0"; NULL: none */
	const struct crash_signs *recorded; /* the flight recorder's findings; NULL: none */
	/*
	 * Writes and empties a buffer in the middle of a frame, so that a frame with thousands of
	 * processes takes little memory. NULL: the buffer is kept.
	 */
	void (*write_part)(void *ctx, struct buf *b);
	void *write_ctx;
};

struct renderer {
	const char *name;
	const char *help;
	void (*open)(struct buf *b, const struct view *v);
	/* called when all probes are attached, if some were not at open(); may be NULL */
	void (*attached)(struct buf *b, const struct view *v);
	void (*event)(struct buf *b, const struct view *v, const union event *e);
	void (*finding)(struct buf *b, const struct view *v, const struct finding *f);
	void (*frame)(struct buf *b, const struct view *v); /* called after each scan */
	void (*close)(struct buf *b, const struct view *v); /* called once, at the end */
};

extern const struct renderer text_renderer;
extern const struct renderer json_renderer;
extern const struct renderer folded_renderer;
extern const struct renderer folded_memory_renderer; /* the same of command `memory` */
extern const struct renderer host_renderer;	 /* renderer of the text of command `host` */
extern const struct renderer memory_renderer;	 /* renderer of the text of command `memory` */
extern const struct renderer diagnosis_renderer; /* renderer of the text of command `diagnose` */

/* Returns the renderer with a given name, or NULL. */
const struct renderer *renderer_find(const char *name);

/* A callback that does nothing, for renderers that need no such callback. */
void render_nothing(struct buf *b, const struct view *v);
void render_no_event(struct buf *b, const struct view *v, const union event *e);
void render_no_finding(struct buf *b, const struct view *v, const struct finding *f);

/* Writes the JSON Schema of all lines that the JSON renderer writes. */
void render_schema(struct buf *b);

#define VIEW_PART_BYTES (64u << 10)

/* In the middle of a frame: writes and empties the buffer if it has VIEW_PART_BYTES or more. */
void view_write_part(const struct view *v, struct buf *b);

/* Returns whether the output shows a process. */
bool view_shows(const struct view *v, const struct process_key *id);

/* Writes what a finding is about, not escaped: "python3[42]", "cgroup /a/b", "this host". */
void finding_who(const struct finding *f, char *ret, size_t size);

/* Returns the time from the start of the measurement to t_ns, in seconds. */
double view_seconds(const struct view *v, uint64_t t_ns);

/*
 * Returns the wall clock (CLOCK_REALTIME, in ns) at the time t_ns of a record, computed from the
 * wall clock of the last scan. Returns 0 if no record has a wall clock yet.
 */
uint64_t view_wall_ns(const struct view *v, uint64_t t_ns);

/* Returns the number of processes in the table that the filter of the view does not exclude. */
size_t view_processes(const struct view *v);

/* What names a workload. */
struct workload_of_process {
	const char *cgroup; /* NULL: not known */
	const char *comm;
	bool kernel_thread; /* all kernel threads are the workload "kthreadd" */
};

struct workload_of_process workload_of_subject(const struct subject *s);

/*
 * Writes a process's workload, with the name that the exporter gives it by default: its pod,
 * container, unit or session, or else its comm. Names from the container runtime are not known
 * here. Without any of them, if the comm is empty, writes an empty string.
 */
void workload_name(const struct workload_of_process *p, char *ret, size_t size);

#endif
