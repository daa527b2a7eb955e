/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: the parts that the text renderer is made of. */
#ifndef FS_RENDER_TEXT_TEXT_H
#define FS_RENDER_TEXT_TEXT_H

#include "base/units.h"
#include "render/style.h"

/* One row a process, the most active first. */
void text_table(struct buf *b, const struct view *v);

/* What a process does now: faults of the window, major ones more, and how near it is to limits. */
double text_activity(const struct view *v, const struct subject *s);

/* A figure of the table: a rate of what counts; a total since watching began. */
struct number_text as_field_figure(const struct field *f, double n);
struct number_text as_field_total(const struct field *f, uint64_t n);

/* One block a process: rates, totals, bars against limits, histograms. */
void text_blocks(struct buf *b, const struct view *v);

/* That of one process. */
void text_block(struct buf *b, const struct view *v, const struct subject *s);

/* "NAME  1,004 of 1,024 [####  ] 98.0% …" of what runs out; nothing where it is not known. */
void text_limit(struct buf *b, const struct view *v, const char *name, const struct subject *s,
		enum resource_id id);

/* What it held when that was read, and who made it grow, with stacks. */
void text_holders(struct buf *b, const struct view *v, const struct subject *s);

/* The log2 histograms of latency and mapping sizes that hold anything. */
void text_histograms(struct buf *b, const struct view *v, const struct counters *c);

/* Shown subjects, sorted; *ret_n of them. The caller frees the array. */
const struct subject **text_sorted(const struct view *v, size_t *ret_n);

/*
 * All that the view shows, the gravest first: each its sentence, evidence, what led to it, what to
 * do.
 */
void text_findings(struct buf *b, const struct view *v);

/* One of them, by itself. */
void text_finding(struct buf *b, const struct view *v, const struct finding *f);

/* Peaks, waits and the processes that faulted most. */
void text_summary(struct buf *b, const struct view *v, const struct totals *t);

/* "lost: 0 records, …" */
void text_losses(struct line *l);

/* "share_tensor (lib.so) <- worker (python3) <- main", innermost first. */
void text_frames(struct buf *b, const struct frames *f);

#endif
