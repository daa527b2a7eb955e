/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session: the outline of a recording: its length, and when findings opened or became critical. The
 * length is known at once. The findings need a pass over the whole recording with a model and rules
 * of their own, which the caller makes in steps while it waits.
 */
#ifndef FS_SESSION_REPLAY_OUTLINE_H
#define FS_SESSION_REPLAY_OUTLINE_H

#include "cli/moment.h"
#include "collect/collector.h"
#include "render/tui/tui.h"

#define OUTLINE_MARKS_MAX 4096

/* What opened at a mark. */
struct outline_finding {
	char text[224]; /* "critical F12 leak[42]: 1,000 of 1,024 file descriptors, ..." */
	struct process_key subject;
};

struct outline {
	struct moment_span span; /* of the scans; the end is exact only when `complete` */
	struct tui_mark mark[OUTLINE_MARKS_MAX]; /* in the order of time */
	struct outline_finding what[OUTLINE_MARKS_MAX];
	size_t n;
	uint64_t lost;	  /* number of marks for which there was no room */
	uint64_t read_ns; /* time of the last scan that was read; UINT64_MAX: all were */
	bool complete;
	/* Private members: a reader of the recording. */
	enum severity least; /* findings below this severity are not marked */
	struct source *src;
	struct model m;
	struct findings findings;
	struct collector collector;
	struct filter filter;
	/* findings that are critical now, so that each is marked once */
	struct {
		const struct rule *rule;
		struct process_key subject;
	} critical[FINDINGS_MAX];
	size_t nr_critical;
};

/*
 * Begins an outline. Takes over `src`, a source of the same recording. Reads the first scan.
 * Returns 0 or -ENOMEM; an outline of a damaged or empty recording is complete.
 */
int outline_begin(struct outline *o, struct source *src, const struct filter *filter,
		  enum severity least);
void outline_end(struct outline *o);

/* Reads one more scan. Does nothing if the outline is complete. */
void outline_step(struct outline *o);

/* Returns the index of the first mark after `t_ns`, or of the last mark before it; -1: none. */
ssize_t outline_after(const struct outline *o, uint64_t t_ns);
ssize_t outline_before(const struct outline *o, uint64_t t_ns);

#endif
