/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: says what the model and the findings hold, into a buffer. A renderer looks nothing up and
 * changes nothing; a new output is one file and one row.
 */
#ifndef FS_RENDER_RENDER_H
#define FS_RENDER_RENDER_H

#include "base/buf.h"
#include "model/fields.h"
#include "model/model.h"
#include "model/resources.h"
#include "rules/gates.h"
#include "rules/rules.h"

#define WHO_BYTES 192 /* of finding_who() */

struct crash_signs; /* of triage */

enum layout { LAYOUT_TABLE, LAYOUT_BLOCKS };

/* What is shown, and how. */
struct view {
	const struct model *m;
	const struct findings *findings;
	const struct gates *gates; /* judged, at the end; NULL: none */
	enum layout layout;
	int width;  /* columns; at least 40 */
	int height; /* lines; 0: no end */
	bool unicode, colour;
	bool host;		    /* of `host`: the machine, not its processes */
	bool once;		    /* of `host`: one answer, in the end */
	bool verdict;		    /* of `diagnose`: no finding would mean that all is well */
	bool addresses;		    /* show addresses of faults */
	bool command;		    /* of `run` and `diagnose`: all that was is told in the end */
	bool summary;		    /* the last lines are all that stays on the screen */
	bool page;		    /* the last lines are a page: who cost what */
	enum severity min_severity; /* of findings in the text */
	size_t top;		    /* rows of a table */
	const struct field *sort;   /* NULL: by activity */
	const struct process_key *only; /* of one process alone; NULL: of all */
	uint64_t child_rss_bytes; /* of `run`: the most that any process of it had; 0: not known */
	const struct buf *gaps; /* render/completeness.h: what the model cannot know; NULL: none */
	const char *ending;	/* of `run`: "exit 0", "killed by SIGKILL"; NULL: none */
	const struct crash_signs *recorded; /* by the flight recorder, of this boot; NULL: none */
};

struct renderer {
	const char *name;
	const char *help;
	void (*open)(struct buf *b, const struct view *v);
	void (*event)(struct buf *b, const struct view *v, const union event *e);
	void (*finding)(struct buf *b, const struct view *v, const struct finding *f);
	void (*frame)(struct buf *b, const struct view *v); /* at each tick */
	void (*close)(struct buf *b, const struct view *v); /* once, last */
};

extern const struct renderer text_renderer;
extern const struct renderer json_renderer;
extern const struct renderer folded_renderer;
extern const struct renderer host_renderer;	 /* the text of `host` */
extern const struct renderer diagnosis_renderer; /* the text of `diagnose` */

/* By name; NULL where there is none. */
const struct renderer *renderer_find(const char *name);

/* Of a renderer that has nothing to say then. */
void render_nothing(struct buf *b, const struct view *v);
void render_no_event(struct buf *b, const struct view *v, const union event *e);
void render_no_finding(struct buf *b, const struct view *v, const struct finding *f);

/* The JSON Schema of every line that the JSON renderer prints. */
void render_schema(struct buf *b);

/* Whether what is of this process is shown. */
bool view_shows(const struct view *v, const struct process_key *id);

/* Whom a finding is of: "python3[42]", "cgroup /a/b", "this host"; not yet safe to print. */
void finding_who(const struct finding *f, char *ret, size_t size);

/* Seconds since the start of measuring. */
double view_seconds(const struct view *v, uint64_t t_ns);

/*
 * The wall clock (CLOCK_REALTIME, ns) at the time `t_ns` of a record, by the wall clock of the last
 * scan. 0: no record has said a wall clock yet.
 */
uint64_t view_wall_ns(const struct view *v, uint64_t t_ns);

/* What people call a process: its unit or container, from the cgroup path, else its comm. */
void workload_name(const char *cgroup, const char *comm, char *ret, size_t size);

#endif
